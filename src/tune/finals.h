/* SPDX-License-Identifier: Apache-2.0 */
/* Who meets in a problem's shoot-out. */
#ifndef AT_TUNE_FINALS_H
#define AT_TUNE_FINALS_H

#include "pipeline/pipeline.h"
#include "pipeline/shootout.h"
#include "tune/copy_limit.h"

#include <stdbool.h>
#include <stddef.h>

/* Finalists first, the default among them, then the copies, the driver's the last. */
struct at_finals {
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t count, finalists;
    size_t fallback; /* the default config; SIZE_MAX: it has no time */
};

/* The fastest of a search, the default (its index in the space; SIZE_MAX: none) and the copies. */
void at_finals_make(struct at_finals *finals, const struct at_search *search, size_t fallback,
                    const struct at_copies *copies);

/* Sends home who has no chance by what is known of their times: all finalists but the fastest few,
 * and the default, and the slower of the copies; the driver's stays. */
void at_finals_keep(struct at_finals *finals);

/* Has all but the driver's copy, which are built, and whose buffers are prepared, timed side by
 * side for a moment, if there are many, and keeps those that have a chance. */
enum at_status at_finals_thin(struct at_finals *finals, struct at_session *session,
                              struct at_error *err);

/* ---- who wins ---- */

/* Two configs whose times cannot be told apart are equal. Noise must not choose between them: the
 * simplest wins, so that another run names the same one. */

/* With few or noisy samples the interval is wide; a time so many times another is a difference that
 * people pay for, whatever the noise. */
extern const double at_equal_at_most;

/* The winner among `count` timed contestants (kernels, with `samples` samples each) that are not
 * refused; SIZE_MAX if all are. `fallback` is the default config's place among them, or SIZE_MAX.
 *
 * A contestant is equal to the fastest if the 95 % interval of the median of their paired ratios,
 * round by round of the shoot-out, holds 1, and if it is at most half a percent behind. Simplest
 * is, in this order: the default config; the family that is preferred; fewest parameters off their
 * family's defaults; fewest registers; least shared memory; the faster. */
size_t at_finals_winner(const struct at_contestant *contestants, size_t count, size_t samples,
                        const bool *refused, size_t fallback);

#endif
