/* SPDX-License-Identifier: Apache-2.0 */
/* What strategies share whose order does not depend on results. */
#ifndef AT_SEARCH_ORDER_H
#define AT_SEARCH_ORDER_H

#include "search/strategy.h"

/* A state that asks for order[0], order[1], ... and then for no more. Takes order over. */
void *at_order_create(size_t *order, size_t count);
bool at_order_ask(void *state, size_t *index);
void at_order_tell(void *state, size_t index, enum at_outcome outcome, double time_ns);
void at_order_destroy(void *state);

/* 0, 1, ... count - 1; the caller's to free. */
size_t *at_order_of(size_t count);

#endif
