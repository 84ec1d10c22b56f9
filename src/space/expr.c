/* SPDX-License-Identifier: Apache-2.0 */
#include "space/expr.h"

#include "base/choice.h"
#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/word.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* The parser makes code for the evaluator, a stack machine. Jumps only go forward, so every
 * evaluation ends, and the parser has checked the height of the stack. */
enum { CHARS_MAX = 4096, DEPTH_MAX = 64 };

/* b is the second operand: the topmost value on the stack, or part of the instruction (most second
 * operands are numbers or names, which need no push). a is the value below. -x is compiled as 0 -
 * x, and !x as x == 0. */
enum opcode {
    OP_PUSH,   /* push operand */
    OP_LOAD,   /* push the value of the name `operand` */
    OP_AND,    /* if the top is 0, jump to operand; else drop it */
    OP_OR,     /* if the top is not 0, replace it by 1 and jump to operand; else drop it */
    OP_UNLESS, /* drop the top; if it was 0, jump to operand */
    OP_JUMP,   /* jump to operand */
    /* From here on: replace a and b by one value. */
    OP_EQUAL,
    OP_UNEQUAL,
    OP_LESS,
    OP_AT_MOST,
    OP_GREATER,
    OP_AT_LEAST,
    OP_SHIFT_LEFT,
    OP_SHIFT_RIGHT,
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_REMAINDER,
    OP_MIN,
    OP_MAX,
    OP_CEIL_DIV,
    OP_GCD,
};

enum second {
    SECOND_STACKED,
    SECOND_NUMBER, /* operand */
    SECOND_NAMED,  /* the value of the name `operand` */
};

struct instruction {
    enum opcode opcode : 16;
    enum second second : 16; /* where b is */
    int offset;              /* of its source in the text */
    int64_t operand;
};

struct at_expr {
    char *text;  /* on one line */
    char *lines; /* the same, with line breaks */
    struct at_source source;
    struct instruction *code;
    size_t count, capacity;
};

void at_expr_free(struct at_expr *expr)
{
    if (!expr)
        return;
    at_free(expr->text);
    at_free(expr->lines);
    at_free(expr->code);
    at_free(expr);
}

const char *at_expr_text(const struct at_expr *expr)
{
    return expr->text;
}

/* Fail with AT_USAGE at a character of the text. */
static enum at_status expr_fail(const struct at_expr *expr, int offset, const char *reason,
                                struct at_error *err)
{
    struct at_source source = expr->source;

    for (int i = 0; i < offset; i++) {
        source.column++;
        if (expr->lines[i] == '\n') {
            source.line++;
            source.column = expr->source.column;
        }
    }
    return at_fail_at(err, source, "%s in \"%.*s\"", reason, AT_QUOTED(expr->text, 400));
}

static bool uses_any(const struct instruction *instruction, size_t first, size_t end)
{
    size_t name = (size_t)instruction->operand;

    return (instruction->opcode == OP_LOAD || instruction->second == SECOND_NAMED) &&
           name >= first && name < end;
}

bool at_expr_uses(const struct at_expr *expr, size_t first, size_t end)
{
    for (size_t i = 0; i < expr->count; i++)
        if (uses_any(&expr->code[i], first, end))
            return true;
    return false;
}

bool at_expr_equates(const struct at_expr *expr, size_t name)
{
    const struct instruction *code = expr->code, *last = &code[expr->count - 1];
    size_t depth = 1;

    if (code[0].opcode != OP_LOAD || (size_t)code[0].operand != name || last->opcode != OP_EQUAL ||
        uses_any(last, name, name + 1))
        return false;
    /* Only the last instruction may use the value that the first one pushed. */
    for (const struct instruction *now = code + 1; now < last; now++) {
        bool pushes = now->opcode == OP_PUSH || now->opcode == OP_LOAD;
        bool has_second = now->second != SECOND_STACKED;
        size_t takes = pushes ? 0 : now->opcode < OP_EQUAL || has_second ? 1 : 2;

        if (depth < takes + 1 || uses_any(now, name, name + 1))
            return false;
        depth = depth + pushes - (!pushes && !has_second);
    }
    return depth == (last->second == SECOND_STACKED ? 2 : 1);
}

