/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/machine/races.h"

#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- what orders accesses ---- */

/* No barrier and no fence was before this tick. */
static void forget(struct at_emu_block *block, uint32_t tick)
{
    struct at_emu_shared *shared = &block->shared;

    memset(shared->read, 0, shared->size * sizeof *shared->read);
    memset(shared->fenced, 0, sizeof shared->fenced);
    shared->tick = shared->synced = tick;
    block->fences = block->acquired = (struct at_emu_ticks){0};
    for (uint32_t i = 0; i < block->warp_count; i++) {
        struct at_emu_warp *warp = &block->warps[i];

        warp->synced = warp->acquired = warp->joined = tick;
        if (warp->heard)
            memset(warp->heard, 0, AT_WARP * sizeof *warp->heard);
        if (warp->knows)
            memset(warp->knows, 0, AT_EMU_WARPS_MAX * sizeof *warp->knows);
    }
}

/* Nothing needs to be cleared: ticks from before the first one do not count. */
void at_emu_order_begin_block(struct at_emu_block *block)
{
    struct at_emu_shared *shared = &block->shared;

    if (shared->tick >= AT_EMU_TICK_MAX - 1) {
        for (uint32_t i = 0; i < shared->size; i++)
            shared->written[i] = shared->written[i] == AT_EMU_OUTSIDE ? AT_EMU_OUTSIDE : 0;
        forget(block, 0);
    }
    shared->first = shared->synced = ++shared->tick;
}

/* No tick is left in the middle of a block: start again; all written bytes get tick 1. */
static void restart(struct at_emu_block *block)
{
    struct at_emu_shared *shared = &block->shared;

    for (uint32_t i = 0; i < shared->size; i++) {
        bool written = at_emu_tick_of(shared->written[i]) >= shared->first;

        if (shared->written[i] != AT_EMU_OUTSIDE)
            shared->written[i] = written ? 1u << AT_EMU_TICK_SHIFT : 0;
    }
    forget(block, 2);
    shared->first = 1;
    for (size_t i = 0; i < block->mbarrier_count; i++)
        block->mbarriers[i].completed = 2;
}

uint32_t at_emu_order_pass_tick(struct at_emu_block *block)
{
    if (block->shared.tick == AT_EMU_TICK_MAX)
        restart(block);
    else
        block->shared.tick++;
    return block->shared.tick;
}

static uint32_t first_of(const struct at_emu_block *block, uint32_t before, uint32_t tick)
{
    return before >= block->shared.first ? before : tick;
}

/* Without a fence they order nothing in shared memory. Later reads change nothing, so the ticks of
 * the first ones are kept. */
void at_emu_order_acquire(struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_block *block = warp->block;
    struct at_emu_ticks *acquired = &block->acquired;
    uint32_t tick = block->shared.tick;
    uint32_t *in_warp = &acquired->of_warp[warp->first_thread / AT_WARP];

    if (!block->kernel->fences && !block->races)
        return;
    AT_EACH_OF (i, lanes)
        acquired->of_thread[warp->first_thread + (uint32_t)i] = tick;
    *in_warp = first_of(block, *in_warp, tick);
    acquired->of_block = first_of(block, acquired->of_block, tick);
}

/* Set the ticks of a fence. */
static void mark_fence(struct at_emu_ticks *fences, const struct at_emu_warp *warp, uint32_t lanes,
                       uint32_t tick)
{
    AT_EACH_OF (i, lanes)
        fences->of_thread[warp->first_thread + (uint32_t)i] = tick;
    fences->of_warp[warp->first_thread / AT_WARP] = warp->synced;
    fences->of_block = warp->block->shared.synced;
}

static void release(struct at_emu_warp *warp, uint32_t lanes)
{
    mark_fence(&warp->block->fences, warp, lanes, at_emu_order_pass_tick(warp->block));
}

bool at_emu_order_is_released(const struct at_emu_ticks *fences, uint32_t thread, uint32_t tick)
{
    return fences->of_thread[thread] > tick || fences->of_warp[thread / AT_WARP] > tick ||
           fences->of_block > tick;
}

