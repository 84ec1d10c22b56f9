/* SPDX-License-Identifier: Apache-2.0 */
/* libautotune as its users see it: only autotune.h and the shared object. Without a GPU, calls that
 * need one must fail with the right error. */
#include "lib/autotune.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "answer_info.h"
#include "source_tree.h"

static char shipped[4096];

static int set_up(void **state)
{
    (void)state;
    use_source_tree();
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    unsetenv("AUTOTUNE_PROFILE_PATH");
    snprintf(shipped, sizeof shipped, "%s/results/nvidia-h200.yaml", source_tree());
    return 0;
}

static autotune_profile *open_profile(const char *path)
{
    autotune_profile *profile = NULL;
    autotune_error *error = NULL;

    if (autotune_profile_open(&profile, path, &error) != AUTOTUNE_OK)
        fail_msg("%s", autotune_error_message(error));
    assert_null(error);
    return profile;
}

static autotune_device *h200(void)
{
    autotune_device *device = NULL;

    assert_int_equal(autotune_device_described(&device, "h200", NULL), AUTOTUNE_OK);
    assert_string_equal(autotune_device_name(device), "NVIDIA H200");
    return device;
}

static const autotune_problem exact = {.elem_size = 4, .rows = 8192, .cols = 8192};

static void test_lookup(void **state)
{
    autotune_profile *profile = open_profile(NULL);
    autotune_device *device = h200();
    autotune_answer *answer = NULL;
    autotune_launch launch;
    autotune_info info;
    int src_bytes = 0;

    (void)state;
    assert_null(autotune_profile_skipped(profile, 0));
    assert_int_equal(autotune_lookup(&answer, profile, device, &exact, NULL, NULL), AUTOTUNE_OK);
    info = info_of(answer);
    assert_int_equal(info.tier, AUTOTUNE_TIER_EXACT);
    assert_true(info.distance == 0);
    assert_in_range(info.expected_permille, 900, 1100);
    assert_false(info.is_predicted);
    assert_string_equal(info.path, shipped);
    assert_string_equal(info.tuned_problem, "8192x8192:f32");
    assert_string_equal(info.family, "micro");
    for (size_t i = 0; i < autotune_answer_parameter_count(answer); i++)
        if (strcmp(autotune_answer_parameter_name(answer, i), "SRC_BYTES") == 0)
            src_bytes = autotune_answer_parameter_value(answer, i);
    assert_true(src_bytes > 0);
    assert_null(autotune_answer_parameter_name(answer, 1000));
    assert_int_equal(autotune_answer_launches(answer, NULL, 0), 1);
    assert_int_equal(autotune_answer_launches(answer, &launch, 1), 1);
    assert_null(launch.kernel);
    assert_true(launch.grid[0] > 1 && launch.block[0] > 1 && launch.grid[2] == 1);
    assert_int_equal(autotune_answer_check_device(answer, NULL), AUTOTUNE_OK);
    autotune_answer_free(answer);
    autotune_device_free(device);
    autotune_profile_free(profile);
}