static uint64_t magnitude(int64_t a)
{
    return a < 0 ? -(uint64_t)a : (uint64_t)a;
}

/* Rounds towards plus infinity; C's division rounds towards zero. */
static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0 && (a < 0) == (b < 0));
}

static const char overflow[] = "overflow of 64 bits";

static const char *check_division(int64_t a, int64_t b)
{
    if (b == 0)
        return "division by zero";
    return a == INT64_MIN && b == -1 ? overflow : NULL;
}

static const char *check_shift(int64_t b)
{
    return b < 0 || b > 62 ? "shift outside 0..62" : NULL;
}

/* Set *a to `*a opcode b`. Returns the error; NULL for success. */
static const char *apply(enum opcode opcode, int64_t *a, int64_t b)
{
    const char *wrong;

    switch (opcode) {
    case OP_EQUAL:
        *a = *a == b;
        return NULL;
    case OP_UNEQUAL:
        *a = *a != b;
        return NULL;
    case OP_LESS:
        *a = *a < b;
        return NULL;
    case OP_AT_MOST:
        *a = *a <= b;
        return NULL;
    case OP_GREATER:
        *a = *a > b;
        return NULL;
    case OP_AT_LEAST:
        *a = *a >= b;
        return NULL;
    case OP_SHIFT_LEFT:
        if ((wrong = check_shift(b)))
            return wrong;
        return __builtin_mul_overflow(*a, INT64_C(1) << b, a) ? overflow : NULL;
    case OP_SHIFT_RIGHT:
        if (!(wrong = check_shift(b)))
            *a >>= b; /* arithmetic in GNU C */
        return wrong;
    case OP_ADD:
        return __builtin_add_overflow(*a, b, a) ? overflow : NULL;
    case OP_SUBTRACT:
        return __builtin_sub_overflow(*a, b, a) ? overflow : NULL;
    case OP_MULTIPLY:
        return __builtin_mul_overflow(*a, b, a) ? overflow : NULL;
    case OP_DIVIDE:
        if (!(wrong = check_division(*a, b)))
            *a /= b;
        return wrong;
    case OP_REMAINDER:
        if (!(wrong = check_division(*a, b)))
            *a %= b;
        return wrong;
    case OP_MIN:
        *a = *a < b ? *a : b;
        return NULL;
    case OP_MAX:
        *a = *a > b ? *a : b;
        return NULL;
    case OP_CEIL_DIV:
        if (!(wrong = check_division(*a, b)))
            *a = ceil_div(*a, b);
        return wrong;
    case OP_GCD:
        return __builtin_add_overflow(at_common_divisor(magnitude(*a), magnitude(b)), 0, a)
                   ? overflow
                   : NULL;
    default:
        return "an unknown instruction";
    }
}

/* The second operand if the instruction contains it: a number, or the value of a name. */
static int64_t own_operand(const struct instruction *now, const int64_t *values)
{
    return now->second == SECOND_NUMBER ? now->operand : values[now->operand];
}

/* Run the instructions from first to end - 1, which leave one value. */
static enum at_status run(const struct at_expr *expr, size_t first, size_t end,
                          const int64_t *values, int64_t *result, struct at_error *err)
{
    int64_t stack[1 + DEPTH_MAX], *top = stack;
    const struct instruction *code = expr->code, *next;

    for (const struct instruction *now = code + first; now < code + end; now = next) {
        next = now + 1;
        if (now->opcode >= OP_EQUAL) {
            int64_t b = now->second == SECOND_STACKED ? *top-- : own_operand(now, values);
            const char *wrong = apply(now->opcode, top, b);

            if (wrong)
                return expr_fail(expr, now->offset, wrong, err);
            continue;
        }
        switch (now->opcode) {
        case OP_PUSH:
            *++top = now->operand;
            break;
        case OP_LOAD:
            *++top = values[now->operand];
            break;
        case OP_AND:
        case OP_OR:
            if ((*top != 0) == (now->opcode == OP_OR)) {
                *top = now->opcode == OP_OR;
                next = code + now->operand;
            } else {
                top--;
            }
            break;
        case OP_UNLESS:
            if (*top-- == 0)
                next = code + now->operand;
            break;
        default: /* OP_JUMP */
            next = code + now->operand;
        }
    }
    *result = *top;
    return AT_OK;
}

