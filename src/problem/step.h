/* SPDX-License-Identifier: Apache-2.0 */
/* What happens to an element between its load and its store: arithmetic on the way. Most problems
 * have no step: elements are moved as they are, whatever they mean. */
#ifndef AT_PROBLEM_STEP_H
#define AT_PROBLEM_STEP_H

#include "base/error.h"
#include "numbers/numbers.h"
#include "problem/block_scale.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order in which they are applied. Values are computed in f64 if a side is f64, else in f32:
 * each operation, and the conversion of an integer before it, is rounded to nearest even once. The
 * last conversion rounds once more. Without an operation, a cast rounds once.
 *
 * Nothing is contracted: each product and each sum is rounded by itself, so that
 * alpha * A^T + alpha * A is symmetric, and NumPy and PyTorch compute the same. */
enum at_operation {
    AT_CONJUGATE, /* the imaginary part changes its sign */
    AT_SCALE,     /* times a real number that the launch gives */
    AT_DIVIDE,    /* by a real number that the launch gives */
    AT_ALPHA,     /* times a number of the launch, which is complex where elements are */
    AT_AFFINE,    /* times the number of the result's channel, plus another number of it */
    AT_BETA,      /* plus another number, likewise, times an element of the second source */
    AT_NOSAT,     /* overflow gives infinities and NaN, not the largest number */
    AT_BOTH,      /* the results also as they lie: a second result, laid out as the source */
    AT_AMAX,      /* the largest magnitude of the source, before any operation; NaN is ignored */
    AT_AMAX_NAN,  /* with AT_AMAX: one NaN makes it NaN */
    AT_BLOCKS,    /* each block of a result is multiplied with a factor of its own: its scale */
    AT_SUMS,      /* the sum of each column of the source, before any operation (column_sums.h) */
    AT_OPERATIONS,
    /* No operation, and only in a kind of problems: results side by side may have unlike
     * channels. */
    AT_MIXED = AT_OPERATIONS
};

/* Which axis of a problem has the channels, as its text says: the source's last one, an axis of a
 * matrix, or of a tensor an axis of the source. */
enum at_channel_axis { AT_LAST_AXIS, AT_ROWS_AXIS, AT_COLS_AXIS, AT_BATCH_AXIS, AT_FIRST_AXIS };

/* The channels of results. The one that lies `x` results after the destination's first has channel
 * x % period / run. */
struct at_channels {
    int64_t axis;               /* until the problem is made: AT_FIRST_AXIS + 2 is axis 2 */
    int64_t count, run, period; /* 0 until then */
    /* Of many matrices, each has its own: its columns, or with a run of 1 its rows. `count` are the
     * numbers of all, and as many numbers further are those of the next matrix. Rows of one matrix
     * have one each, and then this is 0. */
    int64_t stride;
};

/* The blocks of each result, in its own rows and columns, and how their scales are made and lie. */
struct at_step_blocks {
    int64_t rows, cols;
    enum at_block_rules rule;
    enum at_scale_layout layout;
};

struct at_step {
    bool given;                   /* false: no step, and the other members are 0 */
    enum at_number from, to;      /* types of the source and of the destination */
    enum at_number kept;          /* with AT_BOTH: of the second result; else 0 */
    unsigned operations;          /* bits: 1 << AT_SCALE */
    struct at_channels channels;  /* of a step with AT_AFFINE */
    struct at_step_blocks blocks; /* of a step with AT_BLOCKS */
};

/* "conj", "scale": as a problem has them. AT_AMAX_NAN is "amax=nan", a value of AT_AMAX. */
extern const char *const at_operation_names[AT_OPERATIONS];

static inline bool at_step_has(const struct at_step *step, enum at_operation operation)
{
    return step->operations >> operation & 1;
}

/* Does the launch give numbers? */
static inline bool at_step_has_number(const struct at_step *step)
{
    return step->operations &
           (1 << AT_SCALE | 1 << AT_DIVIDE | 1 << AT_ALPHA | 1 << AT_AFFINE | 1 << AT_BETA);
}

