/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/caches/count.h"

#include "base/integer.h"
#include "base/memory.h"
#include "device/info.h"
#include "emulated/caches/hierarchy.h"
#include "emulated/machine/op.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A grid of at most this many threads, or of two waves, is counted whole. That takes about a
 * second. */
enum { CACHE_SMALL_THREADS = 1 << 20 };

void at_cache_stream_clear(struct at_cache_stream *stream)
{
    free(stream->requests);
    free(stream->parts);
    *stream = (struct at_cache_stream){0};
}

/* The part of the request that begins at `first` with this line; a new one if there is none. Lanes
 * that follow each other often meet in the last one. */
static struct at_cache_part *part_of(struct at_cache_stream *stream, size_t first, uint64_t line)
{
    for (size_t i = stream->part_count; i > first; i--)
        if (stream->parts[i - 1].line == line)
            return &stream->parts[i - 1];
    AT_PUSH(stream->parts, stream->part_count, stream->part_capacity,
            ((struct at_cache_part){.line = line}));
    return &stream->parts[stream->part_count - 1];
}

static void link_request(struct at_cache_stream *stream, const struct at_cache_request *request)
{
    uint32_t number;

    AT_PUSH(stream->requests, stream->request_count, stream->request_capacity, *request);
    number = (uint32_t)stream->request_count;
    if (stream->tail[request->warp])
        stream->requests[stream->tail[request->warp] - 1].following = number;
    else
        stream->head[request->warp] = number;
    stream->tail[request->warp] = number;
}

void at_cache_stream_add(struct at_cache_stream *stream, const struct at_emu_access *access)
{
    struct at_cache_request request = {
        .instruction = (uint32_t)access->instruction,
        .way = access->atomic  ? AT_CACHE_ATOMIC
               : access->store ? AT_CACHE_STORE
                               : AT_CACHE_LOAD,
        .warp = (uint8_t)access->warp,
        .first = stream->part_count,
    };

    if (access->shared)
        return;
    /* An aligned access of at most 16 bytes lies within one sector. */
    AT_EACH_OF (lane, access->lanes) {
        uint64_t address = access->address[lane];
        struct at_cache_part *part = part_of(stream, request.first, address / AT_CACHE_LINE_BYTES);
        uint64_t bytes = (UINT64_C(1) << access->bytes) - 1;

        part->bytes[address / AT_CACHE_SECTOR_BYTES % AT_CACHE_SECTORS] |=
            (uint32_t)(bytes << address % AT_CACHE_SECTOR_BYTES);
    }
    request.parts = (uint8_t)(stream->part_count - request.first);
    link_request(stream, &request);
}

struct recorder {
    struct at_cache_stream *streams;
    uint64_t first;
    size_t bytes, most_bytes;
};

/* A block runs on one host thread, so only the sum is shared. */
static void record_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct recorder *recorder = context;
    struct at_cache_stream *stream = &recorder->streams[block - recorder->first];
    size_t parts = stream->part_count, bytes;

    if (__atomic_load_n(&recorder->bytes, __ATOMIC_RELAXED) > recorder->most_bytes)
        return;
    at_cache_stream_add(stream, access);
    bytes = (stream->part_count - parts) * sizeof *stream->parts + sizeof *stream->requests;
    __atomic_fetch_add(&recorder->bytes, bytes, __ATOMIC_RELAXED);
}

enum at_status at_cache_record(struct at_cache_stream *streams, struct at_emu_memory *memory,
                               const struct at_emu_launch *launch, uint64_t first, size_t count,
                               size_t most_bytes, struct at_error *err)
{
    struct recorder recorder = {.streams = streams, .first = first, .most_bytes = most_bytes};
    const struct at_emu_observer observer = {.context = &recorder, .access = record_access};
    struct at_emu_launch part = *launch;
    struct at_emu_fault fault = {0};
    uint64_t *blocks = at_alloc_array(count, sizeof *blocks);
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        blocks[i] = first + i;
    part.observer = &observer;
    part.only_blocks = blocks;
    part.only_block_count = count;
    status = at_emu_run(memory, &part, &fault, err);
    free(blocks);
    if (status == AT_OK && fault.kind != AT_EMU_NO_FAULT)
        status = at_fail(err, AT_FAILED, "%s", fault.message);
    if (status == AT_OK && recorder.bytes > most_bytes)
        status =
            at_fail(err, AT_NO_MEMORY, "%zu blocks make more requests than memory may hold", count);
    return status;
}

