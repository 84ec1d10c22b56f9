/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic.h"

#include "base/memory.h"
#include "model/cost.h"
#include "model/counts.h"
#include "model/pieces.h"

#include <math.h>
#include <stdlib.h>

/* Neighbours show what one block leaves for the next, a spread over the wave which pages its blocks
 * share. Both are so few that a launch is sampled in some milliseconds. */
enum { NEIGHBOURS = 16, SPREAD = 48 };
static const size_t NONE = SIZE_MAX; /* no instruction */
enum { SECTOR_BYTES = 32, LINE_BYTES = 128, PAGE_SECTORS = AT_TRAFFIC_PAGE_BYTES / SECTOR_BYTES };

struct sample {
    struct at_traffic sums;
    const struct at_cost *costs; /* of the kernel's instructions */
    struct at_pieces touched[2]; /* by the block that runs: loads, stores */
    struct at_pieces loaded;     /* by each of the neighbours */
    double runs[2];              /* unbroken ones, of all blocks */
    struct at_pieces ragged;     /* partial sectors that neighbours stored */
    struct at_pieces pages[2];   /* one for each page that a block of the spread was in */
    double paged_bytes[2];       /* there */
    uint64_t block;
    bool spread;    /* which blocks run now: the spread, or the neighbours */
    size_t loading; /* the instruction of the last access, if it was a global load; else NONE */
};

/* ---- what is seen ---- */

static void end_stores(struct sample *sample, const struct at_pieces *stored)
{
    for (size_t i = 0; i < stored->count; i++) {
        const struct at_piece *piece = &stored->items[i];
        sample->sums.partial_sectors += piece->bytes != UINT32_MAX;
        if (!sample->spread && piece->bytes != UINT32_MAX)
            at_pieces_add(&sample->ragged, piece->sector, piece->bytes);
    }
}

static void end_spread(struct sample *sample, int store)
{
    const struct at_pieces *touched = &sample->touched[store];

    for (size_t i = 0; i < touched->count; i++) {
        const struct at_piece *piece = &touched->items[i];
        uint64_t page = piece->sector / PAGE_SECTORS;

        if (i == 0 || piece[-1].sector / PAGE_SECTORS != page)
            at_pieces_add(&sample->pages[store], page, 0);
    }
    sample->paged_bytes[store] += (double)touched->count * SECTOR_BYTES;
}

static void end_block(struct sample *sample)
{
    for (int store = 0; store < 2; store++) {
        struct at_pieces *touched = &sample->touched[store];
        struct at_traffic_way *way = store ? &sample->sums.store : &sample->sums.load;

        at_pieces_join(touched);
        if (!store && !sample->spread)
            for (size_t i = 0; i < touched->count; i++)
                at_pieces_add(&sample->loaded, touched->items[i].sector, UINT32_MAX);
        way->bytes += (double)touched->count * SECTOR_BYTES;
        for (size_t i = 0; i < touched->count; i++)
            sample->runs[store] +=
                i == 0 || touched->items[i - 1].sector + 1 != touched->items[i].sector;
        if (store)
            end_stores(sample, touched);
        if (sample->spread)
            end_spread(sample, store);
        touched->count = 0;
    }
}

/* An aligned access of at most 16 bytes lies within one sector. */
static void touch(struct at_pieces *touched, const struct at_emu_access *access)
{
    for (int lane = 0; lane < AT_WARP; lane++) {
        uint64_t address = access->address[lane], sector = address / SECTOR_BYTES;
        uint32_t bytes = ((UINT32_C(1) << access->bytes) - 1) << address % SECTOR_BYTES;

        if (!(access->lanes >> lane & 1))
            continue;
        if (touched->count > 0 && touched->items[touched->count - 1].sector == sector)
            touched->items[touched->count - 1].bytes |= bytes;
        else
            at_pieces_add(touched, sector, bytes);
    }
}

static int request_lines(const struct at_emu_access *access)
{
    uint64_t lines[AT_WARP];
    int count = 0;

    for (int lane = 0; lane < AT_WARP; lane++) {
        uint64_t line = access->address[lane] / LINE_BYTES;
        int i = count;

        if (!(access->lanes >> lane & 1))
            continue;
        while (i > 0 && lines[i - 1] != line)
            i--;
        if (i == 0)
            lines[count++] = line;
    }
    return count;
}

static void see_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct sample *sample = context;
    struct at_traffic_way *way = access->store ? &sample->sums.store : &sample->sums.load;
    bool load = !access->shared && !access->store;

    if (block != sample->block)
        end_block(sample);
    sample->block = block;
    /* The machine runs a warp up to its barrier before it turns to the next one: loads with nothing
     * between them are of one warp, and under way together. */
    if (load)
        sample->sums.work.load_rounds += sample->loading == NONE;
    if (load ||
        sample->loading != access->instruction) /* a copy to shared memory is a load still */
        sample->loading = load ? access->instruction : NONE;
    if (access->shared) {
        sample->sums.work.wavefronts += at_request_wavefronts(access);
        return;
    }
    way->requests++;
    way->sectors += at_request_sectors(access);
    if (sample->costs[access->instruction].streaming)
        way->streamed += at_request_sectors(access);
    way->lines += request_lines(access);
    touch(&sample->touched[access->store], access);
}

static void see_instruction(void *context, uint64_t block, size_t instruction, uint32_t lanes)
{
    struct sample *sample = context;
    const struct at_cost *cost = &sample->costs[instruction];

    (void)block;
    (void)lanes;
    sample->sums.work.slots += cost->slots;
    sample->sums.work.shuffles += cost->shuffles;
    sample->sums.work.barriers += cost->barriers;
    if (cost->waits)
        sample->loading = NONE;
}

