/* SPDX-License-Identifier: Apache-2.0 */
/* Steps: how problems spell them, which are refused, and what they compute. */
#include "base/memory.h"
#include "numbers/numbers.h"
#include "problem/arguments.h"
#include "problem/column_sums.h"
#include "problem/problem.h"

#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source_tree.h"

static struct at_problem problem_of(const char *spec)
{
    struct at_problem problem;
    struct at_error err = {0};

    if (at_problem_parse(&problem, spec, &err) != AT_OK)
        fail_msg("%s", err.message);
    return problem;
}

/* ---- spelling ---- */

static const struct {
    const char *given, *written;
    bool has_step;
    int64_t bytes; /* read and written */
} spellings[] = {
    {"64x32:bf16:e4m3,scale", "64x32:bf16:e4m3,scale", true, 64 * 32 * 3},
    {"64x32:bfloat16:e4m3,scale", "64x32:bf16:e4m3,scale", true, 64 * 32 * 3},
    {"64x32:f32:bf16", "64x32:f32:bf16", true, 64 * 32 * 6},
    {"64x32:f32:f32", "64x32:f32", false, 64 * 32 * 8},
    {"64x32:f32,scale", "64x32:f32,scale", true, 64 * 32 * 8},
    {"64x32:f32:f32,divide", "64x32:f32,divide", true, 64 * 32 * 8},
    {"64x32:c64,conj", "64x32:c64,conj", true, 64 * 32 * 16},
    {"64x32:c64,scale,conj", "64x32:c64,conj,scale", true, 64 * 32 * 16},
    {"64x32:f32,beta,alpha", "64x32:f32,alpha,beta", true, 64 * 32 * 12},
    {"64x32:c64,conj,alpha", "64x32:c64,conj,alpha", true, 64 * 32 * 16},
    {"64x32:bf16:f32,beta", "64x32:bf16:f32,beta", true, 64 * 32 * 10},
    {"64x32:u8:f16,scale,ld_src=40", "64x32:u8:f16,ld_src=40,scale", true, 64 * 32 * 3},
    {"2x4x5x3:u8:f16,perm=0312,scale", "20x3:u8:f16,batch=2,scale", true, 120 * 3},
    {"2x3x4x5:f64:f32,perm=3210", "2x3x4x5:f64:f32,perm=3210", true, 120 * 12},
    {"64x32:e4m3", "64x32:e4m3", false, 64 * 32 * 2},
    {"64x32:bf16:e4m3,nosat,scale", "64x32:bf16:e4m3,scale,nosat", true, 64 * 32 * 3},
    {"64x32:u8:f32,beta,affine,divide", "64x32:u8:f32,divide,affine,beta", true, 64 * 32 * 9},
    {"64x32:f32,affine=cols", "64x32:f32,affine", true, 64 * 32 * 8},
    {"64x32:f32,affine=rows", "64x32:f32,affine=rows", true, 64 * 32 * 8},
    {"64x32:f32,affine=batch,batch=3", "64x32:f32,batch=3,affine=batch", true, 3 * 64 * 32 * 8},
    {"2x4x5x3:u8:f16,perm=0312,affine", "20x3:u8:f16,batch=2,affine", true, 120 * 3},
    {"2x4x5x3:u8:f16,perm=0312,affine=3", "20x3:u8:f16,batch=2,affine", true, 120 * 3},
    {"2x4x5x3:f32,perm=0312,affine=0", "20x3:f32,batch=2,affine=batch", true, 120 * 8},
    {"2x3x4x5:f32,perm=0231,affine=1", "3x20:f32,batch=2,affine=rows", true, 120 * 8},
    {"2x3x4x5:f32,perm=3210,affine=2", "2x3x4x5:f32,perm=3210,affine=2", true, 120 * 8},
    /* An axis that has been merged with others stays apart in what is written. */
    {"8x32x64x16:f32,perm=3012,affine=1", "8x32x64x16:f32,perm=3012,affine=1", true, 1 << 21},
    {"8x32x64x16:f32,perm=3012,affine=2", "256x64x16:f32,perm=201,affine=1", true, 1 << 21},
    {"8x32x64x16:f32,perm=3012,affine=0", "8x2048x16:f32,perm=201,affine=0", true, 1 << 21},
    {"64x32:bf16:e4m3,amax,both,scale", "64x32:bf16:e4m3,scale,both,amax", true, 64 * 32 * 4},
    {"64x32:bf16:e4m3,both=e4m3", "64x32:bf16:e4m3,both", true, 64 * 32 * 4},
    {"64x32:f32:e4m3,both=bf16", "64x32:f32:e4m3,both=bf16", true, 64 * 32 * 7},
    {"64x32:f32:e4m3,nosat,both=bf16", "64x32:f32:e4m3,nosat,both=bf16", true, 64 * 32 * 7},
    {"64x32:f32:float32,both=float", "64x32:f32,both", true, 64 * 32 * 12},
    {"64x32:f16,amax", "64x32:f16,amax", true, 64 * 32 * 4},
    {"64x32:f16,sums", "64x32:f16,sums", true, 64 * 32 * 4 + 32 * 4},
    {"64x32:e4m3:bf16,sums,batch=3,both", "64x32:e4m3:bf16,batch=3,both,sums", true,
     3 * (64 * 32 * 5 + 32 * 4)},
    {"1x32:bf16,sums", "1x32:bf16,sums", true, 32 * 8},
    {"64x32:bf16:e4m3,sums,blocks=1x32", "64x32:bf16:e4m3,blocks=1x32,sums", true,
     64 * 32 * 3 + 64 * 4 + 32 * 4},
    {"64x32:f16,amax=nan", "64x32:f16,amax=nan", true, 64 * 32 * 4},
    {"64x32:f16,amax=nan,amax", "64x32:f16,amax=nan", true, 64 * 32 * 4},
    {"2x3x4x5:f32:f16,perm=3210,both=f16", "2x3x4x5:f32:f16,perm=3210,both", true, 120 * 8},
    /* Blocks count in each result, whose scales are read and written, too. */
    {"64x32:bf16:e4m3,blocks=1x32", "64x32:bf16:e4m3,blocks=1x32", true, 64 * 32 * 3 + 64 * 4},
    {"64x32:bf16:e4m3,scales=te,layout=plain,blocks=1x32", "64x32:bf16:e4m3,blocks=1x32", true,
     64 * 32 * 3 + 64 * 4},
    {"64x32:bf16:e4m3,blocks=1x32,both", "64x32:bf16:e4m3,both,blocks=1x32", true,
     64 * 32 * 4 + 128 * 4},
    {"64x32:f32:e5m2,blocks=1x32,scales=floor,both=e4m3,ld_src=40",
     "64x32:f32:e5m2,ld_src=40,both=e4m3,blocks=1x32,scales=floor", true, 64 * 32 * 6 + 128},
    {"64x32:f16:e4m3,layout=swizzled,blocks=1x32,scales=rceil,both",
     "64x32:f16:e4m3,both,blocks=1x32,scales=rceil,layout=swizzled", true, 64 * 32 * 4 + 2 * 512},
    {"65x33:f16:e4m3,batch=2,blocks=32x1,scales=te-rceil,layout=aligned",
     "65x33:f16:e4m3,batch=2,blocks=32x1,scales=te-rceil,layout=aligned", true,
     2 * (65 * 33 * 3 + 65 * 16)},
    {"65x33:bf16:e4m3,blocks=128x128,scales=torchao,layout=transposed",
     "65x33:bf16:e4m3,blocks=128x128,scales=torchao,layout=transposed", true, 65 * 33 * 3 + 4},
    {"64x32:bf16:e2m1,blocks=1x16,scales=nvfp4", "64x32:bf16:e2m1,blocks=1x16,scales=nvfp4", true,
     64 * 32 * 5 / 2 + 128},
    {"65x33:f32:e2m1,ld_dst=66,both=e5m2,blocks=1x32,scales=floor",
     "65x33:f32:e2m1,ld_dst=66,both=e5m2,blocks=1x32,scales=floor", true,
     65 * 33 * 5 + (65 * 33 + 1) / 2 + 65 * 2 + 33 * 3},
    {"1x33:bf16:e4m3,blocks=1x32", "1x33:bf16:e4m3,blocks=1x32", true, 33 * 3 + 33 * 4},
    /* One channel. */
    {"240x1:u8:f32,affine", "240x1:u8:f32,affine", true, 240 * 5},
    {"1x240:u8:f32,affine=rows", "1x240:u8:f32,affine=rows", true, 240 * 5},
    {"8x4x5x1:u8:f16,perm=0312,affine", "1x160:u8:f16,affine=rows", true, 160 * 3},
    {"2x3x4x5x1:f32,perm=32104,affine", "2x3x4x5x1:f32,perm=32104,affine", true, 120 * 8},
};