/* Has it more than one output: a second result, a largest magnitude or sums? */
static inline bool at_step_has_outputs(const struct at_step *step)
{
    return step->operations & (1 << AT_BOTH | 1 << AT_AMAX | 1 << AT_SUMS);
}

/* Has its kernel an argument for what the launch gives? */
static inline bool at_step_takes_numbers(const struct at_step *step)
{
    return at_step_has_number(step) || at_step_has_outputs(step) || at_step_has(step, AT_BLOCKS);
}

/* Do the scales of its blocks also follow from the largest magnitude of the whole tensor, which a
 * launch may give at an address? */
static inline bool at_step_takes_largest(const struct at_step *step)
{
    return at_step_has(step, AT_BLOCKS) && at_block_rules[step->blocks.rule].scale == AT_E4M3;
}

/* Does a result depend on where it is stored? A kernel then computes it just before the store. */
static inline bool at_step_needs_place(const struct at_step *step)
{
    return step->operations & (1 << AT_AFFINE | 1 << AT_BETA);
}

/* Read a step as specifications have it, such as "bf16:e4m3,scale"; *bytes are those of an element
 * of the source. One type alone is no step. AT_USAGE if it makes no sense. */
enum at_status at_step_parse(struct at_step *step, int64_t *bytes, const char *text,
                             struct at_error *err);

/* Do source and destination have the same types, the same operations and the same channels? */
bool at_step_equal(const struct at_step *a, const struct at_step *b);

/* The value of the templates' macro STEP (templates/step.cuh): a byte each for the
 * destination's type and the source's, two for the operations, one for the second result's type.
 * Not 0. */
int64_t at_step_code(const struct at_step *step);

/* Is it arithmetic that can be done? If not, *why (may be NULL) says why: a constant. */
bool at_step_is_possible(const struct at_step *step, const char **why);

/* The step of the second result alone. */
struct at_step at_step_kept(const struct at_step *step);

/* The bytes of an element of the second result; 0 without one. */
int64_t at_step_kept_bytes(const struct at_step *step);

/* One result of a step with blocks, as block_scale.h has it: blocks count in the source. */
struct at_scaled_result at_step_scaled(const struct at_step *step, bool transposed);

/* The type that values are computed in: f64 or f32. */
enum at_number at_step_computes_in(const struct at_step *step);

/* The numbers that a launch gives, each with an imaginary part. They are rounded to the type that
 * values are computed in. */
struct at_step_operands {
    double number[2], beta[2];   /* the first one is for scale, divide and alpha */
    double channel_scale, shift; /* of the result's channel */
};

/* Apply a step to one element: the definition that every kernel is checked against. `second` is the
 * second source's element, which is not read if beta is 0. */
void at_step_apply(const struct at_step *step, const struct at_step_operands *operands,
                   void *result, const void *source, const void *second);

/* The elements that kernels are checked with, and the results of a step on them. All patterns of
 * types of 2 bytes and fewer; of wider ones all signs and exponents, with mantissas that lie on and
 * beside ties of narrower types; infinities, NaN, zeros and subnormal numbers. `second` is for
 * steps with beta: elements of the same kinds, in another order, and some that make sums special.
 *
 * With channels, the numbers of one are among AT_STEP_SETS sets, and there are the results of each
 * set, set after set. */
enum { AT_STEP_VALUES = 1 << 16, AT_STEP_SETS = 8 };

struct at_step_values {
    void *source, *second, *results, *kept; /* tables; second and kept only if the step has them */
    /* Of a step with AT_AMAX or AT_SUMS: which element has a magnitude above all others. These are
     * below 2, and only AT_AMAX alone leaves NaN among them. -1: none, and all patterns are there.
     */
    int64_t largest;
};

/* Set the operands of a channel to those of a set. */
void at_step_take_set(struct at_step_operands *operands, size_t set);

/* How many times AT_STEP_VALUES results there are. */
size_t at_step_sets(const struct at_step *step);

void at_step_make_values(const struct at_step *step, const struct at_step_operands *operands,
                         const struct at_step_values *values);

/* The bits of the f32 that is the largest of two magnitudes: `largest`, as this function gave it,
 * or 0, and that of an element. */
uint32_t at_step_larger(const struct at_step *step, uint32_t largest, const void *element);

#endif
