/* SPDX-License-Identifier: Apache-2.0 */
#include "problem/step.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

const char *const at_operation_names[AT_OPERATIONS] = {
    [AT_CONJUGATE] = "conj",    [AT_SCALE] = "scale",   [AT_DIVIDE] = "divide",
    [AT_ALPHA] = "alpha",       [AT_AFFINE] = "affine", [AT_BETA] = "beta",
    [AT_NOSAT] = "nosat",       [AT_BOTH] = "both",     [AT_AMAX] = "amax",
    [AT_AMAX_NAN] = "amax=nan", [AT_BLOCKS] = "blocks", [AT_SUMS] = "sums",
};

bool at_step_equal(const struct at_step *a, const struct at_step *b)
{
    return a->given == b->given &&
           (!a->given ||
            (a->from == b->from && a->to == b->to && a->kept == b->kept &&
             a->operations == b->operations && a->channels.count == b->channels.count &&
             a->channels.run == b->channels.run && a->channels.period == b->channels.period &&
             a->channels.stride == b->channels.stride && a->blocks.rows == b->blocks.rows &&
             a->blocks.cols == b->blocks.cols && a->blocks.rule == b->blocks.rule &&
             a->blocks.layout == b->blocks.layout));
}

int64_t at_step_code(const struct at_step *step)
{
    return step->blocks.rows << 54 | step->blocks.cols << 46 | (int64_t)step->blocks.layout << 44 |
           (int64_t)step->blocks.rule << 40 | (int64_t)step->kept << 32 |
           (int64_t)step->operations << 16 | (int64_t)step->from << 8 | (int64_t)step->to;
}

static bool is_long_integer(enum at_number number)
{
    return at_number_formats[number].bytes == 8 && at_number_is_integer(number);
}

static bool is_8_bit_float(enum at_number number)
{
    return number == AT_E4M3 || number == AT_E5M2;
}

struct at_step at_step_kept(const struct at_step *step)
{
    struct at_step kept = *step;

    kept.to = step->kept;
    kept.kept = 0;
    kept.operations &= ~(1U << AT_BOTH | 1U << AT_AMAX | 1U << AT_AMAX_NAN | 1U << AT_SUMS);
    if (!is_8_bit_float(kept.to))
        kept.operations &= ~(1U << AT_NOSAT);
    return kept;
}

int64_t at_step_kept_bytes(const struct at_step *step)
{
    return at_step_has(step, AT_BOTH) ? at_number_formats[step->kept].bytes : 0;
}

/* Scales in e8m0 go with all results, those in e4m3 with e2m1, and those in f32 with the others. */
static bool goes_with_rule(const struct at_step *step, enum at_number result)
{
    enum at_number scale = at_block_rules[step->blocks.rule].scale;

    return scale == AT_E8M0 || (scale == AT_E4M3) == (result == AT_E2M1);
}

struct at_scaled_result at_step_scaled(const struct at_step *step, bool transposed)
{
    const struct at_step_blocks *blocks = &step->blocks;

    return (struct at_scaled_result){
        .rule = &at_block_rules[blocks->rule],
        .to = transposed || !at_step_has(step, AT_BOTH) ? step->to : step->kept,
        .block_rows = transposed ? blocks->cols : blocks->rows,
        .block_cols = transposed ? blocks->rows : blocks->cols,
        .transposed = transposed,
        .layout = blocks->layout,
    };
}

/* Has it a magnitude that f32 holds? */
static bool has_magnitude(enum at_number number)
{
    return at_number_formats[number].kind == AT_NUMBER_FLOAT &&
           at_number_formats[number].parts == 1 && number != AT_F64;
}