static void spells(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(spellings); i++) {
        struct at_problem problem = problem_of(spellings[i].given), again;
        char *written = at_problem_format(&problem);

        assert_string_equal(written, spellings[i].written);
        again = problem_of(written);
        assert_true(at_problem_equal(&problem, &again));
        assert_int_equal(problem.step.given, spellings[i].has_step);
        assert_int_equal(at_problem_bytes(&problem), spellings[i].bytes);
        free(written);
    }
}

static const struct {
    const char *spec, *message;
} refused[] = {
    {"64x32:f32:f33", "unknown type \"f33\""},
    {"64x32:b4:f32", "nothing computes with b4"},
    {"64x32:fp8:f32", "nothing computes with fp8"},
    {"64x32:f32:b12", "nothing computes with"},
    {"64x32:c64:f32", "imaginary part"},
    {"64x32:f32,conj", "conj is for c64 and c128"},
    {"64x32:f32:e4m3,scale,divide", "scale, divide and alpha all take the launch's number"},
    {"64x32:f32,alpha,scale,beta", "scale, divide and alpha all take the launch's number"},
    {"64x64:f32,inplace=1,beta", "in place, elements are moved as they are"},
    {"64x64:f32,inplace=1,scale", "in place, elements are moved as they are"},
    {"64x32:f32:bf16,nosat", "floats of other types overflow to infinity"},
    {"64x32:f32:i8,scale,nosat", "conversions to integers always saturate"},
    {"64x32:e4m3,nosat", "these elements are only moved"},
    {"64x32:i64,scale", "integers of 64 bits are not scaled"},
    {"64x32:i64:f32", "integers of 64 bits are not scaled or cast"},
    {"64x32:f64:u64", "integers of 64 bits are not scaled or cast"},
    {"64x32:f32:bf16:e4m3", "unknown type \"bf16:e4m3\""},
    {"64x32:f32,scales", "unknown \"scales\""},
    {"64x32:f32,scale=1", "unknown \"scale=1\""},
    {"64x32:c64,affine", "affine is for real numbers"},
    {"64x32:f32,affine=colums", "affine is \"colums\"; expected affine=cols, rows or batch"},
    {"64x32:f32,affine=", "affine is \"\""},
    {"64x32:f32,affine=1", "the channels of a matrix are affine=cols, rows or batch"},
    {"2x3x4:f32,perm=210,affine=cols", "an axis of its source, such as affine=2"},
    {"2x3x4:f32,perm=210,affine=3", "an axis of its source, such as affine=2"},
    {"64x64:f32,inplace=1,both", "in place, elements are moved as they are"},
    {"64x32:f32:e4m3,both=e4m4", "unknown type \"e4m4\""},
    {"64x32:f32:e4m3,both=c64", "real numbers have no imaginary part"},
    {"64x32:f32:e4m3,both=b2", "nothing computes with"},
    {"64x32:f32,both,affine", "both, amax and sums do not go with affine and beta"},
    {"64x32:f32,amax,beta", "both, amax and sums do not go with affine and beta"},
    {"64x32:f64,amax", "amax is for f16, bf16, f32, e4m3 and e5m2"},
    {"64x32:c64,amax", "amax is for f16, bf16, f32, e4m3 and e5m2"},
    {"64x32:i8,amax=nan", "amax is for f16, bf16, f32, e4m3 and e5m2"},
    {"64x32:f32,amax=1", "unknown \"amax=1\""},
    {"64x32:f32,sums,beta", "both, amax and sums do not go with affine and beta"},
    {"64x32:f64,sums", "sums are of f16, bf16, f32, e4m3 and e5m2"},
    {"64x32:u8:f32,sums", "sums are of f16, bf16, f32, e4m3 and e5m2"},
    {"2x3x4:f32,perm=210,sums", "sums are of matrices and batches, not of tensors"},
    {"64x32:f32,sums=1", "unknown \"sums=1\""},
    {"64x32:bf16:e4m3,blocks=1", "blocks is \"1\"; expected the rows and columns of a block"},
    {"64x32:bf16:e4m3,blocks=1x", "as in blocks=1x128"},
    {"64x32:bf16:e4m3,blocks=0x32", "as in blocks=1x128"},
    {"64x32:bf16:e4m3,blocks=1x3", "powers of two up to 128"},
    {"64x32:bf16:e4m3,blocks=1x256", "powers of two up to 128"},
    {"64x32:bf16:e4m3,blocks", "unknown \"blocks\""},
    {"64x32:bf16:e4m3,blocks=1x32,scales=mx", "scales is \"mx\"; known are te, te-pow2, torchao"},
    {"64x32:bf16:e4m3,blocks=1x32,scales", "unknown \"scales\""},
    {"64x32:bf16:e4m3,blocks=1x32,layout=tma",
     "layout is \"tma\"; known are plain, transposed, aligned, swizzled"},
    {"64x32:bf16:e4m3,scales=te", "scales and layout are of blocks="},
    {"64x32:bf16:e4m3,layout=plain", "scales and layout are of blocks="},
    {"64x32:bf16:e4m3,scale,blocks=1x32",
     "blocks go with both and sums, and with no other operation"},
    {"64x32:bf16:e4m3,amax,blocks=1x32",
     "blocks go with both and sums, and with no other operation"},
    {"64x32:bf16,blocks=1x32", "elements in f16, bf16 and f32 and results in e4m3, e5m2 and e2m1"},
    {"64x32:f64:e4m3,blocks=1x32",
     "elements in f16, bf16 and f32 and results in e4m3, e5m2 and e2m1"},
    {"64x32:e4m3:e5m2,blocks=1x32",
     "elements in f16, bf16 and f32 and results in e4m3, e5m2 and e2m1"},
    {"64x32:bf16:e4m3,both=bf16,blocks=1x32", "results in e4m3, e5m2 and e2m1"},
    {"64x32:bf16:e4m3,blocks=1x16,scales=nvfp4", "nvfp4 and te-nvfp4 are for results in e2m1"},
    {"64x32:bf16:e2m1,both=e4m3,blocks=1x16,scales=nvfp4", "nvfp4 and te-nvfp4 are for"},
    {"64x32:bf16:e2m1,blocks=1x32", "te, te-pow2 and torchao for e4m3 and e5m2"},
    {"64x32:bf16:e2m1", "e2m1 is a type of results with blocks"},
    {"64x32:e2m1", "elements of 4 bits are not moved"},
    {"65x32:bf16:e2m1,blocks=1x32,scales=floor", "have to be even, as with ld_dst=66"},
    {"64x33:bf16:e2m1,both,blocks=1x32,scales=floor", "have to be even, as with ld_src=34"},
    {"64x32:bf16:e2m1,offset_dst=1,blocks=1x32,scales=floor", "ld_dst, stride_dst and offset_dst"},
    {"2x3x4:bf16:e4m3,perm=210,blocks=1x32", "blocks are of matrices and batches, not of tensors"},
    {"64x64:bf16:e4m3,inplace=1,blocks=1x32", "in place, elements are moved as they are"},
    {"64x64:f32,inplace=1,affine", "in place, elements are moved as they are"},
    /* 4 and 25 have no common period: result 25 may be of channel 0 or 1. */
    {"4x6:f32,batch=3,stride_dst=25,affine=rows", "a result's place does not tell its channel"},
    {"4294967296x2:f32,affine=rows", "at most 2^31 - 1 channels"},
    {"9x9x9:f32,perm=210,strides_dst=4611686018427387904x2305843009213693952x1,affine",
     "do not nest"},
    {"64x32:e8m0:f32", "e8m0"},
    /* The destination's bytes count, too: 2^58 elements of 16. */
    {"536870912x536870912x1:c64:c128,perm=210", "do not fit 62 bits"},
    {"536870912x536870912:c64:c128", "do not fit 62 bits"},
};

