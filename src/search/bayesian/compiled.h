/* SPDX-License-Identifier: Apache-2.0 */
/* Which configs can be evaluated at once, while others are still to be compiled: so that the GPU
 * has something to do, a search prefers the former where little speaks for the latter. */
#ifndef AT_SEARCH_BAYESIAN_COMPILED_H
#define AT_SEARCH_BAYESIAN_COMPILED_H

#include "search/bayesian/acquisition.h"

/* So many improvements are worth being chosen from. */
enum { AT_COMPILED_CHOICE = 64 };

/* Of improvements, the greatest first, the first one that is at compiled, if not much less is
 * expected of it than of the greatest; else that one. */
size_t at_compiled_choose(const struct at_compiled *compiled,
                          const struct at_improvement *improvements, size_t count);

/* Are so many results awaited that they are worth it, or will some soon be there? */
bool at_compiled_awaits(const struct at_compiled *compiled, const struct at_landscape *land);

#endif