bool at_step_is_possible(const struct at_step *step, const char **why)
{
    const char *unused, **reason = why ? why : &unused;

    if (step->from != step->to &&
        !(at_step_has(step, AT_BLOCKS) && step->to == AT_E2M1 && step->from != AT_E2M1) &&
        !at_number_castable(step->from, step->to, reason))
        return false;
    if (at_step_has(step, AT_BOTH)) {
        struct at_step kept = at_step_kept(step);

        if (!at_step_is_possible(&kept, reason))
            return false;
    }
    *reason =
        at_number_formats[step->from].kind == AT_NUMBER_SCALE ||
                at_number_formats[step->to].kind == AT_NUMBER_SCALE
            ? "e8m0 is a type of scales: its elements are only moved, so give one type"
        : at_step_has(step, AT_SCALE) + at_step_has(step, AT_DIVIDE) + at_step_has(step, AT_ALPHA) >
                1
            ? "scale, divide and alpha all take the launch's number; leave one"
        : at_step_has(step, AT_AFFINE) && at_number_formats[step->to].parts > 1
            ? "affine is for real numbers: the numbers of a channel are real"
        : at_step_has(step, AT_CONJUGATE) && at_number_formats[step->from].parts == 1
            ? "conj is for c64 and c128: other types have no imaginary part"
        : at_step_has(step, AT_NOSAT) && !is_8_bit_float(step->to)
            ? "nosat is for results in e4m3 and e5m2: floats of other types overflow to infinity "
              "anyway, and CUDA's conversions to integers always saturate"
        : at_step_has(step, AT_NOSAT) && step->from == step->to && !at_step_has_number(step)
            ? "nosat is for results that can overflow, and these elements are only moved"
        : at_step_has_outputs(step) && at_step_needs_place(step)
            ? "both, amax and sums do not go with affine and beta: compute these in a step of "
              "their own"
        : at_step_has(step, AT_BLOCKS) &&
                step->operations & ~(1U << AT_BLOCKS | 1U << AT_BOTH | 1U << AT_SUMS)
            ? "blocks go with both and sums, and with no other operation"
        : at_step_has(step, AT_BLOCKS) &&
                (!has_magnitude(step->from) || is_8_bit_float(step->from) ||
                 !(is_8_bit_float(step->to) || step->to == AT_E2M1))
            ? "blocks are for elements in f16, bf16 and f32 and results in e4m3, e5m2 and e2m1"
        : at_step_has(step, AT_BLOCKS) && !goes_with_rule(step, step->to)
            ? "nvfp4 and te-nvfp4 are for results in e2m1, te, te-pow2 and torchao for e4m3 and "
              "e5m2, the other scales for all"
        : at_step_has(step, AT_AMAX) && !has_magnitude(step->from)
            ? "amax is for f16, bf16, f32, e4m3 and e5m2: the largest magnitude is an f32"
        : at_step_has(step, AT_SUMS) && !has_magnitude(step->from)
            ? "sums are of f16, bf16, f32, e4m3 and e5m2: they are added as f32"
        : is_long_integer(step->from) || is_long_integer(step->to)
            ? "integers of 64 bits are not scaled or cast: f64 does not hold them; give one type"
            : NULL;
    return !*reason;
}

/* The type of the one part, or of the two parts. */
static enum at_number part_of(enum at_number number)
{
    return at_number_formats[number].parts == 1 ? number : at_number_formats[number].part;
}

enum at_number at_step_computes_in(const struct at_step *step)
{
    return part_of(step->from) == AT_F64 || part_of(step->to) == AT_F64 ? AT_F64 : AT_F32;
}

/* The last rounding. Of NaN, 8 bits keep neither the sign nor the payload. */
static uint64_t round_to(const struct at_step *step, enum at_number from, uint64_t value)
{
    enum at_number to = part_of(step->to);

    if (from == AT_F64 && isnan(at_f64_of(value)) && is_8_bit_float(to))
        return 0x7f;
    return at_number_convert(to, from, value, AT_NEAREST,
                             at_number_formats[to].saturates && !at_step_has(step, AT_NOSAT));
}

/* ---- arithmetic ---- */

/* A number, in the type that is computed in; of a real one, part 1 is not used. */
struct value {
    uint64_t part[2];
};

