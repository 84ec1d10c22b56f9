/* SPDX-License-Identifier: Apache-2.0 */
/* The barriers of a block: those of all its threads, and named ones of a number of threads. */
#ifndef AT_EMULATED_MACHINE_BARRIER_H
#define AT_EMULATED_MACHINE_BARRIER_H

#include "emulated/machine/warp.h"

/* All lanes of a warp have come to a barrier. True: the warp goes on at once. */
bool at_emu_barrier_reach(struct at_emu_warp *warp);

/* All warps wait or have ended. True: they wait at the same barrier, and continue. */
bool at_emu_barrier_release(struct at_emu_block *block);

#endif
