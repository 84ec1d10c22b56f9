/* SPDX-License-Identifier: Apache-2.0 */
/* Ranks of a lookup's candidates: those with a lower rank go first, whatever their distance.
 *
 * What was tuned on this model and on another one with the same multiprocessors has one rank: a few
 * entries of one's own must not hide thousands of the other. Those count as somewhat farther. */
#ifndef AT_LOOKUP_RANK_H
#define AT_LOOKUP_RANK_H

#include "lookup/lookup.h"

/* The tier of what was tuned on one device, for another. */
enum at_tier at_tier_of(const struct at_device_info *tuned, const struct at_device_info *device,
                        bool same_problem);

/* The rank of what a profile has of a device, for a query: of an entry for the very problem, or of
 * entries of others. Emulated devices have predictions. */
uint64_t at_rank_of(const struct at_device_record *record, bool emulated,
                    const struct at_query *query, bool same_problem);

/* By how much entries of this device count as farther than equal ones of the query's. Between an
 * H100 and an H200 anything up to 32 serves about as well. */
float at_rank_premium(const struct at_device_record *record, const struct at_query *query);

enum at_tier at_rank_tier(uint64_t rank);
bool at_rank_is_of_others(uint64_t rank);

#endif
