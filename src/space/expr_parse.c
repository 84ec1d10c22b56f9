/* SPDX-License-Identifier: Apache-2.0 */
/* A recursive descent parser that emits code directly. Functions return false after they have
 * filled err; the code emitted so far is freed with the expression. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/word.h"
#include "space/expr_code.h"

#include <stdio.h>
#include <string.h>

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
    enum at_opcode opcode;
} binaries[] = {
    {"||", 1, AT_OP_OR},         {"&&", 2, AT_OP_AND},         {"==", 3, AT_OP_EQUAL},
    {"!=", 3, AT_OP_UNEQUAL},    {"<=", 4, AT_OP_AT_MOST},     {">=", 4, AT_OP_AT_LEAST},
    {"<<", 5, AT_OP_SHIFT_LEFT}, {">>", 5, AT_OP_SHIFT_RIGHT}, {"<", 4, AT_OP_LESS},
    {">", 4, AT_OP_GREATER},     {"+", 6, AT_OP_ADD},          {"-", 6, AT_OP_SUBTRACT},
    {"*", 7, AT_OP_MULTIPLY},    {"/", 7, AT_OP_DIVIDE},       {"%", 7, AT_OP_REMAINDER},
};

static const struct {
    const char *name;
    enum at_opcode opcode;
} functions[] = {{"min", AT_OP_MIN}, {"max", AT_OP_MAX}, {"ceil_div", AT_OP_CEIL_DIV}};

static bool parse_choice(struct parser *parser);

static int offset_of(const struct parser *parser, const char *at)
{
    return (int)(at - parser->expr->lines);
}

static bool fail(const struct parser *parser, const char *at, const char *reason)
{
    at_expr_fail(parser->expr, offset_of(parser, at), reason, parser->err);
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
static size_t emit(struct parser *parser, enum at_opcode opcode, const char *at, int64_t operand,
                   int change)
{
    struct at_expr *expr = parser->expr;

    AT_PUSH(expr->code, expr->count, expr->capacity,
            ((struct at_instruction){opcode, AT_SECOND_STACKED, offset_of(parser, at), operand}));
    parser->stack += change;
    return expr->count - 1;
}

static void land(struct parser *parser, size_t jump)
{
    parser->landed = parser->expr->count;
    parser->expr->code[jump].operand = (int64_t)parser->landed;
}

/* The last instruction; NULL if a jump leads behind it. */
static struct at_instruction *last_of(struct parser *parser)
{
    struct at_expr *expr = parser->expr;

    return parser->landed < expr->count ? &expr->code[expr->count - 1] : NULL;
}

/* Emit an operator. If the second operand was just pushed, its push becomes the operator. */
static void emit_binary(struct parser *parser, enum at_opcode opcode, const char *at)
{
    struct at_instruction *last = last_of(parser);

    if (!last || (last->opcode != AT_OP_PUSH && last->opcode != AT_OP_LOAD)) {
        emit(parser, opcode, at, 0, -1);
        return;
    }
    last->second = last->opcode == AT_OP_PUSH ? AT_SECOND_NUMBER : AT_SECOND_NAMED;
    last->opcode = opcode;
    last->offset = offset_of(parser, at);
    parser->stack--;
}

static bool push(struct parser *parser, enum at_opcode opcode, const char *at, int64_t operand)
{
    if (parser->stack == AT_EXPR_DEPTH_MAX)
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
    return push(parser, AT_OP_PUSH, start, value);
}

static bool parse_call(struct parser *parser, enum at_opcode opcode, const char *start)
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
    snprintf(reason, sizeof reason, "unknown name \"%s\"; the nearest known: %s", word, names);
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
            return push(parser, AT_OP_LOAD, start, (int64_t)i);
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
    if (++parser->level > AT_EXPR_DEPTH_MAX)
        return fail(parser, start, "more than 64 levels");
    parser->at++;
    if (*start == '-')
        parsed = push(parser, AT_OP_PUSH, start, 0) && parse_unary(parser);
    else
        parsed = parse_unary(parser) && push(parser, AT_OP_PUSH, start, 0);
    if (parsed)
        emit_binary(parser, *start == '-' ? AT_OP_SUBTRACT : AT_OP_EQUAL, start);
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
        bool jumps = binary->opcode == AT_OP_AND || binary->opcode == AT_OP_OR;
        size_t jump = jumps ? emit(parser, binary->opcode, start, 0, -1) : 0;

        parser->at += strlen(binary->sign);
        if (!parse_binary(parser, binary->binding + 1))
            return false;
        if (!jumps) {
            emit_binary(parser, binary->opcode, start);
            continue;
        }
        if (!push(parser, AT_OP_PUSH, start, 0))
            return false;
        emit_binary(parser, AT_OP_UNEQUAL, start);
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
    if (++parser->level > AT_EXPR_DEPTH_MAX)
        return fail(parser, start, "more than 64 levels");
    if (!parse_binary(parser, 1))
        return false;
    if (accept(parser, '?')) {
        otherwise = emit(parser, AT_OP_UNLESS, start, 0, -1);
        if (!parse_choice(parser) || !expect(parser, ':'))
            return false;
        done = emit(parser, AT_OP_JUMP, start, 0, -1); /* the other branch pushes its own value */
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

    if (strlen(text) > AT_EXPR_CHARS_MAX)
        return at_fail_at(err, source, "an expression has at most %d characters",
                          AT_EXPR_CHARS_MAX);
    parser.expr = at_alloc(sizeof *parser.expr);
    parser.expr->text = at_strdup(text);
    parser.expr->lines = at_strdup(text);
    for (char *c = parser.expr->text; *c; c++)
        if (*c == '\n')
            *c = ' ';
    parser.expr->source = source;
    parser.at = parser.expr->lines;
    if (!parse_choice(&parser) ||
        (*parser.at != '\0' && !fail_expected(&parser, "an operator or the end"))) {
        at_expr_free(parser.expr);
        return AT_USAGE;
    }
    *expr = parser.expr;
    return AT_OK;
}