static void refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(refused); i++) {
        struct at_problem problem;
        struct at_error err;

        assert_int_equal(at_problem_parse(&problem, refused[i].spec, &err), AT_USAGE);
        if (!strstr(err.message, refused[i].message))
            fail_msg("%s: \"%s\" is not in \"%s\"", refused[i].spec, refused[i].message,
                     err.message);
    }
}

/* A tensor whose elements are adjacent in the source alone. Without a step, each of its elements is
 * a matrix of a batch. With one it stays a batch of columns, which more families take. */
static void keeps_columns(void **state)
{
    struct at_problem moved = problem_of("8x16:f32,perm=10,strides_dst=32x2");
    struct at_problem computed = problem_of("8x16:f32,perm=10,strides_dst=32x2,scale");

    (void)state;
    assert_int_equal(moved.rows * moved.cols, 1);
    assert_int_equal(computed.cols, 16);
    assert_int_equal(computed.batch, 8);
}

static void tells_steps_apart(void **state)
{
    static const char *const specs[] = {
        "64x32:f32",
        "64x32:f32,scale",
        "64x32:f32:bf16",
        "64x32:f32:f16",
        "64x32:f32,divide",
        "64x32:f32:bf16,scale",
        "64x32:i32",
        "64x32:f32,alpha",
        "64x32:f32,alpha,beta",
        "64x32:f32:e4m3",
        "64x32:f32:e4m3,nosat",
        "64x32:f32,affine",
        "64x32:f32,affine=rows",
        "64x32:f32:e4m3,blocks=1x32",
        "64x32:f32:e4m3,blocks=32x1",
        "64x32:f32:e4m3,blocks=1x16",
        "64x32:f32:e4m3,both,blocks=1x32",
        "64x32:f32:e4m3,both=e5m2,blocks=1x32",
        "64x32:f32:e4m3,blocks=1x32,scales=floor",
        "64x32:f32:e4m3,blocks=1x32,layout=swizzled",
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++)
        for (size_t j = 0; j < AT_COUNT(specs); j++) {
            struct at_problem a = problem_of(specs[i]), b = problem_of(specs[j]);
            /* Without a step, i32 is the same work as f32. */
            bool same = i == j || (!a.step.given && !b.step.given);

            assert_int_equal(at_problem_equal(&a, &b), same);
        }
}

