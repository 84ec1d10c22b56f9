/* SPDX-License-Identifier: Apache-2.0 */
/* Comparison and selection (PTX ISA, "Comparison and Selection Instructions"), and mov with its
 * packing and unpacking of words. */
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"

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
#define COMPARISON(run, A, VALUE, condition, first, finish)                                        \
    AT_RUN(run)                                                                                    \
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
#define SETP(id, name, A, VALUE, condition)                                                        \
    COMPARISON(setp_##id, A, VALUE, condition, 2, set_predicates)
#define SET(id, name, A, VALUE, condition)                                                         \
    COMPARISON(set_##id, A, VALUE, condition, 1, set_register)

/* lo, ls, hi and hs are other names of unsigned comparisons; bit types have only eq and ne. */
#define SETP_INTEGERS(X, U, S, bits)                                                               \
    X(eq_##bits, "eq.{b|u|s}" #bits, U, PLAIN, x == y)                                             \
    X(ne_##bits, "ne.{b|u|s}" #bits, U, PLAIN, x != y)                                             \
    X(lt_u##bits, "{lt|lo}.u" #bits, U, PLAIN, x < y)                                              \
    X(le_u##bits, "{le|ls}.u" #bits, U, PLAIN, x <= y)                                             \
    X(gt_u##bits, "{gt|hi}.u" #bits, U, PLAIN, x > y)                                              \
    X(ge_u##bits, "{ge|hs}.u" #bits, U, PLAIN, x >= y)                                             \
    X(lt_s##bits, "lt.s" #bits, S, PLAIN, x < y)                                                   \
    X(le_s##bits, "le.s" #bits, S, PLAIN, x <= y)                                                  \
    X(gt_s##bits, "gt.s" #bits, S, PLAIN, x > y)                                                   \
    X(ge_s##bits, "ge.s" #bits, S, PLAIN, x >= y)

#define SET_INTEGERS(X, T)                                                                         \
    X(eq_##T, "eq.{u32|s32}." #T, T, PLAIN, x == y)                                                \
    X(ne_##T, "ne.{u32|s32}." #T, T, PLAIN, x != y)                                                \
    X(lt_##T, "lt.{u32|s32}." #T, T, PLAIN, x < y)                                                 \
    X(le_##T, "le.{u32|s32}." #T, T, PLAIN, x <= y)                                                \
    X(gt_##T, "gt.{u32|s32}." #T, T, PLAIN, x > y)                                                 \
    X(ge_##T, "ge.{u32|s32}." #T, T, PLAIN, x >= y)

/* Comparisons with NaN are false; the forms ending in u are true (PTX ISA, "Floating Point
 * Comparisons"). */
#define SETP_FLOATS(X, id, type, A, VALUE)                                                         \
    X(eq_##id, "eq." type, A, VALUE, x == y)                                                       \
    X(ne_##id, "ne." type, A, VALUE, x<y || x> y)                                                  \
    X(lt_##id, "lt." type, A, VALUE, x < y)                                                        \
    X(le_##id, "le." type, A, VALUE, x <= y)                                                       \
    X(gt_##id, "gt." type, A, VALUE, x > y)                                                        \
    X(ge_##id, "ge." type, A, VALUE, x >= y)                                                       \
    X(equ_##id, "equ." type, A, VALUE, !(x < y || x > y))                                          \
    X(neu_##id, "neu." type, A, VALUE, x != y)                                                     \
    X(ltu_##id, "ltu." type, A, VALUE, !(x >= y))                                                  \
    X(leu_##id, "leu." type, A, VALUE, !(x > y))                                                   \
    X(gtu_##id, "gtu." type, A, VALUE, !(x <= y))                                                  \
    X(geu_##id, "geu." type, A, VALUE, !(x < y))                                                   \
    X(num_##id, "num." type, A, VALUE, x == x && y == y)                                           \
    X(nan_##id, "nan." type, A, VALUE, x != x || y != y)

/* Subnormal sources count as zeros. */
static float flushed_of(u32 bits)
{
    return at_f32_of((bits & 0x7f800000) ? bits : bits & 0x80000000);
}
#define F16_OF(x)  at_emu_widen(AT_F16, x)
#define BF16_OF(x) at_emu_widen(AT_BF16, x)

#define SETP_ALL(X)                                                                                \
    SETP_INTEGERS(X, u16, s16, 16)                                                                 \
    SETP_INTEGERS(X, u32, s32, 32)                                                                 \
    SETP_INTEGERS(X, u64, s64, 64)                                                                 \
    SETP_FLOATS(X, f32, "f32", u32, at_f32_of)                                                     \
    SETP_FLOATS(X, f64, "f64", u64, at_f64_of)                                                     \
    SETP_FLOATS(X, ftz_f32, "ftz.f32", u32, flushed_of)                                            \
    SETP_FLOATS(X, f16, "f16", u16, F16_OF)                                                        \
    SETP_FLOATS(X, bf16, "bf16", u16, BF16_OF)
#define SET_ALL(X)                                                                                 \
    SET_INTEGERS(X, u16)                                                                           \
    SET_INTEGERS(X, s16)                                                                           \
    SET_INTEGERS(X, u32)                                                                           \
    SET_INTEGERS(X, s32)                                                                           \
    SET_INTEGERS(X, u64)                                                                           \
    SET_INTEGERS(X, s64)

/* selp: a if the predicate holds, else b. slct: a if c is not negative, else b. */
#define SELECT(T, letters, types)                                                                  \
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
    }                                                                                              \
    AT_LANES_3(slct_##T, , T, T, T, s32, z >= 0 ? x : y)
#define SELECT_ROWS(T, letters, types)                                                             \
    {"selp." types, letters "c", selp_##T}, {"slct." types ".s32", letters "w", slct_##T},
#define SELECT_ALL(X)                                                                              \
    X(u16, "Hhh", "{b16|u16|s16}")                                                                 \
    X(u32, "Www", "{b32|u32|s32|f32}")                                                             \
    X(u64, "Lll", "{b64|u64|s64|f64}")

SETP_ALL(SETP)
SET_ALL(SET)
SELECT_ALL(SELECT)

/* The decoder itself reads the first two operands and the last one of a setp. */
#define SETP_ROW(id, name, A, VALUE, condition) {"setp." name, AT_FROM_##A AT_FROM_##A, setp_##id},
#define SET_ROW(id, name, A, VALUE, condition)  {"set." name, "W" AT_FROM_##A AT_FROM_##A, set_##id},

const struct at_emu_row at_emu_compare_rows[] = {
    SETP_ALL(SETP_ROW) SET_ALL(SET_ROW) SELECT_ALL(SELECT_ROWS){0},
};

/* mov of one register, value_bytes wide. */
void at_emu_run_move(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t to = op->row[0], from = op->row[1];

    if (to == from)
        return;
    if (op->value_bytes == AT_EMU_PREDICATE)
        at_keep_predicate(warp, to, *AT_EMU_ROW(u32, warp, from), lanes);
    else if (op->value_bytes == 2)
        at_keep_u16(AT_EMU_ROW(u16, warp, to), AT_EMU_ROW(u16, warp, from), lanes);
    else if (op->value_bytes == 4)
        at_keep_u32(AT_EMU_ROW(u32, warp, to), AT_EMU_ROW(u32, warp, from), lanes);
    else
        at_keep_u64(AT_EMU_ROW(u64, warp, to), AT_EMU_ROW(u64, warp, from), lanes);
}

/* mov of several registers, unit_bytes wide, into one of value_bytes; the first is the lowest. */
void at_emu_run_pack(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    AT_EACH_OF (i, lanes) {
        u64 packed = 0;

        for (int k = 0; k < op->units; k++)
            packed |= at_read_lane(warp, op->row[1 + k], op->unit_bytes, i)
                      << 8 * op->unit_bytes * k;
        at_write_lane(warp, op->row[0], op->value_bytes, i, packed);
    }
}

void at_emu_run_unpack(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    AT_EACH_OF (i, lanes) {
        u64 packed = at_read_lane(warp, op->row[op->units], op->value_bytes, i);

        for (int k = 0; k < op->units; k++)
            at_write_lane(warp, op->row[k], op->unit_bytes, i, packed >> 8 * op->unit_bytes * k);
    }
}

/* cvta: add or subtract the start of a window. */
void at_emu_run_add_constant(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    AT_SOURCE(u64, a, 1);
    u64 out[AT_WARP];

    AT_EACH_LANE (i)
        out[i] = a[i] + (u64)op->immediate;
    at_keep_u64(AT_EMU_ROW(u64, warp, op->row[0]), out, lanes);
}

/* Fences: accesses happen in the order of the program anyway. */
void at_emu_run_nothing(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    (void)op;
    (void)warp;
    (void)lanes;
}
