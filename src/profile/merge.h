/* SPDX-License-Identifier: Apache-2.0 */
/* Several profiles as one. Of a problem that two of them have for one device under one policy, one
 * entry stays: that of newer software (driver, CUDA, NVRTC, autotune: the first that differs), or
 * else the one whose search was complete, or else measured more configs, or else has more samples
 * of its winner, or else the smaller spread, or else the one named first. There are no time stamps
 * in a profile to go by.
 *
 * Entries made with one software and one policy share a record. What was made with another keeps a
 * record of its own, so that an entry never stands under software that it was not made with. */
#ifndef AT_PROFILE_MERGE_H
#define AT_PROFILE_MERGE_H

#include "profile/profiles.h"

struct at_merge {
    struct at_profile profile;
    char **conflicts; /* a line each: which entry stayed, which did not, and why */
    size_t conflict_count, conflict_capacity;
};

/* Moves the entries out of the profiles, whose files are then empty. AT_USAGE if the result would
 * be more than a profile may hold. */
enum at_status at_merge_make(struct at_merge *merge, struct at_profiles *profiles,
                             struct at_error *err);
void at_merge_clear(struct at_merge *merge);

#endif
