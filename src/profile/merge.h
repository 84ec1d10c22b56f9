/* SPDX-License-Identifier: Apache-2.0 */
/* Joins profiles. An entry's subject is its problem, model of device, policy, and versions of
 * software (driver, CUDA, NVRTC, autotune). A profile has one entry for each subject, so it may
 * have a problem several times, made with different software. Who uses the profile takes the
 * newest.
 *
 * Entries of the same model of device, software and policy share a record, and name their GPU where
 * it is not the record's. Others keep their own, so that an entry is never shown under software
 * that it was not made with. */
#ifndef AT_PROFILE_MERGE_H
#define AT_PROFILE_MERGE_H

#include "profile/newest.h"
#include "profile/profiles.h"

struct at_merge {
    struct at_profile profile;
    char **conflicts; /* a line each: which entry was kept, which was dropped, and why */
    size_t conflict_count, conflict_capacity;
    char **repeats; /* a line each: an entry that two profiles have alike */
    size_t repeat_count, repeat_capacity;
};

/* Merge the profiles, and clear them: their entries move. If several have an entry for one subject,
 * one is kept. The first of these that differs decides: measurements, a complete search, more
 * configs measured, more samples of the winner, a smaller spread, a shorter time, a larger share of
 * the copy limit, the GPU whose UUID is first. The order of the profiles makes no difference.
 * AT_USAGE if the result is too large for a profile. */
enum at_status at_merge_make(struct at_merge *merge, struct at_profiles *profiles,
                             struct at_error *err);
void at_merge_clear(struct at_merge *merge);

/* How many entries of a profile a run has added, replaced, and left as they were. */
struct at_accumulation {
    size_t added, replaced, kept;
};

/* Does a run's entry replace the one that the profile has for its subject? */
typedef bool at_replaces(struct at_placed_entry old, struct at_placed_entry fresh,
                         const void *state);

/* Join the results of a run into the profile. The conditions of runs with the same software are
 * joined: least, most and sums. Both profiles' entries move; `run` is cleared. AT_USAGE if the
 * result is too large for a profile; then both are cleared. */
enum at_status at_profile_accumulate(struct at_profile *profile, struct at_profile *run,
                                     at_replaces *replaces, const void *state,
                                     struct at_accumulation *counts, struct at_error *err);

/* Join the conditions of two runs, which may be the same: least and most; counts are not added. */
void at_conditions_join(struct at_conditions *into, const struct at_conditions *from);

#endif