/* GPUs and hosts have unlike NaN for a sum of f64, so it is made canonical. */
static uint64_t add(enum at_number type, uint64_t x, uint64_t y)
{
    uint64_t sum = at_number_add(type, x, y);

    return type == AT_F64 && isnan(at_f64_of(sum)) ? INT64_MAX : sum;
}

static uint64_t subtract(enum at_number type, uint64_t x, uint64_t y)
{
    return add(type, x, y ^ UINT64_C(1) << (8 * at_number_formats[type].bytes - 1));
}

/* Multiply as real numbers, or as complex ones. */
static struct value product(enum at_number type, const struct value *x, const struct value *y,
                            int parts)
{
    struct value z = {{at_number_multiply(type, x->part[0], y->part[0])}};

    if (parts == 2) {
        z.part[0] = subtract(type, z.part[0], at_number_multiply(type, x->part[1], y->part[1]));
        z.part[1] = add(type, at_number_multiply(type, x->part[0], y->part[1]),
                        at_number_multiply(type, x->part[1], y->part[0]));
    }
    return z;
}

static struct value value_of_doubles(enum at_number type, const double numbers[2])
{
    struct value value;

    for (int i = 0; i < 2; i++)
        value.part[i] =
            at_number_convert(type, AT_F64, at_bits_of_f64(numbers[i]), AT_NEAREST, false);
    return value;
}

static struct value value_of_double(enum at_number type, double number)
{
    return value_of_doubles(type, (const double[2]){number, 0});
}

/* Read an element of a type. */
static struct value value_of_element(enum at_number type, enum at_number from, const void *element)
{
    size_t bytes = (size_t)at_number_formats[part_of(from)].bytes;
    struct value value = {{0}};

    for (int i = 0; i < at_number_formats[from].parts; i++) {
        memcpy(&value.part[i], (const unsigned char *)element + (size_t)i * bytes, bytes);
        if (part_of(from) != type)
            value.part[i] =
                at_number_convert(type, part_of(from), value.part[i], AT_NEAREST, false);
    }
    return value;
}

/* Round to the destination's type. */
static void set_result(const struct at_step *step, void *result, enum at_number type,
                       const struct value *value)
{
    enum at_number to = part_of(step->to);
    size_t bytes = (size_t)at_number_formats[to].bytes;

    for (int i = 0; i < at_number_formats[step->to].parts; i++) {
        uint64_t rounded = value->part[i]; /* NaN keeps its bits if the type stays */

        if (to != type)
            rounded = round_to(step, type, rounded);
        memcpy((unsigned char *)result + (size_t)i * bytes, &rounded, bytes);
    }
}

/* Add beta times the second source's element, unless beta is 0. */
static void add_second(const struct at_step *step, const struct at_step_operands *operands,
                       struct value *x, const void *second)
{
    enum at_number type = at_step_computes_in(step);
    int parts = at_number_formats[step->to].parts;
    struct value beta = value_of_doubles(type, operands->beta), y;

    if (operands->beta[0] == 0 && (parts == 1 || operands->beta[1] == 0))
        return;
    y = value_of_element(type, step->to, second);
    y = product(type, &beta, &y, parts);
    for (int i = 0; i < parts; i++)
        x->part[i] = add(type, x->part[i], y.part[i]);
}

/* Compute with the launch's numbers. */
static void compute(const struct at_step *step, const struct at_step_operands *operands,
                    void *result, const void *source, const void *second)
{
    enum at_number type = at_step_computes_in(step);
    struct value number = value_of_doubles(type, operands->number);
    struct value x = value_of_element(type, step->from, source);
    int parts = at_number_formats[step->from].parts;

    if (at_step_has(step, AT_ALPHA))
        x = product(type, &number, &x, parts);
    for (int i = 0; i < parts; i++)
        if (at_step_has(step, AT_SCALE))
            x.part[i] = at_number_multiply(type, x.part[i], number.part[0]);
        else if (at_step_has(step, AT_DIVIDE))
            x.part[i] = at_number_divide(type, x.part[i], number.part[0]);
    if (at_step_has(step, AT_AFFINE)) {
        struct value scale = value_of_double(type, operands->channel_scale);
        struct value shift = value_of_double(type, operands->shift);

        x.part[0] = add(type, at_number_multiply(type, x.part[0], scale.part[0]), shift.part[0]);
    }
    if (at_step_has(step, AT_BETA))
        add_second(step, operands, &x, second);
    set_result(step, result, type, &x);
}

