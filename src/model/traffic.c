/* SPDX-License-Identifier: Apache-2.0 */
#include "model/traffic.h"

#include "base/memory.h"
#include "model/counts.h"

#include <math.h>
#include <stdlib.h>

/* Neighbours show what one block leaves for the next, a spread over the wave which pages its blocks
 * share. Both are so few that a launch is sampled in some milliseconds. */
enum { NEIGHBOURS = 16, SPREAD = 48 };
enum { SECTOR_BYTES = 32, LINE_BYTES = 128, PAGE_SECTORS = AT_TRAFFIC_PAGE_BYTES / SECTOR_BYTES };

/* A sector with a bit for each of its bytes that was touched. */
struct piece {
    uint64_t sector;
    uint32_t bytes;
};

struct pieces {
    struct piece *items;
    size_t count, capacity;
};

struct sample {
    struct at_traffic sums;
    struct pieces touched[2]; /* by the block that runs: loads, stores */
    double runs[2];           /* unbroken ones, of all blocks */
    struct pieces ragged;     /* partial sectors that neighbours stored */
    struct pieces pages;      /* one for each page that a block of the spread stored in */
    double paged_bytes;       /* stored there */
    uint64_t block;
    bool spread;  /* which blocks run now: the spread, or the neighbours */
    bool loading; /* the last access was a global load */
};

static void push(struct pieces *pieces, uint64_t sector, uint32_t bytes)
{
    const struct piece piece = {sector, bytes};

    AT_PUSH(pieces->items, pieces->count, pieces->capacity, piece);
}

static int by_sector(const void *left, const void *right)
{
    uint64_t a = ((const struct piece *)left)->sector, b = ((const struct piece *)right)->sector;

    return (a > b) - (a < b);
}

/* Sorts, and makes one of the pieces of each sector. */
static void join(struct pieces *pieces)
{
    size_t kept = 0;

    if (pieces->count > 0)
        qsort(pieces->items, pieces->count, sizeof pieces->items[0], by_sector);
    for (size_t i = 0; i < pieces->count; i++) {
        if (kept > 0 && pieces->items[kept - 1].sector == pieces->items[i].sector)
            pieces->items[kept - 1].bytes |= pieces->items[i].bytes;
        else
            pieces->items[kept++] = pieces->items[i];
    }
    pieces->count = kept;
}

/* ---- what is seen ---- */

static void end_stores(struct sample *sample, const struct pieces *stored)
{
    for (size_t i = 0; i < stored->count; i++) {
        const struct piece *piece = &stored->items[i];
        uint64_t page = piece->sector / PAGE_SECTORS;

        sample->sums.partial_sectors += piece->bytes != UINT32_MAX;
        if (!sample->spread && piece->bytes != UINT32_MAX)
            push(&sample->ragged, piece->sector, piece->bytes);
        if (sample->spread && (i == 0 || piece[-1].sector / PAGE_SECTORS != page))
            push(&sample->pages, page, 0);
    }
    if (sample->spread)
        sample->paged_bytes += (double)stored->count * SECTOR_BYTES;
}

static void end_block(struct sample *sample)
{
    for (int store = 0; store < 2; store++) {
        struct pieces *touched = &sample->touched[store];
        struct at_traffic_way *way = store ? &sample->sums.store : &sample->sums.load;

        join(touched);
        way->bytes += (double)touched->count * SECTOR_BYTES;
        for (size_t i = 0; i < touched->count; i++)
            sample->runs[store] +=
                i == 0 || touched->items[i - 1].sector + 1 != touched->items[i].sector;
        if (store)
            end_stores(sample, touched);
        touched->count = 0;
    }
}

/* An aligned access of at most 16 bytes lies within one sector. */
static void touch(struct pieces *touched, const struct at_emu_access *access)
{
    for (int lane = 0; lane < AT_WARP; lane++) {
        uint64_t address = access->address[lane], sector = address / SECTOR_BYTES;
        uint32_t bytes = ((UINT32_C(1) << access->bytes) - 1) << address % SECTOR_BYTES;

        if (!(access->lanes >> lane & 1))
            continue;
        if (touched->count > 0 && touched->items[touched->count - 1].sector == sector)
            touched->items[touched->count - 1].bytes |= bytes;
        else
            push(touched, sector, bytes);
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
    sample->sums.load_rounds += load && !sample->loading;
    sample->loading = load;
    if (access->shared) {
        sample->sums.wavefronts += at_request_wavefronts(access);
        return;
    }
    way->requests++;
    way->sectors += at_request_sectors(access);
    way->lines += request_lines(access);
    touch(&sample->touched[access->store], access);
}

static void see_instruction(void *context, uint64_t block, size_t instruction, uint32_t lanes)
{
    struct sample *sample = context;

    (void)block;
    (void)instruction;
    (void)lanes;
    sample->sums.instructions++;
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

static double page_bytes(struct sample *sample, double part)
{
    double visits = (double)sample->pages.count, bytes;

    if (visits == 0)
        return AT_TRAFFIC_PAGE_BYTES;
    join(&sample->pages);
    bytes = sample->paged_bytes / visits * sharing((double)sample->pages.count / visits, part);
    return fmin(bytes, AT_TRAFFIC_PAGE_BYTES);
}

static void average_way(struct at_traffic_way *way, double runs, double blocks)
{
    way->run_bytes = runs > 0 ? way->bytes / runs : 0;
    way->requests /= blocks;
    way->sectors /= blocks;
    way->lines /= blocks;
    way->bytes /= blocks;
}

static struct at_traffic average(struct sample *sample, double warps, double neighbours,
                                 double spread, double wave)
{
    struct at_traffic traffic = sample->sums;
    double sampled = neighbours + spread;

    traffic.instructions /= sampled;
    traffic.wavefronts /= sampled;
    traffic.load_rounds /= sampled * warps;
    traffic.partial_sectors /= sampled;
    join(&sample->ragged);
    for (size_t i = 0; i < sample->ragged.count; i++)
        traffic.far_partial_sectors += sample->ragged.items[i].bytes != UINT32_MAX;
    traffic.far_partial_sectors /= neighbours;
    traffic.page_bytes = page_bytes(sample, spread / wave);
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
    status = at_emu_run(memory, &part, &fault, err);
    end_block(sample);
    if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
        status = at_fail(err, AT_FAILED, "%s", fault.message);
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
    enum at_status status;

    for (uint64_t i = 0; i < neighbours; i++)
        chosen[i] = first + (wave - neighbours) / 2 + i;
    status = run(&sample, memory, emu, chosen, neighbours, err);
    if (status == AT_OK) {
        sample.spread = true;
        choose_spread(chosen, spread, first, wave);
        status = run(&sample, memory, emu, chosen, spread, err);
    }
    if (status == AT_OK) {
        *traffic = average(&sample, (double)((threads + AT_WARP - 1) / AT_WARP), (double)neighbours,
                           (double)spread, (double)wave);
        traffic->blocks = (int64_t)blocks;
    }
    free(sample.touched[0].items);
    free(sample.touched[1].items);
    free(sample.ragged.items);
    free(sample.pages.items);
    return status;
}
