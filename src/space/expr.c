/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/printable.h"
#include "space/expr_code.h"

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
    return at_fail_at(err, source, "%s in \"%.*s\"", reason, AT_QUOTED(expr->text, 400));
}

static bool uses_any(const struct at_instruction *instruction, size_t first, size_t end)
{
    size_t name = (size_t)instruction->operand;

    return (instruction->opcode == AT_OP_LOAD || instruction->second == AT_SECOND_NAMED) &&
           name >= first && name < end;
}

bool at_expr_uses_any(const struct at_expr *expr, size_t first, size_t end)
{
    for (size_t i = 0; i < expr->count; i++)
        if (uses_any(&expr->code[i], first, end))
            return true;
    return false;
}

bool at_expr_uses(const struct at_expr *expr, size_t name)
{
    return at_expr_uses_any(expr, name, name + 1);
}

bool at_expr_equates(const struct at_expr *expr, size_t name)
{
    const struct at_instruction *code = expr->code, *last = &code[expr->count - 1];
    size_t depth = 1;

    if (code[0].opcode != AT_OP_LOAD || (size_t)code[0].operand != name ||
        last->opcode != AT_OP_EQUAL || uses_any(last, name, name + 1))
        return false;
    /* Only the last instruction may use the value that the first one pushed. */
    for (const struct at_instruction *now = code + 1; now < last; now++) {
        bool pushes = now->opcode == AT_OP_PUSH || now->opcode == AT_OP_LOAD;
        bool has_second = now->second != AT_SECOND_STACKED;
        size_t takes = pushes ? 0 : now->opcode < AT_OP_EQUAL || has_second ? 1 : 2;

        if (depth < takes + 1 || uses_any(now, name, name + 1))
            return false;
        depth = depth + pushes - (!pushes && !has_second);
    }
    return depth == (last->second == AT_SECOND_STACKED ? 2 : 1);
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

/* The second operand if the instruction contains it: a number, or the value of a name. */
static int64_t own_operand(const struct at_instruction *now, const int64_t *values)
{
    return now->second == AT_SECOND_NUMBER ? now->operand : values[now->operand];
}

/* Run the instructions from first to end - 1, which leave one value. */
static enum at_status run(const struct at_expr *expr, size_t first, size_t end,
                          const int64_t *values, int64_t *result, struct at_error *err)
{
    int64_t stack[1 + AT_EXPR_DEPTH_MAX], *top = stack;
    const struct at_instruction *code = expr->code, *next;

    for (const struct at_instruction *now = code + first; now < code + end; now = next) {
        next = now + 1;
        if (now->opcode >= AT_OP_EQUAL) {
            int64_t b = now->second == AT_SECOND_STACKED ? *top-- : own_operand(now, values);
            const char *wrong = apply(now->opcode, top, b);

            if (wrong)
                return at_expr_fail(expr, now->offset, wrong, err);
            continue;
        }
        switch (now->opcode) {
        case AT_OP_PUSH:
            *++top = now->operand;
            break;
        case AT_OP_LOAD:
            *++top = values[now->operand];
            break;
        case AT_OP_AND:
        case AT_OP_OR:
            if ((*top != 0) == (now->opcode == AT_OP_OR)) {
                *top = now->opcode == AT_OP_OR;
                next = code + now->operand;
            } else {
                top--;
            }
            break;
        case AT_OP_UNLESS:
            if (*top-- == 0)
                next = code + now->operand;
            break;
        default: /* AT_OP_JUMP */
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
    const struct at_instruction *last = &expr->code[expr->count - 1];

    if (last->second == AT_SECOND_STACKED) /* the code between the name and the comparison */
        return run(expr, 1, expr->count - 1, values, result, NULL);
    *result = own_operand(last, values);
    return AT_OK;
}
