/* SPDX-License-Identifier: Apache-2.0 */
/* What places of a kind are to a query: whose turn it is before that of others. */
#ifndef AT_LOOKUP_STANDING_H
#define AT_LOOKUP_STANDING_H

#include "lookup/nearest.h"

struct at_standing {
    uint64_t key;     /* decides first, less is better; of candidates of other problems */
    bool same_device; /* so that a candidate of the same problem is exact */
    bool alike;       /* what is legal there is legal here */
};

struct at_standing at_standing_of(const struct at_kind *kind, const struct at_query *query);

/* The key of a candidate of the very problem that is asked for. */
uint64_t at_standing_key_of_same(const struct at_standing *standing);

enum at_tier at_standing_tier(uint64_t key);

#endif
