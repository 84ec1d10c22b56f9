/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/time/traffic.h"

#include "base/hash.h"
#include "base/memory.h"
#include "emulated/machine/op.h"
#include "emulated/time/requests.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct piece {
    uint64_t sector;
    uint32_t bytes; /* a bit per byte touched */
};

struct pieces {
    struct piece *items; /* the caller frees them */
    size_t count, capacity;
};

struct cost {
    int slots;      /* issue slots */
    int shuffles;   /* exchanges between the lanes of a warp */
    int barriers;   /* of the block */
    bool streaming; /* an access that asks the caches not to keep its data */
    bool read_only; /* a load that no store holds up */
    bool waits;     /* for asynchronous copies, or at a loop's end for what the loop loads */
    int wavefronts; /* of a step in shared memory */
};

enum {
    RECENT = 4096, /* 128 KB: about what L1 has, beside shared memory */
    WARPS_MAX = 32,
};

struct traffic_seen {
    struct at_traffic sums;
    const struct cost *costs;        /* of the kernel's instructions */
    struct at_atomics_seen *atomics; /* NULL: not looked at */
    /* Arrays of two: loads, stores. */
    struct pieces touched[2]; /* sectors of the current block */
    struct pieces loaded;     /* sectors of each neighbour */
    double runs[2];           /* of adjacent sectors, summed over blocks */
    struct pieces ragged;     /* partial sectors stored by neighbours */
    struct pieces pages[2];   /* touched by each block of the spread */
    double paged_bytes[2];    /* of the blocks of the spread */
    uint64_t block;
    /* The sectors that warps of the current block loaded lately, which L1 may still hold. */
    uint64_t recent[RECENT];
    bool is_far;                 /* a load of the current round is not in L1 */
    int warp_lanes;              /* of a block's warps, at most */
    double *idle_slots;          /* of lanes, by instruction; NULL: not counted */
    struct at_emu_access stored; /* the last store of the current block; no lanes: none */
    bool spread;                 /* the current blocks are the spread; else the neighbours */
    size_t loading; /* the instruction of the last global load of the current round; else NONE */
    uint32_t loading_warp;
    bool is_held; /* a store came after it */
};

enum { SECTOR_BYTES = 32 };

static void pieces_add(struct pieces *pieces, uint64_t sector, uint32_t bytes)
{
    const struct piece piece = {sector, bytes};

    AT_PUSH(pieces->items, pieces->count, pieces->capacity, piece);
}

static int by_sector(const void *left, const void *right)
{
    uint64_t a = ((const struct piece *)left)->sector;
    uint64_t b = ((const struct piece *)right)->sector;

    return (a > b) - (a < b);
}

/* Sorts the pieces and joins those of the same sector. */
static void pieces_join(struct pieces *pieces)
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

static const size_t NONE = SIZE_MAX; /* no instruction */
enum { PAGE_SECTORS = AT_TRAFFIC_PAGE_BYTES / SECTOR_BYTES };

static void end_stores(struct traffic_seen *seen, const struct pieces *stored)
{
    for (size_t i = 0; i < stored->count; i++) {
        const struct piece *piece = &stored->items[i];
        seen->sums.partial_sectors += piece->bytes != UINT32_MAX;
        if (!seen->spread && piece->bytes != UINT32_MAX)
            pieces_add(&seen->ragged, piece->sector, piece->bytes);
    }
}

static void end_spread(struct traffic_seen *seen, int store)
{
    const struct pieces *touched = &seen->touched[store];

    for (size_t i = 0; i < touched->count; i++) {
        const struct piece *piece = &touched->items[i];
        uint64_t page = piece->sector / PAGE_SECTORS;

        if (i == 0 || piece[-1].sector / PAGE_SECTORS != page)
            pieces_add(&seen->pages[store], page, 0);
    }
    seen->paged_bytes[store] += (double)touched->count * SECTOR_BYTES;
}

static void end_block(struct traffic_seen *seen)
{
    for (int store = 0; store < 2; store++) {
        struct pieces *touched = &seen->touched[store];
        struct at_traffic_way *way = store ? &seen->sums.store : &seen->sums.load;

        pieces_join(touched);
        if (!store && !seen->spread)
            for (size_t i = 0; i < touched->count; i++)
                pieces_add(&seen->loaded, touched->items[i].sector, UINT32_MAX);
        way->bytes += (double)touched->count * SECTOR_BYTES;
        for (size_t i = 0; i < touched->count; i++)
            seen->runs[store] +=
                i == 0 || touched->items[i - 1].sector + 1 != touched->items[i].sector;
        if (store)
            end_stores(seen, touched);
        if (seen->spread)
            end_spread(seen, store);
        touched->count = 0;
    }
}

