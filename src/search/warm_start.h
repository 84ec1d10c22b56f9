/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier searches have found: configs that won on one problem are tried early on the next. */
#ifndef AT_SEARCH_WARM_START_H
#define AT_SEARCH_WARM_START_H

#include "space/space.h"

/* A config that has won, or was next to it, by the names of its family and parameters, so that it
 * can be looked for in any space. */
struct at_winner {
    struct at_problem problem;
    struct at_config config; /* its family is borrowed */
    bool verified;           /* as a winner, in this run */
    int64_t space;  /* configs of the space, where it won on this very device; 0: elsewhere */
    double time_ns; /* its time, if nothing that it depends on has changed since; 0: it has */
};

/* Of each problem so many configs are worth being tried elsewhere. */
enum { AT_KNOWN_BEST = 3 };

struct at_warm_start {
    struct at_winner *winners;
    size_t count, capacity;
};

void at_warm_start_add(struct at_warm_start *warm_start, const struct at_winner *winner);
void at_warm_start_clear(struct at_warm_start *warm_start);

/* Has this config been verified as the winner of a problem of this element size? */
bool at_warm_start_has(const struct at_warm_start *warm_start, const struct at_config *config,
                       int64_t elem_size);

/* Has this very problem been tuned on this device, in a space of as many configs? Then *winner is
 * what won, one whose time still holds if there is any, and *index its place in the space. */
bool at_warm_start_knows(const struct at_warm_start *warm_start, const struct at_problem *problem,
                         const struct at_space *space, struct at_winner *winner, size_t *index);

/* The configs of a space to be tried first: the best of the most similar problems (or what comes
 * nearest to them where they are not legal), then each family's default, or what comes nearest to
 * it. None twice. The caller frees *likely. */
size_t at_warm_start_likely(const struct at_warm_start *warm_start,
                            const struct at_problem *problem, const struct at_space *space,
                            size_t **likely);

#endif
