/* SPDX-License-Identifier: Apache-2.0 */
/* mbarriers, on which threads wait for bulk copies (PTX ISA, "Parallel Synchronization and
 * Communication Instructions: mbarrier"). The block keeps their state, not the 8 bytes of shared
 * memory that each occupies. */
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
    }
    return true;
}

/* mbarrier.arrive: first expect more bytes, then arrive. */
void at_emu_run_mbarrier_arrive(const struct at_emu_op *op, struct at_emu_warp *warp,
                                uint32_t lanes)
{
    const uint32_t *bytes = AT_EMU_ROW(uint32_t, warp, op->row[1]);
    uint64_t address[AT_WARP];

    if (!at_emu_mbarrier_locate(op, warp, lanes, true, address))
        return;
    AT_EACH_OF (i, lanes) {
        struct at_emu_mbarrier *mbarrier = at_emu_mbarrier_find(warp->block, address[i]);

        if (mbarrier->pending == 0) {
            at_emu_raise(warp, op, AT_EMU_BARRIER, i, 0, "more arrivals than the mbarrier expects");
            return;
        }
        mbarrier->pending--;
        mbarrier->bytes += bytes[i];
        if (!at_emu_mbarrier_update(op, warp, i, mbarrier))
            return;
    }
}

/* fence.proxy.async: bulk copies may now read what the lanes have written. */
void at_emu_run_proxy_fence(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_shared *shared = &warp->block->shared;

    (void)op;
    AT_EACH_OF (i, lanes)
        shared->fenced[warp->first_thread + (uint32_t)i] = shared->tick;
}
