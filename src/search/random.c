/* SPDX-License-Identifier: Apache-2.0 */
/* Every config once, in an order drawn from the seed: stopped by a budget, it has a fair sample. */
#include "base/rng.h"
#include "search/order.h"

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct at_rng rng = {start->seed};
    size_t *order = at_order_of(space->count);

    for (size_t left = space->count; left > 1; left--) { /* Fisher and Yates */
        size_t drawn = at_rng_below(&rng, left), kept = order[left - 1];

        order[left - 1] = order[drawn];
        order[drawn] = kept;
    }
    return at_order_create(order, space->count);
}

const struct at_strategy at_strategy_random = {
    .name = "random",
    .summary = "draws configs at random, none twice",
    .create = create,
    .ask = at_order_ask,
    .tell = at_order_tell,
    .destroy = at_order_destroy,
};
