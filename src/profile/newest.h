/* SPDX-License-Identifier: Apache-2.0 */
/* Which entries of a profile count. It may have a problem several times for one model of device and
 * policy, made with different software. */
#ifndef AT_PROFILE_NEWEST_H
#define AT_PROFILE_NEWEST_H

#include "profile/profile.h"

/* An entry with its record. */
struct at_placed_entry {
    const struct at_device_record *record;
    struct at_entry *entry;
};

/* Remove the entries that do not stay, and records that have none any more. */
void at_profile_filter(struct at_profile *profile,
                       bool (*stays)(const struct at_device_record *record,
                                     const struct at_entry *entry, const void *state),
                       const void *state);

/* Go to a profile's next entry; from a zeroed `at`, to the first. False: there is no other. */
bool at_profile_next(const struct at_profile *profile, struct at_placed_entry *at);

/* Remove each entry of which there is a newer one for the same problem, model and policy: of two,
 * the measured one, then the one with newer software. */
void at_profile_keep_newest(struct at_profile *profile);

/* Are both records of one model of device and one policy? */
bool at_same_place(const struct at_device_record *a, const struct at_device_record *b);

/* Has the profile an entry for the problem, on this model and with this policy? */
bool at_profile_has(const struct at_profile *profile, const struct at_device_record *place,
                    const char *problem);

/* Return how many models of devices, and how many entries, the profile has. */
size_t at_profile_models(const struct at_profile *profile);
size_t at_profile_entries(const struct at_profile *profile);

#endif
