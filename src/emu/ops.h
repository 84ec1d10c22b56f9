/* SPDX-License-Identifier: Apache-2.0 */
/* The table of instructions whose operands are all rows: a line for each opcode with its type. */
#ifndef AT_EMU_OPS_H
#define AT_EMU_OPS_H

#include "emu/op.h"

struct at_emu_row {
    const char *name; /* the opcode with all that changes what it does: "mul.wide.u32" */
    /* An operand a letter: 16-, 32- and 64-bit registers h, w, l and predicates p as sources, the
     * same in capitals as results; n: a predicate that may be negated; c: one that chooses between
     * the two before it; Q: a second result that may lack, "d|p"; x: a 32-bit register whose value
     * lanes pass to one another; i: an integer constant. */
    const char *operands;
    at_emu_run_op *run;
};

/* The line of this name, or NULL. */
const struct at_emu_row *at_emu_row_find(const char *name);

/* The parts of the table, each ended by a line without a name. */
extern const struct at_emu_row at_emu_integer_rows[], at_emu_bits_rows[], at_emu_compare_rows[],
    at_emu_convert_rows[], at_emu_float_rows[], at_emu_warp_rows[];

/* What the decoder uses for instructions that it reads by themselves. */
at_emu_run_op at_emu_run_move, at_emu_run_pack, at_emu_run_unpack, at_emu_run_convert,
    at_emu_run_add_constant, at_emu_run_load, at_emu_run_load_param, at_emu_run_store,
    at_emu_run_copy, at_emu_run_copy_commit, at_emu_run_copy_wait, at_emu_run_bulk,
    at_emu_run_bulk_commit, at_emu_run_bulk_wait, at_emu_run_mbarrier_init,
    at_emu_run_mbarrier_arrive, at_emu_run_mbarrier_wait, at_emu_run_proxy_fence,
    at_emu_run_nothing;

/* The atomic operation of this name and type ("add.u32"), or NULL. A reduction is one whose old
 * value goes into the sink. */
at_emu_run_op *at_emu_atomic_find(const char *name);

#endif
