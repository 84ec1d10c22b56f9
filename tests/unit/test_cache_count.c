/* SPDX-License-Identifier: Apache-2.0 */
/* What flows between the caches, on kernels with well-known patterns of access: y = a + b over 8M
 * floats in blocks of 64 threads, on an H200's caches. All figures were worked out by hand. */
#include "base/memory.h"
#include "emulated/caches/count.h"
#include "emulated/caches/hierarchy.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"
#include "emulated/time/description.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sample.h"

/* Thread i adds the elements of a and b at ((i >> shift) * stride & mask) + offset ^ flip. */
static const char kernel[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 y, .param .u64 a, .param .u64 b, .param .u32 shift,\n"
    ".param .u32 stride, .param .u32 mask, .param .u32 offset, .param .u32 flip)\n{\n"
    ".reg .b32 %r<16>; .reg .b64 %d<16>;\n"
    "ld.param.u64 %d0, [y]; ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b];\n"
    "ld.param.u32 %r0, [shift]; ld.param.u32 %r1, [stride]; ld.param.u32 %r2, [mask];\n"
    "ld.param.u32 %r3, [offset]; ld.param.u32 %r4, [flip];\n"
    "mov.u32 %r5, %tid.x; mov.u32 %r6, %ctaid.x; mov.u32 %r7, %ntid.x;\n"
    "mad.lo.s32 %r5, %r6, %r7, %r5; shr.u32 %r6, %r5, %r0; mul.lo.s32 %r6, %r6, %r1;\n"
    "and.b32 %r6, %r6, %r2; add.s32 %r6, %r6, %r3; xor.b32 %r6, %r6, %r4;\n"
    "mul.wide.u32 %d3, %r6, 4; add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;\n"
    "mul.wide.u32 %d4, %r5, 4; add.s64 %d0, %d0, %d4;\n"
    "ld.global.u32 %r8, [%d1];\nld.global.u32 %r9, [%d2];\nadd.s32 %r8, %r8, %r9;\n"
    "st.global.u32 [%d0], %r8;\nret;\n}\n";

enum { THREADS = 8 << 20, BLOCK = 64, ALL = THREADS - 1, RESIDENT = 32 };

struct launched {
    struct at_ptx_module *module;
    struct at_emu_memory *memory;
    uint64_t args[8];
    struct at_emu_launch launch;
};

static void start(struct launched *l, const char *text, size_t size, uint32_t blocks)
{
    struct at_error err = {AT_OK, ""};

    *l = (struct launched){.memory = at_emu_memory_new()};
    if (at_ptx_read(&l->module, text, size, &err) != AT_OK ||
        at_ptx_find(l->module, "k", &l->launch.kernel, &err) != AT_OK)
        fail_msg("%s", err.message);
    for (int i = 0; i < 3; i++) {
        l->args[i] = at_emu_memory_allocate(l->memory, 4 * (THREADS + 1));
        assert_int_not_equal(l->args[i], 0);
        l->launch.grid[i] = l->launch.block[i] = 1;
    }
    l->launch.grid[0] = blocks;
    l->launch.block[0] = BLOCK;
    l->launch.args = l->args;
    l->launch.arg_count = AT_COUNT(l->args);
    l->launch.threads = 2;
}

static void stop(struct launched *l)
{
    at_emu_memory_free(l->memory);
    at_ptx_free(l->module);
}

static void shape_of(struct at_cache_shape *shape, int64_t block_shared_bytes, int64_t percent,
                     int64_t blocks, int64_t *carveout)
{
    struct at_device_info h200;
    struct at_error err = {AT_OK, ""};

    if (at_description_read(&h200, NULL, "h200", &err) != AT_OK ||
        at_cache_shape_of(shape, carveout, &h200, blocks, block_shared_bytes, percent, &err) !=
            AT_OK)
        fail_msg("%s", err.message);
}

static void count(struct launched *l, struct at_cache_counts *counts, int64_t whole,
                  int64_t resident)
{
    struct at_cache_shape shape;
    struct at_grid_parts parts;
    struct at_error err = {AT_OK, ""};
    int64_t carveout;

    shape_of(&shape, 0, 0, resident, &carveout);
    if (at_grid_find_parts(&parts, l->memory, &l->launch, &err) != AT_OK ||
        at_cache_count(counts, &shape, l->memory, &l->launch, &parts, whole, &err) != AT_OK)
        fail_msg("%s", err.message);
}

/* More requests than may be kept is no fault: who asks does without the figures. */
static void test_too_many_requests(void **state)
{
    struct at_cache_stream streams[4] = {0};
    struct launched l;

    (void)state;
    start(&l, kernel, sizeof kernel - 1, AT_COUNT(streams));
    l.args[5] = ALL; /* the mask */
    assert_int_equal(
        at_cache_record(streams, l.memory, &l.launch, 0, AT_COUNT(streams), 1 << 20, NULL), AT_OK);
    assert_int_equal(at_cache_record(streams, l.memory, &l.launch, 0, AT_COUNT(streams), 100, NULL),
                     AT_NO_MEMORY);
    for (size_t i = 0; i < AT_COUNT(streams); i++)
        at_cache_stream_clear(&streams[i]);
    stop(&l);
}

/* ---- patterns ---- */

/* 262,144 warps make two load requests each, and store 33.55 MB. */
static const struct {
    const char *name;
    uint32_t shift, stride, mask, offset, flip;
    double l2_MB;   /* to L1 */
    double dram_MB; /* to L2 */
    double l1_percent;
} patterns[] = {
    /* 4 sectors each, all different. */
    {"element i", 0, 1, ALL, 0, 0, 67.11, 67.11, 0},
    /* 5 sectors, of which the second warp of a block finds the first one in L1: 4.5 on average. The
     * next block is on another multiprocessor. A course's GPU counted 75 MB. */
    {"shifted by one", 0, 1, ALL, 1, 0, 75.50, 67.11, 10},
    {"neighbours swapped", 0, 1, ALL, 0, 1, 67.11, 67.11, 0},
    /* A sector serves 8 warps, two of each block. */
    {"one element for a warp", 5, 1, ALL, 0, 0, 8.39, 2.10, 50},
    /* 16 sectors. The next quarter of the grid reads them again, too late for L1. */
    {"stride 4", 0, 4, ALL, 0, 0, 268.44, 268.44, 0},
    {"stride 16", 0, 16, ALL, 0, 0, 536.87, 536.87, 0},
    /* Once by each multiprocessor, in the first wave. */
    {"element 0 for all", 0, 0, ALL, 0, 0, 0, 0, 100},
};

static void test_patterns(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(patterns); i += runs_whole() ? 1 : 3) {
        struct launched l;
        struct at_cache_counts counts;
        double l2, dram, l1;

        start(&l, kernel, sizeof kernel - 1, THREADS / BLOCK);
        l.args[3] = patterns[i].shift;
        l.args[4] = patterns[i].stride;
        l.args[5] = patterns[i].mask;
        l.args[6] = patterns[i].offset;
        l.args[7] = patterns[i].flip;
        count(&l, &counts, 1, RESIDENT);
        l2 = (double)counts.l2_to_l1_bytes / 1e6;
        dram = (double)counts.dram_to_l2_bytes / 1e6;
        l1 = 100 * (double)counts.l1_hits / (double)counts.l1_sectors;
        if (l2 < 0.999 * patterns[i].l2_MB - 0.01 || l2 > 1.001 * patterns[i].l2_MB + 0.01 ||
            dram < 0.985 * patterns[i].dram_MB - 0.01 || /* L2 may have some of it */
            dram > 1.001 * patterns[i].dram_MB + 0.01 || l1 < patterns[i].l1_percent - 0.1 ||
            l1 > patterns[i].l1_percent + 0.1)
            fail_msg("%s: %.2f MB from L2, %.2f MB from DRAM, %.1f%% in L1", patterns[i].name, l2,
                     dram, l1);
        assert_int_equal(counts.l1_to_l2_bytes, 4 * THREADS);
        assert_int_equal(counts.warm_dram_to_l2_bytes, -1);
        /* Nothing more can be left than L2 holds. */
        assert_true(counts.left_in_l2_bytes <= counts.shape.l2_bytes);
        assert_int_equal(counts.left_in_l2_bytes + counts.l2_to_dram_bytes, 4 * THREADS);
        free(counts.instructions);
        stop(&l);
    }
}

