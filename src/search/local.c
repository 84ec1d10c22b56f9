/* SPDX-License-Identifier: Apache-2.0 */
/* Local search with restarts: moves to the first faster neighbour, and on from there; without one,
 * to another start. Neighbours are requested in random order, as many as may be in flight, so that
 * the path does not depend on the space's order. */
#include "base/memory.h"
#include "search/landscape.h"

struct local {
    struct at_landscape land; /* first: at_landscape_free frees all */
    size_t here;              /* SIZE_MAX: a new start is needed */
    size_t neighbours[AT_NEIGHBOURS_MAX];
    size_t count, next;
};

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct local *local = at_alloc(sizeof *local);

    local->here = SIZE_MAX;
    at_landscape_begin(&local->land, space, start);
    return local;
}

static void go_to(struct local *local, size_t index)
{
    local->here = index;
    local->count = at_landscape_neighbours(&local->land, index, local->neighbours);
    local->next = 0;
    at_shuffle(&local->land.rng, local->neighbours, local->count);
}

/* The best of this config and its neighbours, of those with results. */
static size_t best_around(const struct local *local)
{
    const struct at_landscape *land = &local->land;
    size_t best = local->here;

    for (size_t i = 0; i < local->count; i++)
        if (land->told[local->neighbours[i]] &&
            land->time_ns[local->neighbours[i]] < land->time_ns[best])
            best = local->neighbours[i];
    return best;
}

static bool ask(void *state, size_t *index)
{
    struct local *local = state;
    size_t best;

    while (local->here != SIZE_MAX) {
        if (!local->land.told[local->here])
            return false;
        best = best_around(local);
        if (best != local->here) {
            go_to(local, best);
            continue;
        }
        while (local->next < local->count) {
            *index = local->neighbours[local->next++];
            if (at_landscape_take(&local->land, *index))
                return true;
        }
        if (at_landscape_waiting(&local->land) > 0)
            return false;
        local->here = SIZE_MAX; /* a local minimum */
    }
    if (!at_landscape_start(&local->land, index))
        return false;
    go_to(local, *index);
    return true;
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    struct local *local = state;

    at_landscape_tell(&local->land, index, outcome, time_ns);
}

const struct at_strategy at_strategy_local = {
    .name = "local",
    .summary = "moves to faster neighbours, from many random configs",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = at_landscape_free,
};
