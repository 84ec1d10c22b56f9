/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by strategies whose order does not depend on results. */
#ifndef AT_SEARCH_ORDER_H
#define AT_SEARCH_ORDER_H

#include "search/strategy.h"

/* Create a state that asks for order[0], order[1], ... and then for no more. Takes ownership of
 * order. */
void *at_order_create(size_t *order, size_t count);
bool at_order_ask(void *state, size_t *index);
void at_order_tell(void *state, size_t index, enum at_outcome outcome, double time_ns);
void at_order_destroy(void *state);

/* Return 0, 1, ... count - 1; the caller frees it. */
size_t *at_order_of(size_t count);

#endif
