/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors: their spelling, their canonical form, overlap, and the folds of packed tiles. */
#include "base/memory.h"
#include "base/rng.h"
#include "problem/arguments.h"
#include "problem/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problem_of.h"

static void is_a_matrix_of_runs(void **state)
{
    static const struct {
        const char *spec;
        struct at_runs runs;
    } cases[] = {
        {"5x7:b3", {5, 7, 21, 15, 0, 0}},
        {"12x5x9:f16,perm=102", {12, 5, 45, 108, 0, 0}},
        {"2x12x5x9:f16,perm=0213", {12, 5, 45, 108, 4, 4}},
        {"12x5x9:f16,perm=102,strides_src=50x9x1", {12, 5, 50, 108, 0, 0}},
        {"2x3x4x5x9:f16,perm=20314", {3, 5, 180, 27, 1, 1}},
        /* no run, or gaps after runs on a side, or the same axis follows on both */
        {"64x96:f32", {0}},
        {"12x5x9:f16,perm=120", {0}},
        {"12x5x9:f16,perm=102,strides_src=50x10x1", {0}},
        {"12x5x9:f16,perm=102,strides_dst=120x10x1", {0}},
        {"4x5x9:f16,perm=012,strides_src=64x9x1", {0}},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = problem_of(cases[i].spec);
        struct at_runs runs = at_problem_runs(&problem);

        if (memcmp(&runs, &cases[i].runs, sizeof runs) != 0)
            fail_msg("%s: %d x %d runs, %d and %d apart, others %d and %d", cases[i].spec,
                     (int)runs.rows, (int)runs.cols, (int)runs.ld_src, (int)runs.ld_dst,
                     (int)runs.stride_src, (int)runs.stride_dst);
    }
}

