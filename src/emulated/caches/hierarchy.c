/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/caches/hierarchy.h"

#include "base/integer.h"
#include "base/memory.h"
#include "emulated/caches/count.h"
#include "emulated/time/occupancy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void at_cache_level_make(struct at_cache_level *level, int64_t bytes, int64_t ways)
{
    int64_t lines = bytes / AT_CACHE_LINE_BYTES;

    *level = (struct at_cache_level){.ways = (uint64_t)(lines < ways ? lines : ways)};
    level->sets = level->ways ? (uint64_t)lines / level->ways : 0;
    level->numbers = at_alloc_array(level->sets * level->ways, sizeof *level->numbers);
    level->lines = at_alloc_array(level->sets * level->ways, sizeof *level->lines);
}

void at_cache_level_clear(struct at_cache_level *level)
{
    free(level->numbers);
    free(level->lines);
    *level = (struct at_cache_level){0};
}

/* Forget everything. */
static void cache_level_flush(struct at_cache_level *level)
{
    memset(level->numbers, 0, level->sets * level->ways * sizeof *level->numbers);
    memset(level->lines, 0, level->sets * level->ways * sizeof *level->lines);
}

/* The index of a set's first line. GPUs hash addresses, so that power-of-two strides do not meet in
 * one set. How is not published; this is Fibonacci hashing (Knuth, The Art of Computer Programming,
 * 6.4). */
static size_t set_of(const struct at_cache_level *level, uint64_t number)
{
    uint32_t hash = (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> 32);

    return hash % (uint32_t)level->sets * level->ways;
}

/* The line with this number, which is used now; NULL: it is not here. */
static struct at_cache_line *cache_level_find(struct at_cache_level *level, uint64_t number)
{
    size_t set;

    if (level->sets == 0)
        return NULL;
    set = set_of(level, number);
    for (size_t i = set; i < set + level->ways; i++)
        if (level->numbers[i] == number) {
            level->lines[i].used = ++level->clock;
            return &level->lines[i];
        }
    return NULL;
}

/* An empty line has the lowest rank and was never used. */
static bool leaves_before(const struct at_cache_line *a, const struct at_cache_line *b)
{
    return a->rank != b->rank ? a->rank < b->rank : a->used < b->used;
}

struct at_cache_line *at_cache_level_place(struct at_cache_level *level, uint64_t number,
                                           enum at_cache_rank rank, struct at_cache_line *evicted)
{
    struct at_cache_line *set, *leaving;

    *evicted = (struct at_cache_line){0};
    if (level->sets == 0)
        return NULL;
    leaving = set = level->lines + set_of(level, number);
    for (uint64_t i = 0; i < level->ways && leaving->used; i++)
        if (leaves_before(&set[i], leaving))
            leaving = &set[i];
    *evicted = *leaving;
    *leaving = (struct at_cache_line){.used = ++level->clock, .rank = (uint8_t)rank};
    level->numbers[leaving - level->lines] = number;
    return leaving;
}

/* Shared memory per block that the system reserves (CUDA C++ Programming Guide, "Shared Memory" of
 * compute capability 8.x). */
enum { RESERVED_BYTES = 1024 };

/* The part of combined L1 and shared memory that shared memory cannot use: 192 - 164, 256 - 228 and
 * 128 - 100 KiB (CUDA C++ Programming Guide, "Compute Capabilities" 8.0, 9.0 and 10.0, and 8.9). */
enum { L1_LEAST_BYTES = 28 << 10 };

/* Neither is published. Sixteen ways with hashed sets are almost fully associative. */
enum { WAYS = 16 };

/* L2 in two halves, each of which keeps the data of the multiprocessors next to it ("NVIDIA Ampere
 * Architecture In-Depth", developer.nvidia.com/blog, on the A100). Nsight Compute agrees: half of
 * the requests of an H200 cross to the other half (lts__t_sectors_srcunit_ltcfabric), and of two
 * streams, one read and one written, 21 to 22 MB are not in DRAM at the end: a third of L2. */
static bool has_two_halves(const struct at_device_info *device)
{
    return device->compute_capability % 10 == 0; /* 8.0, 9.0, 10.0: data centre GPUs */
}

