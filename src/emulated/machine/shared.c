/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of each byte of shared memory: the last write and the last read, by which thread and
 * when.
 *
 * Time is a tick that grows at every barrier, of the block (bar.sync) or of a warp (bar.warp.sync).
 * Two accesses by different threads are ordered if a barrier of the block lies between them. For
 * threads of one warp, a barrier of the warp is enough. Two unordered accesses, one of them a
 * write, are a race. So nothing is cleared at a barrier or at the start of a block: a write before
 * the block's first tick does not count.
 *
 * A wait for an mbarrier orders all accesses from before its phase was complete. So a race with a
 * thread that never arrived there is not found. The writes of a bulk copy are ordered before all
 * that follows a wait for its mbarrier, or a barrier of the block after such a wait.
 *
 * A record is the tick, two flags, and the number of the thread within the block. */
#include "emulated/machine/lanes.h"

enum {
    THREAD_MASK = 1023,
    FLAG_A = 1 << 10,
    FLAG_B = 1 << 11,
    ATOMIC = FLAG_A,     /* of a write: by an atomic operation; other ones may follow */
    BULK = FLAG_B,       /* of a write: by a bulk copy that the thread began */
    MORE_LANES = FLAG_A, /* of a read: other threads of the same warp read it too */
    MORE_WARPS = FLAG_B, /* of a read: threads of other warps read it too */
    TICK_SHIFT = 12,
    TICK_MAX = (1 << 20) - 1,
};

static uint32_t tick_of(uint32_t record)
{
    return record >> TICK_SHIFT;
}

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

/* Make all bytes unwritten: start a new tick. */
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

/* No tick is left in the middle of a block: start again; all written bytes get tick 1. */
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
        block->warps[i].synced = block->warps[i].acquired = block->warps[i].joined = 2;
    for (size_t i = 0; i < block->mbarrier_count; i++)
        block->mbarriers[i].completed = 2;
}

uint32_t at_emu_shared_pass_tick(struct at_emu_block *block)
{
    if (block->shared.tick == TICK_MAX)
        restart(block);
    else
        block->shared.tick++;
    return block->shared.tick;
}

void at_emu_shared_barrier(struct at_emu_block *block)
{
    block->shared.synced = at_emu_shared_pass_tick(block);
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].synced = block->shared.tick;
}

void at_emu_shared_warp_barrier(struct at_emu_warp *warp)
{
    warp->synced = at_emu_shared_pass_tick(warp->block);
}

/* One thread's access, and the ticks to compare it with. */
struct thread_access {
    struct at_emu_shared *shared;
    uint32_t thread;
    uint32_t record; /* of this access */
    uint32_t past;   /* smaller records are from before the last barrier with the block */
    uint32_t synced; /* the tick of that: of the block, or an mbarrier that its warp waited for */
    uint32_t warp_synced; /* the tick of its warp's last barrier of any kind */
    uint32_t acquired;    /* the tick of its warp's last wait for an mbarrier */
    bool atomic;
};

static bool same_warp(const struct thread_access *self, uint32_t record)
{
    return (record & THREAD_MASK) / AT_WARP == self->thread / AT_WARP;
}

/* Is there no barrier between the access of the record and this one? */
static bool unordered(const struct thread_access *self, uint32_t record)
{
    return tick_of(record) >= (same_warp(self, record) ? self->warp_synced : self->synced);
}

static bool races_with_write(const struct thread_access *self, uint32_t written)
{
    if (written & BULK)
        return tick_of(written) >= self->shared->synced && tick_of(written) >= self->acquired;
    return (written & THREAD_MASK) != self->thread && unordered(self, written) &&
           !(self->atomic && written & ATOMIC);
}

static bool races_with_read(const struct thread_access *self, uint32_t read)
{
    if (read & MORE_WARPS)
        return tick_of(read) >= self->synced;
    return ((read & THREAD_MASK) != self->thread || read & MORE_LANES) && unordered(self, read);
}

