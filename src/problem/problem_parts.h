/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files of this folder: element types, and the optional keys with defaults. */
#ifndef AT_PROBLEM_PROBLEM_PARTS_H
#define AT_PROBLEM_PROBLEM_PARTS_H

#include "problem/problem.h"

#include <stdbool.h>
#include <stddef.h>

enum { AT_PROBLEM_TYPES = 20, AT_PROBLEM_KEYS = 7, AT_ELEM_SIZE_MAX = 64 };

/* In elements. Alignment repeats before that: accesses have at most 16 bytes, cache lines 128. */
enum { AT_OFFSET_MAX = 255 };

/* A transpose does not interpret elements, so types of the same size are the same work. The first
 * type of each size is named after the size. */
struct at_problem_type {
    char name[8];
    int64_t size;
};
extern const struct at_problem_type at_problem_types[AT_PROBLEM_TYPES];

/* The optional keys. Each default depends only on keys before it. */
struct at_problem_key {
    const char *name;
    size_t offset; /* in struct at_problem */
    bool is_stride;
};
extern const struct at_problem_key at_problem_keys[AT_PROBLEM_KEYS];

int64_t *at_problem_member(struct at_problem *problem, size_t key);

/* The default of a key. Returns false if it does not fit 64 bits. */
bool at_problem_default(const struct at_problem *problem, size_t key, int64_t *value);

void at_problem_take_type(struct at_problem *problem, size_t type);

/* Is this size an element's own, or that of several words? */
static inline bool at_problem_is_word(int64_t elem_size)
{
    return elem_size >= 1 && elem_size <= 16 && (elem_size & (elem_size - 1)) == 0;
}

/* Fill in defaults for the keys that are 0, and check the problem. */
enum at_status at_problem_fill(struct at_problem *problem, const char *spec, struct at_error *err);

/* Fail with AT_USAGE and the specification: with a reason, or for an unknown type. */
enum at_status at_problem_fail(struct at_error *err, const char *spec, const char *reason);
enum at_status at_problem_fail_type(struct at_error *err, const char *text, size_t length,
                                    const char *spec);

#endif
