/* SPDX-License-Identifier: Apache-2.0 */
/* mbarriers, on which threads wait for each other and for bulk copies (PTX ISA, "Parallel
 * Synchronization and Communication Instructions: mbarrier"). The block keeps their state, not the
 * 8 bytes of shared memory that each occupies. */
#include "base/memory.h"
#include "emu/lanes.h"
#include "emu/ops.h"

enum {
    /* PTX ISA, mbarrier: the ranges of both counts. */
    BYTES_MAX = (1 << 20) - 1,
    ARRIVALS_MAX = (1 << 20) - 1,
    SIZE = 8,
};

struct at_emu_mbarrier *at_emu_mbarrier_find(struct at_emu_block *block, uint64_t offset)
{
    for (size_t i = 0; i < block->mbarrier_count; i++)
        if (block->mbarriers[i].offset == offset)
            return &block->mbarriers[i];
    return NULL;
}

/* Arrivals and waits count as atomic, so they may come together; the initialisation does not. */
bool at_emu_mbarrier_locate(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                            bool operation, uint64_t address[AT_WARP])
{
    char *host[AT_WARP];
    uint32_t unwritten = 0;

    at_emu_access_addresses(warp, op->address, op->address_bytes, op->immediate, address);
    if (!at_emu_access_resolve(op, warp, lanes, AT_EMU_SHARED, SIZE, address, host) ||
        !at_emu_shared_note(op, warp, lanes, !operation, operation, SIZE, address, 0, &unwritten))
        return false;
    AT_EACH_OF (i, lanes)
        if (operation && !at_emu_mbarrier_find(warp->block, address[i])) {
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

    if (!at_emu_mbarrier_locate(op, warp, lanes, false, address))
        return;
    AT_EACH_OF (i, lanes) {
        const struct at_emu_mbarrier made = {
            .offset = (uint32_t)address[i], .expected = count[i], .pending = count[i]};
        struct at_emu_mbarrier *known = at_emu_mbarrier_find(block, address[i]);

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

    if (!at_emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes)
        at_emu_mbarrier_find(warp->block, address[i])->offset = UINT32_MAX;
}

bool at_emu_mbarrier_update(const struct at_emu_op *op, struct at_emu_warp *warp, int lane,
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
    return at_emu_mbarrier_update(op, warp, lane, mbarrier);
}

/* The lanes' values, one after the other, are arrivals or bytes to come; bytes come with
 * `arrivals`. The state that an arrival returns is the number of its phase. */
static void change(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                   bool are_bytes, uint32_t arrivals)
{
    const uint32_t *value = AT_EMU_ROW(uint32_t, warp, op->row[op->result_count + 1]);
    uint64_t address[AT_WARP];

    if (!at_emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = at_emu_mbarrier_find(warp->block, address[i]);

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

    if (!at_emu_copies_finish(warp, lanes, -1) ||
        !at_emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes)
        if (!arrive(op, warp, i, at_emu_mbarrier_find(warp->block, address[i]), 1, 0))
            return;
}

/* cp.async.mbarrier.arrive: the same, but the mbarrier first expects one arrival more of each. */
void at_emu_run_mbarrier_copies(const struct at_emu_op *op, struct at_emu_warp *warp,
                                uint32_t lanes)
{
    uint64_t address[AT_WARP];

    if (at_emu_copies_finish(warp, lanes, -1))
        at_emu_mbarrier_locate(op, warp, lanes, true, address);
}

/* fence.proxy.async: bulk copies may now read the lanes' data. */
void at_emu_run_proxy_fence(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_shared *shared = &warp->block->shared;

    (void)op;
    AT_EACH_OF (i, lanes)
        shared->fenced[warp->first_thread + (uint32_t)i] = shared->tick;
}
