/* SPDX-License-Identifier: Apache-2.0 */
/* Every config once, in an order that does not depend on results. `exhaustive` keeps the order of
 * the space: neighbours share a program, which saves compile time. `random` draws the order from
 * the seed: if a budget ends it, the configs are a fair sample. */
#include "base/memory.h"
#include "search/landscape.h"

#include <stdlib.h>

struct order {
    size_t *indices;
    size_t next, count;
};

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct order *order = at_alloc(sizeof *order);

    (void)start;
    order->count = space->count;
    order->indices = at_alloc_array(space->count, sizeof *order->indices);
    for (size_t i = 0; i < space->count; i++)
        order->indices[i] = i;
    return order;
}

static void *create_random(const struct at_space *space, const struct at_start *start)
{
    struct order *order = create(space, start);
    struct at_rng rng = {start->seed};

    at_shuffle(&rng, order->indices, order->count);
    return order;
}

static bool ask(void *state, size_t *index)
{
    struct order *order = state;

    if (order->next == order->count)
        return false;
    *index = order->indices[order->next++];
    return true;
}

static void tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    (void)state, (void)index, (void)outcome, (void)time_ns;
}

static void destroy(void *state)
{
    free(((struct order *)state)->indices);
    free(state);
}

const struct at_strategy at_strategy_exhaustive = {
    .name = "exhaustive",
    .ignores_seed = true,
    .summary = "measures every config of the space, in order",
    .create = create,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};

const struct at_strategy at_strategy_random = {
    .name = "random",
    .summary = "draws configs at random, none twice",
    .create = create_random,
    .ask = ask,
    .tell = tell,
    .destroy = destroy,
};