/* ---- arithmetic ---- */

static const struct {
    const char *spec;
    double number;
    uint64_t source, result;
} values[] = {
    /* 1.0, and its tie below: 1 + 1/16 is between 1 and 1.125, and 1 is even. */
    {"1x2:bf16:e4m3,scale", 1, 0x3f80, 0x38},
    {"1x2:bf16:e4m3,scale", 1.0625, 0x3f80, 0x38},
    {"1x2:bf16:e4m3,scale", 1.1875, 0x3f80, 0x3a},
    {"1x2:bf16:e4m3,scale", 1000, 0x3f80, 0x7e}, /* 448 */
    {"1x2:bf16:e4m3,scale", -1000, 0x3f80, 0xfe},
    {"1x2:bf16:e4m3,scale", 1, 0x7f80, 0x7e}, /* infinity */
    {"1x2:bf16:e4m3,scale", 1, 0x7fc0, 0x7f}, /* NaN */
    {"1x2:bf16:e4m3,scale", 1, 0x8000, 0x80}, /* -0 */
    {"1x2:bf16:e5m2,scale", 1, 0x7f80, 0x7b},
    /* 464 is a tie of e4m3, which goes down to 448, and 61,440 one of e5m2, which goes up. */
    {"1x2:f32:e4m3,nosat", 0, 0x43e80000, 0x7e},
    {"1x2:f32:e4m3,nosat", 0, 0x43e80001, 0x7f},
    {"1x2:f32:e4m3,nosat", 0, 0xff800000, 0xff}, /* -infinity */
    {"1x2:f32:e4m3,nosat", 0, 0xffc00000, 0x7f}, /* NaN */
    {"1x2:f32:e5m2,nosat", 0, 0x476fffff, 0x7b},
    {"1x2:f32:e5m2,nosat", 0, 0x47700000, 0x7c},
    {"1x2:f32:e5m2,nosat", 0, 0xff800000, 0xfc},
    {"1x2:f64:e4m3,nosat", 0, 0x407d000000000001, 0x7f}, /* the least f64 above 464 */
    {"1x2:bf16:e5m2,scale,nosat", 1000, 0x477f, 0x7c},
    {"1x2:bf16:e5m2,scale", 1000, 0x477f, 0x7b},
    {"1x2:bf16:e4m3,divide", 2, 0x4000, 0x38},
    {"1x2:bf16:e4m3,divide", 0, 0x4000, 0x7e},
    /* 2^-10 is half of the least number, and 0 is even. */
    {"1x2:f32:e4m3", 0, 0x3a800000, 0x00},
    {"1x2:f32:e4m3", 0, 0x3a800001, 0x01},
    /* One rounding: 1 + 2^-8 + 2^-30 is above the tie of bf16, though not as an f32. */
    {"1x2:f64:bf16", 0, 0x3ff0100000400000, 0x3f81},
    {"1x2:f32:i8,scale", 1, 0x42ff0000, 0x7f}, /* 127.5 */
    {"1x2:f32:i8,scale", 1, 0x40200000, 0x02}, /* 2.5 */
    {"1x2:f32:u8,scale", 1, 0xbf800000, 0x00}, /* -1 */
    {"1x2:u8:f16,scale", 1.0 / 255, 0xff, 0x3c00},
    {"1x2:c64,conj", 0, 0x3f80000040000000, 0xbf80000040000000},
    {"1x2:c64,conj", 0, 0x0000000040000000, 0x8000000040000000},
    {"1x2:c64,conj,scale", 2, 0x3f80000040000000, 0xc000000040800000},
};

