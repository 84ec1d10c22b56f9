/* SPDX-License-Identifier: Apache-2.0 */
/* src/problem/groups.c and groups_spec.c: how many matrices in one launch are written, refused,
 * drawn and laid out. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "problem/group_arguments.h"
#include "problem/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "folder.h"
#include "problem_of.h"

/* ---- texts ---- */

/* What rules and lookup see is a batch of the mean size. */
static void spells(void **state)
{
    static const struct {
        const char *spec, *shortest;
        enum at_groups_kind kind;
        int64_t batch, rows, cols, ld_src, ld_dst;
    } cases[] = {
        {"group=256,rows=16..512,cols=16..512:f16", "group=256,rows=16..512,cols=16..512:f16",
         AT_GROUP_LIST, 256, 264, 264, 265, 265},
        {"group=3,cols=7,rows=5..5:f32", "group=3,rows=5,cols=7:f32", AT_GROUP_LIST, 3, 5, 7, 7, 5},
        {"group=4,rows=0..9,cols=0..3,multiple=1,draw=7:b1",
         "group=4,rows=0..9,cols=0..3,draw=7:b1", AT_GROUP_LIST, 4, 5, 2, 3, 5},
        {"group=40,rows=16..144,cols=16..144,multiple=16:bf16:e4m3,scale,both",
         "group=40,rows=16..144,cols=16..144,multiple=16:bf16:e4m3,scale,both", AT_GROUP_LIST, 40,
         80, 80, 80, 80},
        /* Several ranges: sorted, and the same ones together. */
        {"group=64x64+200x64x64+56x16..31x128,multiple=16:f16",
         "group=56x16..31x128+201x64x64,multiple=16:f16", AT_GROUP_LIST, 257, 56, 78, 80, 80},
        /* Batches count by their matrices. */
        {"group=300,batch=6..62,rows=4..24,cols=4..24:f64",
         "group=300,rows=4..24,cols=4..24,batch=6..62:f64", AT_GROUP_LIST, 300 * 34, 14, 14, 15,
         15},
        {"group=2x40x50+3x3,batch=3:b1", "group=3x3+2x40x50,batch=3:b1", AT_GROUP_LIST, 9, 28, 35,
         35, 29},
        {"group=3,rows=5,cols=7,batch=1..1:f32", "group=3,rows=5,cols=7:f32", AT_GROUP_LIST, 3, 5,
         7, 7, 5},
        {"group=7x3..9x5+2x3..9x5:f32", "group=9,rows=3..9,cols=5:f32", AT_GROUP_LIST, 9, 6, 5, 5,
         7},
        {"group=0x0+1000000x1x1+65536x4096,draw=2:u8", "group=0x0+1000000x1x1+65536x4096,draw=2:u8",
         AT_GROUP_LIST, 1000002, 2, 2, 3, 3},
        {"group=9,total=500,cols=70,law=even,pad=1:f16", "group=9,total=500,cols=70:f16",
         AT_RAGGED_GROUPS, 9, 56, 70, 70, 57},
        {"group=64,cols=2880,pad=16,law=zipf,total=98304:bf16",
         "group=64,total=98304,cols=2880,law=zipf,pad=16:bf16", AT_RAGGED_GROUPS, 64, 1536, 2880,
         2880, 1552},
        {"group=5,total=640,cols=128,stack=1,law=sparse,multiple=16,pad=32:u8:f32,scale",
         "group=5,total=640,cols=128,law=sparse,multiple=16,pad=32,stack=1:u8:f32,scale",
         AT_RAGGED_GROUPS, 5, 128, 128, 128, 160},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = problem_of(cases[i].spec), again;
        char *shortest = at_problem_format(&problem);

        assert_string_equal(shortest, cases[i].shortest);
        again = problem_of(shortest);
        assert_true(at_problem_equal(&problem, &again));
        assert_int_equal(at_problem_kind(&problem).groups, cases[i].kind);
        assert_int_equal(problem.batch, cases[i].batch);
        assert_int_equal(problem.rows, cases[i].rows);
        assert_int_equal(problem.cols, cases[i].cols);
        assert_int_equal(problem.ld_src, cases[i].ld_src);
        assert_int_equal(problem.ld_dst, cases[i].ld_dst);
        free(shortest);
    }
}

