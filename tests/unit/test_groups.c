/* SPDX-License-Identifier: Apache-2.0 */
/* src/problem/groups.c and groups_spec.c: how many matrices in one launch are written, refused,
 * drawn and laid out. */
#include "base/memory.h"
#include "problem/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

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
        {"group=3,rows=5,cols=7:f31", "unknown type \"f31\""},
        {"group=3,rows=5,cols=7:b12", "elements of a group have 1, 2, 4, 8 or 16 bytes"},
        {"group=3,rows=5,cols=7:f32,ld_src=8", "groups have no layout of their own"},
        {"group=3,rows=5,cols=5:f32,inplace=1", "groups have no layout of their own"},
        {"group=3,rows=5,cols=7:f32,batch=2", "groups have no layout of their own"},
        {"group=3,rows=5,cols=7:f32,affine",
         "groups have no affine, beta, amax, sums or blocks yet"},
        {"group=3,rows=5,cols=7:f32,beta", "groups have no affine, beta, amax, sums or blocks yet"},
        {"group=3,rows=5,cols=7:f32,sums", "groups have no affine, beta, amax, sums or blocks yet"},
        {"group=3,rows=5,cols=7:f32,amax", "groups have no affine, beta, amax, sums or blocks yet"},
        {"group=3,rows=5,cols=7:bf16:e4m3,blocks=1x32",
         "groups have no affine, beta, amax, sums or blocks yet"},
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

/* ---- layouts ---- */

/* Matrices follow each other on both sides, none overlaps the next one, and the last one ends where
 * the extent does. */
static void lays_out(void **state)
{
    static const char *const specs[] = {
        "group=50,rows=0..40,cols=0..90:b1",
        "group=50,rows=1..9,cols=1..9:c128",
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
        cmocka_unit_test(spells),       cmocka_unit_test(refuses),     cmocka_unit_test(differ),
        cmocka_unit_test(divides_rows), cmocka_unit_test(draws_sides), cmocka_unit_test(lays_out),
        cmocka_unit_test(counts_bytes),
    };

    return cmocka_run_group_tests_name("groups", tests, NULL, NULL);
}
