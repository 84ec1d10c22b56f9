/* SPDX-License-Identifier: Apache-2.0 */
/* The code that the parser makes for the evaluator, a stack machine. Jumps only go forward, so
 * every evaluation ends, and the parser has checked the height of the stack. */
#ifndef AT_SPACE_EXPR_CODE_H
#define AT_SPACE_EXPR_CODE_H

#include "space/expr.h"

enum { AT_EXPR_CHARS_MAX = 4096, AT_EXPR_DEPTH_MAX = 64 };

/* b is the second operand: the topmost value on the stack, or part of the instruction (most second
 * operands are numbers or names, which need no push). a is the value below. -x is compiled as 0 -
 * x, and !x as x == 0. */
enum at_opcode {
    AT_OP_PUSH,   /* push operand */
    AT_OP_LOAD,   /* push the value of the name `operand` */
    AT_OP_AND,    /* if the top is 0, jump to operand; else drop it */
    AT_OP_OR,     /* if the top is not 0, replace it by 1 and jump to operand; else drop it */
    AT_OP_UNLESS, /* drop the top; if it was 0, jump to operand */
    AT_OP_JUMP,   /* jump to operand */
    /* From here on: replace a and b by one value. */
    AT_OP_EQUAL,
    AT_OP_UNEQUAL,
    AT_OP_LESS,
    AT_OP_AT_MOST,
    AT_OP_GREATER,
    AT_OP_AT_LEAST,
    AT_OP_SHIFT_LEFT,
    AT_OP_SHIFT_RIGHT,
    AT_OP_ADD,
    AT_OP_SUBTRACT,
    AT_OP_MULTIPLY,
    AT_OP_DIVIDE,
    AT_OP_REMAINDER,
    AT_OP_MIN,
    AT_OP_MAX,
    AT_OP_CEIL_DIV,
};

enum at_second {
    AT_SECOND_STACKED,
    AT_SECOND_NUMBER, /* operand */
    AT_SECOND_NAMED,  /* the value of the name `operand` */
};

struct at_instruction {
    enum at_opcode opcode : 16;
    enum at_second second : 16; /* where b is */
    int offset;                 /* of its source in the text */
    int64_t operand;
};

struct at_expr {
    char *text;  /* on one line */
    char *lines; /* the same, with line breaks */
    struct at_source source;
    struct at_instruction *code;
    size_t count, capacity;
};

#endif
