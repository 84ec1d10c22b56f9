/* SPDX-License-Identifier: Apache-2.0 */
/* What orders the accesses of two threads of a block: barriers, and flags with fences.
 *
 * Time is a tick that grows at every barrier and fence. */
#ifndef AT_EMULATED_MACHINE_ORDER_H
#define AT_EMULATED_MACHINE_ORDER_H

#include "emulated/machine/warp.h"

/* Begin a block: all bytes of shared memory are unwritten, and nothing is ordered. */
void at_emu_order_begin_block(struct at_emu_block *block);

/* Return the next tick: all accesses from here on get it. */
uint32_t at_emu_order_pass_tick(struct at_emu_block *block);

/* Order all earlier accesses before all later ones, of the block or of the warp's lanes. */
void at_emu_order_barrier(struct at_emu_block *block);
void at_emu_order_warp_barrier(struct at_emu_warp *warp, uint32_t lanes);

/* A warp arrives at a named barrier; and one that waited there goes on. */
void at_emu_order_arrive(struct at_emu_warp *warp, struct at_emu_named *barrier);
void at_emu_order_leave(struct at_emu_warp *warp, const struct at_emu_named *barrier);

/* Lanes make a strong read; and a fence or a release. */
void at_emu_order_acquire(struct at_emu_warp *warp, uint32_t lanes);
void at_emu_order_release(struct at_emu_warp *warp, uint32_t lanes);

/* Set the ticks of a fence. */
void at_emu_order_mark(struct at_emu_ticks *fences, const struct at_emu_warp *warp, uint32_t lanes,
                       uint32_t tick);

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

#endif
