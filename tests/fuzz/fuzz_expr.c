/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as an expression of a space file, and as a problem, which may be given in numbers. An
 * expression is refused with a message, or evaluated with small values and with the largest. A
 * problem is refused, or formatted and read again, which has to give the same problem. */
#include "base/memory.h"
#include "problem/arguments.h"
#include "space/expr.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void evaluate(const char *text)
{
    static const char *const names[] = {"rows", "cols", "TILE", "PAD", "cc"};
    static const int64_t values[][AT_COUNT(names)] = {
        {8192, 8192, 32, 1, 90},
        {0, 0, 0, 0, 0},
        {-1, 1, -7, 63, 62},
        {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN, -1},
    };
    struct at_expr *expr;
    struct at_error err;
    int64_t result;

    if (at_expr_parse(&expr, text, (struct at_source){"input", 1, 1}, names, AT_COUNT(names),
                      &err) != AT_OK)
        return;
    for (size_t i = 0; i < AT_COUNT(values); i++)
        at_expr_eval(expr, values[i], &result, &err);
    for (size_t i = 0; i < AT_COUNT(names); i++)
        at_expr_uses(expr, i, i + 1);
    at_expr_free(expr);
}

/* What is touched lies between 1 and the 62 bits that a problem may have. */
static void measure(const struct at_problem *problem)
{
    const struct at_problem copy = at_problem_copy_of(problem);
    const struct at_launch launch = {{0}};
    uint64_t args[AT_CALL_WORDS];
    uint8_t words[AT_CALL_ARGS];

    if (at_problem_src_extent(problem) < 1 || at_problem_dst_extent(problem) < 1 ||
        at_problem_bytes(problem) < 2 || at_problem_bytes(&copy) != at_problem_bytes(problem))
        abort();
    at_problem_args(problem, &launch, 1, 2, NULL, args, words);
}

static void format(const char *text)
{
    struct at_problem problem, again;
    struct at_error err;
    char *formatted;

    if (at_problem_parse(&problem, text, &err) != AT_OK)
        return;
    measure(&problem);
    formatted = at_problem_format(&problem);
    if (at_problem_parse(&again, formatted, &err) != AT_OK ||
        memcmp(&problem, &again, sizeof problem) != 0)
        abort();
    free(formatted);
}

/* The numbers of the text in the order of struct at_problem, as a caller of the library gives them.
 */
static void complete(const char *text)
{
    struct at_problem problem = {0}, again;
    int64_t *const numbers[] = {
        &problem.elem_size,  &problem.rows,       &problem.cols,       &problem.ld_src,
        &problem.ld_dst,     &problem.batch,      &problem.stride_src, &problem.stride_dst,
        &problem.offset_src, &problem.offset_dst, &problem.in_place,
    };
    struct at_error err;
    char *formatted;

    for (size_t i = 0; i < AT_COUNT(numbers); i++) {
        char *end;

        *numbers[i] = strtoll(text, &end, 10);
        text = end;
    }
    if (at_problem_complete(&problem, &err) != AT_OK)
        return;
    measure(&problem);
    formatted = at_problem_format(&problem);
    if (at_problem_parse(&again, formatted, &err) != AT_OK || !at_problem_equal(&problem, &again))
        abort();
    free(formatted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = at_strndup((const char *)data, size);

    evaluate(text);
    format(text);
    complete(text);
    free(text);
    return 0;
}
