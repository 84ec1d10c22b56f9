/* SPDX-License-Identifier: Apache-2.0 */
/* Plans for many matrices: what they take, what they refuse, and what their kernels get. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static autotune_profile *profile;

/* A kernel's third argument is what groups need, and the fourth what a step needs. */
enum { GROUPS_ARGUMENT = 2, NUMBERS_ARGUMENT = 3, CHANNEL_STRIDE_WORD = 16 };

/* What the driver has allocated, or a test has invented: fake_cuda.c takes low addresses for it. */
static void *const on_device = (void *)65536;

static autotune_matrix matrix(int64_t rows, int64_t cols, uintptr_t dst, uintptr_t src)
{
    return (autotune_matrix){.dst = (void *)dst,
                             .src = (void *)src,
                             .rows = rows,
                             .cols = cols,
                             .ld_src = cols,
                             .ld_dst = rows,
                             .batch = {1, 1}};
}

static autotune_groups list_groups(const autotune_matrix *list, int64_t count)
{
    return (autotune_groups){
        .struct_size = sizeof(autotune_groups), .elem_size = 2, .count = count, .list = list};
}

static autotune_groups row_groups(void)
{
    return (autotune_groups){.struct_size = sizeof(autotune_groups),
                             .elem_size = 2,
                             .count = 8,
                             .rows = 4096,
                             .cols = 512,
                             .padding = 16,
                             .most_rows = 4224};
}

static autotune_plan *plan_for(const autotune_groups *groups)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;

    if (autotune_groups_plan_create(&plan, profile, groups, &error) == AUTOTUNE_OK)
        return plan;
    if (strstr(autotune_error_message(error), "NVRTC")) {
        fprintf(stderr, "skipped: %s\n", autotune_error_message(error));
        autotune_error_free(error);
        skip();
    }
    fail_msg("%s", autotune_error_message(error));
    return NULL;
}

/* Executes, and returns whether a kernel was launched. The message has the words. */
static bool executes(const autotune_plan *plan, const autotune_execution *execution,
                     const char *words)
{
    autotune_error *error = NULL;
    int before = fake_cuda_launches;
    autotune_status status = autotune_plan_execute_with(plan, execution, &error);

    if (!words && error)
        fail_msg("%s", autotune_error_message(error));
    assert_int_equal(status, words ? AUTOTUNE_INVALID : AUTOTUNE_OK);
    if (words && !strstr(autotune_error_message(error), words))
        fail_msg("\"%s\" is not in: %s", words, autotune_error_message(error));
    autotune_error_free(error);
    return fake_cuda_launches != before;
}

/* ---- what plans are made for ---- */

static void refuse(const autotune_groups *groups, const char *words)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;

    assert_int_equal(autotune_groups_plan_create(&plan, profile, groups, &error), AUTOTUNE_INVALID);
    assert_null(plan);
    if (!strstr(autotune_error_message(error), words))
        fail_msg("\"%s\" is not in: %s", words, autotune_error_message(error));
    autotune_error_free(error);
}

