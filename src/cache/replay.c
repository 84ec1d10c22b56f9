/* SPDX-License-Identifier: Apache-2.0 */
#include "cache/replay.h"

#include "base/memory.h"
#include "cache/stream.h"

#include <stdlib.h>

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

static uint64_t blocks_of(const struct at_cache_range *range)
{
    return range->warming + range->counted;
}

/* Record the next blocks. */
static enum at_status fill_batch(struct replay *replay, struct at_error *err)
{
    uint64_t left = blocks_of(replay->range) - replay->dealt;

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
    while (slot->warps == 0 && replay->dealt < blocks_of(replay->range)) {
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
