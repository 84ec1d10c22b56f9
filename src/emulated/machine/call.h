/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive calls. Other calls are inlined (emulated/ptx/body.c). A function that calls itself has
 * one body, and the thread enters it again: its registers and its frame are saved, and its local
 * memory lies behind the caller's. */
#ifndef AT_EMULATED_MACHINE_CALL_H
#define AT_EMULATED_MACHINE_CALL_H

#include "emulated/machine/warp.h"

/* Enter the body with these lanes. False if a fault was raised: the recursion is too deep. The
 * caller places the lanes at the body's first instruction. */
bool at_emu_call_enter(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes);

/* These lanes are at pc, the end of a body. Some have entered it by a recursive call. They are
 * placed behind that call, and returned. */
uint32_t at_emu_call_leave(struct at_emu_warp *warp, uint32_t lanes);

/* Forget the calls of these lanes, which have not returned. */
void at_emu_call_drop(struct at_emu_warp *warp, uint32_t lanes);

#endif
