/* SPDX-License-Identifier: Apache-2.0 */
/* Problems for tests of all families. Together they admit every config of a family. Include after
 * cmocka.h. */
#ifndef AT_TESTS_UNIT_FAMILY_PROBLEMS_H
#define AT_TESTS_UNIT_FAMILY_PROBLEMS_H

#include "base/memory.h"
#include "space/family.h"

#include <stdlib.h>
#include <string.h>

/* The text before and after the element size of a specification, for families that do not take a
 * large square matrix. */
static const struct {
    const char *family, *shape, *rest;
} family_problems[] = {
    {"batch", "49x36", ",batch=40"},
    {"batch", "70x37", ",batch=40"},
    {"batch", "36x77", ",batch=40"},
    {"batch", "64x36", ",batch=80"}, /* columns of words */
    {"batch", "49x99", ",batch=40"},
    {"batch", "5x38", ",batch=400"},                 /* columns of few words */
    {"chains", "70x50x4096", ",perm=102,inplace=1"}, /* long runs, and elements of all sizes */
    {"chains", "70x5x41", ",perm=210,inplace=1"},
    {"chains", "70x50x3", ",perm=102,inplace=1"},
    {"chains", "7x9x5x6x2", ",perm=31024,inplace=1"},
    {"chains", "7x9x5x6x16", ",perm=31024,inplace=1"},
    {"copy", "1x67108864", ""},
    {"cycles", "107520x5", ",inplace=1"}, /* with and without gaps, panels of several tiles */
    {"cycles", "7x40000", ",inplace=1"},
    {"cycles", "300x4208", ",inplace=1"},
    {"cycles", "3000x4200", ",inplace=1"},
    {"cycles-elements", "1100x40x2", ",perm=102,inplace=1"}, /* words of an element */
    {"cycles-elements", "700x40x3", ",perm=102,inplace=1"},
    {"cycles-elements", "2x450x40x5", ",perm=0213,inplace=1"},
    {"cycles-elements", "300x40x7", ",perm=102,inplace=1"},
    {"cycles-elements", "150x40x9", ",perm=102,inplace=1"},
    {"cycles-elements", "150x40x11", ",perm=102,inplace=1"},
    {"cycles-elements", "150x40x13", ",perm=102,inplace=1"},
    {"cycles-elements", "150x40x15", ",perm=102,inplace=1"},
    {"cycles-reversed", "3000x40x4208", ",perm=210,inplace=1"},
    {"cycles-reversed", "300x4200x208", ",perm=210,inplace=1"},
    {"cycles-reversed", "107520x3x5", ",perm=210,inplace=1"},
    {"direct", "3x5x2x64x96", ",perm=21043"}, /* every order of the axes, all vectors */
    {"direct", "9x5x3x16x7", ",perm=41203"},
    {"direct", "group=9,rows=0..24,cols=0..24,batch=1..20", ""},
    {"inplace", "8192x8192", ",inplace=1"},
    {"micro", "8192x8192", ""},
    {"micro", "3x5x2x64x96", ",perm=21043"}, /* every order of the axes */
    {"micro", "group=9,rows=0..144,cols=16..144,multiple=16", ""},
    {"micro", "group=9,total=640,cols=128,multiple=16,pad=16", ""},
    {"narrow", "2048x3", ""},
    {"narrow", "3x5x2x512x3", ",perm=21043"},
    {"narrow", "515x3", ",batch=5"}, /* matrices that begin anywhere */
    {"narrow", "3x517", ",batch=5"},
    {"packed", "16x5x3x9x64", ",perm=42130"}, /* vectors on both sides */
    {"packed", "9x5x3x16x7", ",perm=41203"},
    {"packed", "9x5x3x6x64", ",perm=21304"},
    {"packed", "40x32x12", ",perm=102"},   /* runs of 3 words */
    {"packed", "4x3x20x67", ",perm=3102"}, /* rows that begin anywhere: of the source, */
    {"packed", "21x5x3x64", ",perm=3102"}, /* of the destination, */
    {"packed", "21x5x3x67", ",perm=3102"}, /* and of both */
    {"packed", "21x5x3x64x4", ",perm=31024"},
    {"packed", "8x50x36x4", ",perm=1302"}, /* edges share the axis of 36 */
    {"pixels", "272x264x3", ",perm=102"},
    {"pixels", "1036x36x3", ",perm=102"}, /* rows that are one run */
    {"pixels", "36x1036x3", ",perm=102"},
    {"pixels", "3x72x132x3", ",perm=0213"},
    {"quantise", "8192x8192", ",blocks=1x128"},
    {"quantise", "8192x8192", ",blocks=1x32,scales=floor,layout=swizzled,both"},
    {"quantise", "8192x8192", ",blocks=128x128,both=e5m2"},
    {"quantise", "8192x8196", ",blocks=1x32,scales=rceil,layout=swizzled"}, /* shorter vectors */
    {"quantise", "8192x8194", ",blocks=1x128"},
    {"quantise", "8193x8192", ",blocks=1x128,both"}, /* rows begin anywhere in the destination, */
    {"quantise", "8192x8193", ",blocks=1x128,both"}, /* or in the source */
    {"resident", "60x36", ",batch=64,inplace=1"},
    {"resident", "7x5", ",batch=400,inplace=1"},
    {"rows", "60x5x64", ",perm=102"},
    {"rows", "7x6x5x33", ",perm=1203"},
    {"rows", "7x6x5x133", ",perm=1203"},
    {"rows", "4099x1", ",ld_src=3"}, /* single elements */
    {"rows", "57x1", ",ld_src=2,batch=70,stride_src=120,stride_dst=60"},
    {"rows", "1x999", ",batch=5,stride_src=1024"},
    {"rows", "1x4099", ",offset_src=1"},
    {"runs", "129x33x3", ",perm=102"}, /* runs of 3 and 6 bytes */
    {"runs", "1025x9x5", ",perm=102"},
    {"runs", "9x1025x7", ",perm=102"},
    {"runs", "40x47x13", ",perm=102"},
    {"runs", "5x3x66x35x7", ",perm=20314"},
    {"skew", "8192x8192", ""},
    {"skew", "1003x1511", ""}, /* fits in L2 */
    {"skew", "group=7,rows=0..140,cols=0..150", ""},
    {"skew", "group=9,total=500,cols=70,law=zipf,pad=8", ""},
    {"small", "32x32", ",batch=65"},
    {"small", "33x17", ",batch=19"},
    {"small", "128x192", ""},
    {"small", "3x5x2x32x32", ",perm=21043"},
    {"strip", "1027x78", ""},
    {"strip", "1029x77", ""}, /* elements of adjacent long rows are in the same bank */
    {"strip", "1056x77", ""}, /* aligned long rows */
    {"strip", "78x1027", ""},
    {"strip", "77x1029", ""},
    {"strip", "77x1056", ""},
    {"strip", "515x101", ",batch=2"},
    {"strip", "1027x19", ""}, /* shorter than others, for unaligned long rows */
    {"strip", "101x515", ",batch=2"},
    {"strip", "3x5x2x512x67", ",perm=21043"},
    {"tile", "8192x8192", ""},
    {"tile", "3x5x2x64x96", ",perm=21043"},
    {"tma", "8192x8192", ""}, /* takes only rows of whole vectors */
    {"tma", "3x2x2x64x96", ",perm=21043"},
    {"warp", "8192x8192", ""},
    {"warp", "3x5x2x32x96", ",perm=21043"}, /* small enough to run */
    /* The families of the studies. */
    {"access", "1x8192", ""},
    {"again", "1x8192", ""},
    {"fields", "1x8192", ""},
    {"fields", "8192x1", ",ld_src=2"},
    {"fields", "1x8192", ",ld_dst=2"},
    {"fields", "8192x2", ""},
    {"fields", "2x8192", ""},
    {"items", "1x8192", ""},
    {"pattern", "1x8192", ""},
    {"reversal", "1x8192", ""},
};