enum at_status at_expr_eval(const struct at_expr *expr, const int64_t *values, int64_t *result,
                            struct at_error *err)
{
    return run(expr, 0, expr->count, values, result, err);
}

enum at_status at_expr_eval_equated(const struct at_expr *expr, const int64_t *values,
                                    int64_t *result)
{
    const struct instruction *last = &expr->code[expr->count - 1];

    if (last->second == SECOND_STACKED) /* the code between the name and the comparison */
        return run(expr, 1, expr->count - 1, values, result, NULL);
    *result = own_operand(last, values);
    return AT_OK;
}

/* A recursive descent parser that emits code directly. Functions return false after they have
 * filled err; the code emitted so far is freed with the expression. */

struct parser {
    struct at_expr *expr;
    const char *at; /* within expr->lines */
    const char *const *names;
    size_t name_count;
    int level;     /* of nesting */
    int stack;     /* values on the evaluator's stack */
    size_t landed; /* target of the last jump */
    struct at_error *err;
};

/* Loosest first. A sign comes before its prefixes: "<=" before "<". */
static const struct binary {
    char sign[3];
    int binding;
    enum opcode opcode;
} binaries[] = {
    {"||", 1, OP_OR},         {"&&", 2, OP_AND},         {"==", 3, OP_EQUAL},
    {"!=", 3, OP_UNEQUAL},    {"<=", 4, OP_AT_MOST},     {">=", 4, OP_AT_LEAST},
    {"<<", 5, OP_SHIFT_LEFT}, {">>", 5, OP_SHIFT_RIGHT}, {"<", 4, OP_LESS},
    {">", 4, OP_GREATER},     {"+", 6, OP_ADD},          {"-", 6, OP_SUBTRACT},
    {"*", 7, OP_MULTIPLY},    {"/", 7, OP_DIVIDE},       {"%", 7, OP_REMAINDER},
};

static const struct {
    const char *name;
    enum opcode opcode;
} functions[] = {{"min", OP_MIN}, {"max", OP_MAX}, {"ceil_div", OP_CEIL_DIV}, {"gcd", OP_GCD}};

static bool parse_choice(struct parser *parser);

static int offset_of(const struct parser *parser, const char *at)
{
    return (int)(at - parser->expr->lines);
}

static bool fail(const struct parser *parser, const char *at, const char *reason)
{
    expr_fail(parser->expr, offset_of(parser, at), reason, parser->err);
    return false;
}

static bool fail_expected(const struct parser *parser, const char *expected)
{
    char reason[128], c = *parser->at;

    if (c == '\0')
        snprintf(reason, sizeof reason, "expected %s, found the end", expected);
    else if (c > ' ' && c < 0x7f)
        snprintf(reason, sizeof reason, "expected %s, found '%c'", expected, c);
    else
        snprintf(reason, sizeof reason, "expected %s, found byte 0x%02x", expected,
                 (unsigned char)c);
    return fail(parser, parser->at, reason);
}

/* Emit an instruction that changes the height of the stack by `change`. Returns its index, for
 * setting the target of a jump later. */
static size_t emit(struct parser *parser, enum opcode opcode, const char *at, int64_t operand,
                   int change)
{
    struct at_expr *expr = parser->expr;

    AT_PUSH(expr->code, expr->count, expr->capacity,
            ((struct instruction){opcode, SECOND_STACKED, offset_of(parser, at), operand}));
    parser->stack += change;
    return expr->count - 1;
}