/* Cast an element, with one rounding. */
static void cast(const struct at_step *step, void *result, const void *source)
{
    enum at_number from = part_of(step->from), to = part_of(step->to);
    size_t from_bytes = (size_t)at_number_formats[from].bytes;
    size_t to_bytes = (size_t)at_number_formats[to].bytes;

    for (int i = 0; i < at_number_formats[step->from].parts; i++) {
        uint64_t value = 0;

        memcpy(&value, (const unsigned char *)source + (size_t)i * from_bytes, from_bytes);
        if (from != to)
            value = round_to(step, from, value);
        memcpy((unsigned char *)result + (size_t)i * to_bytes, &value, to_bytes);
    }
}

void at_step_apply(const struct at_step *step, const struct at_step_operands *operands,
                   void *result, const void *source, const void *second)
{
    size_t bytes = (size_t)at_number_formats[step->from].bytes;
    unsigned char element[16];

    memcpy(element, source, bytes);
    if (at_step_has(step, AT_CONJUGATE))
        element[bytes - 1] ^= 0x80; /* the sign, which is also flipped of zeros and NaN */
    if (at_step_has_number(step))
        compute(step, operands, result, element, second);
    else
        cast(step, result, element);
}

/* ---- values to check with ---- */

/* Mantissas below the upper 16 bits, from the upper end: on a tie of a narrower type, and the
 * neighbours of one. */
static const uint64_t endings[] = {
    0,
    UINT64_C(0x8000000000000000),
    UINT64_C(0x7fffffffffffffff),
    UINT64_C(0x8000000000000001),
    UINT64_C(0xffffffffffffffff),
    UINT64_C(0x1000000000000000),
    UINT64_C(0x3000000000000000),
    UINT64_C(0x2fff000000000000),
    UINT64_C(0x0000000010000000),
    UINT64_C(0x0000000030000000),
    UINT64_C(0x0000000000000001),
};

/* An element's bits of which the upper 16 count up, and the others are an ending. */
static uint64_t pattern(size_t index, size_t bytes)
{
    uint64_t ending = endings[(index * 7 + index / 128) % AT_COUNT(endings)];

    return bytes <= 2
               ? index
               : ((uint64_t)index << 48 | ending >> 16) >> (64 - 8 * (bytes < 8 ? bytes : 8));
}

/* Set a table's element by its number. The parts of a complex number are unlike each other. */
static void set_pattern(enum at_number type, unsigned char *element, size_t index)
{
    size_t part = (size_t)at_number_formats[part_of(type)].bytes;

    for (int i = 0; i < at_number_formats[type].parts; i++) {
        uint64_t bits = pattern(i == 0 ? index : (index * 40503 + 1) % AT_STEP_VALUES, part);

        memcpy(element + (size_t)i * part, &bits, part);
    }
}

/* Set an element of the second source: one of all patterns, but now and then an infinity, a zero or
 * the source's opposite, so that there are special sums. */
static void set_second(const struct at_step *step, unsigned char *second,
                       const unsigned char *source, size_t index)
{
    static const double specials[] = {INFINITY, -INFINITY, 0.0, -0.0};
    double special = specials[index / 8 % AT_COUNT(specials)];
    struct value value = {{at_bits_of_f64(special), at_bits_of_f64(special)}};

    set_pattern(step->to, second, (index * 25173 + 13849) % AT_STEP_VALUES);
    if (index % 8 == 4) {
        value = value_of_element(AT_F64, step->from, source);
        for (int i = 0; i < 2; i++)
            value.part[i] ^= UINT64_C(1) << 63;
    }
    if (index % 4 == 0)
        set_result(step, second, AT_F64, &value);
}