/* Memory for recorded requests. Those of one wave of a usual kernel take some megabytes. */
static const size_t MOST_BYTES = (size_t)1 << 30;

/* A place of a multiprocessor for a block. */
struct slot {
    struct at_cache_stream stream;
    uint32_t next[AT_CACHE_WARPS_MAX]; /* request of each warp: index plus 1; 0: none is left */
    uint32_t warps;                    /* that have requests left */
    bool counts;
};

struct multiprocessor {
    struct slot *slots;
    uint32_t turn; /* slot * AT_CACHE_WARPS_MAX + warp: who sends next */
    uint32_t busy; /* slots with requests */
};

struct replay {
    struct at_caches *caches;
    struct at_emu_memory *memory;
    const struct at_emu_launch *launch;
    const struct at_cache_range *range;
    const struct at_cache_policy *policies;
    struct at_cache_hits *hits, uncounted;
    struct multiprocessor *multiprocessors;
    struct at_cache_stream *batch; /* recorded blocks that have not started */
    size_t batch_count, batch_next, batch_size;
    uint64_t dealt; /* blocks, of the range */
};

static uint64_t range_blocks(const struct at_cache_range *range)
{
    return range->warming + range->counted;
}

/* Record the next blocks. */
static enum at_status fill_batch(struct replay *replay, struct at_error *err)
{
    uint64_t left = range_blocks(replay->range) - replay->dealt;

    replay->batch_next = 0;
    replay->batch_count = left < replay->batch_size ? (size_t)left : replay->batch_size;
    return at_cache_record(replay->batch, replay->memory, replay->launch,
                           replay->range->first + replay->dealt, replay->batch_count, MOST_BYTES,
                           err);
}

/* Give the slot the next block that has requests. Without one, it stays empty. */
static enum at_status deal(struct replay *replay, struct slot *slot, struct at_error *err)
{
    enum at_status status = AT_OK;

    at_cache_stream_clear(&slot->stream);
    slot->warps = 0;
    while (slot->warps == 0 && replay->dealt < range_blocks(replay->range)) {
        if (replay->batch_next == replay->batch_count)
            status = fill_batch(replay, err);
        if (status != AT_OK)
            return status;
        at_cache_stream_clear(&slot->stream);
        slot->stream = replay->batch[replay->batch_next];
        replay->batch[replay->batch_next++] = (struct at_cache_stream){0};
        slot->counts = replay->dealt++ >= replay->range->warming;
        for (int warp = 0; warp < AT_CACHE_WARPS_MAX; warp++) {
            slot->next[warp] = slot->stream.head[warp];
            slot->warps += slot->next[warp] != 0;
        }
    }
    return AT_OK;
}

static enum at_status deal_first(struct replay *replay, struct at_error *err)
{
    const struct at_cache_shape *shape = &replay->caches->shape;
    enum at_status status = AT_OK;

    for (int64_t s = 0; s < shape->blocks; s++)
        for (int64_t m = 0; m < shape->multiprocessors && status == AT_OK; m++) {
            struct multiprocessor *multiprocessor = &replay->multiprocessors[m];

            status = deal(replay, &multiprocessor->slots[s], err);
            multiprocessor->busy += multiprocessor->slots[s].warps > 0;
        }
    return status;
}

