/* SPDX-License-Identifier: Apache-2.0 */
/* What should be seen of a space before a model of it is believed. A model that has seen a value of
 * a parameter in one config only does not know in which company it is good, and one that has seen
 * few configs of a family does not know how good the family's best is. */
#ifndef AT_SEARCH_BAYESIAN_COVERAGE_H
#define AT_SEARCH_BAYESIAN_COVERAGE_H

#include "search/landscape.h"

/* How many configs are to be looked at whatever a model says of them. */
struct at_looks {
    size_t family; /* of a family, while it may yet come near the best for all that they tell */
    size_t value;  /* with a parameter's value, of a family that has come near it */
};

/* Marks, by config, those not asked for yet that should be looked at. False: there are none. */
bool at_coverage_mark(const struct at_landscape *land, struct at_looks looks, bool *wanted);

#endif
