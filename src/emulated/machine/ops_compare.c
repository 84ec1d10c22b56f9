/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison and selection (PTX ISA, "Comparison and Selection Instructions"). */
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"
#include "emulated/machine/ops_convert.h"

/* Turn a byte per lane, 0 or 1, into a bit per lane. The factor moves bit 0 of byte k of a word to
 * bit 56 + k, and no other bit there. */
static uint32_t gather_bits(const u8 flags[AT_WARP])
{
    uint32_t bits = 0;

    for (int i = 0; i < AT_WARP; i += 8) {
        u64 word;

        memcpy(&word, flags + i, sizeof word);
        bits |= (uint32_t)(word * UINT64_C(0x0102040810204080) >> 56) << i;
    }
    return bits;
}

/* setp: p = (a compared with b) combined with c; q = the negated comparison combined with c.
 * Without q the decoder names the sink, and without c the row that is always true. */
static void set_predicates(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t result,
                           uint32_t lanes)
{
    uint32_t c = *AT_EMU_ROW(uint32_t, warp, op->row[4]) ^ op->source_flip;
    uint32_t p = result, q = ~result;

    switch ((enum at_emu_combine)op->combine) {
    case AT_EMU_AND:
        p &= c;
        q &= c;
        break;
    case AT_EMU_OR:
        p |= c;
        q |= c;
        break;
    case AT_EMU_XOR:
        p ^= c;
        q ^= c;
        break;
    }
    at_keep_predicate(warp, op->row[0], p, lanes);
    at_keep_predicate(warp, op->row[1], q, lanes);
}

/* set: all ones or all zeros in a register. */
static void set_register(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t result,
                         uint32_t lanes)
{
    u32 out[AT_WARP];

    AT_EACH_LANE (i)
        out[i] = result & at_lane_bit[i] ? UINT32_MAX : 0;
    at_keep_u32(AT_EMU_ROW(u32, warp, op->row[0]), out, lanes);
}

#define PLAIN(x) (x)
#define COMPARISON(name, A, VALUE, condition, first, finish)                                       \
    AT_RUN(name)                                                                                   \
    {                                                                                              \
        AT_SOURCE(A, a, first);                                                                    \
        AT_SOURCE(A, b, (first) + 1);                                                              \
        u8 flags[AT_WARP];                                                                         \
                                                                                                   \
        AT_EACH_LANE (i) {                                                                         \
            __typeof__(VALUE(a[i])) x = VALUE(a[i]), y = VALUE(b[i]);                              \
                                                                                                   \
            flags[i] = (condition);                                                                \
        }                                                                                          \
        finish(op, warp, gather_bits(flags), lanes);                                               \
    }