/* Each matrix has channels of its own: as many numbers as the largest one has columns or rows. Of
 * very many matrices, some share numbers. */
static void has_channels(void **state)
{
    static const struct {
        const char *spec, *shortest;
        bool mixes;
        int64_t count, stride;
    } cases[] = {
        {"group=3,rows=2..9,cols=4..7:f32,affine=cols", "group=3,rows=2..9,cols=4..7:f32,affine",
         false, 21, 7},
        {"group=3,rows=2..9,cols=4..7:f32,affine=rows",
         "group=3,rows=2..9,cols=4..7:f32,affine=rows", true, 27, 9},
        {"group=3,rows=1,cols=4:u8:f32,affine=rows", "group=3,rows=1,cols=4:u8:f32,affine=rows",
         true, 3, 1},
        {"group=8,total=90,cols=33:f16,affine", "group=8,total=90,cols=33:f16,affine", false, 264,
         33},
        {"group=8,total=90,cols=33:f16,affine=rows", "group=8,total=90,cols=33:f16,affine=rows",
         true, 90, 0},
        {"group=1048575x1x2+1x1x999:f16,affine", "group=1048575x1x2+1x999:f16,affine", false,
         999 + 4 * 1048575, 4},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = problem_of(cases[i].spec), again, copy;
        char *shortest = at_problem_format(&problem);

        assert_string_equal(shortest, cases[i].shortest);
        again = problem_of(shortest);
        assert_true(at_problem_equal(&problem, &again));
        assert_int_equal(at_problem_mixes_channels(&problem), cases[i].mixes);
        assert_int_equal(problem.step.channels.count, cases[i].count);
        assert_int_equal(problem.step.channels.stride, cases[i].stride);
        copy = at_problem_copy_of(&problem);
        assert_int_equal(copy.step.channels.count, cases[i].mixes ? problem.rows : problem.cols);
        free(shortest);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *spec, *words;
    } cases[] = {
        {"group=3,rows=5,cols=7", "a type is missing, as in group=256"},
        {"group=0,rows=5,cols=7:f32", "group is \"0\"; expected a whole number from 1 on, as in"},
        {"group=,rows=5,cols=7:f32", "group is \"\"; expected a whole number"},
        {"group=1048577,rows=5,cols=7:f32", "group= is at most 2^20"},
        {"group=3,rows=5..4,cols=7:f32",
         "rows is \"5..4\"; expected a size, or two with .. between"},
        {"group=3,rows=5.9,cols=7:f32", "rows is \"5.9\"; expected a size"},
        {"group=3,rows=5..,cols=7:f32", "rows is \"5..\"; expected a size"},
        {"group=3,rows=..5,cols=7:f32", "rows is \"..5\"; expected a size"},
        {"group=3,rows=-1,cols=7:f32", "rows is \"-1\"; expected a size"},
        {"group=3,rows=5,rows=5,cols=7:f32", "rows is given twice"},
        {"group=3,rows=5,cols=7,size=2:f32", "unknown \"size=2\"; expected one of group="},
        {"group=3,rows=5,cols=7,:f32", "unknown \"\"; expected one of group="},
        {"group=3,rows=5:f32", "cols= is missing, as in group=256"},
        {"group=3,cols=5:f32", "rows= is missing, as in group=256"},
        {"group=3,rows=0,cols=7:f32", "rows= has to end from 1 on, and below 2^31"},
        {"group=3,rows=1..2147483648,cols=7:f32", "rows= has to end from 1 on, and below 2^31"},
        {"group=3,rows=17..31,cols=16,multiple=16:f32",
         "no multiple of 16 is in the range of rows="},
        {"group=3,rows=0..9,cols=0..9,multiple=10:f32", "all matrices are empty"},
        {"group=3,rows=5,cols=7,law=zipf:f32", "law=, pad= and stack= are for groups with total="},
        {"group=3,rows=5,cols=7,batch=0:f32", "batch is \"0\"; expected a size"},
        {"group=3,rows=5,cols=7,batch=4..3:f32", "batch is \"4..3\"; expected a size"},
        {"group=3,rows=1,cols=70000,batch=1..70000:u8", "fewer than 2^31 columns in all"},
        {"group=3,rows=5,cols=7,batch=2:f32,affine", "a batch have no channels of their own"},
        {"group=3,total=5,cols=7,batch=2:f32", "batch= is for lists"},
        {"group=3,rows=5,cols=7,pad=2:f32", "law=, pad= and stack= are for groups with total="},
        {"group=3,rows=5,cols=7,stack=1:f32", "law=, pad= and stack= are for groups with total="},
        {"group=3,total=9,cols=7,law=zip:f32", "law is \"zip\"; expected even, zipf or sparse"},
        {"group=3,total=9,rows=3,cols=7:f32", "groups with total= have no rows="},
        {"group=3,total=9,cols=7..8:f32", "with total=, cols= is one size from 1 on"},
        {"group=3,total=9:f32", "with total=, cols= is one size from 1 on"},
        {"group=3,total=9,cols=7,multiple=2:f32", "total= has to be a multiple of 2"},
        {"group=3,total=9,cols=7,pad=4097:f32", "total= is below 2^31, and pad= at most 4096"},
        {"group=3,total=2147483648,cols=7:f32", "total= is below 2^31, and pad= at most 4096"},
        {"group=3,total=9,cols=7,stack=2:f32", "stack=1 is the only value"},
        {"group=3x5,rows=3:f32", "rows is given twice"},
        {"group=3x5,total=30:f32", "groups with total= have no rows="},
        {"group=3x5x:f32", "group is \"3x5x\"; expected at most 16 sizes like 64x64"},
        {"group=3x5+:f32", "group is \"3x5+\"; expected at most 16 sizes"},
        {"group=0x3x5:f32", "group is \"0x3x5\"; expected at most 16 sizes"},
        {"group=2x3x5x7:f32", "group is \"2x3x5x7\"; expected at most 16 sizes"},
        {"group=3x5..4:f32", "group is \"3x5..4\"; expected at most 16 sizes"},
        {"group=-3x5:f32", "group is \"-3x5\"; expected at most 16 sizes"},
        {"group=1x1+1x2+1x3+1x4+1x5+1x6+1x7+1x8+1x9+2x1+2x2+2x3+2x4+2x5+2x6+2x7+2x8:f32",
         "expected at most 16 sizes"},
        {"group=1048576x3x5+1x1:f32", "group= is at most 2^20"},
        {"group=3x5+3x2147483648:f32", "cols= has to end from 1 on, and below 2^31"},
        {"group=16x5..16+17..31x16,multiple=16:f32", "no multiple of 16 is in a range of group="},
        {"group=1048576x2147483647x2147483647:f64", "the matrices do not fit 62 bits of bytes"},
        {"group=@sizes.txt:f32", "only a command line names a file of sizes"},
        {"group=3,rows=5,cols=7:f31", "unknown type \"f31\""},
        {"group=3,rows=5,cols=7:b12", "elements of a group have 1, 2, 4, 8 or 16 bytes"},
        {"group=3,rows=5,cols=7:f32,ld_src=8", "groups have no layout of their own"},
        {"group=3,rows=5,cols=5:f32,inplace=1", "groups have no layout of their own"},
        {"group=3,rows=5,cols=7:f32,batch=2", "groups have no layout of their own"},
        {"group=3,rows=5,cols=7:f32,affine=batch", "channels of many matrices are affine=cols or"},
        {"group=3,rows=5,cols=7:f32,affine=1", "channels of many matrices are affine=cols or rows"},
        {"group=3,rows=5,cols=7:f32,sums", "groups have no amax, sums or blocks yet"},
        {"group=3,rows=5,cols=7:f32,amax", "groups have no amax, sums or blocks yet"},
        {"group=3,rows=5,cols=7:bf16:e4m3,blocks=1x32", "groups have no amax, sums or blocks yet"},
        {"group=1048576,rows=2147483647,cols=2147483647:f64",
         "the matrices do not fit 62 bits of bytes"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = {.rows = 77};
        struct at_error err = {0};

        if (at_problem_parse(&problem, cases[i].spec, &err) != AT_USAGE)
            fail_msg("%s is taken", cases[i].spec);
        if (!strstr(err.message, cases[i].words))
            fail_msg("%s: expected %s, got %s", cases[i].spec, cases[i].words, err.message);
        assert_int_equal(problem.rows, 77);
    }
}

/* Other numbers are other problems. */
static void differ(void **state)
{
    static const char like[] = "group=9,total=512,cols=70,multiple=2:f16";
    static const char *const others[] = {
        "512x70:f16,batch=9",
        "group=8,total=512,cols=70,multiple=2:f16",
        "group=9,total=514,cols=70,multiple=2:f16",
        "group=9,total=512,cols=71,multiple=2:f16",
        "group=9,total=512,cols=70:f16",
        "group=9,total=512,cols=70,multiple=2,pad=2:f16",
        "group=9,total=512,cols=70,multiple=2,law=zipf:f16",
        "group=9,total=512,cols=70,multiple=2,stack=1:f16",
        "group=9,total=512,cols=70,multiple=2,draw=1:f16",
        "group=9,total=512,cols=70,multiple=2:f32",
        "group=4x512x70+5x5x5:f16",
    };
    struct at_problem a = problem_of(like), b;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(others); i++) {
        b = problem_of(others[i]);
        if (at_problem_equal(&a, &b))
            fail_msg("%s is %s", like, others[i]);
    }
}

