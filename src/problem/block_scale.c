/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/block_scale.h"

#include "base/integer.h"
#include "base/memory.h"
#include "system/threads.h"

#include <float.h>
#include <math.h>
#include <string.h>

static float largest_of(enum at_number to)
{
    return (float)at_number_formats[to].largest;
}

static uint32_t bits_of(float value)
{
    return at_result_of_f32(value);
}

/* ---- scales in f32 ---- */

/* Of 0, infinities and NaN the scale is 1. */
static float te_scale(const struct at_block_facts *facts)
{
    float scale;

    if (facts->largest == 0 || !isfinite(facts->largest))
        return 1;
    scale = largest_of(facts->to) / facts->largest;
    return isinf(scale) ? (float)at_number_formats[facts->from].largest : scale;
}

static struct at_block_scale of_te(const struct at_block_facts *facts)
{
    float scale = te_scale(facts);

    return (struct at_block_scale){bits_of(1 / scale), scale};
}

static struct at_block_scale of_te_pow2(const struct at_block_facts *facts)
{
    float scale = at_f32_of(at_bits_of_f32(te_scale(facts)) & 0xff800000);

    return (struct at_block_scale){bits_of(1 / scale), scale};
}

static struct at_block_scale of_torchao(const struct at_block_facts *facts)
{
    float largest = fmaxf(facts->largest, 1e-12F);
    float scale = (float)((double)largest_of(facts->to) / (double)largest);

    return (struct at_block_scale){bits_of(1 / scale), scale};
}

/* ---- scales in e8m0 ---- */

enum { E8M0_NAN = 0xff, E8M0_LARGEST = 0xfe };

/* The factor is the scale's reciprocal, 2^(127 - byte). */
static struct at_block_scale of_e8m0(int byte)
{
    uint32_t factor = byte == E8M0_NAN       ? 0x7fffffff
                      : byte == E8M0_LARGEST ? 0x00400000
                                             : (uint32_t)(254 - byte) << 23;

    return (struct at_block_scale){(uint32_t)byte, at_f32_of(factor)};
}

/* A number's exponent field, less the result's largest exponent. */
static struct at_block_scale of_power(const struct at_block_facts *facts, uint32_t bits, int more)
{
    int byte = (int)(bits >> 23) + more - ilogbf(largest_of(facts->to));

    return of_e8m0(bits >= 0x7f800000 ? E8M0_NAN : byte < 0 ? 0 : byte);
}

static struct at_block_scale of_floor(const struct at_block_facts *facts)
{
    return of_power(facts, bits_of(facts->largest), 0);
}

static struct at_block_scale of_ceil(const struct at_block_facts *facts)
{
    uint32_t bits = bits_of(facts->largest);

    return of_power(facts, bits, (bits & 0x7fffff) != 0);
}

static struct at_block_scale of_even(const struct at_block_facts *facts)
{
    uint32_t half = UINT32_C(1) << (22 - at_number_formats[facts->to].mantissa);

    return of_power(facts, bits_of(facts->largest) + half, 0);
}

/* The magnitude times the reciprocal of the largest number, rounded up to a power of two. Of
 * numbers below 2^-126 the least scale is 2^-127. */
static int quotient_up(const struct at_block_facts *facts)
{
    float reciprocal = 1 / largest_of(facts->to);
    uint32_t bits = bits_of(facts->largest * reciprocal);
    uint32_t mantissa = bits & 0x7fffff;
    int byte = (int)(bits >> 23);

    return byte + (byte == 0 ? mantissa > 0x400000 : mantissa != 0);
}

static struct at_block_scale of_rceil(const struct at_block_facts *facts)
{
    return of_e8m0(isfinite(facts->largest) ? quotient_up(facts) : E8M0_NAN);
}

static struct at_block_scale of_te_rceil(const struct at_block_facts *facts)
{
    return of_e8m0(isfinite(facts->largest) ? quotient_up(facts) : E8M0_LARGEST);
}