#define SETP(op, T, A, VALUE, condition)                                                           \
    COMPARISON(setp_##op##_##T, A, VALUE, condition, 2, set_predicates)
#define SET(op, T, A, VALUE, condition)                                                            \
    COMPARISON(set_##op##_##T, A, VALUE, condition, 1, set_register)

#define COMPARE_INTEGERS(MAKE, T)                                                                  \
    MAKE(eq, T, T, PLAIN, x == y)                                                                  \
    MAKE(ne, T, T, PLAIN, x != y)                                                                  \
    MAKE(lt, T, T, PLAIN, x < y)                                                                   \
    MAKE(le, T, T, PLAIN, x <= y)                                                                  \
    MAKE(gt, T, T, PLAIN, x > y)                                                                   \
    MAKE(ge, T, T, PLAIN, x >= y)
COMPARE_INTEGERS(SETP, u16)
COMPARE_INTEGERS(SETP, s16)
COMPARE_INTEGERS(SETP, u32)
COMPARE_INTEGERS(SETP, s32)
COMPARE_INTEGERS(SETP, u64)
COMPARE_INTEGERS(SETP, s64)
COMPARE_INTEGERS(SET, u16)
COMPARE_INTEGERS(SET, s16)
COMPARE_INTEGERS(SET, u32)
COMPARE_INTEGERS(SET, s32)
COMPARE_INTEGERS(SET, u64)
COMPARE_INTEGERS(SET, s64)

/* Comparisons with NaN are false; the forms ending in u are true (PTX ISA, "Floating Point
 * Comparisons"). */
#define COMPARE_FLOATS(T, A, VALUE)                                                                \
    SETP(eq, T, A, VALUE, x == y)                                                                  \
    SETP(ne, T, A, VALUE, x<y || x> y)                                                             \
    SETP(lt, T, A, VALUE, x < y)                                                                   \
    SETP(le, T, A, VALUE, x <= y)                                                                  \
    SETP(gt, T, A, VALUE, x > y)                                                                   \
    SETP(ge, T, A, VALUE, x >= y)                                                                  \
    SETP(equ, T, A, VALUE, !(x < y || x > y))                                                      \
    SETP(neu, T, A, VALUE, x != y)                                                                 \
    SETP(ltu, T, A, VALUE, !(x >= y))                                                              \
    SETP(leu, T, A, VALUE, !(x > y))                                                               \
    SETP(gtu, T, A, VALUE, !(x <= y))                                                              \
    SETP(geu, T, A, VALUE, !(x < y))                                                               \
    SETP(num, T, A, VALUE, x == x && y == y)                                                       \
    SETP(nan, T, A, VALUE, x != x || y != y)
COMPARE_FLOATS(f32, u32, at_f32_of)
COMPARE_FLOATS(f64, u64, at_f64_of)
/* Subnormal sources count as zeros. */
static float flushed_of(u32 bits)
{
    return at_f32_of((bits & 0x7f800000) ? bits : bits & 0x80000000);
}
COMPARE_FLOATS(ftz_f32, u32, flushed_of)
#define F16_OF(x)  at_emu_widen(AT_EMU_F16, x)
#define BF16_OF(x) at_emu_widen(AT_EMU_BF16, x)
COMPARE_FLOATS(f16, u16, F16_OF)
COMPARE_FLOATS(bf16, u16, BF16_OF)

/* selp: a if the predicate holds, else b. */
#define SELECT(T)                                                                                  \
    AT_RUN(selp_##T)                                                                               \
    {                                                                                              \
        AT_SOURCE(T, a, 1);                                                                        \
        AT_SOURCE(T, b, 2);                                                                        \
        uint32_t predicate = *AT_EMU_ROW(uint32_t, warp, op->row[3]);                              \
        T out[AT_WARP];                                                                            \
                                                                                                   \
        AT_EACH_LANE (i)                                                                           \
            out[i] = predicate & at_lane_bit[i] ? a[i] : b[i];                                     \
        at_keep_##T(AT_EMU_ROW(T, warp, op->row[0]), out, lanes);                                  \
    }
SELECT(u16)
SELECT(u32)
SELECT(u64)

/* slct: a if c is not negative, else b. */
AT_LANES_3(slct_16, u16, u16, u16, s32, z >= 0 ? x : y)
AT_LANES_3(slct_32, u32, u32, u32, s32, z >= 0 ? x : y)
AT_LANES_3(slct_64, u64, u64, u64, s32, z >= 0 ? x : y)

#define SETP_ROW(op, type, T, letters)                                                             \
    {                                                                                              \
        "setp." #op "." type, letters, setp_##op##_##T                                             \
    }
/* lo, ls, hi and hs are other names of unsigned comparisons; bit types have only eq and ne. */
#define SETP_SIGNED(bits, P)                                                                       \
    SETP_ROW(eq, "s" #bits, s##bits, P), SETP_ROW(ne, "s" #bits, s##bits, P),                      \
        SETP_ROW(lt, "s" #bits, s##bits, P), SETP_ROW(le, "s" #bits, s##bits, P),                  \
        SETP_ROW(gt, "s" #bits, s##bits, P), SETP_ROW(ge, "s" #bits, s##bits, P)
#define SETP_UNSIGNED(bits, P)                                                                     \
    SETP_ROW(eq, "u" #bits, u##bits, P), SETP_ROW(ne, "u" #bits, u##bits, P),                      \
        SETP_ROW(lt, "u" #bits, u##bits, P), SETP_ROW(le, "u" #bits, u##bits, P),                  \
        SETP_ROW(gt, "u" #bits, u##bits, P), SETP_ROW(ge, "u" #bits, u##bits, P),                  \
        {"setp.lo.u" #bits, P, setp_lt_u##bits}, {"setp.ls.u" #bits, P, setp_le_u##bits},          \
        {"setp.hi.u" #bits, P, setp_gt_u##bits}, {"setp.hs.u" #bits, P, setp_ge_u##bits},          \
        SETP_ROW(eq, "b" #bits, u##bits, P), SETP_ROW(ne, "b" #bits, u##bits, P)
#define SETP_FLOAT(T, P) SETP_FLOATS(#T, T, P)
#define SETP_FLOATS(name, T, P)                                                                    \
    SETP_ROW(eq, name, T, P), SETP_ROW(ne, name, T, P), SETP_ROW(lt, name, T, P),                  \
        SETP_ROW(le, name, T, P), SETP_ROW(gt, name, T, P), SETP_ROW(ge, name, T, P),              \
        SETP_ROW(equ, name, T, P), SETP_ROW(neu, name, T, P), SETP_ROW(ltu, name, T, P),           \
        SETP_ROW(leu, name, T, P), SETP_ROW(gtu, name, T, P), SETP_ROW(geu, name, T, P),           \
        SETP_ROW(num, name, T, P), SETP_ROW(nan, name, T, P)

#define SET_ROW(op, D, T, letters)                                                                 \
    {                                                                                              \
        "set." #op "." D "." #T, letters, set_##op##_##T                                           \
    }
#define SET_ROWS(D, T, letters)                                                                    \
    SET_ROW(eq, D, T, letters), SET_ROW(ne, D, T, letters), SET_ROW(lt, D, T, letters),            \
        SET_ROW(le, D, T, letters), SET_ROW(gt, D, T, letters), SET_ROW(ge, D, T, letters)
#define SET_BOTH(T, letters) SET_ROWS("u32", T, letters), SET_ROWS("s32", T, letters)

#define SELP_ROW(type, letters, T)                                                                 \
    {                                                                                              \
        "selp." type, letters, selp_##T                                                            \
    }
#define SLCT_ROW(type, letters, bits)                                                              \
    {                                                                                              \
        "slct." type ".s32", letters, slct_##bits                                                  \
    }

/* The decoder itself reads the first two operands and the last one of a setp. */
const struct at_emu_row at_emu_compare_rows[] = {
    SETP_SIGNED(16, "hh"),
    SETP_SIGNED(32, "ww"),
    SETP_SIGNED(64, "ll"),
    SETP_UNSIGNED(16, "hh"),
    SETP_UNSIGNED(32, "ww"),
    SETP_UNSIGNED(64, "ll"),
    SETP_FLOAT(f32, "ww"),
    SETP_FLOAT(f64, "ll"),
    {"setp.eq.ftz.f32", "ww", setp_eq_ftz_f32},
    {"setp.ne.ftz.f32", "ww", setp_ne_ftz_f32},
    {"setp.lt.ftz.f32", "ww", setp_lt_ftz_f32},
    {"setp.le.ftz.f32", "ww", setp_le_ftz_f32},
    {"setp.gt.ftz.f32", "ww", setp_gt_ftz_f32},
    {"setp.ge.ftz.f32", "ww", setp_ge_ftz_f32},
    {"setp.equ.ftz.f32", "ww", setp_equ_ftz_f32},
    {"setp.neu.ftz.f32", "ww", setp_neu_ftz_f32},
    {"setp.ltu.ftz.f32", "ww", setp_ltu_ftz_f32},
    {"setp.leu.ftz.f32", "ww", setp_leu_ftz_f32},
    {"setp.gtu.ftz.f32", "ww", setp_gtu_ftz_f32},
    {"setp.geu.ftz.f32", "ww", setp_geu_ftz_f32},
    {"setp.num.ftz.f32", "ww", setp_num_ftz_f32},
    {"setp.nan.ftz.f32", "ww", setp_nan_ftz_f32},
    SETP_FLOAT(f16, "hh"),
    SETP_FLOAT(bf16, "hh"),
    SET_BOTH(u16, "Whh"),
    SET_BOTH(s16, "Whh"),
    SET_BOTH(u32, "Www"),
    SET_BOTH(s32, "Www"),
    SET_BOTH(u64, "Wll"),
    SET_BOTH(s64, "Wll"),
    SELP_ROW("b16", "Hhhc", u16),
    SELP_ROW("u16", "Hhhc", u16),
    SELP_ROW("s16", "Hhhc", u16),
    SELP_ROW("b32", "Wwwc", u32),
    SELP_ROW("u32", "Wwwc", u32),
    SELP_ROW("s32", "Wwwc", u32),
    SELP_ROW("f32", "Wwwc", u32),
    SELP_ROW("b64", "Lllc", u64),
    SELP_ROW("u64", "Lllc", u64),
    SELP_ROW("s64", "Lllc", u64),
    SELP_ROW("f64", "Lllc", u64),
    SLCT_ROW("b16", "Hhhw", 16),
    SLCT_ROW("u16", "Hhhw", 16),
    SLCT_ROW("s16", "Hhhw", 16),
    SLCT_ROW("b32", "Wwww", 32),
    SLCT_ROW("u32", "Wwww", 32),
    SLCT_ROW("s32", "Wwww", 32),
    SLCT_ROW("f32", "Wwww", 32),
    SLCT_ROW("f64", "Lllw", 64),
    SLCT_ROW("b64", "Lllw", 64),
    SLCT_ROW("u64", "Lllw", 64),
    SLCT_ROW("s64", "Lllw", 64),
    {0},
};
