/* SPDX-License-Identifier: Apache-2.0 */
/* Coverage: the configs to measure before predictions are trusted. If a value of a parameter was
 * measured in one config only, its good combinations are unknown. If few configs of a family were
 * measured, its best time is unknown. */
#ifndef AT_SEARCH_BAYESIAN_COVERAGE_H
#define AT_SEARCH_BAYESIAN_COVERAGE_H

#include "search/landscape.h"

/* How many configs to measure whatever is predicted of them. */
struct at_coverage_goal {
    size_t family; /* of a family that may still come near the best */
    size_t value;  /* with each value of a parameter, in a family near the best */
};

/* Mark in wanted, by config, the configs to measure that are not asked for yet. False: there are
 * none. */
bool at_coverage_mark(const struct at_landscape *land, struct at_coverage_goal goal, bool *wanted);

#endif
