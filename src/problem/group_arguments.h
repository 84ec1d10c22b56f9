/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels for many matrices get, as templates/groups.cuh has it. Addresses are the device's,
 * and lengths are in elements. */
#ifndef AT_PROBLEM_GROUP_ARGUMENTS_H
#define AT_PROBLEM_GROUP_ARGUMENTS_H

#include "problem/arguments.h"

/* A matrix of a list, or a batch of up to two axes. */
struct at_group_matrix {
    uint64_t dst, src, kept, second;
    int64_t rows, cols, ld_src, ld_dst;
    int64_t extent[2], stride_src[2], stride_dst[2];
};
struct at_group_list {
    uint64_t matrices; /* struct at_group_matrix */
    int64_t count;
    uint64_t skip; /* an int, or 0 */
};
struct at_ragged_groups {
    uint64_t kept, second, offsets;
    int64_t offset_bytes, count, cols, ld_src, padding, most, stacked;
    uint64_t overflow, skip; /* ints, or 0 */
};

/* What a problem says of its groups of rows, whose drawn sizes are `all`. Addresses are 0. */
struct at_ragged_groups at_ragged_groups_of(const struct at_groups *groups,
                                            const struct at_group *all);

/* Where drawn matrices lie. */
struct at_group_sides {
    uint64_t dst, src;
    uint64_t kept, second; /* 0 without second results, and without a second source */
};

/* Write the list of drawn matrices, groups.count of them. */
void at_group_list_write(const struct at_problem *problem, const struct at_group *all,
                         const struct at_group_sides *at, struct at_group_matrix *to);

/* Write where drawn groups of rows begin, groups.count of them, and where the last one ends. */
void at_group_offsets_write(const struct at_groups *groups, const struct at_group *all,
                            int64_t *to);

#endif