/* Narrow matrices in both directions, short enough for the emulated device. Their long rows begin
 * at the boundary of a vector and elsewhere. */
static inline char *narrow_problem(int narrow, size_t variant, int elem_size)
{
    int wide = 2048 + (variant & 1 ? 3 : 0);

    return variant & 2 ? at_format("%dx%d:b%d", narrow, wide, elem_size)
                       : at_format("%dx%d:b%d", wide, narrow, elem_size);
}

/* Batches of small squares, together some 65,536 elements. */
static inline char *small_problem(int side, size_t variant, int elem_size)
{
    (void)variant;
    return at_format("%dx%d:b%d,batch=%d", side, side, elem_size, 1 + 65536 / side / side);
}

/* Few rows, or few columns, of elements of three words. */
static inline char *pixels_problem(int few, size_t variant, int elem_size)
{
    return variant & 1 ? at_format("%dx1036x3:b%d,perm=102", few, elem_size)
                       : at_format("1036x%dx3:b%d,perm=102", few, elem_size);
}

/* Families whose first parameter must equal a size of the problem: problems for each value. */
static const struct {
    const char *family;
    size_t variants;
    char *(*problem)(int value, size_t variant, int elem_size);
} family_series[] = {
    {"narrow", 4, narrow_problem}, {"pixels", 2, pixels_problem}, {"small", 1, small_problem}};

