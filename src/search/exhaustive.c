/* SPDX-License-Identifier: Apache-2.0 */
/* Every config, in the order of the space: neighbours share a program, which saves compile time. */
#include "search/order.h"

static void *create(const struct at_space *space, const struct at_start *start)
{
    (void)start;
    return at_order_create(at_order_of(space->count), space->count);
}

const struct at_strategy at_strategy_exhaustive = {
    .name = "exhaustive",
    .ignores_seed = true,
    .summary = "measures every config of the space, in order",
    .create = create,
    .ask = at_order_ask,
    .tell = at_order_tell,
    .destroy = at_order_destroy,
};