/* ---- scales in e4m3, of e2m1 ---- */

static uint32_t e4m3_of(float value)
{
    return (uint32_t)at_number_convert(AT_E4M3, AT_F32, at_bits_of_f32(value), AT_NEAREST, true);
}

static float f32_of_e4m3(uint32_t bits)
{
    return at_f32_of((uint32_t)at_number_convert(AT_F32, AT_E4M3, bits, AT_NEAREST, false));
}

/* The largest scale times the largest number: what the tensor's largest magnitude becomes. */
static const float whole_range = 448 * 6;

static struct at_block_scale of_nvfp4(const struct at_block_facts *facts)
{
    const float least = 0x1p-6F; /* the least normal number */
    float tensor = facts->of_tensor ? *facts->of_tensor / whole_range : 1;
    float scale = facts->largest / largest_of(facts->to) / tensor;
    uint32_t stored = e4m3_of(scale < least ? least : scale);
    float reciprocal = 1 / tensor;

    return (struct at_block_scale){stored, reciprocal / f32_of_e4m3(stored)};
}

static struct at_block_scale of_te_nvfp4(const struct at_block_facts *facts)
{
    const float sixth = 1 / largest_of(facts->to);
    float tensor = facts->of_tensor ? fminf(whole_range / *facts->of_tensor, FLT_MAX) : 1, product;
    uint32_t stored;

    if (tensor == 0 || (facts->of_tensor && *facts->of_tensor == 0))
        tensor = 1;
    product = tensor * sixth;
    product = facts->largest * product;
    stored = e4m3_of(fminf(product, FLT_MAX));
    product = 1 / tensor;
    product = f32_of_e4m3(stored) * product;
    return (struct at_block_scale){stored, fminf(1 / product, FLT_MAX)};
}

const struct at_block_rule at_block_rules[AT_BLOCK_RULES] = {
    [AT_RULE_TE] = {"te", AT_F32, false, false, of_te},
    [AT_RULE_TE_POW2] = {"te-pow2", AT_F32, false, false, of_te_pow2},
    [AT_RULE_TORCHAO] = {"torchao", AT_F32, false, true, of_torchao},
    [AT_RULE_FLOOR] = {"floor", AT_E8M0, true, false, of_floor},
    [AT_RULE_CEIL] = {"ceil", AT_E8M0, true, false, of_ceil},
    [AT_RULE_EVEN] = {"even", AT_E8M0, true, false, of_even},
    [AT_RULE_RCEIL] = {"rceil", AT_E8M0, true, false, of_rceil},
    [AT_RULE_TE_RCEIL] = {"te-rceil", AT_E8M0, false, false, of_te_rceil},
    [AT_RULE_NVFP4] = {"nvfp4", AT_E4M3, true, false, of_nvfp4},
    [AT_RULE_TE_NVFP4] = {"te-nvfp4", AT_E4M3, false, false, of_te_nvfp4},
};

const struct at_block_rule *at_block_rule_find(const char *name, size_t length)
{
    for (size_t i = 0; i < AT_BLOCK_RULES; i++)
        if (strlen(at_block_rules[i].name) == length &&
            memcmp(at_block_rules[i].name, name, length) == 0)
            return &at_block_rules[i];
    return NULL;
}

/* ---- layouts of scales ---- */

const char *const at_scale_layout_names[AT_SCALE_LAYOUTS] = {
    [AT_SCALES_PLAIN] = "plain",
    [AT_SCALES_TRANSPOSED] = "transposed",
    [AT_SCALES_ALIGNED] = "aligned",
    [AT_SCALES_SWIZZLED] = "swizzled",
};

static int64_t round_up(int64_t count, int64_t multiple)
{
    return (count + multiple - 1) / multiple * multiple;
}