/* ---- what is made of it ---- */

/* How many blocks of a wave store in one page, when of the visits of a random `part` of the blocks
 * only `distinct` (a fraction) were to pages that none had been in before. With m blocks a page,
 * the part is expected to meet (1 - (1 - part)^m) / (part m) of them for the first time, which
 * falls with m. */
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

static double page_bytes(struct sample *sample, int store, double part)
{
    double visits = (double)sample->pages[store].count, bytes;

    if (visits == 0)
        return AT_TRAFFIC_PAGE_BYTES;
    at_pieces_join(&sample->pages[store]);
    bytes = sample->paged_bytes[store] / visits *
            sharing((double)sample->pages[store].count / visits, part);
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
    way->lines /= blocks;
    way->bytes /= blocks;
}

/* The part of what blocks loaded that others of them loaded too. */
static double overlap_of(struct at_pieces *loaded)
{
    double count = (double)loaded->count;

    at_pieces_join(loaded);
    return count > 0 ? 1 - (double)loaded->count / count : 0;
}

static struct at_traffic average(struct sample *sample, double warps, double neighbours,
                                 double spread, double wave)
{
    struct at_traffic traffic = sample->sums;
    double sampled = neighbours + spread;

    traffic.work.load_requests = traffic.load.requests;
    average_work(&traffic.work, sampled, warps);
    traffic.overlap = overlap_of(&sample->loaded);
    traffic.partial_sectors /= sampled;
    at_pieces_join(&sample->ragged);
    for (size_t i = 0; i < sample->ragged.count; i++)
        traffic.far_partial_sectors += sample->ragged.items[i].bytes != UINT32_MAX;
    traffic.far_partial_sectors /= neighbours;
    traffic.load.page_bytes = page_bytes(sample, 0, spread / wave);
    traffic.store.page_bytes = page_bytes(sample, 1, spread / wave);
    average_way(&traffic.load, sample->runs[0], sampled);
    average_way(&traffic.store, sample->runs[1], sampled);
    return traffic;
}

/* One block of each of `count` equal parts of the wave, at a place within its part that is always
 * the same and follows no pattern: even steps might fall in with the rows of tiles. */
static void choose_spread(uint64_t *chosen, uint64_t count, uint64_t first, uint64_t wave)
{
    uint64_t random = 12345;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t begin = wave * i / count, end = wave * (i + 1) / count;

        /* Knuth's linear congruential generator, MMIX. */
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        chosen[i] = first + begin + (random >> 33) % (end - begin);
    }
}

static enum at_status run(struct sample *sample, struct at_emu_memory *memory,
                          const struct at_emu_launch *emu, const uint64_t *chosen, size_t count,
                          struct at_error *err)
{
    const struct at_emu_observer observer = {
        .context = sample, .access = see_access, .executed = see_instruction};
    struct at_emu_launch part = *emu;
    struct at_emu_fault fault = {0};
    enum at_status status;

    part.threads = 1; /* the sums are nobody else's */
    part.observer = &observer;
    part.only_blocks = chosen;
    part.only_block_count = count;
    sample->block = chosen[0];
    sample->loading = NONE;
    status = at_emu_run(memory, &part, &fault, err);
    end_block(sample);
    if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
        status = at_fail(err, AT_FAILED, "%s", fault.message);
    return status;
}

/* One block by itself. */
static enum at_status run_edge(const struct sample *whole, struct at_traffic_work *work,
                               struct at_emu_memory *memory, const struct at_emu_launch *emu,
                               uint64_t block, double warps, struct at_error *err)
{
    struct sample sample = {.costs = whole->costs, .spread = true};
    enum at_status status = run(&sample, memory, emu, &block, 1, err);

    sample.sums.work.load_requests = sample.sums.load.requests;
    average_work(&sample.sums.work, 1, warps);
    *work = sample.sums.work;
    free(sample.touched[0].items);
    free(sample.touched[1].items);
    free(sample.pages[0].items);
    free(sample.pages[1].items);
    return status;
}

enum at_status at_traffic_sample(struct at_traffic *traffic, struct at_emu_memory *memory,
                                 const struct at_emu_launch *emu, int64_t wave_blocks,
                                 struct at_error *err)
{
    struct sample sample = {0};
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

    sample.costs = costs;
    for (uint64_t i = 0; i < neighbours; i++)
        chosen[i] = first + (wave - neighbours) / 2 + i;
    status = run(&sample, memory, emu, chosen, neighbours, err);
    if (status == AT_OK) {
        sample.spread = true;
        choose_spread(chosen, spread, first, wave);
        status = run(&sample, memory, emu, chosen, spread, err);
    }
    for (uint64_t end = 0; end < 2 && status == AT_OK; end++) {
        const uint64_t block = end * (blocks - 1);

        status = run_edge(&sample, &edges[end], memory, emu, block, warps, err);
    }
    if (status == AT_OK) {
        *traffic = average(&sample, warps, (double)neighbours, (double)spread, (double)wave);
        traffic->blocks = (int64_t)blocks;
        traffic->edge = edges[edges[1].load_rounds > edges[0].load_rounds];
    }
    free(sample.touched[0].items);
    free(sample.touched[1].items);
    free(sample.loaded.items);
    free(sample.ragged.items);
    free(sample.pages[0].items);
    free(sample.pages[1].items);
    free(costs);
    return status;
}