static void test_in_place(void **state)
{
    static const struct {
        int64_t rows, cols, ld;
        const char *family;
        size_t launches;
    } cases[] = {{512, 512, 520, "inplace", 1},
                 {60, 36, 0, "resident", 1},
                 {3000, 4201, 0, "cycles", 4},
                 {1 << 24, 3, 0, "cycles", 3}};
    autotune_profile *profile = open_profile(NULL);
    autotune_device *device = h200();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const autotune_problem problem = {.elem_size = 4,
                                          .rows = cases[i].rows,
                                          .cols = cases[i].cols,
                                          .ld_src = cases[i].ld,
                                          .ld_dst = cases[i].ld,
                                          .in_place = 1};
        autotune_launch launches[4] = {{{0}, {0}, 0, 0, NULL, {0}}};
        autotune_answer *answer = NULL;

        assert_int_equal(autotune_lookup(&answer, profile, device, &problem, NULL, NULL),
                         AUTOTUNE_OK);
        assert_string_equal(info_of(answer).family, cases[i].family);
        assert_int_equal(autotune_answer_launches(answer, launches, 4), cases[i].launches);
        for (size_t k = 0; k < 4; k++)
            assert_int_equal(launches[k].grid[0] > 0, k < cases[i].launches);
        autotune_answer_free(answer);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

static void test_tensors_in_place(void **state)
{
    static const struct {
        int64_t extents[3], permutation[3], elem_size;
        const char *family;
        size_t launches;
    } cases[] = {{{200, 300, 500}, {1, 0, 2}, 4, "chains", 2},
                 {{3000, 4201, 3}, {1, 0, 2}, 4, "cycles-elements", 4},
                 {{3000, 40, 4201}, {2, 1, 0}, 4, "cycles-reversed", 8},
                 {{3000, 4201, 1}, {1, 0, 2}, 4, "cycles", 4},
                 {{3000, 4201, 1}, {1, 0, 2}, 12, "cycles-elements", 4}};
    autotune_profile *profile = open_profile(NULL);
    autotune_device *device = h200();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_tensor tensor = {.elem_size = cases[i].elem_size,
                                  .rank = 3,
                                  .struct_size = sizeof tensor,
                                  .in_place = 1};
        autotune_launch launches[8] = {{{0}, {0}, 0, 0, NULL, {0}}};
        autotune_answer *answer = NULL;

        memcpy(tensor.extents, cases[i].extents, sizeof cases[i].extents);
        memcpy(tensor.permutation, cases[i].permutation, sizeof cases[i].permutation);
        assert_int_equal(autotune_tensor_lookup(&answer, profile, device, &tensor, NULL, NULL),
                         AUTOTUNE_OK);
        assert_string_equal(info_of(answer).family, cases[i].family);
        assert_int_equal(autotune_answer_launches(answer, launches, 8), cases[i].launches);
        autotune_answer_free(answer);
        tensor.explicit_strides = 1;
        assert_int_equal(autotune_tensor_lookup(&answer, profile, device, &tensor, NULL, NULL),
                         AUTOTUNE_INVALID);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

/* A column, a batch of columns and a row of as many elements are one copy. */
static void test_copies(void **state)
{
    static const autotune_problem problems[] = {
        {.elem_size = 4, .rows = 1, .cols = 1440000},
        {.elem_size = 4, .rows = 1440000, .cols = 1},
        {.elem_size = 4, .rows = 480000, .cols = 1, .batch = 3},
        {.elem_size = 12, .rows = 480000, .cols = 1},
        {.elem_size = 4,
         .rows = 1,
         .cols = 480000,
         .ld_src = 500000,
         .stride_src = 480000,
         .batch = 3},
    };
    autotune_profile *profile = open_profile(NULL);
    autotune_device *device = h200();
    unsigned blocks = 0;

    (void)state;
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        autotune_answer *answer = NULL;
        autotune_launch launch;

        assert_int_equal(autotune_lookup(&answer, profile, device, &problems[i], NULL, NULL),
                         AUTOTUNE_OK);
        assert_int_equal(autotune_answer_launches(answer, &launch, 1), 1);
        assert_string_equal(info_of(answer).family, "copy");
        assert_true(i == 0 || launch.grid[0] == blocks);
        blocks = launch.grid[0];
        autotune_answer_free(answer);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

/* Problems with a step, as the command spells them. Where none was tuned, the answer is that of the
 * same move. */
static void test_steps(void **state)
{
    static const struct {
        autotune_problem problem;
        const char *spec, *from;
        bool exact;
    } cases[] = {
        {{.elem_size = 2, .rows = 8192, .cols = 8192, .step = "bf16:e4m3,scale"},
         "8192x8192:bf16:e4m3,scale on ",
         "8192x8192:f16:e5m2,scale",
         false},
        {{.elem_size = 4, .rows = 8192, .cols = 8192, .ld_dst = 8256, .step = "float32:bfloat16"},
         "8192x8192:f32:bf16,ld_dst=8256 on ",
         "8192x8192:f32:bf16,affine=rows",
         false},
        {{.elem_size = 2, .rows = 4160, .cols = 4096, .step = "bf16:e4m3,scale"},
         "4160x4096:bf16:e4m3,scale on ",
         "7232x2880:bf16:e4m3,scale", /* at 11; a plain move is at 32 at least */
         false},
        {{.elem_size = 8, .rows = 6000, .cols = 5000, .step = "c64,conj"},
         "6000x5000:c64,conj on ",
         "6000x5000:c64,conj",
         true},
        {{.elem_size = 4, .rows = 8192, .cols = 8192, .step = "f32"},
         "8192x8192:b4 on ",
         "8192x8192:f32",
         true},
    };
    autotune_profile *profile = open_profile(NULL);
    autotune_device *device = h200();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_problem problem = cases[i].problem;
        autotune_answer *answer = NULL;
        autotune_error *error = NULL;
        char text[4096];

        problem.struct_size = sizeof problem;
        if (autotune_lookup(&answer, profile, device, &problem, NULL, &error) != AUTOTUNE_OK)
            fail_msg("%s", autotune_error_message(error));
        autotune_answer_describe(answer, text, sizeof text);
        if (strncmp(text, cases[i].spec, strlen(cases[i].spec)) != 0)
            fail_msg("%s", text);
        assert_non_null(info_of(answer).tuned_problem);
        assert_string_equal(info_of(answer).tuned_problem, cases[i].from);
        assert_int_equal(info_of(answer).tier == AUTOTUNE_TIER_EXACT, cases[i].exact);
        autotune_answer_free(answer);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

static void test_bad_steps(void **state)
{
    static const struct {
        autotune_problem problem;
        const char *words;
    } cases[] = {
        {{.elem_size = 2, .rows = 8, .cols = 8, .step = "bf16:e4m4"}, "unknown type \"e4m4\""},
        {{.elem_size = 2, .rows = 8, .cols = 8, .step = "bf16:e4m3,sale"},
         "unknown operation \"sale\""},
        {{.elem_size = 2, .rows = 8, .cols = 8, .step = "bf16:e4m3,"}, "unknown operation \"\""},
        {{.elem_size = 2, .rows = 8, .cols = 8, .step = ""}, "unknown type \"\""},
        {{.elem_size = 4, .rows = 8, .cols = 8, .step = "bf16:e4m3"}, "takes elements of 2 bytes"},
        {{.elem_size = 8, .rows = 8, .cols = 8, .step = "f64,conj"}, "no imaginary part"},
        {{.elem_size = 2, .rows = 8, .cols = 8, .step = "bf16,scale", .in_place = 1}, "in place"},
    };
    autotune_profile *profile = open_profile(shipped);
    autotune_device *device = h200();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_problem problem = cases[i].problem;
        autotune_answer *answer = NULL;
        autotune_error *error = NULL;

        problem.struct_size = sizeof problem;
        assert_int_equal(autotune_lookup(&answer, profile, device, &problem, NULL, &error),
                         AUTOTUNE_INVALID);
        if (!strstr(autotune_error_message(error), cases[i].words))
            fail_msg("%s", autotune_error_message(error));
        autotune_error_free(error);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

/* Configs with vector accesses are not for views that begin anywhere. */
static void test_alignment(void **state)
{
    static const int64_t aligns[] = {0, 16, 4};
    autotune_profile *profile = open_profile(NULL);
    autotune_device *device = h200();

    (void)state;
    for (size_t i = 0; i < sizeof aligns / sizeof *aligns; i++) {
        autotune_problem problem = exact;
        autotune_answer *answer = NULL;

        problem.align_bytes = aligns[i];
        assert_int_equal(autotune_lookup(&answer, profile, device, &problem, NULL, NULL),
                         AUTOTUNE_OK);
        assert_int_equal(info_of(answer).tier == AUTOTUNE_TIER_EXACT, aligns[i] != 4);
        autotune_answer_free(answer);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

static void test_describe(void **state)
{
    static const autotune_problem padded = {
        .elem_size = 2, .rows = 100, .cols = 20000, .ld_src = 20480, .batch = 30};
    autotune_profile *profile = open_profile(shipped);
    autotune_device *device = h200();
    autotune_answer *answer = NULL;
    char text[4096], small[8];
    size_t length;

    (void)state;
    assert_int_equal(autotune_lookup(&answer, profile, device, &padded, "warm", NULL), AUTOTUNE_OK);
    assert_int_equal(info_of(answer).tier, AUTOTUNE_TIER_SHAPE);
    length = autotune_answer_describe(answer, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "100x20000:b2,ld_src=20480,batch=30 on NVIDIA H200, warm"));
    assert_non_null(strstr(text, "policy: warm here, cold there"));
    assert_int_equal(autotune_answer_describe(answer, small, sizeof small), length);
    assert_memory_equal(small, text, sizeof small - 1);
    assert_int_equal(strlen(small), sizeof small - 1);
    assert_int_equal(autotune_answer_describe(answer, NULL, 0), length);
    assert_true(autotune_answer_json(answer, text, sizeof text) < sizeof text);
    assert_non_null(strstr(text, "\"tier\": \"shape\""));
    autotune_answer_free(answer);
    autotune_device_free(device);
    autotune_profile_free(profile);
}

/* ---- errors ---- */

static void refuse_profile(const char *path, const char *words)
{
    autotune_profile *profile = NULL;
    autotune_error *error = NULL;

    assert_int_equal(autotune_profile_open(&profile, path, &error), AUTOTUNE_INVALID);
    assert_null(profile);
    assert_int_equal(autotune_error_status(error), AUTOTUNE_INVALID);
    if (!strstr(autotune_error_message(error), words))
        fail_msg("%s", autotune_error_message(error));
    autotune_error_free(error);
    assert_int_equal(autotune_profile_open(&profile, path, NULL), AUTOTUNE_INVALID);
}

static void test_bad_profiles(void **state)
{
    static const char *const cases[][2] = {
        {"truncated", "truncated.yaml:"},
        {"version", "schema is"},
        {"of-copy", "of_copy_permille"},
        {"empty", "empty.yaml"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[4096];

        snprintf(path, sizeof path, "tests/golden/refused/%s.yaml", cases[i][0]);
        refuse_profile(path, cases[i][1]);
    }
    refuse_profile("/nonexistent.yaml", "cannot open /nonexistent.yaml");
    setenv("AUTOTUNE_PROFILE_PATH", "/nonexistent.yaml", 1);
    refuse_profile(NULL, "AUTOTUNE_PROFILE_PATH");
    unsetenv("AUTOTUNE_PROFILE_PATH");
}

static void test_bad_problems(void **state)
{
    static const autotune_problem cases[] = {
        {.elem_size = 65, .rows = 8, .cols = 8},
        {.elem_size = 4, .rows = 0, .cols = 8},
        {.elem_size = 4, .rows = -1, .cols = 8},
        {.elem_size = 4, .rows = 8, .cols = 8, .ld_src = 7},
        {.elem_size = 4, .rows = 8, .cols = 8, .batch = 2, .stride_src = 1},
        {.elem_size = 4, .rows = INT64_MAX, .cols = INT64_MAX},
        {.elem_size = 4, .rows = 8, .cols = 9, .ld_src = 10, .in_place = 1},
        {.elem_size = 4, .rows = 8, .cols = 8, .in_place = 2},
        {.elem_size = 4, .rows = 8, .cols = 8, .align_bytes = 12},
        {.elem_size = 4, .rows = 8, .cols = 8, .align_bytes = -8},
    };
    autotune_profile *profile = open_profile(shipped);
    autotune_device *device = h200();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_answer *answer = NULL;
        autotune_error *error = NULL;

        assert_int_equal(autotune_lookup(&answer, profile, device, &cases[i], NULL, &error),
                         AUTOTUNE_INVALID);
        assert_null(answer);
        assert_true(strlen(autotune_error_message(error)) > 0);
        autotune_error_free(error);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

/* A program may be older or newer than the library: struct_size says how much it knows. */
static void test_struct_size(void **state)
{
    static const struct {
        size_t struct_size;
        int64_t beyond; /* the member after those of this library */
        bool taken;
        const char *step;
    } cases[] = {
        {0, 1, true, NULL},
        {0, 0, false, "read"},
        {sizeof(autotune_problem), 1, true, NULL},
        {sizeof(autotune_problem), 1, false, "read"},
        {sizeof(autotune_problem) + sizeof(int64_t), 0, true, NULL},
        {sizeof(autotune_problem) + sizeof(int64_t), 1, false, NULL},
        {sizeof(autotune_problem) - 1, 0, false, NULL},
        {offsetof(autotune_problem, explicit_strides), 0, false, NULL},
        {1, 0, false, NULL},
    };
    autotune_profile *profile = open_profile(shipped);
    autotune_device *device = h200();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct {
            autotune_problem problem;
            int64_t beyond;
        } newer = {exact, cases[i].beyond};
        autotune_error *error = NULL;
        autotune_answer *answer = NULL;
        autotune_status status;

        newer.problem.struct_size = cases[i].struct_size;
        newer.problem.step = cases[i].step;
        status = autotune_lookup(&answer, profile, device, &newer.problem, NULL, &error);
        assert_int_equal(status, cases[i].taken ? AUTOTUNE_OK : AUTOTUNE_INVALID);
        assert_true(cases[i].taken || cases[i].step ||
                    strstr(autotune_error_message(error), "autotune_problem"));
        autotune_error_free(error);
        autotune_answer_free(answer);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

static void test_version(void **state)
{
    char text[32];

    (void)state;
    snprintf(text, sizeof text, "%d.%d.%d", AUTOTUNE_VERSION_MAJOR, AUTOTUNE_VERSION_MINOR,
             AUTOTUNE_VERSION_PATCH);
    assert_string_equal(autotune_version(), text);
    assert_string_equal(PACKAGE_VERSION, text);
    assert_true(AUTOTUNE_VERSION >= AUTOTUNE_VERSION_NUMBER(0, 1, 0));
    assert_true(AUTOTUNE_VERSION < AUTOTUNE_VERSION_NUMBER(1, 0, 0));
}

/* A tensor is looked up by its canonical form: as text, the answer names it. */
static void test_tensors(void **state)
{
    static const struct {
        autotune_tensor tensor;
        const char *form; /* NULL: refused */
    } cases[] = {
        {{.elem_size = 4, .rank = 2, .extents = {8192, 8192}, .permutation = {1, 0}},
         "8192x8192:b4 on "},
        {{.elem_size = 2, .rank = 4, .extents = {8, 32, 2048, 128}, .permutation = {0, 2, 1, 3}},
         "8x32x2048x128:b2,perm=0213 on "},
        {{.elem_size = 2,
          .rank = 4,
          .extents = {8, 32, 2048, 128},
          .permutation = {0, 2, 1, 3},
          .align_bytes = 2},
         "8x32x2048x128:b2,perm=0213,offset_src=1,offset_dst=1 on "},
        {{.elem_size = 12, .rank = 2, .extents = {5, 7}, .permutation = {1, 0}},
         "5x7x3:b4,perm=102 on "},
        {{.elem_size = 4,
          .rank = 3,
          .extents = {4, 5, 6},
          .permutation = {1, 0, 2},
          .strides_src = {64, 8, 1}},
         "4x5x6:b4,perm=102,strides_src=64x8x1 on "},
        {{.elem_size = 4, .rank = 0}, NULL},
        {{.elem_size = 4, .rank = 25}, NULL},
        {{.elem_size = 65, .rank = 1, .extents = {5}}, NULL},
        {{.elem_size = 4, .rank = 2, .extents = {5, 7}, .permutation = {1, 1}}, NULL},
        {{.elem_size = 4, .rank = 2, .extents = {5, 0}, .permutation = {1, 0}}, NULL},
        {{.elem_size = 4,
          .rank = 2,
          .extents = {5, 7},
          .permutation = {1, 0},
          .strides_src = {6, 1}},
         NULL},
    };
    autotune_profile *profile = open_profile(shipped);
    autotune_device *device = h200();

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_answer *answer = NULL;
        autotune_error *error = NULL;
        char text[4096];

        assert_int_equal(
            autotune_tensor_lookup(&answer, profile, device, &cases[i].tensor, NULL, &error),
            cases[i].form ? AUTOTUNE_OK : AUTOTUNE_INVALID);
        if (cases[i].form) {
            assert_in_range(autotune_answer_describe(answer, text, sizeof text), 1, sizeof text);
            if (strncmp(text, cases[i].form, strlen(cases[i].form)) != 0)
                assert_string_equal(text, cases[i].form);
        }
        autotune_answer_free(answer);
        autotune_error_free(error);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

static void test_bad_device(void **state)
{
    autotune_device *device = NULL;
    autotune_error *error = NULL;

    (void)state;
    assert_int_equal(autotune_device_described(&device, "../h200", &error), AUTOTUNE_INVALID);
    assert_null(device);
    autotune_error_free(error);
}

static void test_nothing_to_free(void **state)
{
    (void)state;
    autotune_profile_free(NULL);
    autotune_device_free(NULL);
    autotune_answer_free(NULL);
    autotune_plan_free(NULL);
    autotune_error_free(NULL);
    assert_int_equal(autotune_error_status(NULL), AUTOTUNE_OK);
    assert_true(strlen(autotune_version()) > 0);
}

/* This process has no current context, with or without a GPU. Twice: missing libraries are searched
 * again. */
static void test_no_context(void **state)
{
    autotune_profile *profile = open_profile(shipped);

    (void)state;
    for (int i = 0; i < 2; i++) {
        autotune_plan *plan = NULL;
        autotune_device *device = NULL;
        autotune_error *error = NULL;

        assert_int_equal(autotune_plan_create(&plan, profile, &exact, &error), AUTOTUNE_NO_DEVICE);
        assert_null(plan);
        assert_int_equal(autotune_error_status(error), AUTOTUNE_NO_DEVICE);
        assert_true(strlen(autotune_error_message(error)) > 0);
        autotune_error_free(error);
        assert_int_equal(autotune_device_current(&device, NULL), AUTOTUNE_NO_DEVICE);
        assert_null(device);
    }
    autotune_profile_free(profile);
}

/* ---- asking again ---- */

enum { ANSWER_CHARS = 1 << 14 };

static char *ask(const autotune_profile *profile, const char *device_name,
                 const autotune_problem *problem, const char *policy)
{
    autotune_device *device = NULL;
    autotune_answer *answer = NULL;
    char *text = malloc(ANSWER_CHARS);

    assert_int_equal(autotune_device_described(&device, device_name, NULL), AUTOTUNE_OK);
    assert_int_equal(autotune_lookup(&answer, profile, device, problem, policy, NULL), AUTOTUNE_OK);
    assert_in_range(autotune_answer_json(answer, text, ANSWER_CHARS), 1, ANSWER_CHARS - 1);
    autotune_answer_free(answer);
    autotune_device_free(device);
    return text;
}

/* Whatever a profile was asked before, its answer is that of one that was asked nothing. */
static void test_again(void **state)
{
    static const struct {
        autotune_problem problem;
        const char *device, *policy;
    } cases[] = {
        {{.elem_size = 4, .rows = 6000, .cols = 6001}, "h200", "cold"},
        {{.elem_size = 4, .rows = 6000, .cols = 6001}, "h200", "warm"},
        {{.elem_size = 4, .rows = 6000, .cols = 6001}, "a100", "cold"},
        {{.elem_size = 2, .rows = 6000, .cols = 6001}, "h200", "cold"},
        {{.elem_size = 4, .rows = 6001, .cols = 6000}, "h200", "cold"},
        {{.elem_size = 4, .rows = 6000, .cols = 6001, .ld_src = 6016}, "h200", "cold"},
        {{.elem_size = 4, .rows = 6000, .cols = 6001, .ld_dst = 6016}, "h200", "cold"},
        {{.elem_size = 4, .rows = 6000, .cols = 6001, .batch = 2}, "h200", "cold"},
        {{.elem_size = 4, .rows = 6000, .cols = 6001, .batch = 2, .stride_src = 36006016},
         "h200",
         "cold"},
        {{.elem_size = 4, .rows = 6000, .cols = 6000}, "h200", "cold"},
        {{.elem_size = 4, .rows = 6000, .cols = 6000, .in_place = 1}, "h200", "cold"},
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    autotune_profile *profile = open_profile(shipped);
    char *first[COUNT];

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        autotune_profile *fresh = open_profile(shipped);

        first[i] = ask(fresh, cases[i].device, &cases[i].problem, cases[i].policy);
        autotune_profile_free(fresh);
    }
    for (size_t i = 0; i < 2 * (size_t)COUNT; i++) {
        size_t number = i % COUNT;
        char *text =
            ask(profile, cases[number].device, &cases[number].problem, cases[number].policy);

        assert_string_equal(text, first[number]);
        free(text);
    }
    for (size_t i = 0; i < COUNT; i++)
        free(first[i]);
    autotune_profile_free(profile);
}

/* ---- threads ---- */

struct shared {
    const autotune_profile *profile;
    const autotune_device *device;
};

enum { THREADS = 4, LOOKUPS = 1500 }; /* more than a profile remembers */

/* Return how many answers were right. */
static void *look_up(void *data)
{
    const struct shared *shared = data;
    uintptr_t right = 0;

    for (int i = 0; i < LOOKUPS; i++) {
        const autotune_problem problem = {.elem_size = 4, .rows = 8192 - i, .cols = 8192};
        autotune_answer *answer;
        int64_t tier;

        if (autotune_lookup(&answer, shared->profile, shared->device, &problem, NULL, NULL) !=
            AUTOTUNE_OK)
            continue;
        tier = info_of(answer).tier;
        /* The default may be predicted to be as fast as any entry's config. */
        right += i == 0 ? tier == AUTOTUNE_TIER_EXACT
                        : tier == AUTOTUNE_TIER_SHAPE || tier == AUTOTUNE_TIER_DEFAULT;
        autotune_answer_free(answer);
    }
    return (void *)right;
}

static void test_threads(void **state)
{
    autotune_profile *profile = open_profile(shipped);
    autotune_device *device = h200();
    struct shared shared = {profile, device};
    pthread_t threads[THREADS];

    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_up, &shared), 0);
    for (int i = 0; i < THREADS; i++) {
        void *right;

        pthread_join(threads[i], &right);
        assert_int_equal((uintptr_t)right, LOOKUPS);
    }
    autotune_device_free(device);
    autotune_profile_free(profile);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lookup),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_tensors_in_place),
        cmocka_unit_test(test_copies),
        cmocka_unit_test(test_steps),
        cmocka_unit_test(test_bad_steps),
        cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_bad_profiles),
        cmocka_unit_test(test_bad_problems),
        cmocka_unit_test(test_struct_size),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_bad_device),
        cmocka_unit_test(test_nothing_to_free),
        cmocka_unit_test(test_no_context),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_threads),
    };

    return cmocka_run_group_tests(tests, set_up, NULL);
}