bool at_emu_order_has_acquired(const struct at_emu_warp *warp, uint32_t thread)
{
    const struct at_emu_block *block = warp->block;
    const struct at_emu_ticks *acquired = &block->acquired;
    uint32_t first = block->shared.first, in_warp = acquired->of_warp[thread / AT_WARP];

    return acquired->of_thread[thread] >= first || (in_warp >= first && in_warp < warp->synced) ||
           (acquired->of_block >= first && acquired->of_block < block->shared.synced);
}

/* ---- races in global memory ---- */

/* Races in global memory: two threads at one byte, one of them a store, and no order between them.
 *
 * Each word of 4 bytes has a record of its last write and its last read: by which thread, when, and
 * how. If the buffers are large, only every nth KiB has records, so that they take a bounded
 * memory.
 *
 * Ordered are (CUDA C++ Programming Guide, "Memory Fence Functions"; PTX ISA, "Memory Consistency
 * Model"): accesses with a barrier between them, as in shared memory; and an access before a fence
 * by its thread, or by one that a barrier ordered behind it, with one after a strong read,
 * likewise. Whether that read found what the other thread wrote after its fence is not looked at.
 * Two strong accesses are no race, nor is a plain access of a word that others read or change by
 * strong ones. A store that changes nothing is no access: many threads may write one value. */

enum { WORD = 4, REGION = 1024, REGION_WORDS = REGION / WORD };

/* Bytes of the host's memory for the records of a launch, about. */
static const uint64_t RECORD_BYTES = UINT64_C(96) << 20;

enum {
    STRONG = 1,
    ATOMIC = 2,
    OF_BLOCK = 4, /* its scope is the block */
    MORE_LANES = 8,
    MORE_WARPS = 16,
    MORE_BLOCKS = 32, /* of a read: others read it too */
    READ_ONLY = 64,   /* of a read: ld.global.nc, by any thread */
};

struct mark {
    uint32_t block; /* its index plus 1; 0: none */
    uint32_t tick;
    uint16_t thread;
    uint8_t bytes; /* of the word, a bit each */
    uint8_t flags;
};

struct cell {
    struct mark wrote, read;
};

struct at_emu_races {
    pthread_mutex_t lock;
    const struct at_emu_memory *memory;
    int shift; /* one of 2^shift regions has records */
    struct records {
        uint64_t address;
        struct cell *cells;
    } * records; /* of each allocation that was accessed */
    size_t count, capacity;
    struct at_emu_ticks **fences; /* of each block, wider than the block; NULL: none */
    uint64_t blocks;
};

/* With more blocks, fences are not kept. */
enum { BLOCKS_MAX = 1 << 20 };

struct at_emu_races *at_emu_races_new(const struct at_emu_memory *memory, uint64_t bytes,
                                      uint64_t blocks)
{
    struct at_emu_races *races;
    pthread_mutexattr_t recursive;

    if (blocks > BLOCKS_MAX)
        return NULL;
    races = at_alloc(sizeof *races);
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&races->lock, &recursive);
    pthread_mutexattr_destroy(&recursive);
    races->memory = memory;
    races->blocks = blocks;
    races->fences = at_alloc_array(blocks, sizeof(struct at_emu_ticks *));
    while ((bytes / WORD * sizeof(struct cell)) >> races->shift > RECORD_BYTES)
        races->shift++;
    return races;
}

void at_emu_races_free(struct at_emu_races *races)
{
    if (!races)
        return;
    for (size_t i = 0; i < races->count; i++)
        free(races->records[i].cells);
    for (uint64_t i = 0; i < races->blocks; i++)
        free(races->fences[i]);
    free(races->records);
    free(races->fences);
    pthread_mutex_destroy(&races->lock);
    free(races);
}

void at_emu_races_hold(struct at_emu_races *races)
{
    if (races)
        pthread_mutex_lock(&races->lock);
}

void at_emu_races_let_go(struct at_emu_races *races)
{
    if (races)
        pthread_mutex_unlock(&races->lock);
}

/* Does this region have records? Neighbours are chosen by chance: even steps might miss a pattern.
 */
