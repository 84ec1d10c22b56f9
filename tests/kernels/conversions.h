/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of cuda_fp16.h, cuda_bf16.h and cuda_fp8.h, and casts between C's own types:
 * X(kernel, to, from, numbers at a time, rounding, saturate, types of result and source, of x). For
 * conversions.cu, which makes a kernel of each, and for the test, which knows the numbers. */
#ifndef AT_TESTS_KERNELS_CONVERSIONS_H
#define AT_TESTS_KERNELS_CONVERSIONS_H

/* A function in the four roundings: __NAME_rn and so on. */
#define ROUNDED(X, name, TO, FROM, OUT, IN)                                                        \
    X(name##_rn, TO, FROM, 1, NEAREST, false, OUT, IN, __##name##_rn(x))                           \
    X(name##_rz, TO, FROM, 1, ZERO, false, OUT, IN, __##name##_rz(x))                              \
    X(name##_rd, TO, FROM, 1, DOWN, false, OUT, IN, __##name##_rd(x))                              \
    X(name##_ru, TO, FROM, 1, UP, false, OUT, IN, __##name##_ru(x))

#define WITH_INTEGERS(X, half, FLOAT, TYPE)                                                        \
    X(half##2char_rz, I8, FLOAT, 1, ZERO, true, signed char, TYPE, __##half##2char_rz(x))          \
    X(half##2uchar_rz, U8, FLOAT, 1, ZERO, true, unsigned char, TYPE, __##half##2uchar_rz(x))      \
    ROUNDED(X, half##2short, I16, FLOAT, short, TYPE)                                              \
    ROUNDED(X, half##2ushort, U16, FLOAT, unsigned short, TYPE)                                    \
    ROUNDED(X, half##2int, I32, FLOAT, int, TYPE)                                                  \
    ROUNDED(X, half##2uint, U32, FLOAT, unsigned, TYPE)                                            \
    ROUNDED(X, half##2ll, I64, FLOAT, long long, TYPE)                                             \
    ROUNDED(X, half##2ull, U64, FLOAT, unsigned long long, TYPE)                                   \
    ROUNDED(X, short2##half, FLOAT, I16, TYPE, short)                                              \
    ROUNDED(X, ushort2##half, FLOAT, U16, TYPE, unsigned short)                                    \
    ROUNDED(X, int2##half, FLOAT, I32, TYPE, int)                                                  \
    ROUNDED(X, uint2##half, FLOAT, U32, TYPE, unsigned)                                            \
    ROUNDED(X, ll2##half, FLOAT, I64, TYPE, long long)                                             \
    ROUNDED(X, ull2##half, FLOAT, U64, TYPE, unsigned long long)

#define F16_CONVERSIONS(X)                                                                         \
    ROUNDED(X, float2half, F16, F32, __half, float)                                                \
    X(double2half, F16, F64, 1, NEAREST, false, __half, double, __double2half(x))                  \
    X(half2float, F32, F16, 1, NEAREST, false, float, __half, __half2float(x))                     \
    X(float22half2, F16, F32, 2, NEAREST, false, __half2, float2, __float22half2_rn(x))            \
    X(half22float2, F32, F16, 2, NEAREST, false, float2, __half2, __half22float2(x))               \
    WITH_INTEGERS(X, half, F16, __half)

#define BF16_CONVERSIONS(X)                                                                        \
    ROUNDED(X, float2bfloat16, BF16, F32, __nv_bfloat16, float)                                    \
    X(double2bfloat16, BF16, F64, 1, NEAREST, false, __nv_bfloat16, double, __double2bfloat16(x))  \
    X(bfloat162float, F32, BF16, 1, NEAREST, false, float, __nv_bfloat16, __bfloat162float(x))     \
    X(float22bfloat162, BF16, F32, 2, NEAREST, false, __nv_bfloat162, float2,                      \
      __float22bfloat162_rn(x))                                                                    \
    X(bfloat1622float2, F32, BF16, 2, NEAREST, false, float2, __nv_bfloat162,                      \
      __bfloat1622float2(x))                                                                       \
    WITH_INTEGERS(X, bfloat16, BF16, __nv_bfloat16)

/* An 8-bit float with and without saturation, one and two at a time. */
#define TO_FP8(X, source, TO, FROM, units, OUT, IN)                                                \
    X(source##_##TO, TO, FROM, units, NEAREST, true, OUT, IN, TO_##TO(source, __NV_SATFINITE))     \
    X(source##_##TO##_nosat, TO, FROM, units, NEAREST, false, OUT, IN, TO_##TO(source, __NV_NOSAT))
#define TO_E4M3(source, saturation) __nv_cvt_##source(x, saturation, __NV_E4M3)
#define TO_E5M2(source, saturation) __nv_cvt_##source(x, saturation, __NV_E5M2)

#define FP8_CONVERSIONS(X, F8, CLASS)                                                              \
    TO_FP8(X, float_to_fp8, F8, F32, 1, fp8, float)                                                \
    TO_FP8(X, double_to_fp8, F8, F64, 1, fp8, double)                                              \
    TO_FP8(X, halfraw_to_fp8, F8, F16, 1, fp8, __half)                                             \
    TO_FP8(X, bfloat16raw_to_fp8, F8, BF16, 1, fp8, __nv_bfloat16)                                 \
    TO_FP8(X, float2_to_fp8x2, F8, F32, 2, fp8x2, float2)                                          \
    TO_FP8(X, double2_to_fp8x2, F8, F64, 2, fp8x2, double2)                                        \
    TO_FP8(X, halfraw2_to_fp8x2, F8, F16, 2, fp8x2, __half2)                                       \
    TO_FP8(X, bfloat16raw2_to_fp8x2, F8, BF16, 2, fp8x2, __nv_bfloat162)                           \
    X(fp8_to_halfraw_##F8, F16, F8, 1, NEAREST, false, __half, fp8,                                \
      __nv_cvt_fp8_to_halfraw(x, __NV_##F8))                                                       \
    X(fp8x2_to_halfraw2_##F8, F16, F8, 2, NEAREST, false, __half2, fp8x2,                          \
      __nv_cvt_fp8x2_to_halfraw2(x, __NV_##F8))                                                    \
    CAST(X, F32, F8, NEAREST, false, float, CLASS)                                                 \
    CAST(X, F64, F8, NEAREST, false, double, CLASS)                                                \
    CAST(X, BF16, F8, NEAREST, false, __nv_bfloat16, CLASS)                                        \
    CAST(X, I8, F8, ZERO, true, signed char, CLASS)                                                \
    CAST(X, U8, F8, ZERO, true, unsigned char, CLASS)                                              \
    CAST(X, I16, F8, ZERO, true, short, CLASS)                                                     \
    CAST(X, U16, F8, ZERO, true, unsigned short, CLASS)                                            \
    CAST(X, I32, F8, ZERO, true, int, CLASS)                                                       \
    CAST(X, U32, F8, ZERO, true, unsigned, CLASS)                                                  \
    CAST(X, I64, F8, ZERO, true, long long, CLASS)                                                 \
    CAST(X, U64, F8, ZERO, true, unsigned long long, CLASS)                                        \
    CAST(X, F8, I16, NEAREST, true, CLASS, short)                                                  \
    CAST(X, F8, U16, NEAREST, true, CLASS, unsigned short)                                         \
    CAST(X, F8, I32, NEAREST, true, CLASS, int)                                                    \
    CAST(X, F8, U32, NEAREST, true, CLASS, unsigned)                                               \
    CAST(X, F8, I64, NEAREST, true, CLASS, long long)                                              \
    CAST(X, F8, U64, NEAREST, true, CLASS, unsigned long long)

#define CAST(X, TO, FROM, rounding, saturate, OUT, IN)                                             \
    X(cast_##TO##_##FROM, TO, FROM, 1, rounding, saturate, OUT, IN, static_cast<OUT>(x))

/* The scales of blocks: the power of two below or above. */
#define SCALES(X, source, FROM, units, OUT, IN)                                                    \
    X(source##_rz, E8M0, FROM, units, ZERO, false, OUT, IN,                                        \
      __nv_cvt_##source(x, __NV_NOSAT, cudaRoundZero))                                             \
    X(source##_rp, E8M0, FROM, units, UP, true, OUT, IN,                                           \
      __nv_cvt_##source(x, __NV_SATFINITE, cudaRoundPosInf))

#define E8M0_CONVERSIONS(X)                                                                        \
    SCALES(X, float_to_e8m0, F32, 1, fp8, float)                                                   \
    SCALES(X, double_to_e8m0, F64, 1, fp8, double)                                                 \
    SCALES(X, bfloat16raw_to_e8m0, BF16, 1, fp8, __nv_bfloat16)                                    \
    SCALES(X, float2_to_e8m0x2, F32, 2, fp8x2, float2)                                             \
    SCALES(X, bfloat162raw_to_e8m0x2, BF16, 2, fp8x2, __nv_bfloat162)                              \
    X(e8m0_to_bf16raw, BF16, E8M0, 1, NEAREST, false, __nv_bfloat16, fp8,                          \
      __nv_cvt_e8m0_to_bf16raw(x))                                                                 \
    X(e8m0x2_to_bf162raw, BF16, E8M0, 2, NEAREST, false, __nv_bfloat162, fp8x2,                    \
      __nv_cvt_e8m0x2_to_bf162raw(x))

/* C's own types, by the functions that name the rounding. */
#define C_CONVERSIONS(X)                                                                           \
    ROUNDED(X, double2float, F32, F64, float, double)                                              \
    ROUNDED(X, float2int, I32, F32, int, float)                                                    \
    ROUNDED(X, float2uint, U32, F32, unsigned, float)                                              \
    ROUNDED(X, float2ll, I64, F32, long long, float)                                               \
    ROUNDED(X, float2ull, U64, F32, unsigned long long, float)                                     \
    ROUNDED(X, double2int, I32, F64, int, double)                                                  \
    ROUNDED(X, double2uint, U32, F64, unsigned, double)                                            \
    ROUNDED(X, double2ll, I64, F64, long long, double)                                             \
    ROUNDED(X, double2ull, U64, F64, unsigned long long, double)                                   \
    ROUNDED(X, int2float, F32, I32, float, int)                                                    \
    ROUNDED(X, uint2float, F32, U32, float, unsigned)                                              \
    ROUNDED(X, ll2float, F32, I64, float, long long)                                               \
    ROUNDED(X, ull2float, F32, U64, float, unsigned long long)                                     \
    ROUNDED(X, ll2double, F64, I64, double, long long)                                             \
    ROUNDED(X, ull2double, F64, U64, double, unsigned long long)                                   \
    CAST(X, F64, F32, NEAREST, false, double, float)                                               \
    CAST(X, F64, I32, NEAREST, false, double, int)                                                 \
    CAST(X, F32, U8, NEAREST, false, float, unsigned char)                                         \
    CAST(X, F32, I8, NEAREST, false, float, signed char)                                           \
    SATURATED(X, I8, s8, signed char)                                                              \
    SATURATED(X, U8, u8, unsigned char)                                                            \
    SATURATED(X, I16, s16, short)                                                                  \
    SATURATED(X, U16, u16, unsigned short)

/* cvt.rni.sat.TYPE.f32 */
#define SATURATED(X, TO, type, OUT)                                                                \
    X(rni_sat_##type, TO, F32, 1, NEAREST, true, OUT, float, nearest_##type(x))

#define ALL_CONVERSIONS(X)                                                                         \
    F16_CONVERSIONS(X)                                                                             \
    BF16_CONVERSIONS(X)                                                                            \
    FP8_CONVERSIONS(X, E4M3, __nv_fp8_e4m3)                                                        \
    FP8_CONVERSIONS(X, E5M2, __nv_fp8_e5m2)                                                        \
    E8M0_CONVERSIONS(X)                                                                            \
    C_CONVERSIONS(X)

#endif