static void computes(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(values); i++) {
        struct at_problem problem = problem_of(values[i].spec);
        uint64_t result = 0;

        at_step_apply(&problem.step, &(struct at_step_operands){.number = {values[i].number}},
                      &result, &values[i].source, NULL);
        if (result != values[i].result)
            fail_msg("%s of %#llx with %g: %#llx, not %#llx", values[i].spec,
                     (unsigned long long)values[i].source, values[i].number,
                     (unsigned long long)result, (unsigned long long)values[i].result);
    }
}

/* With numbers that may be complex, and a second source. In f32, 1 + 2^-12 is 3f800800, and its
 * square rounds to 3f801000, which loses the last bit that a fused sum would keep. */
static const struct {
    const char *spec;
    double number[2], beta[2];
    uint64_t source, second, result;
} sums[] = {
    {"1x2:f32,alpha,beta", {2}, {0.5}, 0x3f800000, 0x40800000, 0x40800000},
    {"1x2:f32,alpha,beta", {1 + 0x1p-12}, {-1}, 0x3f800800, 0x3f801000, 0x00000000},
    {"1x2:f32,beta", {7}, {1}, 0x3f800000, 0x3f800000, 0x40000000},
    /* Without beta B is not read: neither NaN nor the sign of a zero. */
    {"1x2:f32,alpha,beta", {1}, {0}, 0x3f800000, 0x7fc00000, 0x3f800000},
    {"1x2:f32,alpha,beta", {1}, {0}, 0x80000000, 0x00000000, 0x80000000},
    {"1x2:f32,beta", {1}, {0}, 0x7fc00001, 0x00000000, 0x7fc00001}, /* A alone, as it is */
    {"1x2:f32,alpha,beta", {1}, {1}, 0x80000000, 0x00000000, 0x00000000},
    {"1x2:f32,alpha,beta", {1}, {1}, 0x7f800000, 0xff800000, 0x7fffffff}, /* inf - inf */
    {"1x2:f32,alpha,beta", {1}, {1}, 0x00000001, 0x00000001, 0x00000002}, /* subnormal */
    {"1x2:f32,alpha,beta", {1}, {1}, 0x7f7fffff, 0x7f7fffff, 0x7f800000},
    {"1x2:f32,alpha,beta", {0}, {1}, 0x7fc00000, 0x3f800000, 0x7fffffff}, /* NaN goes through */
    {"1x2:f64,beta", {1}, {1}, 0x7ff0000000000000, 0xfff0000000000000, 0x7fffffffffffffff},
    /* The sum is rounded to f32, and that to bf16: ties of both. */
    {"1x2:bf16,beta", {1}, {1}, 0x3f80, 0x3b80, 0x3f80},
    {"1x2:bf16,beta", {1}, {1}, 0x3f81, 0x3b80, 0x3f82},
    {"1x2:f32:i8,beta", {1}, {1}, 0x42c80000, 0x64, 0x7f}, /* 100 + 100 */
    /* (1 + 2i)(3 + 4i) = -5 + 10i, and conjugates first. */
    {"1x2:c64,alpha", {1, 2}, {0}, 0x4080000040400000, 0, 0x41200000c0a00000},
    {"1x2:c64,conj,alpha", {1, 2}, {0}, 0x4080000040400000, 0, 0x4000000041300000},
    {"1x2:c64,beta", {1}, {0, 1}, 0x4080000040400000, 0x3f8000003f800000, 0x40a0000040000000},
};

static void adds(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(sums); i++) {
        struct at_problem problem = problem_of(sums[i].spec);
        struct at_step_operands operands;
        uint64_t result = 0;

        memcpy(operands.number, sums[i].number, sizeof operands.number);
        memcpy(operands.beta, sums[i].beta, sizeof operands.beta);
        at_step_apply(&problem.step, &operands, &result, &sums[i].source, &sums[i].second);
        if (result != sums[i].result)
            fail_msg("%zu, %s of %#llx: %#llx, not %#llx", i, sums[i].spec,
                     (unsigned long long)sums[i].source, (unsigned long long)result,
                     (unsigned long long)sums[i].result);
    }
}

/* With the numbers of a channel. Nothing is fused: see above. */
static const struct {
    const char *spec;
    double number, scale, shift;
    uint64_t source, result;
} affine[] = {
    {"1x2:u8:f32,affine", 0, 2, 1, 0xff, 0x43ff8000},      /* 511 */
    {"1x2:u8:f16,divide,affine", 255, 2, 1, 0xff, 0x4200}, /* 3 */
    {"1x2:f32:u8,scale,affine", 255, 0.5, 0.5, 0x3f800000, 0x80} /* 128, even */,
    {"1x2:f32,affine", 0, 1 + 0x1p-12, -(1 + 0x1p-11), 0x3f800800, 0},
    {"1x2:f32,affine", 0, 1, -0.0, 0x80000000, 0x80000000}, /* what a missing number does */
    {"1x2:f32,affine", 0, 1, 0, 0x80000000, 0},
    {"1x2:f64,affine", 0, 0, 1, 0x7ff0000000000000, 0x7fffffffffffffff}, /* 0 times infinity */
};

static void shifts(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(affine); i++) {
        struct at_problem problem = problem_of(affine[i].spec);
        const struct at_step_operands operands = {.number = {affine[i].number},
                                                  .channel_scale = affine[i].scale,
                                                  .shift = affine[i].shift};
        uint64_t result = 0;

        at_step_apply(&problem.step, &operands, &result, &affine[i].source, NULL);
        if (result != affine[i].result)
            fail_msg("%zu, %s of %#llx: %#llx, not %#llx", i, affine[i].spec,
                     (unsigned long long)affine[i].source, (unsigned long long)result,
                     (unsigned long long)affine[i].result);
    }
}