/* ---- the same whoever counts ---- */

static void test_host_threads_change_nothing(void **state)
{
    struct at_cache_counts counts[3];

    (void)state;
    for (int i = 0; i < 3; i++) {
        struct launched l;

        start(&l, kernel, sizeof kernel - 1, 6000);
        l.args[4] = 3;
        l.args[5] = ALL;
        l.launch.threads = 1 + 3 * i;
        count(&l, &counts[i], 6000, RESIDENT);
        free(counts[i].instructions);
        counts[i].instructions = NULL;
        assert_memory_equal(&counts[i], &counts[0], sizeof counts[0]);
        stop(&l);
    }
}

/* 1000 blocks read 2 * 256 KB and write 256 KB. All stays in L2, so a second launch reads nothing
 * and nothing is written back. */
static void test_small_grid_stays_in_l2(void **state)
{
    struct launched l;
    struct at_cache_counts counts;
    const int64_t bytes = 1000 * BLOCK * 4;

    (void)state;
    start(&l, kernel, sizeof kernel - 1, 1000);
    l.args[4] = 1;
    l.args[5] = ALL;
    count(&l, &counts, 1, RESIDENT);
    assert_int_equal(counts.blocks, 1000);
    assert_int_equal(counts.dram_to_l2_bytes, 2 * bytes);
    assert_int_equal(counts.l2_to_dram_bytes, 0);
    assert_int_equal(counts.left_in_l2_bytes, bytes);
    assert_int_equal(counts.warm_dram_to_l2_bytes, 0);
    free(counts.instructions);
    stop(&l);
}