static void test_nonsense(void **state)
{
    static const struct {
        size_t member;
        int64_t value;
        const char *words;
    } of_rows[] = {
        {offsetof(autotune_groups, struct_size), 0, "struct_size of autotune_groups is 0"},
        {offsetof(autotune_groups, elem_size), 3, "elements of a group have 1, 2, 4, 8 or 16"},
        {offsetof(autotune_groups, align_bytes), 3, "align_bytes is 3"},
        {offsetof(autotune_groups, count), 0, "count of autotune_groups has to be from 1"},
        {offsetof(autotune_groups, rows), 0, "rows and cols of groups have to be from 1"},
        {offsetof(autotune_groups, cols), INT64_C(1) << 31, "rows and cols of groups"},
        {offsetof(autotune_groups, ld_src), 511, "ld_src is 0 or at least cols"},
        {offsetof(autotune_groups, padding), -1, "padding at most 4096"},
        {offsetof(autotune_groups, most_rows), 0, "most_rows at least 1"},
        {offsetof(autotune_groups, stacked), 2, "stacked 0 or 1"},
        {offsetof(autotune_groups, offset_bytes), 2, "offset_bytes is 2"},
    };
    static const struct {
        size_t member;
        int64_t value;
        const char *words;
    } of_matrix[] = {
        {offsetof(autotune_matrix, rows), -1, "matrix 1 of the list: rows, cols and batch have"},
        {offsetof(autotune_matrix, cols), INT64_C(1) << 31, "matrix 1 of the list: rows, cols and"},
        {offsetof(autotune_matrix, ld_src), 6, "matrix 1 of the list: a leading dimension"},
        {offsetof(autotune_matrix, ld_dst), 4, "matrix 1 of the list: a leading dimension"},
        {offsetof(autotune_matrix, src), 4097, "no multiple of the element, 2 bytes"},
        {offsetof(autotune_matrix, dst2), 4096, "dst2 is given, and the step has no second"},
        {offsetof(autotune_matrix, src2), 4096, "src2 is given, and the step has no beta"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof of_rows / sizeof *of_rows; i++) {
        autotune_groups groups = row_groups();

        memcpy((char *)&groups + of_rows[i].member, &of_rows[i].value, sizeof(int64_t));
        refuse(&groups, of_rows[i].words);
    }
    for (size_t i = 0; i < sizeof of_matrix / sizeof *of_matrix; i++) {
        autotune_matrix list[] = {matrix(5, 7, 0, 0), matrix(5, 7, 0, 0)};
        const autotune_groups groups = list_groups(list, 2);

        memcpy((char *)&list[1] + of_matrix[i].member, &of_matrix[i].value, sizeof(int64_t));
        refuse(&groups, of_matrix[i].words);
    }
}

static void test_no_step(void **state)
{
    static const char *const steps[] = {"bf16,amax", "bf16,sums", "bf16:e4m3,blocks=1x128"};
    autotune_groups groups = row_groups();

    (void)state;
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        groups.step = steps[i];
        refuse(&groups, "groups have no amax, sums or blocks");
    }
    groups = row_groups();
    groups.count = 1;
    groups.list = &(autotune_matrix){.rows = 1};
    refuse(&groups, "a list is given, so all members for groups of rows have to be 0");
}

/* An answer names the problem as text that people read. */
static void test_lookup(void **state)
{
    const autotune_matrix list[] = {matrix(24, 40, 0, 0), matrix(0, 9, 0, 0), matrix(80, 8, 0, 0)};
    const autotune_groups groups = list_groups(list, 3);
    autotune_device *device = NULL;
    autotune_answer *answer = NULL;
    char text[8192];

    (void)state;
    assert_int_equal(autotune_device_described(&device, "h200", NULL), AUTOTUNE_OK);
    assert_int_equal(autotune_groups_lookup(&answer, profile, device, &groups, NULL, NULL),
                     AUTOTUNE_OK);
    autotune_answer_describe(answer, text, sizeof text);
    if (!strstr(text, "group=3,rows=0..80,cols=8..40,multiple=8:b2"))
        fail_msg("%s", text);
    autotune_answer_free(answer);
    autotune_device_free(device);
}

/* ---- lists ---- */

/* The list that the kernel got lies in memory that the plan has, or the caller. */
static void test_list_of_host(void **state)
{
    const autotune_matrix list[] = {matrix(24, 40, 4096, 8192), matrix(16, 8, 16384, 12288)};
    const autotune_groups groups = list_groups(list, 2);
    autotune_plan *plan = plan_for(&groups);
    autotune_execution execution = autotune_execution_init();
    autotune_matrix copied[2] = {{0}};

    (void)state;
    fake_cuda_last_at = GROUPS_ARGUMENT;
    execution.list = list;
    execution.list_count = 2;
    assert_true(executes(plan, &execution, NULL));
    assert_memory_equal((void *)(uintptr_t)fake_cuda_last[0], list, sizeof list);
    assert_int_equal(fake_cuda_last[1], 2);
    execution.scratch = copied;
    execution.scratch_bytes = sizeof copied;
    execution.skip = on_device;
    assert_true(executes(plan, &execution, NULL));
    assert_ptr_equal((void *)(uintptr_t)fake_cuda_last[0], copied);
    assert_memory_equal(copied, list, sizeof list);
    assert_int_equal(fake_cuda_last[2], (uintptr_t)on_device);
    execution.list_count = 0;
    assert_false(executes(plan, &execution, NULL));
    fake_cuda_last_at = 0;
    autotune_plan_free(plan);
}

