/* SPDX-License-Identifier: Apache-2.0 */
#include "search/bayesian/patience.h"

/* Results in a row without improvement after which the search may stop; a Gaussian process may be
 * sure and wrong. The more may be gained, the more results. Fewest if this problem was searched
 * before: its winner only needs confirming. Most if nothing tells how much may be gained. Otherwise
 * fewest if the best is within near_copy of the copy limit, more with a warm start, and most
 * without one. Less than `noise` is no improvement: medians of five trains repeat to some 5 in 1000
 * (doc/measurement.md). */
enum {
    PATIENCE_LEAST = 30,
    PATIENCE_WARM = 60,
    PATIENCE_UNBOUNDED_WARM = 120,
    PATIENCE_COLD = 120
};

static const double near_copy = 1.04;

/* Beyond this many times the copy limit, the limit does not tell how much can be gained. On the
 * recordings of an H200 the best config takes at most 1.3 times the copy limit. */
static const double far_from_copy = 1.5;

static const double noise = 0.003;

/* When patience is over, a search continues for expected gains and for coverage, up to this many
 * such results. On the recordings of an H200 as many searches come within 1 % of the best as
 * without this end, and fewer with 120. */
enum { EXHAUSTED = 150 };

/* After CHANCE_FROM such results, one config in CHANCE_SHARE is drawn at random. */
enum { CHANCE_FROM = 60, CHANCE_SHARE = 2 };

/* The copy limit is reached when the best is within this share of it. Launches shorter than
 * short_ns are short. */
static const double copy_share = 0.01, short_ns = 20000;

bool at_patience_tell(struct at_patience *patience, double time_ns, size_t results)
{
    if (!(time_ns < patience->gained_ns * (1 - noise)))
        return false;
    patience->gained_ns = time_ns;
    patience->gained_at = results;
    return true;
}

bool at_patience_is_short(const struct at_patience *patience)
{
    return patience->gained_ns < short_ns;
}

bool at_patience_is_near_copy(const struct at_patience *patience)
{
    return !at_patience_is_short(patience) && patience->gained_ns < near_copy * patience->copy_ns;
}

bool at_patience_is_unbounded(const struct at_patience *patience)
{
    return !patience->searched_before &&
           (patience->copy_ns == 0 || (!at_patience_is_short(patience) &&
                                       patience->gained_ns > far_from_copy * patience->copy_ns));
}

bool at_patience_reaches_copy(const struct at_patience *patience, double best_ns)
{
    return patience->copy_ns >= short_ns && best_ns <= patience->copy_ns * (1 + copy_share);
}

static size_t count_enough(const struct at_patience *patience)
{
    bool unbounded = at_patience_is_unbounded(patience);

    return patience->searched_before            ? PATIENCE_LEAST
           : unbounded && patience->warm_start  ? PATIENCE_UNBOUNDED_WARM
           : unbounded                          ? (size_t)patience->numbers->patience
           : at_patience_is_near_copy(patience) ? PATIENCE_LEAST
           : patience->warm_start               ? PATIENCE_WARM
                                                : PATIENCE_COLD;
}

bool at_patience_is_over(const struct at_patience *patience, size_t results)
{
    return results >= patience->gained_at + count_enough(patience);
}

bool at_patience_may_end(const struct at_patience *patience, size_t results)
{
    /* With a bound, the last few evaluations are worth it: good configs that are left look
     * hopeless. */
    return at_patience_is_unbounded(patience) &&
           results >= patience->gained_at + (size_t)patience->numbers->hopeless;
}

bool at_patience_is_exhausted(const struct at_patience *patience, size_t results)
{
    return !at_patience_is_unbounded(patience) && results >= patience->gained_at + EXHAUSTED;
}

bool at_patience_leaves_to_chance(const struct at_patience *patience, size_t results)
{
    return !patience->searched_before && !at_patience_is_unbounded(patience) &&
           at_patience_is_short(patience) && results >= patience->gained_at + CHANCE_FROM &&
           results % CHANCE_SHARE == 0;
}