/* ---- sizes ---- */

static int by_rows(const void *a, const void *b)
{
    int64_t first = ((const struct at_group *)a)->rows, second = ((const struct at_group *)b)->rows;

    return (first < second) - (first > second);
}

/* The groups with the most rows, in their order, and how many are empty. */
static void divides_rows(void **state)
{
    static const struct {
        const char *spec;
        int64_t most[4], empty;
    } cases[] = {
        {"group=4,total=30,cols=1:b1", {8, 8, 7, 7}, 0},
        {"group=4,total=48,cols=1,multiple=8:b1", {16, 16, 8, 8}, 0},
        {"group=4,total=300,cols=1,law=zipf:b1", {144, 72, 48, 36}, 0},
        {"group=4,total=2400,cols=1,law=zipf,multiple=8:b1", {1152, 576, 384, 288}, 0},
        {"group=20,total=90,cols=1,law=sparse:b1", {45, 45, 0, 0}, 18},
        {"group=11,total=9,cols=1,law=sparse:b1", {5, 4, 0, 0}, 9},
        {"group=5,total=2,cols=1:b1", {1, 1, 0, 0}, 3},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = problem_of(cases[i].spec);
        const struct at_groups *groups = &problem.groups;
        struct at_group *all = at_groups_draw(groups, 1);
        int64_t rows = 0, empty = 0;

        for (int64_t k = 0; k < groups->count; k++) {
            assert_int_equal(all[k].rows % groups->multiple, 0);
            rows += all[k].rows;
            empty += all[k].rows == 0;
        }
        assert_int_equal(rows, groups->total);
        assert_int_equal(empty, cases[i].empty);
        qsort(all, (size_t)groups->count, sizeof *all, by_rows);
        for (size_t k = 0; k < AT_COUNT(cases[i].most); k++)
            assert_int_equal(all[k].rows, cases[i].most[k]);
        free(all);
    }
}