/* A list on the device is not touched. */
static void test_list_of_device(void **state)
{
    const autotune_matrix list[] = {matrix(24, 40, 4096, 8192)};
    const autotune_groups groups = list_groups(list, 1);
    autotune_plan *plan = plan_for(&groups);
    autotune_execution execution = autotune_execution_init();

    (void)state;
    fake_cuda_last_at = GROUPS_ARGUMENT;
    execution.list = on_device;
    execution.list_count = 1000000;
    assert_true(executes(plan, &execution, NULL));
    assert_int_equal(fake_cuda_last[0], (uintptr_t)on_device);
    assert_int_equal(fake_cuda_last[1], 1000000);
    fake_cuda_last_at = 0;
    autotune_plan_free(plan);
}

static const char *kernel_of_last_launch(void)
{
    static int launches[FAKE_CUDA_KERNELS_MAX];
    const char *entry = NULL;

    for (int i = 0; i < fake_cuda_kernel_count; i++) {
        if (fake_cuda_kernels[i].launches != launches[i])
            entry = fake_cuda_kernels[i].entry;
        launches[i] = fake_cuda_kernels[i].launches;
    }
    return entry;
}

/* A list that is less aligned than the plan's gets another kernel. */
static void test_alignment(void **state)
{
    static const struct {
        uintptr_t dst, src;
        int64_t rows, cols, ld_src, batch, stride_src;
        bool is_tuned;
    } cases[] = {
        {4096, 8192, 8, 16, 16, 1, 0, true},  {4096, 8192, 8, 15, 24, 1, 0, true},
        {4096, 8192, 8, 15, 15, 1, 0, false}, {4098, 8192, 8, 16, 16, 1, 0, false},
        {4096, 8196, 8, 16, 16, 1, 0, false}, {4096, 8192, 8, 16, 16, 2, 130, false},
        {4098, 8193, 0, 16, 16, 1, 0, true}, /* it is empty */
    };
    const autotune_matrix list[] = {matrix(24, 40, 0, 0), matrix(80, 8, 0, 0)};
    const autotune_groups groups = list_groups(list, 2);
    autotune_plan *plan = plan_for(&groups);
    autotune_launch launches[1];

    (void)state;
    assert_int_equal(autotune_plan_launches(plan, NULL, NULL, launches, 1), 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_execution execution = autotune_execution_init();
        autotune_matrix other = matrix(cases[i].rows, cases[i].cols, cases[i].dst, cases[i].src);

        other.ld_src = cases[i].ld_src;
        other.ld_dst = 8;
        other.batch[0] = cases[i].batch;
        other.stride_src[0] = cases[i].stride_src;
        other.stride_dst[0] = cases[i].batch > 1 ? 128 : 0;
        execution.list = &other;
        execution.list_count = 1;
        kernel_of_last_launch();
        assert_true(executes(plan, &execution, NULL));
        if ((strcmp(kernel_of_last_launch(), launches[0].kernel) == 0) != cases[i].is_tuned)
            fail_msg("case %zu", i);
    }
    autotune_plan_free(plan);
}

static void test_list_refused(void **state)
{
    const autotune_matrix list[] = {matrix(24, 40, 4096, 8192), matrix(16, -1, 16384, 12288)};
    const autotune_groups groups = list_groups(list, 1);
    autotune_plan *plan = plan_for(&groups);
    autotune_execution execution = autotune_execution_init();
    autotune_error *error = NULL;

    (void)state;
    execution.list = list;
    execution.list_count = -1;
    assert_false(executes(plan, &execution, "list has to be the address of list_count matrices"));
    execution.list_count = 2;
    assert_false(executes(plan, &execution, "matrix 1 of the list"));
    execution.list = (const autotune_matrix[]){list[0], list[0]};
    assert_false(executes(plan, &execution, "scratch is too small for it: it takes 224 bytes"));
    execution.list_count = 1;
    execution.dst = on_device;
    assert_false(executes(plan, &execution, "the member dst of the execution"));
    execution.dst = NULL;
    execution.offsets = on_device;
    assert_false(executes(plan, &execution, "the member offsets of the execution"));
    assert_int_equal(autotune_plan_execute(plan, on_device, on_device, NULL, &error),
                     AUTOTUNE_INVALID);
    assert_non_null(strstr(autotune_error_message(error), "the problem takes list, list_count"));
    autotune_error_free(error);
    autotune_plan_free(plan);
}