enum at_status at_cache_shape_of(struct at_cache_shape *shape, int64_t *carveout_bytes,
                                 const struct at_device_info *device, int64_t blocks,
                                 int64_t block_shared_bytes, int64_t carveout_percent,
                                 struct at_error *err)
{
    int64_t each = block_shared_bytes + RESERVED_BYTES,
            most = device->shared_bytes_per_multiprocessor;
    /* By default the driver's choice: the needs of the resident blocks. */
    int64_t wanted =
        carveout_percent > 0 ? at_max(most * carveout_percent / 100, each) : each * blocks;
    enum at_status status = at_occupancy_carveout(carveout_bytes, device, wanted, err);

    if (status != AT_OK)
        return status;
    *shape = (struct at_cache_shape){
        .multiprocessors = device->multiprocessors,
        .blocks = *carveout_bytes / each < blocks ? *carveout_bytes / each : blocks,
        .l1_bytes = most + L1_LEAST_BYTES - *carveout_bytes,
        .l1_ways = WAYS,
        .l2_bytes = device->l2_bytes,
        .l2_ways = WAYS,
        .l2_halves = has_two_halves(device) ? 2 : 1,
    };
    return AT_OK;
}

void at_caches_make(struct at_caches *caches, const struct at_cache_shape *shape)
{
    *caches = (struct at_caches){.shape = *shape};
    caches->l1 = at_alloc_array((size_t)shape->multiprocessors, sizeof *caches->l1);
    for (int64_t i = 0; i < shape->multiprocessors; i++)
        at_cache_level_make(&caches->l1[i], shape->l1_bytes, shape->l1_ways);
    caches->stored = at_alloc_array((size_t)shape->multiprocessors, sizeof *caches->stored);
    for (int64_t i = 0; i < shape->l2_halves; i++)
        at_cache_level_make(&caches->l2[i], shape->l2_bytes / shape->l2_halves, shape->l2_ways);
}

void at_caches_clear(struct at_caches *caches)
{
    for (int64_t i = 0; i < caches->shape.multiprocessors; i++)
        at_cache_level_clear(&caches->l1[i]);
    free(caches->l1);
    free(caches->stored);
    for (int64_t i = 0; i < caches->shape.l2_halves; i++)
        at_cache_level_clear(&caches->l2[i]);
}

void at_caches_begin_launch(struct at_caches *caches)
{
    for (int64_t i = 0; i < caches->shape.multiprocessors; i++)
        cache_level_flush(&caches->l1[i]);
    memset(caches->stored, 0, (size_t)caches->shape.multiprocessors * sizeof *caches->stored);
    caches->flow[0] = caches->flow[1] = (struct at_cache_flow){0};
}

static struct at_cache_flow *flow_of(struct at_caches *caches)
{
    return &caches->flow[caches->counting];
}

static unsigned sectors_of(const struct at_cache_part *part)
{
    unsigned sectors = 0;

    for (int i = 0; i < AT_CACHE_SECTORS; i++)
        sectors |= (unsigned)(part->bytes[i] != 0) << i;
    return sectors;
}

/* ---- L2 ---- */

/* Multiprocessors with consecutive numbers are of one cluster (GPC), and a cluster is next to one
 * half of L2. Neither the sizes of the clusters nor their sides are published. These values
 * reproduce the L2 hits of an H200 on sectors that two blocks share: nearly all if one block
 * follows the other, a fifth if they are 16 or 32 blocks apart. */
enum { CLUSTER = 16 };

static int half_near(const struct at_caches *caches, int64_t multiprocessor)
{
    return (int)((multiprocessor / CLUSTER + 1) / 2 % caches->shape.l2_halves);
}

/* The half of the memory to which a line belongs. */
static int half_of_line(const struct at_caches *caches, uint64_t line)
{
    return (int)((line * UINT64_C(0xd6e8feb86659fd93) >> 32) % (uint64_t)caches->shape.l2_halves);
}

