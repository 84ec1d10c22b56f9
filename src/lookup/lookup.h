/* SPDX-License-Identifier: Apache-2.0 */
/* Which config to take for a problem that may never have been tuned, on a device that may never
 * have been either. The answer is always legal for both. It comes from the best tier that has one,
 * and says which tier that is, how far the entry is, and what about it does not match. */
#ifndef AT_LOOKUP_LOOKUP_H
#define AT_LOOKUP_LOOKUP_H

#include "lookup/distance.h"
#include "profile/profiles.h"
#include "space/family.h"

/* The best first. */
enum at_tier {
    AT_TIER_EXACT,        /* this problem, tuned on this model of device */
    AT_TIER_SHAPE,        /* the nearest problem on this model */
    AT_TIER_CHIP,         /* the nearest on as many of the same multiprocessors */
    AT_TIER_ARCHITECTURE, /* the nearest on the same compute capability */
    AT_TIER_OTHER,        /* the nearest on the nearest architecture */
    AT_TIER_DEFAULT,      /* no entry is legal: the families' default config */
    AT_TIERS,
};
extern const char *const at_tier_names[AT_TIERS];

struct at_query {
    const struct at_problem *problem;
    const struct at_device_info *device;
    const struct at_environment *environment; /* what is not known is "" */
    const char *policy;                       /* "cold" */
};

/* Borrows from the lookup and the profiles. */
struct at_answer {
    enum at_tier tier;
    struct at_config config;
    struct at_launch launch;
    const char *path;                      /* of the profile; NULL for the default tier, as are: */
    const struct at_device_record *record; /* where it was tuned */
    const struct at_entry *entry;
    struct at_distance distance;       /* 0 for the default tier */
    bool predicted;                    /* no time behind it was measured */
    int64_t expected_of_copy_permille; /* what the entry reached on its own problem; 0: not known */
    char refused[240]; /* why the exact entry was not taken, or what entries could not be used */
};

struct at_lookup;

/* Makes the profiles' entries ready to be compared. Profiles and families are borrowed. Entries
 * whose config is not in the families' spaces are left out, one by one. */
struct at_lookup *at_lookup_open(const struct at_profiles *profiles,
                                 struct at_family *const *families, size_t family_count);
void at_lookup_close(struct at_lookup *lookup);

/* AT_FAILED: not even a default config is legal. Several threads may ask one lookup at once. */
enum at_status at_lookup_find(const struct at_lookup *lookup, const struct at_query *query,
                              struct at_answer *answer, struct at_error *err);

/* The answer for --strict: AT_MISMATCH unless it was tuned on this model of device. */
enum at_status at_answer_check_device(const struct at_answer *answer, const struct at_query *query,
                                      struct at_error *err);

/* The answer for people, and as JSON. */
void at_answer_show(const struct at_answer *answer, const struct at_query *query, bool color,
                    FILE *out);
enum at_status at_answer_write_json(const struct at_answer *answer, const struct at_query *query,
                                    FILE *out, struct at_error *err);

#endif
