/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: number formats, numbered as in src/numbers/numbers.h, and operations on
 * their values. Values are doubles if one of a step's types is f64, and floats otherwise. */
namespace at
{

enum {
    NUMBER_F16,
    NUMBER_BF16,
    NUMBER_F32,
    NUMBER_F64,
    NUMBER_E4M3,
    NUMBER_E5M2,
    NUMBER_E8M0,
    NUMBER_I8,
    NUMBER_U8,
    NUMBER_I16,
    NUMBER_U16,
    NUMBER_I32,
    NUMBER_U32,
    NUMBER_I64,
    NUMBER_U64,
    NUMBER_C64,
    NUMBER_C128,
    NUMBER_E2M1
};
/* Round a double to a float so that a second rounding, to a type with two bits less, gives what one
 * rounding would (Boldo and Melquiond, "Emulation of FMA and Correctly Rounded Sums: Proved
 * Algorithms Using Rounding to Odd", 2008). */
__device__ __forceinline__ float round_to_odd(double value)
{
    const float cut = __double2float_rz(value);

    return value == (double)cut || value != value ? cut : __int_as_float(__float_as_int(cut) | 1);
}

/* Round a float to 8 bits in software, for devices of less than compute capability 8.9: to nearest
 * even, and to the largest number beyond it. e4m3: 3 bits of mantissa and a bias of 7; e5m2: 2 and
 * 15. */
template <int mantissa, int bias, unsigned largest>
__device__ __forceinline__ unsigned round_to_8_bits(float value)
{
    const unsigned bits = __float_as_uint(value), sign = bits >> 24 & 0x80;
    const unsigned magnitude = bits & 0x7fffffff;
    constexpr int dropped = 23 - mantissa;
    constexpr unsigned least = (127u - bias + 1) << 23; /* the least normal number */

    if (magnitude > 0x7f800000)
        return 0x7f;
    unsigned rounded;
    if (magnitude < least) { /* add a number whose last bit is the last one of the result */
        constexpr unsigned unit = (127u - bias + 1 - mantissa + 23) << 23;
        rounded =
            __float_as_uint(__fadd_rn(__uint_as_float(magnitude), __uint_as_float(unit))) - unit;
    } else {
        rounded = magnitude + (1u << (dropped - 1)) - 1 + (magnitude >> dropped & 1);
        rounded = (rounded - ((127u - bias) << 23)) >> dropped;
    }
    return sign | minimum(rounded, largest);
}

/* A number format: of its bits the exact value, and back, rounded to nearest even once. */
template <int number> struct format;

template <> struct format<NUMBER_F32> {
    static constexpr int bytes = 4;
    using value = float;

    static __device__ __forceinline__ float load(unsigned bits)
    {
        return __uint_as_float(bits);
    }
    static __device__ __forceinline__ unsigned store(float x)
    {
        return __float_as_uint(x);
    }
    static __device__ __forceinline__ unsigned store(double x)
    {
        return x != x ? 0x7fffffff : store(__double2float_rn(x)); /* cvt gives another NaN */
    }
};

template <> struct format<NUMBER_F64> {
    static constexpr int bytes = 8;
    using value = double;

    static __device__ __forceinline__ double load(uint2 bits)
    {
        return __hiloint2double((int)bits.y, (int)bits.x);
    }
    static __device__ __forceinline__ uint2 store(double x)
    {
        return {(unsigned)__double2loint(x), (unsigned)__double2hiint(x)};
    }
};

template <> struct format<NUMBER_F16> {
    static constexpr int bytes = 2;
    using value = float;

    static __device__ __forceinline__ float load(unsigned short bits)
    {
        float x;

        asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
        return x;
    }
    static __device__ __forceinline__ unsigned short store(float x)
    {
        unsigned short bits;

        asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
        return bits;
    }
    static __device__ __forceinline__ unsigned short store(double x)
    {
        unsigned short bits;

        asm("cvt.rn.f16.f64 %0, %1;" : "=h"(bits) : "d"(x));
        return x != x ? (unsigned short)0x7fff : bits; /* cvt gives another NaN */
    }
};

template <> struct format<NUMBER_BF16> {
    static constexpr int bytes = 2;
    using value = float;

    static __device__ __forceinline__ float load(unsigned short bits)
    {
        return __uint_as_float((unsigned)bits << 16);
    }
    static __device__ __forceinline__ unsigned short store(float x)
    {
#if __CUDA_ARCH__ >= 800
        unsigned bits;

        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(0.0f), "f"(x));
        return (unsigned short)bits;
#else
        const unsigned bits = __float_as_uint(x);

        return (unsigned short)(x != x ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
#endif
    }
    static __device__ __forceinline__ unsigned short store(double x)
    {
        return store(round_to_odd(x));
    }
};

/* Two numbers become 8 bits each in one instruction. Numbers beyond the largest one become that, or
 * an infinity in e5m2 and NaN in e4m3. */
template <int number, bool saturates = true> struct format_of_8_bits {
    static constexpr int bytes = 1;
    using value = float;

    static __device__ __forceinline__ float load(unsigned char bits)
    {
        /* Of e5m2 the 8 upper bits of an f16; of e4m3 the exponent's bias differs by 8. */
        if constexpr (number == NUMBER_E5M2)
            return format<NUMBER_F16>::load((unsigned short)(bits << 8));
        else if ((bits & 0x7f) == 0x7f)
            return __uint_as_float(0x7fffffff);
        else
            return format<NUMBER_F16>::load(
                       (unsigned short)((bits & 0x80) << 8 | (bits & 0x7f) << 7)) *
                   256;
    }
    /* What turns the largest number, of either sign, into what is beyond it. 464 is a tie, which
     * goes down; 61,440 is one, which goes up. */
    static __device__ __forceinline__ int beyond(float x)
    {
        constexpr unsigned last = number == NUMBER_E4M3 ? 0x43e80000 : 0x476fffff;
        const unsigned magnitude = __float_as_uint(x) & 0x7fffffff;

        return magnitude > last && magnitude <= 0x7f800000 ? (number == NUMBER_E4M3 ? 1 : 7) : 0;
    }
    static __device__ __forceinline__ unsigned short store_two(float low, float high)
    {
        if constexpr (saturates)
            return saturated(low, high);
        else
            return (unsigned short)(saturated(low, high) ^ (beyond(high) << 8 | beyond(low)));
    }
    static __device__ __forceinline__ unsigned short saturated(float low, float high)
    {
#if __CUDA_ARCH__ >= 890
        unsigned short both;

        if constexpr (number == NUMBER_E4M3)
            asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
        else
            asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(both) : "f"(high), "f"(low));
        return both;
#else
        if constexpr (number == NUMBER_E4M3)
            return (unsigned short)(round_to_8_bits<3, 7, 0x7e>(high) << 8 |
                                    round_to_8_bits<3, 7, 0x7e>(low));
        else
            return (unsigned short)(round_to_8_bits<2, 15, 0x7b>(high) << 8 |
                                    round_to_8_bits<2, 15, 0x7b>(low));
#endif
    }
    static __device__ __forceinline__ unsigned char store(float x)
    {
        return (unsigned char)store_two(x, 0);
    }
    static __device__ __forceinline__ unsigned char store(double x)
    {
        return store(round_to_odd(x));
    }
};
template <> struct format<NUMBER_E4M3> : format_of_8_bits<NUMBER_E4M3> {
};
template <> struct format<NUMBER_E5M2> : format_of_8_bits<NUMBER_E5M2> {
};