/* The channel of each result, in the order of the destination; -1: none is there. Results side by
 * side may have several. */
static const struct {
    const char *spec;
    bool mixed;
    int channels[24];
} placed[] = {
    {"1x6:f32,affine", true, {0, 1, 2, 3, 4, 5}},
    {"6x1:f32,affine", false, {0, 0, 0, 0, 0, 0}},
    {"2x3:f32,affine", false, {0, 0, 1, 1, 2, 2}},
    {"2x3:f32,affine=rows", true, {0, 1, 0, 1, 0, 1}},
    {"2x3:f32,ld_dst=3,affine=rows", true, {0, 1, -1, 0, 1, -1, 0, 1}},
    {"2x3:f32,batch=2,affine", false, {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}},
    {"2x2:f32,batch=2,stride_dst=6,affine=batch", false, {0, 0, 0, 0, -1, -1, 1, 1, 1, 1}},
    {"2x2:f32,batch=2,stride_dst=6,affine=rows", true, {0, 1, 0, 1, -1, -1, 0, 1, 0, 1}},
    {"2x1x2x3:f32,perm=0312,affine", false, {0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2}},
    {"2x3x2:f32,perm=201,affine=1", true, {0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2}},
    {"2x3x2:f32,perm=201,affine=0", true, {0, 0, 0, 1, 1, 1, 0, 0, 0, 1, 1, 1}},
};

static void places_channels(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(placed); i++) {
        struct at_problem problem = problem_of(placed[i].spec);
        const struct at_channels *channels = &problem.step.channels;

        if (at_problem_mixes_channels(&problem) != placed[i].mixed)
            fail_msg("%s: mixed", placed[i].spec);
        for (int64_t x = 0; x < at_problem_dst_extent(&problem); x++)
            if (placed[i].channels[x] >= 0 &&
                x % channels->period / channels->run != placed[i].channels[x])
                fail_msg("%s: result %lld", placed[i].spec, (long long)x);
    }
}

/* What templates divide with: operator/ of wide_divisor, in templates/step_numbers.cuh. */
static int64_t divided(int64_t number, const uint64_t divisor[3])
{
    unsigned __int128 product = (unsigned __int128)(2 * (uint64_t)number) * divisor[1];

    return (int64_t)((uint64_t)(product >> 64) >> divisor[2]);
}

/* What templates divide with: quotient() of reciprocal, in templates/step_numbers.cuh. */
static float quotient(float x, float divisor)
{
    const float reciprocal = 1 / divisor;
    const float product = x * reciprocal;
    const float rest = fmaf(-product, divisor, x);

    return fabsf(rest) > 0 && fabsf(rest) < 0x1p127f ? fmaf(rest, reciprocal, product) : product;
}

/* A result by the reciprocal has the bits of one by a division: of all numbers of 16 bits, where
 * they or the results have a short range, and of floats whose mantissas are spread over their
 * range. */
static void divides_by_reciprocals(void **state)
{
    enum { MANTISSAS = 50000 };
    static const struct {
        enum at_number from, to;
    } casts[] = {
        {AT_F16, AT_F32},  {AT_BF16, AT_F16}, {AT_BF16, AT_E4M3}, {AT_BF16, AT_E5M2},
        {AT_BF16, AT_I32}, {AT_BF16, AT_U32}, {AT_BF16, AT_U8},   {AT_F32, AT_F32},
    };
    static const float divisors[] = {
        1,
        -2,
        3,
        0.37F,
        -0.1F,
        448,
        1.0F / 448,
        3e-5F,
        0x1.000002p0F,
        0x1.000004p0F,
        0x1.fffffep0F,
        0x1.fffffcp0F,
        0x1p-64F,
        0x1p64F,
        -0x1.fffffep63F,
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(casts) * AT_COUNT(divisors); i++) {
        const enum at_number from = casts[i / AT_COUNT(divisors)].from;
        const enum at_number to = casts[i / AT_COUNT(divisors)].to;
        const float divisor = divisors[i % AT_COUNT(divisors)];
        const uint32_t count = from == AT_F32 ? MANTISSAS : UINT16_MAX + 1;

        for (uint32_t n = 0; n < count; n++) {
            const uint16_t bits = (uint16_t)n;
            float x = ldexpf((float)((1 << 23) + n * 16777 % (1 << 23)), -23), direct, ours;
            unsigned char expected[4] = {0}, result[4] = {0};

            if (from != AT_F32)
                at_number_cast(AT_F32, &x, from, &bits, false);
            direct = x / divisor;
            ours = quotient(x, divisor);
            at_number_cast(to, expected, AT_F32, &direct, false);
            at_number_cast(to, result, AT_F32, &ours, false);
            if (memcmp(expected, result, sizeof result) != 0 && !(isnan(direct) && isnan(ours)))
                fail_msg("%a / %a: %a, not %a", (double)x, (double)divisor, (double)ours,
                         (double)direct);
        }
    }
}