/* Sides of a list are in their ranges, with both ends; the same draw gives the same sizes, another
 * one others. */
static void draws_sides(void **state)
{
    struct at_problem problem = problem_of("group=2000,rows=3..9,cols=16..48,multiple=1:f16");
    struct at_problem other = problem_of("group=2000,rows=3..9,cols=16..48,draw=1:f16");
    struct at_problem coarse = problem_of("group=2000,rows=3..9,cols=16..48,multiple=4:f16");
    struct at_group *all = at_groups_draw(&problem.groups, 2);
    struct at_group *again = at_groups_draw(&problem.groups, 2);
    struct at_group *others = at_groups_draw(&other.groups, 2);
    struct at_group *multiples = at_groups_draw(&coarse.groups, 2);
    bool least = false, most = false, same = true;

    (void)state;
    assert_memory_equal(all, again, 2000 * sizeof *all);
    for (int i = 0; i < 2000; i++) {
        assert_in_range(all[i].rows, 3, 9);
        assert_in_range(all[i].cols, 16, 48);
        assert_true(multiples[i].rows == 4 || multiples[i].rows == 8);
        assert_int_equal(multiples[i].cols % 4, 0);
        least = least || (all[i].rows == 3 && all[i].cols == 16);
        most = most || (all[i].rows == 9 && all[i].cols == 48);
        same = same && all[i].rows == others[i].rows && all[i].cols == others[i].cols;
    }
    assert_true(least && most && !same);
    free(all);
    free(again);
    free(others);
    free(multiples);
}

