/* SPDX-License-Identifier: Apache-2.0 */
/* What is known of each byte of shared memory: who wrote and who read it last, and when.
 *
 * Time is a tick that grows at every barrier, of the block (bar.sync) or of a warp (bar.warp.sync).
 * Two accesses of different threads are ordered if such a barrier lies between them: for threads of
 * one warp either kind, else the first. If they are not, and one of them writes, it is a race. So
 * nothing is cleared at a barrier, and nothing at the start of a block: what was written before its
 * first tick was not written.
 *
 * What a bulk copy writes is ordered before what follows a wait for its mbarrier, or a barrier of
 * the block after one.
 *
 * A record is the tick, two flags, and the thread within the block. */
#include "emu/lanes.h"

enum {
    THREAD_MASK = 1023,
    FLAG_A = 1 << 10,
    FLAG_B = 1 << 11,
    ATOMIC = FLAG_A,     /* of a write: by an atomic operation, which others may join */
    BULK = FLAG_B,       /* by a bulk copy, which the thread only began */
    MORE_LANES = FLAG_A, /* of a read: other threads of the same warp read it too, */
    MORE_WARPS = FLAG_B, /* or threads of other warps */
    TICK_SHIFT = 12,
    TICK_MAX = (1 << 20) - 1,
};

static uint32_t tick_of(uint32_t record)
{
    return record >> TICK_SHIFT;
}

/* Nobody has written anything yet. */
void at_emu_shared_begin_block(struct at_emu_shared *shared)
{
    if (shared->tick >= TICK_MAX - 1) {
        memset(shared->written, 0, shared->size * sizeof *shared->written);
        memset(shared->read, 0, shared->size * sizeof *shared->read);
        memset(shared->fenced, 0, sizeof shared->fenced);
        shared->tick = 0;
    }
    shared->first = shared->synced = ++shared->tick;
}

/* Ticks have run out in the middle of a block: begins again, with what was written as tick 1. */
static void restart(struct at_emu_block *block)
{
    struct at_emu_shared *shared = &block->shared;

    for (uint32_t i = 0; i < shared->size; i++) {
        bool written = tick_of(shared->written[i]) >= shared->first;

        shared->written[i] = written ? 1u << TICK_SHIFT : 0;
        shared->read[i] = 0;
    }
    shared->first = 1;
    shared->tick = shared->synced = 2;
    memset(shared->fenced, 0, sizeof shared->fenced);
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].synced = block->warps[i].acquired = 2;
}

static void pass_tick(struct at_emu_block *block)
{
    if (block->shared.tick == TICK_MAX)
        restart(block);
    else
        block->shared.tick++;
}

void at_emu_shared_barrier(struct at_emu_block *block)
{
    pass_tick(block);
    block->shared.synced = block->shared.tick;
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].synced = block->shared.tick;
}

void at_emu_shared_warp_barrier(struct at_emu_warp *warp)
{
    pass_tick(warp->block);
    warp->synced = warp->block->shared.tick;
}

/* One thread's access, with what it is compared to. */
struct toucher {
    struct at_emu_shared *shared;
    uint32_t thread;
    uint32_t record;      /* that it leaves */
    uint32_t past;        /* records below are of before the block's last barrier */
    uint32_t warp_synced; /* its warp's last barrier, */
    uint32_t acquired;    /* and wait for an mbarrier */
    bool atomic;
};

static bool same_warp(const struct toucher *self, uint32_t record)
{
    return (record & THREAD_MASK) / AT_WARP == self->thread / AT_WARP;
}

/* Was the access of the record not ordered before this one by a barrier? */
static bool unordered(const struct toucher *self, uint32_t record)
{
    return tick_of(record) >= (same_warp(self, record) ? self->warp_synced : self->shared->synced);
}

static bool races_with_write(const struct toucher *self, uint32_t written)
{
    if (written & BULK)
        return tick_of(written) >= self->shared->synced && tick_of(written) >= self->acquired;
    return (written & THREAD_MASK) != self->thread && unordered(self, written) &&
           !(self->atomic && written & ATOMIC);
}

static bool races_with_read(const struct toucher *self, uint32_t read)
{
    if (read & MORE_WARPS)
        return tick_of(read) >= self->shared->synced;
    return ((read & THREAD_MASK) != self->thread || read & MORE_LANES) && unordered(self, read);
}

/* The record after one more read: who else has read since the barriers that matter to them? */
static uint32_t joined(const struct toucher *self, uint32_t read)
{
    uint32_t flags = 0;

    if (tick_of(read) < self->shared->synced)
        return self->record;
    flags = read & MORE_WARPS;
    if (!same_warp(self, read))
        flags |= MORE_WARPS;
    else if (tick_of(read) >= self->warp_synced)
        flags |=
            (read & MORE_LANES) | ((read & THREAD_MASK) != self->thread ? (uint32_t)MORE_LANES : 0);
    return self->record | flags;
}

/* Each of these returns the other thread of a race, or -1. */
static int note_read(const struct toucher *self, uint32_t offset, uint32_t bytes, bool *unwritten)
{
    struct at_emu_shared *shared = self->shared;

    for (uint32_t i = offset; i < offset + bytes; i++) {
        uint32_t written = shared->written[i];

        /* Most bytes are written in one turn and read in the next, by one thread each. */
        if (written >= shared->first << TICK_SHIFT && written < self->past &&
            shared->read[i] < self->past) {
            shared->read[i] = self->record;
            continue;
        }
        if (tick_of(written) < shared->first)
            *unwritten = true;
        else if (races_with_write(self, written))
            return (int)(written & THREAD_MASK);
        shared->read[i] = joined(self, shared->read[i]);
    }
    return -1;
}

