/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/machine/order.h"

#include "base/memory.h"
#include "emulated/machine/lanes.h"

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

void at_emu_order_barrier(struct at_emu_block *block)
{
    block->shared.synced = at_emu_order_pass_tick(block);
    for (uint32_t i = 0; i < block->warp_count; i++)
        block->warps[i].synced = block->shared.tick;
}

/* A barrier of all lanes takes a tick. One of a part orders only its lanes (PTX ISA,
 * bar.warp.sync): each then knows of all accesses that one of them knew of (vector clocks). */
void at_emu_order_warp_barrier(struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t tick = at_emu_order_pass_tick(warp->block), latest[AT_WARP] = {0};

    if (lanes == warp->alive) {
        warp->synced = tick;
        return;
    }
    if (!warp->heard)
        warp->heard = at_alloc_array(AT_WARP, sizeof *warp->heard);
    AT_EACH_OF (i, lanes)
        AT_EACH_LANE (j)
            latest[j] = at_emu_later(latest[j], warp->heard[i][j]);
    AT_EACH_OF (i, lanes)
        latest[i] = tick;
    AT_EACH_OF (i, lanes)
        memcpy(warp->heard[i], latest, sizeof latest);
}

/* Each warp knows of the others' accesses before a tick (vector clocks). The one that arrives
 * passes on what it knows. */
void at_emu_order_arrive(struct at_emu_warp *warp, struct at_emu_named *barrier)
{
    uint32_t *own = &barrier->known[warp->first_thread / AT_WARP];

    *own = at_emu_order_pass_tick(warp->block);
    for (uint32_t i = 0; warp->knows && i < AT_EMU_WARPS_MAX; i++)
        barrier->known[i] = at_emu_later(barrier->known[i], warp->knows[i]);
}

void at_emu_order_leave(struct at_emu_warp *warp, const struct at_emu_named *barrier)
{
    if (!warp->knows)
        warp->knows = at_alloc_array(AT_EMU_WARPS_MAX, sizeof *warp->knows);
    for (uint32_t i = 0; i < AT_EMU_WARPS_MAX; i++)
        warp->knows[i] = at_emu_later(warp->knows[i], barrier->known[i]);
    warp->synced = at_emu_order_pass_tick(warp->block);
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

void at_emu_order_mark(struct at_emu_ticks *fences, const struct at_emu_warp *warp, uint32_t lanes,
                       uint32_t tick)
{
    AT_EACH_OF (i, lanes)
        fences->of_thread[warp->first_thread + (uint32_t)i] = tick;
    fences->of_warp[warp->first_thread / AT_WARP] = warp->synced;
    fences->of_block = warp->block->shared.synced;
}

void at_emu_order_release(struct at_emu_warp *warp, uint32_t lanes)
{
    at_emu_order_mark(&warp->block->fences, warp, lanes, at_emu_order_pass_tick(warp->block));
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