int64_t at_scale_place(enum at_scale_layout layout, int64_t rows, int64_t cols, int bytes,
                       int64_t row, int64_t col)
{
    int64_t tile = row / 128 * (round_up(cols, 4) / 4) + col / 4;

    switch (layout) {
    case AT_SCALES_TRANSPOSED:
        return col * rows + row;
    case AT_SCALES_ALIGNED:
        return col * round_up(rows, 16 / bytes) + row;
    case AT_SCALES_SWIZZLED:
        return tile * 512 + row % 32 * 16 + row % 128 / 32 * 4 + col % 4;
    default:
        return row * cols + col;
    }
}

int64_t at_scale_places(enum at_scale_layout layout, int64_t rows, int64_t cols, int bytes)
{
    if (layout == AT_SCALES_SWIZZLED)
        return round_up(rows, 128) * round_up(cols, 4);
    return (layout == AT_SCALES_ALIGNED ? round_up(rows, 16 / bytes) : rows) * cols;
}

/* ---- elements ---- */

static float value_of(const struct at_block_tables *tables, enum at_number from,
                      const unsigned char *element)
{
    uint16_t half;
    uint32_t bits = 0;

    if (tables && tables->bytes == sizeof half) {
        memcpy(&half, element, sizeof half);
        return tables->values[half];
    }
    memcpy(&bits, element, (size_t)at_number_formats[from].bytes);
    return at_f32_of(
        from == AT_F32 ? bits : (uint32_t)at_number_convert(AT_F32, from, bits, AT_NEAREST, false));
}

static float find_largest(const struct at_block_tables *tables, const struct at_block_rule *rule,
                          enum at_number from, const unsigned char *elements, int64_t rows,
                          int64_t cols, int64_t ld)
{
    int64_t bytes = at_number_formats[from].bytes;
    float largest = 0;

    for (int64_t row = 0; row < rows; row++)
        for (int64_t col = 0; col < cols; col++) {
            float magnitude = fabsf(value_of(tables, from, elements + (row * ld + col) * bytes));

            if (isnan(magnitude) && rule->nan_is_largest)
                return NAN;
            if (magnitude > largest)
                largest = magnitude;
        }
    return largest;
}

static uint8_t round_product(const struct at_block_rule *rule, enum at_number to, float value)
{
    if (isnan(value))
        value = rule->clips_nan ? largest_of(to) : NAN;
    return (uint8_t)at_number_convert(to, AT_F32, at_bits_of_f32(value), AT_NEAREST, true);
}

/* No result has more than three bits of mantissa, so that the fourth one says on which side of the
 * middle a product is, and the rest whether it is in the middle. */
static uint8_t tabulated(const struct at_block_tables *tables, float product)
{
    const int rest = 32 - AT_PRODUCT_BITS;
    uint32_t bits = (uint32_t)at_bits_of_f32(product);

    return tables->results[bits >> rest << 1 | ((bits & ((UINT32_C(1) << rest) - 1)) != 0)];
}

void at_block_tabulate(struct at_block_tables *tables, const struct at_block_rule *rule,
                       enum at_number from, enum at_number to)
{
    tables->bytes = at_number_formats[from].bytes;
    if (tables->bytes == sizeof(uint16_t))
        for (size_t i = 0; i < AT_COUNT(tables->values); i++) {
            uint16_t element = (uint16_t)i;

            tables->values[i] = value_of(NULL, from, (const unsigned char *)&element);
        }
    for (uint32_t i = 0; i < AT_COUNT(tables->results); i++)
        tables->results[i] =
            round_product(rule, to, at_f32_of(i >> 1 << (32 - AT_PRODUCT_BITS) | (i & 1)));
}

/* ---- a whole result ---- */

/* Results of a row come in order. Behind the last one of an odd number the other half is 0. */
static void put_result(enum at_number to, uint8_t *dst, int64_t place, uint8_t bits)
{
    if (to != AT_E2M1)
        dst[place] = bits;
    else if (place % 2 == 0)
        dst[place / 2] = bits;
    else
        dst[place / 2] = (uint8_t)((dst[place / 2] & 0x0f) | bits << 4);
}

