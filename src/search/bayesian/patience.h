/* SPDX-License-Identifier: Apache-2.0 */
/* Patience: how long a search goes on without improvement. The more may be gained, the longer. The
 * caller counts the results. The numbers were chosen by autotune replay on tests/recordings, on
 * recorded spaces of other kernels, and on those of tests/bench/make-spaces. */
#ifndef AT_SEARCH_BAYESIAN_PATIENCE_H
#define AT_SEARCH_BAYESIAN_PATIENCE_H

#include "search/numbers.h"

#include <stdbool.h>
#include <stddef.h>

struct at_patience {
    const struct at_numbers *numbers; /* borrowed */
    double copy_ns;                   /* the copy limit */
    bool searched_before;             /* this very problem was searched before */
    bool warm_start;                  /* winners of other problems are known */
    double gained_ns;                 /* the best time at the last improvement; INFINITY: none */
    size_t gained_at;                 /* the number of results then */
};

/* Take a result, of time INFINITY if it is not correct; `results` counts it and all before. True:
 * it is an improvement. */
bool at_patience_tell(struct at_patience *patience, double time_ns, size_t results);

/* Are launches short? Then DRAM does not limit a copy, and a transpose may be faster than it. */
bool at_patience_is_short(const struct at_patience *patience);

/* Is the best close to the copy limit, so that little can be gained? Never for short launches. */
bool at_patience_is_near_copy(const struct at_patience *patience);

/* Is nothing known that tells how much may be gained: no copy limit, or one that is far off? Never
 * if this problem was searched before. */
bool at_patience_is_unbounded(const struct at_patience *patience);

/* Does the best time reach the copy limit? */
bool at_patience_reaches_copy(const struct at_patience *patience, double best_ns);

/* Have enough results in a row brought no improvement, whatever is hoped for? */
bool at_patience_is_over(const struct at_patience *patience, size_t results);

/* Have enough if nothing is hoped for? Never if the copy limit tells how much may be gained. */
bool at_patience_may_end(const struct at_patience *patience, size_t results);

/* Does the search end now, because it has long found no improvement? Then expected gains and
 * coverage do not matter. Never if the possible gain is unknown. */
bool at_patience_is_exhausted(const struct at_patience *patience, size_t results);

/* Should the next config be drawn at random? Yes for every other one, after many results without
 * improvement; only for short launches, and not if the problem was searched before. */
bool at_patience_leaves_to_chance(const struct at_patience *patience, size_t results);

#endif
