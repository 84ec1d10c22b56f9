/* SPDX-License-Identifier: Apache-2.0 */
/* For the functions that execute instructions. Each computes all 32 lanes in one loop that the
 * compiler can vectorise, into a buffer, because the row of the result may also be a source. Then
 * it keeps the lanes that take part. */
#ifndef AT_EMULATED_MACHINE_LANES_H
#define AT_EMULATED_MACHINE_LANES_H

#include "emulated/machine/warp.h"

#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int16_t s16;
typedef int32_t s32;
typedef int64_t s64;

static const uint32_t at_lane_bit[AT_WARP] = {
#define FOUR(i) 1u << (i), 1u << ((i) + 1), 1u << ((i) + 2), 1u << ((i) + 3)
    FOUR(0), FOUR(4), FOUR(8), FOUR(12), FOUR(16), FOUR(20), FOUR(24), FOUR(28),
#undef FOUR
};

#define AT_KEEP(type)                                                                              \
    static inline void at_keep_##type(type *row, const type *out, uint32_t lanes)                  \
    {                                                                                              \
        if (lanes == UINT32_MAX)                                                                   \
            memcpy(row, out, AT_WARP * sizeof *row);                                               \
        else                                                                                       \
            AT_EACH_LANE (i)                                                                       \
                row[i] = lanes & at_lane_bit[i] ? out[i] : row[i];                                 \
    }
AT_KEEP(u16)
AT_KEEP(u32)
AT_KEEP(u64)
#undef AT_KEEP

static inline void at_keep_predicate(struct at_emu_warp *warp, uint32_t row, uint32_t value,
                                     uint32_t lanes)
{
    uint32_t *predicate = AT_EMU_ROW(uint32_t, warp, row);

    *predicate = (*predicate & ~lanes) | (value & lanes);
}

/* One lane's register of 2, 4 or 8 bytes, or predicate; of 1, the lower half of 2. */
static inline uint64_t at_read_lane(const struct at_emu_warp *warp, uint32_t row, int bytes, int i)
{
    return bytes == AT_EMU_PREDICATE ? *AT_EMU_ROW(u32, warp, row) >> i & 1
           : bytes == 1              ? AT_EMU_ROW(u16, warp, row)[i] & 0xff
           : bytes == 2              ? AT_EMU_ROW(u16, warp, row)[i]
           : bytes == 4              ? AT_EMU_ROW(u32, warp, row)[i]
                                     : AT_EMU_ROW(u64, warp, row)[i];
}

static inline void at_write_lane(struct at_emu_warp *warp, uint32_t row, int bytes, int i,
                                 uint64_t value)
{
    if (bytes == AT_EMU_PREDICATE)
        at_keep_predicate(warp, row, value ? UINT32_MAX : 0, at_lane_bit[i]);
    else if (bytes == 1)
        AT_EMU_ROW(u16, warp, row)[i] = (u8)value;
    else if (bytes == 2)
        AT_EMU_ROW(u16, warp, row)[i] = (u16)value;
    else if (bytes == 4)
        AT_EMU_ROW(u32, warp, row)[i] = (u32)value;
    else
        AT_EMU_ROW(u64, warp, row)[i] = value;
}

/* A lane's value of a row, and whether it is undefined (block.c). */
struct at_emu_value {
    uint64_t bits;
    uint32_t origin;
    bool undefined;
};

static inline struct at_emu_value at_take_lane(const struct at_emu_warp *warp, uint32_t row,
                                               int bytes, int lane)
{
    return (struct at_emu_value){
        .bits = at_read_lane(warp, row, bytes, lane),
        .undefined = at_emu_undefined(warp, row) >> lane & 1,
        .origin = warp->origin[row / AT_EMU_ROW_ALIGN],
    };
}

static inline void at_put_lane(struct at_emu_warp *warp, uint32_t row, int bytes, int lane,
                               struct at_emu_value value)
{
    at_write_lane(warp, row, bytes, lane, value.bits);
    if (warp->undefined_rows || value.undefined)
        at_emu_undefined_mark(warp, row, at_lane_bit[lane], value.undefined ? at_lane_bit[lane] : 0,
                              value.origin);
}

#define AT_SOURCE(type, name, k) const type *name = AT_EMU_ROW(type, warp, op->row[k])
#define AT_RUN(name)                                                                               \
    static void name(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)

/* Instructions with one to four sources: `value` is the result of a lane whose sources are x, y, z
 * and w; D is the unsigned type of the result's row. AT_LANES_n defines the function `run`, and
 * AT_ROW_n with the same arguments its row of the table (ops.h). So each file has one list of its
 * instructions, which it expands twice. */
#define AT_LANES(run, D, sources, lane, value)                                                     \
    AT_RUN(run)                                                                                    \
    {                                                                                              \
        sources;                                                                                   \
        D out[AT_WARP];                                                                            \
                                                                                                   \
        AT_EACH_LANE (i) {                                                                         \
            lane;                                                                                  \
            out[i] = (D)(value);                                                                   \
        }                                                                                          \
        at_keep_##D(AT_EMU_ROW(D, warp, op->row[0]), out, lanes);                                  \
    }
#define AT_LANES_1(run, name, D, A, value) AT_LANES(run, D, AT_SOURCE(A, a, 1), A x = a[i], value)
#define AT_LANES_2(run, name, D, A, B, value)                                                      \
    AT_LANES(run, D, AT_SOURCE(A, a, 1); AT_SOURCE(B, b, 2), A x = a[i]; B y = b[i], value)
#define AT_LANES_3(run, name, D, A, B, C, value)                                                   \
    AT_LANES(run, D, AT_SOURCE(A, a, 1); AT_SOURCE(B, b, 2); AT_SOURCE(C, c, 3), A x = a[i];       \
             B y = b[i]; C z = c[i], value)
#define AT_LANES_4(run, name, D, A, B, C, E, value)                                                \
    AT_LANES(run, D, AT_SOURCE(A, a, 1); AT_SOURCE(B, b, 2); AT_SOURCE(C, c, 3);                   \
             AT_SOURCE(E, e, 4), A x = a[i]; B y = b[i]; C z = c[i]; E w = e[i], value)

#define AT_ROW_1(run, name, D, A, value)    {name, AT_RESULT_##D AT_FROM_##A, run},
#define AT_ROW_2(run, name, D, A, B, value) {name, AT_RESULT_##D AT_FROM_##A AT_FROM_##B, run},
#define AT_ROW_3(run, name, D, A, B, C, value)                                                     \
    {name, AT_RESULT_##D AT_FROM_##A AT_FROM_##B AT_FROM_##C, run},
#define AT_ROW_4(run, name, D, A, B, C, E, value)                                                  \
    {name, AT_RESULT_##D AT_FROM_##A AT_FROM_##B AT_FROM_##C AT_FROM_##E, run},

/* The letters of operands of these types. */
#define AT_RESULT_u16 "H"
#define AT_RESULT_u32 "W"
#define AT_RESULT_u64 "L"
#define AT_FROM_u16   "h"
#define AT_FROM_s16   "h"
#define AT_FROM_u32   "w"
#define AT_FROM_s32   "w"
#define AT_FROM_u64   "l"
#define AT_FROM_s64   "l"

#endif
