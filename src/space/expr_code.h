/* SPDX-License-Identifier: Apache-2.0 */
/* What the parser of expressions gives the evaluator: code for a stack machine. Jumps only lead
 * forward, so every evaluation ends, and its stack cannot outgrow what the parser has counted. */
#ifndef AT_SPACE_EXPR_CODE_H
#define AT_SPACE_EXPR_CODE_H

#include "space/expr.h"

enum { AT_EXPR_CHARS_MAX = 4096, AT_EXPR_DEPTH_MAX = 64 };

/* a is the topmost value, and b the one above it, or else what the instruction itself names: b
 * mostly is a number or a name, and then is not pushed first. -x is written 0 - x; !x is x == 0. */
enum at_opcode {
    AT_OP_PUSH,   /* push operand */
    AT_OP_LOAD,   /* push the value of the name `operand` */
    AT_OP_AND,    /* a zero: jump to operand with 0, else drop a */
    AT_OP_OR,     /* a not zero: jump to operand with 1, else drop a */
    AT_OP_UNLESS, /* drop a; if it was zero, jump to operand */
    AT_OP_JUMP,   /* jump to operand */
    /* From here on: a, b become one value. */
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
    int offset;                 /* in the text, of what this comes from */
    int64_t operand;
};

struct at_expr {
    char *text;  /* on one line */
    char *lines; /* the same, with its line breaks */
    struct at_source source;
    struct at_instruction *code;
    size_t count, capacity;
};

/* AT_USAGE at a character of the text. */
enum at_status at_expr_fail(const struct at_expr *expr, int offset, const char *reason,
                            struct at_error *err);

#endif
