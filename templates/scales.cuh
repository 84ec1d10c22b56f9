/* SPDX-License-Identifier: Apache-2.0 */
/* Part of transpose.cuh: block scales. What is computed is defined in src/problem/block_scale.h,
 * whose order the enumerations here have, and is checked bit for bit against the reference there.
 */
namespace at
{

enum {
    RULE_TE,
    RULE_TE_POW2,
    RULE_TORCHAO,
    RULE_FLOOR,
    RULE_CEIL,
    RULE_EVEN,
    RULE_RCEIL,
    RULE_TE_RCEIL,
    RULE_NVFP4,
    RULE_TE_NVFP4
};
enum { SCALES_PLAIN, SCALES_TRANSPOSED, SCALES_ALIGNED, SCALES_SWIZZLED };

/* The formats of results. */
template <int type> struct scaled_format;
template <> struct scaled_format<NUMBER_E4M3> {
    static constexpr int bits = 8, mantissa = 3, exponent = 8;
    static constexpr float largest = 448;
    using format = at::format<NUMBER_E4M3>;
};
template <> struct scaled_format<NUMBER_E5M2> {
    static constexpr int bits = 8, mantissa = 2, exponent = 15;
    static constexpr float largest = 57344;
    using format = at::format<NUMBER_E5M2>;
};
template <> struct scaled_format<NUMBER_E2M1> {
    static constexpr int bits = 4, mantissa = 1, exponent = 2;
    static constexpr float largest = 6;
};

/* The largest number of a source's type. */
template <int number> __device__ __forceinline__ constexpr float largest_of()
{
    return number == NUMBER_F16 ? 65504.0f : number == NUMBER_BF16 ? 0x1.fep127f : 0x1.fffffep127f;
}

/* The larger one of two magnitudes. NaN is ignored; or it is the largest, as its bits are. */
template <bool nan_is_largest> __device__ __forceinline__ float larger(float x, float y)
{
    if constexpr (nan_is_largest) {
        const unsigned a = __float_as_uint(x), b = __float_as_uint(y);

        return __uint_as_float(a > b ? a : b);
    } else {
        return fmaxf(x, y);
    }
}

/* A scale's bits, and the factor of its block's elements. */
struct block_scale {
    unsigned stored;
    float factor;
};

/* A scale in e8m0, whose factor is its reciprocal. */
__device__ __forceinline__ block_scale e8m0_scale(int byte)
{
    const unsigned factor = byte == 255   ? 0x7fffffff
                            : byte == 254 ? 0x00400000
                                          : (unsigned)(254 - byte) << 23;

    return {(unsigned)byte, __uint_as_float(factor)};
}

/* A number's exponent field, less the result's largest exponent. */
template <int to> __device__ __forceinline__ block_scale power_scale(unsigned bits, int more)
{
    const int byte = (int)(bits >> 23) + more - scaled_format<to>::exponent;

    return e8m0_scale(bits >= 0x7f800000 ? 255 : byte < 0 ? 0 : byte);
}

/* A quotient rounded up to a power of two. */
__device__ __forceinline__ block_scale power_above(float quotient)
{
    const unsigned bits = __float_as_uint(quotient), mantissa = bits & 0x7fffff;
    const int byte = (int)(bits >> 23);

    return e8m0_scale(byte + (byte == 0 ? mantissa > 0x400000 : mantissa != 0));
}

/* A block's scale by its largest magnitude. */
template <int rule, int from, int to>
__device__ __forceinline__ block_scale scale_of(float largest, const float *of_tensor)
{
    using result = scaled_format<to>;
    const unsigned bits = __float_as_uint(largest);
    const bool is_finite = bits < 0x7f800000;
    constexpr float whole_range = 448 * 6;

    if constexpr (rule == RULE_TE || rule == RULE_TE_POW2) {
        float scale = __fdiv_rn(result::largest, largest);

        if (__float_as_uint(scale) == 0x7f800000)
            scale = largest_of<from>();
        if constexpr (rule == RULE_TE_POW2)
            scale = __uint_as_float(__float_as_uint(scale) & 0xff800000);
        if (largest == 0 || !is_finite)
            scale = 1;
        return {__float_as_uint(__fdiv_rn(1, scale)), scale};
    } else if constexpr (rule == RULE_TORCHAO) {
        /* The definition divides in f64 and rounds to f32. That is what one division gives, for f64
         * has more than twice the bits (Figueroa, "When is Double Rounding Innocuous?", 1995). */
        const float scale = __fdiv_rn(result::largest, fmaxf(largest, 1e-12f));

        return {__float_as_uint(__fdiv_rn(1, scale)), scale};
    } else if constexpr (rule == RULE_FLOOR) {
        return power_scale<to>(bits, 0);
    } else if constexpr (rule == RULE_CEIL) {
        return power_scale<to>(bits, (bits & 0x7fffff) != 0);
    } else if constexpr (rule == RULE_EVEN) {
        return power_scale<to>(bits + (1u << (22 - result::mantissa)), 0);
    } else if constexpr (rule == RULE_RCEIL || rule == RULE_TE_RCEIL) {
        return is_finite ? power_above(__fmul_rn(largest, 1 / result::largest))
                         : e8m0_scale(rule == RULE_RCEIL ? 255 : 254);
    } else if constexpr (rule == RULE_NVFP4) {
        const float tensor = of_tensor ? __fdiv_rn(*of_tensor, whole_range) : 1.0f;
        const float scale = __fdiv_rn(__fdiv_rn(largest, result::largest), tensor);
        const unsigned char stored = format<NUMBER_E4M3>::store(scale < 0x1p-6f ? 0x1p-6f : scale);

        return {stored, __fdiv_rn(__fdiv_rn(1, tensor), format<NUMBER_E4M3>::load(stored))};
    } else {
        float tensor = of_tensor ? fminf(__fdiv_rn(whole_range, *of_tensor), 0x1.fffffep127f) : 1;

        if (tensor == 0 || (of_tensor && *of_tensor == 0))
            tensor = 1;
        const float product = __fmul_rn(largest, __fmul_rn(tensor, 1 / result::largest));
        const unsigned char stored = format<NUMBER_E4M3>::store(fminf(product, 0x1.fffffep127f));

        return {stored, fminf(__fdiv_rn(1, __fmul_rn(format<NUMBER_E4M3>::load(stored),
                                                     __fdiv_rn(1, tensor))),
                              0x1.fffffep127f)};
    }
}

/* Is NaN a block's largest magnitude? */
__device__ constexpr bool nan_is_largest_in(int rule)
{
    return rule == RULE_FLOOR || rule == RULE_CEIL || rule == RULE_EVEN || rule == RULE_RCEIL ||
           rule == RULE_NVFP4;
}

/* The type of a rule's scales. */
template <int rule>
using scale_word = word<rule == RULE_TE || rule == RULE_TE_POW2 || rule == RULE_TORCHAO ? 4 : 1>;

/* A number in e2m1. NaN becomes the largest one. There are no branches: they would take longer. */
__device__ __forceinline__ unsigned e2m1_code(float x)
{
    const unsigned sign = x != x ? 0 : __float_as_uint(x) >> 28 & 8;
    const float magnitude = fminf(fabsf(x), 6);
    const unsigned bits = __float_as_uint(magnitude);
    /* The sum's last bit is worth 0.5, as that of numbers below 1. */
    const unsigned small = __float_as_uint(__fadd_rn(magnitude, 0x1p22f)) - 0x4a800000;
    const unsigned large = (bits + 0x1fffff + (bits >> 22 & 1)) >> 22;

    return sign | (magnitude < 1 ? small : large - 2 * 126);
}

/* Round numbers to results, side by side in a word. */
template <int rule, int to, int count>
__device__ __forceinline__ word<count * scaled_format<to>::bits / 8>
scaled_results(const float (&products)[count])
{
    if constexpr (to == NUMBER_E2M1) {
        vector<count / 2, count / 2 < 4 ? count / 2 : 4> made;
        constexpr int part = count < 8 ? count : 8;

#pragma unroll
        for (int i = 0; i < count / part; i++) {
            unsigned codes = 0;

#pragma unroll
            for (int k = 0; k < part; k++)
                codes |= e2m1_code(products[i * part + k]) << 4 * k;
            made.part[i] = codes;
        }
        return made.whole;
    } else if constexpr (count == 1) {
        const float x = products[0];

        return scaled_format<to>::format::store(
            rule == RULE_TORCHAO && x != x ? scaled_format<to>::largest : x);
    } else {
        vector<count, 2> pairs;

#pragma unroll
        for (int i = 0; i < count; i += 2) {
            float low = products[i], high = products[i + 1];

            if constexpr (rule == RULE_TORCHAO) {
                low = low != low ? scaled_format<to>::largest : low;
                high = high != high ? scaled_format<to>::largest : high;
            }
            pairs.part[i / 2] = scaled_format<to>::format::store_two(low, high);
        }
        return pairs.whole;
    }
}

/* The scales of a result: a matrix with its orientation, in a layout. */
template <int layout, int scale_bytes> struct scale_matrix {
    static constexpr bool has_padding = layout == SCALES_ALIGNED || layout == SCALES_SWIZZLED;
    using count_type = unsigned long long; /* dividing it is a shift, without a look at its sign */

    count_type rows, cols;

    static __device__ __forceinline__ count_type round_up(count_type count, int multiple)
    {
        return (count + multiple - 1) / multiple * multiple;
    }
    __device__ __forceinline__ count_type padded_rows() const
    {
        return layout == SCALES_SWIZZLED  ? round_up(rows, 128)
               : layout == SCALES_ALIGNED ? round_up(rows, 16 / scale_bytes)
                                          : rows;
    }
    __device__ __forceinline__ count_type padded_cols() const
    {
        return layout == SCALES_SWIZZLED ? round_up(cols, 4) : cols;
    }

    /* The place of a scale. That of a sum of two rows and two columns is the sum of their places, if
     * the swizzled layout's parts of their numbers do not carry: so it is of a tile and what is in
     * it. */
    template <class index> __device__ __forceinline__ count_type place(index row, index col) const
    {
        if constexpr (layout == SCALES_SWIZZLED)
            return (row / 128 * (padded_cols() / 4) + col / 4) * 512 +
                   (row % 32 * 16 + row % 128 / 32 * 4 + col % 4);
        else if constexpr (layout == SCALES_PLAIN)
            return row * cols + col;
        else
            return col * padded_rows() + row;
    }
};

/* The scales of a result in memory, for blocks of height x width elements of the source. Their rows
 * are those of the result. */
template <class T, int layout, bool transposed, int height, int width> struct result_scales {
    using scales_matrix = scale_matrix<layout, sizeof(T)>;
    using count_type = typename scales_matrix::count_type;

    /* Blocks of the matrix, and where the tile's begin. */
    count_type down, across, first_row, first_col;
    scales_matrix all;
    T *scales; /* of the tile */

    __device__ __forceinline__ result_scales(void *scales_of_all, const tile_place &at)
        : down(((count_type)at.rows + height - 1) / height),
          across(((count_type)at.cols + width - 1) / width),
          first_row((count_type)at.tile.first_row / height),
          first_col((count_type)at.tile.first_col / width),
          all{transposed ? across : down, transposed ? down : across},
          scales(static_cast<T *>(scales_of_all) +
                 at.tile.matrix * all.padded_rows() * all.padded_cols() +
                 place(first_row, first_col))
    {
    }

    template <class index> __device__ __forceinline__ count_type place(index row, index col) const
    {
        return all.place(transposed ? col : row, transposed ? row : col);
    }

    /* Store the scale of a block of the tile. */
    __device__ __forceinline__ void store(unsigned row, unsigned col, unsigned stored) const
    {
        if (row < down - first_row && col < across - first_col)
            scales[place(row, col)] = (T)stored;
    }

    /* Write the padding of a layout that is beside the tile's scales. */
    template <int tile_rows, int tile_cols, int threads>
    __device__ __forceinline__ void write_padding() const
    {
        if constexpr (scales_matrix::has_padding) {
            const bool is_last_row = first_row + tile_rows / height >= down;
            const bool is_last_col = first_col + tile_cols / width >= across;
            const count_type end_row = transposed ? all.padded_cols() : all.padded_rows();
            const count_type end_col = transposed ? all.padded_rows() : all.padded_cols();
            const unsigned rows = is_last_row ? end_row - first_row : tile_rows / height;
            const unsigned cols = is_last_col ? end_col - first_col : tile_cols / width;

            if (!(is_last_row && end_row > down) && !(is_last_col && end_col > across))
                return;
            for (unsigned i = threadIdx.x; i < rows * cols; i += threads) {
                const unsigned row = i / cols, col = i % cols;

                if (row >= down - first_row || col >= across - first_col)
                    scales[place(row, col)] = 0;
            }
        }
    }
};

} // namespace at
