/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a lookup, and the search among them. */
#ifndef AT_LOOKUP_NEAREST_H
#define AT_LOOKUP_NEAREST_H

#include "lookup/lookup.h"
#include "lookup/predict.h"

/* An entry whose config is in its family's space. Of the problem, which is larger than all the
 * rest, it has what most searches ask for. */
struct at_candidate {
    const char *problem;
    const struct at_entry *entry; /* NULL: it is in a group, without measurements */
    int64_t of_copy_permille;
    uint32_t config; /* index into the lookup's configs */
};

/* A config that candidates have. */
struct at_known {
    struct at_config config;
    /* The sizes of elements for which its inherent rules are known to hold, and not to, added up.
     * Several lookups may find out at once. */
    _Atomic int64_t held, broken;
};

/* What a search reads of a candidate that may be near: by elements, then by ascending keys. */
struct at_mark {
    struct at_traits traits;
    float of_share;     /* at_distance_of_share */
    uint32_t place;     /* index into the lookup's places */
    uint32_t candidate; /* index into the lookup's candidates */
};

/* What it reads of all that it comes by: the keys of several marks and what their shares add, side
 * by side, so that compilers turn the comparison into vectors. */
enum { AT_BLOCK_MARKS = 8 };
struct at_block {
    float keys[AT_KEYS][AT_BLOCK_MARKS];
    float of_share[AT_BLOCK_MARKS];
};

/* Marks of one size of elements: from first to end - 1. */
struct at_group {
    size_t first, end;
};
enum { AT_GROUPS = 5 };

/* Where candidates were tuned: a device in a file. */
struct at_place {
    const char *path;
    const struct at_device_record *record;
    bool emulated;
};

struct at_lookup {
    struct at_candidate *candidates; /* in the order of the profiles */
    struct at_mark *marks;           /* of the candidates */
    struct at_block *blocks;         /* of the marks */
    struct at_group groups[AT_GROUPS];
    size_t group_count;
    size_t count, capacity;
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

/* Fill the answer from the legal candidates of the best tier that has any: with the nearest, or if
 * that is far or poor, with the config that is predicted to be the fastest, of theirs and the
 * default. Return false if there is none. answer->refused says why the entry for this very problem
 * was not taken, or which entry is far or poor. */
bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer);

#endif
