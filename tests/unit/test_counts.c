/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of one request, compared with values worked out by hand and known figures: the column of a
 * tile without padding has conflicts in all lanes; one cell of padding removes them. */
#include "emulated/time/requests.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Lane i accesses start + i * stride. */
static struct at_emu_access strided(bool shared, int bytes, uint64_t start, uint64_t stride)
{
    struct at_emu_access access = {.shared = shared, .bytes = bytes, .lanes = UINT32_MAX};

    for (uint64_t lane = 0; lane < AT_WARP; lane++)
        access.address[lane] = start + lane * stride;
    return access;
}

static void test_sectors(void **state)
{
    static const struct {
        int bytes;
        uint64_t start, stride;
        int sectors, least;
    } cases[] = {
        {4, 0, 4, 4, 4},      /* aligned */
        {4, 4, 4, 5, 4},      /* one element off */
        {4, 28, 4, 5, 4},     /* */
        {4, 64, 0, 1, 1},     /* one address per warp */
        {4, 0, 16, 16, 4},    /* every fourth element */
        {4, 0, 128, 32, 4},   /* a column */
        {1, 0, 1, 1, 1},      /* bytes */
        {1, 31, 1, 2, 1},     /* */
        {2, 0, 2, 2, 2},      /* halves */
        {8, 0, 8, 8, 8},      /* vectors */
        {16, 0, 16, 16, 16},  /* */
        {16, 16, 16, 17, 16}, /* a vector's width away from a sector's start */
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_emu_access access =
            strided(false, cases[i].bytes, cases[i].start, cases[i].stride);

        assert_int_equal(at_request_sectors(&access), cases[i].sectors);
        assert_int_equal(at_request_least_sectors(&access), cases[i].least);
    }
}

/* Permuting lanes leaves the sectors as they are; half a warp needs half. */
static void test_sectors_of_other_orders(void **state)
{
    struct at_emu_access access = strided(false, 4, 0, 4);

    (void)state;
    for (uint64_t lane = 0; lane < AT_WARP; lane++)
        access.address[lane] = (lane * 7 % AT_WARP) * 4;
    assert_int_equal(at_request_sectors(&access), 4);
    access = strided(false, 4, 0, 4);
    access.lanes = 0x0000ffff;
    assert_int_equal(at_request_sectors(&access), 2);
    access.lanes = 0x80000001;
    assert_int_equal(at_request_sectors(&access), 2);
    assert_int_equal(at_request_least_sectors(&access), 1);
}

/* What an H200's counter shows for copies past L1, 16 bytes per lane. The cases differ in the
 * addresses that lanes read and write: the first lane's, and the stride. */
static void test_tag_sectors_of_copies(void **state)
{
    static const struct {
        uint64_t from, from_stride, to, to_stride;
        uint32_t lanes;
        int sectors;
    } cases[] = {
        {0, 16, 0, 16, UINT32_MAX, 16},   {16, 16, 0, 16, UINT32_MAX, 20},
        {32, 16, 0, 16, UINT32_MAX, 16},  {0, 16, 16, 16, UINT32_MAX, 20},
        {16, 16, 16, 16, UINT32_MAX, 17}, {0, 32, 0, 16, UINT32_MAX, 16},
        {0, 128, 0, 16, UINT32_MAX, 32},  {0, 16, 0, 128, UINT32_MAX, 32},
        {0, 16, 0, 16, 0x7f, 4},          {16, 16, 48, 16, 0xffffe000, 10},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_emu_access access = strided(false, 16, cases[i].from, cases[i].from_stride);
        const struct at_emu_access filled = strided(true, 16, cases[i].to, cases[i].to_stride);

        access.lanes = cases[i].lanes;
        assert_int_equal(at_request_tag_sectors(&access), at_request_sectors(&access));
        access.fills = filled.address;
        assert_int_equal(at_request_tag_sectors(&access), cases[i].sectors);
    }
}