/* A batch is one matrix. Its parts have the same number of columns. */
static void writes_batches(void **state)
{
    struct at_problem problem = problem_of("group=200,rows=3..9,cols=2..5,batch=1..4:f16");
    struct at_group *all = at_groups_draw(&problem.groups, 2);
    struct at_group_matrix list[200];
    bool least = false, most = false;

    (void)state;
    at_group_list_write(&problem, all, &(struct at_group_sides){.dst = 4096, .src = 8192}, list);
    for (int i = 0; i < 200; i++) {
        assert_in_range(list[i].extent[0], 1, 4);
        assert_in_range(list[i].cols, 2, 5);
        assert_int_equal(list[i].extent[1], 1);
        assert_int_equal(list[i].extent[0] * list[i].cols, all[i].cols);
        assert_int_equal(list[i].stride_src[0], list[i].cols);
        assert_int_equal(list[i].stride_dst[0], list[i].cols * all[i].rows);
        assert_int_equal(list[i].ld_src, all[i].cols);
        assert_int_equal(list[i].ld_dst, all[i].rows);
        least = least || list[i].extent[0] == 1;
        most = most || list[i].extent[0] == 4;
    }
    assert_true(least && most);
    free(all);
}

/* Each range has as many matrices as it says, and they are mixed. */
static void draws_parts(void **state)
{
    struct at_problem problem = problem_of("group=700x8x64+300x16..48x96..112,multiple=8:f16");
    struct at_group *all = at_groups_draw(&problem.groups, 2);
    int64_t small = 0, among_first = 0;

    (void)state;
    for (int i = 0; i < 1000; i++) {
        bool is_small = all[i].rows == 8;

        assert_int_equal(all[i].rows % 8, 0);
        assert_int_equal(all[i].cols % 8, 0);
        assert_in_range(all[i].rows, is_small ? 8 : 16, is_small ? 8 : 48);
        assert_in_range(all[i].cols, is_small ? 64 : 96, is_small ? 64 : 112);
        small += is_small;
        among_first += is_small && i < 100;
    }
    assert_int_equal(small, 700);
    assert_in_range(among_first, 50, 90);
    free(all);
}

/* ---- sizes in files ---- */

/* Write a file; the caller frees its name. */
static char *write_sizes(const char *folder, const char *text)
{
    char *path = at_format("%s/sizes.txt", folder);

    write_text(path, text);
    return path;
}

