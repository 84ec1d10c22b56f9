/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/count.h"

#include "base/memory.h"
#include "cache/replay.h"
#include "ptx/ptx.h"

#include <stdlib.h>

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t bytes_of(int64_t sectors)
{
    return sectors * AT_CACHE_SECTOR_BYTES;
}

static uint64_t blocks_of(const struct at_emu_launch *launch)
{
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

static bool is_sample(const struct at_cache_range *range, uint64_t blocks)
{
    return range->counted < blocks;
}

static uint64_t wave_of(const struct at_cache_shape *shape)
{
    return (uint64_t)(shape->multiprocessors * shape->blocks);
}

/* A grid that is soon counted. */
static bool is_small(const struct at_cache_shape *shape, const struct at_emu_launch *launch)
{
    uint64_t block_threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];

    return blocks_of(launch) * block_threads <= AT_CACHE_SMALL_THREADS ||
           blocks_of(launch) <= 2 * wave_of(shape);
}

/* The whole grid, or two waves in its middle. */
static struct at_cache_range choose_range(const struct at_cache_shape *shape,
                                          const struct at_emu_launch *launch, int64_t whole)
{
    uint64_t blocks = blocks_of(launch), wave = wave_of(shape);

    if (is_small(shape, launch) || blocks <= (uint64_t)whole)
        return (struct at_cache_range){.counted = blocks};
    return (struct at_cache_range){blocks / 2 - wave, wave, wave};
}

static void add_hits(struct at_cache_counts *counts, size_t instructions, double scale)
{
    struct at_cache_hits sums = {0};

    for (size_t i = 0; i < instructions; i++) {
        sums.l1_sectors += counts->instructions[i].l1_sectors;
        sums.l1_hits += counts->instructions[i].l1_hits;
        sums.l2_sectors += counts->instructions[i].l2_sectors;
        sums.l2_hits += counts->instructions[i].l2_hits;
    }
    counts->l1_sectors = (int64_t)((double)sums.l1_sectors * scale);
    counts->l1_hits = (int64_t)((double)sums.l1_hits * scale);
    counts->l2_sectors = (int64_t)((double)sums.l2_sectors * scale);
    counts->l2_hits = (int64_t)((double)sums.l2_hits * scale);
}

/* The bytes that the full grid writes to DRAM. A sample ends with written sectors in L2 that the
 * rest of the grid would evict. So each counts as written to DRAM, except as many as L2 holds at
 * the end. L2 is full then, and has the same share of written data as in the sample. */
static void add_writes(struct at_cache_counts *counts, const struct at_caches *caches, bool sample,
                       double scale)
{
    int64_t kept, dirty, written = caches->flow[0].l2_to_dram + caches->flow[1].l2_to_dram;
    int64_t room = caches->shape.l2_bytes / AT_CACHE_SECTOR_BYTES, all;

    at_caches_left(caches, &kept, &dirty);
    if (!sample) {
        counts->l2_to_dram_bytes = bytes_of(written);
        counts->left_in_l2_bytes = bytes_of(dirty);
        return;
    }
    all = (int64_t)((double)(written + dirty) * scale);
    dirty = kept ? (int64_t)((double)room * (double)dirty / (double)kept) : 0;
    dirty = smaller(dirty, all);
    counts->left_in_l2_bytes = bytes_of(dirty);
    counts->l2_to_dram_bytes = bytes_of(all - dirty);
}

static void collect(struct at_cache_counts *counts, const struct at_caches *caches,
                    const struct at_cache_range *range, uint64_t blocks, size_t instructions)
{
    const struct at_cache_flow *flow = &caches->flow[true];
    double scale = (double)blocks / (double)range->counted;

    counts->shape = caches->shape;
    counts->blocks = (int64_t)range->counted;
    counts->warm_dram_to_l2_bytes = -1;
    add_hits(counts, instructions, scale);
    counts->l2_to_l1_bytes = (int64_t)((double)bytes_of(flow->l2_to_l1) * scale);
    counts->l1_to_l2_bytes = (int64_t)((double)bytes_of(flow->l1_to_l2) * scale);
    counts->dram_to_l2_bytes = (int64_t)((double)bytes_of(flow->dram_to_l2) * scale);
    add_writes(counts, caches, is_sample(range, blocks),
               (double)blocks / (double)(range->warming + range->counted));
}

/* Launch the full grid again, with the data that the first launch left in L2. */
static enum at_status count_warm(struct at_cache_counts *counts, struct at_caches *caches,
                                 struct at_emu_memory *memory, const struct at_emu_launch *launch,
                                 const struct at_cache_range *range, size_t instructions,
                                 struct at_error *err)
{
    struct at_cache_hits *hits = at_alloc_array(instructions, sizeof *hits);
    enum at_status status;

    at_caches_begin_launch(caches);
    status = at_cache_replay(caches, memory, launch, range, hits, err);
    counts->warm_dram_to_l2_bytes = bytes_of(caches->flow[true].dram_to_l2);
    free(hits);
    return status;
}

enum at_status at_cache_count(struct at_cache_counts *counts, const struct at_cache_shape *shape,
                              struct at_emu_memory *memory, const struct at_emu_launch *launch,
                              int64_t whole, struct at_error *err)
{
    size_t instructions = at_ptx_kernel_instructions(launch->kernel);
    const struct at_cache_range range = choose_range(shape, launch, whole);
    uint64_t blocks = blocks_of(launch);
    struct at_caches caches;
    struct at_cache_counts made = {.instructions =
                                       at_alloc_array(instructions, sizeof *made.instructions)};
    enum at_status status;

    at_caches_make(&caches, shape);
    status = at_cache_replay(&caches, memory, launch, &range, made.instructions, err);
    if (status == AT_OK) {
        collect(&made, &caches, &range, blocks, instructions);
        if (is_small(shape, launch))
            status = count_warm(&made, &caches, memory, launch, &range, instructions, err);
    }
    at_caches_clear(&caches);
    if (status == AT_OK)
        *counts = made;
    else
        free(made.instructions);
    return status;
}