static int note_write(const struct toucher *self, uint32_t offset, uint32_t bytes, bool undefined)
{
    struct at_emu_shared *shared = self->shared;

    for (uint32_t i = offset; i < offset + bytes; i++) {
        bool untouched = shared->written[i] < self->past && shared->read[i] < self->past;

        if (!untouched && races_with_write(self, shared->written[i]))
            return (int)(shared->written[i] & THREAD_MASK);
        if (!untouched && races_with_read(self, shared->read[i]))
            return (int)(shared->read[i] & THREAD_MASK);
        /* Unwritten it stays even in what is known of races: it cannot be read and used anyway. */
        shared->written[i] = undefined ? 0 : self->record;
    }
    return -1;
}

bool at_emu_shared_note(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        bool store, bool atomic, uint32_t bytes, const uint64_t address[AT_WARP],
                        uint32_t undefined, uint32_t *unwritten)
{
    struct toucher self = {
        .shared = &warp->block->shared,
        .past = warp->block->shared.synced << TICK_SHIFT,
        .warp_synced = warp->synced,
        .acquired = warp->acquired,
        .atomic = atomic,
    };

    for (uint32_t i = 0; i < AT_WARP; i++) {
        bool nobody = false;
        int other = -1;

        if (!(lanes & at_lane_bit[i]))
            continue;
        self.thread = warp->first_thread + i;
        self.record = self.shared->tick << TICK_SHIFT | self.thread;
        if (!store && !atomic)
            other = note_read(&self, (uint32_t)address[i], bytes, &nobody);
        if (atomic) {
            nobody = tick_of(self.shared->written[address[i]]) < self.shared->first;
            self.record |= ATOMIC;
        }
        if (store || (atomic && !nobody))
            other =
                note_write(&self, (uint32_t)address[i], bytes, (undefined & at_lane_bit[i]) != 0);
        if (other >= 0) {
            at_emu_raise(warp, op, AT_EMU_SHARED_RACE, (int)i, address[i],
                         "%u bytes, with thread %d of the block", bytes, other);
            return false;
        }
        if (nobody)
            *unwritten |= at_lane_bit[i];
    }
    return true;
}

void at_emu_shared_acquire(struct at_emu_warp *warp)
{
    warp->acquired = warp->block->shared.tick;
}

bool at_emu_shared_expect(const struct at_emu_bulk *bulk)
{
    uint64_t address[AT_WARP] = {0};
    uint32_t lanes = at_lane_bit[bulk->lane];

    address[bulk->lane] = bulk->to;
    return at_emu_shared_note(bulk->op, bulk->warp, lanes, true, false, bulk->bytes, address, lanes,
                              NULL);
}

static bool race(const struct at_emu_bulk *bulk, uint64_t offset, uint32_t record, const char *what)
{
    at_emu_raise(bulk->warp, bulk->op, AT_EMU_SHARED_RACE, (int)bulk->lane, offset,
                 "with thread %u of the block, which %s", record & THREAD_MASK, what);
    return false;
}

bool at_emu_shared_land(const struct at_emu_bulk *bulk)
{
    struct at_emu_shared *shared = &bulk->warp->block->shared;
    uint32_t thread = bulk->warp->first_thread + bulk->lane;

    for (uint64_t i = bulk->to; i < bulk->to + bulk->bytes; i++) {
        if (tick_of(shared->written[i]) >= shared->first)
            return race(bulk, i, shared->written[i], "wrote there meanwhile");
        shared->written[i] = shared->tick << TICK_SHIFT | BULK | thread;
    }
    return true;
}

bool at_emu_shared_lend(const struct at_emu_bulk *bulk)
{
    struct at_emu_shared *shared = &bulk->warp->block->shared;
    uint32_t lanes = at_lane_bit[bulk->lane], unwritten = 0;
    uint64_t address[AT_WARP] = {0};

    address[bulk->lane] = bulk->from;
    for (uint64_t i = bulk->from; i < bulk->from + bulk->bytes; i++) {
        uint32_t written = shared->written[i];

        if (tick_of(written) >= shared->first && !(written & BULK) &&
            shared->fenced[written & THREAD_MASK] < tick_of(written))
            return race(bulk, i, written, "made no fence.proxy.async since it wrote there");
    }
    if (!at_emu_shared_note(bulk->op, bulk->warp, lanes, false, false, bulk->bytes, address, 0,
                            &unwritten))
        return false;
    if (unwritten)
        at_emu_raise(bulk->warp, bulk->op, AT_EMU_SHARED_UNWRITTEN, (int)bulk->lane, bulk->from,
                     "%u bytes", bulk->bytes);
    return !unwritten;
}

bool at_emu_shared_lent(const struct at_emu_bulk *bulk)
{
    const struct at_emu_shared *shared = &bulk->warp->block->shared;

    for (uint64_t i = bulk->from; i < bulk->from + bulk->bytes; i++)
        if (tick_of(shared->written[i]) > bulk->tick)
            return race(bulk, i, shared->written[i], "wrote there before the copy was made");
    return true;
}

void at_emu_shared_landed(struct at_emu_block *block)
{
    pass_tick(block);
}