static void tells_kernels_channels(void **state)
{
    static const char *const specs[] = {
        "2x3:f32,affine",
        "3x7:f32,ld_dst=5,batch=11,affine=rows",
        "1000x1:f32,affine",
        "2147483647x1000003:u8,batch=3,scale,affine",
        "2147483646x1000003:u8,batch=1000,scale,affine=rows",
        "65536x65536:u8,batch=65536,scale,affine=batch",
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_problem problem = problem_of(specs[i]);
        const struct at_channels *channels = &problem.step.channels;
        int64_t extent = at_problem_dst_extent(&problem);
        struct at_launch launch = {{0}};
        uint64_t word[AT_CALL_WORDS];
        uint8_t words[AT_CALL_ARGS];

        assert_int_equal(at_problem_args(&problem, &launch, 0, 0, NULL, word, words), 11);
        assert_int_equal(words[9], 7);
        assert_int_equal(word[15], channels->count - 1);
        for (int64_t n = 0; n < 4000; n++) {
            int64_t x = n < 1000 ? n % extent : (int64_t)((__int128)(extent - 1) * n / 3999);
            int64_t near = x / channels->run * channels->run;

            assert_int_equal(divided(x, word + 9), x / channels->period);
            assert_int_equal(divided(x, word + 12), x / channels->run);
            assert_int_equal(divided(near, word + 12), near / channels->run);
            if (near > 0)
                assert_int_equal(divided(near - 1, word + 12), near / channels->run - 1);
        }
    }
}

/* The tables that kernels are checked with have each sign and exponent, and all of 16 bits. */
static void draws_all_exponents(void **state)
{
    struct at_problem narrow = problem_of("1x2:bf16:e4m3,scale"), wide = problem_of("1x2:f32:f16");
    uint16_t *narrow_source = at_alloc_array(AT_STEP_VALUES, sizeof *narrow_source);
    uint32_t *wide_source = at_alloc_array(AT_STEP_VALUES, sizeof *wide_source);
    unsigned char *result = at_alloc_array(AT_STEP_VALUES, 2);
    bool seen[AT_STEP_VALUES] = {false}, exponents[512] = {false};

    (void)state;
    at_step_make_values(
        &narrow.step, &(struct at_step_operands){.number = {1}},
        &(struct at_step_values){.source = narrow_source, .results = result, .largest = -1});
    at_step_make_values(
        &wide.step, &(struct at_step_operands){.number = {1}},
        &(struct at_step_values){.source = wide_source, .results = result, .largest = -1});
    for (size_t i = 0; i < AT_STEP_VALUES; i++) {
        seen[narrow_source[i]] = true;
        exponents[wide_source[i] >> 23] = true;
    }
    for (size_t i = 0; i < AT_STEP_VALUES; i++)
        assert_true(seen[i]);
    for (size_t i = 0; i < AT_COUNT(exponents); i++)
        assert_true(exponents[i]);
    at_free(narrow_source);
    at_free(wide_source);
    at_free(result);
}

/* Second results are those of their own type's step. */
static void keeps_results(void **state)
{
    static const char *const pairs[][2] = {{"1x2:f32:e4m3,scale,both=bf16", "1x2:f32:bf16,scale"},
                                           {"1x2:f32:bf16,divide,both", "1x2:f32:bf16,divide"},
                                           {"1x2:f32:e4m3,nosat,both=f16", "1x2:f32:f16"},
                                           {"1x2:c64,conj,both", "1x2:c64,conj"}};
    struct at_step_operands operands = {.number = {0.37}};
    unsigned char *source = at_alloc_array(AT_STEP_VALUES, 8);
    unsigned char *results = at_alloc_array(AT_STEP_VALUES, 8);
    unsigned char *kept = at_alloc_array(AT_STEP_VALUES, 8);
    unsigned char *alone = at_alloc_array(AT_STEP_VALUES, 8);

    (void)state;
    for (size_t i = 0; i < AT_COUNT(pairs); i++) {
        struct at_problem both = problem_of(pairs[i][0]), own = problem_of(pairs[i][1]);

        at_step_make_values(&both.step, &operands,
                            &(struct at_step_values){source, NULL, results, kept, -1});
        at_step_make_values(&own.step, &operands,
                            &(struct at_step_values){source, NULL, alone, NULL, -1});
        assert_memory_equal(kept, alone,
                            AT_STEP_VALUES * (size_t)at_problem_elem_size(&own, AT_DESTINATION));
    }
    at_free(source);
    at_free(results);
    at_free(kept);
    at_free(alone);
}

/* The largest magnitude of a table, whole or with one largest element. */
static void finds_largest(void **state)
{
    static const struct {
        const char *spec;
        float whole, planted;
    } cases[] = {
        {"1x2:bf16,amax", INFINITY, 3}, {"1x2:bf16,amax=nan", NAN, 3},
        {"1x2:f16,amax", INFINITY, 3},  {"1x2:f32:bf16,amax", INFINITY, 3},
        {"1x2:e4m3,amax", 448, 3},      {"1x2:e5m2,amax=nan", NAN, 3},
    };
    unsigned char *source = at_alloc_array(AT_STEP_VALUES, 4);
    unsigned char *results = at_alloc_array(AT_STEP_VALUES, 4);

    (void)state;
    for (size_t i = 0; i < 2 * AT_COUNT(cases); i++) {
        struct at_problem problem = problem_of(cases[i / 2].spec);
        int64_t place = i % 2 ? 40000 : -1;
        float expected = i % 2 ? cases[i / 2].planted : cases[i / 2].whole;
        size_t bytes = (size_t)problem.elem_size, times = 0;
        uint32_t largest = 0;

        at_step_make_values(&problem.step, &(struct at_step_operands){.number = {1}},
                            &(struct at_step_values){source, NULL, results, NULL, place});
        for (size_t k = 0; k < AT_STEP_VALUES; k++)
            largest = at_step_larger(&problem.step, largest, source + k * bytes);
        assert_int_equal(largest, isnan(expected) ? 0x7fffffff : at_bits_of_f32(expected));
        for (size_t k = 0; k < AT_STEP_VALUES; k++)
            times += at_step_larger(&problem.step, 0, source + k * bytes) == largest;
        assert_true(place < 0 || times == 1);
    }
    at_free(source);
    at_free(results);
}