/* An aligned access of at most 16 bytes lies within one sector. */
static void touch(struct pieces *touched, const struct at_emu_access *access)
{
    AT_EACH_OF (lane, access->lanes) {
        uint64_t address = access->address[lane], sector = address / SECTOR_BYTES;
        uint32_t bytes = ((UINT32_C(1) << access->bytes) - 1) << address % SECTOR_BYTES;

        if (touched->count > 0 && touched->items[touched->count - 1].sector == sector)
            touched->items[touched->count - 1].bytes |= bytes;
        else
            pieces_add(touched, sector, bytes);
    }
}

/* A load makes its round one that goes past L1, if it asks for a sector that its warp did not load
 * lately. What other warps asked for may be on its way as long as this. */
static void look_into_l1(struct traffic_seen *seen, const struct at_emu_access *access)
{
    uint64_t last = 0;

    AT_EACH_OF (lane, access->lanes) {
        const uint64_t sector = access->address[lane] / SECTOR_BYTES;
        const uint64_t own = sector * WARPS_MAX + (uint64_t)access->warp;
        uint64_t *recent;

        if (own == last)
            continue;
        last = own;
        recent = &seen->recent[at_hash64(&own, sizeof own, 0) % RECENT];
        if (*recent == own)
            continue;
        *recent = own;
        seen->sums.work.far_rounds += !seen->is_far;
        seen->is_far = true;
    }
}

static bool same_sectors(const struct at_emu_access *a, const struct at_emu_access *b)
{
    if (a->lanes != b->lanes)
        return false;
    AT_EACH_OF (lane, a->lanes)
        if (a->address[lane] / SECTOR_BYTES != b->address[lane] / SECTOR_BYTES)
            return false;
    return true;
}

/* A store to the sectors that the warp's last store went to, such as of a structure's next field,
 * meets that one on its way. */
static void see_store(struct traffic_seen *seen, const struct at_emu_access *access)
{
    if (seen->stored.warp == access->warp && same_sectors(&seen->stored, access))
        seen->sums.store.repeated += at_request_sectors(access);
    seen->stored = *access;
}

static void begin_block(struct traffic_seen *seen)
{
    seen->stored.lanes = 0;
    seen->loading = NONE;
    memset(seen->recent, 0, sizeof seen->recent);
}

static void see_load(struct traffic_seen *seen, const struct at_emu_access *access)
{
    bool waits = seen->is_held && !seen->costs[access->instruction].read_only;

    if (seen->loading == NONE || waits || access->warp != seen->loading_warp) {
        seen->sums.work.load_rounds++;
        seen->is_far = false;
    }
    seen->is_held = false;
    seen->loading = access->instruction;
    seen->loading_warp = access->warp;
    look_into_l1(seen, access);
}

static void see_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct traffic_seen *seen = context;
    struct at_traffic_way *way = access->store ? &seen->sums.store : &seen->sums.load;
    bool load = !access->shared && !access->store;

    if (block != seen->block) {
        end_block(seen);
        begin_block(seen);
    }
    seen->block = block;
    /* The machine runs a warp up to its barrier before the next warp. So consecutive loads are of
     * one warp, and in flight together. */
    if (load)
        see_load(seen, access);
    /* An asynchronous copy stays a load. A table in shared memory may be read between two loads. */
    else if (access->store && seen->loading != access->instruction)
        seen->is_held = true;
    if (access->shared) {
        seen->sums.work.wavefronts +=
            at_request_wavefronts(access) * seen->costs[access->instruction].wavefronts;
        return;
    }
    if (access->store)
        see_store(seen, access);
    if (access->atomic && seen->atomics)
        at_atomics_see(seen->atomics, block, access);
    way->requests++;
    way->sectors += at_request_sectors(access);
    if (seen->costs[access->instruction].streaming)
        way->streamed += at_request_sectors(access);
    way->lines += at_request_lines(access);
    touch(&seen->touched[access->store], access);
}

