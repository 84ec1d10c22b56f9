/* SPDX-License-Identifier: Apache-2.0 */
/* Who wins a shoot-out. Two configs whose times cannot be told apart are equal, and then the choice
 * must not be the noise's: of equals the simplest wins, so that another run names the same one. */
#ifndef AT_TUNE_VERDICT_H
#define AT_TUNE_VERDICT_H

#include "pipeline/shootout.h"

#include <stdbool.h>
#include <stddef.h>

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
size_t at_verdict(const struct at_contestant *contestants, size_t count, size_t samples,
                  const bool *refused, size_t fallback);

#endif
