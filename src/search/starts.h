/* SPDX-License-Identifier: Apache-2.0 */
/* Where searches begin: with the initial design's likely configs, then anywhere. */
#ifndef AT_SEARCH_STARTS_H
#define AT_SEARCH_STARTS_H

#include "search/landscape.h"

struct at_starts {
    struct at_rng rng; /* the search's own generator */
    size_t *likely;    /* owned */
    size_t count, next;
};

void at_starts_init(struct at_starts *starts, const struct at_start *start);
void at_starts_clear(struct at_starts *starts);

/* Take the next start that was not requested yet; false: all configs were requested. */
bool at_starts_next(struct at_starts *starts, struct at_landscape *land, size_t *index);

/* Is a likely config left? */
bool at_starts_has_likely(const struct at_starts *starts);

void at_shuffle(struct at_rng *rng, size_t *items, size_t count);

/* Draw a number, uniform in 0 <= x < 1. */
double at_rng_fraction(struct at_rng *rng);

#endif
