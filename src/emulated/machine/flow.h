/* SPDX-License-Identifier: Apache-2.0 */
/* The flow of a warp's lanes: which of them run, and where the others are. */
#ifndef AT_EMULATED_MACHINE_FLOW_H
#define AT_EMULATED_MACHINE_FLOW_H

#include "emulated/machine/lanes.h"

/* Apply the control flow of the instruction at pc. False: the warp cannot continue now. */
bool at_emu_flow_follow(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes);

/* Active lanes have come to an instruction that waits for all lanes of its mask. Returns those
 * whose masks are complete: they run it now, each mask for itself. The others wait. */
uint32_t at_emu_flow_gather(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes);

/* The active lanes wait for memory: lanes further down go on. */
void at_emu_flow_pass_turn(struct at_emu_warp *warp);

/* Forget the recursive calls of these lanes, which have not returned. */
void at_emu_call_drop(struct at_emu_warp *warp, uint32_t lanes);

/* Can a thread come from the instruction `from` to `goal` (NULL: the kernel's end) without running
 * `avoided`? */
bool at_emu_flow_leads(const struct at_ptx_kernel *kernel, const struct at_emu_op *from,
                       const struct at_emu_op *avoided, const struct at_emu_op *goal);

/* Are these copies of one barrier or instruction of the source, made by a compiler that unrolls a
 * loop? One copy comes after the other. */
bool at_emu_flow_copies(const struct at_ptx_kernel *kernel, const struct at_emu_op *a,
                        const struct at_emu_op *b);

/* Lanes that are away at a copy of op have their operands there. Bring them to the rows of op, and
 * after it has run, give the results to the copies. */
struct at_emu_brought {
    struct at_emu_value before[AT_WARP][AT_EMU_OPERANDS]; /* in the rows of op */
};
void at_emu_flow_bring(struct at_emu_brought *brought, const struct at_emu_op *op,
                       struct at_emu_warp *warp);
void at_emu_flow_give(const struct at_emu_brought *brought, const struct at_emu_op *op,
                      struct at_emu_warp *warp);

#endif
