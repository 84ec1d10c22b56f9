/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier runs have found: the winners in profiles, which a search starts from. */
#ifndef AT_TUNE_WINNERS_H
#define AT_TUNE_WINNERS_H

#include "profile/profiles.h"
#include "search/warm_start.h"

/* Takes up the winners on devices of the same architecture, those of the nearest model first, and
 * into `copies` the fastest copies. `now` is this run's device, with its environment and policy.
 * What these families have no config for is left out. Returns how many winners were taken. */
size_t at_warm_start_read(struct at_warm_start *warm_start, struct at_warm_start *copies,
                          const struct at_profiles *profiles, const struct at_device_record *now,
                          struct at_family *const *families, size_t family_count);

#endif
