/* SPDX-License-Identifier: Apache-2.0 */
/* The caches of the emulated device, on accesses whose hits and bytes were worked out by hand. Here
 * a multiprocessor's L1 has two lines and L2 four, so that what leaves is easy to follow. */
#include "base/memory.h"
#include "emulated/caches/count.h"
#include "emulated/caches/hierarchy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct at_cache_shape small = {
    .multiprocessors = 2,
    .blocks = 1,
    .l1_bytes = 2 * AT_CACHE_LINE_BYTES,
    .l1_ways = 16,
    .l2_bytes = 4 * AT_CACHE_LINE_BYTES,
    .l2_ways = 16,
    .l2_halves = 1,
};

/* The bytes from `address` on, which lie in one line. */
static struct at_cache_part part_of(uint64_t address, uint64_t bytes)
{
    struct at_cache_part part = {.line = address / AT_CACHE_LINE_BYTES};

    for (uint64_t at = address % AT_CACHE_LINE_BYTES, end = at + bytes; at < end; at++)
        part.bytes[at / AT_CACHE_SECTOR_BYTES] |= UINT32_C(1) << at % AT_CACHE_SECTOR_BYTES;
    return part;
}

/* ---- sequences of accesses ---- */

/* An instruction by one of the two multiprocessors, and the sectors that it finds in L1 and in L2.
 * Without a text, the next launch begins. */
struct step {
    const char *text;
    int multiprocessor;
    uint64_t address, bytes;
    int l1_hits, l2_hits;
};

enum { STEPS = 12, A = 0, B = 128, C = 256, D = 384, E = 512 }; /* addresses of lines */

