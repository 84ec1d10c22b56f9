/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the winners of earlier runs from profiles into the warm start. */
#ifndef AT_TUNE_WARM_PROFILES_H
#define AT_TUNE_WARM_PROFILES_H

#include "profile/profiles.h"
#include "search/warm_start.h"

/* Add the winners on devices of the same architecture, nearest device model first, and to `copies`
 * the fastest copies. `now` is this run's device with its environment and policy. Winners without a
 * config in these families are left out. Returns how many winners were added. */
size_t at_warm_profiles_read(struct at_warm_start *warm_start, struct at_warm_start *copies,
                             const struct at_profiles *profiles, const struct at_device_record *now,
                             struct at_family *const *families, size_t family_count);

/* List the winners that a profile has for this model and policy, whatever its software. */
void at_incumbents_read(struct at_warm_start *incumbents, const struct at_profile *profile,
                        const struct at_device_record *now, struct at_family *const *families,
                        size_t family_count);

/* Add the winners and copies of entries that other devices of this model have just made. Their
 * times are those devices' own, and are not taken over. */
void at_warm_profiles_add(struct at_warm_start *warm_start, struct at_warm_start *copies,
                          const struct at_list *entries, struct at_family *const *families,
                          size_t family_count);

#endif