static void land(struct parser *parser, size_t jump)
{
    parser->landed = parser->expr->count;
    parser->expr->code[jump].operand = (int64_t)parser->landed;
}

/* The last instruction; NULL if a jump leads behind it. */
static struct instruction *last_of(struct parser *parser)
{
    struct at_expr *expr = parser->expr;

    return parser->landed < expr->count ? &expr->code[expr->count - 1] : NULL;
}

/* Emit an operator. If the second operand was just pushed, its push becomes the operator. */
static void emit_binary(struct parser *parser, enum opcode opcode, const char *at)
{
    struct instruction *last = last_of(parser);

    if (!last || (last->opcode != OP_PUSH && last->opcode != OP_LOAD)) {
        emit(parser, opcode, at, 0, -1);
        return;
    }
    last->second = last->opcode == OP_PUSH ? SECOND_NUMBER : SECOND_NAMED;
    last->opcode = opcode;
    last->offset = offset_of(parser, at);
    parser->stack--;
}

static bool push(struct parser *parser, enum opcode opcode, const char *at, int64_t operand)
{
    if (parser->stack == DEPTH_MAX)
        return fail(parser, at, "more than 64 levels");
    emit(parser, opcode, at, operand, 1);
    return true;
}

static void skip_blanks(struct parser *parser)
{
    parser->at += strspn(parser->at, " \t\n");
}

static bool accept(struct parser *parser, char sign)
{
    skip_blanks(parser);
    if (*parser->at != sign)
        return false;
    parser->at++;
    return true;
}

static bool expect(struct parser *parser, char sign)
{
    char expected[] = {'\'', sign, '\'', '\0'};

    return accept(parser, sign) || fail_expected(parser, expected);
}

static size_t word_length(const char *at)
{
    size_t length = 0;

    while (at_is_word_character(at[length]))
        length++;
    return length;
}

static bool parse_number(struct parser *parser, size_t length)
{
    const char *start = parser->at;
    int64_t value;

    if (!at_integer_parse(start, length, &value))
        return fail(parser, start,
                    "not a number (decimal, no 0 in front, at most 9223372036854775807)");
    parser->at += length;
    return push(parser, OP_PUSH, start, value);
}

static bool parse_call(struct parser *parser, enum opcode opcode, const char *start)
{
    if (!expect(parser, '(') || !parse_choice(parser) || !expect(parser, ',') ||
        !parse_choice(parser) || !expect(parser, ')'))
        return false;
    emit_binary(parser, opcode, start);
    return true;
}

static bool fail_unknown(const struct parser *parser, const char *word)
{
    char names[160], reason[320];

    at_suggest(names, sizeof names, word, parser->names, parser->name_count);
    snprintf(reason, sizeof reason, "unknown name \"%s\"; %s%s", word,
             parser->name_count > 0 ? "the nearest known: " : "only numbers are known here", names);
    return fail(parser, parser->at, reason);
}

static bool parse_word(struct parser *parser, size_t length)
{
    const char *start = parser->at;
    char word[64] = "";

    memcpy(word, start, length < sizeof word ? length : sizeof word - 1);
    for (size_t i = 0; i < AT_COUNT(functions); i++) {
        if (strcmp(word, functions[i].name) == 0) {
            parser->at += length;
            return parse_call(parser, functions[i].opcode, start);
        }
    }
    for (size_t i = 0; i < parser->name_count; i++) {
        if (word[0] == parser->names[i][0] && strcmp(word, parser->names[i]) == 0) {
            parser->at += length;
            return push(parser, OP_LOAD, start, (int64_t)i);
        }
    }
    return fail_unknown(parser, word);
}

