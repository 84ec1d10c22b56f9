/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_PROBLEM_TENSOR_H
#define AT_PROBLEM_TENSOR_H

#include "problem/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum at_side { AT_SOURCE, AT_DESTINATION, AT_SIDES };

static inline int64_t at_axis_stride(const struct at_axis *axis, enum at_side side)
{
    return side == AT_SOURCE ? axis->stride_src : axis->stride_dst;
}

/* Sort by the strides of one side, the shortest first; equal ones by the other side. */
void at_axes_sort(struct at_axis *axes, size_t count, enum at_side side);

/* The order in which the places of several axes are visited; the first axis changes fastest:
 *   destination  as their strides in the destination: writes are nearly sequential, reads jump;
 *   source       the other way round;
 *   alternating  the fastest axis of the destination, the fastest other one of the source, and so
 *                on. Concurrent visits are close together on both sides: rows of DRAM that are open
 *                serve several visits, and sectors that two of them share are still in L2. */
enum at_outer_order { AT_OUTER_DESTINATION, AT_OUTER_SOURCE, AT_OUTER_ALTERNATING };

void at_axes_order(struct at_axis *axes, size_t count, enum at_outer_order order);

/* Drop axes of extent 1, merge neighbours on both sides, and sort by the source. Returns the number
 * of axes that are left. */
size_t at_axes_merge(struct at_axis *axes, size_t count);

/* Do two elements have one place on this side? Exact where strides nest; else a search of bounded
 * length, well below 1 ms, decides. */
enum at_overlap { AT_APART, AT_OVERLAP, AT_UNDECIDED };

enum at_overlap at_axes_overlap(const struct at_axis *axes, size_t count, enum at_side side);

/* The number of elements from the first to the last one accessed, both included. False if it does
 * not fit 62 bits. */
bool at_axes_extent(const struct at_axis *axes, size_t count, enum at_side side, int64_t *extent);

#endif