static void send(struct replay *replay, int64_t multiprocessor, const struct slot *slot,
                 const struct at_cache_request *request)
{
    struct at_cache_hits *hits =
        slot->counts ? &replay->hits[request->instruction] : &replay->uncounted;

    replay->caches->counting = slot->counts;
    for (int i = 0; i < request->parts; i++)
        at_caches_access(replay->caches, multiprocessor, (enum at_cache_way)request->way,
                         replay->policies[request->instruction],
                         &slot->stream.parts[request->first + (size_t)i], hits);
}

/* Let a multiprocessor that is busy send one request. */
static enum at_status step(struct replay *replay, int64_t index, struct at_error *err)
{
    struct multiprocessor *m = &replay->multiprocessors[index];
    uint32_t turns = (uint32_t)replay->caches->shape.blocks * AT_CACHE_WARPS_MAX;
    struct slot *slot = &m->slots[m->turn / AT_CACHE_WARPS_MAX];
    uint32_t *next = &slot->next[m->turn % AT_CACHE_WARPS_MAX];
    enum at_status status = AT_OK;

    while (!*next) {
        /* A slot without requests is passed over at once. */
        m->turn += slot->warps ? 1 : AT_CACHE_WARPS_MAX - m->turn % AT_CACHE_WARPS_MAX;
        m->turn %= turns;
        slot = &m->slots[m->turn / AT_CACHE_WARPS_MAX];
        next = &slot->next[m->turn % AT_CACHE_WARPS_MAX];
    }
    m->turn = (m->turn + 1) % turns;
    send(replay, index, slot, &slot->stream.requests[*next - 1]);
    *next = slot->stream.requests[*next - 1].following;
    slot->warps -= *next == 0;
    if (slot->warps == 0) {
        status = deal(replay, slot, err);
        m->busy -= slot->warps == 0;
    }
    return status;
}

/* Multiprocessors do not run in step: by chance, each misses one of eight turns. Otherwise, blocks
 * whose distance is about a multiple of the multiprocessors' number would share them. */
