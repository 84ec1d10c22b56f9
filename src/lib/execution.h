/* SPDX-License-Identifier: Apache-2.0 */
/* What a plan is executed with: autotune_execution, checked by what the plan's problem takes. */
#ifndef AT_LIB_EXECUTION_H
#define AT_LIB_EXECUTION_H

#include "lib/objects.h"
#include "problem/arguments.h"

#include <stdint.h>

/* Find the members that a problem takes beside dst, src and stream: a bit for each of their words
 * of 8 bytes. */
uint64_t autotune_execution_words(const struct at_problem *problem);

/* Copy an execution of a caller. AT_USAGE, with the member's name, if one makes no sense for the
 * problem, if one that is not among the `words` is not 0, or if its scratch has fewer than
 * `scratch_bytes`. dst and src are not checked. */
enum at_status autotune_take_execution(autotune_execution *taken, const autotune_execution *given,
                                       const struct at_problem *problem, uint64_t words,
                                       int64_t scratch_bytes, struct at_error *err);

/* Check that a plan needs nothing but dst, src and stream. */
enum at_status autotune_check_plain(const struct at_problem *problem, struct at_error *err);

/* Check source and destination. */
enum at_status autotune_check_addresses(const struct at_problem *problem, const void *dst,
                                        const void *src, struct at_error *err);

/* Return the numbers of a checked execution, as kernels take them. */
struct at_step_numbers autotune_execution_numbers(const autotune_execution *execution,
                                                  const struct at_step *step);

#endif
