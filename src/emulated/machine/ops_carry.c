/* SPDX-License-Identifier: Apache-2.0 */
/* Extended-precision arithmetic: each lane has a carry, which .cc sets (PTX ISA,
 * "Extended-Precision Integer Arithmetic Instructions"). For a subtraction it is the borrow. */
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"

typedef unsigned __int128 u128;

/* `sum` is the exact result from x, y, z and the carry, in WIDE; the bits above the type's are the
 * carry. */
#define CARRYING(name, U, WIDE, sum)                                                               \
    static void name(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,         \
                     bool uses, bool sets)                                                         \
    {                                                                                              \
        AT_SOURCE(U, a, 1);                                                                        \
        AT_SOURCE(U, b, 2);                                                                        \
        AT_SOURCE(U, c, op->row_count - 1);                                                        \
        uint32_t before = uses ? warp->carry : 0, after = 0;                                       \
        U out[AT_WARP];                                                                            \
                                                                                                   \
        AT_EACH_LANE (i) {                                                                         \
            WIDE x = a[i], y = b[i], z = c[i], carry = before >> i & 1, all = (sum);               \
                                                                                                   \
            (void)z;                                                                               \
            out[i] = (U)all;                                                                       \
            after |= (uint32_t)(all >> 8 * sizeof(U) & 1) << i;                                    \
        }                                                                                          \
        at_keep_##U(AT_EMU_ROW(U, warp, op->row[0]), out, lanes);                                  \
        if (sets)                                                                                  \
            warp->carry = (warp->carry & ~lanes) | (after & lanes);                                \
    }

#define LOW(product, U)  ((U)(product))
#define HIGH(product, U) ((product) >> 8 * sizeof(U))

CARRYING(add_32, u32, u64, x + y + carry)
CARRYING(add_64, u64, u128, x + y + carry)
CARRYING(sub_32, u32, u64, x - y - carry)
CARRYING(sub_64, u64, u128, x - y - carry)
CARRYING(mad_lo_32, u32, u64, (u64)LOW(x *y, u32) + z + carry)
CARRYING(mad_hi_32, u32, u64, HIGH(x *y, u32) + z + carry)
CARRYING(mad_lo_64, u64, u128, (u128)LOW(x *y, u64) + z + carry)
CARRYING(mad_hi_64, u64, u128, HIGH(x *y, u64) + z + carry)
#define SIGNED_HIGH_32 ((u64)(u32)((s64)(s32)x * (s32)y >> 32) + z + carry)
#define SIGNED_HIGH_64 ((u128)(u64)((__int128)(s64)x * (s64)y >> 64) + z + carry)
CARRYING(mad_hi_s32, u32, u64, SIGNED_HIGH_32)
CARRYING(mad_hi_s64, u64, u128, SIGNED_HIGH_64)

#define FORM(name, suffix, uses, sets)                                                             \
    AT_RUN(name##_##suffix)                                                                        \
    {                                                                                              \
        name(op, warp, lanes, uses, sets);                                                         \
    }
#define FORMS(name)                                                                                \
    FORM(name, cc, false, true) FORM(name, c, true, false) FORM(name, c_cc, true, true)
FORMS(add_32)
FORMS(add_64)
FORMS(sub_32)
FORMS(sub_64)
FORMS(mad_lo_32)
FORMS(mad_hi_32)
FORMS(mad_lo_64)
FORMS(mad_hi_64)
FORMS(mad_hi_s32)
FORMS(mad_hi_s64)

#define ROWS(base, with, kind, type, letters, name)                                                \
    {base kind ".cc." type, letters, name##_cc}, {with kind "." type, letters, name##_c},          \
    {                                                                                              \
        with kind ".cc." type, letters, name##_c_cc                                                \
    }

const struct at_emu_row at_emu_carry_rows[] = {
    ROWS("add", "addc", "", "u32", "Www", add_32),
    ROWS("add", "addc", "", "s32", "Www", add_32),
    ROWS("add", "addc", "", "u64", "Lll", add_64),
    ROWS("add", "addc", "", "s64", "Lll", add_64),
    ROWS("sub", "subc", "", "u32", "Www", sub_32),
    ROWS("sub", "subc", "", "s32", "Www", sub_32),
    ROWS("sub", "subc", "", "u64", "Lll", sub_64),
    ROWS("sub", "subc", "", "s64", "Lll", sub_64),
    ROWS("mad", "madc", ".lo", "u32", "Wwww", mad_lo_32),
    ROWS("mad", "madc", ".lo", "s32", "Wwww", mad_lo_32),
    ROWS("mad", "madc", ".lo", "u64", "Llll", mad_lo_64),
    ROWS("mad", "madc", ".lo", "s64", "Llll", mad_lo_64),
    ROWS("mad", "madc", ".hi", "u32", "Wwww", mad_hi_32),
    ROWS("mad", "madc", ".hi", "s32", "Wwww", mad_hi_s32),
    ROWS("mad", "madc", ".hi", "u64", "Llll", mad_hi_64),
    ROWS("mad", "madc", ".hi", "s64", "Llll", mad_hi_s64),
    {0},
};
