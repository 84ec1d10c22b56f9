/* SPDX-License-Identifier: Apache-2.0 */
/* From results to the profile's records. */
#ifndef AT_TUNE_PROFILE_ENTRY_H
#define AT_TUNE_PROFILE_ENTRY_H

#include "pipeline/pipeline.h"
#include "pipeline/shootout.h"
#include "profile/profile.h"

struct at_profile_entry_sources {
    const struct at_search *search;
    const struct at_contestant *winner, *fallback; /* fallback may be NULL */
    const struct at_contestant *copies;            /* the last is the driver's */
    size_t copy_count;
};

void at_profile_entry_make(const struct at_profile_entry_sources *sources, struct at_entry *entry);

#endif