/* Of the whole grid and of a sample of it: 2 * 33.55 MB are read, so most of what was written has
 * left L2. */
static void test_sample_is_like_the_grid(void **state)
{
    struct launched l;
    struct at_cache_counts sample, whole;

    (void)state;
    start(&l, kernel, sizeof kernel - 1, THREADS / BLOCK / 4);
    l.args[4] = 1;
    l.args[5] = ALL;
    l.args[6] = 1;
    count(&l, &sample, 1, RESIDENT);
    count(&l, &whole, THREADS / BLOCK, RESIDENT);
    assert_true(sample.blocks < whole.blocks);
    assert_int_equal(whole.blocks, THREADS / BLOCK / 4);
    assert_true(llabs(sample.l2_to_l1_bytes - whole.l2_to_l1_bytes) < whole.l2_to_l1_bytes / 100);
    assert_true(llabs(sample.dram_to_l2_bytes - whole.dram_to_l2_bytes) <
                whole.dram_to_l2_bytes / 100);
    free(sample.instructions);
    free(whole.instructions);
    stop(&l);
}

/* A grid that is larger than a sample, but writes less than L2 holds. */
static void test_sampled_writes_may_all_stay(void **state)
{
    struct launched l;
    struct at_cache_counts counts;
    const uint32_t blocks = 20000;

    (void)state;
    start(&l, kernel, sizeof kernel - 1, blocks);
    count(&l, &counts, 1, RESIDENT);
    assert_true(counts.blocks < blocks);
    assert_int_equal(counts.l2_to_dram_bytes, 0);
    assert_int_equal(counts.left_in_l2_bytes, blocks * BLOCK * 4);
    free(counts.instructions);
    stop(&l);
}

/* ---- grids whose blocks differ ---- */

/* Blocks `begin` .. `end` - 1 copy 64 floats for each step that their number has, and one more. */
static const char uneven_kernel[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 y, .param .u64 a, .param .u32 begin, .param .u32 end,\n"
    ".param .u32 step)\n{\n"
    ".reg .b32 %r<16>; .reg .b64 %d<8>; .reg .pred %p<4>;\n"
    "ld.param.u64 %d0, [y]; ld.param.u64 %d1, [a]; ld.param.u32 %r0, [begin];\n"
    "ld.param.u32 %r1, [end]; ld.param.u32 %r2, [step];\n"
    "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x;\n"
    "setp.lt.u32 %p0, %r3, %r0; @%p0 ret; setp.ge.u32 %p1, %r3, %r1; @%p1 ret;\n"
    "div.u32 %r5, %r3, %r2; mad.lo.s32 %r6, %r3, 320, %r4;\n"
    "L: mul.wide.u32 %d2, %r6, 4; add.s64 %d3, %d0, %d2; add.s64 %d4, %d1, %d2;\n"
    "ld.global.u32 %r7, [%d4];\nst.global.u32 [%d3], %r7;\n"
    "add.u32 %r6, %r6, 64; sub.s32 %r5, %r5, 1; setp.ge.s32 %p2, %r5, 0;\n"
    "@%p2 bra L;\nret;\n}\n";

enum { UNEVEN_BLOCKS = 26000, FEW_RESIDENT = 8 };

static const struct {
    const char *name;
    uint32_t begin, end, step;
} uneven[] = {
    {"a quarter of the blocks", 0, UNEVEN_BLOCKS / 4, UNEVEN_BLOCKS},
    {"work in the middle", 11000, 14000, UNEVEN_BLOCKS},
    {"the last block", UNEVEN_BLOCKS - 1, UNEVEN_BLOCKS, UNEVEN_BLOCKS},
    {"loops that grow", 0, UNEVEN_BLOCKS, UNEVEN_BLOCKS / 5},
    {"two steps and a gap", 7123, 25000, 13000},
};

static bool is_near(int64_t sample, int64_t whole)
{
    return (double)llabs(sample - whole) <= 0.05 * (double)whole + 4096;
}

static void test_uneven_grids(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(uneven); i += runs_whole() ? 1 : 3) {
        struct launched l;
        struct at_cache_counts sample, whole;

        start(&l, uneven_kernel, sizeof uneven_kernel - 1, UNEVEN_BLOCKS);
        l.launch.arg_count = 5;
        l.args[2] = uneven[i].begin;
        l.args[3] = uneven[i].end;
        l.args[4] = uneven[i].step;
        count(&l, &sample, 1, FEW_RESIDENT);
        count(&l, &whole, UNEVEN_BLOCKS, FEW_RESIDENT);
        assert_int_equal(whole.blocks, UNEVEN_BLOCKS);
        if (sample.blocks == whole.blocks ||
            !is_near(sample.l2_to_l1_bytes, whole.l2_to_l1_bytes) ||
            !is_near(sample.l1_to_l2_bytes, whole.l1_to_l2_bytes) ||
            !is_near(sample.dram_to_l2_bytes, whole.dram_to_l2_bytes) ||
            !is_near(sample.l2_to_dram_bytes + sample.left_in_l2_bytes,
                     whole.l2_to_dram_bytes + whole.left_in_l2_bytes))
            fail_msg("%s: %jd and %jd bytes from L2, %jd and %jd to it, %jd and %jd from DRAM",
                     uneven[i].name, (intmax_t)sample.l2_to_l1_bytes,
                     (intmax_t)whole.l2_to_l1_bytes, (intmax_t)sample.l1_to_l2_bytes,
                     (intmax_t)whole.l1_to_l2_bytes, (intmax_t)sample.dram_to_l2_bytes,
                     (intmax_t)whole.dram_to_l2_bytes);
        free(sample.instructions);
        free(whole.instructions);
        stop(&l);
    }
}

