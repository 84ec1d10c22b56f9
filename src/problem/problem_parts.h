/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about problems share: the types of elements, and the members that have a name and
 * a default. */
#ifndef AT_PROBLEM_PROBLEM_PARTS_H
#define AT_PROBLEM_PROBLEM_PARTS_H

#include "problem/problem.h"

#include <stdbool.h>
#include <stddef.h>

enum { AT_PROBLEM_TYPES = 20, AT_PROBLEM_KEYS = 7 };

/* A transpose moves elements without looking at them, so types of one size are the same work. The
 * first of a size is named after it. */
struct at_problem_type {
    char name[8];
    int64_t size;
};
extern const struct at_problem_type at_problem_types[AT_PROBLEM_TYPES];

/* In an order in which each default needs only those before it, and in_place, which none lacks. */
struct at_problem_key {
    const char *name;
    size_t offset;
    size_t factor, other; /* the default is their product; SIZE_MAX: 1, one less: 0 */
    size_t in_place;      /* the default in place; SIZE_MAX: the same */
};
extern const struct at_problem_key at_problem_keys[AT_PROBLEM_KEYS];

int64_t *at_problem_member(struct at_problem *problem, size_t key);

/* The default of a key. False if it does not fit 64 bits. */
bool at_problem_default(const struct at_problem *problem, size_t key, int64_t *value);

void at_problem_take_type(struct at_problem *problem, size_t type);

/* Fills in what is 0, and checks the whole. */
enum at_status at_problem_fill(struct at_problem *problem, const char *spec, struct at_error *err);

/* AT_USAGE for the specification: for a reason; for a type of that name. */
enum at_status at_problem_fail(struct at_error *err, const char *spec, const char *reason);
enum at_status at_problem_fail_type(struct at_error *err, const char *text, size_t length,
                                    const char *spec);

#endif
