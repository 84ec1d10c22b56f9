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
};

/* What is looked at of every candidate, close together: most are never looked at otherwise. */
struct at_spot {
    struct at_traits traits; /* of the candidate */
    uint64_t identity;       /* of its problem: equal for equal ones, and seldom for others */
    uint64_t place;
};

enum { AT_ELEMENT_SIZES = 5 }; /* 1, 2, 4, 8 and 16 bytes */

/* Where candidates were tuned: a device in a file. */
struct at_place {
    const char *path;
    const struct at_device_record *record;
    /* The candidates with elements of 2^s bytes are those from of_size[s] on to of_size[s + 1]. */
    size_t of_size[AT_ELEMENT_SIZES + 1];
};

struct at_lookup {
    struct at_candidate *candidates;
    struct at_spot *spots; /* of the candidates */
    struct at_fits *fits;  /* their configs */
    size_t count, capacity, spot_capacity;
    struct at_place *places;
    size_t place_count, place_capacity;
    struct at_family *const *families;
    size_t family_count;
    size_t unusable;     /* entries that are not in the spaces */
    char *unusable_note; /* the first of them: */
    size_t unusable_place;
    const struct at_entry *unusable_entry;
};

/* Of a problem; the name of the type tells nothing that the size of an element does not. */
uint64_t at_nearest_identity(const struct at_problem *problem);

/* Fills the answer from the best tier that has a legal candidate, and there from the nearest,
 * unless that is farther than at_distance_max. False if there is none; answer->refused says why the
 * one for this very problem was not taken, or which is too far. */
bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer);

#endif
