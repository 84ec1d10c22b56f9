/* SPDX-License-Identifier: Apache-2.0 */
/* The surroundings of the fastest configs: their neighbours. The best config often has a neighbour
 * among the fastest ones that are known, also where a Gaussian process expects nothing of it. */
#ifndef AT_SEARCH_BAYESIAN_SURROUNDINGS_H
#define AT_SEARCH_BAYESIAN_SURROUNDINGS_H

#include "search/landscape.h"

enum { AT_CENTRES_MAX = 16 };

/* Mark in wanted, by config, the neighbours of the `centres` fastest configs that are not asked for
 * yet. False: there are none. */
bool at_surroundings_mark(const struct at_landscape *land, size_t centres, bool *wanted);

#endif