static const struct sequence {
    const char *name;
    struct step steps[STEPS];
    /* Sectors at the end, of the last launch. */
    int l2_to_l1, l1_to_l2, dram_to_l2, l2_to_dram, dirty;
} sequences[] = {
    {.name = "L1 fills the sectors that are asked for, not the line",
     .steps = {{"ld.global.u32", 0, A, 64, 0, 0},
               {"ld.global.u32", 0, A + 32, 32, 1, 0},
               {"ld.global.u32", 0, A, 128, 2, 0},
               {"ld.global.u32", 0, A, 128, 4, 0}},
     .l2_to_l1 = 4,
     .dram_to_l2 = 4},
    {.name = "each multiprocessor has an L1, and all have one L2",
     .steps = {{"ld.global.u32", 0, A, 32, 0, 0},
               {"ld.global.u32", 1, A, 32, 0, 1},
               {"ld.global.u32", 1, A, 32, 1, 0}},
     .l2_to_l1 = 2,
     .dram_to_l2 = 1},
    {.name = "the line that was not used for longest leaves L1",
     .steps = {{"ld.global.u32", 0, A, 32, 0, 0},
               {"ld.global.u32", 0, B, 32, 0, 0},
               {"ld.global.u32", 0, A, 32, 1, 0},
               {"ld.global.u32", 0, C, 32, 0, 0}, /* for B */
               {"ld.global.u32", 0, A, 32, 1, 0},
               {"ld.global.u32", 0, B, 32, 0, 1}},
     .l2_to_l1 = 4,
     .dram_to_l2 = 3},
    {.name = "a streamed line leaves first, although it was used last",
     .steps = {{"ld.global.u32", 0, A, 32, 0, 0},
               {"ld.global.cs.u32", 0, B, 32, 0, 0},
               {"ld.global.u32", 0, C, 32, 0, 0},
               {"ld.global.u32", 0, A, 32, 1, 0}},
     .l2_to_l1 = 3,
     .dram_to_l2 = 3},
    {.name = "a line to be kept leaves last",
     .steps = {{"ld.global.L1::evict_last.u32", 0, A, 32, 0, 0},
               {"ld.global.u32", 0, B, 32, 0, 0},
               {"ld.global.u32", 0, C, 32, 0, 0},
               {"ld.global.u32", 0, A, 32, 1, 0}},
     .l2_to_l1 = 3,
     .dram_to_l2 = 3},
    {.name = "a load past L1 finds nothing there and leaves nothing",
     .steps = {{"ld.global.u32", 0, A, 32, 0, 0},
               {"ld.global.cg.u32", 0, A, 32, 0, 1},
               {"ld.global.cg.u32", 0, B, 32, 0, 0},
               {"ld.global.u32", 0, B, 32, 0, 1}},
     .l2_to_l1 = 4,
     .dram_to_l2 = 2},
    {.name = "a load that gets no line in L1 may find one there",
     .steps = {{"ld.global.L1::no_allocate.u32", 0, A, 32, 0, 0},
               {"ld.global.u32", 0, A, 32, 0, 1},
               {"ld.global.L1::no_allocate.u32", 0, A, 32, 1, 0},
               {"ld.global.L1::no_allocate.u32", 0, A, 64, 1, 0},
               {"ld.global.u32", 0, A, 64, 1, 1}},
     .l2_to_l1 = 4,
     .dram_to_l2 = 2},
    {.name = "a store goes to L2, gets no line in L1 and fills no sector",
     .steps = {{"st.global.u32", 0, A, 128, 0, 4}, {"ld.global.u32", 0, A, 128, 0, 4}},
     .l2_to_l1 = 4,
     .l1_to_l2 = 4,
     .dirty = 4},
    {.name = "a store leaves L1 its line",
     .steps = {{"ld.global.u32", 0, A, 128, 0, 0},
               {"st.global.u32", 0, A, 128, 0, 4},
               {"ld.global.u32", 0, A, 128, 4, 0}},
     .l2_to_l1 = 4,
     .l1_to_l2 = 4,
     .dram_to_l2 = 4,
     .dirty = 4},
    {.name = "a sector in parts is a hit for its bytes; for others DRAM sends it",
     .steps = {{"st.global.u32", 0, A, 4, 0, 1},
               {"ld.global.u32", 1, A, 4, 0, 1},
               {"ld.global.cg.u32", 0, A + 4, 4, 0, 0},
               {"ld.global.cg.u32", 0, A + 8, 4, 0, 1}},
     .l2_to_l1 = 3,
     .l1_to_l2 = 1,
     .dram_to_l2 = 1,
     .dirty = 1},
    {.name = "two halves make a whole sector, which DRAM need not send",
     .steps = {{"st.global.u32", 0, A, 16, 0, 1},
               {"st.global.u32", 1, A + 16, 16, 0, 1},
               {"ld.global.u32", 0, A, 32, 0, 1}},
     .l2_to_l1 = 1,
     .l1_to_l2 = 2,
     .dirty = 1},
    {.name = "a whole sector leaves L2 as it is",
     .steps = {{"st.global.u32", 0, A, 32, 0, 1},
               {"ld.global.u32", 0, B, 32, 0, 0},
               {"ld.global.u32", 0, C, 32, 0, 0},
               {"ld.global.u32", 0, D, 32, 0, 0},
               {"ld.global.u32", 0, E, 32, 0, 0}},
     .l2_to_l1 = 4,
     .l1_to_l2 = 1,
     .dram_to_l2 = 4,
     .l2_to_dram = 1},
    {.name = "one in parts needs the rest before it leaves",
     .steps = {{"st.global.u32", 0, A, 28, 0, 1},
               {"ld.global.u32", 0, B, 32, 0, 0},
               {"ld.global.u32", 0, C, 32, 0, 0},
               {"ld.global.u32", 0, D, 32, 0, 0},
               {"ld.global.u32", 0, E, 32, 0, 0}},
     .l2_to_l1 = 4,
     .l1_to_l2 = 1,
     .dram_to_l2 = 5,
     .l2_to_dram = 1},
    {.name = "what was only read leaves without a trace",
     .steps = {{"ld.global.u32", 0, A, 128, 0, 0},
               {"st.global.u32", 0, B, 32, 0, 1},
               {"st.global.u32", 0, C, 32, 0, 1},
               {"st.global.u32", 0, D, 32, 0, 1},
               {"st.global.u32", 0, E, 32, 0, 1},
               {"ld.global.u32", 1, A, 128, 0, 0}}, /* for B */
     .l2_to_l1 = 8,
     .l1_to_l2 = 4,
     .dram_to_l2 = 8,
     .l2_to_dram = 1,
     .dirty = 3},
    {.name = "an atomic operation reads and writes L2, past L1",
     .steps = {{"ld.global.u32", 0, A, 32, 0, 0},
               {"atom.global.add.u32", 0, A, 4, 0, 1},
               {"ld.global.u32", 0, A, 32, 0, 1}},
     .l2_to_l1 = 3,
     .l1_to_l2 = 1,
     .dram_to_l2 = 1,
     .dirty = 1},
    {.name = "a launch finds L1 empty and L2 as it was",
     .steps = {{"ld.global.u32", 0, A, 32, 0, 0},
               {"st.global.u32", 0, B, 32, 0, 1},
               {0},
               {"ld.global.u32", 0, A, 32, 0, 1},
               {"ld.global.u32", 0, B, 32, 0, 1}},
     .l2_to_l1 = 2,
     .dirty = 1},
};

