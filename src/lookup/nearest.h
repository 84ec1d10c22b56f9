/* SPDX-License-Identifier: Apache-2.0 */
/* The entries of a lookup, and the search among them. */
#ifndef AT_LOOKUP_NEAREST_H
#define AT_LOOKUP_NEAREST_H

#include "lookup/lookup.h"

/* An entry whose config is in its family's space. */
struct at_candidate {
    const struct at_entry *entry;
    size_t place; /* index into the lookup's places */
    struct at_problem problem;
    struct at_config config;
};

/* Where candidates were tuned: a device in a file. */
struct at_place {
    const char *path;
    const struct at_device_record *record;
};

/* The candidates with one element size, which weighs most: a search rarely looks at other sizes. */
struct at_table {
    struct at_candidate *candidates; /* in the order of the profiles */
    struct at_traits *traits;        /* of the candidates; apart, so that a scan reads no more */
    size_t count, capacity, traits_capacity;
};

enum { AT_TABLES = 5 }; /* elements of 1, 2, 4, 8 and 16 bytes */

static inline size_t at_table_number(int64_t elem_size)
{
    return (size_t)__builtin_ctzll((unsigned long long)elem_size);
}

struct at_lookup {
    struct at_table tables[AT_TABLES];
    struct at_place *places;
    size_t place_count, place_capacity;
    struct at_family *const *families;
    size_t family_count;
    size_t unusable;     /* entries that are not in the spaces */
    char *unusable_note; /* about the first of them */
};

/* Fill the answer with the nearest legal candidate of the best tier that has one within
 * at_distance_max. Return false if there is none. answer->refused says why the entry for this very
 * problem was not taken, or which entry is too far. */
bool at_nearest_find(const struct at_lookup *lookup, const struct at_query *query,
                     struct at_answer *answer);

#endif