/* ---- groups of rows ---- */

static void test_rows(void **state)
{
    autotune_groups groups = row_groups();
    autotune_execution execution = autotune_execution_init();
    autotune_plan *plan;

    (void)state;
    groups.step = "bf16:e4m3,scale,both";
    groups.offset_bytes = 4;
    groups.stacked = 1;
    plan = plan_for(&groups);
    execution.dst = (void *)4096;
    execution.src = (void *)8192;
    execution.dst2 = (void *)12288;
    execution.offsets = (void *)1028;
    execution.offset_count = 9;
    execution.overflow = (int *)1024;
    execution.skip = (void *)2048;
    execution.scale.at = (void *)512;
    fake_cuda_last_at = GROUPS_ARGUMENT;
    assert_true(executes(plan, &execution, NULL));
    assert_int_equal(fake_cuda_launched[0], 4096);
    assert_int_equal(fake_cuda_launched[1], 8192);
    assert_memory_equal(
        fake_cuda_last,
        ((const uint64_t[]){12288, 0, 1028, 4, 8, 512, 512, 16, 4224, 1, 1024, 2048}),
        12 * sizeof(uint64_t));
    execution.most_rows = 99; /* less place than the plan was made for */
    assert_true(executes(plan, &execution, NULL));
    assert_int_equal(fake_cuda_last[8], 99);
    execution.most_rows = -1;
    assert_false(executes(plan, &execution, "most_rows is -1, and has to be at least 0"));
    execution.most_rows = 0;
    fake_cuda_last_at = NUMBERS_ARGUMENT;
    assert_true(executes(plan, &execution, NULL));
    assert_int_equal(fake_cuda_last[0], 512);
    fake_cuda_last_at = 0;
    execution.offsets = (void *)1026;
    assert_false(executes(plan, &execution, "offsets must be a device address that is a multiple"));
    execution.offsets = NULL;
    assert_false(executes(plan, &execution, "offsets has to be the device address of"));
    execution.offsets = (void *)1028;
    execution.dst2 = NULL;
    assert_false(executes(plan, &execution, "dst2 must be a device address"));
    execution.dst2 = (void *)12288;
    execution.list = on_device;
    assert_false(executes(plan, &execution, "the member list of the execution"));
    autotune_plan_free(plan);
}

/* Each matrix of a list has a second source, and groups of rows have one. */
static void test_second_source(void **state)
{
    autotune_matrix list[] = {matrix(24, 40, 4096, 8192), matrix(16, 8, 16384, 12288)};
    autotune_groups groups = list_groups(list, 2), of_rows = row_groups();
    autotune_execution execution = autotune_execution_init();
    autotune_matrix copied[2] = {{0}};
    autotune_plan *plan;

    (void)state;
    groups.step = of_rows.step = "bf16,alpha,beta";
    list[0].src2 = (void *)20480;
    list[1].src2 = (void *)16384;
    plan = plan_for(&groups);
    execution.list = list;
    execution.list_count = 2;
    execution.scratch = copied;
    execution.scratch_bytes = sizeof copied;
    execution.alpha.value[0] = 1;
    execution.beta.value[0] = 2;
    fake_cuda_last_at = GROUPS_ARGUMENT;
    assert_true(executes(plan, &execution, NULL));
    assert_ptr_equal(copied[0].src2, list[0].src2);
    assert_ptr_equal(copied[1].src2, list[1].src2);
    execution.src2 = (void *)16384;
    assert_false(executes(plan, &execution, "the member src2 of the execution"));
    autotune_plan_free(plan);

    plan = plan_for(&of_rows);
    execution.list = execution.scratch = NULL;
    execution.list_count = execution.scratch_bytes = 0;
    execution.dst = (void *)4096;
    execution.src = (void *)8192;
    execution.offsets = (void *)1024;
    execution.offset_count = 9;
    assert_true(executes(plan, &execution, NULL));
    assert_int_equal(fake_cuda_last[1], 16384);
    fake_cuda_last_at = 0;
    execution.src2 = NULL;
    assert_false(executes(plan, &execution, "src2 must be a device address"));
    autotune_plan_free(plan);
}

