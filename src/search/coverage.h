/* SPDX-License-Identifier: Apache-2.0 */
/* Values that were never tried: a model that has seen a parameter at one value only cannot know
 * what another would do. */
#ifndef AT_SEARCH_COVERAGE_H
#define AT_SEARCH_COVERAGE_H

#include "search/landscape.h"

/* Takes a config with a parameter's value that no config of its family taken so far has; the one
 * nearest to the family's best. Only families whose best takes at most `within` times the best time
 * of all are looked at. False: there is none. */
bool at_coverage_take(struct at_landscape *land, double within, size_t *index);

#endif
