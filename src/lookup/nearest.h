/* SPDX-License-Identifier: Apache-2.0 */
/* What a lookup has made ready, for the files of this folder. */
#ifndef AT_LOOKUP_NEAREST_H
#define AT_LOOKUP_NEAREST_H

#include "lookup/boxes.h"
#include "lookup/lookup.h"
#include "space/fit.h"

/* An entry that can be compared; its traits are apart from it, for they are what is looked at of
 * most. */
struct at_candidate {
    const struct at_entry *entry;
    uint64_t identity;    /* of its problem: equal for equal ones, and seldom for others */
    uint32_t order;       /* among the entries of the profiles */
    uint32_t place, kind; /* of the lookup */
    uint32_t fit;         /* its config, among those of the lookup */
    struct at_problem problem;
};

enum { AT_ELEMENT_SIZES = 5 }; /* 1, 2, 4, 8 and 16 bytes */

/* Where candidates were tuned: a device in a file. */
struct at_place {
    const char *path;
    const struct at_device_record *record;
};

/* Places of the same standing with every query: with the same policy, and the same device or others
 * that are like it. */
struct at_kind {
    const struct at_device_record *record; /* of one of them */
    /* The box of the candidates with elements of 2^s bytes, if there are any. */
    bool has[AT_ELEMENT_SIZES];
    size_t box_of[AT_ELEMENT_SIZES];
};

/* Where a candidate is found by its problem. */
struct at_identified {
    uint64_t identity;
    size_t candidate;
};

/* Identities are found by their highest bits first, which differ for most. */
enum { AT_IDENTITY_BITS = 12 };

struct at_lookup {
    struct at_candidate *candidates;  /* in the order of the boxes */
    struct at_traits *traits;         /* of the candidates */
    struct at_fits *fits;             /* their configs */
    struct at_boxes boxes;            /* all of them */
    struct at_identified *identified; /* all of them, by identity and number */
    /* Where those begin whose identity has these highest bits, or higher ones. */
    uint32_t identified_from[1 << AT_IDENTITY_BITS];
    size_t count, capacity, traits_capacity;
    struct at_place *places;
    size_t place_count, place_capacity;
    struct at_kind *kinds;
    size_t kind_count, kind_capacity;
    struct at_family *const *families;
    size_t family_count;
    size_t unusable;     /* entries that are not in the spaces */
    char *unusable_note; /* of the first of them */
};

/* Of a problem; the name of the type tells nothing that the size of an element does not. */
uint64_t at_nearest_identity(const struct at_problem *problem);

/* Fills the answer from the best tier that has a legal candidate, and there from the nearest,
 * unless that is farther than at_distance_max. False if there is none; answer->refused says why the
 * one for this very problem was not taken, or which is too far. */
bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer);

#endif
