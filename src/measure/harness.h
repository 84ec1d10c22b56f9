/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of templates/harness.cu, which fill and check buffers. */
#ifndef AT_MEASURE_HARNESS_H
#define AT_MEASURE_HARNESS_H

#include "device/device.h"

#include <stddef.h>
#include <stdint.h>

struct at_bench;

enum at_harness_kernel {
    AT_POISON,
    AT_FILL_SOURCE,
    AT_FILL_SECOND,
    AT_FILL_GROUPS,
    AT_CHECK,
    AT_CHECK_TENSOR,
    AT_CHECK_GROUPS,
    AT_CHECK_SOURCE,
    AT_CHECK_WORDS,
    AT_CHECK_SAME,
    AT_HARNESS_KERNELS
};

/* Start a kernel over this many items; it works with any number of threads. A device whose memory
 * the host can reach gets the host's function of the same name at once. */
enum at_outcome at_harness_start(const struct at_bench *bench, enum at_harness_kernel kernel,
                                 int64_t items, struct at_call call, struct at_error *err);

/* The destination of batches of any axes, or what is laid out as the source. The kernel has its own
 * struct `tensor_axes`, with the axes that are farthest apart there first. */
void at_harness_put_axes(struct at_call *call, size_t first, const struct at_problem *p,
                         enum at_side side);

/* What buffers are filled with where a kernel must not write, as in templates/harness.cu. */
enum { AT_POISON_BYTE = 0xa5 };

/* Lines of one of many matrices, as templates/harness.cu has them, in elements. */
struct at_group_lines {
    int64_t start, lines, ld, length, padded;
    int64_t index, line_step, element_step;
    int64_t channel, channel_line_step, channel_element_step; /* of a step with channels */
};

/* Which of the table's AT_STEP_VALUES elements is at this index of the source. */
size_t at_harness_value(int64_t index);

/* Which of AT_STEP_SETS sets of numbers a channel has. */
size_t at_harness_set(int64_t channel);

#endif
