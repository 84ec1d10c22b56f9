/* SPDX-License-Identifier: Apache-2.0 */
/* The warm start: configs that won earlier searches are tried early in the next one. */
#ifndef AT_SEARCH_WARM_START_H
#define AT_SEARCH_WARM_START_H

#include "space/space.h"

/* A winner or runner-up of a problem. Its family and parameters are known by name, so it can be
 * looked for in any space. */
struct at_winner {
    struct at_problem problem;
    struct at_config config; /* its family is borrowed */
    bool verified;           /* verified as a winner in this run */
    int64_t space; /* number of configs in the space, if it won on this very device; 0: elsewhere */
    double time_ns; /* its time, if nothing that it depends on has changed since; else 0 */
};

/* Configs per problem that are worth trying on other problems. */
enum { AT_WINNERS_PER_PROBLEM = 3 };

struct at_warm_start {
    struct at_winner *winners;
    size_t count, capacity;
};

void at_warm_start_add(struct at_warm_start *warm_start, const struct at_winner *winner);
void at_warm_start_clear(struct at_warm_start *warm_start);

/* Has this config been verified as a winner of a problem of this kind? */
bool at_warm_start_has(const struct at_warm_start *warm_start, const struct at_config *config,
                       struct at_problem_kind kind);

/* Has this very problem been tuned on this device, in a space of as many configs? Then *winner is
 * its winner, preferably one whose time still holds, and *index its place in the space. */
bool at_warm_start_knows(const struct at_warm_start *warm_start, const struct at_problem *problem,
                         const struct at_space *space, struct at_winner *winner, size_t *index);

/* List the configs of a space to try first: winners of the most similar problems, then each
 * family's default. If one is not legal, the nearest config instead. None twice. The caller frees
 * *likely; returns how many. */
size_t at_warm_start_likely(const struct at_warm_start *warm_start,
                            const struct at_problem *problem, const struct at_space *space,
                            size_t **likely);

#endif