/* Reads a column of tile[..][32 + pad] with elements of this size. */
static void test_wavefronts_of_a_column(void **state)
{
    static const struct {
        int bytes, pad;
        int wavefronts, least;
    } cases[] = {
        {1, 0, 8, 1}, {2, 0, 16, 1}, {4, 0, 32, 1}, {8, 0, 32, 2}, {16, 0, 32, 4},
        {4, 1, 1, 1}, {8, 1, 2, 2},  {16, 1, 4, 4}, {1, 1, 1, 1},  {2, 1, 1, 1},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        uint64_t pitch = (uint64_t)(cases[i].bytes * (32 + cases[i].pad));
        struct at_emu_access access = strided(true, cases[i].bytes, 0, pitch);

        assert_int_equal(at_request_wavefronts(&access), cases[i].wavefronts);
        assert_int_equal(at_request_least_wavefronts(&access), cases[i].least);
    }
}

static void test_wavefronts(void **state)
{
    struct at_emu_access access = strided(true, 4, 0, 4);

    (void)state;
    assert_int_equal(at_request_wavefronts(&access), 1);
    access = strided(true, 4, 128, 0); /* one word for all lanes: a broadcast */
    assert_int_equal(at_request_wavefronts(&access), 1);
    access = strided(true, 1, 0, 1); /* four lanes per word */
    assert_int_equal(at_request_wavefronts(&access), 1);
    access = strided(true, 8, 0, 8);
    assert_int_equal(at_request_wavefronts(&access), 2);
    access = strided(true, 16, 0, 16);
    assert_int_equal(at_request_wavefronts(&access), 4);
    access.lanes = 0xff; /* a quarter of the warp */
    assert_int_equal(at_request_wavefronts(&access), 1);
    assert_int_equal(at_request_least_wavefronts(&access), 1);
    access.lanes = 0x707; /* two quarters, which together would fit into one wavefront */
    assert_int_equal(at_request_wavefronts(&access), 2);
    assert_int_equal(at_request_least_wavefronts(&access), 1);
    access = strided(true, 4, 0, 8); /* every other bank, twice */
    assert_int_equal(at_request_wavefronts(&access), 2);
}

/* Words of a warp at one offset are side by side: lanes at other offsets need sectors of their own.
 */
static void test_local_sectors(void **state)
{
    struct at_emu_access access = strided(false, 4, 8, 0);

    (void)state;
    assert_int_equal(at_request_local_sectors(&access), 4);
    access.lanes = 0x101;
    assert_int_equal(at_request_local_sectors(&access), 2);
    access = strided(false, 16, 16, 0);
    assert_int_equal(at_request_local_sectors(&access), 16);
    access = strided(false, 4, 0, 4);
    assert_int_equal(at_request_local_sectors(&access), 32);
    access = strided(false, 1, 0, 1); /* four offsets are one word */
    assert_int_equal(at_request_local_sectors(&access), 8);
}

static void test_sums(void **state)
{
    struct at_counts *counts = at_counts_new(3);
    const struct at_emu_observer *observer = &counts->observer;
    struct at_emu_access load = strided(false, 4, 4, 4), store = strided(true, 4, 0, 128);

    (void)state;
    load.instruction = 1;
    store.instruction = 2;
    store.store = true;
    observer->access(observer->context, 0, &load);
    observer->access(observer->context, 1, &load);
    observer->access(observer->context, 0, &store);
    store.instruction = 1; /* a copy accesses both memories */
    observer->access(observer->context, 0, &store);
    observer->local(observer->context, 0, &load);
    assert_int_equal(counts->local.requests, 1);
    assert_int_equal(counts->local.sectors, 32);
    assert_int_equal(counts->accesses[0][false].bytes, 0);
    assert_int_equal(counts->accesses[1][false].requests, 2);
    assert_int_equal(counts->accesses[1][false].sectors, 10);
    assert_int_equal(counts->accesses[1][false].least_sectors, 8);
    assert_int_equal(counts->accesses[1][false].lanes, 64);
    assert_false(counts->accesses[1][false].shared);
    assert_int_equal(counts->accesses[1][true].wavefronts, 32);
    assert_true(counts->accesses[2][true].shared && counts->accesses[2][true].store);
    assert_int_equal(counts->accesses[2][true].wavefronts, 32);
    assert_int_equal(counts->accesses[2][true].least_wavefronts, 1);
    free(counts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sectors),
        cmocka_unit_test(test_sectors_of_other_orders),
        cmocka_unit_test(test_tag_sectors_of_copies),
        cmocka_unit_test(test_wavefronts_of_a_column),
        cmocka_unit_test(test_wavefronts),
        cmocka_unit_test(test_local_sectors),
        cmocka_unit_test(test_sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
