/* SPDX-License-Identifier: Apache-2.0 */
/* What orders the accesses of two threads: barriers, and flags with fences. And races in global
 * memory, which are accesses without an order. Those in shared memory are shared.c's.
 *
 * Time is a tick that grows at every barrier and fence. */
#ifndef AT_EMULATED_MACHINE_RACES_H
#define AT_EMULATED_MACHINE_RACES_H

#include "emulated/machine/warp.h"

/* Begin a block: all bytes of shared memory are unwritten, and nothing is ordered. */
void at_emu_order_begin_block(struct at_emu_block *block);

/* Return the next tick: all accesses from here on get it. */
uint32_t at_emu_order_pass_tick(struct at_emu_block *block);

/* Lanes make a strong read. */
void at_emu_order_acquire(struct at_emu_warp *warp, uint32_t lanes);

/* The tick of the last barrier that orders what thread `other` of the block did before it ahead of
 * what `thread`, of the warp, does now. */
static inline uint32_t at_emu_last_barrier(const struct at_emu_warp *warp, uint32_t thread,
                                           uint32_t other)
{
    uint32_t tick = at_emu_later(warp->block->shared.synced, warp->joined);

    if (other / AT_WARP != thread / AT_WARP)
        return warp->knows ? at_emu_later(tick, warp->knows[other / AT_WARP]) : tick;
    tick = at_emu_later(tick, warp->synced);
    return warp->heard ? at_emu_later(tick, warp->heard[thread % AT_WARP][other % AT_WARP]) : tick;
}

/* Has a fence by this thread, or one behind a barrier after the access, followed an access of the
 * tick? */
bool at_emu_order_is_released(const struct at_emu_ticks *fences, uint32_t thread, uint32_t tick);

/* Has the thread of the warp, or one before a barrier, made a strong read? */
bool at_emu_order_has_acquired(const struct at_emu_warp *warp, uint32_t thread);

/* Records for a launch: `bytes` of memory, `blocks` of the grid. NULL: too many blocks. */
struct at_emu_races *at_emu_races_new(const struct at_emu_memory *memory, uint64_t bytes,
                                      uint64_t blocks);

void at_emu_races_free(struct at_emu_races *races);

/* Record accesses that are within global memory. The lanes of a store are those that change it.
 * False if a fault was raised. */
bool at_emu_races_note(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                       bool store, uint32_t bytes, const uint64_t address[AT_WARP]);

/* Keep the blocks of other host threads from recording until it is let go. NULL: nothing is kept.
 */
void at_emu_races_hold(struct at_emu_races *races);
void at_emu_races_let_go(struct at_emu_races *races);

#endif
