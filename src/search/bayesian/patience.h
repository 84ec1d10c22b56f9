/* SPDX-License-Identifier: Apache-2.0 */
/* How long a search goes on while nothing is gained: the longer, the more there may be to gain.
 * Results are counted by the caller. The numbers were chosen by autotune replay on
 * tests/recordings. */
#ifndef AT_SEARCH_BAYESIAN_PATIENCE_H
#define AT_SEARCH_BAYESIAN_PATIENCE_H

#include <stdbool.h>
#include <stddef.h>

struct at_patience {
    double copy_ns;   /* the copy limit */
    bool known;       /* this very problem has been searched before */
    bool knowing;     /* winners of other problems are known */
    double gained_ns; /* the best time when last it was improved on to speak of; INFINITY: never */
    size_t gained_at; /* and how many results there were then */
};

/* Takes in a correct result, of so many. */
void at_patience_tell(struct at_patience *patience, double time_ns, size_t results);

/* Are launches short? Then the way to DRAM is not what limits a copy, and a transpose may be faster
 * than one. */
bool at_patience_is_short(const struct at_patience *patience);

/* Is the best near the copy limit, so that there is little to gain? Never, where launches are
 * short. */
bool at_patience_is_near_copy(const struct at_patience *patience);

/* Does the best so far, of this time, reach the copy limit? */
bool at_patience_reaches_copy(const struct at_patience *patience, double best_ns);

/* With so many results, have enough in a row been in vain? */
bool at_patience_is_over(const struct at_patience *patience, size_t results);

/* With so many results, have many been in vain, so that the next one may be left to chance? Only
 * where launches are short. */
bool at_patience_leaves_to_chance(const struct at_patience *patience, size_t results);

#endif