static void read_row(const void *context, int64_t row, float *elements)
{
    *elements = ((const float *)context)[row];
}

/* The sum of a column, in the one order, to the bit. */
static void adds_columns(void **state)
{
    static const struct {
        float rows[9];
        int64_t count;
        float sum;
    } cases[] = {
        {{3}, 1, 3},
        {{-0.0F}, 1, 0},
        {{-0.0F, -0.0F, -0.0F}, 3, 0},
        {{1, 1e8F, -1e8F, 1}, 4, 0}, /* one by one it would be 1 */
        {{1e8F, -1e8F, 1}, 3, 1},
        {{1, 1e8F, 1, -1e8F, 1}, 5, 1},
        {{1, 2, 3, 4, 5, 6, 7, 8, 9}, 9, 45}, /* the last one is a tree of its own */
        {{INFINITY, -INFINITY}, 2, NAN},
        {{1, -NAN, 2}, 3, NAN},
        {{3e38F, 3e38F, -3e38F, -3e38F}, 4, NAN},
        {{3e38F, -3e38F, 3e38F, -3e38F}, 4, 0},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_row_source source = {read_row, cases[i].rows};
        float sum;

        at_column_sums(&sum, &source, cases[i].count, 1);
        assert_int_equal(at_bits_of_f32(sum),
                         isnan(cases[i].sum) ? 0x7fffffff : at_bits_of_f32(cases[i].sum));
    }
}

/* How much scratch memory a launch needs: what tiles of 8x32 take is enough. */
static void counts_scratch(void **state)
{
    static const struct {
        const char *spec;
        int64_t grid, cols, bytes, most;
    } cases[] = {
        {"64x32:f16", 8, 0, 0, 0},
        {"64x32:f16,amax", 8, 0, 8, 8},
        {"64x32:f16,sums", 8, 32, 8 + 8 * 33 * 4, 8 + 8 * 33 * 4},
        {"64x70:f16,sums,batch=3", 6, 64, 8 + 3 * 2 * 0, 8 + 3 * 8 * 3 * 33 * 4},
        {"64x70:f16,sums,batch=3", 12, 64, 8 + 12 * 65 * 4, 8 + 3 * 8 * 3 * 33 * 4},
        {"64x70:f16,amax,sums", 10, 16, 8 + 2 * 5 * 17 * 4, 8 + 8 * 3 * 33 * 4},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_problem problem = problem_of(cases[i].spec);
        const struct at_launch launch = {
            .field = {[AT_GRID_X] = cases[i].grid, [AT_SUM_COLS] = cases[i].cols}};

        assert_int_equal(at_problem_scratch_bytes(&problem, &launch), cases[i].bytes);
        assert_int_equal(at_problem_scratch_most(&problem), cases[i].most);
    }
}

/* ---- the templates' numbers ---- */

/* Check that a template's enumerator has a value: what it says, or its place. */
static void check_enumerator(const char *file, const char *prefix, const char *name, int value)
{
    char *text = text_of(file), *word = at_format("%s%s", prefix, name);
    const char *at = text, *place;
    int found = 0;

    for (char *c = word; *c; c++)
        *c = *c == '-' || *c == '=' ? '_' : (char)toupper((unsigned char)*c);
    do { /* as a whole word */
        place = strstr(at, word);
        if (!place)
            fail_msg("%s has no %s", file, word);
        at = place + strlen(word);
    } while (isalnum((unsigned char)*at) || *at == '_');
    if (strncmp(at, " = ", 3) == 0)
        found = (int)strtol(at + 3, NULL, 0);
    else
        for (const char *c = place; *c != '{'; c--)
            found += *c == ',';
    if (found != value)
        fail_msg("%s: %s is %d, and %d in C", file, word, found, value);
    at_free(word);
    at_free(text);
}

/* Kernels get operations, types, rules and layouts as numbers. */
static void templates_number_alike(void **state)
{
    static const char *const operations[AT_OPERATIONS + 1] = {
        [AT_CONJUGATE] = "conjugate", [AT_MIXED] = "mixed"};

    (void)state;
    for (int i = 0; i <= AT_OPERATIONS; i++)
        check_enumerator("templates/step.cuh", "STEP_",
                         operations[i] ? operations[i] : at_operation_names[i], 1 << i);
    for (int i = 0; i < AT_NUMBERS; i++)
        check_enumerator("templates/numbers.cuh", "NUMBER_", at_number_formats[i].name, i);
    for (int i = 0; i < AT_BLOCK_RULES; i++)
        check_enumerator("templates/scales.cuh", "RULE_", at_block_rules[i].name, i);
    for (int i = 0; i < AT_SCALE_LAYOUTS; i++)
        check_enumerator("templates/scales.cuh", "SCALES_", at_scale_layout_names[i], i);
    check_enumerator("templates/groups.cuh", "GROUPS_", "list", AT_GROUP_LIST);
    check_enumerator("templates/groups.cuh", "GROUPS_", "ragged", AT_RAGGED_GROUPS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spells),
        cmocka_unit_test(refuses),
        cmocka_unit_test(keeps_columns),
        cmocka_unit_test(tells_steps_apart),
        cmocka_unit_test(computes),
        cmocka_unit_test(draws_all_exponents),
        cmocka_unit_test(keeps_results),
        cmocka_unit_test(finds_largest),
        cmocka_unit_test(adds_columns),
        cmocka_unit_test(counts_scratch),
        cmocka_unit_test(adds),
        cmocka_unit_test(shifts),
        cmocka_unit_test(places_channels),
        cmocka_unit_test(divides_by_reciprocals),
        cmocka_unit_test(tells_kernels_channels),
        cmocka_unit_test(templates_number_alike),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
