/* SPDX-License-Identifier: Apache-2.0 */
/* For tests that work with the families of the tree. To be included after cmocka.h. */
#ifndef AT_TESTS_UNIT_SHIPPED_FAMILIES_H
#define AT_TESTS_UNIT_SHIPPED_FAMILIES_H

#include "lookup/lookup.h"
#include "source_tree.h"
#include "space/space.h"

static struct at_family **families;
static size_t family_count;

/* A setup, and below its teardown. */
static inline int read_shipped_families(void **state)
{
    char *tuning = path_of("tuning"), *templates = path_of("templates");
    struct at_error err = {AT_OK, ""};

    (void)state;
    if (at_families_read(&families, &family_count, tuning, templates, &err) != AT_OK)
        fail_msg("%s", err.message);
    free(tuning);
    free(templates);
    return 0;
}

static inline int free_shipped_families(void **state)
{
    (void)state;
    for (size_t i = 0; i < family_count; i++)
        at_family_free(families[i]);
    free(families);
    return 0;
}

/* Open a lookup among the profiles, with these families. */
static inline struct at_lookup *open_lookup(const struct at_profiles *profiles)
{
    struct at_lookup *lookup;
    struct at_error err = {AT_OK, ""};

    if (at_lookup_open(&lookup, profiles, families, family_count, &err) != AT_OK)
        fail_msg("%s", err.message);
    return lookup;
}

#endif
