/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a comparison: how soon searches came near the optimum, and when they stopped. */
#ifndef AT_REPLAY_FIGURES_H
#define AT_REPLAY_FIGURES_H

#include "replay/compare.h"

/* Set how many runs a strategy had on a recording, when they came near the optimum (reaches), and
 * when they ended. */
void at_figures_of_runs(struct at_strategy_record *record, const struct at_recording *recording,
                        const struct at_course *courses, size_t runs);

/* Fill in a strategy's line over all recordings from its lines on each. */
void at_figures_sum_up(struct at_comparison *comparison, size_t strategy);

#endif