__device__ constexpr bool is_8_bit_float(int number)
{
    return number == NUMBER_E4M3 || number == NUMBER_E5M2;
}

template <int number, bool saturates> struct result_format : format<number> {
};
template <int number> struct result_format<number, false> : format_of_8_bits<number, false> {
};

/* Integers of 32 bits do not fit a float. What is stored is cut off at the type's ends, and NaN
 * gives 0 (PTX ISA, cvt). */
#define AT_INTEGER_FORMAT(number, type, word_type, value_type, ptx)                                \
    template <> struct format<number> {                                                            \
        static constexpr int bytes = sizeof(type);                                                 \
        using value = value_type;                                                                  \
        static __device__ __forceinline__ value load(word_type bits)                               \
        {                                                                                          \
            return (value)(type)bits;                                                              \
        }                                                                                          \
        static __device__ __forceinline__ word_type store(float x)                                 \
        {                                                                                          \
            int rounded;                                                                           \
            asm("cvt.rni.sat." ptx ".f32 %0, %1;" : "=r"(rounded) : "f"(x));                       \
            return (word_type)rounded;                                                             \
        }                                                                                          \
        static __device__ __forceinline__ word_type store(double x)                                \
        {                                                                                          \
            int rounded;                                                                           \
            asm("cvt.rni.sat." ptx ".f64 %0, %1;" : "=r"(rounded) : "d"(x));                       \
            return (word_type)rounded;                                                             \
        }                                                                                          \
    };
