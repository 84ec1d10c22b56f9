/* SPDX-License-Identifier: Apache-2.0 */
/* Genetic search. Better configs of a population become parents. A child gets each parameter from
 * one of two parents, and sometimes moves to a neighbour. Each child may replace the slowest
 * config; there are no generations, so that results need not be waited for. */
#include "base/memory.h"
#include "search/landscape.h"

#include <math.h>

enum { POPULATION = 20 };

/* Configs drawn per parent; the fastest becomes the parent. */
enum { RIVALS = 3 };

/* After this many illegal or known children, draw a random config. */
enum { ATTEMPTS = 50 };

/* One child in this many moves to a neighbour. */
enum { MUTATION = 3 };

struct genetic {
    struct at_landscape land;      /* first: at_landscape_free frees all */
    size_t population[POPULATION]; /* with results; in no order */
    size_t count;
};

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct genetic *genetic = at_alloc(sizeof *genetic);

    at_landscape_begin(&genetic->land, space, start);
    return genetic;
}

static size_t choose_parent(struct genetic *genetic)
{
    size_t best = genetic->population[at_rng_below(&genetic->land.rng, genetic->count)];

    for (int i = 1; i < RIVALS; i++) {
        size_t rival = genetic->population[at_rng_below(&genetic->land.rng, genetic->count)];

        if (genetic->land.time_ns[rival] < genetic->land.time_ns[best])
            best = rival;
    }
    return best;
}

/* Make a child; SIZE_MAX: it would not be legal. If the parents are of two families, the child
 * starts as a copy of the first. */
static size_t make_child(struct genetic *genetic, size_t mother, size_t father)
{
    const struct at_landscape *land = &genetic->land;
    struct at_rng *rng = &genetic->land.rng;
    size_t region = land->region_of[mother], child = mother;
    size_t neighbours[AT_NEIGHBOURS_MAX], count;

    if (land->region_of[father] == region) {
        uint8_t levels[AT_PARAMS_MAX] = {0};

        for (size_t i = 0; i < land->regions[region].family->param_count; i++)
            levels[i] = at_landscape_levels(land, at_rng_next(rng) >> 63 ? mother : father)[i];
        child = at_landscape_find(land, region, levels);
    }
    if (child == SIZE_MAX || at_rng_below(rng, MUTATION) != 0)
        return child;
    count = at_landscape_neighbours(land, child, neighbours);
    return count > 0 ? neighbours[at_rng_below(rng, count)] : child;
}

static bool ask(void *state, size_t *index)
{
    struct genetic *genetic = state;
    struct at_landscape *land = &genetic->land;

    /* The first population is drawn at random; later as many may be in flight. */
    if (at_landscape_waiting(land) >= POPULATION)
        return false;
    for (int i = 0; i < ATTEMPTS && genetic->count == POPULATION; i++) {
        size_t child = make_child(genetic, choose_parent(genetic), choose_parent(genetic));

        if (child == SIZE_MAX || !at_landscape_take(land, child))
            continue;
        *index = child;
        return true;
    }
    return at_landscape_start(&genetic->land, index);
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    struct genetic *genetic = state;
    const double *times_ns = genetic->land.time_ns;
    size_t slowest = 0;

    at_landscape_tell(&genetic->land, index, outcome, time_ns);
    if (genetic->count < POPULATION) {
        genetic->population[genetic->count++] = index;
        return;
    }
    for (size_t i = 1; i < POPULATION; i++)
        if (times_ns[genetic->population[i]] > times_ns[genetic->population[slowest]])
            slowest = i;
    if (times_ns[index] < times_ns[genetic->population[slowest]])
        genetic->population[slowest] = index;
}

const struct at_strategy at_strategy_genetic = {
    .name = "genetic",
    .summary = "crosses the better configs of a population",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = at_landscape_free,
};
