/* SPDX-License-Identifier: Apache-2.0 */
/* Block scales: the elements of a block are multiplied with one factor, and rounded to 8 or 4 bits.
 * Beside them lies a number for each block, its scale, with which they are multiplied again later.
 *
 * A rule says how a block's scale and factor follow from its largest magnitude. There is no
 * standard for it. Each rule here is that of a library, down to the order of operations, so that
 * our bytes equal theirs:
 *   TransformerEngine d0067d0, common/recipe/recipe_common.cuh, common/util/ptx_arch_spec.cuh,
 *   common/util/ptx.cuh and common/cast/nvfp4/core_nvfp4.cuh;
 *   torchao 36027d8, prototype/blockwise_fp8_training/kernels.py, prototype/mx_formats/mx_tensor.py
 *   and nvfp4_tensor.py.
 * MX formats and E8M0 are defined in "OCP Microscaling Formats (MX) Specification", version 1.0. */
#ifndef AT_PROBLEM_BLOCK_SCALE_H
#define AT_PROBLEM_BLOCK_SCALE_H

#include "numbers/numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The longest side of a block. */
enum { AT_BLOCK_SIDE_MAX = 128 };

/* What a rule computes from. */
struct at_block_facts {
    enum at_number from, to; /* the types of the source and of the result: e4m3, e5m2 or e2m1 */
    float largest;           /* magnitude of the block */
    const float *of_tensor;  /* magnitude of the whole tensor, or NULL; only nvfp4 takes one */
};

struct at_block_scale {
    uint32_t stored; /* the scale's bits, in the rule's type */
    float factor;    /* elements are multiplied with it, in f32 */
};

struct at_block_rule {
    const char *name;
    enum at_number scale; /* its type: f32, e8m0 or e4m3 */
    /* NaN in a block makes its largest magnitude NaN. Otherwise it is ignored; that of NaN alone is
     * 0. */
    bool nan_is_largest;
    /* NaN becomes the largest number. Otherwise it becomes NaN, and the largest number only in
     * e2m1, which has no NaN. */
    bool clips_nan;
    struct at_block_scale (*scale_of)(const struct at_block_facts *facts);
};

enum at_block_rules {
    AT_RULE_TE,       /* TransformerEngine: largest number / magnitude */
    AT_RULE_TE_POW2,  /* the same, without its mantissa */
    AT_RULE_TORCHAO,  /* torchao's kernels: the same quotient in f64 */
    AT_RULE_FLOOR,    /* MX, torchao: the magnitude's power of two */
    AT_RULE_CEIL,     /* the next power of two */
    AT_RULE_EVEN,     /* the power of two of the magnitude rounded to the result's mantissa */
    AT_RULE_RCEIL,    /* the next power of two of the quotient */
    AT_RULE_TE_RCEIL, /* the same in TransformerEngine: other infinities and NaN */
    AT_RULE_NVFP4,    /* torchao */
    AT_RULE_TE_NVFP4, /* TransformerEngine */
    AT_BLOCK_RULES
};
extern const struct at_block_rule at_block_rules[AT_BLOCK_RULES];

/* Return the rule of this name, or NULL. */
const struct at_block_rule *at_block_rule_find(const char *name, size_t length);

/* Where the scales lie. They are a matrix with the orientation of the result that they are for. Two
 * of the layouts have padding, which is 0. */
enum at_scale_layout {
    AT_SCALES_PLAIN,      /* row by row */
    AT_SCALES_TRANSPOSED, /* column by column */
    AT_SCALES_ALIGNED,  /* the same, and each column starts on a boundary of 16 bytes, as TMA wants
                         */
    AT_SCALES_SWIZZLED, /* 512-byte tiles of 128x4 scales: cuBLAS, "1D Block Scaling Factors Layout"
                         */
    AT_SCALE_LAYOUTS
};
extern const char *const at_scale_layout_names[AT_SCALE_LAYOUTS];

/* The place of a scale, and how many places there are with the padding. `bytes`: of a scale. */
int64_t at_scale_place(enum at_scale_layout layout, int64_t rows, int64_t cols, int bytes,
                       int64_t row, int64_t col);
int64_t at_scale_places(enum at_scale_layout layout, int64_t rows, int64_t cols, int bytes);

/* The values of all elements of two bytes, and the results of all products: few of their bits
 * decide. With them a large result takes seconds, not minutes. */
enum {
    AT_PRODUCT_BITS = 13
}; /* sign, exponent and four bits of the mantissa, and one for the rest */

struct at_block_tables {
    int bytes; /* of an element */
    float values[1 << 16];
    uint8_t results[1 << (AT_PRODUCT_BITS + 1)];
};

void at_block_tabulate(struct at_block_tables *tables, const struct at_block_rule *rule,
                       enum at_number from, enum at_number to);

/* One result of a source, as it lies or transposed. */
struct at_scaled_result {
    const struct at_block_rule *rule;
    enum at_number to;
    int64_t block_rows, block_cols; /* of the source; the last ones of a side may be shorter */
    bool transposed;
    enum at_scale_layout layout;
    const struct at_block_tables *tables; /* of its rule and types; or NULL */
};

/* Compute all of a result: the definition that every kernel is checked against. ld_src and ld_dst
 * count elements and results. `of_tensor` may be NULL. */
void at_block_apply(const struct at_scaled_result *result, enum at_number from, const void *source,
                    int64_t rows, int64_t cols, int64_t ld_src, const float *of_tensor, void *dst,
                    int64_t ld_dst, void *scales);

#endif
