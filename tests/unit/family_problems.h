/* SPDX-License-Identifier: Apache-2.0 */
/* For the tests of all families: problems that between them admit every config of a family. To be
 * included after cmocka.h. */
#ifndef AT_TESTS_UNIT_FAMILY_PROBLEMS_H
#define AT_TESTS_UNIT_FAMILY_PROBLEMS_H

#include "base/memory.h"
#include "space/family.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* What stands before and after the element size of a specification, for families that do not take
 * what most do, a large square matrix. The first of a family admits its default config. */
static const struct {
    const char *family, *shape, *rest;
} family_problems[] = {
    {"copy", "1x67108864", ""},
    /* The families of the studies. */
    {"access", "1x8192", ""},
    {"fields", "8192x1", ""},
    {"fields", "1x8192", ""},
    {"fields", "8192x2", ""},
    {"fields", "2x8192", ""},
    {"items", "1x8192", ""},
    {"reversal", "1x8192", ""},
};

enum { NARROW_LEAST = 2, NARROW_MOST = 64, NARROW_LONG_SIDE = 2048 };

static inline bool is_narrow(const struct at_family *family)
{
    return strcmp(family->name, "narrow") == 0;
}

/* How many problems a family has. */
static inline size_t family_problem_count(const struct at_family *family)
{
    size_t count = 0;

    for (size_t i = 0; i < AT_COUNT(family_problems); i++)
        count += strcmp(family->name, family_problems[i].family) == 0;
    if (is_narrow(family))
        count = 4 * (NARROW_MOST - NARROW_LEAST + 1);
    return count == 0 ? 1 : count;
}

/* Does it take what most take? */
static inline bool family_takes_all(const struct at_family *family)
{
    for (size_t i = 0; i < AT_COUNT(family_problems); i++)
        if (strcmp(family->name, family_problems[i].family) == 0)
            return false;
    return !is_narrow(family);
}

/* Narrow matrices of each width both ways, short enough for the emulated device, whose long rows
 * begin on the boundary of a vector and elsewhere. */
static inline char *narrow_problem(size_t number, int elem_size)
{
    int narrow = NARROW_LEAST + (int)(number / 4 + 1) % (NARROW_MOST - NARROW_LEAST + 1);
    int wide = NARROW_LONG_SIDE + (number & 1 ? 3 : 0);

    return at_format("%dx%d:b%d", number & 2 ? narrow : wide, number & 2 ? wide : narrow,
                     elem_size);
}

static inline char *listed_problem(const struct at_family *family, size_t number, int elem_size)
{
    for (size_t i = 0; i < AT_COUNT(family_problems); i++)
        if (strcmp(family->name, family_problems[i].family) == 0 && number-- == 0)
            return at_format("%s:b%d%s", family_problems[i].shape, elem_size,
                             family_problems[i].rest);
    return at_format("8192x8192:b%d", elem_size);
}

/* The family's problem of this number. */
static inline struct at_problem family_problem(const struct at_family *family, size_t number,
                                               int elem_size)
{
    char *spec = is_narrow(family) ? narrow_problem(number, elem_size)
                                   : listed_problem(family, number, elem_size);
    struct at_problem problem;
    struct at_error err = {AT_OK, ""};

    if (at_problem_parse(&problem, spec, &err) != AT_OK)
        fail_msg("%s", err.message);
    free(spec);
    return problem;
}

/* How many configs of a family a test draws that draws `most` of others: these take the compiler
 * several times as long, with a hundred registers of vectors or both an interior and an edge. */
static inline size_t family_sample(const struct at_family *family, size_t most)
{
    static const char *const large[] = {"narrow", "odd"};

    for (size_t i = 0; i < AT_COUNT(large); i++)
        if (strcmp(family->name, large[i]) == 0)
            return most / 8;
    return most;
}

#endif
