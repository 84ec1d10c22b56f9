/* SPDX-License-Identifier: Apache-2.0 */
#include "search/order.h"

#include "base/memory.h"

#include <stdlib.h>

struct order {
    size_t *indices;
    size_t next, count;
};

void *at_order_create(size_t *indices, size_t count)
{
    struct order *order = at_alloc(sizeof *order);

    *order = (struct order){indices, 0, count};
    return order;
}

bool at_order_ask(void *state, size_t *index)
{
    struct order *order = state;

    if (order->next == order->count)
        return false;
    *index = order->indices[order->next++];
    return true;
}

void at_order_tell(void *state, size_t index, enum at_outcome outcome, double time_ns)
{
    (void)state, (void)index, (void)outcome, (void)time_ns;
}

void at_order_destroy(void *state)
{
    struct order *order = state;

    free(order->indices);
    free(order);
}

size_t *at_order_of(size_t count)
{
    size_t *order = at_alloc_array(count, sizeof *order);

    for (size_t i = 0; i < count; i++)
        order[i] = i;
    return order;
}
