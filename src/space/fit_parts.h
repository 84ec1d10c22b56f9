/* SPDX-License-Identifier: Apache-2.0 */
/* The prepared configs, which fit.c makes and fit_query.c uses. */
#ifndef AT_SPACE_FIT_PARTS_H
#define AT_SPACE_FIT_PARTS_H

#include "space/fit.h"
#include "space/rules.h"

/* Element sizes: 1, 2, 4, 8 and 16 bytes. */
enum { AT_FIT_SIZES = 5 };

struct at_fit {
    struct at_config config;
    const struct at_device_info *device; /* the home device */
    size_t next;                         /* number + 1 of the next one in the hash chain; 0: none */
    size_t family;                       /* index into at_fits.families */
    size_t *answers; /* per shape rule of the family: index into a query's answers */
    /* Element sizes (in bytes, as bits) for which the rules without the shape hold: all of them on
     * the home device, and those that do not use the device either. */
    uint32_t sizes_at_home, sizes;
    struct at_launch launches[AT_FIT_SIZES]; /* the fields that do not use the shape */
};

/* A rule with which the problem determines a parameter. */
struct at_determining {
    const struct at_family *family;
    const struct at_rule *rule;
};

struct at_fit_family {
    const struct at_family *family;
    size_t first, count; /* its part of at_fits.determining */
};

/* The size of the hash table: profiles have hundreds of different configs. */
enum { AT_FIT_HASHES = 1024 };

struct at_fits {
    struct at_fit *items;
    size_t count, capacity;
    size_t first[AT_FIT_HASHES]; /* number + 1 of the first config in each chain; 0: none */
    struct at_fit_family *families;
    size_t family_count, family_capacity;
    struct at_determining *determining;
    size_t determining_count, determining_capacity;
    size_t answer_count;
};

/* Does the rule hold? False if it cannot be evaluated. */
bool at_fit_holds(const struct at_rule *rule, const struct at_point *point);

#endif
