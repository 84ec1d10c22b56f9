/* SPDX-License-Identifier: Apache-2.0 */
/* Turns: which of several ways of choosing a config is next. Each gets turns by what it has gained,
 * so a search finds out what its space is like: whether the Gaussian process sees the good configs,
 * or their neighbours are better guides. */
#ifndef AT_SEARCH_BAYESIAN_TURNS_H
#define AT_SEARCH_BAYESIAN_TURNS_H

#include <stdbool.h>
#include <stddef.h>

enum at_way { AT_WAY_MODEL, AT_WAY_AROUND, AT_WAYS };

struct at_turns {
    size_t taken[AT_WAYS];  /* configs asked for */
    size_t gained[AT_WAYS]; /* those that were faster than all before */
};

/* Is it the neighbours' turn? */
bool at_turns_go_around(const struct at_turns *turns);

#endif