/* A result that is being computed. */
struct applying {
    const struct at_scaled_result *result;
    enum at_number from;
    const unsigned char *source;
    int64_t rows, cols, ld_src, ld_dst;
    int64_t down, across; /* blocks */
    const float *of_tensor;
    uint8_t *dst;
    unsigned char *scales;
};

static void apply_to_block(const struct applying *to, int64_t down_at, int64_t across_at)
{
    const struct at_scaled_result *result = to->result;
    const struct at_block_rule *rule = result->rule;
    const struct at_block_tables *tables = result->tables;
    const int64_t bytes = at_number_formats[to->from].bytes;
    const int64_t first_row = down_at * result->block_rows;
    const int64_t first_col = across_at * result->block_cols;
    const int64_t rows = at_min(result->block_rows, to->rows - first_row);
    const int64_t cols = at_min(result->block_cols, to->cols - first_col);
    const unsigned char *first = to->source + (first_row * to->ld_src + first_col) * bytes;
    const struct at_block_facts facts = {
        to->from, result->to, find_largest(tables, rule, to->from, first, rows, cols, to->ld_src),
        to->of_tensor};
    const struct at_block_scale scale = rule->scale_of(&facts);
    const int scale_bytes = at_number_formats[rule->scale].bytes;
    const int64_t place =
        result->transposed
            ? at_scale_place(result->layout, to->across, to->down, scale_bytes, across_at, down_at)
            : at_scale_place(result->layout, to->down, to->across, scale_bytes, down_at, across_at);

    memcpy(to->scales + place * scale_bytes, &scale.stored, (size_t)scale_bytes);
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < cols; x++) {
            const int64_t at = result->transposed ? (first_col + x) * to->ld_dst + first_row + y
                                                  : (first_row + y) * to->ld_dst + first_col + x;
            const float product =
                value_of(tables, to->from, first + (y * to->ld_src + x) * bytes) * scale.factor;

            put_result(result->to, to->dst, at,
                       tables ? tabulated(tables, product)
                              : round_product(rule, result->to, product));
        }
}

/* A band of blocks has an even number of rows: two results of a column share a byte. */
enum { BAND = 2 };

static void apply_to_band(void *data, size_t band)
{
    const struct applying *to = data;

    for (int64_t i = BAND * (int64_t)band; i < BAND * (int64_t)(band + 1) && i < to->down; i++)
        for (int64_t k = 0; k < to->across; k++)
            apply_to_block(to, i, k);
}

/* Smaller ones take less time than the threads would. */
static const int64_t many_elements = 1 << 20;

void at_block_apply(const struct at_scaled_result *result, enum at_number from, const void *source,
                    int64_t rows, int64_t cols, int64_t ld_src, const float *of_tensor, void *dst,
                    int64_t ld_dst, void *scales)
{
    const int64_t down = round_up(rows, result->block_rows) / result->block_rows;
    const int64_t across = round_up(cols, result->block_cols) / result->block_cols;
    struct applying to = {.result = result,
                          .from = from,
                          .source = source,
                          .rows = rows,
                          .cols = cols,
                          .ld_src = ld_src,
                          .ld_dst = ld_dst,
                          .down = down,
                          .across = across,
                          .of_tensor = of_tensor,
                          .dst = dst,
                          .scales = scales};
    const int scale_bytes = at_number_formats[result->rule->scale].bytes;
    const int64_t places = result->transposed
                               ? at_scale_places(result->layout, across, down, scale_bytes)
                               : at_scale_places(result->layout, down, across, scale_bytes);
    const size_t bands = (size_t)round_up(down, BAND) / BAND;

    memset(scales, 0, (size_t)(places * scale_bytes));
    if (rows * cols >= many_elements)
        at_for_parts(bands, apply_to_band, &to);
    else
        for (size_t i = 0; i < bands; i++)
            apply_to_band(&to, i);
}