static void see_instruction(void *context, uint64_t block, size_t instruction, uint32_t lanes)
{
    struct traffic_seen *seen = context;
    const struct cost *cost = &seen->costs[instruction];

    (void)block;
    seen->sums.work.slots += cost->slots;
    if (seen->idle_slots)
        seen->idle_slots[instruction] +=
            cost->slots * (1 - (double)__builtin_popcount(lanes) / seen->warp_lanes);
    seen->sums.work.shuffles += cost->shuffles;
    seen->sums.work.barriers += cost->barriers;
    if (cost->waits)
        seen->loading = NONE;
}

/* Runs some blocks and adds their accesses. AT_FAILED with the message of a fault. */
static enum at_status traffic_see(struct traffic_seen *seen, struct at_emu_memory *memory,
                                  const struct at_emu_launch *emu, const uint64_t *blocks,
                                  size_t count, struct at_error *err)
{
    const struct at_emu_observer observer = {
        .context = seen, .access = see_access, .executed = see_instruction};
    struct at_emu_launch part = *emu;
    struct at_emu_fault fault = {0};
    enum at_status status;

    part.threads = 1; /* the sums are not atomic */
    part.observer = &observer;
    part.only_blocks = blocks;
    part.only_block_count = count;
    seen->block = blocks[0];
    begin_block(seen);
    status = at_emu_run(memory, &part, &fault, err);
    end_block(seen);
    if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
        status = at_fail(err, AT_FAILED, "%s", fault.message);
    return status;
}

/* Frees all but the costs, which are borrowed. */
static void traffic_seen_clear(struct traffic_seen *seen)
{
    for (int store = 0; store < 2; store++) {
        free(seen->touched[store].items);
        free(seen->pages[store].items);
    }
    free(seen->idle_slots);
    free(seen->loaded.items);
    free(seen->ragged.items);
}

/* Issue slots by the beginning of an instruction's text; the first match counts. These estimate the
 * code of ptxas: moves mostly vanish, and other instructions read parameters directly. Registers
 * have 32 bits, so 64-bit values take two instructions or more. A division takes many. */
static const struct {
    const char *begin;
    int slots;
} slots_of[] = {
    {"mov.", 0},        {"ld.param", 0},
    {"cvta", 0},        {"div.u64", 70},
    {"div.s64", 70},    {"rem.u64", 70},
    {"rem.s64", 70},    {"div.", 18},
    {"rem.", 18},       {"mul.lo.s64", 4},
    {"mul.lo.u64", 4},  {"mad.lo.s64", 4},
    {"mul.wide", 2},    {"mad.wide", 2},
    {"add.s64", 2},     {"sub.s64", 2},
    {"shl.b64", 2},     {"shr.u64", 2},
    {"shr.s64", 2},     {"and.b64", 2},
    {"or.b64", 2},      {"setp.lt.s64", 2},
    {"setp.gt.s64", 2}, {"setp.le.s64", 2},
    {"setp.ge.s64", 2}, {"", 1},
};

static bool begins(const char *text, const char *begin)
{
    return strncmp(text, begin, strlen(begin)) == 0;
}

static struct cost cost_of(const char *text)
{
    struct cost cost = {0};
    size_t i = 0;

    if (*text == '@') { /* a guard */
        text += strcspn(text, " \t");
        text += strspn(text, " \t");
    }
    while (!begins(text, slots_of[i].begin))
        i++;
    cost.slots = slots_of[i].slots;
    cost.shuffles = begins(text, "shfl") || begins(text, "movmatrix");
    cost.barriers = begins(text, "bar");
    cost.waits = begins(text, "cp.async.wait");
    cost.streaming = strstr(text, ".cs.") != NULL;
    cost.wavefronts = begins(text, "atom") || begins(text, "red") ? at_atomic_wavefronts(text) : 1;
    return cost;
}

static bool is_global_load(const char *text)
{
    return begins(text, "ld.global") || begins(text, "ld.volatile.global");
}

static bool reads(const struct at_emu_op *op, uint32_t row)
{
    for (int i = op->result_count; i < op->row_count; i++)
        if (op->row[i] == row)
            return true;
    return op->address == row;
}

/* Does something in the loop read what this load brings? */
static bool is_used(const struct at_ptx_kernel *kernel, size_t begin, size_t end, size_t load)
{
    for (size_t i = begin; i < end; i++)
        for (int k = 0; k < kernel->ops[load].result_count; k++)
            if (reads(&kernel->ops[i], kernel->ops[load].row[k]))
                return true;
    return false;
}