static enum at_cache_way way_of(const char *text)
{
    return text[0] == 'l' ? AT_CACHE_LOAD : text[0] == 's' ? AT_CACHE_STORE : AT_CACHE_ATOMIC;
}

static void take_steps(struct at_caches *caches, const struct sequence *sequence)
{
    size_t count = STEPS;

    while (!sequence->steps[count - 1].text)
        count--;
    for (size_t i = 0; i < count; i++) {
        const struct step *step = &sequence->steps[i];
        const struct at_cache_part part = part_of(step->address, step->bytes);
        struct at_cache_hits hits = {0};

        if (!step->text) {
            at_caches_begin_launch(caches);
            continue;
        }
        at_caches_access(caches, step->multiprocessor, way_of(step->text),
                         at_cache_policy_of(step->text), &part, &hits);
        if (hits.l1_hits != step->l1_hits || hits.l2_hits != step->l2_hits)
            fail_msg("%s, step %zu: %d hits in L1, %d in L2", sequence->name, i + 1,
                     (int)hits.l1_hits, (int)hits.l2_hits);
    }
}

static void test_sequences(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(sequences); i++) {
        const struct sequence *sequence = &sequences[i];
        struct at_caches caches;
        const struct at_cache_flow *flow = &caches.flow[false];
        int64_t kept, dirty;

        at_caches_make(&caches, &small);
        take_steps(&caches, sequence);
        at_caches_left(&caches, &kept, &dirty);
        if (flow->l2_to_l1 != sequence->l2_to_l1 || flow->l1_to_l2 != sequence->l1_to_l2 ||
            flow->dram_to_l2 != sequence->dram_to_l2 || flow->l2_to_dram != sequence->l2_to_dram ||
            dirty != sequence->dirty)
            fail_msg("%s: %d from L2, %d to L2, %d from DRAM, %d to DRAM, %d left", sequence->name,
                     (int)flow->l2_to_l1, (int)flow->l1_to_l2, (int)flow->dram_to_l2,
                     (int)flow->l2_to_dram, (int)dirty);
        at_caches_clear(&caches);
    }
}

/* Requests that do not count still move the sectors that others find. */
static void test_counting(void **state)
{
    struct at_caches caches;
    struct at_cache_hits hits = {0};
    const struct at_cache_part part = part_of(A, 32);
    const struct at_cache_policy plain = at_cache_policy_of("ld.global.u32");

    (void)state;
    at_caches_make(&caches, &small);
    at_caches_access(&caches, 0, AT_CACHE_LOAD, plain, &part, &hits);
    caches.counting = true;
    at_caches_access(&caches, 1, AT_CACHE_LOAD, plain, &part, &hits);
    assert_int_equal(caches.flow[false].dram_to_l2, 1);
    assert_int_equal(caches.flow[true].dram_to_l2, 0);
    assert_int_equal(caches.flow[true].l2_to_l1, 1);
    at_caches_clear(&caches);
}

/* ---- halves ---- */

enum { NEAR = 0, FAR = 16, LINES = 512 }; /* two multiprocessors next to different halves */

/* Each line is read or written as a whole; returns the sectors that L2 had. */
static int64_t hits_of_lines(struct at_caches *caches, int64_t multiprocessor,
                             enum at_cache_way way)
{
    const struct at_cache_policy past_l1 = at_cache_policy_of("ld.global.cg.u32");
    struct at_cache_hits hits = {0};

    for (uint64_t line = 0; line < LINES; line++) {
        const struct at_cache_part part = part_of(line * AT_CACHE_LINE_BYTES, AT_CACHE_LINE_BYTES);

        at_caches_access(caches, multiprocessor, way, past_l1, &part, &hits);
    }
    return hits.l2_hits;
}

/* Of what one side has read or written, the other finds the lines that belong to its half. The rest
 * crosses over, and need not come from DRAM again. */
