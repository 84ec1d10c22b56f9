/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by problem.c and problem_spec.c. */
#ifndef AT_PROBLEM_PROBLEM_PARTS_H
#define AT_PROBLEM_PROBLEM_PARTS_H

#include "problem/problem.h"

enum { AT_ELEM_SIZE_MAX = 64 };

/* In elements. Alignment repeats before that: accesses have at most 16 bytes, cache lines 128. */
enum { AT_OFFSET_MAX = 255 };

/* A transpose does not interpret elements, so types of the same size are the same work. The first
 * type of each size is named after the size. */
enum { AT_PROBLEM_TYPES = 22 };
struct at_problem_type {
    char name[8];
    int64_t size;
};
extern const struct at_problem_type at_problem_types[AT_PROBLEM_TYPES];

/* Set the type by its index, with its size. */
void at_problem_take_type(struct at_problem *problem, size_t type);

/* Set the type that is named after the element size, such as "b4". False: none is. */
bool at_problem_name_type(struct at_problem *problem);

/* Check the layout of matrices: bounds, overlap, and in place, that it is one layout. */
enum at_status at_problem_check_layout(const struct at_problem *problem, const char *spec,
                                       struct at_error *err);

/* Fail with AT_USAGE: the specification, and a reason. */
enum at_status at_problem_fail(struct at_error *err, const char *spec, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
