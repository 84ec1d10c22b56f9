/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for explicit strides, for problems without elements, and what they do about sources and
 * destinations that overlap. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static autotune_profile *profile;

enum { DST = 1 << 20, FAR = 1 << 28 };

/* ---- which problems are taken ---- */

/* Make a plan of one of both. NULL if it is refused for a reason with these words. */
static autotune_plan *make(const autotune_tensor *tensor, const autotune_problem *problem,
                           const char *words)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;
    autotune_status status = tensor ? autotune_tensor_plan_create(&plan, profile, tensor, &error)
                                    : autotune_plan_create(&plan, profile, problem, &error);

    if (status != (words ? AUTOTUNE_INVALID : AUTOTUNE_OK))
        fail_msg("%d: %s", (int)status, autotune_error_message(error));
    if (words && !strstr(autotune_error_message(error), words))
        fail_msg("\"%s\" is not in: %s", words, autotune_error_message(error));
    autotune_error_free(error);
    return plan;
}

/* 0 in a stride is no default if others are given. */
static void test_tensors(void **state)
{
    static const struct {
        autotune_tensor tensor;
        const char *words; /* NULL: a plan is made */
    } cases[] = {
#define TENSOR(...)                                                                                \
    .tensor = {.elem_size = 4, .rank = 2, .extents = {20, 30}, .permutation = {1, 0}, __VA_ARGS__}
        {TENSOR(.align_bytes = 0), NULL},
        {TENSOR(.strides_src = {0, 1}), "strides_src[0] is 0, and has to be at least 1 unless"},
        {TENSOR(.strides_src = {1, 0}), "strides_src[1] is 0, and has to be at least 1 unless"},
        {TENSOR(.strides_dst = {0, 1}), "strides_dst[0] is 0, and has to be at least 1 unless"},
        {TENSOR(.strides_src = {-30, 1}), "strides_src[0] is -30"},
        {TENSOR(.explicit_strides = 2), "explicit_strides is 2"},
        {TENSOR(.explicit_strides = 1), "elements of the destination overlap"},
        {TENSOR(.explicit_strides = 1, .strides_dst = {20, 1}), NULL},
        {TENSOR(.explicit_strides = 1, .strides_src = {0, 1}, .strides_dst = {20, 1}), NULL},
        {TENSOR(.explicit_strides = 1, .strides_src = {-30, 1}, .strides_dst = {-20, 1}), NULL},
        {TENSOR(.explicit_strides = 1, .strides_dst = {19, 1}), "the destination overlap"},
        {TENSOR(.explicit_strides = 1, .strides_src = {-30, 1}, .strides_dst = {20, 1},
                .step = "f32,both"),
         "both needs strides of at least 1"},
        {TENSOR(.explicit_strides = 1, .strides_src = {30, 1}, .strides_dst = {-20, 1},
                .step = "f32,affine"),
         "affine needs strides of at least 1"},
        {{.elem_size = 4, .rank = 2, .extents = {-1, 3}, .permutation = {1, 0}},
         "extents[0] is -1"},
        {{.elem_size = 4, .rank = 2, .extents = {4, 3}, .permutation = {0, 2}},
         "permutation[1] is 2, and has to be 0 to 1"},
#undef TENSOR
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        autotune_plan_free(make(&cases[i].tensor, NULL, cases[i].words));
}

static void test_matrices(void **state)
{
    static const struct {
        autotune_problem problem;
        const char *words;
    } cases[] = {
#define MATRIX(...) .problem = {.elem_size = 4, .rows = 20, .cols = 30, __VA_ARGS__}
        {MATRIX(.explicit_strides = 1, .batch = 1), "elements of the destination overlap"},
        {MATRIX(.explicit_strides = 1, .ld_dst = 20, .batch = 1), NULL},
        {MATRIX(.explicit_strides = 1, .ld_dst = -20, .ld_src = -32, .batch = 1), NULL},
        {MATRIX(.explicit_strides = 1, .ld_dst = 20, .ld_src = 7, .batch = 1), NULL},
        {MATRIX(.explicit_strides = 1, .ld_dst = 20, .ld_src = -30, .batch = 1, .step = "f32,both"),
         "strides have to be at least 1"},
        {MATRIX(.explicit_strides = -1), "explicit_strides is -1"},
        {MATRIX(.batch = -1), "batch is -1"},
        {{.elem_size = 128, .rows = 20, .cols = 30}, "elem_size is 128, and has to be 1 to 64"},
        {{.elem_size = 4, .rows = -20, .cols = 30}, "rows is -20, and has to be at least 0"},
#undef MATRIX
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        autotune_plan_free(make(NULL, &cases[i].problem, cases[i].words));
}

/* A caller gives the address of the element with all indices 0; kernels begin elsewhere. */
static void test_places(void **state)
{
    const autotune_tensor backwards = {.elem_size = 4,
                                       .rank = 2,
                                       .extents = {20, 30},
                                       .permutation = {1, 0},
                                       .strides_src = {30, 1},
                                       .strides_dst = {-20, 1},
                                       .explicit_strides = 1};
    autotune_plan *plan = make(&backwards, NULL, NULL);

    (void)state;
    assert_int_equal(autotune_plan_execute(plan, (void *)DST, (void *)FAR, NULL, NULL),
                     AUTOTUNE_OK);
    assert_int_equal(fake_cuda_launched[0], DST - 29 * 20 * 4);
    assert_int_equal(fake_cuda_launched[1], FAR + 29 * 4);
    autotune_plan_free(plan);
}

/* ---- nothing to do ---- */

static void test_empty(void **state)
{
    static const autotune_tensor tensors[] = {
        {.elem_size = 4, .rank = 2, .extents = {0, 30}, .permutation = {1, 0}},
        {.elem_size = 4, .rank = 1, .explicit_strides = 1},
        {.elem_size = 4, .rank = 1, .step = "f32:f16,scale"},
    };
    static const autotune_problem problems[] = {
        {.elem_size = 4, .rows = 0, .cols = 8},
        {.elem_size = 4, .rows = 8, .cols = 0, .in_place = 1},
        {.elem_size = 4, .rows = 8, .cols = 8, .ld_dst = 8, .explicit_strides = 1},
        {.elem_size = 2, .cols = 8, .step = "bf16:e4m3,blocks=1x128"},
    };
    const size_t tensor_count = sizeof tensors / sizeof *tensors;
    autotune_execution execution = autotune_execution_init();
    autotune_answer *answer = NULL;
    autotune_device *device = NULL;
    autotune_scales scales[2];

    (void)state;
    for (size_t i = 0; i < tensor_count + sizeof problems / sizeof *problems; i++) {
        autotune_plan *plan = make(i < tensor_count ? &tensors[i] : NULL,
                                   i < tensor_count ? NULL : &problems[i - tensor_count], NULL);
        int calls = fake_cuda_calls;

        assert_int_equal(autotune_plan_execute(plan, NULL, NULL, NULL, NULL), AUTOTUNE_OK);
        assert_int_equal(autotune_plan_execute_with(plan, &execution, NULL), AUTOTUNE_OK);
        assert_int_equal(autotune_plan_launches(plan, NULL, NULL, NULL, 0), 0);
        assert_true(measure_says(plan, "nothing to do"));
        autotune_plan_free(plan);
        assert_int_equal(fake_cuda_calls, calls);
    }
    /* What makes no sense makes none without elements. */
    make(&(const autotune_tensor){.elem_size = 4, .rank = 2, .permutation = {0, 0}}, NULL,
         "a permutation has each axis once");
    make(NULL, &(const autotune_problem){.elem_size = 65}, "elem_size is 65");
    assert_int_equal(autotune_device_described(&device, "h200", NULL), AUTOTUNE_OK);
    assert_int_equal(autotune_lookup(&answer, profile, device, &problems[0], NULL, NULL),
                     AUTOTUNE_INVALID);
    assert_int_equal(autotune_problem_scales(scales, &problems[3], NULL), AUTOTUNE_OK);
    assert_int_equal(scales[0].bytes, 0);
    autotune_device_free(device);
}

/* ---- overlap ---- */

/* Matrices of 4 bytes: rows of the source are 128 bytes apart. */
static void test_overlap(void **state)
{
    static const autotune_problem dense = {.elem_size = 4, .rows = 20, .cols = 30},
                                  strided = {.elem_size = 4,
                                             .rows = 16,
                                             .cols = 16,
                                             .ld_src = 32,
                                             .ld_dst = 32},
                                  halves = {.elem_size = 4,
                                            .rows = 20,
                                            .cols = 30,
                                            .step = "f32:f16",
                                            .struct_size = sizeof halves};
    static const struct {
        const autotune_problem *problem;
        int64_t distance; /* of the destination, in bytes */
        bool overlaps;
    } cases[] = {
        {&dense, 2400, false},   {&dense, 2396, true},
        {&dense, 4, true},       {&dense, -2400, false},
        {&dense, -2396, true},   {&strided, 64, false}, /* the right half of the same matrix */
        {&strided, -64, false},  {&strided, 60, true},
        {&strided, 128, true},   {&strided, 16 * 128, false},
        {&halves, -1200, false}, {&halves, -1198, true},
        {&halves, 2398, true},   {&halves, 2400, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_plan *plan = make(NULL, cases[i].problem, NULL);
        autotune_error *error = NULL;
        int before = fake_cuda_launches;
        autotune_status status = autotune_plan_execute(plan, (void *)(FAR + cases[i].distance),
                                                       (void *)FAR, NULL, &error);

        if (status != (cases[i].overlaps ? AUTOTUNE_INVALID : AUTOTUNE_OK))
            fail_msg("case %zu: %s", i, autotune_error_message(error));
        assert_int_equal(fake_cuda_launches, before + !cases[i].overlaps);
        assert_int_equal(strstr(autotune_error_message(error), "overlap") != NULL,
                         cases[i].overlaps);
        autotune_error_free(error);
        autotune_plan_free(plan);
    }
}

/* A view is only looked up. */
static void test_measured(void **state)
{
    const autotune_tensor view = {.elem_size = 4,
                                  .rank = 2,
                                  .extents = {20, 30},
                                  .permutation = {1, 0},
                                  .strides_src = {0, 1},
                                  .strides_dst = {20, 1},
                                  .explicit_strides = 1};
    const autotune_plan_options options = {.measure_ms = 1000};
    autotune_plan *plan = NULL;

    (void)state;
    assert_int_equal(autotune_tensor_plan_create_with(&plan, profile, &view, &options, NULL),
                     AUTOTUNE_OK);
    assert_true(measure_says(plan, "measured   nothing: the source has strides below 1"));
    autotune_plan_free(plan);
}

static int set_up(void **state)
{
    measure_set_up();
    profile = *state = measure_open(NULL);
    autotune_plan_free(measure_plan(profile, NULL)); /* skips all without NVRTC */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors), cmocka_unit_test(test_matrices),
        cmocka_unit_test(test_places),  cmocka_unit_test(test_empty),
        cmocka_unit_test(test_overlap), cmocka_unit_test(test_measured),
    };

    return cmocka_run_group_tests(tests, set_up, measure_tear_down);
}
