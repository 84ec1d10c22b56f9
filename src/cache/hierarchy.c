/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/hierarchy.h"

#include "base/memory.h"

#include <stdlib.h>

void at_caches_make(struct at_caches *caches, const struct at_cache_shape *shape)
{
    *caches = (struct at_caches){.shape = *shape};
    caches->l1 = at_alloc_array((size_t)shape->multiprocessors, sizeof *caches->l1);
    for (int64_t i = 0; i < shape->multiprocessors; i++)
        at_cache_level_make(&caches->l1[i], shape->l1_bytes, shape->l1_ways);
    at_cache_level_make(&caches->l2, shape->l2_bytes, shape->l2_ways);
}

void at_caches_clear(struct at_caches *caches)
{
    for (int64_t i = 0; i < caches->shape.multiprocessors; i++)
        at_cache_level_clear(&caches->l1[i]);
    free(caches->l1);
    at_cache_level_clear(&caches->l2);
}

void at_caches_begin_launch(struct at_caches *caches)
{
    for (int64_t i = 0; i < caches->shape.multiprocessors; i++)
        at_cache_level_flush(&caches->l1[i]);
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

static void write_back(struct at_caches *caches, const struct at_cache_line *line)
{
    flow_of(caches)->l2_to_dram += __builtin_popcount(line->dirty);
    /* The rest of a sector that is not whole must come first. */
    flow_of(caches)->dram_to_l2 += __builtin_popcount(line->dirty & ~(unsigned)line->valid);
}

/* The line in L2, for which room is made if need be. NULL: L2 keeps nothing. */
static struct at_cache_line *line_in_l2(struct at_caches *caches, uint64_t number,
                                        enum at_cache_rank rank)
{
    struct at_cache_line *line = at_cache_level_find(&caches->l2, number), evicted;

    if (!line) {
        line = at_cache_level_place(&caches->l2, number, rank, &evicted);
        write_back(caches, &evicted);
    }
    return line;
}

/* Read the sectors of a mask. A sector that is not whole here, but has all bytes that are wanted,
 * is a hit. */
static void read_l2(struct at_caches *caches, unsigned sectors, enum at_cache_rank rank,
                    const struct at_cache_part *part, struct at_cache_hits *hits)
{
    struct at_cache_line *line = line_in_l2(caches, part->line + 1, rank);
    unsigned missing = sectors & ~(line ? line->valid : 0u);

    for (int i = 0; line && i < AT_CACHE_SECTORS; i++)
        if (missing >> i & 1 && !(part->bytes[i] & ~line->written[i]))
            missing &= ~(1u << i);
    hits->l2_sectors += __builtin_popcount(sectors);
    hits->l2_hits += __builtin_popcount(sectors & ~missing);
    flow_of(caches)->dram_to_l2 += __builtin_popcount(missing);
    if (line)
        line->valid |= (uint8_t)missing;
}

static void write_l2(struct at_caches *caches, unsigned sectors, enum at_cache_rank rank,
                     const struct at_cache_part *part, struct at_cache_hits *hits)
{
    struct at_cache_line *line = line_in_l2(caches, part->line + 1, rank);

    hits->l2_sectors += __builtin_popcount(sectors);
    hits->l2_hits += __builtin_popcount(sectors);
    flow_of(caches)->l1_to_l2 += __builtin_popcount(sectors);
    if (!line) {
        flow_of(caches)->l2_to_dram += __builtin_popcount(sectors);
        return;
    }
    line->dirty |= (uint8_t)sectors;
    for (int i = 0; i < AT_CACHE_SECTORS; i++) {
        line->written[i] |= part->bytes[i];
        if (line->written[i] == UINT32_MAX)
            line->valid |= (uint8_t)(1u << i);
    }
}

/* ---- L1 ---- */

/* The sectors of a mask that L1 has not. They get a line if the policy says so. */
static unsigned missing_in_l1(struct at_cache_level *l1, unsigned sectors,
                              struct at_cache_policy policy, const struct at_cache_part *part)
{
    struct at_cache_line *line = at_cache_level_find(l1, part->line + 1), evicted;
    unsigned missing = sectors & ~(line ? line->valid : 0u);

    if (missing && !line && policy.keep_l1)
        line = at_cache_level_place(l1, part->line + 1, policy.l1, &evicted);
    if (line && policy.keep_l1)
        line->valid |= (uint8_t)missing;
    return missing;
}

static void load(struct at_caches *caches, struct at_cache_level *l1, unsigned sectors,
                 struct at_cache_policy policy, const struct at_cache_part *part,
                 struct at_cache_hits *hits)
{
    unsigned missing = policy.past_l1 ? sectors : missing_in_l1(l1, sectors, policy, part);

    hits->l1_sectors += __builtin_popcount(sectors);
    hits->l1_hits += __builtin_popcount(sectors & ~missing);
    flow_of(caches)->l2_to_l1 += __builtin_popcount(missing);
    if (missing)
        read_l2(caches, missing, policy.l2, part, hits);
}

/* Done in L2. A copy of the old data in this L1 is void. */
static void atomic(struct at_caches *caches, struct at_cache_level *l1, unsigned sectors,
                   struct at_cache_policy policy, const struct at_cache_part *part,
                   struct at_cache_hits *hits)
{
    struct at_cache_line *line = at_cache_level_find(l1, part->line + 1);
    struct at_cache_hits written = {0}; /* counts as one access of L2 */

    if (line)
        line->valid &= (uint8_t)~sectors;
    flow_of(caches)->l2_to_l1 += __builtin_popcount(sectors);
    read_l2(caches, sectors, policy.l2, part, hits);
    write_l2(caches, sectors, policy.l2, part, &written);
}

void at_caches_access(struct at_caches *caches, int64_t multiprocessor, enum at_cache_way way,
                      struct at_cache_policy policy, const struct at_cache_part *part,
                      struct at_cache_hits *hits)
{
    struct at_cache_level *l1 = &caches->l1[multiprocessor];
    unsigned sectors = sectors_of(part);

    if (way == AT_CACHE_LOAD)
        load(caches, l1, sectors, policy, part, hits);
    else if (way == AT_CACHE_STORE)
        write_l2(caches, sectors, policy.l2, part, hits);
    else
        atomic(caches, l1, sectors, policy, part, hits);
}

void at_caches_left(const struct at_caches *caches, int64_t *sectors, int64_t *dirty)
{
    *sectors = *dirty = 0;
    for (size_t i = 0; i < caches->l2.sets * caches->l2.ways; i++) {
        const struct at_cache_line *line = &caches->l2.lines[i];

        *sectors += __builtin_popcount(line->valid | line->dirty);
        *dirty += __builtin_popcount(line->dirty);
    }
}