static void reads_sizes(void **state)
{
    static const struct {
        const char *file, *rest, *whole; /* whole: or words of the error */
        enum at_status status;
    } cases[] = {
        {"64x64\n200x64x64\n\n # nothing\n16x128x32 # a bias\r\n", ":f16",
         "group=16x128x32+201x64x64,multiple=16:f16", AT_OK},
        {"8x12", ":f16", "group=8x12,multiple=4:f16", AT_OK},
        {"8x12\n", ",multiple=1,draw=7:f16", "group=8x12,multiple=1,draw=7:f16", AT_OK},
        {"\xef\xbb\xbf"
         "3x5\n7x16..31x9\n",
         ":u8:f32,scale", "group=3x5+7x16..31x9:u8:f32,scale", AT_OK},
        {"0x0\n1x1\n", ":f16", "group=0x0+1x1:f16", AT_OK},
        {"", ":f16", "has no sizes", AT_USAGE},
        {"# 3x5\n", ":f16", "has no sizes", AT_USAGE},
        {"3x5\n3,5\n", ":f16", "sizes.txt:2: \"3,5\" is no size; expected ROWSxCOLS", AT_USAGE},
        {"3x5\n\n\n7", ":f16", "sizes.txt:4: \"7\" is no size", AT_USAGE},
        {"3x5 6x7\n", ":f16", "sizes.txt:1: \"3x5 6x7\" is no size", AT_USAGE},
    };

    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *path = write_sizes(*state, cases[i].file), *whole = NULL;
        char *spec = at_format("group=@%s%s", path, cases[i].rest);
        struct at_error err = {0};

        assert_int_equal(at_problem_read_sizes(&whole, spec, &err), cases[i].status);
        if (cases[i].status != AT_OK && !strstr(err.message, cases[i].whole))
            fail_msg("expected %s, got %s", cases[i].whole, err.message);
        if (cases[i].status == AT_OK) {
            struct at_problem problem = problem_of(whole), other = problem_of(cases[i].whole);

            if (!at_problem_equal(&problem, &other))
                fail_msg("expected %s, got %s", cases[i].whole, whole);
        }
        free(whole);
        free(spec);
        free(path);
    }
}

/* Many sizes become ranges, and each size is in one of them. Sizes that are far from others have a
 * range of their own: here the only large matrix, and each of three clusters. */
static void summarises_sizes(void **state)
{
    static const struct {
        int64_t rows, cols, count;
    } clusters[] = {{64, 64, 500}, {512, 32, 300}, {40, 4096, 60}, {32768, 8192, 1}};
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text, *path, *spec, *whole;
    struct at_problem problem;
    int64_t total = 0, seen[AT_COUNT(clusters)] = {0};

    for (size_t k = 0; k < AT_COUNT(clusters); k++)
        for (int64_t i = 0; i < clusters[k].count; i++, total++)
            fprintf(out, "%jdx%jd\n", (intmax_t)(clusters[k].rows + 8 * (i % 9)),
                    (intmax_t)(clusters[k].cols + 8 * (i % 7)));
    text = at_text_close(&stream, NULL);
    path = write_sizes(*state, text);
    spec = at_format("group=@%s:f16", path);
    assert_int_equal(at_problem_read_sizes(&whole, spec, NULL), AT_OK);
    problem = problem_of(whole);
    assert_int_equal(problem.groups.count, total);
    assert_int_equal(problem.groups.multiple, 8);
    assert_int_equal(problem.groups.part_count, AT_GROUP_PARTS);
    for (int i = 0; i < AT_GROUP_PARTS; i++) {
        const struct at_group_part *part = &problem.groups.parts[i];

        for (size_t k = 0; k < AT_COUNT(clusters); k++)
            if (part->rows[0] >= clusters[k].rows && part->rows[1] <= clusters[k].rows + 64 &&
                part->cols[0] >= clusters[k].cols && part->cols[1] <= clusters[k].cols + 48)
                seen[k] += part->count;
    }
    for (size_t k = 0; k < AT_COUNT(clusters); k++)
        assert_int_equal(seen[k], clusters[k].count);
    free(whole);
    free(spec);
    free(path);
    free(text);
}

