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
 * what most do, a large square matrix. */
static const struct {
    const char *family, *shape, *rest;
} family_problems[] = {
    {"copy", "1x67108864", ""},
    {"inplace", "8192x8192", ",inplace=1"},
    {"warp", "8192x8192", ""},
    /* The families of the studies. */
    {"access", "1x8192", ""},
    {"fields", "8192x1", ""},
    {"fields", "1x8192", ""},
    {"fields", "8192x2", ""},
    {"fields", "2x8192", ""},
    {"items", "1x8192", ""},
    {"reversal", "1x8192", ""},
};

/* Narrow matrices of each width both ways, short enough for the emulated device, whose long rows
 * begin on the boundary of a vector and elsewhere. */
enum { NARROW_LEAST = 2, NARROW_MOST = 64, NARROW_LONG_SIDE = 2048 };

static inline char *narrow_problem(size_t number, int elem_size)
{
    int narrow = NARROW_LEAST + (int)number / 4;
    int wide = NARROW_LONG_SIDE + (number & 1 ? 3 : 0);

    if (number / 4 == 0) /* the default config's */
        narrow = 3;
    else if (narrow == 3)
        narrow = NARROW_LEAST;
    return at_format("%dx%d:b%d", number & 2 ? narrow : wide, number & 2 ? wide : narrow,
                     elem_size);
}

/* Batches of small squares of each size, in all some 65,536 elements, after one of oblongs and one
 * matrix that is taken in tiles. */
enum { SMALL_LEAST = 2, SMALL_MOST = 128, SMALL_ELEMENTS = 65536 };

static inline char *small_problem(size_t number, int elem_size)
{
    int side = SMALL_LEAST + (int)number - 3;

    if (number == 1)
        return at_format("33x17:b%d,batch=19", elem_size);
    if (number == 2)
        return at_format("128x192:b%d", elem_size);
    if (number == 0) /* the default config's */
        side = 32;
    return at_format("%dx%d:b%d,batch=%d", side, side, elem_size, 1 + SMALL_ELEMENTS / side / side);
}

static const struct {
    const char *family;
    size_t count;
    char *(*problem)(size_t number, int elem_size);
} family_series[] = {
    {"narrow", 4 * (NARROW_MOST - NARROW_LEAST + 1), narrow_problem},
    {"small", 3 + SMALL_MOST - SMALL_LEAST + 1, small_problem},
};

/* How many problems of its own a family has; 0: it takes what most take. */
static inline size_t family_own_problems(const struct at_family *family)
{
    size_t count = 0;

    for (size_t i = 0; i < AT_COUNT(family_problems); i++)
        count += strcmp(family->name, family_problems[i].family) == 0;
    for (size_t i = 0; i < AT_COUNT(family_series); i++)
        if (strcmp(family->name, family_series[i].family) == 0)
            count = family_series[i].count;
    return count;
}

static inline size_t family_problem_count(const struct at_family *family)
{
    size_t own = family_own_problems(family);

    return own == 0 ? 1 : own;
}

static inline char *family_spec(const struct at_family *family, size_t number, int elem_size)
{
    for (size_t i = 0; i < AT_COUNT(family_series); i++)
        if (strcmp(family->name, family_series[i].family) == 0)
            return family_series[i].problem(number, elem_size);
    for (size_t i = 0; i < AT_COUNT(family_problems); i++)
        if (strcmp(family->name, family_problems[i].family) == 0 && number-- == 0)
            return at_format("%s:b%d%s", family_problems[i].shape, elem_size,
                             family_problems[i].rest);
    return at_format("8192x8192:b%d", elem_size);
}

/* The family's problem of this number. That of number 0 admits its default config. */
static inline struct at_problem family_problem(const struct at_family *family, size_t number,
                                               int elem_size)
{
    char *spec = family_spec(family, number, elem_size);
    struct at_problem problem;
    struct at_error err = {AT_OK, ""};

    if (at_problem_parse(&problem, spec, &err) != AT_OK)
        fail_msg("%s", err.message);
    free(spec);
    return problem;
}

/* How many configs of a family a test draws that draws `most` of others: these take the compiler
 * several times as long, with a hundred registers of vectors or both an interior and an edge, or
 * have few. */
static inline size_t family_sample(const struct at_family *family, size_t most)
{
    static const struct {
        const char *family;
        size_t divisor;
    } smaller[] = {{"inplace", 2}, {"narrow", 8}, {"odd", 8}, {"small", 2}, {"warp", 2}};

    for (size_t i = 0; i < AT_COUNT(smaller); i++)
        if (strcmp(family->name, smaller[i].family) == 0)
            return most / smaller[i].divisor;
    return most;
}

#endif