/* The usual mean and deviation of red, ordinary numbers, such as make results too large and too
 * small, and zeros. A channel without numbers has 1 and -0, which change nothing. */
static const double channel_numbers[AT_STEP_SETS][2] = {
    {1 / 0.229, -0.485 / 0.229},
    {0.37, -2},
    {-448, 3e-5},
    {1e30, 1},
    {3e-5, -0.0},
    {1, -0.0},
    {0, 0.1},
    {-1.0 / 3, 1e30},
};

void at_step_take_set(struct at_step_operands *operands, size_t set)
{
    operands->channel_scale = channel_numbers[set][0];
    operands->shift = channel_numbers[set][1];
}

size_t at_step_sets(const struct at_step *step)
{
    return at_step_has(step, AT_AFFINE) ? AT_STEP_SETS : 1;
}

/* Make an element smaller than 2: without the upper bit of its exponent. */
static void limit(enum at_number type, unsigned char *element)
{
    element[at_number_formats[type].bytes - 1] &= 0xbf;
}

static bool is_nan(enum at_number type, const unsigned char *element)
{
    return isnan(at_f64_of(value_of_element(AT_F64, type, element).part[0]));
}

/* Set an element of the source, of all patterns or as `values` wants them. */
static void set_source(const struct at_step *step, const struct at_step_values *values,
                       unsigned char *element, size_t index)
{
    static const struct value largest = {{UINT64_C(0xc008000000000000)}}; /* -3 */
    struct at_step cast = {.given = true, .from = AT_F64, .to = step->from};

    set_pattern(step->from, element, index);
    if (values->largest < 0)
        return;
    if ((step->operations & (1U << AT_AMAX_NAN | 1U << AT_BLOCKS | 1U << AT_SUMS)) ||
        !is_nan(step->from, element))
        limit(step->from, element);
    if ((int64_t)index == values->largest)
        set_result(&cast, element, AT_F64, &largest);
}

void at_step_make_values(const struct at_step *step, const struct at_step_operands *operands,
                         const struct at_step_values *values)
{
    size_t sets = at_step_sets(step);
    size_t from_bytes = (size_t)at_number_formats[step->from].bytes;
    size_t to_bytes = (size_t)at_number_formats[step->to].bytes;
    size_t kept_bytes = (size_t)at_step_kept_bytes(step);
    const struct at_step kept = at_step_kept(step);

    for (size_t i = 0; i < AT_STEP_VALUES; i++) {
        unsigned char *element = (unsigned char *)values->source + i * from_bytes, *other = NULL;

        set_source(step, values, element, i);
        if (at_step_has(step, AT_BETA)) {
            other = (unsigned char *)values->second + i * to_bytes;
            set_second(step, other, element, i);
        }
        if (kept_bytes > 0)
            at_step_apply(&kept, operands, (unsigned char *)values->kept + i * kept_bytes, element,
                          NULL);
        for (size_t set = 0; set < sets; set++) {
            struct at_step_operands own = *operands;

            at_step_take_set(&own, set);
            at_step_apply(step, &own,
                          (unsigned char *)values->results + (set * AT_STEP_VALUES + i) * to_bytes,
                          element, other);
        }
    }
}

uint32_t at_step_larger(const struct at_step *step, uint32_t largest, const void *element)
{
    uint32_t magnitude = value_of_element(AT_F32, step->from, element).part[0] & INT32_MAX;

    if (isnan(at_f32_of(magnitude)))
        magnitude = at_step_has(step, AT_AMAX_NAN) ? INT32_MAX : 0;
    return magnitude > largest ? magnitude
                               : largest; /* magnitudes are in the order of their bits */
}