static void test_halves(void **state)
{
    enum { SECTORS = LINES * AT_CACHE_SECTORS };
    const struct at_cache_shape halved = {.multiprocessors = FAR + 1,
                                          .blocks = 1,
                                          .l2_bytes = 8 * LINES * AT_CACHE_LINE_BYTES,
                                          .l2_ways = 16,
                                          .l2_halves = 2};
    struct at_caches caches;
    int64_t found, kept, dirty;

    (void)state;
    at_caches_make(&caches, &halved);
    assert_int_equal(hits_of_lines(&caches, NEAR, AT_CACHE_LOAD), 0);
    assert_int_equal(hits_of_lines(&caches, NEAR, AT_CACHE_LOAD), SECTORS);
    found = hits_of_lines(&caches, FAR, AT_CACHE_LOAD);
    assert_in_range(found, SECTORS * 4 / 10, SECTORS * 6 / 10);
    assert_int_equal(hits_of_lines(&caches, FAR, AT_CACHE_LOAD), SECTORS);
    assert_int_equal(caches.flow[false].dram_to_l2, SECTORS);
    at_caches_left(&caches, &kept, &dirty);
    assert_int_equal(kept, 2 * SECTORS);
    assert_int_equal(dirty, 0);

    hits_of_lines(&caches, NEAR, AT_CACHE_STORE);
    assert_int_equal(hits_of_lines(&caches, FAR, AT_CACHE_LOAD), found);
    assert_int_equal(caches.flow[false].dram_to_l2, SECTORS);
    at_caches_left(&caches, &kept, &dirty);
    assert_int_equal(dirty, SECTORS);
    at_caches_clear(&caches);
}

/* ---- stores that merge ---- */

static int64_t sent(bool merges, const uint64_t *addresses, size_t count)
{
    struct at_cache_policy policy = at_cache_policy_of("st.global.u32");
    struct at_cache_hits hits = {0};
    struct at_caches caches;
    int64_t sectors;

    policy.merges = merges;
    at_caches_make(&caches, &small);
    for (size_t i = 0; i < count; i++) {
        const struct at_cache_part part = part_of(addresses[i], 16);

        at_caches_access(&caches, 0, AT_CACHE_STORE, policy, &part, &hits);
    }
    sectors = caches.flow[false].l1_to_l2;
    assert_int_equal(hits.l2_sectors, sectors);
    assert_int_equal(hits.l2_hits, sectors);
    at_caches_clear(&caches);
    return sectors;
}

/* Halves of a sector, one right after the other, are sent once. */
static void test_merging(void **state)
{
    static const uint64_t together[] = {A, A + 16, A + 32}, apart[] = {A, B, A + 16},
                          whole[] = {A, A + 16, A};

    (void)state;
    assert_int_equal(sent(true, together, 3), 2);
    assert_int_equal(sent(false, together, 3), 3);
    assert_int_equal(sent(true, apart, 3), 3);
    assert_int_equal(sent(true, whole, 3), 2); /* a whole one has left */
}

/* A cache as large as all that is used keeps it, whatever the stride: addresses are hashed. */
static void test_strides(void **state)
{
    (void)state;
    for (uint64_t stride = 1; stride <= 1 << 20; stride *= 2) {
        struct at_cache_level level;
        struct at_cache_line evicted;
        uint64_t lost = 0;

        at_cache_level_make(&level, 1024 * AT_CACHE_LINE_BYTES, 16);
        for (uint64_t i = 0; i < 512; i++) {
            at_cache_level_place(&level, 1 + i * stride, AT_CACHE_NORMAL, &evicted);
            lost += evicted.used != 0;
        }
        assert_true(lost < 8);
        at_cache_level_clear(&level);
    }
}

/* ---- names of instructions ---- */