static bool misses_turn(uint64_t *turns)
{
    uint64_t mixed = ++*turns * UINT64_C(0x9e3779b97f4a7c15); /* splitmix64, shortened */

    mixed = (mixed ^ mixed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return mixed >> 61 == 0;
}

static enum at_status run(struct replay *replay, struct at_error *err)
{
    enum at_status status = deal_first(replay, err);
    bool busy = true;
    uint64_t turns = 0;

    while (busy && status == AT_OK) {
        busy = false;
        for (int64_t m = 0; m < replay->caches->shape.multiprocessors && status == AT_OK; m++)
            if (replay->multiprocessors[m].busy) {
                busy = true;
                if (!misses_turn(&turns))
                    status = step(replay, m, err);
            }
    }
    return status;
}

/* Words within an instruction's name; all that are there apply. Prefetch sizes (L2::128B) are
 * ignored. A weak load may use L1; one that other blocks' writes must reach may not. */
static const struct {
    const char *word;
    bool past_l1, passes_l1; /* passes: it may hit, but gets no line */
    enum at_cache_rank l1, l2;
} words[] = {
    {"cp.async.bulk", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".cg", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".cv", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".volatile", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".relaxed", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".acquire", true, false, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".cs", false, false, AT_CACHE_FIRST, AT_CACHE_FIRST},
    {".lu", false, false, AT_CACHE_FIRST, AT_CACHE_NORMAL},
    {".L1::no_allocate", false, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL},
    {".L1::evict_first", false, false, AT_CACHE_FIRST, AT_CACHE_NORMAL},
    {".L1::evict_last", false, false, AT_CACHE_LAST, AT_CACHE_NORMAL},
    {".L2::evict_first", false, false, AT_CACHE_NORMAL, AT_CACHE_FIRST},
    {".L2::evict_last", false, false, AT_CACHE_NORMAL, AT_CACHE_LAST},
};

struct at_cache_policy at_cache_policy_of(const char *text)
{
    struct at_cache_policy policy = {false, true, AT_CACHE_NORMAL, AT_CACHE_NORMAL, false};
    char *name;

    if (*text == '@') { /* a guard */
        text += strcspn(text, " \t");
        text += strspn(text, " \t");
    }
    name = at_strndup(text, strcspn(text, " \t"));
    for (size_t i = 0; i < AT_COUNT(words); i++) {
        if (!strstr(name, words[i].word))
            continue;
        policy.past_l1 |= words[i].past_l1;
        policy.keep_l1 &= !words[i].passes_l1;
        if (words[i].l1 != AT_CACHE_NORMAL)
            policy.l1 = words[i].l1;
        if (words[i].l2 != AT_CACHE_NORMAL)
            policy.l2 = words[i].l2;
    }
    at_free(name);
    return policy;
}

struct at_cache_policy *at_cache_policies_of(const struct at_ptx_kernel *kernel)
{
    size_t count = kernel->op_count;
    struct at_cache_policy *policies = at_alloc_array(count, sizeof *policies);

    bool together = false; /* the warps of a block */

    for (size_t i = 0; i < count; i++) {
        const char *text = kernel->ops[i].text;

        policies[i] = at_cache_policy_of(text);
        together |= strstr(text, "bar.sync") || strstr(text, "barrier.sync");
        together &= !strstr(text, "ld.global");
        policies[i].merges = together;
    }
    return policies;
}

enum at_status at_cache_replay(struct at_caches *caches, struct at_emu_memory *memory,
                               const struct at_emu_launch *launch,
                               const struct at_cache_range *range, struct at_cache_hits *hits,
                               struct at_error *err)
{
    const struct at_cache_shape *shape = &caches->shape;
    struct at_cache_policy *policies = at_cache_policies_of(launch->kernel);
    struct replay replay = {
        .caches = caches,
        .memory = memory,
        .launch = launch,
        .range = range,
        .policies = policies,
        .hits = hits,
        .multiprocessors =
            at_alloc_array((size_t)shape->multiprocessors, sizeof *replay.multiprocessors),
        .batch_size = (size_t)(shape->multiprocessors * shape->blocks),
    };
    enum at_status status;

    replay.batch = at_alloc_array(replay.batch_size, sizeof *replay.batch);
    for (int64_t m = 0; m < shape->multiprocessors; m++)
        replay.multiprocessors[m].slots =
            at_alloc_array((size_t)shape->blocks, sizeof *replay.multiprocessors[m].slots);
    status = run(&replay, err);
    for (int64_t m = 0; m < shape->multiprocessors; m++) {
        for (int64_t s = 0; s < shape->blocks; s++)
            at_cache_stream_clear(&replay.multiprocessors[m].slots[s].stream);
        free(replay.multiprocessors[m].slots);
    }
    for (size_t i = 0; i < replay.batch_size; i++)
        at_cache_stream_clear(&replay.batch[i]);
    free(replay.batch);
    free(replay.multiprocessors);
    free(policies);
    return status;
}

static int64_t bytes_of(int64_t sectors)
{
    return sectors * AT_CACHE_SECTOR_BYTES;
}

static uint64_t wave_of(const struct at_cache_shape *shape)
{
    return (uint64_t)(shape->multiprocessors * shape->blocks);
}

/* A grid that is soon counted. */
static bool is_small(const struct at_cache_shape *shape, const struct at_emu_launch *launch)
{
    return at_emu_blocks(launch) * at_emu_threads(launch) <= CACHE_SMALL_THREADS ||
           at_emu_blocks(launch) <= 2 * wave_of(shape);
}

/* Choose a whole part, if it has at most `whole` blocks. Of a larger one, choose two waves in its
 * middle: the first only warms the caches. */
static struct at_cache_range choose_range(const struct at_grid_part *part, uint64_t wave,
                                          uint64_t whole)
{
    if (part->count <= whole)
        return (struct at_cache_range){part->first, 0, part->count};
    return (struct at_cache_range){part->first + part->count / 2 - wave, wave, wave};
}

/* Sums over the parts of a grid, extrapolated to it. */
struct sums {
    double l1_sectors, l1_hits, l2_sectors, l2_hits;
    double l2_to_l1, l1_to_l2, dram_to_l2; /* bytes */
    double written;
};

static void add_hits(struct sums *sums, const struct at_cache_hits *hits, size_t instructions,
                     double scale)
{
    for (size_t i = 0; i < instructions; i++) {
        sums->l1_sectors += (double)hits[i].l1_sectors * scale;
        sums->l1_hits += (double)hits[i].l1_hits * scale;
        sums->l2_sectors += (double)hits[i].l2_sectors * scale;
        sums->l2_hits += (double)hits[i].l2_hits * scale;
    }
}

static void weigh_hits(struct at_cache_hits *to, const struct at_cache_hits *hits,
                       size_t instructions, double weight)
{
    for (size_t i = 0; i < instructions; i++) {
        to[i].l1_sectors += (int64_t)((double)hits[i].l1_sectors * weight);
        to[i].l1_hits += (int64_t)((double)hits[i].l1_hits * weight);
        to[i].l2_sectors += (int64_t)((double)hits[i].l2_sectors * weight);
        to[i].l2_hits += (int64_t)((double)hits[i].l2_hits * weight);
    }
}

static int64_t dirty_in(const struct at_caches *caches)
{
    int64_t kept, dirty;

    at_caches_left(caches, &kept, &dirty);
    return dirty;
}

/* Replay a part of the grid. What it writes counts when it is written to L2. */
static enum at_status count_part(struct sums *sums, struct at_caches *caches,
                                 struct at_emu_memory *memory, const struct at_emu_launch *launch,
                                 const struct at_cache_range *range, double scale,
                                 struct at_cache_hits *hits, struct at_error *err)
{
    const struct at_cache_flow *flow = caches->flow;
    const struct at_cache_flow warm = flow[false], before = flow[true];
    int64_t dirty = dirty_in(caches), written;
    enum at_status status = at_cache_replay(caches, memory, launch, range, hits, err);

    add_hits(sums, hits, launch->kernel->op_count, scale);
    written = flow[false].l2_to_dram - warm.l2_to_dram + flow[true].l2_to_dram - before.l2_to_dram +
              dirty_in(caches) - dirty;
    sums->l2_to_l1 += (double)bytes_of(flow[true].l2_to_l1 - before.l2_to_l1) * scale;
    sums->l1_to_l2 += (double)bytes_of(flow[true].l1_to_l2 - before.l1_to_l2) * scale;
    sums->dram_to_l2 += (double)bytes_of(flow[true].dram_to_l2 - before.dram_to_l2) * scale;
    sums->written += (double)bytes_of(written) * scale * (double)range->counted /
                     (double)(range->warming + range->counted);
    return status;
}

/* The bytes that the full grid writes to DRAM. A sample ends with written sectors in L2 that the
 * rest of the grid would evict. So each counts as written to DRAM, except as many as L2 holds at
 * the end. L2 is full then, and has the same share of written data as in the sample. */
static void add_writes(struct at_cache_counts *counts, const struct at_caches *caches, bool sample,
                       int64_t all)
{
    int64_t kept, dirty;
    int64_t room = caches->shape.l2_bytes / AT_CACHE_SECTOR_BYTES;

    at_caches_left(caches, &kept, &dirty);
    if (sample)
        dirty = kept ? (int64_t)((double)room * (double)dirty / (double)kept) : 0;
    counts->left_in_l2_bytes = at_min(bytes_of(dirty), all);
    counts->l2_to_dram_bytes = all - counts->left_in_l2_bytes;
}

static void collect(struct at_cache_counts *counts, const struct at_caches *caches,
                    const struct sums *sums, uint64_t blocks)
{
    counts->shape = caches->shape;
    counts->warm_dram_to_l2_bytes = -1;
    counts->l1_sectors = (int64_t)sums->l1_sectors;
    counts->l1_hits = (int64_t)sums->l1_hits;
    counts->l2_sectors = (int64_t)sums->l2_sectors;
    counts->l2_hits = (int64_t)sums->l2_hits;
    counts->l2_to_l1_bytes = (int64_t)sums->l2_to_l1;
    counts->l1_to_l2_bytes = (int64_t)sums->l1_to_l2;
    counts->dram_to_l2_bytes = (int64_t)sums->dram_to_l2;
    add_writes(counts, caches, (uint64_t)counts->blocks < blocks, (int64_t)sums->written);
}

/* Count each part. The hits of the instructions keep their shares of the grid. */
static enum at_status count_parts(struct at_cache_counts *counts, struct at_caches *caches,
                                  struct at_emu_memory *memory, const struct at_emu_launch *launch,
                                  const struct at_grid_parts *parts, uint64_t whole,
                                  struct at_error *err)
{
    size_t instructions = launch->kernel->op_count, part_count = parts->count;
    struct at_cache_hits *hits = at_alloc_array(instructions * part_count, sizeof *hits);
    double scales[AT_GRID_PARTS], least = HUGE_VAL;
    struct sums sums = {0};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < part_count && status == AT_OK; i++) {
        const struct at_cache_range range =
            choose_range(&parts->items[i], wave_of(&caches->shape), whole);

        scales[i] = (double)parts->items[i].count / (double)range.counted;
        least = fmin(least, scales[i]);
        counts->blocks += (int64_t)range.counted;
        status = count_part(&sums, caches, memory, launch, &range, scales[i],
                            hits + i * instructions, err);
    }
    for (size_t i = 0; i < part_count && status == AT_OK; i++)
        weigh_hits(counts->instructions, hits + i * instructions, instructions, scales[i] / least);
    collect(counts, caches, &sums, at_emu_blocks(launch));
    free(hits);
    return status;
}

