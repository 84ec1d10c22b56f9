/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies between global and shared memory (PTX ISA, "cp.async.bulk"). A copy is checked and
 * counted when it begins. Its bytes move as late as possible, at the successful wait for its phase
 * or group. So a kernel without the right wait works on the old bytes. */
#include "base/memory.h"
#include "emu/lanes.h"
#include "emu/ops.h"

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
    if (!op->store && !at_emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier =
            op->store ? NULL : at_emu_mbarrier_find(block, address[i]);
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
            if (!at_emu_mbarrier_update(op, warp, i, mbarrier))
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

    if (!at_emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = at_emu_mbarrier_find(block, address[i]);

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
