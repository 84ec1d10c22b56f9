/* SPDX-License-Identifier: Apache-2.0 */
/* Undefined values: values from unwritten shared memory.
 *
 * It is no bug to read them: at the edge of a matrix, a kernel may load a whole column of a tile
 * that is only partly filled, and store only the filled part. That is cheaper than a check before
 * each load. It is a bug to use them in an address, a branch or global memory. So each row has a
 * mask of undefined lanes, and instructions propagate it. A use is reported at the load that the
 * value came from. (Valgrind's Memcheck does the same, by bit instead of by register: Seward and
 * Nethercote, "Using Valgrind to detect undefined value errors with bit-precision", USENIX 2005.)
 *
 * Instructions of a warp without undefined rows skip all of this. */
#include "emu/lanes.h"

void at_emu_undefined_mark(struct at_emu_warp *warp, uint32_t row, uint32_t lanes,
                           uint32_t undefined, uint32_t origin)
{
    uint32_t *mask = &warp->undefined[row / AT_EMU_ROW_ALIGN];
    uint32_t before = *mask;

    if (row == AT_EMU_SINK_ROW)
        return;
    *mask = (before & ~lanes) | (undefined & lanes);
    if (undefined & lanes)
        warp->origin[row / AT_EMU_ROW_ALIGN] = origin;
    warp->undefined_rows += (*mask != 0);
    warp->undefined_rows -= (before != 0);
}

void at_emu_undefined_clear(struct at_emu_warp *warp)
{
    if (warp->undefined_rows)
        memset(warp->undefined, 0,
               warp->block->kernel->file_bytes / AT_EMU_ROW_ALIGN * sizeof *warp->undefined);
    warp->undefined_rows = 0;
}

static bool require(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                    uint32_t row)
{
    uint32_t undefined = at_emu_undefined(warp, row) & lanes;
    uint32_t origin = warp->origin[row / AT_EMU_ROW_ALIGN];

    if (!undefined)
        return true;
    at_emu_raise(warp, &warp->block->kernel->ops[origin], AT_EMU_SHARED_UNWRITTEN,
                 __builtin_ctz(undefined), 0, "the value is used at line %d", op->line);
    return false;
}

/* The lanes whose results are undefined because of the sources; *origin: the load to report. */
static uint32_t spread(const struct at_emu_op *op, const struct at_emu_warp *warp, uint32_t *origin)
{
    uint32_t all = 0;

    for (int k = op->result_count; k < op->row_count; k++) {
        uint32_t undefined = at_emu_undefined(warp, op->row[k]);

        if (op->undefined == AT_EMU_SELECTS && k < 3) {
            uint32_t chosen = *AT_EMU_ROW(uint32_t, warp, op->row[3]);

            undefined &= k == 1 ? chosen : ~chosen;
        }
        if (undefined)
            *origin = warp->origin[op->row[k] / AT_EMU_ROW_ALIGN];
        all |= undefined;
    }
    return all;
}

bool at_emu_undefined_step(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t undefined = 0, origin = 0;

    if (!require(op, warp, warp->active, op->guard))
        return false;
    switch ((enum at_emu_undefined)op->undefined) {
    case AT_EMU_USES:
        for (int k = op->result_count; k < op->row_count; k++)
            if (!require(op, warp, lanes, op->row[k]))
                return false;
        break;
    case AT_EMU_LOADS:
    case AT_EMU_STORES:
        if (!require(op, warp, lanes, op->address))
            return false;
        break;
    case AT_EMU_MOVES:
        return true;
    case AT_EMU_SPREADS:
    case AT_EMU_SELECTS:
        undefined = spread(op, warp, &origin);
        break;
    }
    for (int k = 0; k < op->result_count; k++)
        at_emu_undefined_mark(warp, op->row[k], lanes, undefined, origin);
    return true;
}
