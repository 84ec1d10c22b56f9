/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of each byte of shared memory: the last write and the last read, by which thread and
 * when.
 *
 * Two accesses by different threads are ordered if a barrier of the block lies between them, or a
 * named barrier that both warps come to. For threads of one warp, a barrier of the warp is enough.
 * A flag orders them too: a fence after the first access, and a strong read before the second (CUDA
 * C++ Programming Guide, "Memory Fence Functions"). Whether that read found what was written behind
 * the fence is not looked at. Two unordered accesses, one of them a write, are a race. A write
 * before the block's first tick does not count.
 *
 * A wait for an mbarrier orders all accesses from before its phase was complete. So a race with a
 * thread that never arrived there is not found. The writes of a bulk copy are ordered before all
 * that follows a wait for its mbarrier, or a barrier of the block after such a wait. */
#include "emulated/machine/lanes.h"
#include "emulated/machine/races.h"

/* One thread's access, and the ticks to compare it with. */
struct thread_access {
    struct at_emu_shared *shared;
    const struct at_emu_warp *warp;
    const struct at_emu_op *op;
    uint32_t thread;
    const uint64_t *address; /* of all lanes */
    uint32_t lanes, bytes;
    uint32_t offset;     /* of its first byte */
    uint32_t first_byte; /* of what a store writes: at this offset */
    uint32_t undefined;  /* the lanes that store an undefined value */
    uint32_t record;     /* of this access */
    uint32_t past;       /* smaller records are from before the last barrier with the block */
    uint32_t synced; /* the tick of that: of the block, or an mbarrier that its warp waited for */
    uint32_t warp_synced; /* the tick of its warp's last barrier of any kind */
    uint32_t acquired;    /* the tick of its warp's last wait for an mbarrier */
    bool store, atomic, strong;
};

enum { NO_RACE = -1, OUTSIDE = -2 };

static bool same_warp(const struct thread_access *self, uint32_t record)
{
    return (record & AT_EMU_THREAD_MASK) / AT_WARP == self->thread / AT_WARP;
}

static bool has_fence(const struct thread_access *self, uint32_t thread)
{
    return self->warp->block->fences.of_thread[thread] >= self->shared->first;
}

/* Accesses of a flag are no race. Volatile ones order nothing without fences; a fence makes them
 * those of a flag, and a plain store beside a volatile read too. */
static bool are_of_flag(const struct thread_access *self, uint32_t record, bool wrote)
{
    bool plain_store = wrote ? !(record & AT_EMU_STRONG_ACCESS) : !self->strong;

    if (plain_store)
        return (wrote ? self->strong && !self->store : record & AT_EMU_STRONG_ACCESS) &&
               has_fence(self, wrote ? record & AT_EMU_THREAD_MASK : self->thread);
    return self->strong && record & AT_EMU_STRONG_ACCESS &&
           (self->atomic || (wrote && record & AT_EMU_BY_ATOMIC) ||
            self->warp->block->kernel->fences);
}

/* Does neither a barrier nor a flag lie between what a thread did at the record's time, and this
 * access? */
static bool unordered(const struct thread_access *self, uint32_t record, uint32_t thread)
{
    uint32_t tick = at_emu_tick_of(record);

    return tick >= at_emu_last_barrier(self->warp, self->thread, thread) &&
           !(self->warp->block->kernel->fences &&
             at_emu_order_has_acquired(self->warp, self->thread) &&
             at_emu_order_is_released(&self->warp->block->fences, thread, tick));
}

static bool races_with_write(const struct thread_access *self, uint32_t written)
{
    if (written & AT_EMU_BY_BULK)
        return at_emu_tick_of(written) >= self->shared->synced &&
               at_emu_tick_of(written) >= self->acquired;
    if (self->atomic && written & AT_EMU_BY_ATOMIC)
        return false;
    return (written & AT_EMU_THREAD_MASK) != self->thread &&
           unordered(self, written, written & AT_EMU_THREAD_MASK) &&
           !are_of_flag(self, written, true);
}

/* The lanes of the record's warp that read byte i without a barrier between them. */
static uint32_t readers(const struct at_emu_shared *shared, uint32_t i)
{
    uint32_t read = shared->read[i];

    return read & AT_EMU_MORE_LANES ? shared->readers[i] : at_lane_bit[read % AT_WARP];
}

/* Of several warps that read a byte only the last one is known. Do flags or named barriers, which
 * order these warps, order all of them? Then they may order all reads. */
static bool races_with_many(const struct thread_access *self, uint32_t read)
{
    uint32_t tick = at_emu_tick_of(read), last = self->synced;

    for (uint32_t i = 0; self->warp->knows && i < AT_EMU_WARPS_MAX; i++)
        last = at_emu_later(last, self->warp->knows[i]);
    return tick >= last && !(at_emu_order_has_acquired(self->warp, self->thread) &&
                             self->warp->block->kernel->fences);
}

