/* SPDX-License-Identifier: Apache-2.0 */
#include "space/expr_code.h"

#include <stdlib.h>

void at_expr_free(struct at_expr *expr)
{
    if (!expr)
        return;
    free(expr->text);
    free(expr->lines);
    free(expr->code);
    free(expr);
}

const char *at_expr_text(const struct at_expr *expr)
{
    return expr->text;
}

enum at_status at_expr_fail(const struct at_expr *expr, int offset, const char *reason,
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
    return at_fail_at(err, source, "%s in \"%.400s\"", reason, expr->text);
}

bool at_expr_uses(const struct at_expr *expr, size_t name)
{
    for (size_t i = 0; i < expr->count; i++)
        if (expr->code[i].opcode == AT_OP_LOAD && (size_t)expr->code[i].operand == name)
            return true;
    return false;
}

bool at_expr_equates(const struct at_expr *expr, size_t name)
{
    const struct at_instruction *code = expr->code;
    size_t last = expr->count - 1, depth = 1;

    if (last < 2 || code[0].opcode != AT_OP_LOAD || (size_t)code[0].operand != name ||
        code[last].opcode != AT_OP_EQUAL)
        return false;
    /* Nothing but the last instruction may touch what the first one pushed. */
    for (size_t i = 1; i < last; i++) {
        bool pushes = code[i].opcode == AT_OP_PUSH || code[i].opcode == AT_OP_LOAD;
        size_t takes = pushes ? 0 : code[i].opcode < AT_OP_EQUAL ? 1 : 2;

        if (depth < takes + 1 || (code[i].opcode == AT_OP_LOAD && (size_t)code[i].operand == name))
            return false;
        depth = pushes ? depth + 1 : depth - 1;
    }
    return depth == 2;
}

/* Towards plus infinity, where C's division goes towards zero. */
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

/* *a becomes `*a opcode b`. Returns what is wrong with that, NULL if nothing is. */
static const char *apply(enum at_opcode opcode, int64_t *a, int64_t b)
{
    const char *wrong;

    switch (opcode) {
    case AT_OP_EQUAL:
        *a = *a == b;
        return NULL;
    case AT_OP_UNEQUAL:
        *a = *a != b;
        return NULL;
    case AT_OP_LESS:
        *a = *a < b;
        return NULL;
    case AT_OP_AT_MOST:
        *a = *a <= b;
        return NULL;
    case AT_OP_GREATER:
        *a = *a > b;
        return NULL;
    case AT_OP_AT_LEAST:
        *a = *a >= b;
        return NULL;
    case AT_OP_SHIFT_LEFT:
        if ((wrong = check_shift(b)))
            return wrong;
        return __builtin_mul_overflow(*a, INT64_C(1) << b, a) ? overflow : NULL;
    case AT_OP_SHIFT_RIGHT:
        if (!(wrong = check_shift(b)))
            *a >>= b; /* arithmetic in GNU C */
        return wrong;
    case AT_OP_ADD:
        return __builtin_add_overflow(*a, b, a) ? overflow : NULL;
    case AT_OP_SUBTRACT:
        return __builtin_sub_overflow(*a, b, a) ? overflow : NULL;
    case AT_OP_MULTIPLY:
        return __builtin_mul_overflow(*a, b, a) ? overflow : NULL;
    case AT_OP_DIVIDE:
        if (!(wrong = check_division(*a, b)))
            *a /= b;
        return wrong;
    case AT_OP_REMAINDER:
        if (!(wrong = check_division(*a, b)))
            *a %= b;
        return wrong;
    case AT_OP_MIN:
        *a = *a < b ? *a : b;
        return NULL;
    case AT_OP_MAX:
        *a = *a > b ? *a : b;
        return NULL;
    case AT_OP_CEIL_DIV:
        if (!(wrong = check_division(*a, b)))
            *a = ceil_div(*a, b);
        return wrong;
    default:
        return "an unknown instruction";
    }
}

/* The instructions from the first to before the last, which leave one value. */
static enum at_status run(const struct at_expr *expr, size_t first, size_t end,
                          const int64_t *values, int64_t *result, struct at_error *err)
{
    int64_t stack[AT_EXPR_DEPTH_MAX];
    size_t depth = 0;

    for (size_t at = first, next; at < end; at = next) {
        const struct at_instruction *now = &expr->code[at];
        const char *wrong;

        next = at + 1;
        switch (now->opcode) {
        case AT_OP_PUSH:
            stack[depth++] = now->operand;
            break;
        case AT_OP_LOAD:
            stack[depth++] = values[now->operand];
            break;
        case AT_OP_AND:
        case AT_OP_OR:
            if ((stack[depth - 1] != 0) == (now->opcode == AT_OP_OR)) {
                stack[depth - 1] = now->opcode == AT_OP_OR;
                next = (size_t)now->operand;
            } else {
                depth--;
            }
            break;
        case AT_OP_UNLESS:
            if (stack[--depth] == 0)
                next = (size_t)now->operand;
            break;
        case AT_OP_JUMP:
            next = (size_t)now->operand;
            break;
        default:
            depth--;
            wrong = apply(now->opcode, &stack[depth - 1], stack[depth]);
            if (wrong)
                return at_expr_fail(expr, now->offset, wrong, err);
        }
    }
    *result = stack[0];
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
    /* Between the name and the comparison. */
    return run(expr, 1, expr->count - 1, values, result, NULL);
}
