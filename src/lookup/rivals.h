/* SPDX-License-Identifier: Apache-2.0 */
/* The configs that may beat the answer of a lookup, for those who can measure: the library's plans
 * and `autotune lookup --measure`. */
#ifndef AT_LOOKUP_RIVALS_H
#define AT_LOOKUP_RIVALS_H

#include "lookup/lookup.h"

enum { AT_RIVALS_MAX = 32 };

/* Has this very problem been measured on this model of device, with the query's policy? */
bool at_answer_is_settled(const struct at_answer *answer, const struct at_query *query);

/* Find the rivals of an answer that is not settled, among the configs of all entries, adapted to
 * the problem: of three, two that are predicted to be the fastest and that of the nearest entry.
 * The default config, which a bad answer must not lose to, comes second. All are legal, and none is
 * the answer's config or twice there. Each was found correct on this model of device before, on
 * whatever problem. Predicted times do not count. On an emulated device, which only predicts, any
 * model will do. Returns how many there are. */
size_t at_rivals_find(const struct at_lookup *lookup, const struct at_query *query,
                      const struct at_answer *answer, struct at_answer rivals[AT_RIVALS_MAX]);

#endif
