/* SPDX-License-Identifier: Apache-2.0 */
/* From results to the profile's records. */
#ifndef AT_SEARCH_RECORD_H
#define AT_SEARCH_RECORD_H

#include "profile/profile.h"
#include "search/pipeline.h"
#include "search/shootout.h"

struct at_record_sources {
    const struct at_search *search;
    const struct at_contestant *winner, *fallback; /* fallback may be NULL */
    const struct at_contestant *copies;            /* the last is the driver's */
    size_t copy_count;
};

void at_record_entry(const struct at_record_sources *sources, struct at_entry *entry);

#endif
