/* SPDX-License-Identifier: Apache-2.0 */
/* The table of instructions whose operands are all rows: an entry per opcode and type. */
#ifndef AT_EMULATED_MACHINE_OPS_H
#define AT_EMULATED_MACHINE_OPS_H

#include "emulated/machine/op.h"

struct at_emu_row {
    const char *name; /* the opcode with its modifiers and type: "mul.wide.u32" */
    /* A letter per operand. Sources: h, w, l, registers of 16, 32, 64 bits; p, a predicate; n, a
     * predicate that may be negated; c, a predicate that chooses between the two sources before it;
     * x, a 32-bit register whose value lanes exchange; u and v, registers of 32 and 64 bits that
     * other lanes' results depend on; i, an integer constant. Results: H, W, L, P;
     * Q, an optional second result, "d|p". */
    const char *operands;
    at_emu_run_op *run;
};

/* A floating-point operation of any format: its name, the number of its sources, and "approx" or
 * "full" if it is that form of it. An entry without a name ends the table. */
struct at_emu_real_sources;
struct at_emu_real {
    const char *name;
    int sources;
    const char *form;
    double (*value)(const struct at_emu_real_sources *sources);
};
extern const struct at_emu_real at_emu_reals[];

/* The number of a comparison ("ltu"), or of a property of numbers ("subnormal"); -1: unknown. */
int at_emu_comparison_find(const char *name);
int at_emu_property_find(const char *name);

/* The entry of this name, or NULL. */
const struct at_emu_row *at_emu_row_find(const char *name);

/* The parts of the table; an entry without a name ends each. */
extern const struct at_emu_row at_emu_integer_rows[], at_emu_bits_rows[], at_emu_compare_rows[],
    at_emu_convert_rows[], at_emu_float_rows[], at_emu_warp_rows[], at_emu_carry_rows[],
    at_emu_packed_rows[];

/* For instructions that the decoder reads by functions of their own. */
at_emu_run_op at_emu_run_move, at_emu_run_pack, at_emu_run_unpack, at_emu_run_add_constant,
    at_emu_run_load, at_emu_run_load_param, at_emu_run_store, at_emu_run_copy,
    at_emu_run_copy_commit, at_emu_run_copy_wait, at_emu_run_bulk, at_emu_run_bulk_commit,
    at_emu_run_bulk_wait, at_emu_run_mbarrier_init, at_emu_run_mbarrier_arrive,
    at_emu_run_mbarrier_wait, at_emu_run_mbarrier_end, at_emu_run_mbarrier_copies,
    at_emu_run_mbarrier_copies_arrive, at_emu_run_mbarrier_wait_parity, at_emu_run_mbarrier_expect,
    at_emu_run_mbarrier_arrive_expect, at_emu_run_proxy_fence, at_emu_run_nothing, at_emu_run_real,
    at_emu_run_convert_real, at_emu_run_set_real, at_emu_run_test_real, at_emu_run_is_space,
    at_emu_run_printf, at_emu_run_assert;

/* The atomic operation of this name and type ("add.u32"), or NULL. A reduction is an atomic
 * operation that writes the old value to the sink. */
at_emu_run_op *at_emu_atomic_find(const char *name);

#endif
