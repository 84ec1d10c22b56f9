/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between two profiles, problem by problem. Entries correspond if device model,
 * kind of device, policy and problem are the same. */
#ifndef AT_PROFILE_DIFF_H
#define AT_PROFILE_DIFF_H

#include "profile/profile.h"

enum at_change {
    AT_CHANGE_REMOVED, /* only in the first */
    AT_CHANGE_ADDED,   /* only in the second */
    AT_CHANGE_CONFIG,  /* another winner */
    AT_CHANGE_TIME,    /* the same winner; its times differ by more than both spreads */
};

struct at_difference {
    enum at_change change;
    const struct at_device_record *from_record, *to_record;
    const struct at_entry *from, *to; /* NULL: not in that profile; nor is its record */
};

struct at_diff {
    struct at_difference *items; /* in the order of the first profile, then of the second */
    size_t count, capacity;
    size_t alike; /* problems that do not differ */
    size_t timed; /* problems with a time in both, alike or not */
    double ratio; /* geometric mean of new over old times of those; 1: none */
    bool across;  /* entries correspond if the problem is the same, on whatever device and policy */
};

/* Compare two profiles, which are borrowed. */
struct at_diff at_diff_make(const struct at_profile *from, const struct at_profile *to,
                            bool across);
void at_diff_clear(struct at_diff *diff);

/* Return how much longer the second time is, in thousandths; 0 if one is missing. */
int64_t at_difference_permille(const struct at_difference *difference);

/* Do both times of a problem differ by more than both spreads? */
bool at_difference_is_clear(const struct at_difference *difference);

/* "slower" or "faster" if that is clear, else "alike"; "" if a time is missing. */
const char *at_difference_verdict(const struct at_difference *difference);

/* Find the entry of another profile that corresponds to an entry of this record, and its record;
 * NULL if there is none. Without a record, device and policy make no difference. */
const struct at_entry *at_diff_counterpart(const struct at_profile *profile,
                                           const struct at_device_record *record,
                                           const struct at_entry *entry,
                                           const struct at_device_record **found);

/* Print the differences: section by section for people, else a row or record for each. */
enum at_status at_diff_print(const struct at_diff *diff, enum at_output_format format, FILE *out,
                             struct at_error *err);

#endif