AT_INTEGER_FORMAT(NUMBER_I8, signed char, unsigned char, float, "s8")
AT_INTEGER_FORMAT(NUMBER_U8, unsigned char, unsigned char, float, "u8")
AT_INTEGER_FORMAT(NUMBER_I16, short, unsigned short, float, "s16")
AT_INTEGER_FORMAT(NUMBER_U16, unsigned short, unsigned short, float, "u16")
AT_INTEGER_FORMAT(NUMBER_I32, int, unsigned, double, "s32")
AT_INTEGER_FORMAT(NUMBER_U32, unsigned, unsigned, double, "u32")
#undef AT_INTEGER_FORMAT

/* Complex numbers have two parts. */
template <int number> struct parts_of {
    static constexpr int count = 1, part = number;
};
template <> struct parts_of<NUMBER_C64> {
    static constexpr int count = 2, part = NUMBER_F32;
};
template <> struct parts_of<NUMBER_C128> {
    static constexpr int count = 2, part = NUMBER_F64;
};

/* Operations, each rounded to nearest even once. Sums of doubles have one NaN on all devices. */
__device__ __forceinline__ float add(float x, float y)
{
    return __fadd_rn(x, y);
}
__device__ __forceinline__ double add(double x, double y)
{
    const double sum = __dadd_rn(x, y);

    return sum != sum ? __longlong_as_double(0x7fffffffffffffff) : sum;
}
__device__ __forceinline__ float multiply(float x, float y)
{
    return __fmul_rn(x, y);
}
__device__ __forceinline__ double multiply(double x, double y)
{
    return __dmul_rn(x, y);
}
__device__ __forceinline__ float divide(float x, float y)
{
    return __fdiv_rn(x, y);
}
__device__ __forceinline__ double divide(double x, double y)
{
    return __ddiv_rn(x, y);
}

/* Return the float that rounds to 8 bits as the value does. */
__device__ __forceinline__ float before_8_bits(float x)
{
    return x;
}
__device__ __forceinline__ float before_8_bits(double x)
{
    return round_to_odd(x);
}

__device__ __forceinline__ unsigned flip_sign(unsigned bits)
{
    return bits ^ 0x80000000;
}
__device__ __forceinline__ uint2 flip_sign(uint2 bits)
{
    return {bits.x, flip_sign(bits.y)};
}

template <bool has_double> struct number_of {
    using type = float;
};
template <> struct number_of<true> {
    using type = double;
};

/* Are a format's numbers 0, infinite, NaN, or between 2^-24 and 2^32? */
__device__ constexpr bool has_short_range(int number)
{
    return number != NUMBER_BF16 && number != NUMBER_F32 && number != NUMBER_F64;
}
__device__ constexpr bool is_integer(int number)
{
    return number >= NUMBER_I8 && number <= NUMBER_U64;
}

} // namespace at
