/* SPDX-License-Identifier: Apache-2.0 */
/* What should be seen of a space before a model of it is believed. A model that has seen a value of
 * a parameter in one config only does not know in which company it is good, and one that has seen
 * few configs of a family does not know how good the family's best is. */
#ifndef AT_SEARCH_COVERAGE_H
#define AT_SEARCH_COVERAGE_H

#include "search/landscape.h"

/* Marks, by config, those not asked for yet that should be looked at: all of a family that may yet
 * come near the best for all that its configs so far tell; and of a family that has come near it,
 * those with a value that fewer than so many configs have had. False: there are none. */
bool at_coverage_mark(const struct at_landscape *land, size_t looks, bool *wanted);

#endif
