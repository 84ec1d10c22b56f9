/* SPDX-License-Identifier: Apache-2.0 */
/* A space as a learning strategy sees it: configs as points on a grid of parameter values, their
 * neighbours, and their results so far. */
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
    uint8_t *levels;   /* by config and parameter: the value's index among the parameter's values */
    uint32_t *slots;   /* levels to config + 1, a hash table; 0: free */
    size_t slot_count; /* a power of two */

    /* Results. */
    bool *asked, *told;
    double *time_ns; /* of the told configs; INFINITY if not correct */
    size_t asked_count, told_count;
    size_t best; /* the fastest correct one; SIZE_MAX: none yet */

    /* Configs to draw at random. Requested configs stay until they are drawn. */
    size_t *deck;
    size_t deck_count;

    struct at_rng rng; /* the search's own generator */
    size_t *likely;    /* the configs to begin with */
    size_t likely_count, likely_next;
};

void at_landscape_init(struct at_landscape *land, const struct at_space *space);
void at_landscape_clear(struct at_landscape *land);

/* Return the levels of a config, one per parameter of its family. */
const uint8_t *at_landscape_levels(const struct at_landscape *land, size_t index);

/* Find the config of the region with these levels; SIZE_MAX: none, so it is not legal. */
size_t at_landscape_find(const struct at_landscape *land, size_t region, const uint8_t *levels);

/* List the legal configs that differ in one parameter's value, at most AT_NEIGHBOURS_MAX, in the
 * order of parameters and values. If constraints leave none, list those that differ in two. Returns
 * how many. */
enum { AT_NEIGHBOURS_MAX = 512 };
size_t at_landscape_neighbours(const struct at_landscape *land, size_t index,
                               size_t neighbours[AT_NEIGHBOURS_MAX]);

/* Mark a config as requested. False: it was requested before, or its result is known. */
bool at_landscape_take(struct at_landscape *land, size_t index);

/* Take a random config; false: none is left. */
bool at_landscape_draw(struct at_landscape *land, struct at_rng *rng, size_t *index);

/* Take a random config of the centre's family that differs from it in at most `most` parameters;
 * false: none is left. */
bool at_landscape_draw_near(struct at_landscape *land, struct at_rng *rng, size_t centre,
                            size_t most, size_t *index);

/* Note a result. */
void at_landscape_tell(struct at_landscape *land, size_t index, enum at_outcome outcome,
                       double time_ns);

/* Count the requested configs without a result. */
size_t at_landscape_waiting(const struct at_landscape *land);

/* The same as at_landscape_init, for a search that begins with the likely configs. */
void at_landscape_begin(struct at_landscape *land, const struct at_space *space,
                        const struct at_start *start);

/* Free a strategy's state that begins with a landscape and owns nothing else. */
void at_landscape_free(void *state);

/* Take the next likely config that was not requested yet; when there is none, a random one. False:
 * all configs were requested. */
bool at_landscape_start(struct at_landscape *land, size_t *index);

/* Is a likely config left? */
bool at_landscape_has_likely(const struct at_landscape *land);

void at_shuffle(struct at_rng *rng, size_t *items, size_t count);

/* Draw a number, uniform in 0 <= x < 1. */
double at_rng_fraction(struct at_rng *rng);

#endif
