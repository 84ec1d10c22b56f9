/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of buffers: that kernels wrote what they should, and nothing else. */
#ifndef AT_MEASURE_CHECK_H
#define AT_MEASURE_CHECK_H

#include "measure/buffers.h"

/* What a check found. */
struct at_check_result {
    uint64_t mismatches;
    uint64_t first; /* index of the first wrong element, from the start of the front red zone */
};

/* What is checked: that the destination has the transposed source; that a source is as it was; in
 * place, that the destination has its first content, as after an even number of transposes; that
 * the second result is right; that the largest magnitude is; that no output was written; of blocks,
 * that all outputs are as expected; that sums are; that the scratch memory is 0 again. */
enum at_check_of {
    AT_OF_DESTINATION,
    AT_OF_SOURCE,
    AT_OF_SECOND,
    AT_OF_RESTORED,
    AT_OF_KEPT,
    AT_OF_LARGEST,
    AT_OF_NOTHING,
    AT_OF_ALL,
    AT_OF_SUMS,
    AT_OF_SCRATCH
};

/* Start a check of a set. The result goes to the device at `result`, which the caller has cleared
 * to {0, UINT64_MAX}. */
enum at_outcome at_buffers_check(const struct at_bench *bench, const struct at_buffers *buffers,
                                 int64_t set, enum at_check_of what, at_address result,
                                 struct at_error *err);

/* The buffer that a check looks at, and the bytes of its elements. */
const struct at_buffer *at_checked_buffer(const struct at_buffers *buffers, enum at_check_of what);
int64_t at_checked_size(const struct at_problem *problem, enum at_check_of what);

#endif
