/* SPDX-License-Identifier: Apache-2.0 */
/* Races in global memory between the threads of a launch. */
#ifndef AT_EMULATED_MACHINE_RACES_H
#define AT_EMULATED_MACHINE_RACES_H

#include "emulated/machine/warp.h"

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
