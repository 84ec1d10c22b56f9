/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies between global and shared memory (PTX ISA, "cp.async.bulk"). A copy is checked and
 * counted when it begins. Its bytes move as late as possible, at the successful wait for its phase
 * or group. So a kernel without the right wait works on the old bytes. */
#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"

/* cp.async: copies from global to shared memory that run beside the thread (PTX ISA, "Data Movement
 * and Conversion Instructions: Asynchronous copy"). A copy is checked and counted when it is
 * issued, and done at the wait. A kernel that reads before the wait finds the old bytes, as it may
 * on a GPU. */

enum { COPY_BYTES_MAX = 16 };

/* Operands: destination, source, and the bytes to copy; the rest of unit_bytes becomes zeros. */
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
    at_emu_access_report(op, warp, lanes, AT_EMU_SHARED, true, op->unit_bytes, copy.to, fills);
    AT_EACH_LANE (i) {
        copy.group[i] = warp->groups[i];
        copy.size[i] = size[i] < op->unit_bytes ? size[i] : op->unit_bytes;
    }
    AT_PUSH(warp->copies, warp->copy_count, warp->copy_capacity, copy);
}

void at_emu_run_copy_commit(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    (void)op;
    AT_EACH_OF (i, lanes)
        warp->groups[i]++;
}

static bool finish(struct at_emu_copy *copy, struct at_emu_warp *warp, uint32_t lanes)
{
    char *from[AT_WARP], *to[AT_WARP];

    if (!at_emu_access_resolve(copy->op, warp, lanes, AT_EMU_SHARED, copy->op->unit_bytes, copy->to,
                               to) ||
        !at_emu_access_resolve(copy->op, warp, lanes, AT_EMU_GLOBAL, copy->op->unit_bytes,
                               copy->from, from) ||
        !at_emu_shared_note(copy->op, warp, lanes, true, false, copy->op->unit_bytes, copy->to, 0,
                            NULL))
        return false;
    AT_EACH_OF (i, lanes) {
        char bytes[COPY_BYTES_MAX] = {0};

        memcpy(bytes, from[i], copy->size[i]);
        memcpy(to[i], bytes, copy->op->unit_bytes);
    }
    copy->lanes &= ~lanes;
    return true;
}

/* immediate: how many of the latest groups may stay unfinished; -1: none, nor copies outside of a
 * group. */
static bool emu_copies_finish(struct at_emu_warp *warp, uint32_t lanes, int64_t unfinished)
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
    emu_copies_finish(warp, lanes, op->immediate);
}

/* mbarriers, on which threads wait for each other and for bulk copies (PTX ISA, "Parallel
 * Synchronization and Communication Instructions: mbarrier"). The block keeps their state, not the
 * 8 bytes of shared memory that each occupies. */

enum {
    /* PTX ISA, mbarrier: the ranges of both counts. */
    BYTES_MAX = (1 << 20) - 1,
    ARRIVALS_MAX = (1 << 20) - 1,
    SIZE = 8,
};

/* find: the mbarrier at this offset, or NULL. locate: read and check the lanes'
 * addresses of mbarriers; operation: an arrival or a wait, for which the mbarrier must exist.
 * update: after a change, complete the phase if nothing is pending. False if a fault was raised. */
static struct at_emu_mbarrier *emu_mbarrier_find(struct at_emu_block *block, uint64_t offset)
{
    for (size_t i = 0; i < block->mbarrier_count; i++)
        if (block->mbarriers[i].offset == offset)
            return &block->mbarriers[i];
    return NULL;
}

