/* SPDX-License-Identifier: Apache-2.0 */
/* What the buffers of a problem with a step hold: elements with all that can go wrong in them, the
 * numbers that they are computed with, and what the reference says of both. */
#ifndef AT_MEASURE_VALUES_H
#define AT_MEASURE_VALUES_H

#include "problem/problem.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_buffers;

/* Where parts of a table of values begin, after the elements of the source: those of the second
 * source, the results, the second results, the numbers, the largest magnitude, in 16 bytes, with
 * the scratch behind it, a flag that skips a launch, and the numbers of channels: the first ones of
 * all, then the second ones. */
struct at_values_layout {
    size_t seconds, results, kept, numbers, largest, flag, channels, bytes;
};

/* The largest magnitude lies in as many bytes. */
enum { AT_LARGEST_BYTES = 16 };

struct at_values_layout at_values_lay_out(const struct at_step *step);

/* Choose the operands of a problem's step, and make the table. `tuned`: the case is timed, so that
 * its values are ordinary ones. Sets the buffers' operands, by_value and largest. */
void at_values_make(struct at_buffers *buffers, bool tuned, unsigned char *table);

/* What kernels have to write, in one set, if it is known to the byte: 0 bytes, if it is not. */
int64_t at_values_expected_bytes(const struct at_buffers *buffers);

/* Write these bytes: poison, both results of blocks with their scales, and the sums. `table` has
 * the source's elements.
 */
void at_values_expect(const struct at_buffers *buffers, const unsigned char *table,
                      unsigned char *expected);

#endif
