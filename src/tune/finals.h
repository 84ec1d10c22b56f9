/* SPDX-License-Identifier: Apache-2.0 */
/* The finals: which kernels take part in a problem's shoot-out, and which one wins. */
#ifndef AT_TUNE_FINALS_H
#define AT_TUNE_FINALS_H

#include "pipeline/pipeline.h"
#include "pipeline/shootout.h"
#include "tune/copy_limit.h"

#include <stdbool.h>
#include <stddef.h>

/* First the finalists, with the default config among them, then the copies, the driver's copy
 * last. */
struct at_finals {
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t count, finalists;
    size_t fallback;  /* index of the default config; SIZE_MAX: it has no time */
    size_t incumbent; /* index of the config that the profile has; SIZE_MAX: none takes part */
};

/* Collect the fastest configs of a search, the default (its index in the space; SIZE_MAX: none),
 * the incumbent (NULL: none; it may be outside the space) and the copies. */
void at_finals_make(struct at_finals *finals, const struct at_search *search, size_t fallback,
                    const struct at_config *incumbent, const struct at_copies *copies);

/* Remove the contestants that have no chance by their present times. The fastest few finalists, the
 * default, the incumbent, the fastest copy and the driver's copy stay. */
void at_finals_keep(struct at_finals *finals);

/* If there are many finalists, time all contestants but the driver's copy briefly side by side, and
 * keep those that have a chance. They must be built, and their buffers prepared. */
enum at_status at_finals_qualify(struct at_finals *finals, struct at_session *session,
                                 struct at_error *err);

/* ---- the winner ---- */

/* Configs whose times cannot be told apart are equal. The simplest of them wins, so that noise does
 * not choose, and another run names the same one. */

/* Return the winner among the timed finalists (kernels with `samples` samples each) that are not
 * refused; SIZE_MAX if all are. It is not slower than the default and the incumbent.
 *
 * A contestant is equal to the fastest as at_samples_equal says: it is at most half a percent
 * slower, and the 95 % interval of the median of their paired ratios, round by round, contains 1.
 * The simplest is, in this order: the default config; the preferred family; the fewest parameters
 * off the family's defaults; the fewest registers; the least shared memory; the faster. */
size_t at_finals_winner(const struct at_finals *finals, size_t samples, const bool *refused);

#endif
