/* SPDX-License-Identifier: Apache-2.0 */
/* src/problem/problem.c: specifications, their defaults and their limits. */
#include "base/memory.h"
#include "problem/problem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problem_of.h"

/* A problem from numbers is the same as from its specification. */
static void completes_numbers(const struct at_problem *p)
{
    struct at_problem numbers = *p;
    struct at_error err = {0};

    strcpy(numbers.type, "");
    if (at_problem_complete(&numbers, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(numbers.type[0], 'b');
    memcpy(numbers.type, p->type, sizeof numbers.type);
    assert_memory_equal(&numbers, p, sizeof numbers);
}

static void fills_in_what_is_not_given(void **state)
{
    static const struct {
        const char *spec, *shortest;
        int64_t size, rows, cols, ld_src, ld_dst, batch, stride_src, stride_dst;
        int64_t offset_src, offset_dst;
    } cases[] = {
        {"8192x4096:f32", "8192x4096:f32", 4, 8192, 4096, 4096, 8192, 1, 33554432, 33554432, 0, 0},
        {"3x5:b16,ld_src=8", "3x5:b16,ld_src=8", 16, 3, 5, 8, 3, 1, 24, 15, 0, 0},
        {"3x5:b1,ld_dst=4,ld_src=5", "3x5:b1,ld_dst=4", 1, 3, 5, 5, 4, 1, 15, 20, 0, 0},
        {"3x5:b2,batch=7", "3x5:b2,batch=7", 2, 3, 5, 5, 3, 7, 15, 15, 0, 0},
        {"3x5:b8,stride_src=20,batch=2,stride_dst=15", "3x5:b8,batch=2,stride_src=20", 8, 3, 5, 5,
         3, 2, 20, 15, 0, 0},
        /* the last row need not be a whole leading dimension */
        {"3x5:b8,batch=2,ld_src=10,stride_src=25", "3x5:b8,ld_src=10,batch=2,stride_src=25", 8, 3,
         5, 10, 3, 2, 25, 15, 0, 0},
        /* the stride of a single matrix is ignored */
        {"3x5:b8,stride_src=99,batch=1", "3x5:b8", 8, 3, 5, 5, 3, 1, 15, 15, 0, 0},
        {"1x1:u8", "1x1:u8", 1, 1, 1, 1, 1, 1, 1, 1, 0, 0},
        /* in place, both layouts are the same */
        {"5x5:b4,inplace=1,ld_src=8", "5x5:b4,ld_src=8,inplace=1", 4, 5, 5, 8, 8, 1, 40, 40, 0, 0},
        {"5x5:b4,ld_dst=5,inplace=1", "5x5:b4,inplace=1", 4, 5, 5, 5, 5, 1, 25, 25, 0, 0},
        {"5x5:b4,batch=2,stride_src=30,inplace=1", "5x5:b4,batch=2,stride_src=30,inplace=1", 4, 5,
         5, 5, 5, 2, 30, 30, 0, 0},
        {"3x5:b4,offset_dst=255", "3x5:b4,offset_dst=255", 4, 3, 5, 5, 3, 1, 15, 15, 0, 255},
        {"3x5:b4,offset_dst=2,offset_src=1", "3x5:b4,offset_src=1,offset_dst=2", 4, 3, 5, 5, 3, 1,
         15, 15, 1, 2},
        {"5x5:b4,inplace=1,offset_src=3", "5x5:b4,offset_src=3,inplace=1", 4, 5, 5, 5, 5, 1, 25, 25,
         3, 3},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem p = problem_of(cases[i].spec), again;
        char *shortest = at_problem_format(&p);

        completes_numbers(&p);
        assert_int_equal(p.elem_size, cases[i].size);
        assert_int_equal(p.rows, cases[i].rows);
        assert_int_equal(p.cols, cases[i].cols);
        assert_int_equal(p.ld_src, cases[i].ld_src);
        assert_int_equal(p.ld_dst, cases[i].ld_dst);
        assert_int_equal(p.batch, cases[i].batch);
        assert_int_equal(p.stride_src, cases[i].stride_src);
        assert_int_equal(p.stride_dst, cases[i].stride_dst);
        assert_int_equal(p.offset_src, cases[i].offset_src);
        assert_int_equal(p.offset_dst, cases[i].offset_dst);
        assert_string_equal(shortest, cases[i].shortest);
        again = problem_of(shortest);
        assert_memory_equal(&again, &p, sizeof p);
        free(shortest);
    }
}

static void knows_types(void **state)
{
    static const struct {
        const char *name;
        int64_t size;
    } types[] = {
        {"b1", 1},  {"b2", 2},  {"b4", 4},   {"b8", 8},  {"b16", 16}, {"i8", 1},    {"u8", 1},
        {"fp8", 1}, {"f16", 2}, {"bf16", 2}, {"i16", 2}, {"u16", 2},  {"f32", 4},   {"i32", 4},
        {"u32", 4}, {"f64", 8}, {"i64", 8},  {"u64", 8}, {"c64", 8},  {"c128", 16},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(types); i++) {
        char *spec = at_format("2x3:%s", types[i].name);
        struct at_problem problem = problem_of(spec);

        assert_int_equal(problem.elem_size, types[i].size);
        assert_string_equal(problem.type, types[i].name);
        free(spec);
    }
}

static void refuses(void **state)
{
    static const char form[] = "expected ROWSxCOLS:TYPE[,key=value...], for instance "
                               "10007x10009:f16,ld_src=10016";
    static const struct {
        const char *spec, *reason;
    } cases[] = {
        {"", form},
        {"8192", form},
        {"8192x8192", form},
        {"8192:f32", form},
        {"8192x8192,f32", form},
        {"0x5:f32", "ROWS is \"0\", not a whole number from 1 on, at most 2^62; "},
        {"5x0:f32", "COLS is \"0\", not a whole number from 1 on, at most 2^62; "},
        {"-1x5:f32", "ROWS is \"-1\", not"},
        {"+1x5:f32", "ROWS is \"+1\", not"},
        {" 1x5:f32", "ROWS is \" 1\", not"},
        {"010x5:f32", "ROWS is \"010\", not"},
        {"1e3x5:f32", "ROWS is \"1e3\", not"},
        {"8192X8192:f32", form},
        {"5x5x5:f32", "a tensor needs its permutation, as in 8x32x2048x128:f16,perm=0213"},
        {"99999999999999999999x5:f32", "ROWS is \"99999999999999999999\", not"},
        {"5x5:", "unknown type \"\" (did you mean b1, b2, b4?); known are b1, b2, b4"},
        {"5x5:f31", "unknown type \"f31\" (did you mean f32, b1, fp8?); known are b1, b2, b4"},
        {"5x5:f3232", "unknown type \"f3232\""},
        {"5x5:f32,", "unknown \"\"; expected one of ld_src="},
        {"5x5:f32,ld_src", "unknown \"ld_src\"; expected one of ld_src="},
        {"5x5:f32,ld=5", "unknown \"ld=5\"; expected one of ld_src="},
        {"5x5:f32,ld_src=", "ld_src is \"\", not a whole number"},
        {"5x5:f32,batch=0", "batch is \"0\", not a whole number"},
        {"5x5:f32,batch=2 ", "batch is \"2 \", not a whole number"},
        {"5x5:f32,batch=2,batch=2", "batch is given twice"},
        {"5x7:f32,ld_src=6", "ld_src=6 is less than the 7 elements of a row"},
        {"7x5:f32,ld_dst=6", "ld_dst=6 is less than the 7 elements of a row"},
        {"5x7:f32,batch=2,stride_src=34",
         "with stride_src=34 the matrices overlap: one takes 35 elements"},
        {"5x7:f32,batch=2,stride_dst=1",
         "with stride_dst=1 the matrices overlap: one takes 35 elements"},
        {"5x5:f32,inplace=0", "inplace=1 is the only value"},
        {"5x5:f32,inplace=", "inplace=1 is the only value"},
        {"5x5:f32,inplace", "unknown \"inplace\"; expected one of ld_src="},
        {"5x5:f32,inplace=1,inplace=1", "inplace is given twice"},
        {"5x7:f32,ld_dst=9,inplace=1", "in place, a matrix that is not square is dense"},
        {"5x5:f32,ld_src=8,ld_dst=9,inplace=1", "in place, ld_dst is ld_src"},
        {"5x5:f32,ld_dst=9,inplace=1", "in place, ld_dst is ld_src"},
        {"5x5:f32,batch=2,stride_dst=30,inplace=1", "in place, ld_dst is ld_src"},
        {"5x5:f32,offset_src=0", "offset_src is \"0\", not a whole number"},
        {"5x5:f32,offset_src=1,offset_src=1", "offset_src is given twice"},
        {"5x5:f32,offset_dst=256", "offset_dst=256 is more than 255 elements"},
        {"5x5:f32,offset_dst=1,inplace=1", "in place, ld_dst is ld_src"},
        {"4611686018427387904x1:b1", "the matrices do not fit 62 bits of bytes"},
        {"9223372036854775807x9223372036854775807:b1", "the matrix does not fit 62 bits of bytes"},
        {"2147483648x1073741825:b1", "the matrices do not fit 62 bits of bytes"},
        {"4294967296x268435456:b4", "the matrices do not fit 62 bits of bytes"},
        {"5x5:b1,batch=9223372036854775807", "the matrices do not fit 62 bits of bytes"},
        {"5x5:b1,batch=2,stride_src=9223372036854775807",
         "the matrices do not fit 62 bits of bytes"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *start = at_format("problem \"%s\": %s", cases[i].spec, cases[i].reason);
        struct at_problem problem = {.rows = 77};
        struct at_error err = {0};

        assert_int_equal(at_problem_parse(&problem, cases[i].spec, &err), AT_USAGE);
        if (strncmp(err.message, start, strlen(start)) != 0)
            assert_string_equal(err.message, start);
        assert_int_equal(problem.rows, 77);
        free(start);
    }
}

static void counts_bytes_and_extents(void **state)
{
    struct at_problem p =
        problem_of("3x5:f16,ld_src=8,ld_dst=4,batch=2,stride_src=100,stride_dst=50");
    struct at_problem largest = problem_of("2147483648x1073741823:b1"), copy;

    (void)state;
    assert_int_equal(at_problem_bytes(&p), 2 * 2 * 3 * 5 * 2);
    assert_int_equal(at_problem_src_extent(&p), 100 + 2 * 8 + 5);
    assert_int_equal(at_problem_dst_extent(&p), 50 + 4 * 4 + 3);
    assert_true(at_problem_bytes(&largest) == (INT64_C(1) << 62) - (INT64_C(1) << 32));

    copy = at_problem_copy_of(&p);
    assert_int_equal(at_problem_bytes(&copy), at_problem_bytes(&p));
    p = problem_of("1x30:f16");
    assert_memory_equal(&copy, &p, sizeof p);
    p = problem_of("5x5:f16,inplace=1");
    assert_int_equal(at_problem_bytes(&p), 2 * 2 * 5 * 5);
    copy = at_problem_copy_of(&p);
    p = problem_of("1x25:f16"); /* a copy between two buffers */
    assert_memory_equal(&copy, &p, sizeof p);
}

static void tells_what_is_the_same_work(void **state)
{
    static const char *const same[][2] = {
        {"8x9:f32", "8x9:b4"},
        {"8x9:f64", "8x9:c64,ld_src=9,batch=1"},
        {"4x4:i8,inplace=1", "4x4:fp8,inplace=1"},
    };
    static const char like[] = "8x8:f32,ld_src=16,ld_dst=16,batch=2";
    static const char *const others[] = {
        "8x8:f16,ld_src=16,ld_dst=16,batch=2",
        "9x8:f32,ld_src=16,ld_dst=16,batch=2",
        "8x9:f32,ld_src=16,ld_dst=16,batch=2",
        "8x8:f32,ld_src=17,ld_dst=16,batch=2",
        "8x8:f32,ld_src=16,ld_dst=17,batch=2",
        "8x8:f32,ld_src=16,ld_dst=16,batch=3",
        "8x8:f32,ld_src=16,ld_dst=16,batch=2,stride_src=200",
        "8x8:f32,ld_src=16,ld_dst=16,batch=2,stride_dst=200",
        "8x8:f32,ld_src=16,ld_dst=16,batch=2,offset_src=1",
        "8x8:f32,ld_src=16,ld_dst=16,batch=2,offset_dst=1",
        "8x8:f32,ld_src=16,batch=2,inplace=1",
    };
    struct at_problem a, b;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(same); i++) {
        a = problem_of(same[i][0]);
        b = problem_of(same[i][1]);
        if (!at_problem_equal(&a, &b))
            fail_msg("%s is not %s", same[i][0], same[i][1]);
    }
    a = problem_of(like);
    for (size_t i = 0; i < AT_COUNT(others); i++) {
        b = problem_of(others[i]);
        if (at_problem_equal(&a, &b))
            fail_msg("%s is %s", like, others[i]);
    }
}

/* A matrix has the members of its canonical form, and its own name. */
static void has_a_canonical_form(void **state)
{
    static const struct {
        const char *spec, *form;
    } cases[] = {
        {"480000x1:f32,batch=3", "1x1440000:f32"},
        {"100000x1:f16,batch=7", "1x700000:f16"},
        {"100000000x1:f32", "1x100000000:f32"},
        {"1x480000:f32,batch=3", "1x1440000:f32"},
        {"1x1:c128,batch=9", "1x9:c128"},
        {"1x37:b1,ld_src=40,offset_dst=3", "1x37:b1,offset_dst=3"},
        /* gaps between rows that stay rows */
        {"8x1:f32,batch=4,stride_src=16", "1x8:f32,batch=4,stride_src=16"},
        {"1x8:f32,ld_src=9,batch=4,stride_dst=9", "1x8:f32,batch=4,stride_src=9,stride_dst=9"},
        /* adjacent on one side at most */
        {"5x1:b2,ld_src=3", "1x1:b2,batch=5,stride_src=3"},
        {"1x5:b2,ld_dst=3", "1x1:b2,batch=5,stride_dst=3"},
        {"5x1:b2,ld_src=3,batch=2", "1x1:b2,batch=10,stride_src=3"},
        {"3000000000x1:b1,ld_src=2", "3000000000x1:b1,ld_src=2"}, /* too many for a batch */
        /* a batch that continues rows, and one that is the rows */
        {"2x3:f32,ld_dst=10,batch=5,stride_dst=2", "10x3:f32"},
        {"1x8:f32,ld_dst=4,batch=4,stride_dst=1", "4x8:f32"},
        /* nothing to merge */
        {"2x3:f32,batch=5", "2x3:f32,batch=5"},
        {"1x1:f32,batch=5,inplace=1", "1x1:f32,batch=5,inplace=1"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem given = problem_of(cases[i].spec), form = problem_of(cases[i].form),
                          again;
        char *name = at_problem_format(&given);

        completes_numbers(&given);
        if (form.given.rows != 0 || !at_problem_equal(&given, &form))
            fail_msg("%s is not %s", cases[i].spec, cases[i].form);
        again = problem_of(name);
        assert_memory_equal(&again, &given, sizeof given);
        assert_string_equal(name, cases[i].spec);
        free(name);
    }
}

static void refuses_numbers(void **state)
{
    static const struct {
        struct at_problem problem;
        const char *words;
    } cases[] = {
        {{.elem_size = 65, .rows = 8, .cols = 8}, "\"8x8:b65\": unknown type \"b65\""},
        {{.elem_size = 4, .rows = 0, .cols = 8}, "\"0x8:b4\": rows, columns and batch"},
        {{.elem_size = 4, .rows = 8, .cols = -8}, "rows, columns and batch"},
        {{.elem_size = 4, .rows = 8, .cols = 8, .batch = -1}, "rows, columns and batch"},
        {{.elem_size = 4, .rows = 8, .cols = 8, .ld_src = 7}, "ld_src=7 is less than the 8"},
        {{.elem_size = 4, .rows = 8, .cols = 8, .ld_dst = -9}, "ld_dst=-9 is less than the 8"},
        {{.elem_size = 4, .rows = 8, .cols = 8, .batch = 2, .stride_src = -1}, "overlap"},
        {{.elem_size = 4,
          .rows = 8,
          .cols = 3,
          .batch = 3,
          .stride_src = 9,
          .stride_dst = INT64_MIN},
         "stride_dst=-9223372036854775808 the matrices overlap"},
        {{.elem_size = 4, .rows = INT64_MAX, .cols = INT64_MAX}, "62 bits"},
        {{.elem_size = 4, .rows = 8, .cols = 9, .ld_src = 10, .in_place = 1}, "dense"},
        {{.elem_size = 4, .rows = 8, .cols = 8, .offset_dst = -1}, "offsets"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = cases[i].problem;
        struct at_error err = {0};

        assert_int_equal(at_problem_complete(&problem, &err), AT_USAGE);
        if (!strstr(err.message, cases[i].words))
            fail_msg("expected %s, got %s", cases[i].words, err.message);
        assert_memory_equal(&problem, &cases[i].problem, sizeof problem);
    }
}

/* What other programs call the types. The form that is written has autotune's name. */
static void reads_synonyms(void **state)
{
    static const struct {
        const char *synonym, *name;
    } cases[] = {
        {"char", "i8"},     {"byte", "u8"},       {"uint8_t", "u8"},      {"Long", "i64"},
        {"float32", "f32"}, {"float", "f32"},     {"fp32", "f32"},        {"F32", "f32"},
        {"Float32", "f32"}, {"double", "f64"},    {"float64", "f64"},     {"half", "f16"},
        {"float16", "f16"}, {"fp16", "f16"},      {"FP16", "f16"},        {"bfloat16", "bf16"},
        {"BF16", "bf16"},   {"int8", "i8"},       {"int16", "i16"},       {"int32", "i32"},
        {"int64", "i64"},   {"uint8", "u8"},      {"uint16", "u16"},      {"uint32", "u32"},
        {"uint64", "u64"},  {"complex64", "c64"}, {"complex128", "c128"}, {"B4", "b4"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *spec = at_format("3x5:%s", cases[i].synonym), *form;
        char *expected = at_format("3x5:%s", cases[i].name);
        struct at_problem problem;

        assert_int_equal(at_problem_parse(&problem, spec, NULL), AT_OK);
        form = at_problem_format(&problem);
        assert_string_equal(form, expected);
        free(form);
        free(expected);
        free(spec);
    }
}

static void tells_problems_from_files(void **state)
{
    (void)state;
    assert_true(at_problem_is_spec("64x64:f32"));
    assert_true(at_problem_is_spec("8x32x64:f16,perm=021"));
    assert_true(at_problem_is_spec("group=2,rows=3,cols=4:f16"));
    assert_true(at_problem_is_spec("64:f32")); /* is refused as a problem */
    assert_false(at_problem_is_spec("best.yaml"));
    assert_false(at_problem_is_spec("./64x64:f32"));
    assert_false(at_problem_is_spec("64x64.yaml"));
    assert_false(at_problem_is_spec("x64:f32"));
    assert_false(at_problem_is_spec("64"));
    assert_false(at_problem_is_spec(""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_in_what_is_not_given),
        cmocka_unit_test(refuses_numbers),
        cmocka_unit_test(knows_types),
        cmocka_unit_test(reads_synonyms),
        cmocka_unit_test(tells_problems_from_files),
        cmocka_unit_test(refuses),
        cmocka_unit_test(counts_bytes_and_extents),
        cmocka_unit_test(tells_what_is_the_same_work),
        cmocka_unit_test(has_a_canonical_form),
    };

    return cmocka_run_group_tests_name("problem", tests, NULL, NULL);
}
