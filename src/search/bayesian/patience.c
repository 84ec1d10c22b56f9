/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/patience.h"

/* Results in a row that bring no gain to speak of before the search may stop: a model may be sure
 * of what is not so. Medians of five trains repeat to some 5 in 1000 (doc/measurement.md). There
 * are more of them the more there may be to gain: where the best is not within this factor of the
 * copy limit, most where nothing is known of other problems; and most where launches are short,
 * whatever is known, since good configs are rare there. What won an earlier search of the same
 * problem needs to be confirmed rather than found. */
enum {
    VAIN_RESULTS = 30,
    VAIN_RESULTS_KNOWING = 60,
    VAIN_RESULTS_HOPING = 120,
    VAIN_RESULTS_SHORT = 120
};
static const double near_copy = 1.04;
static const double vain = 0.003;

/* After so many of these, one in so many is left to chance. */
enum { CHANCE_FROM = 60, CHANCE_SHARE = 2 };

/* The copy limit is reached when the best is within this share of it. */
static const double copy_share = 0.01, short_ns = 20000;

void at_patience_tell(struct at_patience *patience, double time_ns, size_t results)
{
    if (time_ns < patience->gained_ns * (1 - vain)) {
        patience->gained_ns = time_ns;
        patience->gained_at = results;
    }
}

bool at_patience_is_short(const struct at_patience *patience)
{
    return patience->gained_ns < short_ns;
}

bool at_patience_is_near_copy(const struct at_patience *patience)
{
    return !at_patience_is_short(patience) && patience->gained_ns < near_copy * patience->copy_ns;
}

bool at_patience_reaches_copy(const struct at_patience *patience, double best_ns)
{
    return patience->copy_ns >= short_ns && best_ns <= patience->copy_ns * (1 + copy_share);
}

bool at_patience_is_over(const struct at_patience *patience, size_t results)
{
    size_t enough = patience->known                      ? VAIN_RESULTS
                    : at_patience_is_short(patience)     ? VAIN_RESULTS_SHORT
                    : at_patience_is_near_copy(patience) ? VAIN_RESULTS
                    : patience->knowing                  ? VAIN_RESULTS_KNOWING
                                                         : VAIN_RESULTS_HOPING;

    return results >= patience->gained_at + enough;
}

bool at_patience_leaves_to_chance(const struct at_patience *patience, size_t results)
{
    return !patience->known && at_patience_is_short(patience) &&
           results >= patience->gained_at + CHANCE_FROM && results % CHANCE_SHARE == 0;
}