/* The record after one more read, with flags for unordered reads by other threads. */
static uint32_t joined(const struct thread_access *self, uint32_t read)
{
    uint32_t flags = 0;

    if (tick_of(read) < self->synced)
        return self->record;
    flags = read & MORE_WARPS;
    if (!same_warp(self, read))
        flags |= MORE_WARPS;
    else if (tick_of(read) >= self->warp_synced)
        flags |=
            (read & MORE_LANES) | ((read & THREAD_MASK) != self->thread ? (uint32_t)MORE_LANES : 0);
    return self->record | flags;
}

/* note_read and note_write return the other thread of a race, or -1. */
static int note_read(const struct thread_access *self, uint32_t offset, uint32_t bytes,
                     bool *unwritten)
{
    struct at_emu_shared *shared = self->shared;

    for (uint32_t i = offset; i < offset + bytes; i++) {
        uint32_t written = shared->written[i];

        /* The usual case: one thread wrote before the barrier, and one thread reads after it. */
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

static int note_write(const struct thread_access *self, uint32_t offset, uint32_t bytes,
                      bool undefined)
{
    struct at_emu_shared *shared = self->shared;

    for (uint32_t i = offset; i < offset + bytes; i++) {
        bool untouched = shared->written[i] < self->past && shared->read[i] < self->past;

        if (!untouched && races_with_write(self, shared->written[i]))
            return (int)(shared->written[i] & THREAD_MASK);
        if (!untouched && races_with_read(self, shared->read[i]))
            return (int)(shared->read[i] & THREAD_MASK);
        /* An undefined value leaves the byte unwritten, for races too: it cannot be used anyway. */
        shared->written[i] = undefined ? 0 : self->record;
    }
    return -1;
}

bool at_emu_shared_note(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        bool store, bool atomic, uint32_t bytes, const uint64_t address[AT_WARP],
                        uint32_t undefined, uint32_t *unwritten)
{
    uint32_t synced = later(warp->block->shared.synced, warp->joined);
    struct thread_access self = {
        .shared = &warp->block->shared,
        .past = synced << TICK_SHIFT,
        .synced = synced,
        .warp_synced = later(warp->synced, synced),
        .acquired = warp->acquired,
        .atomic = atomic,
    };

    AT_EACH_OF (i, lanes) {
        bool missing = false; /* an unwritten byte is read */
        int other = -1;

        self.thread = warp->first_thread + (uint32_t)i;
        self.record = self.shared->tick << TICK_SHIFT | self.thread;
        if (!store && !atomic)
            other = note_read(&self, (uint32_t)address[i], bytes, &missing);
        if (atomic) {
            missing = tick_of(self.shared->written[address[i]]) < self.shared->first;
            self.record |= ATOMIC;
        }
        if (store || (atomic && !missing))
            other =
                note_write(&self, (uint32_t)address[i], bytes, (undefined & at_lane_bit[i]) != 0);
        if (other >= 0) {
            at_emu_raise(warp, op, AT_EMU_SHARED_RACE, i, address[i],
                         "%u bytes, with thread %d of the block", bytes, other);
            return false;
        }
        if (missing)
            *unwritten |= at_lane_bit[i];
    }
    return true;
}

void at_emu_shared_acquire(struct at_emu_warp *warp, uint32_t completed)
{
    warp->acquired = warp->block->shared.tick;
    warp->joined = later(warp->joined, completed);
}

bool at_emu_shared_begin_fill(const struct at_emu_bulk *bulk)
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

bool at_emu_shared_end_fill(const struct at_emu_bulk *bulk)
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

bool at_emu_shared_begin_drain(const struct at_emu_bulk *bulk)
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

bool at_emu_shared_end_drain(const struct at_emu_bulk *bulk)
{
    const struct at_emu_shared *shared = &bulk->warp->block->shared;

    for (uint64_t i = bulk->from; i < bulk->from + bulk->bytes; i++)
        if (tick_of(shared->written[i]) > bulk->tick)
            return race(bulk, i, shared->written[i], "wrote there before the copy was made");
    return true;
}