static void has_a_canonical_form(void **state)
{
    static const struct {
        const char *spec, *form;
        int64_t axes, word_bytes;
    } cases[] = {
        {"64x96:f32,perm=10", "64x96:f32", 1, 4},
        {"8x64x96:f32,perm=021", "64x96:f32,batch=8", 1, 4},
        /* as NumPy prints it, and other types' names */
        {"8x64x96:float32,perm=0,2,1", "64x96:f32,batch=8", 1, 4},
        {"8x64x96:f32,perm=[0,2,1]", "64x96:f32,batch=8", 1, 4},
        {"8x64x96:f32,perm=(0,2,1)", "64x96:f32,batch=8", 1, 4},
        {"8x64x96:F32,perm=[021]", "64x96:f32,batch=8", 1, 4},
        {"8x64x96:f32,perm=[0.2.1]", "64x96:f32,batch=8", 1, 4},
        {"8x64x96:f32,perm=0,2,1,offset_src=3", "64x96:f32,batch=8,offset_src=3", 1, 4},
        {"8x64x96:f32,offset_src=3,perm=[0,2,1]", "64x96:f32,batch=8,offset_src=3", 1, 4},
        {"1x64x1x96:f32,perm=3210", "64x96:f32", 1, 4},
        {"2x3x4x5:f32,perm=3012", "24x5:f32", 1, 4},
        {"2x3x4x5:f32,inplace=1,perm=3012", "24x5:f32,inplace=1", 1, 4},
        {"8x64x96:f32,perm=021,inplace=1", "64x96:f32,batch=8,inplace=1", 1, 4},
        {"8x64x64:f32,perm=021,inplace=1", "64x64:f32,batch=8,inplace=1", 1, 4},
        {"8x64x96:f32,perm=120,inplace=1", "8x6144:f32,inplace=1", 1, 4},
        {"4x5x6:f32,perm=102,inplace=1", "4x5x6:f32,perm=102,inplace=1", 2, 8},
        {"4x5x6:f32,perm=210,inplace=1", "4x5x6:f32,perm=210,inplace=1", 1, 4},
        {"5x7:b12,inplace=1", "5x7x3:b4,perm=102,inplace=1", 2, 4},
        {"9x7:b3,batch=4,inplace=1", "4x9x7x3:b1,perm=0213,inplace=1", 3, 1},
        {"2x3x4x5:b2,perm=3120,offset_src=1,inplace=1", "2x12x5:b2,perm=210,offset_src=1,inplace=1",
         1, 2},
        {"8x4x5:f64,perm=012", "1x160:f64", 1, 16},
        {"7:f16,perm=0", "1x7:f16", 1, 2},
        {"1x1x1:f16,perm=201", "1x1:f16", 1, 2},
        /* a batch inside the rows */
        {"37x5x41:f32,perm=210",
         "37x41:f32,ld_src=205,ld_dst=185,batch=5,stride_src=41,stride_dst=37", 1, 4},
        /* runs that stay */
        {"8x32x2048x128:f16,perm=0213", "8x32x2048x128:f16,perm=0213", 3, 16},
        {"8x32x64x2:f16,perm=0213", "8x32x64x2:f16,perm=0213", 3, 4},
        {"32x49x12x3x2:f16,perm=23014", "1568x36x2:f16,perm=102", 2, 4},
        /* elements of several words */
        {"5x7:b12", "5x7x3:b4,perm=102", 2, 4},
        {"5x7:b32,offset_src=1", "5x7x2:b16,perm=102,offset_src=2", 2, 16},
        {"3x5:b24,batch=4", "4x3x5x3:b8,perm=0213", 3, 8},
        {"6x7:b48,perm=01", "1x126:b16", 1, 16},
        /* more than ten axes; neighbours merge */
        {"2x3x2x3x2x3x2x3x2x3x2x3:b1,perm=11.10.9.8.7.6.5.4.3.2.1.0",
         "2x3x2x3x2x3x2x3x2x3x2x3:b1,perm=11.10.9.8.7.6.5.4.3.2.1.0", 10, 1},
        {"2x3x4x5:b1,perm=2.3.0.1", "6x20:b1", 1, 1},
        /* strides, of the source's axes and of the result's */
        {"4x5x6:f32,perm=210,strides_src=30x6x1,strides_dst=20x4x1",
         "4x6:f32,ld_src=30,ld_dst=20,batch=5,stride_src=6,stride_dst=4", 1, 4},
        {"4x5x6:f32,perm=102,strides_src=64x8x1", "4x5x6:f32,perm=102,strides_src=64x8x1", 2, 8},
        {"4x5x6:f32,perm=021,strides_dst=64x8x1", "5x6:f32,ld_dst=8,batch=4,stride_dst=64", 1, 4},
        /* no adjacent elements on either side; strides that do not nest, and do not overlap */
        {"4x5:f32,perm=10,strides_src=20x2,strides_dst=20x3", "1x1:f32", 0, 4},
        {"2x3:f32,perm=01,strides_src=3x2,strides_dst=3x1", "2x3:f32,perm=01,strides_src=3x2", 0,
         4},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem p = problem_of(cases[i].spec), again;
        char *form = at_problem_format(&p);

        if (cases[i].axes > 0) {
            assert_string_equal(form, cases[i].form);
            assert_int_equal(at_problem_kind(&p).axes, cases[i].axes);
        }
        assert_int_equal(at_problem_word_bytes(&p), cases[i].word_bytes);
        again = problem_of(form);
        assert_true(at_problem_equal(&p, &again));
        assert_memory_equal(&p, &again, sizeof p);
        free(form);
    }
}