/* ---- sizes ---- */

/* Of 256 KiB per multiprocessor: sizes of shared memory are 0, 8, 16, 32, 64, 100, 132, 164, 196
 * and 228 KiB, and the system takes 1 KiB for each block. */
static void test_carveouts(void **state)
{
    static const struct {
        int64_t block_shared, percent, blocks, carveout_kib, resident;
    } cases[] = {
        {0, 0, 8, 8, 8},          {0, 0, 32, 32, 32},       {4096, 0, 8, 64, 8},
        {33 << 10, 0, 4, 164, 4}, {0, 100, 8, 228, 8},      {4096, 50, 8, 132, 8},
        {4096, 1, 8, 8, 1},       {48 << 10, 10, 4, 64, 1}, {48 << 10, 0, 4, 196, 4},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_cache_shape shape;
        int64_t carveout;

        shape_of(&shape, cases[i].block_shared, cases[i].percent, cases[i].blocks, &carveout);
        assert_int_equal(carveout >> 10, cases[i].carveout_kib);
        assert_int_equal(shape.l1_bytes >> 10, 256 - cases[i].carveout_kib);
        assert_int_equal(shape.blocks, cases[i].resident);
        assert_int_equal(shape.l2_bytes, 60 << 20);
        assert_int_equal(shape.l2_halves, 2);
    }
}

/* ---- stores that merge ---- */

/* Only those between a barrier and the next load. */
static void test_merging_stores(void **state)
{
    static const char text[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry k(.param .u64 y)\n{\n.reg .b32 %r<4>; .reg .b64 %d<4>;\n"
        "ld.param.u64 %d0, [y];\nst.global.u32 [%d0], %r0;\nbar.sync 0;\n"
        "st.global.u32 [%d0], %r0;\nld.global.u32 %r0, [%d0];\nst.global.u32 [%d0], %r0;\n"
        "ret;\n}\n";
    static const bool right[] = {false, true, false};
    struct at_ptx_module *module;
    const struct at_ptx_kernel *found;
    struct at_cache_policy *policies;
    struct at_error err = {AT_OK, ""};
    size_t stores = 0;

    (void)state;
    assert_int_equal(at_ptx_read(&module, text, sizeof text - 1, &err), AT_OK);
    assert_int_equal(at_ptx_find(module, "k", &found, &err), AT_OK);
    policies = at_cache_policies_of(found);
    for (size_t i = 0; i < found->op_count; i++) {
        if (strncmp(found->ops[i].text, "st.global", 9) != 0)
            continue;
        assert_true(stores < AT_COUNT(right));
        assert_int_equal(policies[i].merges, right[stores++]);
    }
    assert_int_equal(stores, AT_COUNT(right));
    free(policies);
    at_ptx_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_too_many_requests),
        cmocka_unit_test(test_patterns),
        cmocka_unit_test(test_host_threads_change_nothing),
        cmocka_unit_test(test_small_grid_stays_in_l2),
        cmocka_unit_test(test_sample_is_like_the_grid),
        cmocka_unit_test(test_sampled_writes_may_all_stay),
        cmocka_unit_test(test_uneven_grids),
        cmocka_unit_test(test_carveouts),
        cmocka_unit_test(test_merging_stores),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
