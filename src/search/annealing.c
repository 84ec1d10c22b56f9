/* SPDX-License-Identifier: Apache-2.0 */
/* Simulated annealing (Kirkpatrick, Gelatt and Vecchi, Science 220, 1983). Several chains walk from
 * neighbour to neighbour: always to a faster one, and to a slower one with a chance that falls with
 * the loss and with time. Chains share their results: a step to a known config costs nothing. */
#include "base/memory.h"
#include "search/landscape.h"

#include <math.h>

enum { CHAINS = 8 };

/* Steps over known configs after which a chain starts elsewhere. */
enum { KNOWN_STEPS = 200 };

/* The loss that is accepted with a chance of 1/e: half of the time at first. Each evaluation
 * multiplies it by `cooling`, down to a fraction of the noise. */
static const double first_temperature = 0.5, cooling = 0.98, last_temperature = 0.002;

struct annealing {
    struct at_landscape land; /* first: at_landscape_free frees all */
    double temperature;
    struct chain {
        size_t here;  /* SIZE_MAX: nowhere yet */
        size_t there; /* the requested step; SIZE_MAX: none */
    } chains[CHAINS];
};

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct annealing *annealing = at_alloc(sizeof *annealing);

    annealing->temperature = first_temperature;
    at_landscape_begin(&annealing->land, space, start);
    for (size_t i = 0; i < CHAINS; i++)
        annealing->chains[i] = (struct chain){SIZE_MAX, SIZE_MAX};
    return annealing;
}

static void step(struct annealing *annealing, struct chain *chain, size_t there)
{
    const double *time_ns = annealing->land.time_ns;
    double loss;

    if (chain->here == SIZE_MAX || !isfinite(time_ns[chain->here])) {
        chain->here = there;
        return;
    }
    loss = time_ns[there] / time_ns[chain->here] - 1;
    if (loss <= 0 || at_rng_fraction(&annealing->land.rng) < exp(-loss / annealing->temperature))
        chain->here = there;
}

/* Propose a random neighbour; configs with known results are skipped, until one was not requested
 * yet. */
static bool propose(struct annealing *annealing, struct chain *chain, size_t *index)
{
    struct at_landscape *land = &annealing->land;
    size_t neighbours[AT_NEIGHBOURS_MAX];

    for (int i = 0; i < KNOWN_STEPS && chain->here != SIZE_MAX; i++) {
        size_t count = at_landscape_neighbours(land, chain->here, neighbours), drawn;

        if (count == 0)
            break;
        drawn = neighbours[at_rng_below(&annealing->land.rng, count)];
        if (at_landscape_take(land, drawn)) {
            *index = drawn;
            return true;
        }
        if (land->told[drawn])
            step(annealing, chain, drawn);
    }
    return at_landscape_start(&annealing->land, index);
}

static bool ask(void *state, size_t *index)
{
    struct annealing *annealing = state;

    for (size_t i = 0; i < CHAINS; i++) {
        struct chain *chain = &annealing->chains[i];

        if (chain->there != SIZE_MAX)
            continue;
        if (!propose(annealing, chain, index))
            return false;
        chain->there = *index;
        return true;
    }
    return false;
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    struct annealing *annealing = state;

    at_landscape_tell(&annealing->land, index, outcome, time_ns);
    annealing->temperature = fmax(annealing->temperature * cooling, last_temperature);
    for (size_t i = 0; i < CHAINS; i++) {
        if (annealing->chains[i].there != index)
            continue;
        step(annealing, &annealing->chains[i], index);
        annealing->chains[i].there = SIZE_MAX;
    }
}

const struct at_strategy at_strategy_annealing = {
    .name = "annealing",
    .summary = "simulated annealing: accepts slower configs, less and less often",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = at_landscape_free,
};
