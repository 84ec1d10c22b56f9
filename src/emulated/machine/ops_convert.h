/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_EMULATED_MACHINE_OPS_CONVERT_H
#define AT_EMULATED_MACHINE_OPS_CONVERT_H

#include "emulated/machine/op.h"

#include <stdbool.h>
#include <stdint.h>

enum at_emu_format {
    AT_EMU_U8,
    AT_EMU_S8,
    AT_EMU_U16,
    AT_EMU_S16,
    AT_EMU_U32,
    AT_EMU_S32,
    AT_EMU_U64,
    AT_EMU_S64,
    AT_EMU_F16,
    AT_EMU_BF16,
    AT_EMU_F32,
    AT_EMU_F64,
    AT_EMU_FORMATS,
};

/* The format of this name ("bf16"), or AT_EMU_FORMATS. */
enum at_emu_format at_emu_format_find(const char *name);

int at_emu_format_bytes(enum at_emu_format format);

static inline bool at_emu_is_float(enum at_emu_format format)
{
    return format >= AT_EMU_F16;
}

static inline bool at_emu_is_signed(enum at_emu_format format)
{
    return format < AT_EMU_F16 && format % 2 == 1;
}

/* The value of a floating-point number's bits; and the bits of a value, which is rounded once.
 * `modifiers` may flush subnormals (of the result), saturate and remove negative values. NaN gets
 * the bits that PTX calls canonical. */
double at_emu_widen(enum at_emu_format format, uint64_t bits);

uint64_t at_emu_narrow(enum at_emu_format format, double value, uint8_t rounding,
                       uint8_t modifiers);

/* A subnormal number as a zero of its sign. */
double at_emu_flushed(enum at_emu_format format, double value);

/* x + y, and x * y + z if x * y is exact, as a double whose last bit also says if it is inexact
 * ("round to odd"). Rounded again to a format of at most 51 bits, it is rounded once. */
double at_emu_add_odd(double x, double y);

/* cvt: the bits of a value of one format in another. */
uint64_t at_emu_convert(enum at_emu_format to, enum at_emu_format from, uint64_t bits,
                        uint8_t rounding, uint8_t modifiers);

#endif
