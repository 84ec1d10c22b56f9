/* SPDX-License-Identifier: Apache-2.0 */
/* Many matrices in one launch: autotune_groups and autotune_matrix, checked, and what kernels get
 * of them. */
#ifndef AT_LIB_GROUPS_H
#define AT_LIB_GROUPS_H

#include "lib/objects.h"
#include "problem/group_arguments.h"

#include <stddef.h>
#include <stdint.h>

/* Complete a problem that has the element's size and the step. AT_USAGE if it makes no sense. */
enum at_status autotune_take_groups(struct at_problem *problem, const autotune_groups *given,
                                    struct at_error *err);

/* The same groups, wherever they lie: no leading dimension is a multiple of more than 1. */
struct at_problem autotune_groups_anywhere(const struct at_problem *problem);

/* What stays the same in all launches of groups of rows; all 0 for a list. */
struct at_ragged_groups autotune_rows_of(const autotune_groups *given);

/* Check a list in host memory. All addresses and strides are multiples of *alignment, in elements:
 * a power of two, at most 16, and the largest such one. */
enum at_status autotune_check_list(const autotune_matrix *list, int64_t count,
                                   const struct at_problem *problem, int64_t *alignment,
                                   struct at_error *err);

#endif