/* Launch the full grid again, with the data that the first launch left in L2. */
static enum at_status count_warm(struct at_cache_counts *counts, struct at_caches *caches,
                                 struct at_emu_memory *memory, const struct at_emu_launch *launch,
                                 struct at_error *err)
{
    const struct at_cache_range range = {.counted = at_emu_blocks(launch)};
    struct at_cache_hits *hits = at_alloc_array(launch->kernel->op_count, sizeof *hits);
    enum at_status status;

    at_caches_begin_launch(caches);
    status = at_cache_replay(caches, memory, launch, &range, hits, err);
    counts->warm_dram_to_l2_bytes = bytes_of(caches->flow[true].dram_to_l2);
    free(hits);
    return status;
}

/* Would each part be counted whole? Then so is the grid, without a stop between parts. */
static bool are_small(const struct at_grid_parts *parts, uint64_t whole)
{
    for (size_t i = 0; i < parts->count; i++)
        if (parts->items[i].count > whole)
            return false;
    return true;
}

enum at_status at_cache_count(struct at_cache_counts *counts, const struct at_cache_shape *shape,
                              struct at_emu_memory *memory, const struct at_emu_launch *launch,
                              const struct at_grid_parts *parts, int64_t whole,
                              struct at_error *err)
{
    struct at_cache_counts made = {
        .instructions = at_alloc_array(launch->kernel->op_count, sizeof *made.instructions)};
    const struct at_grid_parts all = at_grid_whole(launch);
    uint64_t blocks = all.items[0].count, most = 2 * wave_of(shape);
    struct at_caches caches;
    enum at_status status;

    if (is_small(shape, launch) || blocks <= (uint64_t)whole || are_small(parts, most)) {
        parts = &all;
        most = blocks;
    }
    at_caches_make(&caches, shape);
    status = count_parts(&made, &caches, memory, launch, parts, most, err);
    if (status == AT_OK && is_small(shape, launch))
        status = count_warm(&made, &caches, memory, launch, err);
    at_caches_clear(&caches);
    if (status == AT_OK)
        *counts = made;
    else
        free(made.instructions);
    return status;
}
