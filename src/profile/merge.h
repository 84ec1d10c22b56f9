/* SPDX-License-Identifier: Apache-2.0 */
/* Merges profiles. If two profiles have an entry for the same problem, model of device and policy,
 * one is kept. The first of these that differs decides: measurements, newer software (driver, CUDA,
 * NVRTC, autotune: the first that differs), a complete search, more configs measured, more samples
 * of the winner, a smaller spread, a shorter time, a larger share of the copy limit, the GPU whose
 * UUID is first. Profiles have no time stamps, which would be simpler. The order of the profiles
 * makes no difference.
 *
 * Entries of the same model of device, software and policy share a record, and name their GPU where
 * it is not the record's. Others keep their own, so that an entry is never shown under software
 * that it was not made with. */
#ifndef AT_PROFILE_MERGE_H
#define AT_PROFILE_MERGE_H

#include "profile/profiles.h"

struct at_merge {
    struct at_profile profile;
    char **conflicts; /* a line each: which entry was kept, which was dropped, and why */
    size_t conflict_count, conflict_capacity;
    char **repeats; /* a line each: an entry that two profiles have alike */
    size_t repeat_count, repeat_capacity;
};

/* Merge the profiles, and clear them: their entries move. AT_USAGE if the result is too large for a
 * profile. */
enum at_status at_merge_make(struct at_merge *merge, struct at_profiles *profiles,
                             struct at_error *err);
void at_merge_clear(struct at_merge *merge);

#endif