/* Arrivals and waits count as atomic, so they may come together; the initialisation does not. */
static bool emu_mbarrier_locate(const struct at_emu_op *op, struct at_emu_warp *warp,
                                uint32_t lanes, bool operation, uint64_t address[AT_WARP])
{
    char *host[AT_WARP];
    uint32_t unwritten = 0;

    at_emu_access_addresses(warp, op->address, op->address_bytes, op->immediate, address);
    if (!at_emu_access_resolve(op, warp, lanes, AT_EMU_SHARED, SIZE, address, host) ||
        !at_emu_shared_note(op, warp, lanes, !operation, operation, SIZE, address, 0, &unwritten))
        return false;
    AT_EACH_OF (i, lanes)
        if (operation && !emu_mbarrier_find(warp->block, address[i])) {
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

    if (!emu_mbarrier_locate(op, warp, lanes, false, address))
        return;
    AT_EACH_OF (i, lanes) {
        const struct at_emu_mbarrier made = {
            .offset = (uint32_t)address[i], .expected = count[i], .pending = count[i]};
        struct at_emu_mbarrier *known = emu_mbarrier_find(block, address[i]);

        if (count[i] < 1 || count[i] > ARRIVALS_MAX)
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

    if (!emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes)
        emu_mbarrier_find(warp->block, address[i])->offset = UINT32_MAX;
}

static bool emu_mbarrier_update(const struct at_emu_op *op, struct at_emu_warp *warp, int lane,
                                struct at_emu_mbarrier *mbarrier)
{
    if (mbarrier->bytes < -BYTES_MAX || mbarrier->bytes > BYTES_MAX) {
        at_emu_raise(warp, op, AT_EMU_BARRIER, lane, 0, "an mbarrier's count of bytes overflows");
        return false;
    }
    if (mbarrier->pending == 0 && mbarrier->bytes == 0) {
        mbarrier->pending = mbarrier->expected;
        mbarrier->phase++;
        warp->block->mbarrier_events++;
        mbarrier->completed = at_emu_shared_pass_tick(warp->block);
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
    return emu_mbarrier_update(op, warp, lane, mbarrier);
}

/* The lanes' values, one after the other, are arrivals or bytes to come; bytes come with
 * `arrivals`. The state that an arrival returns is the number of its phase. */
static void change(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                   bool are_bytes, uint32_t arrivals)
{
    const uint32_t *value = AT_EMU_ROW(uint32_t, warp, op->row[op->result_count + 1]);
    uint64_t address[AT_WARP];

    if (!emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = emu_mbarrier_find(warp->block, address[i]);

        if (op->result_count)
            AT_EMU_ROW(uint64_t, warp, op->row[0])[i] = mbarrier->phase;
        if (!arrive(op, warp, i, mbarrier, are_bytes ? arrivals : value[i],
                    are_bytes ? value[i] : 0))
            return;
    }
}

void at_emu_run_mbarrier_arrive(const struct at_emu_op *op, struct at_emu_warp *warp,
                                uint32_t lanes)
{
    change(op, warp, lanes, false, 0);
}

void at_emu_run_mbarrier_arrive_expect(const struct at_emu_op *op, struct at_emu_warp *warp,
                                       uint32_t lanes)
{
    change(op, warp, lanes, true, 1);
}

void at_emu_run_mbarrier_expect(const struct at_emu_op *op, struct at_emu_warp *warp,
                                uint32_t lanes)
{
    change(op, warp, lanes, true, 0);
}

/* cp.async.mbarrier.arrive.noinc: the lanes arrive when their copies so far are made, which is now.
 */
void at_emu_run_mbarrier_copies_arrive(const struct at_emu_op *op, struct at_emu_warp *warp,
                                       uint32_t lanes)
{
    uint64_t address[AT_WARP];

    if (!emu_copies_finish(warp, lanes, -1) || !emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes)
        if (!arrive(op, warp, i, emu_mbarrier_find(warp->block, address[i]), 1, 0))
            return;
}

/* cp.async.mbarrier.arrive: the same, but the mbarrier first expects one arrival more of each. */
void at_emu_run_mbarrier_copies(const struct at_emu_op *op, struct at_emu_warp *warp,
                                uint32_t lanes)
{
    uint64_t address[AT_WARP];

    if (emu_copies_finish(warp, lanes, -1))
        emu_mbarrier_locate(op, warp, lanes, true, address);
}

/* fence.proxy.async: bulk copies may now read the lanes' data. */
void at_emu_run_proxy_fence(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_shared *shared = &warp->block->shared;

    (void)op;
    AT_EACH_OF (i, lanes)
        shared->fenced[warp->first_thread + (uint32_t)i] = shared->tick;
}

enum { UNIT_BYTES = 16 }; /* addresses and sizes are multiples (PTX ISA, cp.async.bulk) */

/* End the fills of an mbarrier's completed phases: move their bytes. False if a fault was raised.
 */
static bool end_fills(struct at_emu_block *block, uint32_t mbarrier)
{
    size_t kept = 0;

    for (size_t k = 0; k < block->bulk_count; k++) {
        const struct at_emu_bulk *bulk = &block->bulk[k];

        if (!bulk->op->store && bulk->mbarrier == mbarrier &&
            bulk->phase != block->mbarriers[mbarrier].phase) {
            if (!at_emu_shared_end_fill(bulk))
                return false;
            memcpy(block->shared.bytes + bulk->to,
                   at_emu_memory_host(block->memory, bulk->from, bulk->bytes), bulk->bytes);
        } else {
            block->bulk[kept++] = *bulk;
        }
    }
    if (kept < block->bulk_count)
        at_emu_shared_pass_tick(block);
    block->bulk_count = kept;
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
        !(op->store ? at_emu_shared_begin_drain(bulk) : at_emu_shared_begin_fill(bulk)))
        return false;
    report(bulk, global);
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
    if (!op->store && !emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = op->store ? NULL : emu_mbarrier_find(block, address[i]);
        struct at_emu_bulk bulk = {
            .op = op,
            .warp = warp,
            .lane = (uint32_t)i,
            .bytes = bytes[i],
            .mbarrier = mbarrier ? (uint32_t)(mbarrier - block->mbarriers) : 0,
            .phase = mbarrier ? mbarrier->phase : 0,
            .group = warp->bulk_groups[i],
            .tick = block->shared.tick,
            .from = from[i],
            .to = to[i],
        };

        if (!begin(&bulk))
            return;
        if (mbarrier) {
            mbarrier->bytes -= bytes[i];
            if (!emu_mbarrier_update(op, warp, i, mbarrier))
                return;
        }
    }
}

void at_emu_run_bulk_commit(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    (void)op;
    AT_EACH_OF (i, lanes)
        warp->bulk_groups[i]++;
}

/* immediate: how many of the latest groups may stay unfinished. */
void at_emu_run_bulk_wait(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_block *block = warp->block;
    size_t kept = 0;

    for (size_t k = 0; k < block->bulk_count; k++) {
        const struct at_emu_bulk *bulk = &block->bulk[k];

        if (bulk->op->store && bulk->warp == warp && lanes & at_lane_bit[bulk->lane] &&
            bulk->group + op->immediate < warp->bulk_groups[bulk->lane]) {
            if (!at_emu_shared_end_drain(bulk))
                return;
            memcpy(at_emu_memory_host(block->memory, bulk->to, bulk->bytes),
                   block->shared.bytes + bulk->from, bulk->bytes);
        } else {
            block->bulk[kept++] = *bulk;
        }
    }
    block->bulk_count = kept;
}

/* Are these phases complete? If one is not, for some lane, the warp stalls and other warps run. */
static void wait_for(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                     bool parity)
{
    const uint32_t *odd = AT_EMU_ROW(uint32_t, warp, op->row[2]);
    const uint64_t *state = AT_EMU_ROW(uint64_t, warp, op->row[2]);
    struct at_emu_block *block = warp->block;
    uint64_t address[AT_WARP];
    uint32_t complete = 0, completed = 0;

    if (!emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = emu_mbarrier_find(block, address[i]);

        if (parity ? mbarrier->phase % 2 == (odd[i] & 1) : mbarrier->phase == state[i])
            continue;
        complete |= at_lane_bit[i];
        if (mbarrier->completed > completed)
            completed = mbarrier->completed;
        if (!end_fills(block, (uint32_t)(mbarrier - block->mbarriers)))
            return;
    }
    if (complete) {
        block->mbarrier_events++;
        at_emu_shared_acquire(warp, completed);
    }
    if (complete != lanes)
        warp->stalled = op;
    at_keep_predicate(warp, op->row[0], complete, lanes);
}

/* mbarrier.try_wait: the phase of an arrival's state. */
void at_emu_run_mbarrier_wait(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    wait_for(op, warp, lanes, false);
}

/* mbarrier.try_wait.parity: the last phase of this parity, which is the current one or is complete.
 */
void at_emu_run_mbarrier_wait_parity(const struct at_emu_op *op, struct at_emu_warp *warp,
                                     uint32_t lanes)
{
    wait_for(op, warp, lanes, true);
}
