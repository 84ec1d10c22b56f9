/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/machine/call.h"

#include "base/memory.h"
#include "emulated/machine/lanes.h"

#include <stdlib.h>

/* What a thread has saved: its registers, one per row, and the frame behind them. */
struct at_emu_saved {
    struct at_emu_saved *below;
    const struct at_emu_op *call;
    struct at_emu_value registers[];
};

static char *frame_of(const struct at_emu_warp *warp, int lane)
{
    return warp->block->frames +
           (size_t)(warp->first_thread + (uint32_t)lane) * warp->block->kernel->frame_bytes;
}

static char *saved_frame(const struct at_ptx_kernel *kernel, struct at_emu_saved *saved)
{
    return (char *)(saved->registers + kernel->row_count);
}

static const struct at_emu_call *call_of(const struct at_ptx_kernel *kernel,
                                         const struct at_emu_op *op)
{
    return &kernel->calls[op->target];
}

static void drop(struct at_emu_warp *warp, int lane)
{
    struct at_emu_saved *saved = warp->saved[lane];

    warp->saved[lane] = saved->below;
    warp->depth[lane]--;
    free(saved);
}

static void save(struct at_emu_warp *warp, const struct at_emu_op *op, int lane)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;
    struct at_emu_saved *saved = at_alloc(
        sizeof *saved + kernel->row_count * sizeof *saved->registers + kernel->frame_bytes);

    saved->below = warp->saved[lane];
    saved->call = op;
    for (uint32_t k = 0; k < kernel->row_count; k++)
        if (kernel->row_bytes[k] != AT_EMU_NO_ROW)
            saved->registers[k] =
                at_take_lane(warp, k * AT_EMU_ROW_ALIGN, kernel->row_bytes[k], lane);
    memcpy(saved_frame(kernel, saved), frame_of(warp, lane), kernel->frame_bytes);
    warp->saved[lane] = saved;
    warp->depth[lane]++;
}

/* Local memory of the body begins behind that of the caller. */
static void move_local(struct at_emu_warp *warp, int lane)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;

    for (size_t k = 0; k < kernel->preset_count; k++) {
        const struct at_emu_preset *preset = &kernel->presets[k];

        if (preset->kind == AT_EMU_IN_LOCAL)
            at_write_lane(warp, preset->row, preset->bytes, lane,
                          preset->value + (uint64_t)warp->depth[lane] * kernel->local_step);
    }
}

void at_emu_call_drop(struct at_emu_warp *warp, uint32_t lanes)
{
    AT_EACH_OF (i, lanes) {
        if (warp->depth[i] == 0)
            continue;
        while (warp->depth[i] > 0)
            drop(warp, i);
        move_local(warp, i);
    }
}

bool at_emu_call_enter(struct at_emu_warp *warp, const struct at_emu_op *op, uint32_t lanes)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;
    const struct at_emu_call *call = call_of(kernel, op);

    AT_EACH_OF (i, lanes) {
        char *frame = frame_of(warp, i);

        if (warp->depth[i] == kernel->depth_max) {
            at_emu_raise(warp, op, AT_EMU_LIMIT, i, 0,
                         "more than %u calls, each within the other; does this recursion end?",
                         kernel->depth_max);
            return false;
        }
        save(warp, op, i);
        for (int k = call->result_count; k < call->count; k++)
            memcpy(frame + call->inside[k], saved_frame(kernel, warp->saved[i]) + call->outside[k],
                   call->bytes[k]);
        move_local(warp, i);
    }
    return true;
}

static void restore(struct at_emu_warp *warp, struct at_emu_saved *saved, int lane)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;

    for (uint32_t k = 0; k < kernel->row_count; k++)
        if (kernel->row_bytes[k] != AT_EMU_NO_ROW)
            at_put_lane(warp, k * AT_EMU_ROW_ALIGN, kernel->row_bytes[k], lane,
                        saved->registers[k]);
}

static void leave(struct at_emu_warp *warp, int lane)
{
    const struct at_ptx_kernel *kernel = warp->block->kernel;
    struct at_emu_saved *saved = warp->saved[lane];
    const struct at_emu_call *call = call_of(kernel, saved->call);
    char *frame = frame_of(warp, lane), *before = saved_frame(kernel, saved);

    restore(warp, saved, lane);
    for (int k = 0; k < call->result_count; k++)
        memcpy(before + call->outside[k], frame + call->inside[k], call->bytes[k]);
    memcpy(frame, before, kernel->frame_bytes);
    warp->lane_pc[lane] = (uint32_t)(saved->call - kernel->ops) + 1;
    drop(warp, lane);
}

uint32_t at_emu_call_leave(struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t returned = 0;

    AT_EACH_OF (i, lanes)
        if (warp->saved[i] && call_of(warp->block->kernel, warp->saved[i]->call)->end == warp->pc) {
            leave(warp, i);
            returned |= at_lane_bit[i];
        }
    return returned;
}
