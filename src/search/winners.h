/* SPDX-License-Identifier: Apache-2.0 */
/* What earlier runs have found: the winners in profiles, which a search starts from. */
#ifndef AT_SEARCH_WINNERS_H
#define AT_SEARCH_WINNERS_H

#include "profile/profiles.h"
#include "search/knowledge.h"

/* Takes up the winners on devices of the same architecture, those of the nearest model first. What
 * these families have no config for is left out. Returns how many were taken. */
size_t at_knowledge_recall(struct at_knowledge *knowledge, const struct at_profiles *profiles,
                           const struct at_device_info *device, struct at_family *const *families,
                           size_t family_count);

#endif
