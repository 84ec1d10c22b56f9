/* SPDX-License-Identifier: Apache-2.0 */
/* The tables on a device that groups need: what kernels get, and what their results are checked
 * with. */
#ifndef AT_MEASURE_GROUP_TABLES_H
#define AT_MEASURE_GROUP_TABLES_H

#include "device/device.h"
#include "problem/group_arguments.h"
#include "problem/problem.h"

struct at_bench;
struct at_buffers;

/* Where parts of the tables are. All are 0 for other problems. */
struct at_group_tables {
    at_address start;      /* and the lines of results: struct at_group_lines, for each matrix */
    at_address kept_lines; /* those of second results */
    at_address numbers;    /* as many numbers for a step, all the same */
    at_address betas;      /* and as many for beta */
    at_address lists;      /* struct at_group_matrix for each matrix, of each set */
    at_address offsets;    /* of groups of rows, 64 bits each, and then a word for the overflow */
    struct at_ragged_groups rows; /* what kernels get, but for what is second, and skip */
};

/* Return the bytes that they take. */
int64_t at_group_tables_bytes(const struct at_problem *problem, int64_t sets);

/* Allocate and write them. The buffers have their addresses. */
enum at_outcome at_group_tables_make(const struct at_bench *bench, struct at_buffers *buffers,
                                     struct at_error *err);

/* Put a kernel's arguments, for a set. */
void at_group_tables_put_args(struct at_call *call, const struct at_buffers *buffers, int64_t set,
                              const struct at_step_numbers *numbers);

#endif