static bool is_recorded(const struct at_emu_races *races, uint64_t region)
{
    uint64_t group = region >> races->shift, mask = (UINT64_C(1) << races->shift) - 1;

    return (region & mask) == ((group * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask);
}

/* The record of the word at the address; NULL: it has none. */
static struct cell *cell_of(struct at_emu_races *races, uint64_t address)
{
    const struct at_emu_allocation *in = at_emu_memory_find(races->memory, address);
    uint64_t at, region;
    struct records made;

    if (!in)
        return NULL;
    at = address - in->address;
    region = at / REGION;
    if (!is_recorded(races, region))
        return NULL;
    region >>= races->shift;
    for (size_t i = 0; i < races->count; i++)
        if (races->records[i].address == in->address)
            return &races->records[i].cells[region * REGION_WORDS + at % REGION / WORD];
    made.address = in->address;
    made.cells = at_alloc_array((in->size / REGION >> races->shift) * REGION_WORDS + REGION_WORDS,
                                sizeof *made.cells);
    AT_PUSH(races->records, races->count, races->capacity, made);
    return &made.cells[region * REGION_WORDS + at % REGION / WORD];
}

/* One thread's access. */
struct global_access {
    struct at_emu_races *races;
    const struct at_emu_warp *warp;
    struct mark mark;
    bool store;
};

static bool same_warp(const struct global_access *self, const struct mark *other)
{
    return other->thread / AT_WARP == self->mark.thread / AT_WARP;
}

/* Does a barrier order an access of the same block before this one? */
static bool after_barrier(const struct global_access *self, const struct mark *other)
{
    return other->tick < at_emu_last_barrier(self->warp, self->mark.thread, other->thread) ||
           other->tick > self->warp->block->shared.tick;
}

/* The fences that order what the thread of the other access did before this one; NULL: none. */
static const struct at_emu_ticks *fences_of(const struct global_access *self,
                                            const struct mark *other)
{
    const struct at_emu_block *block = self->warp->block;

    if (other->block != self->mark.block)
        return self->races->fences[other->block - 1];
    return block->kernel->fences ? &block->fences : NULL;
}

/* Has a fence by its thread, or behind a barrier after it, followed the access? */
static bool is_released(const struct global_access *self, const struct mark *other)
{
    const struct at_emu_ticks *fences = fences_of(self, other);

    return fences && at_emu_order_is_released(fences, other->thread, other->tick);
}

/* Two strong accesses, or one that others make strong ones at: see above. */
static bool is_tolerated(const struct global_access *self, const struct mark *other, bool wrote)
{
    bool other_block = other->block != self->mark.block;
    uint8_t both = self->mark.flags & other->flags, any = self->mark.flags | other->flags;

    if (both & STRONG) {
        if (other_block && any & OF_BLOCK)
            return false;
        /* Volatile accesses do not make the lanes of a warp wait for each other. */
        return other_block || !same_warp(self, other) || any & ATOMIC ||
               self->warp->block->kernel->fences;
    }
    if (any & STRONG)
        return !self->store || !wrote || fences_of(self, other);
    return false;
}

static bool races_with(const struct global_access *self, const struct mark *other, bool wrote)
{
    bool own = other->block == self->mark.block;
    bool more = !wrote && other->flags & (MORE_LANES | MORE_WARPS | MORE_BLOCKS);

    if (!other->block || !(other->bytes & self->mark.bytes))
        return false;
    if (own && other->thread == self->mark.thread && !more)
        return false;
    if (is_tolerated(self, other, wrote))
        return false;
    if (own && !(more && other->flags & MORE_BLOCKS) && after_barrier(self, other))
        return false;
    return !(at_emu_order_has_acquired(self->warp, self->mark.thread) &&
             (is_released(self, other) || more));
}

static void keep_read(const struct global_access *self, struct mark *read)
{
    struct mark kept = self->mark;

    kept.flags |= read->flags & READ_ONLY;
    if (read->block && read->bytes & kept.bytes) {
        if (read->block != kept.block)
            kept.flags |= MORE_BLOCKS;
        else if (!after_barrier(self, read))
            kept.flags |= (read->flags & (MORE_LANES | MORE_WARPS)) |
                          (!same_warp(self, read)        ? MORE_WARPS
                           : read->thread != kept.thread ? MORE_LANES
                                                         : 0);
        kept.flags |= read->flags & MORE_BLOCKS;
        kept.bytes |= read->bytes;
    }
    *read = kept;
}

/* Record an access of a word. Returns the access that it races with, or NULL. */
static const struct mark *note(const struct global_access *self, struct cell *cell, bool *read_only)
{
    if (self->store ? cell->read.flags & READ_ONLY && cell->read.bytes & self->mark.bytes
                    : self->mark.flags & READ_ONLY && cell->wrote.bytes & self->mark.bytes) {
        *read_only = true;
        return self->store ? &cell->read : &cell->wrote;
    }
    if (races_with(self, &cell->wrote, true))
        return &cell->wrote;
    if (self->store && races_with(self, &cell->read, false))
        return &cell->read;
    if (!self->store) {
        if (!(self->mark.flags & STRONG))
            keep_read(self, &cell->read);
        return NULL;
    }
    /* An atomic operation does not hide a plain store of its block before it from other blocks. */
    if (!(self->mark.flags & STRONG) || cell->wrote.flags & STRONG ||
        cell->wrote.block != self->mark.block || self->mark.bytes & ~cell->wrote.bytes)
        cell->wrote = self->mark;
    return NULL;
}

static bool raise(const struct at_emu_op *op, struct at_emu_warp *warp, int lane, uint64_t address,
                  const struct mark *other, bool read_only)
{
    uint32_t block[3], thread[3];

    at_emu_index(block, warp->block->launch->grid, other->block - 1);
    at_emu_index(thread, warp->block->launch->block, other->thread);
    at_emu_raise(warp, op, read_only ? AT_EMU_READ_ONLY : AT_EMU_GLOBAL_RACE, lane, address,
                 "with block (%u, %u, %u), thread (%u, %u, %u)", block[0], block[1], block[2],
                 thread[0], thread[1], thread[2]);
    return false;
}

bool at_emu_races_note(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                       bool store, uint32_t bytes, const uint64_t address[AT_WARP])
{
    struct at_emu_block *block = warp->block;
    struct at_emu_races *races = block->races;
    struct global_access self = {.races = races, .warp = warp, .store = store};
    bool read_only = false, good = true;

    self.mark.block = (uint32_t)block->index + 1;
    self.mark.tick = block->shared.tick;
    self.mark.flags =
        (uint8_t)((op->order & AT_EMU_STRONG ? STRONG : 0) | (op->atomic ? ATOMIC : 0) |
                  (op->atomic && op->order & AT_EMU_OF_BLOCK ? OF_BLOCK : 0) |
                  (op->order & AT_EMU_READ_ONLY_LOAD ? READ_ONLY : 0));
    pthread_mutex_lock(&races->lock);
    AT_EACH_OF (i, lanes) {
        uint64_t first = address[i] & ~UINT64_C(3), end = address[i] + bytes;

        self.mark.thread = (uint16_t)(warp->first_thread + (uint32_t)i);
        for (uint64_t at = first; at < end && good; at += WORD) {
            struct cell *cell = cell_of(races, at);
            const struct mark *other;

            if (!cell)
                continue;
            self.mark.bytes =
                bytes >= WORD ? 15 : (uint8_t)(((1u << bytes) - 1) << address[i] % WORD);
            other = note(&self, cell, &read_only);
            if (other)
                good = raise(op, warp, i, address[i], other, read_only);
        }
        if (!good)
            break;
    }
    pthread_mutex_unlock(&races->lock);
    return good;
}

/* A fence (PTX ISA, membar and fence), or a release. */
void at_emu_run_fence(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_block *block = warp->block;
    struct at_emu_ticks **wide = block->races ? &block->races->fences[block->index] : NULL;

    release(warp, lanes);
    if (!wide || op->order & AT_EMU_OF_BLOCK)
        return;
    if (!*wide)
        *wide = at_alloc(sizeof **wide);
    mark_fence(*wide, warp, lanes, block->shared.tick);
}
