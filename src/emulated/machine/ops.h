/* SPDX-License-Identifier: Apache-2.0 */
/* The table of instructions whose operands are all rows: an entry per opcode and type. */
#ifndef AT_EMULATED_MACHINE_OPS_H
#define AT_EMULATED_MACHINE_OPS_H

#include "emulated/machine/op.h"

struct at_emu_row {
    /* The opcode with its modifiers and type: "mul.wide.u32"; "and.{b|u}32" stands for two. */
    const char *name;
    /* A letter per operand. Sources: h, w, l, registers of 16, 32, 64 bits; p, a predicate; n, a
     * predicate that may be negated; c, a predicate that chooses between the two sources before it;
     * x, a 32-bit register whose value lanes exchange; u and v, registers of 32 and 64 bits that
     * other lanes' results depend on; m, the last one, a register with the mask of the lanes to
     * wait for; i, an integer constant. Results: H, W, L, P;
     * Q, an optional second result, "d|p". */
    const char *operands;
    at_emu_run_op *run;
};

/* A floating-point operation of any format: its name, the number of its sources, and "approx" or
 * "full" if it is that form of it. An entry without a name ends the table. */
struct at_emu_real {
    const char *name;
    int sources;
    const char *form;
    at_emu_real_value *value;
};
extern const struct at_emu_real at_emu_reals[];

/* The parts of the table; an entry without a name ends each. */
extern const struct at_emu_row at_emu_integer_rows[], at_emu_compare_rows[], at_emu_float_rows[],
    at_emu_warp_rows[];

/* For instructions that the decoder reads by functions of their own. */
at_emu_run_op at_emu_run_move, at_emu_run_pack, at_emu_run_unpack, at_emu_run_add_constant,
    at_emu_run_load, at_emu_run_load_param, at_emu_run_store, at_emu_run_copy, at_emu_run_commit,
    at_emu_run_copy_wait, at_emu_run_bulk, at_emu_run_bulk_wait, at_emu_run_mbarrier_init,
    at_emu_run_mbarrier_end, at_emu_run_mbarrier_change, at_emu_run_mbarrier_copies,
    at_emu_run_mbarrier_wait, at_emu_run_fence, at_emu_run_proxy_fence, at_emu_run_nothing,
    at_emu_run_policy, at_emu_run_real, at_emu_run_convert_real, at_emu_run_set_real,
    at_emu_run_test_real, at_emu_run_is_space, at_emu_run_printf, at_emu_run_assert;

/* The value of a floating-point number's bits; and the bits of a value, which is rounded once, to
 * nearest. `modifiers` may flush subnormals (of the result), saturate and remove negative values.
 */
double at_emu_widen(enum at_number format, uint64_t bits);
uint64_t at_emu_narrow(enum at_number format, double value, uint8_t modifiers);

/* x + y, and x * y + z if x * y is exact, as a double whose last bit also says if it is inexact
 * ("round to odd"). Rounded again to a format of at most 51 bits, it is rounded once. */
double at_emu_add_odd(double x, double y);

#endif
