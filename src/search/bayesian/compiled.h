/* SPDX-License-Identifier: Apache-2.0 */
/* Prefers configs that are already compiled, when little speaks for the others, so that the GPU has
 * work. */
#ifndef AT_SEARCH_BAYESIAN_COMPILED_H
#define AT_SEARCH_BAYESIAN_COMPILED_H

#include "search/bayesian/acquisition.h"

/* The number of improvements to choose from. */
enum { AT_COMPILED_CHOICE = 64 };

/* Choose among improvements, sorted greatest first: the first compiled config, if not much less is
 * expected of it than of the greatest; else the greatest. */
size_t at_compiled_choose(const struct at_compiled *compiled,
                          const struct at_improvement *improvements, size_t count);

/* Should the search wait: are many results outstanding, or is one about to arrive? */
bool at_compiled_should_wait(const struct at_compiled *compiled, const struct at_landscape *land);

#endif
