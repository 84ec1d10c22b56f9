/* SPDX-License-Identifier: Apache-2.0 */
/* cp.async: copies from global to shared memory that run beside the thread (PTX ISA, "Data Movement
 * and Conversion Instructions: Asynchronous copy"). A copy is checked and counted when it is
 * issued, and done at the wait. A kernel that reads before the wait finds the old bytes, as it may
 * on a GPU. */
#include "base/memory.h"
#include "emu/lanes.h"
#include "emu/ops.h"

enum { COPY_BYTES_MAX = 16 };

/* Operands: destination, source, and the bytes to copy; the rest of unit_bytes becomes zeros. */
void at_emu_run_copy(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    struct at_emu_copy copy = {.op = op, .lanes = lanes};
    const uint32_t *size = AT_EMU_ROW(uint32_t, warp, op->row[2]);
    const uint64_t *fills = op->past_l1 ? copy.to : NULL;
    char *host[AT_WARP];

    at_emu_access_addresses(warp, op->row[0], op->address_bytes, op->immediate, copy.to);
    at_emu_access_addresses(warp, op->row[1], 8, op->source_offset, copy.from);
    if (!at_emu_access_resolve(op, warp, lanes, AT_EMU_SHARED, op->unit_bytes, copy.to, host) ||
        !at_emu_access_resolve(op, warp, lanes, AT_EMU_GLOBAL, op->unit_bytes, copy.from, host))
        return;
    at_emu_access_report(op, warp, lanes, AT_EMU_GLOBAL, false, op->unit_bytes, copy.from, fills);
    at_emu_access_report(op, warp, lanes, AT_EMU_SHARED, true, op->unit_bytes, copy.to, fills);
    AT_EACH_LANE (i) {
        copy.group[i] = warp->groups[i];
        copy.size[i] = size[i] < op->unit_bytes ? size[i] : op->unit_bytes;
    }
    AT_PUSH(warp->copies, warp->copy_count, warp->copy_capacity, copy);
}

void at_emu_run_copy_commit(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    (void)op;
    AT_EACH_OF (i, lanes)
        warp->groups[i]++;
}

static bool finish(struct at_emu_copy *copy, struct at_emu_warp *warp, uint32_t lanes)
{
    char *from[AT_WARP], *to[AT_WARP];

    if (!at_emu_access_resolve(copy->op, warp, lanes, AT_EMU_SHARED, copy->op->unit_bytes, copy->to,
                               to) ||
        !at_emu_access_resolve(copy->op, warp, lanes, AT_EMU_GLOBAL, copy->op->unit_bytes,
                               copy->from, from) ||
        !at_emu_shared_note(copy->op, warp, lanes, true, false, copy->op->unit_bytes, copy->to, 0,
                            NULL))
        return false;
    AT_EACH_OF (i, lanes) {
        char bytes[COPY_BYTES_MAX] = {0};

        memcpy(bytes, from[i], copy->size[i]);
        memcpy(to[i], bytes, copy->op->unit_bytes);
    }
    copy->lanes &= ~lanes;
    return true;
}

/* immediate: how many of the latest groups may stay unfinished; -1: none, nor copies outside of a
 * group. */
bool at_emu_copies_finish(struct at_emu_warp *warp, uint32_t lanes, int64_t unfinished)
{
    size_t kept = 0;

    for (size_t k = 0; k < warp->copy_count; k++) {
        struct at_emu_copy *copy = &warp->copies[k];
        uint32_t due = 0;

        AT_EACH_OF (i, lanes & copy->lanes)
            if (unfinished < 0 || copy->group[i] + unfinished < warp->groups[i])
                due |= at_lane_bit[i];
        if (due && !finish(copy, warp, due))
            return false;
        if (copy->lanes)
            warp->copies[kept++] = *copy;
    }
    warp->copy_count = kept;
    return true;
}

void at_emu_run_copy_wait(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    at_emu_copies_finish(warp, lanes, op->immediate);
}
