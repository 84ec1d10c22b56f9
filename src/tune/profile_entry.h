/* SPDX-License-Identifier: Apache-2.0 */
/* Fills the profile's records from a session's results. */
#ifndef AT_TUNE_PROFILE_ENTRY_H
#define AT_TUNE_PROFILE_ENTRY_H

#include "pipeline/pipeline.h"
#include "pipeline/shootout.h"
#include "profile/profile.h"

/* What tuning one problem has found. */
struct at_tuning_result {
    const struct at_search *search;
    const struct at_contestant *winner, *fallback; /* fallback: the default config, or NULL */
    const struct at_contestant *copies;            /* the driver's copy last */
    size_t copy_count;
};

/* Fill a problem's entry; the caller clears it with the profile. */
void at_profile_entry_fill(struct at_entry *entry, const struct at_tuning_result *result);

/* Fill a device's record: device, environment, policy and what NVML has reported so far. */
void at_profile_device_fill(struct at_device_record *record, struct at_session *session);

#endif
