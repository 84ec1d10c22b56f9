/* SPDX-License-Identifier: Apache-2.0 */
/* What fit.c makes ready and fit_query.c asks. */
#ifndef AT_SPACE_FIT_PARTS_H
#define AT_SPACE_FIT_PARTS_H

#include "space/fit.h"
#include "space/rules.h"

/* Sizes of an element: 1, 2, 4, 8 and 16 bytes. */
enum { AT_FIT_SIZES = 5 };

struct at_fit {
    struct at_config config;
    const struct at_device_info *device; /* at home */
    size_t next;                         /* of the same hash, and one more; 0: there is none */
    size_t family;                       /* among those of the fits */
    size_t *answers; /* to the family's shape rules, one each: among those of a query */
    /* The sizes of elements, a bit each, for which it is legal as far as rules do not look at the
     * shape: on the device at home, and on another as far as they do not look at that either. */
    uint32_t sizes_at_home, sizes;
    struct at_launch launches[AT_FIT_SIZES]; /* at home, where they do not depend on the shape */
};

/* A rule by which the problem determines a parameter. */
struct at_determining {
    const struct at_family *family;
    const struct at_rule *rule;
};

struct at_fit_family {
    const struct at_family *family;
    size_t first, count; /* of its determining rules, among those of the fits */
};

/* Profiles have hundreds of different configs. */
enum { AT_FIT_HASHES = 1024 };

struct at_fits {
    struct at_fit *items;
    size_t count, capacity;
    size_t first[AT_FIT_HASHES]; /* of the configs with each hash, and one more; 0: there is none */
    struct at_fit_family *families;
    size_t family_count, family_capacity;
    struct at_determining *determining;
    size_t determining_count, determining_capacity;
    size_t answer_count;
};

/* One that cannot be evaluated does not hold. */
bool at_fit_holds(const struct at_rule *rule, const struct at_point *point);

#endif
