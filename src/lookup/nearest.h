/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a lookup, and the search among them: for the nearest, and where that is far, for
 * the config that is predicted to be the fastest. */
#ifndef AT_LOOKUP_NEAREST_H
#define AT_LOOKUP_NEAREST_H

#include "lookup/lookup.h"
#include "lookup/predict.h"

/* An entry whose config is in its family's space. */
struct at_candidate {
    struct at_traits traits; /* of its problem, and of the config's launch for that */
    float of_share;          /* at_distance_of_share */
    uint32_t number;         /* in the order of the profiles */
    uint32_t place, config;  /* indices into the lookup's places and configs */
    bool has_step;           /* its problem computes on the way */
    const char *problem;
    const struct at_entry *entry; /* NULL: it is in a group, without measurements, or a copy */
    int64_t of_copy_permille;
};

/* What was tuned for a step says nothing of a plain problem. */
static inline bool at_candidate_serves(const struct at_candidate *candidate,
                                       const struct at_problem *problem)
{
    return !candidate->has_step || problem->step.given;
}

/* A config that candidates have. */
struct at_known {
    struct at_config config;
    /* The sizes of elements for which its inherent rules are known to hold, and not to, added up.
     * Several lookups may find out at once. */
    _Atomic uint32_t held, broken;
};

/* Where candidates were tuned: a device in a file. */
struct at_place {
    const char *path;
    const struct at_device_record *record;
    bool emulated;
};

struct at_lookup {
    struct at_candidate *candidates; /* by ascending keys */
    size_t count, capacity;
    char **copies; /* problems of candidates that are the copies of entries */
    size_t copy_count, copy_capacity;
    struct at_known *configs; /* different ones */
    size_t config_count, config_capacity;
    struct at_place *places;
    size_t place_count, place_capacity;
    struct at_family *const *families;
    size_t family_count;
    struct at_slowdown *slowdown;
    size_t unusable;     /* entries that are not in the spaces */
    char *unusable_note; /* about the first of them */
};

/* A legal config on the problem that is asked for. */
struct at_option {
    const struct at_candidate *candidate; /* that has it; NULL: it is the default config */
    struct at_config config;
    struct at_launch launch;
};

/* Do the config's inherent rules hold for such elements? They are evaluated once. */
bool at_known_holds(struct at_known *known, const struct at_problem *problem);

/* Fit a config, by its number, to the point's problem and device. Return false, with a config and a
 * launch that mean nothing, if it is not legal there. */
bool at_known_fit(const struct at_lookup *lookup, uint32_t number, struct at_point *point,
                  struct at_option *option);

/* Find the default config. AT_FAILED, and nothing is found, if none is legal. */
enum at_status at_default_find(const struct at_lookup *lookup, const struct at_query *query,
                               struct at_option *option, struct at_error *err);

/* Predict how fast the considered configs are, by their numbers. INFINITY: a config is not
 * considered, not legal, of a family that the networks do not know, or not among those of which
 * most is expected. Returns how many were estimated. */
size_t at_known_predict(const struct at_lookup *lookup, struct at_slowdown_asked *asked,
                        const bool *considered, float *predictions);

/* Answer with an option. `asked` are the traits of the query's problem; they get the launch. */
void at_option_take(const struct at_lookup *lookup, const struct at_query *query,
                    struct at_traits *asked, const struct at_option *option, bool same_problem,
                    struct at_answer *answer);

/* Fill the answer from the legal candidates of the best tier that has any: with the nearest, or if
 * that is far or poor, with the config that is predicted to be the fastest, of theirs and the
 * default; a copy then gets the default. Return false if there is none. answer->refused says why
 * the entry for this very problem was not taken, or which entry is far or poor. */
bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer);

#endif
