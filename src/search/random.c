/* SPDX-License-Identifier: Apache-2.0 */
/* Every config once, in an order drawn from the seed. If a budget ends it, the configs are a fair
 * sample. */
#include "search/order.h"
#include "search/starts.h"

static void *create(const struct at_space *space, const struct at_start *start)
{
    struct at_rng rng = {start->seed};
    size_t *order = at_order_of(space->count);

    at_shuffle(&rng, order, space->count);
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