static void copies_others(void **state)
{
    char *whole;
    struct at_error err = {0};

    (void)state;
    assert_int_equal(at_problem_read_sizes(&whole, "64x64:f16", NULL), AT_OK);
    assert_string_equal(whole, "64x64:f16");
    free(whole);
    assert_int_equal(at_problem_read_sizes(&whole, "group=@none.txt:f16", &err), AT_USAGE);
    assert_non_null(strstr(err.message, "cannot open none.txt"));
}

/* ---- layouts ---- */

/* Matrices follow each other on both sides, none overlaps the next one, and the last one ends where
 * the extent does. */
static void lays_out(void **state)
{
    static const char *const specs[] = {
        "group=50,rows=0..40,cols=0..90:b1",
        "group=50,rows=1..9,cols=1..9:c128",
        "group=20x0..9x5+7x1x1+30x40:f16",
        "group=20,rows=0..9,cols=0..5,batch=1..7:f32",
        "group=50,rows=1..40,cols=1..90:bf16:e4m3,scale",
        "group=50,rows=1..40,cols=1..90:u8:f32,scale,both=f64",
        "group=9,total=500,cols=70,law=zipf:f16",
        "group=30,total=100,cols=64,law=sparse,pad=32:f32",
        "group=5,total=640,cols=128,law=zipf,multiple=16,pad=24,stack=1:f16",
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_problem problem = problem_of(specs[i]);
        const struct at_groups *groups = &problem.groups;
        int64_t least = at_problem_least_bytes(&problem), src = 0, dst = 0, elements = 0, most;
        struct at_group *all = at_groups_draw(groups, least);

        most = at_groups_most_rows(groups, all);
        for (int64_t k = 0; k < groups->count; k++) {
            const struct at_group *own = &all[k];

            assert_int_equal(own->padded_rows % groups->padding, 0);
            assert_true(own->padded_rows >= own->rows &&
                        own->padded_rows < own->rows + groups->padding);
            assert_true(own->ld_dst >= own->padded_rows && own->ld_src == own->cols);
            if (groups->stacked)
                assert_true(own->ld_dst == most && own->dst == k * most * own->cols);
            if (groups->total == 0)
                assert_int_equal(own->src * least % 256, 0);
            if (own->rows * own->cols == 0)
                continue;
            assert_true(own->src >= src && own->dst >= dst);
            src = own->src + (own->rows - 1) * own->ld_src + own->cols;
            dst = own->dst + (own->cols - 1) * own->ld_dst + own->padded_rows;
            elements += own->rows * own->cols;
        }
        assert_int_equal(at_problem_src_extent(&problem), src);
        assert_int_equal(at_problem_dst_extent(&problem), dst);
        assert_int_equal(groups->elements, elements);
        free(all);
    }
}

/* A copy of as many bytes, without gaps and padding. */
static void counts_bytes(void **state)
{
    struct at_problem problem = problem_of("group=4,total=30,cols=7,pad=16:bf16:f32,both=u8");
    struct at_problem copy = at_problem_copy_of(&problem);

    (void)state;
    assert_int_equal(at_problem_bytes(&problem), 30 * 7 * (2 + 4 + 1));
    assert_int_equal(at_problem_bytes(&copy), 30 * 7 * (2 + 4 + 1));
    assert_int_equal(copy.groups.count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spells),
        cmocka_unit_test(has_channels),
        cmocka_unit_test(refuses),
        cmocka_unit_test(differ),
        cmocka_unit_test(divides_rows),
        cmocka_unit_test(draws_sides),
        cmocka_unit_test(lays_out),
        cmocka_unit_test(counts_bytes),
        cmocka_unit_test(writes_batches),
        cmocka_unit_test(draws_parts),
        cmocka_unit_test_setup_teardown(reads_sizes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(summarises_sizes, make_folder, remove_folder),
        cmocka_unit_test(copies_others),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
