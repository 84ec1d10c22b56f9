/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/problem_parts.h"

#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/suggest.h"
#include "base/text_stream.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

const struct at_problem_type at_problem_types[AT_PROBLEM_TYPES] = {
    {"b1", 1},  {"b2", 2},  {"b4", 4},   {"b8", 8},  {"b16", 16}, {"i8", 1},    {"u8", 1},
    {"fp8", 1}, {"f16", 2}, {"bf16", 2}, {"i16", 2}, {"u16", 2},  {"f32", 4},   {"i32", 4},
    {"u32", 4}, {"f64", 8}, {"i64", 8},  {"u64", 8}, {"c64", 8},  {"c128", 16},
};

enum { LD_SRC, LD_DST, BATCH, STRIDE_SRC, STRIDE_DST, OFFSET_SRC, OFFSET_DST };

const struct at_problem_key at_problem_keys[AT_PROBLEM_KEYS] = {
    [LD_SRC] = {"ld_src", offsetof(struct at_problem, ld_src), false},
    [LD_DST] = {"ld_dst", offsetof(struct at_problem, ld_dst), false},
    [BATCH] = {"batch", offsetof(struct at_problem, batch), false},
    [STRIDE_SRC] = {"stride_src", offsetof(struct at_problem, stride_src), true},
    [STRIDE_DST] = {"stride_dst", offsetof(struct at_problem, stride_dst), true},
    [OFFSET_SRC] = {"offset_src", offsetof(struct at_problem, offset_src), false},
    [OFFSET_DST] = {"offset_dst", offsetof(struct at_problem, offset_dst), false},
};

int64_t *at_problem_member(struct at_problem *problem, size_t key)
{
    return (int64_t *)((char *)problem + at_problem_keys[key].offset);
}

bool at_problem_default(const struct at_problem *problem, size_t key, int64_t *value)
{
    bool in_place = problem->in_place != 0;

    switch (key) {
    case LD_SRC:
        *value = problem->cols;
        return true;
    case LD_DST:
        *value = in_place ? problem->ld_src : problem->rows;
        return true;
    case BATCH:
        *value = 1;
        return true;
    case STRIDE_SRC:
        return !__builtin_mul_overflow(problem->rows, problem->ld_src, value);
    case STRIDE_DST:
        *value = problem->stride_src;
        return in_place || !__builtin_mul_overflow(problem->cols, problem->ld_dst, value);
    default:
        *value = in_place && key == OFFSET_DST ? problem->offset_src : 0;
        return true;
    }
}

enum at_status at_problem_fail(struct at_error *err, const char *spec, const char *reason)
{
    return at_fail(err, AT_USAGE, "problem \"%.*s\": %s", AT_QUOTED(spec, 200), reason);
}

void at_problem_take_type(struct at_problem *problem, size_t type)
{
    memcpy(problem->type, at_problem_types[type].name, sizeof problem->type);
    problem->elem_size = at_problem_types[type].size;
}

enum at_status at_problem_fail_type(struct at_error *err, const char *text, size_t length,
                                    const char *spec)
{
    const char *names[AT_PROBLEM_TYPES];
    char *known, *word = at_strndup(text, (size_t)at_text_fit(text, length, 40)), nearest[64];

    for (size_t i = 0; i < AT_PROBLEM_TYPES; i++)
        names[i] = at_problem_types[i].name;
    known = at_join(names, AT_PROBLEM_TYPES);
    at_suggest(nearest, sizeof nearest, word, names, AT_PROBLEM_TYPES);
    at_fail(err, AT_USAGE,
            "problem \"%.*s\": unknown type \"%s\" (did you mean %s?); known are %s, and bN for "
            "elements of N bytes, up to %d",
            AT_QUOTED(spec, 200), word, nearest, known, AT_ELEM_SIZE_MAX);
    at_free(word);
    at_free(known);
    return AT_USAGE;
}