/* A thread that read byte i and races with this write, or NO_RACE. */
static int racing_reader(const struct thread_access *self, uint32_t i)
{
    uint32_t read = self->shared->read[i], lanes = readers(self->shared, i);
    uint32_t first = (read & AT_EMU_THREAD_MASK) - read % AT_WARP;
    int other = NO_RACE;

    if (read & AT_EMU_MORE_WARPS) {
        other = races_with_many(self, read) ? (int)(read & AT_EMU_THREAD_MASK) : NO_RACE;
    } else {
        if (same_warp(self, read))
            lanes &= ~at_lane_bit[self->thread % AT_WARP];
        for (int lane = at_lane_from(lanes, 0); lane < AT_WARP && other == NO_RACE;
             lane = at_lane_from(lanes, lane + 1))
            if (unordered(self, read, first + (uint32_t)lane))
                other = (int)first + lane;
    }
    return other != NO_RACE && are_of_flag(self, read, false) ? NO_RACE : other;
}

/* Record one more read of byte i, with flags for unordered reads by other threads. Of those in the
 * warp, the lanes are kept that had no barrier of a part of the warp since. */
static void join(const struct thread_access *self, uint32_t i)
{
    struct at_emu_shared *shared = self->shared;
    uint32_t read = shared->read[i], tick = at_emu_tick_of(read), lanes = 0;
    uint32_t before = readers(shared, i);
    uint32_t own = at_lane_bit[self->thread % AT_WARP];

    shared->read[i] = self->record;
    if (tick < self->synced)
        return;
    if (!(read & AT_EMU_STRONG_ACCESS))
        shared->read[i] &= ~(uint32_t)AT_EMU_STRONG_ACCESS;
    if (read & AT_EMU_MORE_WARPS || !same_warp(self, read)) {
        shared->read[i] |= AT_EMU_MORE_WARPS;
        return;
    }
    if (tick >= self->warp_synced)
        lanes = before;
    AT_EACH_OF (lane, self->warp->heard ? lanes : 0)
        if (self->warp->heard[lane][lane] > tick)
            lanes &= ~at_lane_bit[lane];
    if (lanes & ~own) {
        shared->read[i] |= AT_EMU_MORE_LANES;
        shared->readers[i] = lanes | own;
    }
}

/* The byte that a lane of a store writes at `offset`. */
static char stored_byte(const struct thread_access *self, int lane, uint32_t offset)
{
    const struct at_emu_op *op = self->op;
    uint32_t at = self->first_byte + offset - (uint32_t)self->address[lane];

    return self->warp->file[op->row[1 + at / op->unit_bytes] + (uint32_t)lane * op->value_bytes +
                            at % op->unit_bytes];
}

/* Does a store write the value that byte i has, or gets from another lane now? Threads that write
 * the same value do not race: it is there whoever comes last (CUDA C++ Programming Guide, "SIMT
 * Architecture": one of several writes to a location is performed). */
static bool repeats(const struct thread_access *self, uint32_t i)
{
    uint32_t written = self->shared->written[i];
    int lane = (int)(self->thread % AT_WARP), other = (int)(written % AT_WARP);
    bool now = same_warp(self, written) && self->lanes & at_lane_bit[other] &&
               at_emu_tick_of(written) == self->shared->tick &&
               i - self->address[other] < self->bytes;

    if (!self->op->store || self->op->atomic || self->undefined & at_lane_bit[lane])
        return false;
    return stored_byte(self, lane, i) ==
           (now ? stored_byte(self, other, i) : self->shared->bytes[i]);
}

/* note_read and note_write return the other thread of a race, NO_RACE or OUTSIDE. */
static int note_read(const struct thread_access *self, bool *unwritten)
{
    struct at_emu_shared *shared = self->shared;

    for (uint32_t i = self->offset; i < self->offset + self->bytes; i++) {
        uint32_t written = shared->written[i];

        /* The usual case: one thread wrote before the barrier, and one thread reads after it. */
        if (written >= shared->first << AT_EMU_TICK_SHIFT && written < self->past &&
            shared->read[i] < self->past) {
            shared->read[i] = self->record;
            continue;
        }
        if (written == AT_EMU_OUTSIDE)
            return OUTSIDE;
        if (at_emu_tick_of(written) < shared->first)
            *unwritten = true;
        else if (races_with_write(self, written))
            return (int)(written & AT_EMU_THREAD_MASK);
        join(self, i);
    }
    return NO_RACE;
}

