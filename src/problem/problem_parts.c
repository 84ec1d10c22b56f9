/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/problem_parts.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

const struct at_problem_type at_problem_types[AT_PROBLEM_TYPES] = {
    {"b1", 1},  {"b2", 2},  {"b4", 4},   {"b8", 8},  {"b16", 16}, {"i8", 1},    {"u8", 1},
    {"fp8", 1}, {"f16", 2}, {"bf16", 2}, {"i16", 2}, {"u16", 2},  {"f32", 4},   {"i32", 4},
    {"u32", 4}, {"f64", 8}, {"i64", 8},  {"u64", 8}, {"c64", 8},  {"c128", 16},
};

/* In place of a factor. */
#define NOTHING (SIZE_MAX - 1)

const struct at_problem_key at_problem_keys[AT_PROBLEM_KEYS] = {
    {"ld_src", offsetof(struct at_problem, ld_src), offsetof(struct at_problem, cols), SIZE_MAX,
     SIZE_MAX},
    {"ld_dst", offsetof(struct at_problem, ld_dst), offsetof(struct at_problem, rows), SIZE_MAX,
     offsetof(struct at_problem, ld_src)},
    {"batch", offsetof(struct at_problem, batch), SIZE_MAX, SIZE_MAX, SIZE_MAX},
    {"stride_src", offsetof(struct at_problem, stride_src), offsetof(struct at_problem, rows),
     offsetof(struct at_problem, ld_src), SIZE_MAX},
    {"stride_dst", offsetof(struct at_problem, stride_dst), offsetof(struct at_problem, cols),
     offsetof(struct at_problem, ld_dst), offsetof(struct at_problem, stride_src)},
    {"offset_src", offsetof(struct at_problem, offset_src), NOTHING, SIZE_MAX, SIZE_MAX},
    {"offset_dst", offsetof(struct at_problem, offset_dst), NOTHING, SIZE_MAX,
     offsetof(struct at_problem, offset_src)},
};

int64_t *at_problem_member(struct at_problem *problem, size_t key)
{
    return (int64_t *)((char *)problem + at_problem_keys[key].offset);
}

static int64_t factor_of(const struct at_problem *problem, size_t offset)
{
    if (offset == NOTHING)
        return 0;
    return offset == SIZE_MAX ? 1 : *(const int64_t *)((const char *)problem + offset);
}

bool at_problem_default(const struct at_problem *problem, size_t key, int64_t *value)
{
    if (problem->in_place && at_problem_keys[key].in_place != SIZE_MAX) {
        *value = factor_of(problem, at_problem_keys[key].in_place);
        return true;
    }
    return !__builtin_mul_overflow(factor_of(problem, at_problem_keys[key].factor),
                                   factor_of(problem, at_problem_keys[key].other), value);
}

enum at_status at_problem_fail(struct at_error *err, const char *spec, const char *reason)
{
    return at_fail(err, AT_USAGE, "problem \"%.200s\": %s", spec, reason);
}

void at_problem_take_type(struct at_problem *problem, size_t type)
{
    memcpy(problem->type, at_problem_types[type].name, sizeof problem->type);
    problem->elem_size = at_problem_types[type].size;
}

enum at_status at_problem_fail_type(struct at_error *err, const char *text, size_t length,
                                    const char *spec)
{
    char known[160] = "";

    for (size_t i = 0; i < AT_PROBLEM_TYPES; i++) {
        size_t used = strlen(known);

        snprintf(known + used, sizeof known - used, " %s", at_problem_types[i].name);
    }
    return at_fail(err, AT_USAGE, "problem \"%.200s\": unknown type \"%.*s\"; expected one of%s",
                   spec, length < 40 ? (int)length : 40, text, known);
}