static void write_back(struct at_caches *caches, const struct at_cache_line *line)
{
    flow_of(caches)->l2_to_dram += __builtin_popcount(line->dirty);
    /* The rest of a sector that is not whole must come first. */
    flow_of(caches)->dram_to_l2 += __builtin_popcount(line->dirty & ~(unsigned)line->valid);
}

/* The line in a half of L2, for which room is made if need be. NULL: L2 keeps nothing. */
static struct at_cache_line *line_in_l2(struct at_caches *caches, int half, uint64_t number,
                                        enum at_cache_rank rank)
{
    struct at_cache_level *level = &caches->l2[half];
    struct at_cache_line *line = cache_level_find(level, number), evicted;

    if (!line) {
        line = at_cache_level_place(level, number, rank, &evicted);
        write_back(caches, &evicted);
    }
    return line;
}

/* Read the sectors of a mask from a half. Return those that the half lacked; it holds them from now
 * on. An incomplete sector counts as held if it has all requested bytes. */
static unsigned read_half(struct at_caches *caches, int half, unsigned sectors,
                          enum at_cache_rank rank, const struct at_cache_part *part)
{
    struct at_cache_line *line = line_in_l2(caches, half, part->line + 1, rank);
    unsigned missing = sectors & ~(line ? line->valid : 0u);

    for (int i = 0; line && i < AT_CACHE_SECTORS; i++)
        if (missing >> i & 1 && !(part->bytes[i] & ~line->written[i]))
            missing &= ~(1u << i);
    if (line)
        line->valid |= (uint8_t)missing;
    return missing;
}

/* A miss in the near half is filled from the line's home half. */
static void read_l2(struct at_caches *caches, int near, unsigned sectors, enum at_cache_rank rank,
                    const struct at_cache_part *part, struct at_cache_hits *hits)
{
    int own = half_of_line(caches, part->line);
    unsigned missing = read_half(caches, near, sectors, rank, part), missing_in_both = missing;

    if (own != near && missing)
        missing_in_both = read_half(caches, own, missing, rank, part);
    hits->l2_sectors += __builtin_popcount(sectors);
    hits->l2_hits += __builtin_popcount(sectors & ~missing);
    flow_of(caches)->dram_to_l2 += __builtin_popcount(missing_in_both);
}

/* Returns the line, NULL if the half keeps nothing. */
static struct at_cache_line *write_half(struct at_caches *caches, int half, enum at_cache_rank rank,
                                        const struct at_cache_part *part)
{
    struct at_cache_line *line = line_in_l2(caches, half, part->line + 1, rank);

    for (int i = 0; line && i < AT_CACHE_SECTORS; i++) {
        line->written[i] |= part->bytes[i];
        if (line->written[i] == UINT32_MAX)
            line->valid |= (uint8_t)(1u << i);
    }
    return line;
}

/* A write invalidates the other half's copy. */
static void forget_copy(struct at_caches *caches, int half, unsigned sectors, uint64_t number)
{
    struct at_cache_line *line = cache_level_find(&caches->l2[half], number);

    if (!line)
        return;
    line->valid &= (uint8_t)~sectors;
    for (int i = 0; i < AT_CACHE_SECTORS; i++)
        if (sectors >> i & 1)
            line->written[i] = 0;
}

/* The near half keeps a copy, and the line's home half writes the data to DRAM. */
static void write_l2(struct at_caches *caches, int near, unsigned sectors, enum at_cache_rank rank,
                     const struct at_cache_part *part)
{
    int own = half_of_line(caches, part->line);
    struct at_cache_line *line = write_half(caches, own, rank, part);

    if (line)
        line->dirty |= (uint8_t)sectors;
    else
        flow_of(caches)->l2_to_dram += __builtin_popcount(sectors);
    if (own != near)
        (void)write_half(caches, near, rank, part);
    else if (caches->shape.l2_halves > 1)
        forget_copy(caches, 1 - own, sectors, part->line + 1);
}

/* ---- L1 ---- */

/* The sectors of a mask that L1 has not. They get a line if the policy says so. */
static unsigned missing_in_l1(struct at_cache_level *l1, unsigned sectors,
                              struct at_cache_policy policy, const struct at_cache_part *part)
{
    struct at_cache_line *line = cache_level_find(l1, part->line + 1), evicted;
    unsigned missing = sectors & ~(line ? line->valid : 0u);