/* The next iteration of a loop cannot begin before this one has used what it loaded. */
static bool is_waiting_loop(const struct at_ptx_kernel *kernel, size_t end)
{
    const struct at_emu_op *branch = &kernel->ops[end];

    if (branch->flow != AT_EMU_BRANCH || branch->target > end)
        return false;
    for (size_t i = branch->target; i < end; i++)
        if (is_global_load(kernel->ops[i].text) && is_used(kernel, branch->target, end, i))
            return true;
    return false;
}

/* The costs of a kernel's instructions, in their order; the caller frees them. */
static struct cost *costs_of(const struct at_ptx_kernel *kernel)
{
    size_t count = kernel->op_count;
    struct cost *costs = at_alloc_array(count, sizeof *costs);

    for (size_t i = 0; i < count; i++) {
        costs[i] = cost_of(kernel->ops[i].text);
        costs[i].read_only = kernel->ops[i].order & AT_EMU_READ_ONLY_LOAD;
        costs[i].waits = costs[i].waits || is_waiting_loop(kernel, i);
    }
    return costs;
}

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

static double page_bytes(struct traffic_seen *seen, int store, double part)
{
    double visits = (double)seen->pages[store].count, bytes;

    if (visits == 0)
        return AT_TRAFFIC_PAGE_BYTES;
    pieces_join(&seen->pages[store]);
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
    work->far_rounds /= blocks * warps;
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
static double overlap_of(struct pieces *loaded)
{
    double count = (double)loaded->count;

    pieces_join(loaded);
    return count > 0 ? 1 - (double)loaded->count / count : 0;
}

static struct at_traffic average(struct traffic_seen *seen, double warps, double neighbours,
                                 double spread, double wave)
{
    struct at_traffic traffic = seen->sums;
    double sampled = neighbours + spread;

    traffic.work.load_requests = traffic.load.requests;
    average_work(&traffic.work, sampled, warps);
    traffic.overlap = overlap_of(&seen->loaded);
    traffic.partial_sectors /= sampled;
    pieces_join(&seen->ragged);
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
static enum at_status run_edge(const struct cost *costs, struct at_traffic_work *work,
                               struct at_emu_memory *memory, const struct at_emu_launch *emu,
                               uint64_t block, double warps, struct at_error *err)
{
    struct traffic_seen seen = {.costs = costs, .spread = true};
    enum at_status status = traffic_see(&seen, memory, emu, &block, 1, err);

    seen.sums.work.load_requests = seen.sums.load.requests;
    average_work(&seen.sums.work, 1, warps);
    *work = seen.sums.work;
    traffic_seen_clear(&seen);
    return status;
}

/* Set the idle slots of an average block, from the sums over `blocks` of them. */
static void sum_idle(struct at_traffic *traffic, const double *idle_slots, size_t instructions,
                     double blocks)
{
    for (size_t i = 0; i < instructions; i++) {
        traffic->idle_slots += idle_slots[i] / blocks;
        if (idle_slots[i] > idle_slots[traffic->idlest])
            traffic->idlest = i;
    }
}

/* Sample the wave in the middle of a part. */
static enum at_status sample_part(struct at_traffic *traffic, const struct cost *costs,
                                  struct at_emu_memory *memory, const struct at_emu_launch *emu,
                                  const struct at_grid_part *part, uint64_t wave, double warps,
                                  struct at_error *err)
{
    struct traffic_seen seen = {
        .costs = costs,
        .atomics = at_atomics_new(emu->kernel),
        .warp_lanes = (int)fmin(AT_WARP, (double)at_emu_threads(emu)),
        .idle_slots = at_alloc_array(emu->kernel->op_count, sizeof(double)),
    };
    uint64_t neighbours = wave < NEIGHBOURS ? wave : NEIGHBOURS;
    uint64_t spread = wave < SPREAD ? wave : SPREAD;
    uint64_t first = part->first + (part->count - wave) / 2;
    uint64_t chosen[SPREAD] = {0};
    enum at_status status;

    for (uint64_t i = 0; i < neighbours; i++)
        chosen[i] = first + (wave - neighbours) / 2 + i;
    status = traffic_see(&seen, memory, emu, chosen, neighbours, err);
    if (status == AT_OK) {
        seen.spread = true;
        choose_spread(chosen, spread, first, wave);
        status = traffic_see(&seen, memory, emu, chosen, spread, err);
    }
    if (status == AT_OK) {
        *traffic = average(&seen, warps, (double)neighbours, (double)spread, (double)wave);
        traffic->atomics =
            at_atomics_of(seen.atomics, (double)(neighbours + spread), (double)part->count);
        sum_idle(traffic, seen.idle_slots, emu->kernel->op_count, (double)(neighbours + spread));
    }
    at_atomics_free(seen.atomics);
    traffic_seen_clear(&seen);
    return status;
}

/* Add a part of the grid. Lengths are sums over bytes until they are divided. */
static void add_way(struct at_traffic_way *sum, const struct at_traffic_way *way, double weight)
{
    sum->requests += weight * way->requests;
    sum->sectors += weight * way->sectors;
    sum->streamed += weight * way->streamed;
    sum->repeated += weight * way->repeated;
    sum->lines += weight * way->lines;
    sum->bytes += weight * way->bytes;
    sum->run_bytes += weight * way->bytes * way->run_bytes;
    sum->page_bytes += weight * way->bytes * way->page_bytes;
}

static void end_way(struct at_traffic_way *sum)
{
    sum->run_bytes = sum->bytes > 0 ? sum->run_bytes / sum->bytes : 0;
    sum->page_bytes = sum->bytes > 0 ? sum->page_bytes / sum->bytes : AT_TRAFFIC_PAGE_BYTES;
}

static void add_part(struct at_traffic *sum, const struct at_traffic *part, double weight)
{
    sum->work.slots += weight * part->work.slots;
    sum->work.shuffles += weight * part->work.shuffles;
    sum->work.wavefronts += weight * part->work.wavefronts;
    sum->work.barriers += weight * part->work.barriers;
    sum->work.load_requests += weight * part->work.load_requests;
    sum->work.load_rounds += weight * part->work.load_rounds;
    sum->work.far_rounds += weight * part->work.far_rounds;
    if (weight * part->idle_slots > sum->idle_slots)
        sum->idlest = part->idlest;
    sum->idle_slots += weight * part->idle_slots;
    sum->overlap += weight * part->load.bytes * part->overlap;
    sum->partial_sectors += weight * part->partial_sectors;
    sum->far_partial_sectors += weight * part->far_partial_sectors;
    add_way(&sum->load, &part->load, weight);
    add_way(&sum->store, &part->store, weight);
    for (int kind = 0; kind < AT_ATOMIC_KINDS; kind++)
        sum->atomics.operations[kind] += part->atomics.operations[kind];
    sum->atomics.steps += part->atomics.steps;
}

/* The average block of a grid of parts. */
static struct at_traffic join_parts(const struct at_traffic *traffic,
                                    const struct at_grid_parts *parts, double blocks)
{
    struct at_traffic sum = {.blocks = 0};

    if (parts->count == 1)
        return traffic[0];
    for (size_t i = 0; i < parts->count; i++)
        add_part(&sum, &traffic[i], (double)parts->items[i].count / blocks);
    sum.overlap = sum.load.bytes > 0 ? sum.overlap / sum.load.bytes : 0;
    end_way(&sum.load);
    end_way(&sum.store);
    return sum;
}

enum at_status at_traffic_sample(struct at_traffic *traffic, struct at_emu_memory *memory,
                                 const struct at_emu_launch *emu, const struct at_grid_parts *parts,
                                 int64_t wave_blocks, struct at_error *err)
{
    uint64_t blocks = at_emu_blocks(emu), wave = (uint64_t)wave_blocks;
    double warps = (double)((at_emu_threads(emu) + AT_WARP - 1) / AT_WARP);
    struct at_traffic of_parts[AT_GRID_PARTS];
    struct at_traffic_work edges[2] = {0};
    struct cost *costs = costs_of(emu->kernel);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < parts->count && status == AT_OK; i++) {
        const struct at_grid_part *part = &parts->items[i];

        status = sample_part(&of_parts[i], costs, memory, emu, part,
                             wave < part->count ? wave : part->count, warps, err);
    }
    for (uint64_t end = 0; end < 2 && status == AT_OK; end++) {
        const uint64_t block = end * (blocks - 1);

        status = run_edge(costs, &edges[end], memory, emu, block, warps, err);
    }
    if (status == AT_OK) {
        *traffic = join_parts(of_parts, parts, (double)blocks);
        traffic->blocks = (int64_t)blocks;
        traffic->edge = edges[edges[1].load_rounds > edges[0].load_rounds];
        for (size_t i = 0; i < parts->count; i++) {
            const struct at_traffic_work *work = &of_parts[i].work;

            traffic->usual_rounds = fmax(traffic->usual_rounds, work->far_rounds);
            if (work->load_rounds > traffic->edge.load_rounds)
                traffic->edge = *work;
        }
    }
    free(costs);
    return status;
}
