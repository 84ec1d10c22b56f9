/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses a config for any problem on any device, tuned or not, from the entries of profiles. The
 * answer is always legal for both. It comes from the best tier with a legal entry; between this
 * model and others with the same multiprocessors the distance decides (nearest.c). It names the
 * tier, how far the entry's problem is, and what else differs. */
#ifndef AT_LOOKUP_LOOKUP_H
#define AT_LOOKUP_LOOKUP_H

#include "lookup/distance.h"
#include "profile/profiles.h"
#include "space/family.h"

/* Where an answer comes from, best first. */
enum at_tier {
    AT_TIER_EXACT,        /* this problem, tuned on this model of device */
    AT_TIER_SHAPE,        /* the nearest problem on this model */
    AT_TIER_CHIP,         /* the nearest on as many multiprocessors of the same kind */
    AT_TIER_ARCHITECTURE, /* the nearest on the same compute capability */
    AT_TIER_OTHER,        /* the nearest on the nearest architecture */
    AT_TIER_DEFAULT,      /* no entry is legal: the families' default config */
    AT_TIERS,
};
extern const char *const at_tier_names[AT_TIERS];

/* A device and the versions of its software, which are unknown for a description. */
struct at_target {
    struct at_device_info device;
    struct at_environment environment;
};

struct at_query {
    const struct at_problem *problem;
    const struct at_device_info *device;
    const struct at_environment *environment; /* "": unknown */
    const char *policy;                       /* "cold" */
    bool strict; /* an entry of this model, however far, goes before those of others */
};

/* What came of measuring an answer against its rivals (rivals.h). */
struct at_measured {
    int64_t time_ns;      /* of the answer's config; 0: nothing was measured */
    int64_t looked_up_ns; /* of the config that lookup alone gives; 0: it was wrong */
    int64_t configs;      /* timed */
    bool predicted;
};

/* Borrows from the lookup and the profiles. */
struct at_answer {
    enum at_tier tier;
    struct at_config config;
    struct at_launch launch;
    const char *path;                      /* of the profile; these four are NULL for the default */
    const struct at_device_record *record; /* where it was tuned */
    const char *tuned_problem;
    const struct at_entry *entry; /* NULL as well if it is in a group, without measurements */
    struct at_distance distance;  /* 0 for the default tier */
    bool predicted;               /* the entry's times are predicted, not measured */
    size_t predicted_of; /* the number of configs that a prediction chose from; 0: none did */
    int64_t expected_of_copy_permille; /* the entry's share on its own problem; 0: unknown */
    struct at_measured measured;
    char refused[240]; /* why the exact entry was not taken, or which entries are unusable */
};

struct at_lookup;

/* Read the networks, and prepare the profiles' entries for lookups. Profiles and families are
 * borrowed. Entries whose config is not in its family's space are left out. AT_USAGE if the file of
 * networks is missing or damaged. */
enum at_status at_lookup_open(struct at_lookup **lookup, const struct at_profiles *profiles,
                              struct at_family *const *families, size_t family_count,
                              struct at_error *err);
void at_lookup_close(struct at_lookup *lookup);

/* Answer a query. AT_FAILED if not even a default config is legal. Several threads may use one
 * lookup at once. */
enum at_status at_lookup_find(const struct at_lookup *lookup, const struct at_query *query,
                              struct at_answer *answer, struct at_error *err);

/* Is the answer a guess: from another GPU, predicted, from a far problem, or a default? Not if it
 * was measured. */
bool at_answer_is_uncertain(const struct at_answer *answer);

/* AT_MISMATCH unless the answer was tuned on this model of device: for --strict. */
enum at_status at_answer_check_device(const struct at_answer *answer, const struct at_query *query,
                                      struct at_error *err);

/* Print the answer for people, and as JSON. */
void at_answer_show(const struct at_answer *answer, const struct at_query *query, bool color,
                    FILE *out);
enum at_status at_answer_write_json(const struct at_answer *answer, const struct at_query *query,
                                    FILE *out, struct at_error *err);

#endif