/* The other thread of a race with a write to a byte that was accessed since the last barrier. */
static int racing(const struct thread_access *self, uint32_t i)
{
    uint32_t written = self->shared->written[i];

    if (written == AT_EMU_OUTSIDE)
        return OUTSIDE;
    if (races_with_write(self, written) && (written & AT_EMU_BY_BULK || !repeats(self, i)))
        return (int)(written & AT_EMU_THREAD_MASK);
    return racing_reader(self, i);
}

static int note_write(const struct thread_access *self)
{
    struct at_emu_shared *shared = self->shared;
    bool undefined = self->undefined & at_lane_bit[self->thread % AT_WARP];

    for (uint32_t i = self->offset; i < self->offset + self->bytes; i++) {
        if (shared->written[i] >= self->past || shared->read[i] >= self->past) {
            int other = racing(self, i);

            if (other != NO_RACE)
                return other;
        }
        /* An undefined value leaves the byte unwritten, for races too: it cannot be used anyway. */
        shared->written[i] = undefined ? 0 : self->record;
    }
    return NO_RACE;
}

static bool raise_access(const struct at_emu_op *op, struct at_emu_warp *warp, int lane,
                         uint64_t address, uint32_t bytes, int other)
{
    if (other == OUTSIDE)
        at_emu_raise(warp, op, AT_EMU_SHARED_BOUNDS, lane, address,
                     "%u bytes between two shared arrays: beyond the end of one", bytes);
    else
        at_emu_raise(warp, op, AT_EMU_SHARED_RACE, lane, address,
                     "%u bytes, with thread %d of the block", bytes, other);
    return false;
}

/* first_byte: where the bytes begin within what a store writes. */
static bool note(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes, bool store,
                 bool atomic, uint32_t bytes, const uint64_t address[AT_WARP], uint32_t first_byte,
                 uint32_t undefined, uint32_t *unwritten)
{
    uint32_t synced = at_emu_later(warp->block->shared.synced, warp->joined);
    struct thread_access self = {
        .shared = &warp->block->shared,
        .warp = warp,
        .op = op,
        .address = address,
        .lanes = lanes,
        .bytes = bytes,
        .first_byte = first_byte,
        .undefined = undefined,
        .past = synced << AT_EMU_TICK_SHIFT,
        .synced = synced,
        .warp_synced = at_emu_later(warp->synced, synced),
        .acquired = warp->acquired,
        .store = store,
        .atomic = atomic,
        .strong = atomic || op->order & AT_EMU_STRONG,
    };
    uint32_t strong = self.strong ? AT_EMU_STRONG_ACCESS : 0;

    AT_EACH_OF (i, lanes) {
        bool missing = false; /* an unwritten byte is read */
        int other = NO_RACE;

        self.offset = (uint32_t)address[i];
        self.thread = warp->first_thread + (uint32_t)i;
        self.record = self.shared->tick << AT_EMU_TICK_SHIFT | strong | self.thread;
        if (!store && !atomic)
            other = note_read(&self, &missing);
        if (atomic) {
            missing = at_emu_tick_of(self.shared->written[address[i]]) < self.shared->first;
            self.record |= AT_EMU_BY_ATOMIC;
        }
        if (store || (atomic && !missing))
            other = note_write(&self);
        if (other != NO_RACE)
            return raise_access(op, warp, i, address[i], bytes, other);
        if (missing)
            *unwritten |= at_lane_bit[i];
    }
    return true;
}

bool at_emu_shared_note(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        bool store, bool atomic, uint32_t bytes, const uint64_t address[AT_WARP],
                        uint32_t undefined, uint32_t *unwritten)
{
    return note(op, warp, lanes, store, atomic, bytes, address, 0, undefined, unwritten);
}

uint32_t at_emu_shared_unwritten(const struct at_emu_warp *warp, uint32_t lanes, uint32_t bytes,
                                 const uint64_t address[AT_WARP], uint32_t first_byte)
{
    const struct at_emu_shared *shared = &warp->block->shared;
    uint32_t unwritten = 0;

    AT_EACH_OF (i, lanes)
        for (uint32_t at = 0; at < bytes; at++)
            if (at_emu_tick_of(shared->written[address[i] + first_byte + at]) < shared->first)
                unwritten |= at_lane_bit[i];
    return unwritten;
}

bool at_emu_shared_note_store(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                              uint32_t bytes, const uint64_t address[AT_WARP])
{
    uint64_t part[AT_WARP];

    if (warp->undefined_rows == 0)
        return at_emu_shared_note(op, warp, lanes, true, false, bytes, address, 0, NULL);
    for (uint32_t k = 0; k < op->units; k++) {
        AT_EACH_LANE (i)
            part[i] = address[i] + k * op->unit_bytes;
        if (!note(op, warp, lanes, true, false, op->unit_bytes, part, k * op->unit_bytes,
                  at_emu_undefined(warp, op->row[1 + k]), NULL))
            return false;
    }
    return true;
}