/* The numbers of channels, and how far those of a matrix are from those of the next. */
static void test_channels(void **state)
{
    static const struct {
        bool is_list;
        const char *step;
        uintptr_t scale, shift;
        int64_t stride;
        const char *words; /* of the refusal */
    } cases[] = {
        {true, "bf16:f32,affine", 1024, 2052, 40, NULL},
        {true, "bf16:f32,affine=rows", 1024, 0, 3, NULL},
        {true, "bf16:f32,affine", 0, 1024, 0, NULL},
        {false, "bf16:f32,affine", 1024, 2048, 512, NULL},
        {false, "bf16:f32,affine", 1024, 0, 0, NULL},
        {false, "bf16:f32,affine=rows", 1024, 0, 0, NULL},
        {false, "bf16:f32,affine=rows", 1024, 0, 512, "channel_stride is 512, and has to be"},
        {false, "bf16:f32,affine", 1024, 0, -1, "channel_stride is -1, and has to be at least 0"},
        {false, "bf16:f32,affine", 0, 0, 8, "channel_scale or channel_shift must be"},
        {true, "bf16:f32,affine", 1026, 0, 8, "multiples of 4"},
        {true, "bf16:f32,alpha", 0, 0, 8, "the member channel_stride of the execution"},
    };
    const autotune_matrix list[] = {matrix(24, 40, 4096, 8192), matrix(16, 8, 16384, 12288)};

    (void)state;
    fake_cuda_last_at = NUMBERS_ARGUMENT;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_groups groups = cases[i].is_list ? list_groups(list, 2) : row_groups();
        autotune_execution execution = autotune_execution_init();
        autotune_matrix copied[2];
        autotune_plan *plan;

        groups.step = cases[i].step;
        plan = plan_for(&groups);
        if (cases[i].is_list) {
            execution.list = list;
            execution.list_count = 2;
            execution.scratch = copied;
            execution.scratch_bytes = sizeof copied;
        } else {
            execution.dst = (void *)4096;
            execution.src = (void *)8192;
            execution.offsets = (void *)1024;
            execution.offset_count = 9;
        }
        execution.channel_scale = (void *)cases[i].scale;
        execution.channel_shift = (void *)cases[i].shift;
        execution.channel_stride = cases[i].stride;
        assert_int_equal(executes(plan, &execution, cases[i].words), !cases[i].words);
        if (!cases[i].words) {
            assert_int_equal(fake_cuda_last[7], cases[i].scale);
            assert_int_equal(fake_cuda_last[8], cases[i].shift);
            assert_int_equal(fake_cuda_last[CHANNEL_STRIDE_WORD], cases[i].stride);
        }
        autotune_plan_free(plan);
    }
    fake_cuda_last_at = 0;
}

static int set_up(void **state)
{
    measure_set_up();
    profile = *state = measure_open(NULL);
    return 0;
}

static int tear_down(void **state)
{
    autotune_clear();
    return fake_cuda_modules != 0 || fake_cuda_held != 0 || measure_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nonsense),       cmocka_unit_test(test_no_step),
        cmocka_unit_test(test_lookup),         cmocka_unit_test(test_list_of_host),
        cmocka_unit_test(test_list_of_device), cmocka_unit_test(test_alignment),
        cmocka_unit_test(test_list_refused),   cmocka_unit_test(test_rows),
        cmocka_unit_test(test_second_source),  cmocka_unit_test(test_channels),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
