/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red (PTX ISA, "Parallel Synchronization and Communication Instructions"). Blocks run on
 * several host threads, so operations are atomic on the host too. Lanes go one after the other, the
 * lowest first. */
#include "emu/formats.h"
#include "emu/lanes.h"
#include "emu/ops.h"

#include "base/memory.h"

/* Check the addresses and find them in host memory. Operands: d, address, b, and c for cas. */
static bool locate(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                   enum at_emu_space space, const uint64_t address[AT_WARP], char *host[AT_WARP])
{
    uint32_t unwritten = 0;

    if (space == AT_EMU_PARAM) {
        at_emu_raise(warp, op, AT_EMU_PARAM_BOUNDS, __builtin_ctz(lanes), 0, "it is atomic");
        return false;
    }
    if (!at_emu_access_resolve(op, warp, lanes, space, op->unit_bytes, address, host))
        return false;
    at_emu_access_report(op, warp, lanes, space, true, op->unit_bytes, address, NULL);
    if (space != AT_EMU_SHARED)
        return true;
    if (!at_emu_shared_note(op, warp, lanes, false, true, op->unit_bytes, address, 0, &unwritten))
        return false;
    if (unwritten)
        at_emu_raise(warp, op, AT_EMU_SHARED_UNWRITTEN, __builtin_ctz(unwritten),
                     address[__builtin_ctz(unwritten)], "an atomic operation reads it");
    return unwritten == 0;
}

static bool locate_all(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                       char *host[AT_WARP])
{
    uint64_t address[AT_WARP];
    struct at_emu_part parts[AT_EMU_PARTS];
    int count;

    at_emu_access_addresses(warp, op->address, op->address_bytes, op->immediate, address);
    count = at_emu_access_split(op, lanes, address, parts);
    for (int k = 0; k < count; k++)
        if (!locate(op, warp, parts[k].lanes, parts[k].space, address, host))
            return false;
    return true;
}

/* `value` is the new value, from the old one x and the operands y and z, all of type T. */
#define ATOMIC(name, U, T, value)                                                                  \
    static void name(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)         \
    {                                                                                              \
        AT_SOURCE(U, b, 2);                                                                        \
        AT_SOURCE(U, c, op->row_count - 1);                                                        \
        U *d = AT_EMU_ROW(U, warp, op->row[0]);                                                    \
        char *host[AT_WARP];                                                                       \
                                                                                                   \
        if (!locate_all(op, warp, lanes, host))                                                    \
            return;                                                                                \
        AT_EACH_OF (i, lanes) {                                                                    \
            U *place = (U *)(void *)host[i], old = __atomic_load_n(place, __ATOMIC_RELAXED), next; \
                                                                                                   \
            do {                                                                                   \
                T x = (T)old, y = (T)b[i], z = (T)c[i];                                            \
                                                                                                   \
                (void)x, (void)y, (void)z;                                                         \
                next = (U)(value);                                                                 \
            } while (!__atomic_compare_exchange_n(place, &old, next, false, __ATOMIC_ACQ_REL,      \
                                                  __ATOMIC_RELAXED));                              \
            d[i] = old;                                                                            \
        }                                                                                          \
    }

#define BOTH_WIDTHS(name, value)                                                                   \
    ATOMIC(name##_32, u32, u32, value) ATOMIC(name##_64, u64, u64, value)
BOTH_WIDTHS(add, x + y)
BOTH_WIDTHS(and, x &y)
BOTH_WIDTHS(or, x | y)
BOTH_WIDTHS(xor, x ^ y)
BOTH_WIDTHS(exchange, y)
BOTH_WIDTHS(compare_and_swap, x == y ? z : x)
ATOMIC(min_u32, u32, u32, x < y ? x : y)
ATOMIC(min_s32, u32, s32, x < y ? x : y)
ATOMIC(min_u64, u64, u64, x < y ? x : y)
ATOMIC(min_s64, u64, s64, x < y ? x : y)
ATOMIC(max_u32, u32, u32, x > y ? x : y)
ATOMIC(max_s32, u32, s32, x > y ? x : y)
ATOMIC(max_u64, u64, u64, x > y ? x : y)
ATOMIC(max_s64, u64, s64, x > y ? x : y)
/* Counters that wrap at a bound (PTX ISA, atom: "inc" and "dec"). */
ATOMIC(increment, u32, u32, x >= y ? 0 : x + 1)
ATOMIC(decrement, u32, u32, x == 0 || x > y ? y : x - 1)

ATOMIC(compare_and_swap_16, u16, u16, x == y ? z : x)

/* Sums of floats: of an element of this format, or of both halves of a word. */
ATOMIC(add_f32, u32, u32, at_bits_of_f32(at_f32_of(x) + at_f32_of(y)))
ATOMIC(add_f64, u64, u64, at_bits_of_f64(at_f64_of(x) + at_f64_of(y)))

static u16 add_small(enum at_emu_format format, u32 x, u32 y)
{
    double sum = at_emu_add_odd(at_emu_widen(format, x & 0xffff), at_emu_widen(format, y & 0xffff));

    return (u16)at_emu_narrow(format, sum, AT_EMU_NEAREST, 0);
}

static u32 add_pair(enum at_emu_format format, u32 x, u32 y)
{
    return (u32)add_small(format, x >> 16, y >> 16) << 16 | add_small(format, x, y);
}
ATOMIC(add_f16, u16, u16, add_small(AT_EMU_F16, x, y))
ATOMIC(add_bf16, u16, u16, add_small(AT_EMU_BF16, x, y))
ATOMIC(add_f16x2, u32, u32, add_pair(AT_EMU_F16, x, y))
ATOMIC(add_bf16x2, u32, u32, add_pair(AT_EMU_BF16, x, y))

at_emu_run_op *at_emu_atomic_find(const char *name)
{
    static const struct {
        const char *name;
        at_emu_run_op *run;
    } atomics[] = {
        {"add.u32", add_32},
        {"add.s32", add_32},
        {"add.u64", add_64},
        {"add.s64", add_64},
        {"add.f32", add_f32},
        {"add.f64", add_f64},
        {"add.f16", add_f16},
        {"add.bf16", add_bf16},
        {"add.f16x2", add_f16x2},
        {"add.bf16x2", add_bf16x2},
        {"and.b32", and_32},
        {"and.b64", and_64},
        {"or.b32", or_32},
        {"or.b64", or_64},
        {"xor.b32", xor_32},
        {"xor.b64", xor_64},
        {"exch.b32", exchange_32},
        {"exch.b64", exchange_64},
        {"cas.b16", compare_and_swap_16},
        {"cas.b32", compare_and_swap_32},
        {"cas.b64", compare_and_swap_64},
        {"min.u32", min_u32},
        {"min.s32", min_s32},
        {"min.u64", min_u64},
        {"min.s64", min_s64},
        {"max.u32", max_u32},
        {"max.s32", max_s32},
        {"max.u64", max_u64},
        {"max.s64", max_s64},
        {"inc.u32", increment},
        {"dec.u32", decrement},
    };

    for (size_t i = 0; i < AT_COUNT(atomics); i++)
        if (strcmp(atomics[i].name, name) == 0)
            return atomics[i].run;
    return NULL;
}