static bool parse_primary(struct parser *parser)
{
    size_t length = word_length(parser->at);

    if (length > 0 && *parser->at >= '0' && *parser->at <= '9')
        return parse_number(parser, length);
    if (length > 0)
        return parse_word(parser, length);
    if (accept(parser, '('))
        return parse_choice(parser) && expect(parser, ')');
    return fail_expected(parser, "a number, a name or '('");
}

static bool parse_unary(struct parser *parser)
{
    const char *start;
    bool parsed;

    skip_blanks(parser);
    start = parser->at;
    if (*start != '-' && *start != '!')
        return parse_primary(parser);
    if (++parser->level > DEPTH_MAX)
        return fail(parser, start, "more than 64 levels");
    parser->at++;
    if (*start == '-')
        parsed = push(parser, OP_PUSH, start, 0) && parse_unary(parser);
    else
        parsed = parse_unary(parser) && push(parser, OP_PUSH, start, 0);
    if (parsed)
        emit_binary(parser, *start == '-' ? OP_SUBTRACT : OP_EQUAL, start);
    parser->level--;
    return parsed;
}

/* Find the binary operator at the current position; NULL if there is none. */
static const struct binary *find_binary(struct parser *parser)
{
    skip_blanks(parser);
    for (size_t i = 0; i < AT_COUNT(binaries); i++)
        if (*parser->at == binaries[i].sign[0] &&
            strncmp(parser->at, binaries[i].sign, strlen(binaries[i].sign)) == 0)
            return &binaries[i];
    return NULL;
}

/* Parse operators that bind at least as tightly as `binding`, by precedence climbing. */
static bool parse_binary(struct parser *parser, int binding)
{
    const struct binary *binary;

    if (!parse_unary(parser))
        return false;
    while ((binary = find_binary(parser)) && binary->binding >= binding) {
        const char *start = parser->at;
        bool jumps = binary->opcode == OP_AND || binary->opcode == OP_OR;
        size_t jump = jumps ? emit(parser, binary->opcode, start, 0, -1) : 0;

        parser->at += strlen(binary->sign);
        if (!parse_binary(parser, binary->binding + 1))
            return false;
        if (!jumps) {
            emit_binary(parser, binary->opcode, start);
            continue;
        }
        if (!push(parser, OP_PUSH, start, 0))
            return false;
        emit_binary(parser, OP_UNEQUAL, start);
        land(parser, jump);
    }
    return true;
}

/* Parse "condition ? value : value", and count the nesting. */
static bool parse_choice(struct parser *parser)
{
    size_t otherwise, done;
    const char *start;

    skip_blanks(parser);
    start = parser->at;
    if (++parser->level > DEPTH_MAX)
        return fail(parser, start, "more than 64 levels");
    if (!parse_binary(parser, 1))
        return false;
    if (accept(parser, '?')) {
        otherwise = emit(parser, OP_UNLESS, start, 0, -1);
        if (!parse_choice(parser) || !expect(parser, ':'))
            return false;
        done = emit(parser, OP_JUMP, start, 0, -1); /* the other branch pushes its own value */
        land(parser, otherwise);
        if (!parse_choice(parser))
            return false;
        land(parser, done);
    }
    parser->level--;
    return true;
}

enum at_status at_expr_parse(struct at_expr **expr, const char *text, struct at_source source,
                             const char *const *names, size_t name_count, struct at_error *err)
{
    struct parser parser = {.names = names, .name_count = name_count, .err = err};

    if (strlen(text) > CHARS_MAX)
        return at_fail_at(err, source, "an expression has at most %d characters", CHARS_MAX);
    parser.expr = at_alloc(sizeof *parser.expr);
    parser.expr->text = at_strdup(text);
    parser.expr->lines = at_strdup(text);
    for (char *c = parser.expr->text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    parser.expr->source = source;
    parser.at = parser.expr->lines;
    if (!parse_choice(&parser) ||
        (*parser.at != '\0' && !fail_expected(&parser, "an operator like && or the end"))) {
        at_expr_free(parser.expr);
        return AT_USAGE;
    }
    *expr = parser.expr;
    return AT_OK;
}