static const struct {
    const char *text;
    struct at_cache_policy policy;
} policies[] = {
    {"ld.global.f32 \t%f1, [%rd9];", {false, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"ld.global.nc.f32 %f1, [%rd9];", {false, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"@%p1 ld.global.cg.u32 %r1, [%rd9];", {true, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"ld.global.cs.v4.u32 {...}, [%rd9];", {false, true, AT_CACHE_FIRST, AT_CACHE_FIRST, false}},
    {"ld.global.lu.u32 %r1, [%rd9];", {false, true, AT_CACHE_FIRST, AT_CACHE_NORMAL, false}},
    {"ld.volatile.global.u32 %r1, [%rd9];", {true, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"ld.acquire.gpu.global.u32 %r1, [%rd9];",
     {true, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"ld.global.nc.L1::no_allocate.L2::128B.u32 %r1, [%rd9];",
     {false, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"ld.global.L1::evict_last.L2::evict_first.u32 %r1, [%rd9];",
     {false, true, AT_CACHE_LAST, AT_CACHE_FIRST, false}},
    {"cp.async.cg.shared.global [%r1], [%rd9], 16;",
     {true, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"cp.async.ca.shared.global [%r1], [%rd9], 4;",
     {false, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1], %r2, [m];",
     {true, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
    {"ld.global.u32 %r1, [array.cg];", {false, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false}},
};

static void test_policies(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(policies); i++) {
        const struct at_cache_policy found = at_cache_policy_of(policies[i].text);
        const struct at_cache_policy *right = &policies[i].policy;

        if (found.past_l1 != right->past_l1 || found.keep_l1 != right->keep_l1 ||
            found.l1 != right->l1 || found.l2 != right->l2)
            fail_msg("%s: past L1 %d, kept there %d, ranks %d and %d", policies[i].text,
                     found.past_l1, found.keep_l1, (int)found.l1, (int)found.l2);
    }
}

/* ---- requests ---- */

/* Lane i accesses start + i * stride. The request has a part for each line, and a bit for each
 * byte. */
static void test_parts(void **state)
{
    static const struct {
        int bytes;
        uint64_t start, stride;
        int parts;
        uint32_t first[AT_CACHE_SECTORS]; /* bytes of the first part */
    } cases[] = {
        {4, 0, 4, 1, {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
        {4, 132, 4, 2, {0xfffffff0, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
        {4, 64, 0, 1, {0, 0, 0xf, 0}},
        {4, 0, 64, 16, {0xf, 0, 0xf, 0}},
        {16, 16, 16, 5, {0xffff0000, UINT32_MAX, UINT32_MAX, UINT32_MAX}},
        {1, 31, 1, 1, {0x80000000, 0x7fffffff, 0, 0}},
        {8, 8, 4096, 32, {0xff00, 0, 0, 0}},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_cache_stream stream = {0};
        struct at_emu_access access = {.bytes = cases[i].bytes, .lanes = UINT32_MAX, .warp = 3};

        for (uint64_t lane = 0; lane < AT_WARP; lane++)
            access.address[lane] = cases[i].start + lane * cases[i].stride;
        at_cache_stream_add(&stream, &access);
        access.shared = true; /* left out */
        at_cache_stream_add(&stream, &access);
        assert_int_equal(stream.request_count, 1);
        assert_int_equal(stream.requests[0].parts, cases[i].parts);
        assert_int_equal(stream.part_count, cases[i].parts);
        assert_int_equal(stream.parts[0].line, cases[i].start / AT_CACHE_LINE_BYTES);
        assert_memory_equal(stream.parts[0].bytes, cases[i].first, sizeof cases[i].first);
        at_cache_stream_clear(&stream);
    }
}

/* Each warp's requests are linked in its own order. */
static void test_warps(void **state)
{
    static const struct {
        uint32_t warp;
        size_t instruction;
    } added[] = {{0, 10}, {2, 20}, {0, 11}, {2, 21}, {2, 22}};
    struct at_cache_stream stream = {0};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(added); i++) {
        const struct at_emu_access access = {
            .warp = added[i].warp, .instruction = added[i].instruction, .bytes = 4, .lanes = 1};

        at_cache_stream_add(&stream, &access);
    }
    assert_int_equal(stream.head[1], 0);
    for (uint32_t warp = 0; warp < 3; warp += 2) {
        uint32_t instruction = warp ? 20 : 10;

        for (uint32_t i = stream.head[warp]; i; i = stream.requests[i - 1].following)
            assert_int_equal(stream.requests[i - 1].instruction, instruction++);
        assert_int_equal(instruction, warp ? 23 : 12);
    }
    at_cache_stream_clear(&stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sequences), cmocka_unit_test(test_counting),
        cmocka_unit_test(test_halves),    cmocka_unit_test(test_merging),
        cmocka_unit_test(test_strides),   cmocka_unit_test(test_policies),
        cmocka_unit_test(test_parts),     cmocka_unit_test(test_warps),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
