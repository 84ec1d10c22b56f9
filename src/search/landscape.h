/* SPDX-License-Identifier: Apache-2.0 */
/* A space as a strategy that learns sees it: configs as points on a grid of their parameters'
 * values, which of them are neighbours, and what has come of each so far. */
#ifndef AT_SEARCH_LANDSCAPE_H
#define AT_SEARCH_LANDSCAPE_H

#include "base/rng.h"
#include "search/strategy.h"

/* The configs of one family lie next to each other in a space. */
struct at_region {
    const struct at_family *family;
    size_t first, count;
};

struct at_landscape {
    const struct at_space *space; /* borrowed */
    struct at_region *regions;
    size_t region_count;
    size_t *region_of; /* by config */
    uint8_t *levels;   /* by config and parameter: the value's place among the parameter's values */
    uint32_t *slots;   /* levels to config + 1, a hash table; 0: free */
    size_t slot_count; /* a power of two */

    /* What has happened. */
    bool *asked, *told;
    double *time_ns; /* of those told; INFINITY if not correct */
    size_t asked_count, told_count;
    size_t best; /* the fastest correct one; SIZE_MAX: none yet */

    /* Configs to be drawn, those that are asked among them until they are met. */
    size_t *deck;
    size_t deck_count;
};

void at_landscape_init(struct at_landscape *land, const struct at_space *space);
void at_landscape_clear(struct at_landscape *land);

/* The levels of a config, one for each parameter of its family. */
const uint8_t *at_landscape_levels(const struct at_landscape *land, size_t index);

/* The config of the region with these levels; SIZE_MAX: there is none, so it is not legal. */
size_t at_landscape_find(const struct at_landscape *land, size_t region, const uint8_t *levels);

/* The legal configs that differ in the value of one parameter, at most AT_NEIGHBOURS_MAX, in the
 * order of parameters and values. Where constraints leave none, those that differ in two. Returns
 * how many. */
enum { AT_NEIGHBOURS_MAX = 512 };
size_t at_landscape_neighbours(const struct at_landscape *land, size_t index,
                               size_t neighbours[AT_NEIGHBOURS_MAX]);

/* Marks a config as asked for. False, if it was before or its result is known already. */
bool at_landscape_take(struct at_landscape *land, size_t index);

/* Takes one at random; false when there is none left. */
bool at_landscape_draw(struct at_landscape *land, struct at_rng *rng, size_t *index);

/* In how many parameters two configs of one family differ. */
size_t at_landscape_differing(const struct at_landscape *land, size_t a, size_t b);

/* Takes one at random of those of the centre's family that differ from it in so many parameters at
 * most; false when there is none left. */
bool at_landscape_draw_near(struct at_landscape *land, struct at_rng *rng, size_t centre,
                            size_t most, size_t *index);

/* Notes a result. */
void at_landscape_tell(struct at_landscape *land, size_t index, enum at_outcome outcome,
                       double time_ns);

/* How many are asked and not told. */
size_t at_landscape_waiting(const struct at_landscape *land);

#endif