    if (missing && !line && policy.keep_l1)
        line = at_cache_level_place(l1, part->line + 1, policy.l1, &evicted);
    if (line && policy.keep_l1)
        line->valid |= (uint8_t)missing;
    return missing;
}

static void load(struct at_caches *caches, int64_t multiprocessor, unsigned sectors,
                 struct at_cache_policy policy, const struct at_cache_part *part,
                 struct at_cache_hits *hits)
{
    unsigned missing = policy.past_l1
                           ? sectors
                           : missing_in_l1(&caches->l1[multiprocessor], sectors, policy, part);

    hits->l1_sectors += __builtin_popcount(sectors);
    hits->l1_hits += __builtin_popcount(sectors & ~missing);
    flow_of(caches)->l2_to_l1 += __builtin_popcount(missing);
    if (missing)
        read_l2(caches, half_near(caches, multiprocessor), missing, policy.l2, part, hits);
}

/* The sectors of a part that go to L2 together with the multiprocessor's last part of a store,
 * because both write parts of them. */
static unsigned merge(struct at_cache_part *last, const struct at_cache_part *part)
{
    unsigned merged = 0;

    if (last->line != part->line)
        *last = (struct at_cache_part){.line = part->line};
    for (int i = 0; i < AT_CACHE_SECTORS; i++) {
        if (part->bytes[i] && last->bytes[i] && last->bytes[i] != UINT32_MAX)
            merged |= 1u << i;
        last->bytes[i] |= part->bytes[i];
    }
    return merged;
}

static void store(struct at_caches *caches, int64_t multiprocessor, unsigned sectors,
                  struct at_cache_policy policy, const struct at_cache_part *part,
                  struct at_cache_hits *hits)
{
    unsigned merged = policy.merges ? merge(&caches->stored[multiprocessor], part) : 0;
    unsigned sent = sectors & ~merged;

    hits->l2_sectors += __builtin_popcount(sent);
    hits->l2_hits += __builtin_popcount(sent);
    flow_of(caches)->l1_to_l2 += __builtin_popcount(sent);
    write_l2(caches, half_near(caches, multiprocessor), sectors, policy.l2, part);
}

/* Done in L2. A copy of the old data in this L1 is void. */
static void atomic(struct at_caches *caches, int64_t multiprocessor, unsigned sectors,
                   struct at_cache_policy policy, const struct at_cache_part *part,
                   struct at_cache_hits *hits)
{
    struct at_cache_line *line = cache_level_find(&caches->l1[multiprocessor], part->line + 1);
    int own = half_of_line(caches, part->line);

    if (line)
        line->valid &= (uint8_t)~sectors;
    flow_of(caches)->l2_to_l1 += __builtin_popcount(sectors);
    flow_of(caches)->l1_to_l2 += __builtin_popcount(sectors);
    read_l2(caches, own, sectors, policy.l2, part, hits);
    write_l2(caches, own, sectors, policy.l2, part);
}

void at_caches_access(struct at_caches *caches, int64_t multiprocessor, enum at_cache_way way,
                      struct at_cache_policy policy, const struct at_cache_part *part,
                      struct at_cache_hits *hits)
{
    unsigned sectors = sectors_of(part);

    if (way == AT_CACHE_LOAD)
        load(caches, multiprocessor, sectors, policy, part, hits);
    else if (way == AT_CACHE_STORE)
        store(caches, multiprocessor, sectors, policy, part, hits);
    else
        atomic(caches, multiprocessor, sectors, policy, part, hits);
}

void at_caches_left(const struct at_caches *caches, int64_t *sectors, int64_t *dirty)
{
    *sectors = *dirty = 0;
    for (int64_t half = 0; half < caches->shape.l2_halves; half++) {
        const struct at_cache_level *level = &caches->l2[half];

        for (size_t i = 0; i < level->sets * level->ways; i++) {
            *sectors += __builtin_popcount(level->lines[i].valid | level->lines[i].dirty);
            *dirty += __builtin_popcount(level->lines[i].dirty);
        }
    }
}
