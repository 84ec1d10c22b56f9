/* SPDX-License-Identifier: Apache-2.0 */
/* What a lookup has made ready, for the files of this folder. */
#ifndef AT_PROFILE_NEAREST_H
#define AT_PROFILE_NEAREST_H

#include "profile/lookup.h"
#include "space/fit.h"

/* An entry that can be compared. */
struct at_candidate {
    const struct at_entry *entry;
    struct at_problem problem;
    struct at_fit fit;
    struct at_traits traits; /* at home: its own problem, device and launch */
    size_t place;
};

/* Where candidates were tuned: a device in a file. */
struct at_place {
    const char *path;
    const struct at_device_record *record;
};

struct at_lookup {
    struct at_candidate *candidates;
    size_t count, capacity;
    struct at_place *places;
    size_t place_count, place_capacity;
    struct at_family *const *families;
    size_t family_count;
    size_t unusable;     /* entries that are not in the spaces */
    char *unusable_note; /* the first of them */
};

/* Fills the answer from the best tier that has a legal candidate, and there from the nearest. False
 * if there is none; where the one for this very problem is not legal, answer->refused says why. */
bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer);

#endif
