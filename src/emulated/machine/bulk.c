/* SPDX-License-Identifier: Apache-2.0 */
/* Copies between global and shared memory that run beside the threads, and the mbarriers on which
 * threads wait for them (PTX ISA, "cp.async", "cp.async.bulk", "mbarrier"). */
#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"
#include "emulated/machine/races.h"

/* Bulk copies run beside the threads. A fill makes its bytes unwritten from its begin to its end.
 * The bytes that a drain reads must be written, fenced for the asynchronous proxy, and stay
 * unchanged from begin to end. These functions return false if a fault was raised. */

static bool note_bulk(const struct at_emu_bulk *bulk, bool fill, uint32_t *unwritten)
{
    uint32_t lanes = at_lane_bit[bulk->lane];
    uint64_t address[AT_WARP] = {0};

    address[bulk->lane] = fill ? bulk->to : bulk->from;
    return at_emu_shared_note(bulk->op, bulk->warp, lanes, fill, false, bulk->bytes, address,
                              fill ? lanes : 0, unwritten);
}

static const char source_changed[] = "its source is overwritten before the copy is waited for";

/* A sum over the bytes of a fill's source, in units of 8 bytes. */
static uint64_t sum_source(const struct at_emu_bulk *bulk)
{
    const char *from = at_emu_memory_host(bulk->warp->block->memory, bulk->from, bulk->bytes);
    uint64_t sum = 0, word;

    for (uint32_t i = 0; i < bulk->bytes; i += sizeof word) {
        memcpy(&word, from + i, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
        sum ^= sum >> 32;
    }
    return sum;
}

static bool race(const struct at_emu_bulk *bulk, uint64_t offset, uint32_t record, const char *what)
{
    at_emu_raise(bulk->warp, bulk->op, AT_EMU_SHARED_RACE, (int)bulk->lane, offset,
                 "with thread %u of the block, which %s", record & AT_EMU_THREAD_MASK, what);
    return false;
}

static bool end_fill(const struct at_emu_bulk *bulk)
{
    struct at_emu_shared *shared = &bulk->warp->block->shared;
    uint32_t thread = bulk->warp->first_thread + bulk->lane;

    for (uint64_t i = bulk->to; i < bulk->to + bulk->bytes; i++) {
        if (at_emu_tick_of(shared->written[i]) >= shared->first)
            return race(bulk, i, shared->written[i], "wrote there meanwhile");
        shared->written[i] = shared->tick << AT_EMU_TICK_SHIFT | AT_EMU_BY_BULK | thread;
    }
    if (bulk->sum != sum_source(bulk))
        at_emu_raise(bulk->warp, bulk->op, AT_EMU_COPY_RACE, (int)bulk->lane, bulk->from, "%s",
                     source_changed);
    return bulk->sum == sum_source(bulk);
}

static bool begin_drain(const struct at_emu_bulk *bulk)
{
    struct at_emu_shared *shared = &bulk->warp->block->shared;
    uint32_t unwritten = 0;

    for (uint64_t i = bulk->from; i < bulk->from + bulk->bytes; i++) {
        uint32_t written = shared->written[i];

        if (at_emu_tick_of(written) >= shared->first && !(written & AT_EMU_BY_BULK) &&
            shared->fenced[written & AT_EMU_THREAD_MASK] < at_emu_tick_of(written))
            return race(bulk, i, written, "made no fence.proxy.async since it wrote there");
    }
    if (!note_bulk(bulk, false, &unwritten))
        return false;
    if (unwritten)
        at_emu_raise(bulk->warp, bulk->op, AT_EMU_SHARED_UNWRITTEN, (int)bulk->lane, bulk->from,
                     "%u bytes", bulk->bytes);
    return !unwritten;
}

static bool end_drain(const struct at_emu_bulk *bulk)
{
    const struct at_emu_shared *shared = &bulk->warp->block->shared;

    for (uint64_t i = bulk->from; i < bulk->from + bulk->bytes; i++)
        if (at_emu_tick_of(shared->written[i]) > bulk->tick)
            return race(bulk, i, shared->written[i], "wrote there before the copy was made");
    return true;
}

enum {
    UNIT_BYTES = 16, /* the most of cp.async; all of cp.async.bulk is in multiples of it */
    MBARRIER_BYTES = 8,
    COUNT_MAX = (1 << 20) - 1, /* PTX ISA, mbarrier: of arrivals, and of bytes */
};

/* The bytes of a copy under way are unwritten. A later write to them, by a thread or another copy,
 * races with it. */
static bool untouched(const struct at_emu_copy *copy, struct at_emu_warp *warp, uint32_t lanes)
{
    const struct at_emu_shared *shared = &warp->block->shared;

    AT_EACH_OF (i, lanes)
        for (uint64_t k = copy->to[i]; k < copy->to[i] + copy->op->unit_bytes; k++)
            if (at_emu_tick_of(shared->written[k]) >= shared->first) {
                at_emu_raise(warp, copy->op, AT_EMU_SHARED_RACE, i, k,
                             "with thread %u of the block, which wrote there meanwhile",
                             shared->written[k] & AT_EMU_THREAD_MASK);
                return false;
            }
    return true;
}

/* cp.async: copies from global to shared memory that run beside the thread (PTX ISA, "Data Movement
 * and Conversion Instructions: Asynchronous copy"). A copy is checked and counted when it is
 * issued, and done at the wait. A kernel that reads before the wait finds the old bytes, as it may
 * on a GPU. Operands: destination, source, and the bytes to copy; the rest of unit_bytes becomes
 * zeros. */
void at_emu_run_copy(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_copy copy = {.op = op, .lanes = lanes};
    const uint32_t *size = AT_EMU_ROW(uint32_t, warp, op->row[2]);
    const uint64_t *fills = op->past_l1 ? copy.to : NULL;
    char *host[AT_WARP];

    at_emu_access_addresses(warp, op->row[0], op->address_bytes, op->immediate, copy.to);
    at_emu_access_addresses(warp, op->row[1], 8, op->source_offset, copy.from);
    if (!at_emu_access_resolve(op, warp, lanes, AT_EMU_SHARED, op->unit_bytes, copy.to, host) ||
        !at_emu_access_resolve(op, warp, lanes, AT_EMU_GLOBAL, op->unit_bytes, copy.from, host))
        return;
    at_emu_access_report(op, warp, lanes, AT_EMU_GLOBAL, false, op->unit_bytes, copy.from, fills);
    if (warp->block->races && !at_emu_races_note(op, warp, lanes, false, op->unit_bytes, copy.from))
        return;
    at_emu_access_report(op, warp, lanes, AT_EMU_SHARED, true, op->unit_bytes, copy.to, fills);
    if (!at_emu_shared_note(op, warp, lanes, true, false, op->unit_bytes, copy.to, lanes, NULL))
        return;
    AT_EACH_OF (i, lanes) {
        copy.group[i] = warp->groups[i];
        copy.size[i] = size[i] < op->unit_bytes ? size[i] : op->unit_bytes;
        memcpy(copy.source[i], host[i], copy.size[i]);
    }
    AT_PUSH(warp->copies, warp->copy_count, warp->copy_capacity, copy);
}

/* End a group of copies; of bulk copies, if they store. */
void at_emu_run_commit(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    AT_EACH_OF (i, lanes)
        ++(op->store ? warp->bulk_groups : warp->groups)[i];
}

static bool finish(struct at_emu_copy *copy, struct at_emu_warp *warp, uint32_t lanes)
{
    char *from[AT_WARP], *to[AT_WARP];

    if (!untouched(copy, warp, lanes) ||
        !at_emu_access_resolve(copy->op, warp, lanes, AT_EMU_SHARED, copy->op->unit_bytes, copy->to,
                               to) ||
        !at_emu_access_resolve(copy->op, warp, lanes, AT_EMU_GLOBAL, copy->op->unit_bytes,
                               copy->from, from) ||
        !at_emu_shared_note(copy->op, warp, lanes, true, false, copy->op->unit_bytes, copy->to, 0,
                            NULL))
        return false;
    AT_EACH_OF (i, lanes) {
        char bytes[UNIT_BYTES] = {0};

        memcpy(bytes, from[i], copy->size[i]);
        if (memcmp(bytes, copy->source[i], copy->size[i]) != 0) {
            at_emu_raise(warp, copy->op, AT_EMU_COPY_RACE, i, copy->from[i], "%s", source_changed);
            return false;
        }
        memcpy(to[i], bytes, copy->op->unit_bytes);
    }
    copy->lanes &= ~lanes;
    return true;
}

/* immediate: how many of the latest groups may stay unfinished; -1: none, nor copies outside of a
 * group. */
static bool finish_copies(struct at_emu_warp *warp, uint32_t lanes, int64_t unfinished)
{
    size_t kept = 0;

    for (size_t k = 0; k < warp->copy_count; k++) {
        struct at_emu_copy *copy = &warp->copies[k];
        uint32_t due = 0;

        AT_EACH_OF (i, lanes & copy->lanes)
            if (unfinished < 0 || copy->group[i] + unfinished < warp->groups[i])
                due |= at_lane_bit[i];
        if (due && !finish(copy, warp, due))
            return false;
        if (copy->lanes)
            warp->copies[kept++] = *copy;
    }
    warp->copy_count = kept;
    return true;
}

void at_emu_run_copy_wait(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    finish_copies(warp, lanes, op->immediate);
}

/* mbarriers, on which threads wait for each other and for bulk copies (PTX ISA, "Parallel
 * Synchronization and Communication Instructions: mbarrier"). The block keeps their state, not the
 * 8 bytes of shared memory that each occupies. */

/* The mbarrier at this offset, or NULL. */
static struct at_emu_mbarrier *find_mbarrier(struct at_emu_block *block, uint64_t offset)
{
    for (size_t i = 0; i < block->mbarrier_count; i++)
        if (block->mbarriers[i].offset == offset)
            return &block->mbarriers[i];
    return NULL;
}

/* Read and check the lanes' addresses of mbarriers. An operation is an arrival or a wait: the
 * mbarrier must exist. Operations count as atomic, so they may come together; the initialisation
 * does not. False if a fault was raised. */
static bool locate_mbarriers(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                             bool operation, uint64_t address[AT_WARP])
{
    char *host[AT_WARP];
    uint32_t unwritten = 0;

    at_emu_access_addresses(warp, op->address, op->address_bytes, op->immediate, address);
    if (!at_emu_access_resolve(op, warp, lanes, AT_EMU_SHARED, MBARRIER_BYTES, address, host) ||
        !at_emu_shared_note(op, warp, lanes, !operation, operation, MBARRIER_BYTES, address, 0,
                            &unwritten))
        return false;
    AT_EACH_OF (i, lanes)
        if (operation && !find_mbarrier(warp->block, address[i])) {
            at_emu_raise(warp, op, AT_EMU_SHARED_UNWRITTEN, i, address[i], "no mbarrier");
            return false;
        }
    return true;
}

void at_emu_run_mbarrier_init(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    const uint32_t *count = AT_EMU_ROW(uint32_t, warp, op->row[1]);
    struct at_emu_block *block = warp->block;
    uint64_t address[AT_WARP];

    if (!locate_mbarriers(op, warp, lanes, false, address))
        return;
    AT_EACH_OF (i, lanes) {
        const struct at_emu_mbarrier made = {
            .offset = (uint32_t)address[i], .expected = count[i], .pending = count[i]};
        struct at_emu_mbarrier *known = find_mbarrier(block, address[i]);

        if (count[i] < 1 || count[i] > COUNT_MAX)
            at_emu_raise(warp, op, AT_EMU_BARRIER, i, 0, "an mbarrier for %u arrivals", count[i]);
        if (known)
            *known = made;
        else
            AT_PUSH(block->mbarriers, block->mbarrier_count, block->mbarrier_capacity, made);
    }
}

/* mbarrier.inval: the memory may have another use. */
void at_emu_run_mbarrier_end(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    uint64_t address[AT_WARP];

    if (!locate_mbarriers(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes)
        find_mbarrier(warp->block, address[i])->offset = UINT32_MAX;
}

/* After a change: complete the phase if nothing is pending. False if a fault was raised. */
static bool update_mbarrier(const struct at_emu_op *op, struct at_emu_warp *warp, int lane,
                            struct at_emu_mbarrier *mbarrier)
{
    if (mbarrier->bytes < -COUNT_MAX || mbarrier->bytes > COUNT_MAX) {
        at_emu_raise(warp, op, AT_EMU_BARRIER, lane, 0, "an mbarrier's count of bytes overflows");
        return false;
    }
    if (mbarrier->pending == 0 && mbarrier->bytes == 0) {
        mbarrier->pending = mbarrier->expected;
        mbarrier->phase++;
        warp->block->barrier_events++;
        mbarrier->completed = at_emu_order_pass_tick(warp->block);
    }
    return true;
}

/* Subtract arrivals from the pending ones, and expect more bytes. */
static bool arrive(const struct at_emu_op *op, struct at_emu_warp *warp, int lane,
                   struct at_emu_mbarrier *mbarrier, uint32_t arrivals, uint32_t bytes)
{
    if (mbarrier->pending < arrivals) {
        at_emu_raise(warp, op, AT_EMU_BARRIER, lane, 0, "more arrivals than the mbarrier expects");
        return false;
    }
    mbarrier->pending -= arrivals;
    mbarrier->bytes += bytes;
    return update_mbarrier(op, warp, lane, mbarrier);
}

/* The lanes' values, one after the other, are arrivals, or bytes to come. The
 * state that an arrival returns is the number of its phase. */
void at_emu_run_mbarrier_change(const struct at_emu_op *op, struct at_emu_warp *warp,
                                uint32_t lanes)
{
    const uint32_t *value = AT_EMU_ROW(uint32_t, warp, op->row[op->result_count + 1]);
    uint32_t arrivals = op->mbarrier & AT_EMU_ARRIVES ? 1 : 0;
    bool in_bytes = op->mbarrier & AT_EMU_IN_BYTES;
    uint64_t address[AT_WARP];

    if (!locate_mbarriers(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = find_mbarrier(warp->block, address[i]);

        if (op->result_count)
            AT_EMU_ROW(uint64_t, warp, op->row[0])[i] = mbarrier->phase;
        if (!arrive(op, warp, i, mbarrier, in_bytes ? arrivals : value[i], in_bytes ? value[i] : 0))
            return;
    }
}

/* cp.async.mbarrier.arrive: the lanes arrive when their copies so far are made, which is now.
 * Without .noinc the mbarrier first expects one arrival more of each, so nothing is left of it. */
void at_emu_run_mbarrier_copies(const struct at_emu_op *op, struct at_emu_warp *warp,
                                uint32_t lanes)
{
    uint64_t address[AT_WARP];

    if (!finish_copies(warp, lanes, -1) || !locate_mbarriers(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes)
        if (!arrive(op, warp, i, find_mbarrier(warp->block, address[i]),
                    op->mbarrier & AT_EMU_ARRIVES ? 1 : 0, 0))
            return;
}

/* fence.proxy.async: bulk copies may now read the lanes' data. */
void at_emu_run_proxy_fence(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_shared *shared = &warp->block->shared;

    (void)op;
    AT_EACH_OF (i, lanes)
        shared->fenced[warp->first_thread + (uint32_t)i] = shared->tick;
}

/* Bulk copies between global and shared memory (PTX ISA, "cp.async.bulk"). A copy is checked and
 * counted when it begins. Its bytes move as late as possible, at the successful wait for its phase
 * or group. So a kernel without the right wait works on the old bytes. */

/* End the bulk copies that are due: move their bytes. False if a fault was raised. */
static bool end_due(struct at_emu_block *block)
{
    size_t kept = 0;

    for (size_t k = 0; k < block->bulk_count; k++) {
        const struct at_emu_bulk *bulk = &block->bulk[k];
        bool drain = bulk->op->store;
        char *shared = block->shared.bytes + (drain ? bulk->from : bulk->to);

        if (!bulk->due) {
            block->bulk[kept++] = *bulk;
            continue;
        }
        if (!(drain ? end_drain(bulk) : end_fill(bulk)))
            return false;
        if (drain)
            memcpy(at_emu_memory_host(block->memory, bulk->to, bulk->bytes), shared, bulk->bytes);
        else
            memcpy(shared, at_emu_memory_host(block->memory, bulk->from, bulk->bytes), bulk->bytes);
    }
    block->bulk_count = kept;
    return true;
}

/* End the fills of an mbarrier's completed phases. */
static bool end_fills(struct at_emu_block *block, uint32_t mbarrier)
{
    size_t before = block->bulk_count;

    for (size_t k = 0; k < before; k++)
        block->bulk[k].due = !block->bulk[k].op->store && block->bulk[k].mbarrier == mbarrier &&
                             block->bulk[k].phase != block->mbarriers[mbarrier].phase;
    if (!end_due(block))
        return false;
    if (block->bulk_count < before)
        at_emu_order_pass_tick(block);
    return true;
}

/* Check the alignment and both ends of a copy. Both lie in one allocation, because the space
 * between allocations (memory.c) is larger than any copy. */
static bool resolve(const struct at_emu_bulk *bulk, enum at_emu_space space, uint64_t address)
{
    uint32_t lanes = at_lane_bit[bulk->lane];
    uint64_t at[AT_WARP] = {0};
    char *host[AT_WARP];

    at[bulk->lane] = address;
    if (!at_emu_access_resolve(bulk->op, bulk->warp, lanes, space, UNIT_BYTES, at, host))
        return false;
    at[bulk->lane] = address + bulk->bytes - UNIT_BYTES;
    return at_emu_access_resolve(bulk->op, bulk->warp, lanes, space, UNIT_BYTES, at, host);
}

/* Report requests of 16 bytes per lane to global memory; shared memory has no bank conflicts here.
 */
static void report(const struct at_emu_bulk *bulk, uint64_t address)
{
    for (uint32_t done = 0; done < bulk->bytes; done += AT_WARP * UNIT_BYTES) {
        uint32_t units = (bulk->bytes - done) / UNIT_BYTES;
        uint64_t at[AT_WARP];

        AT_EACH_LANE (i)
            at[i] = address + done + (uint32_t)i * UNIT_BYTES;
        at_emu_access_report(bulk->op, bulk->warp, units < AT_WARP ? (1u << units) - 1 : UINT32_MAX,
                             AT_EMU_GLOBAL, bulk->op->store, UNIT_BYTES, at, NULL);
    }
}

static bool begin(struct at_emu_bulk *bulk)
{
    const struct at_emu_op *op = bulk->op;
    struct at_emu_block *block = bulk->warp->block;
    uint64_t global = op->store ? bulk->to : bulk->from;

    if (bulk->bytes == 0 || bulk->bytes % UNIT_BYTES) {
        at_emu_raise(bulk->warp, op, AT_EMU_MISALIGNED, (int)bulk->lane, global,
                     "a bulk copy of %u bytes", bulk->bytes);
        return false;
    }
    if (!resolve(bulk, AT_EMU_SHARED, op->store ? bulk->from : bulk->to) ||
        !resolve(bulk, AT_EMU_GLOBAL, global) ||
        !(op->store ? begin_drain(bulk) : note_bulk(bulk, true, NULL)))
        return false;
    report(bulk, global);
    if (!op->store)
        bulk->sum = sum_source(bulk);
    AT_PUSH(block->bulk, block->bulk_count, block->bulk_capacity, *bulk);
    return true;
}

/* Operands: destination, source, bytes; and for a fill its mbarrier. */
void at_emu_run_bulk(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    const uint32_t *bytes = AT_EMU_ROW(uint32_t, warp, op->row[2]);
    struct at_emu_block *block = warp->block;
    uint64_t to[AT_WARP], from[AT_WARP], address[AT_WARP] = {0};

    at_emu_access_addresses(warp, op->row[0], op->to_bytes, op->to_offset, to);
    at_emu_access_addresses(warp, op->row[1], op->from_bytes, op->source_offset, from);
    if (!op->store && !locate_mbarriers(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = op->store ? NULL : find_mbarrier(block, address[i]);
        struct at_emu_bulk bulk = {.op = op,
                                   .warp = warp,
                                   .lane = (uint32_t)i,
                                   .bytes = bytes[i],
                                   .group = warp->bulk_groups[i],
                                   .tick = block->shared.tick,
                                   .from = from[i],
                                   .to = to[i]};

        if (mbarrier) {
            bulk.mbarrier = (uint32_t)(mbarrier - block->mbarriers);
            bulk.phase = mbarrier->phase;
        }

        if (!begin(&bulk))
            return;
        if (mbarrier) {
            mbarrier->bytes -= bytes[i];
            if (!update_mbarrier(op, warp, i, mbarrier))
                return;
        }
    }
}

/* immediate: how many of the latest groups may stay unfinished. */
void at_emu_run_bulk_wait(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_block *block = warp->block;

    for (size_t k = 0; k < block->bulk_count; k++) {
        struct at_emu_bulk *bulk = &block->bulk[k];

        bulk->due = bulk->op->store && bulk->warp == warp && lanes & at_lane_bit[bulk->lane] &&
                    bulk->group + op->immediate < warp->bulk_groups[bulk->lane];
    }
    end_due(block);
}

/* A block's shared memory must live until its bulk copies have read it (CUDA C++ Programming Guide,
 * "Using TMA to transfer one-dimensional arrays"). */
void at_emu_bulk_end_block(struct at_emu_block *block)
{
    for (size_t k = 0; k < block->bulk_count; k++)
        if (block->bulk[k].op->store)
            at_emu_raise(block->bulk[k].warp, block->bulk[k].op, AT_EMU_COPY_RACE,
                         (int)block->bulk[k].lane, block->bulk[k].to,
                         "nothing waits for it before the block ends: cp.async.bulk.wait_group is "
                         "missing");
}

/* mbarrier.try_wait: is the phase of an arrival's state complete, or the last one of a parity,
 * which is the current one or is complete? If not, for some lane, the warp stalls and other warps
 * run. */
void at_emu_run_mbarrier_wait(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    const uint32_t *odd = AT_EMU_ROW(uint32_t, warp, op->row[2]);
    const uint64_t *state = AT_EMU_ROW(uint64_t, warp, op->row[2]);
    struct at_emu_block *block = warp->block;
    uint64_t address[AT_WARP];
    uint32_t complete = 0, completed = 0;

    if (!locate_mbarriers(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = find_mbarrier(block, address[i]);

        if (op->mbarrier & AT_EMU_PARITY ? mbarrier->phase % 2 == (odd[i] & 1)
                                         : mbarrier->phase == state[i])
            continue;
        complete |= at_lane_bit[i];
        completed = at_emu_later(completed, mbarrier->completed);
        if (!end_fills(block, (uint32_t)(mbarrier - block->mbarriers)))
            return;
    }
    if (complete) {
        block->barrier_events++;
        warp->acquired = block->shared.tick;
        warp->joined = at_emu_later(warp->joined, completed);
    }
    if (complete != lanes)
        warp->stalled = op;
    at_keep_predicate(warp, op->row[0], complete, lanes);
}
