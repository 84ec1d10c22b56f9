/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic.h"

#include "base/memory.h"
#include "model/traffic_seen.h"

#include <math.h>
#include <stdlib.h>

/* The sample: neighbours, which show the sectors that adjacent blocks share, and blocks spread over
 * the wave, which show the pages that blocks share. These numbers take some milliseconds. */
enum { NEIGHBOURS = 16, SPREAD = 48 };

/* Estimate how many blocks of a wave touch the same page. A random `part` of the blocks was run,
 * and only the fraction `distinct` of its visits were to new pages. With m blocks per page, the
 * expected fraction is (1 - (1 - part)^m) / (part m), which falls with m. */
static double sharing(double distinct, double part)
{
    double low = 1, high = 1e6;

    for (int i = 0; i < 60; i++) {
        double m = sqrt(low * high);

        if (1 - pow(1 - part, m) > distinct * part * m)
            low = m;
        else
            high = m;
    }
    return low;
}

static double page_bytes(struct at_traffic_seen *seen, int store, double part)
{
    double visits = (double)seen->pages[store].count, bytes;

    if (visits == 0)
        return AT_TRAFFIC_PAGE_BYTES;
    at_pieces_join(&seen->pages[store]);
    bytes = seen->paged_bytes[store] / visits *
            sharing((double)seen->pages[store].count / visits, part);
    return fmin(bytes, AT_TRAFFIC_PAGE_BYTES);
}

static void average_work(struct at_traffic_work *work, double blocks, double warps)
{
    work->slots /= blocks;
    work->shuffles /= blocks;
    work->wavefronts /= blocks;
    work->barriers /= blocks * warps;
    work->load_requests /= blocks * warps;
    work->load_rounds /= blocks * warps;
}

static void average_way(struct at_traffic_way *way, double runs, double blocks)
{
    way->run_bytes = runs > 0 ? way->bytes / runs : 0;
    way->requests /= blocks;
    way->sectors /= blocks;
    way->streamed /= blocks;
    way->repeated /= blocks;
    way->lines /= blocks;
    way->bytes /= blocks;
}

/* The part of the loaded sectors that another block loaded too. */
static double overlap_of(struct at_pieces *loaded)
{
    double count = (double)loaded->count;

    at_pieces_join(loaded);
    return count > 0 ? 1 - (double)loaded->count / count : 0;
}

static struct at_traffic average(struct at_traffic_seen *seen, double warps, double neighbours,
                                 double spread, double wave)
{
    struct at_traffic traffic = seen->sums;
    double sampled = neighbours + spread;

    traffic.work.load_requests = traffic.load.requests;
    average_work(&traffic.work, sampled, warps);
    traffic.overlap = overlap_of(&seen->loaded);
    traffic.partial_sectors /= sampled;
    at_pieces_join(&seen->ragged);
    for (size_t i = 0; i < seen->ragged.count; i++)
        traffic.far_partial_sectors += seen->ragged.items[i].bytes != UINT32_MAX;
    traffic.far_partial_sectors /= neighbours;
    traffic.load.page_bytes = page_bytes(seen, 0, spread / wave);
    traffic.store.page_bytes = page_bytes(seen, 1, spread / wave);
    average_way(&traffic.load, seen->runs[0], sampled);
    average_way(&traffic.store, seen->runs[1], sampled);
    return traffic;
}

/* Choose a random block in each of `count` equal parts of the wave: even steps might follow the
 * rows of tiles. The choice is the same for every run. */
static void choose_spread(uint64_t *chosen, uint64_t count, uint64_t first, uint64_t wave)
{
    uint64_t random = 12345;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t begin = wave * i / count, end = wave * (i + 1) / count;

        /* Knuth's linear congruential generator, MMIX. Another one would change all predictions,
         * and the rates in tuning/devices were fitted to these. */
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        chosen[i] = first + begin + (random >> 33) % (end - begin);
    }
}

/* Run one block alone. */
static enum at_status run_edge(const struct at_traffic_seen *whole, struct at_traffic_work *work,
                               struct at_emu_memory *memory, const struct at_emu_launch *emu,
                               uint64_t block, double warps, struct at_error *err)
{
    struct at_traffic_seen seen = {.costs = whole->costs, .spread = true};
    enum at_status status = at_traffic_see(&seen, memory, emu, &block, 1, err);

    seen.sums.work.load_requests = seen.sums.load.requests;
    average_work(&seen.sums.work, 1, warps);
    *work = seen.sums.work;
    at_traffic_seen_clear(&seen);
    return status;
}

enum at_status at_traffic_sample(struct at_traffic *traffic, struct at_emu_memory *memory,
                                 const struct at_emu_launch *emu, int64_t wave_blocks,
                                 struct at_error *err)
{
    struct at_traffic_seen seen = {0};
    uint64_t blocks = (uint64_t)emu->grid[0] * emu->grid[1] * emu->grid[2];
    uint64_t threads = (uint64_t)emu->block[0] * emu->block[1] * emu->block[2];
    uint64_t wave = (uint64_t)wave_blocks < blocks ? (uint64_t)wave_blocks : blocks;
    uint64_t neighbours = wave < NEIGHBOURS ? wave : NEIGHBOURS;
    uint64_t spread = wave < SPREAD ? wave : SPREAD;
    uint64_t first = (blocks - wave) / 2; /* the wave in the middle of the grid */
    uint64_t chosen[SPREAD] = {0};
    double warps = (double)((threads + AT_WARP - 1) / AT_WARP);
    struct at_traffic_work edges[2] = {0};
    struct at_cost *costs = at_costs_of(emu->kernel);
    enum at_status status;

    seen.costs = costs;
    for (uint64_t i = 0; i < neighbours; i++)
        chosen[i] = first + (wave - neighbours) / 2 + i;
    status = at_traffic_see(&seen, memory, emu, chosen, neighbours, err);
    if (status == AT_OK) {
        seen.spread = true;
        choose_spread(chosen, spread, first, wave);
        status = at_traffic_see(&seen, memory, emu, chosen, spread, err);
    }
    for (uint64_t end = 0; end < 2 && status == AT_OK; end++) {
        const uint64_t block = end * (blocks - 1);

        status = run_edge(&seen, &edges[end], memory, emu, block, warps, err);
    }
    if (status == AT_OK) {
        *traffic = average(&seen, warps, (double)neighbours, (double)spread, (double)wave);
        traffic->blocks = (int64_t)blocks;
        traffic->edge = edges[edges[1].load_rounds > edges[0].load_rounds];
    }
    at_traffic_seen_clear(&seen);
    free(costs);
    return status;
}
