/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of all families: problems that between them admit every config of a family. */
#ifndef AT_TESTS_FAMILY_PROBLEMS_H
#define AT_TESTS_FAMILY_PROBLEMS_H

#include "base/memory.h"
#include "space/family.h"

#include <stdio.h>
#include <string.h>

enum { NARROW_LEAST = 2, NARROW_MOST = 64, NARROW_LONG_SIDE = 2048 };

static inline size_t family_problem_count(const struct at_family *family)
{
    return strcmp(family->name, "narrow") == 0 ? 4 * (NARROW_MOST - NARROW_LEAST + 1) : 1;
}

/* How many configs of a family a test draws that draws `most` of others: these take the compiler
 * several times as long, with a hundred registers of vectors or both an interior and an edge. */
static inline int family_sample(const struct at_family *family, int most)
{
    static const char *const large[] = {"narrow", "odd"};

    for (size_t i = 0; i < AT_COUNT(large); i++)
        if (strcmp(family->name, large[i]) == 0)
            return most / 8;
    return most;
}

/* The problem of this number, and of number 0 for the family's default config: a large matrix, for
 * the copies its vector; narrow matrices both ways, short enough for the emulated device, whose
 * long rows begin on the boundary of a vector and elsewhere. */
static inline struct at_problem family_problem(const struct at_family *family, size_t number,
                                               int elem_size)
{
    int k = NARROW_LEAST + (int)(number / 4 + 1) % (NARROW_MOST - NARROW_LEAST + 1);
    int length = NARROW_LONG_SIDE + (number & 1 ? 3 : 0);
    struct at_problem problem;
    struct at_error err = {AT_OK, ""};
    char spec[64];

    snprintf(spec, sizeof spec, "8192x8192:b%d", elem_size);
    if (strcmp(family->name, "narrow") == 0)
        snprintf(spec, sizeof spec, "%dx%d:b%d", number & 2 ? k : length, number & 2 ? length : k,
                 elem_size);
    if (at_problem_parse(&problem, spec, &err) != AT_OK)
        fail_msg("%s", err.message);
    return strcmp(family->name, "copy") == 0 ? at_problem_copy_of(&problem) : problem;
}

#endif