static void refuses(void **state)
{
    static const struct {
        const char *spec, *reason;
    } cases[] = {
        {"4x5x6:f32,perm=01", "perm is \"01\"; expected each axis of the source once"},
        {"4x5x6:f32,perm=011", "perm is \"011\""},
        {"4x5x6:f32,perm=013", "perm is \"013\""},
        {"4x5x6:f32,perm=0a2", "perm is \"0a2\""},
        {"4x5x6:f32,perm=0.2", "perm is \"0.2\""},
        {"4x5x6:f32,perm=", "perm is \"\""},
        {"4x5x6:f32,perm=0,1", "perm is \"0,1\""},
        {"4x5x6:f32,perm=0,1.2", "perm is \"0,1.2\""},
        {"4x5x6:f32,perm=(0,1,2]", "perm is \"(0,1,2]\""},
        {"4x5x6:f32,perm=[0,1,2", "perm is \"[0,1,2\""},
        {"4x5x6:f32,perm=0,1,2,3", "perm is \"0,1,2,3\""},
        {"4x5x6:f32,perm=0,2,1,f=3", "unknown \"f=3\""},
        {"2x2x2x2x2x2x2x2x2x2x2:f32,perm=012345678910",
         "perm is \"012345678910\"; expected each axis of the source once, with a point between "
         "two"},
        {"4x0x6:f32,perm=012", "expected 1 to 24 extents from 1 on and a type"},
        {"4xx6:f32,perm=012", "expected 1 to 24 extents"},
        {"2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2x2:f32,perm=0",
         "expected 1 to 24 extents"},
        {"4x5x6:f33,perm=012", "unknown type \"f33\""},
        {"4x5x6:b0,perm=012", "unknown type \"b0\""},
        {"4x5x6:b65,perm=012", "unknown type \"b65\""},
        {"4x5x6:f32,perm=012,batch=2", "unknown \"batch=2\"; with perm=, expected one of"},
        {"4x5x6:f32,perm=102,strides_src=40x8x1,inplace=1", "in place, a tensor is dense"},
        {"4x5x6:f32,perm=102,offset_src=1,offset_dst=2,inplace=1",
         "in place, offset_dst is offset_src"},
        {"4x5x6:f32,perm=012,strides_src=30x6", "strides_src is \"30x6\"; expected integers"},
        {"4x5x6:f32,perm=012,strides_src=30x6x0", "strides_src is \"30x6x0\""},
        {"4x5x6:f32,perm=012,strides_src=30x5x1", "elements of the source overlap"},
        {"4x5x6:f32,perm=012,strides_dst=6x6x1", "elements of the destination overlap"},
        {"4x5x6:f32,perm=012,offset_src=256", "an offset is more than 255 elements"},
        {"4x5x6:f32,perm=012,offset_src=x", "an offset is \"x\""},
        {"4294967296x4294967296x4:f32,perm=012", "the tensors do not fit 62 bits of bytes"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *start = at_format("problem \"%s\": %s", cases[i].spec, cases[i].reason);
        struct at_problem problem = {.rows = 77};
        struct at_error err = {0};

        assert_int_equal(at_problem_parse(&problem, cases[i].spec, &err), AT_USAGE);
        if (strncmp(err.message, start, strlen(start)) != 0)
            assert_string_equal(err.message, start);
        assert_int_equal(problem.rows, 77);
        free(start);
    }
}

/* Axes of these extents and strides, on both sides alike. */
static void finds_overlap(void **state)
{
    static const struct {
        int64_t extents[4], strides[4];
        enum at_overlap overlap;
    } cases[] = {
        {{4, 5, 6}, {30, 6, 1}, AT_APART},
        {{4, 5, 6}, {30, 5, 1}, AT_OVERLAP},
        {{2, 3}, {3, 2}, AT_APART}, /* 0 2 4 3 5 7 */
        {{3, 4}, {3, 2}, AT_OVERLAP},
        {{1001, 1000}, {999, 1000}, AT_OVERLAP},
        {{1000, 999}, {1001, 1000}, AT_APART},
        {{2, 2, 2}, {5, 5, 1}, AT_OVERLAP},
        {{1, 9}, {1, 1}, AT_APART}, /* an extent of 1 goes nowhere */
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_axis axes[4];
        size_t count = 0;

        for (; count < 4 && cases[i].extents[count]; count++)
            axes[count] = (struct at_axis){cases[i].extents[count], cases[i].strides[count],
                                           cases[i].strides[count]};
        assert_int_equal(at_axes_overlap(axes, count, AT_SOURCE, 0), cases[i].overlap);
        assert_int_equal(at_axes_overlap(axes, count, AT_DESTINATION, 0), cases[i].overlap);
    }
}

/* A copy that begins somewhere else, such as between the elements. */
static void finds_overlap_at_a_distance(void **state)
{
    static const struct {
        int64_t extents[4], strides[4], distance;
        enum at_overlap overlap;
    } cases[] = {
        {{4, 5}, {5, 1}, 19, AT_OVERLAP},
        {{4, 5}, {5, 1}, 20, AT_APART},
        {{4, 5}, {10, 1}, 5, AT_APART}, /* in the gaps of the rows */
        {{4, 5}, {10, 1}, 6, AT_OVERLAP},
        {{4, 5}, {10, 1}, 34, AT_OVERLAP},
        {{4, 5}, {10, 1}, 35, AT_APART},
        {{4, 5}, {10, 2}, 1, AT_APART}, /* between neighbours */
        {{4, 5}, {10, 2}, 2, AT_OVERLAP},
        {{1, 9}, {1, 1}, 9, AT_APART},
        {{1, 9}, {1, 1}, INT64_MAX / 2, AT_APART},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            struct at_axis axes[4];
            size_t count = 0;

            for (; count < 4 && cases[i].extents[count]; count++)
                axes[count] = (struct at_axis){cases[i].extents[count], 1, cases[i].strides[count]};
            assert_int_equal(at_axes_overlap(axes, count, AT_DESTINATION, sign * cases[i].distance),
                             cases[i].overlap);
        }
}

/* A search has a bound: of many axes with strides of no order it gives up. */
static void gives_up_on_overlap(void **state)
{
    struct at_axis axes[AT_RANK_MAX];
    enum at_overlap overlap;

    (void)state;
    for (int i = 0; i < AT_RANK_MAX; i++)
        axes[i] = (struct at_axis){2, (INT64_C(1) << 40) + (INT64_C(1) << i), 1};
    overlap = at_axes_overlap(axes, AT_RANK_MAX, AT_SOURCE, 0);
    assert_int_equal(overlap, AT_UNDECIDED);
}

/* Where each element goes, from the axes; the caller frees it. */
static int64_t *map_of(const struct at_axis *axes, size_t count, int64_t extent)
{
    int64_t *to = at_alloc_array((size_t)extent, sizeof *to), elements = 1;

    for (size_t i = 0; i < count; i++)
        elements *= axes[i].extent;
    for (int64_t i = 0; i < elements; i++) {
        int64_t left = i, from = 0, at = 0;

        for (size_t k = 0; k < count; left /= axes[k++].extent) {
            from += left % axes[k].extent * axes[k].stride_src;
            at += left % axes[k].extent * axes[k].stride_dst;
        }
        to[from] = 1 + at;
    }
    return to;
}

static void keeps_the_permutation(void **state)
{
    struct at_rng rng = {3};

    (void)state;
    for (int n = 0; n < 2000; n++) {
        size_t rank = 1 + (size_t)at_rng_below(&rng, 8);
        struct at_axis axes[8], canonical[AT_AXES_MAX];
        struct at_problem problem;
        struct at_error err = {0};
        int64_t src = 1, dst = 1, extent, other;
        int64_t *wanted, *made;

        for (size_t i = 0; i < rank; i++) {
            axes[i] = (struct at_axis){1 + (int64_t)at_rng_below(&rng, 4), src, 0};
            src *= axes[i].extent;
        }
        for (size_t i = 0; i < rank; i++) {
            size_t swap = i + (size_t)at_rng_below(&rng, rank - i);
            struct at_axis axis = axes[i];

            axes[i] = axes[swap];
            axes[swap] = axis;
            axes[i].stride_dst = dst;
            dst *= axes[i].extent;
        }
        if (at_problem_of_axes(&problem, axes, rank, &(struct at_elements){.bytes = 4}, "drawn",
                               &err) != AT_OK)
            fail_msg("%s", err.message);
        assert_true(at_axes_extent(axes, rank, AT_SOURCE, &extent));
        other = at_problem_src_extent(&problem);
        assert_int_equal(extent, other);
        wanted = map_of(axes, rank, extent);
        made = map_of(canonical, at_problem_axes(&problem, canonical), extent);
        assert_memory_equal(wanted, made, (size_t)extent * sizeof *made);
        free(wanted);
        free(made);
    }
}

/* 7 x 5 x 3 x 2 reversed, as matrices and packed with sides of at most 8 words. */
static void makes_arguments(void **state)
{
    struct at_problem p = problem_of("7x5x3x2:f32,perm=3210");
    struct at_launch launch = {{0}};
    uint64_t word[AT_CALL_WORDS];
    uint8_t words[AT_CALL_ARGS];

    (void)state;
    assert_int_equal(at_problem_args(&p, &launch, 100, 200, NULL, word, words), 9);
    assert_int_equal(words[6], 1 + 2); /* 15 matrices: an axis of 5, then the other */
    assert_int_equal(word[6], 15);
    assert_int_equal((uint32_t)word[7], 5);
    assert_int_equal(words[7], 2);
    assert_int_equal(word[9], 6); /* along the 5 in the source; the fastest in the destination */
    assert_int_equal(word[10], 2);
    assert_int_equal(word[11], 7);
    assert_int_equal(word[12], 35);
    launch.field[AT_OUTER_ORDER] = 1;
    at_problem_args(&p, &launch, 100, 200, NULL, word, words);
    assert_int_equal((uint32_t)word[7], 3);
    assert_int_equal(word[9], 2);

    launch.field[AT_SIDE_SRC] = launch.field[AT_SIDE_DST] = 8;
    launch.field[AT_WORD_BYTES] = 4;
    launch.field[AT_BLOCK_X] = 128;
    assert_int_equal(at_problem_args(&p, &launch, 100, 200, NULL, word, words), 3);
    /* Sides 2 x 3 and 7: five blocks, one for each index of the remaining axis. */
    assert_int_equal(at_problem_packed_tiles(&p, &launch), 5);
    /* Runs of 6 and 7 words. */
    launch.field[AT_VEC_SRC] = 2;
    assert_int_equal(at_problem_packed_tiles(&p, &launch), 5);
    launch.field[AT_VEC_SRC] = 4;
    assert_int_equal(at_problem_packed_tiles(&p, &launch), 0);
    launch.field[AT_VEC_SRC] = 0;
    launch.field[AT_VEC_DST] = 2;
    assert_int_equal(at_problem_packed_tiles(&p, &launch), 0);
    launch.field[AT_VEC_DST] = 0;
    launch.field[AT_SIDE_SRC] = launch.field[AT_SIDE_DST] = 4;
    /* 2 x 2 of the 3, and 4 of the 7: 2 x 5 x 2. */
    assert_int_equal(at_problem_packed_tiles(&p, &launch), 20);
}

/* What a packed launch makes of a problem: tiles, 0 if it is not legal, and the adjacent bytes of a
 * row on either side. */
static void packs(void **state)
{
    static const struct {
        const char *spec;
        int64_t side_src; /* negative: edges may share axes */
        int64_t side_dst;
        int64_t vec_src, vec_dst; /* negative: begins anywhere */
        int64_t unit, word, tiles, runs[2];
    } cases[] = {
        /* Pixels keep their channels first: 64 and 32 columns and rows of 3 bytes. */
        {"4096x4096:b3", 256, 32, 4, 4, 1, 1, 64 * 128, {192, 96}},
        {"4096x4096:b3", 64, 32, 16, 8, 1, 3, 64 * 128, {192, 96}},
        /* Both edges list the channels, so units of several words are not adjacent. */
        {"4096x4096:b3", 256, 32, 4, 4, 4, 1, 0, {192, 96}},
        {"4096x4096:b3", 64, 32, 16, 8, 1, 6, 0, {0, 0}},
        /* Seven columns: rows of 21 bytes that follow one another. */
        {"1024x7:b3", 32, 32, 16, 16, 1, 1, 32, {672, 96}},
        /* Seven rows: the destination's rows go on along the source's edge. */
        {"7x1024:b3", 256, 16, 16, 16, 1, 1, 16, {192, 21 * 64}},
        /* Chunks of whole sectors: 16 of 40 columns, and 32 of 64 rows, as many as 128 threads
           take. */
        {"64x40x3:f32,perm=102", 64, 64, 1, 1, 1, 4, 3 * 2, {192, 384}},
        /* Without units, the destination's rows go on along the source's edge. */
        {"16x12x8:b1,perm=210", 16, 16, 4, 4, 1, 1, 6, {16, 32}},
        {"16x12x8:b1,perm=210", 16, 16, 4, 4, 4, 1, 6, {16, 16}},
        /* Rows of odd length need vectors that begin anywhere, and others do not take these. */
        {"4x8x20x881:b1,perm=3102", 64, 128, 4, 4, 1, 1, 0, {0, 0}},
        {"4x8x20x881:b1,perm=3102", 64, 128, -4, 4, 1, 1, 14 * 8, {64, 80}},
        {"4x8x20x880:b1,perm=3102", 64, 128, -4, 4, 1, 1, 0, {0, 0}},
        /* 4 of 1052 and not 5, so that rows of 33 times as many have whole vectors. */
        {"33x6x1052x46:b1,perm=1320", 256, 64, 4, 4, 1, 1, 6 * 263, {4 * 46, 4 * 33}},
        {"33x6x1052x46:b1,perm=1320", 256, 64, 2, 1, 1, 1, 6 * 211, {5 * 46, 33}},
        {"33x6x1052x46:b1,perm=1320", 256, 64, 2, -16, 1, 1, 6 * 211, {5 * 46, 5 * 33}},
        {"33x6x1052x46:b1,perm=1320", 256, 64, 2, -16, 2, 1, 6 * 211, {5 * 46, 33}},
        {"32x6x1052x46:b1,perm=1320", 256, 64, 2, -16, 1, 1, 0, {0, 0}},
        /* Units and vectors of the source that share the axis of 37 with the destination. */
        {"8x50170x37x2:f16,perm=1302", -512, 16, 4, 8, 1, 2, 8362, {888, 592 * 2}},
        {"8x50170x37x2:f16,perm=1302", -512, 16, 4, 8, 2, 2, 0, {0, 0}},
        {"8x50170x37x2:f16,perm=1302", -32, 16, 1, 1, 1, 2, 0, {0, 0}},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem p = problem_of(cases[i].spec);
        struct at_launch launch = {{0}};
        int64_t runs[2];

        launch.field[AT_BLOCK_X] = 128;
        launch.field[AT_SIDE_SRC] = cases[i].side_src < 0 ? -cases[i].side_src : cases[i].side_src;
        launch.field[AT_SIDE_DST] = cases[i].side_dst;
        launch.field[AT_VEC_SRC] = cases[i].vec_src < 0 ? -cases[i].vec_src : cases[i].vec_src;
        launch.field[AT_UNALIGNED_SRC] = cases[i].vec_src < 0;
        launch.field[AT_VEC_DST] = cases[i].vec_dst < 0 ? -cases[i].vec_dst : cases[i].vec_dst;
        launch.field[AT_UNALIGNED_DST] = cases[i].vec_dst < 0;
        launch.field[AT_SHARE_AXES] = cases[i].side_src < 0;
        launch.field[AT_UNIT_WORDS] = cases[i].unit;
        launch.field[AT_WORD_BYTES] = cases[i].word;
        if (at_problem_packed_tiles(&p, &launch) != cases[i].tiles)
            fail_msg("%zu: %jd tiles", i, (intmax_t)at_problem_packed_tiles(&p, &launch));
        if (cases[i].runs[0])
            at_problem_packed_runs(&p, &launch, runs);
        for (int side = 0; cases[i].runs[0] && side < 2; side++)
            if (runs[side] != cases[i].runs[side])
                fail_msg("%zu: a run of %jd bytes", i, (intmax_t)runs[side]);
    }
}

/* Five axes reversed, named by their extents. */
static void orders_axes(void **state)
{
    static const struct at_axis reversed[] = {
        {2, 1, 1155}, {3, 2, 385}, {5, 6, 77}, {7, 30, 11}, {11, 210, 1}};
    static const struct {
        enum at_outer_order order;
        int64_t extents[AT_COUNT(reversed)];
    } cases[] = {{AT_OUTER_SOURCE, {2, 3, 5, 7, 11}},
                 {AT_OUTER_DESTINATION, {11, 7, 5, 3, 2}},
                 {AT_OUTER_ALTERNATING, {11, 2, 7, 3, 5}}};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_axis axes[AT_COUNT(reversed)];

        memcpy(axes, reversed, sizeof axes);
        at_axes_order(axes, AT_COUNT(axes), cases[i].order);
        for (size_t j = 0; j < AT_COUNT(axes); j++)
            assert_int_equal(axes[j].extent, cases[i].extents[j]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(has_a_canonical_form),
        cmocka_unit_test(is_a_matrix_of_runs),
        cmocka_unit_test(refuses),
        cmocka_unit_test(finds_overlap),
        cmocka_unit_test(finds_overlap_at_a_distance),
        cmocka_unit_test(gives_up_on_overlap),
        cmocka_unit_test(keeps_the_permutation),
        cmocka_unit_test(makes_arguments),
        cmocka_unit_test(orders_axes),
        cmocka_unit_test(packs),
    };

    return cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
}