/* The types of a family's problems, for a size of elements. Of block scales there are few sizes, so
 * a type stands for each of the others. */
static inline const char *family_types(const struct at_family *family, int elem_size)
{
    static const struct {
        int elem_size;
        const char *moved, *scaled;
    } types[] = {{1, "b1", "f16:e5m2"},
                 {2, "b2", "bf16:e4m3"},
                 {4, "b4", "f32:e4m3"},
                 {8, "b8", "f32:e5m2"},
                 {16, "b16", "f16:e4m3"}};
    size_t i = 0;

    while (types[i].elem_size != elem_size)
        i++;
    return family->scales ? types[i].scaled : types[i].moved;
}

/* Return the number of special problems of a family; 0 if it takes the usual ones. */
static inline size_t family_own_problems(const struct at_family *family)
{
    size_t count = 0;

    for (size_t i = 0; i < AT_COUNT(family_problems); i++)
        count += strcmp(family->name, family_problems[i].family) == 0;
    for (size_t i = 0; i < AT_COUNT(family_series); i++)
        if (strcmp(family->name, family_series[i].family) == 0)
            count += family->params[0].value_count * family_series[i].variants;
    return count;
}

static inline size_t family_problem_count(const struct at_family *family)
{
    size_t own = family_own_problems(family);

    return own == 0 ? 1 : own;
}

static inline char *family_spec(const struct at_family *family, size_t number, int elem_size)
{
    for (size_t i = 0; i < AT_COUNT(family_problems); i++)
        if (strcmp(family->name, family_problems[i].family) == 0 && number-- == 0)
            return at_format("%s:%s%s", family_problems[i].shape, family_types(family, elem_size),
                             family_problems[i].rest);
    for (size_t i = 0; i < AT_COUNT(family_series); i++) {
        size_t variants = family_series[i].variants;

        if (strcmp(family->name, family_series[i].family) == 0)
            return family_series[i].problem((int)family->params[0].values[number / variants],
                                            number % variants, elem_size);
    }
    return at_format("8192x8192:b%d", elem_size);
}

/* Return the family's problem with this number. Problem 0 admits its default config. */
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

/* Matrices and batches with short sides, many of which have another canonical form. Rows are padded
 * on no side, on either or on both, or the transpose is in place. */
enum { DISGUISED_IN_PLACE = 4, DISGUISED_LAYOUTS, DISGUISED = DISGUISED_LAYOUTS * 4 * 4 * 2 };

/* Return false if the problem with this number makes no sense: padded, not square, but in place. */
static inline bool disguised_problem(struct at_problem *problem, int number, int elem_size)
{
    static const int extents[] = {1, 2, 3, 17}, batches[] = {1, 3};
    int layout = number % DISGUISED_LAYOUTS, left = number / DISGUISED_LAYOUTS;
    int rows = extents[left % 4], cols = extents[left / 4 % 4];
    bool in_place = layout == DISGUISED_IN_PLACE;
    struct at_error err = {AT_OK, ""};
    char *spec;

    if (in_place && rows != cols)
        return false;
    spec = at_format("%dx%d:b%d,batch=%d,ld_src=%d,ld_dst=%d%s", rows, cols, elem_size,
                     batches[left / 16], cols + (layout & 1 || in_place ? 3 : 0),
                     rows + (layout & 2 || in_place ? 3 : 0), in_place ? ",inplace=1" : "");
    if (at_problem_parse(problem, spec, &err) != AT_OK)
        fail_msg("%s", err.message);
    free(spec);
    return true;
}

/* Return whether a family has configs for a compute capability. */
static inline bool family_is_for(const struct at_family *family, int compute_capability)
{
    static const struct {
        const char *family;
        int least;
    } newer[] = {{"tma", 90}};

    for (size_t i = 0; i < AT_COUNT(newer); i++)
        if (strcmp(family->name, newer[i].family) == 0)
            return compute_capability >= newer[i].least;
    return true;
}

/* Return how many configs of a family a test draws if it draws `most` of others. Some families get
 * fewer: they compile several times as long, with a hundred registers of vectors or both an
 * interior and an edge, or they have few configs. */
static inline size_t family_sample(const struct at_family *family, size_t most)
{
    static const struct {
        const char *family;
        size_t divisor;
    } smaller[] = {{"batch", 4}, {"inplace", 2}, {"narrow", 8}, {"odd", 8}, {"runs", 2},
                   {"skew", 4},  {"small", 2},   {"strip", 4},  {"tma", 2}, {"warp", 2}};

    for (size_t i = 0; i < AT_COUNT(smaller); i++)
        if (strcmp(family->name, smaller[i].family) == 0)
            return (most + smaller[i].divisor - 1) / smaller[i].divisor;
    return most;
}

#endif
