/* SPDX-License-Identifier: Apache-2.0 */
/* What plans are executed with, in which context and thread, and which launches they have. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static autotune_profile *profile;
static autotune_plan *plan;

static void *const source = (void *)0x10000000000, *const destination = (void *)4096;

/* Executes, and returns whether the plan's kernel was launched. The message has the words. */
static bool executes(const autotune_execution *execution, const char *words)
{
    autotune_error *error = NULL;
    int before = fake_cuda_launches;
    autotune_status status = autotune_plan_execute_with(plan, execution, &error);

    assert_int_equal(status, words ? AUTOTUNE_INVALID : AUTOTUNE_OK);
    if (words && !strstr(autotune_error_message(error), words))
        fail_msg("\"%s\" is not in: %s", words, autotune_error_message(error));
    autotune_error_free(error);
    return fake_cuda_launches != before;
}

static autotune_execution usual(void)
{
    autotune_execution execution = autotune_execution_init();

    execution.dst = destination;
    execution.src = source;
    return execution;
}

static void test_addresses(void **state)
{
    static const struct {
        uintptr_t dst, src;
        const char *words; /* of the refusal */
    } cases[] = {
        {4096, 0x10000000000, NULL},
        {4100, 0x10000000004, NULL},
        {0, 0x10000000000, "destination must be a device address"},
        {4096, 0, "source must be a device address"},
        {4098, 0x10000000000, "destination must be a device address that is a multiple"},
        {4096, 0xffffffffff, "source must be a device address that is a multiple"},
        {4096, 4096, "source and destination are one"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_execution execution = usual();

        execution.dst = (void *)cases[i].dst;
        execution.src = (void *)cases[i].src;
        assert_int_equal(executes(&execution, cases[i].words), cases[i].words == NULL);
        if (!cases[i].words) {
            assert_int_equal(fake_cuda_launched[0], cases[i].dst);
            assert_int_equal(fake_cuda_launched[1], cases[i].src);
        }
    }
}

/* Each member that a plan does not take must be 0. */
static void test_unused(void **state)
{
    static const struct {
        size_t offset;
        const char *name;
    } members[] = {
#define MEMBER(name, part) {offsetof(autotune_execution, name) + (part), "member " #name " "}
        MEMBER(scale, 0),         MEMBER(scale, 8),         MEMBER(scale, 16),
        MEMBER(alpha, 0),         MEMBER(beta, 8),          MEMBER(src2, 0),
        MEMBER(channel_scale, 0), MEMBER(channel_shift, 0), MEMBER(dst2, 0),
        MEMBER(largest, 0),       MEMBER(block_scales, 0),  MEMBER(block_scales2, 0),
        MEMBER(skip, 0),          MEMBER(list, 0),          MEMBER(list_count, 0),
        MEMBER(offsets, 0),       MEMBER(offset_count, 0),  MEMBER(scratch, 0),
        MEMBER(scratch_bytes, 0), MEMBER(sums, 0),
#undef MEMBER
    };

    (void)state;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        autotune_execution execution = usual();

        ((unsigned char *)&execution)[members[i].offset + 7] = 1;
        assert_false(executes(&execution, members[i].name));
    }
}

static void test_struct_size(void **state)
{
    struct {
        autotune_execution known;
        int64_t newer;
    } larger = {usual(), 0};

    (void)state;
    larger.known.struct_size = 0;
    assert_false(executes(&larger.known, "struct_size of autotune_execution is 0"));
    larger.known.struct_size = 224; /* less than the first version had */
    assert_false(executes(&larger.known, "has to be its sizeof"));
    larger.known.struct_size = sizeof larger;
    assert_true(executes(&larger.known, NULL));
    larger.newer = 1;
    assert_false(executes(&larger.known, "compiled for a newer version"));
}

/* A plan tells the same as the answer from which it was made, and outlives the profile. */
static void test_info(void **state)
{
    autotune_info told = autotune_info_init(), expected = autotune_info_init();
    autotune_profile *other = measure_open(NULL);
    autotune_plan *made = measure_plan(other, NULL);
    autotune_device *device = NULL;
    autotune_answer *answer = NULL;
    struct {
        autotune_info known;
        int64_t newer;
    } larger = {{.struct_size = sizeof larger}, 0};

    (void)state;
    assert_int_equal(autotune_device_current(&device, NULL), AUTOTUNE_OK);
    assert_int_equal(autotune_lookup(&answer, profile, device, &measure_problem, NULL, NULL),
                     AUTOTUNE_OK);
    assert_int_equal(autotune_answer_info(answer, &expected, NULL), AUTOTUNE_OK);
    autotune_profile_free(other);
    assert_int_equal(autotune_plan_info(made, &told, NULL), AUTOTUNE_OK);
    assert_int_equal(told.tier, expected.tier);
    assert_int_equal(told.expected_permille, expected.expected_permille);
    assert_true(told.distance == expected.distance);
    assert_int_equal(told.bytes,
                     2 * measure_problem.elem_size * measure_problem.rows * measure_problem.cols);
    assert_true(told.tuned_ns > 0 && told.tuned_ns == expected.tuned_ns);
    assert_string_equal(told.family, expected.family);
    assert_string_equal(told.tuned_problem, expected.tuned_problem);
    assert_string_equal(told.config, expected.config);
    assert_non_null(strchr(told.config, '='));
    assert_int_equal(autotune_plan_info(made, &larger.known, NULL), AUTOTUNE_OK);
    assert_int_equal(larger.known.struct_size, sizeof larger);
    larger.known.struct_size = 0;
    assert_int_equal(autotune_plan_info(made, &larger.known, NULL), AUTOTUNE_INVALID);
    autotune_answer_free(answer);
    autotune_device_free(device);
    autotune_plan_free(made);
}

/* The launch that is told is the one that is made. */
static void test_launches(void **state)
{
    static const uintptr_t addresses[] = {4096, 4100};
    autotune_launch launches[2][2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        void *dst = (void *)addresses[i];
        struct fake_cuda_kernel *kernel = fake_cuda_kernels;
        int before;

        assert_int_equal(autotune_plan_launches(plan, dst, source, launches[i], 2), 1);
        while (strcmp(kernel->entry, launches[i][0].kernel) != 0)
            assert_true(++kernel < fake_cuda_kernels + fake_cuda_kernel_count);
        before = kernel->launches;
        assert_int_equal(autotune_plan_execute(plan, dst, source, NULL, NULL), AUTOTUNE_OK);
        assert_int_equal(kernel->launches, before + 1);
        assert_true(launches[i][0].grid[0] > 0 && launches[i][0].block[0] > 0);
    }
    assert_string_not_equal(launches[0][0].kernel, launches[1][0].kernel);
    assert_int_equal(autotune_plan_launches(plan, NULL, NULL, launches[1], 1), 1);
    assert_memory_equal(&launches[0][0], &launches[1][0], sizeof **launches);
}

/* In place, one execution is several launches, which share the plan's scratch or the caller's. */
static void test_several_launches(void **state)
{
    const autotune_problem problem = {.elem_size = 4, .rows = 1 << 20, .cols = 3, .in_place = 1};
    autotune_plan *usual_plan = plan;
    autotune_execution execution = usual();
    int before = fake_cuda_launches;

    (void)state;
    execution.src = execution.dst;
    assert_int_equal(autotune_plan_create(&plan, profile, &problem, NULL), AUTOTUNE_OK);
    assert_true(executes(&execution, NULL));
    execution.scratch = (void *)65536;
    execution.scratch_bytes = autotune_plan_scratch_bytes(plan);
    assert_true(executes(&execution, NULL));
    assert_int_equal(fake_cuda_launches, before + 2 * 3);
    execution.scratch_bytes--;
    assert_false(executes(&execution, "and the plan needs 557184"));
    autotune_plan_free(plan);
    plan = usual_plan;
}

/* A tensor in place: the launches differ in the last argument, which comes after its axes. */
static void test_tensor_in_place(void **state)
{
    const autotune_tensor tensor = {.elem_size = 4,
                                    .rank = 3,
                                    .extents = {200, 300, 500},
                                    .permutation = {1, 0, 2},
                                    .struct_size = sizeof tensor,
                                    .in_place = 1};
    autotune_plan *usual_plan = plan;
    autotune_execution execution = usual();
    int before = fake_cuda_launches;

    (void)state;
    assert_int_equal(autotune_tensor_plan_create(&plan, profile, &tensor, NULL), AUTOTUNE_OK);
    assert_true(autotune_plan_scratch_bytes(plan) > 200 * 300 / 24 * 500 * 4 - 2000);
    assert_false(executes(&execution, "the plan was made for a transpose in place"));
    execution.src = execution.dst;
    assert_true(executes(&execution, NULL));
    assert_int_equal(fake_cuda_launches, before + 2);
    autotune_plan_free(plan);
    plan = usual_plan;
}

/* ---- steps ---- */

enum { ROWS = 1000, COLS = 3000, ELEMENTS = ROWS * COLS, ELSEWHERE = 1 << 30 };

static autotune_plan *plan_with_step(const char *step, int64_t elem_size)
{
    const autotune_problem problem = {.elem_size = elem_size,
                                      .rows = ROWS,
                                      .cols = COLS,
                                      .struct_size = sizeof problem,
                                      .step = step};
    autotune_plan *made = NULL;
    autotune_error *error = NULL;

    if (autotune_plan_create(&made, profile, &problem, &error) != AUTOTUNE_OK)
        fail_msg("%s", autotune_error_message(error));
    return made;
}

static double double_of(uint64_t bits)
{
    double value;

    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The number comes after the nine arguments of every kernel, by value or by address. */
static void test_numbers(void **state)
{
    static const struct {
        const char *step;
        int64_t elem_size;
        autotune_scalar scale;
        const char *words; /* of the refusal */
    } cases[] = {
        {"bf16:e4m3,scale", 2, {NULL, {0.5, 0}}, NULL},
        {"bf16:e4m3,scale", 2, {(void *)1028, {0, 0}}, NULL},
        {"f64,divide", 8, {NULL, {0, 0}}, NULL},
        {"bf16:e4m3,scale",
         2,
         {(void *)1026, {0, 0}},
         "scale.at has to be a device address that is a multiple of 4"},
        {"f64,divide", 8, {(void *)1028, {0, 0}}, "a multiple of 8"},
        {"bf16:e4m3,scale", 2, {(void *)1028, {1, 0}}, "scale has an address and a value"},
        {"bf16:e4m3,scale", 2, {NULL, {1, 2}}, "scale has an imaginary part"},
        {"f32:bf16", 4, {NULL, {1, 0}}, "the member scale of the execution is given"},
        {"c64,conj", 8, {NULL, {0, 0}}, NULL},
    };
    autotune_plan *const usual_plan = plan;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool takes = strstr(cases[i].step, "scale") || strstr(cases[i].step, "divide");
        autotune_execution execution = usual();

        plan = plan_with_step(cases[i].step, cases[i].elem_size);
        execution.scale = cases[i].scale;
        fake_cuda_last_at = takes ? 9 : 0;
        assert_int_equal(executes(&execution, cases[i].words), !cases[i].words);
        if (takes && !cases[i].words) {
            assert_int_equal(fake_cuda_last[0], (uintptr_t)cases[i].scale.at);
            assert_true(double_of(fake_cuda_last[1]) == cases[i].scale.value[0]);
        }
        assert_int_equal(autotune_plan_execute(plan, destination, source, NULL, NULL),
                         takes ? AUTOTUNE_INVALID : AUTOTUNE_OK);
        autotune_plan_free(plan);
    }
    fake_cuda_last_at = 0;
    plan = usual_plan;
}

/* alpha and beta, each with its place and two parts, and the second source. */
static void test_second_source(void **state)
{
    static const char overlaps[] = "src2 overlaps dst: it has to be dst, or";
    static const struct {
        const char *step;
        int64_t elem_size;
        autotune_scalar scale, alpha, beta;
        uintptr_t src2;
        const char *words; /* of the refusal */
    } cases[] = {
        {"f32,alpha,beta", 4, .alpha.value = {2, 0}, .beta.value = {3, 0}, .src2 = ELSEWHERE},
        {"f32,alpha,beta", 4, .alpha.at = (void *)1024, .beta.at = (void *)1028, .src2 = 4096},
        {"f32,alpha,beta", 4, .alpha.value = {2, 0}},
        {"f32:bf16,beta", 4, .beta.value = {-1, 0}, .src2 = ELSEWHERE + 2},
        {"c64,conj,alpha,beta", 8, .alpha.value = {0, 1}, .beta.value = {0, -1}, .src2 = ELSEWHERE},
        {"c64,alpha", 8, .alpha.value = {0, 0}},
        {"f32,alpha,beta", 4, .beta.value = {3, 0}, .words = "src2 must be a device address"},
        {"f32,alpha,beta", 4, .beta.at = (void *)1024, .words = "src2 must be a device address"},
        {"f32,alpha,beta", 4, .src2 = ELSEWHERE + 2, .words = "a multiple of the element, 4 bytes"},
        {"f32,beta", 4, .beta.value = {1, 0}, .src2 = 4096 + 4 * ELEMENTS},
        {"f32,beta", 4, .beta.value = {1, 0}, .src2 = 4092 + 4 * ELEMENTS, .words = overlaps},
        {"f32,beta", 4, .beta.value = {1, 0}, .src2 = 4092, .words = overlaps},
        {"f32,beta", 4, .beta.at = (void *)1024, .src2 = 4100, .words = overlaps},
        {"f32,beta", 4, .src2 = 4100}, /* which is not read */
        {"f32,alpha,beta", 4, .alpha.value = {2, 1}, .words = "alpha has an imaginary part"},
        {"f32,alpha", 4, .src2 = ELSEWHERE, .words = "member src2 of the execution"},
        {"f32,alpha", 4, .beta.value = {1, 0}, .words = "member beta of the execution"},
        {"f32,alpha", 4, .scale.value = {1, 0}, .words = "member scale of the execution"},
    };
    autotune_plan *const usual_plan = plan;

    (void)state;
    fake_cuda_last_at = 9;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_execution execution = usual();

        plan = plan_with_step(cases[i].step, cases[i].elem_size);
        execution.scale = cases[i].scale;
        execution.alpha = cases[i].alpha;
        execution.beta = cases[i].beta;
        execution.src2 = (void *)cases[i].src2;
        assert_int_equal(executes(&execution, cases[i].words), !cases[i].words);
        if (!cases[i].words) {
            assert_memory_equal(&fake_cuda_last[0], &cases[i].alpha, sizeof cases[i].alpha);
            assert_memory_equal(&fake_cuda_last[3], &cases[i].beta, sizeof cases[i].beta);
            assert_int_equal(fake_cuda_last[6], cases[i].src2);
        }
        assert_int_equal(autotune_plan_execute(plan, destination, source, NULL, NULL),
                         AUTOTUNE_INVALID);
        autotune_plan_free(plan);
    }
    fake_cuda_last_at = 0;
    plan = usual_plan;
}

/* The numbers of channels come after those of all, by their address. Where channels are is another
 * argument, before them. */
static void test_channels(void **state)
{
    static const struct {
        const char *step;
        int64_t elem_size;
        uintptr_t scale, shift;
        const char *words; /* of the refusal */
    } cases[] = {
        {"u8:f32,affine", 1, 1024, 2052, NULL},
        {"u8:f32,affine=rows", 1, 1024, 0, NULL},
        {"f64,affine", 8, 0, 1032, NULL},
        {"f64,affine", 8, 0, 0, "channel_scale or channel_shift must be the device address"},
        {"f64,affine", 8, 1024, 1028, "multiples of 8"},
        {"u8:f32,affine", 1, 1022, 0, "multiples of 4"},
        {"u8:f32,scale", 1, 1024, 0, "member channel_scale of the execution"},
        {"u8:f32,scale", 1, 0, 1024, "member channel_shift of the execution"},
    };
    autotune_plan *const usual_plan = plan;

    (void)state;
    fake_cuda_last_at = 10;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_execution execution = usual();

        plan = plan_with_step(cases[i].step, cases[i].elem_size);
        execution.channel_scale = (void *)cases[i].scale;
        execution.channel_shift = (void *)cases[i].shift;
        assert_int_equal(executes(&execution, cases[i].words), !cases[i].words);
        if (!cases[i].words) {
            assert_int_equal(fake_cuda_last[7], cases[i].scale);
            assert_int_equal(fake_cuda_last[8], cases[i].shift);
        }
        assert_int_equal(autotune_plan_execute(plan, destination, source, NULL, NULL),
                         AUTOTUNE_INVALID);
        autotune_plan_free(plan);
    }
    fake_cuda_last_at = 0;
    plan = usual_plan;
}

/* The outputs beside dst come last. A plan has scratch of its own, for callers without. */
static void test_outputs(void **state)
{
    static const struct {
        const char *step;
        uintptr_t dst2, largest, skip, scratch;
        int64_t scratch_bytes;
        const char *words; /* of the refusal */
        uintptr_t sums;
    } cases[] = {
        {"bf16:e4m3,both", ELSEWHERE + 1, 0, 0, 0, 0, NULL, 0},
        {"bf16:e4m3,both,amax", ELSEWHERE, 1028, 1032, 1024, 8, NULL, 0},
        {"bf16,amax=nan", 0, 1028, 0, 0, 0, NULL, 0},
        {"bf16:e4m3,both", 0, 0, 0, 0, 0, "dst2 must be a device address that is a multiple of 1",
         0},
        {"bf16:e4m3,both=f32", 1026, 0, 0, 0, 0,
         "dst2 must be a device address that is a multiple of 4", 0},
        {"bf16,amax", 0, 0, 0, 0, 0, "largest must be a device address that is a multiple of 4", 0},
        {"bf16,amax", 0, 1028, 1030, 0, 0,
         "skip must be a device address that is a multiple of 4, or NULL", 0},
        {"bf16,amax", 0, 1028, 0, 1028, 8,
         "scratch must be a device address that is a multiple of 8", 0},
        {"bf16,amax", 0, 1028, 0, 1024, 4, "scratch_bytes is 4, and the plan needs 8", 0},
        {"bf16,amax", 0, 1028, 0, 0, 8, "scratch must be a device address", 0},
        {"bf16,amax", ELSEWHERE, 1028, 0, 0, 0, "member dst2 of the execution", 0},
        {"bf16,both", ELSEWHERE, 1028, 0, 0, 0, "member largest of the execution", 0},
        {"bf16,both", ELSEWHERE, 0, 0, 1024, 8, "member scratch of the execution", 0},
        {"bf16:e4m3,sums", 0, 0, 1032, 0, 0, NULL, 1028},
        {"bf16:e4m3,sums", 0, 0, 0, 1024, 1 << 30, NULL, 1028},
        {"bf16,sums", 0, 0, 0, 0, 0, "sums must be a device address that is a multiple of 4", 0},
        {"bf16,sums", 0, 0, 0, 0, 0, "sums must be a device address that is a multiple of 4", 1026},
        {"bf16,sums", 0, 0, 0, 1024, 4, "scratch_bytes is 4, and the plan needs ", 1028},
        {"bf16,amax", 0, 1028, 0, 0, 0, "member sums of the execution", 1028},
        {"bf16:e4m3", 0, 0, 1024, 0, 0, "member skip of the execution", 0},
    };
    autotune_plan *const usual_plan = plan;
    int held = fake_cuda_held;

    (void)state;
    fake_cuda_last_at = 9;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bool finds = strstr(cases[i].step, "amax") || strstr(cases[i].step, "sums");
        autotune_execution execution = usual();

        plan = plan_with_step(cases[i].step, 2);
        execution.dst2 = (void *)cases[i].dst2;
        execution.largest = (void *)cases[i].largest;
        execution.skip = (const void *)cases[i].skip;
        execution.scratch = (void *)cases[i].scratch;
        execution.scratch_bytes = cases[i].scratch_bytes;
        execution.sums = (void *)cases[i].sums;
        if (strcmp(cases[i].step, "bf16:e4m3") == 0)
            fake_cuda_last_at = 0;
        assert_int_equal(executes(&execution, cases[i].words), !cases[i].words);
        if (!cases[i].words) {
            assert_int_equal(fake_cuda_last[9], cases[i].dst2);
            assert_int_equal(fake_cuda_last[10], cases[i].largest);
            assert_int_equal(fake_cuda_last[11], cases[i].skip);
            assert_true(cases[i].scratch ? fake_cuda_last[12] == cases[i].scratch
                                         : (fake_cuda_last[12] != 0) == finds);
            assert_int_equal(fake_cuda_last[15], cases[i].sums);
        }
        autotune_plan_free(plan);
        assert_int_equal(fake_cuda_held, held);
    }
    fake_cuda_last_at = 0;
    plan = usual_plan;
}

/* The scales of blocks come behind all else. */
static void test_block_scales(void **state)
{
    static const struct {
        const char *step;
        int64_t elem_size;
        uintptr_t dst2, scales, scales2, skip, largest;
        const char *words; /* of the refusal */
    } cases[] = {
        {"bf16:e4m3,blocks=1x128", 2, 0, 1040, 0, 0, 0, NULL},
        {"f32:e5m2,blocks=128x128,scales=torchao", 4, 0, 1040, 0, 1028, 0, NULL},
        {"bf16:e4m3,blocks=1x32,scales=floor,layout=swizzled,both", 2, ELSEWHERE, 1024, 2048, 0, 0,
         NULL},
        {"bf16:e4m3,blocks=1x128", 2, 0, 0, 0, 0, 0,
         "block_scales must be a device address that is a multiple of 16"},
        {"bf16:e2m1,blocks=1x16,scales=nvfp4", 2, 0, 1024, 0, 0, 0, NULL},
        {"bf16:e2m1,blocks=1x16,scales=te-nvfp4", 2, 0, 1024, 0, 0, 1028, NULL},
        {"bf16:e2m1,blocks=1x16,scales=nvfp4", 2, 0, 1024, 0, 0, 1030,
         "largest must be a device address that is a multiple of 4, or NULL"},
        {"bf16:e4m3,blocks=1x128", 2, 0, 1024, 0, 0, 1028, "member largest of the execution"},
        {"bf16:e4m3,blocks=1x128", 2, 0, 1032, 0, 0, 0, "block_scales must be a device address"},
        {"bf16:e4m3,blocks=1x128,both", 2, ELSEWHERE, 1024, 0, 0, 0,
         "block_scales2 must be a device address that is a multiple of 16"},
        {"bf16:e4m3,blocks=1x128,both", 2, 0, 1024, 2048, 0, 0, "dst2 must be a device address"},
        {"bf16:e4m3,blocks=1x128", 2, 0, 1024, 2048, 0, 0, "member block_scales2 of the execution"},
        {"bf16:e4m3,blocks=1x128", 2, 0, 1024, 0, 1030, 0, "skip must be a device address"},
        {"bf16:e4m3,both", 2, ELSEWHERE, 1024, 0, 0, 0, "member block_scales of the execution"},
        {"bf16:e4m3,both", 2, ELSEWHERE, 0, 1024, 0, 0, "member block_scales2 of the execution"},
    };
    autotune_plan *const usual_plan = plan;

    (void)state;
    fake_cuda_last_at = 9;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_execution execution = usual();

        plan = plan_with_step(cases[i].step, cases[i].elem_size);
        execution.dst2 = (void *)cases[i].dst2;
        execution.block_scales = (void *)cases[i].scales;
        execution.block_scales2 = (void *)cases[i].scales2;
        execution.skip = (const void *)cases[i].skip;
        execution.largest = (void *)cases[i].largest;
        assert_int_equal(executes(&execution, cases[i].words), !cases[i].words);
        if (!cases[i].words) {
            assert_int_equal(fake_cuda_last[0], cases[i].largest); /* as a number of the launch */
            assert_int_equal(fake_cuda_last[9], cases[i].dst2);
            assert_int_equal(fake_cuda_last[11], cases[i].skip);
            assert_int_equal(fake_cuda_last[13], cases[i].scales);
            assert_int_equal(fake_cuda_last[14], cases[i].scales2);
        }
        autotune_plan_free(plan);
    }
    fake_cuda_last_at = 0;
    plan = usual_plan;
}

static autotune_status tell_scales(autotune_scales scales[2], int64_t rows, int64_t batch,
                                   const char *step, autotune_error **error)
{
    const autotune_problem problem = {.elem_size = step && step[1] == '3' ? 4 : 2,
                                      .rows = rows,
                                      .cols = 300,
                                      .batch = batch,
                                      .struct_size = sizeof problem,
                                      .step = step};

    return autotune_problem_scales(scales, &problem, error);
}

/* What callers allocate for them. Blocks count in the result's rows and columns. */
static void test_scales_of_problems(void **state)
{
    static const struct {
        int64_t rows, batch; /* of 300 columns */
        const char *step, *type;
        int64_t scales[2][7]; /* the members of autotune_scales from elem_size on */
    } cases[] = {
        {200, 1, "bf16:e4m3,blocks=1x128", "f32", {{4, 300, 2, 2, 1, 2400, 2400}}},
        {200,
         1,
         "bf16:e4m3,blocks=1x128,both",
         "f32",
         {{4, 300, 2, 2, 1, 2400, 2400}, {4, 200, 3, 3, 1, 2400, 2400}}},
        {200,
         1,
         "bf16:e4m3,blocks=1x128,layout=transposed,both=e5m2",
         "f32",
         {{4, 300, 2, 1, 300, 2400, 2400}, {4, 200, 3, 1, 200, 2400, 2400}}},
        {201,
         1,
         "f32:e4m3,blocks=1x128,layout=aligned,both",
         "f32",
         {{4, 300, 2, 1, 300, 2400, 2400}, {4, 201, 3, 1, 204, 2448, 2448}}},
        {200,
         5,
         "f16:e5m2,blocks=128x128,both",
         "f32",
         {{4, 3, 2, 2, 1, 24, 120}, {4, 2, 3, 3, 1, 24, 120}}},
        {200,
         1,
         "bf16:e4m3,blocks=1x32,scales=rceil,layout=aligned",
         "e8m0",
         {{1, 300, 7, 1, 304, 2128, 2128}}},
        {200,
         2,
         "bf16:e4m3,blocks=1x32,scales=floor,layout=swizzled,both",
         "e8m0",
         {{1, 300, 7, 0, 0, 3072, 6144}, {1, 200, 10, 0, 0, 3072, 6144}}},
        {200,
         1,
         "bf16:e2m1,blocks=1x16,scales=nvfp4,layout=swizzled,both",
         "e4m3",
         {{1, 300, 13, 0, 0, 6144, 6144}, {1, 200, 19, 0, 0, 5120, 5120}}},
        {1, 1, "bf16:e4m3,blocks=1x128", "f32", {{4, 300, 1, 1, 1, 1200, 1200}}},
        {200, 1, "bf16:e4m3,both", NULL, {{0}}},
        {200, 1, NULL, NULL, {{0}}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_scales found[2];
        autotune_error *error = NULL;

        if (tell_scales(found, cases[i].rows, cases[i].batch, cases[i].step, &error) != AUTOTUNE_OK)
            fail_msg("%s", autotune_error_message(error));
        for (int k = 0; k < 2; k++) {
            bool is_there = cases[i].scales[k][0] != 0;

            assert_int_equal(found[k].type != NULL, is_there);
            if (is_there)
                assert_string_equal(found[k].type, cases[i].type);
            assert_memory_equal(&found[k].elem_size, cases[i].scales[k], sizeof *cases[i].scales);
        }
    }
}

static void test_scales_of_nonsense(void **state)
{
    static const struct {
        int64_t rows;
        const char *step, *words;
    } cases[] = {
        {-1, "bf16:e4m3,blocks=1x128", "rows is -1"},
        {200, "bf16:e4m3,blocks=1x129", "blocks is \"1x129\""},
        {200, "bf16:e4m3,blocks=1x128,scales=best", "scales is \"best\""},
        {200, "u8:e4m3,blocks=1x128", "blocks are for elements"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_scales found[2] = {{.bytes = 7}, {.bytes = 7}};
        autotune_error *error = NULL;

        assert_int_equal(tell_scales(found, cases[i].rows, 1, cases[i].step, &error),
                         AUTOTUNE_INVALID);
        if (!strstr(autotune_error_message(error), cases[i].words))
            fail_msg("\"%s\" is not in: %s", cases[i].words, autotune_error_message(error));
        autotune_error_free(error);
        assert_true(found[0].bytes == 7 && found[1].bytes == 7);
    }
}

/* A call without a struct says which members the plan needs. */
static void test_plain_call(void **state)
{
    static const struct {
        const char *step;
        int64_t elem_size;
        const char *names; /* NULL: it needs none */
    } cases[] = {
        {"f32:bf16", 4, NULL},
        {"c64,conj", 8, NULL},
        {"f32,scale", 4, "takes scale: "},
        {"f32,divide", 4, "takes scale: "},
        {"f32,alpha,beta", 4, "takes alpha, beta, src2: "},
        {"u8:f32,affine", 1, "takes channel_scale, channel_shift: "},
        {"f32,scale,both,amax", 4, "takes scale, dst2, largest: "},
        {"f32:e4m3,blocks=1x128,both", 4, "takes dst2, block_scales, block_scales2: "},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_plan *made = plan_with_step(cases[i].step, cases[i].elem_size);
        autotune_error *error = NULL;

        assert_int_equal(autotune_plan_execute(made, destination, source, NULL, &error),
                         cases[i].names ? AUTOTUNE_INVALID : AUTOTUNE_OK);
        if (cases[i].names && !strstr(autotune_error_message(error), cases[i].names))
            fail_msg("\"%s\" is not in: %s", cases[i].names, autotune_error_message(error));
        autotune_error_free(error);
        autotune_plan_free(made);
    }
}

/* Addresses are multiples of each side's element. */
static void test_sides(void **state)
{
    static const struct {
        const char *step;
        int64_t elem_size;
        uintptr_t dst, src;
        bool refused;
    } cases[] = {
        {"bf16:e4m3", 2, 4097, 0x10000000002, false},
        {"bf16:e4m3", 2, 4097, 0x10000000001, true},
        {"f32:f64", 4, 4096, 0x10000000004, false},
        {"f32:f64", 4, 4100, 0x10000000004, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_plan *made = plan_with_step(cases[i].step, cases[i].elem_size);

        assert_int_equal(
            autotune_plan_execute(made, (void *)cases[i].dst, (void *)cases[i].src, NULL, NULL),
            cases[i].refused ? AUTOTUNE_INVALID : AUTOTUNE_OK);
        autotune_plan_free(made);
    }
}

/* ---- contexts and threads ---- */

static void check_context(void *current)
{
    fake_cuda_context = current;
    fake_cuda_launched_in = NULL;
    assert_int_equal(autotune_plan_execute(plan, destination, source, NULL, NULL), AUTOTUNE_OK);
    assert_ptr_equal(fake_cuda_launched_in, &fake_cuda_contexts[0]);
    assert_ptr_equal(fake_cuda_context, current);
}

/* Another thread has another context or none, and executes and frees the plan. */
static void *execute_and_free(void *made)
{
    fake_cuda_context = &fake_cuda_contexts[1];
    if (autotune_plan_execute(made, destination, source, NULL, NULL) != AUTOTUNE_OK)
        return "the plan does not run in another thread";
    if (fake_cuda_launched_in != &fake_cuda_contexts[0])
        return "the plan runs in another context";
    fake_cuda_context = NULL;
    autotune_plan_free(made);
    return fake_cuda_context ? "freeing leaves a context behind" : NULL;
}

static void test_contexts(void **state)
{
    pthread_t thread;
    void *said;

    (void)state;
    check_context(&fake_cuda_contexts[0]);
    check_context(&fake_cuda_contexts[1]);
    check_context(NULL);
    fake_cuda_context = &fake_cuda_contexts[0];
    assert_int_equal(pthread_create(&thread, NULL, execute_and_free, measure_plan(profile, NULL)),
                     0);
    assert_int_equal(pthread_join(thread, &said), 0);
    if (said)
        fail_msg("%s", (const char *)said);
    assert_int_equal(fake_cuda_mistakes, 0);
}

static int set_up(void **state)
{
    measure_set_up();
    profile = *state = measure_open(NULL);
    plan = measure_plan(profile, NULL);
    return 0;
}

static int tear_down(void **state)
{
    autotune_plan_free(plan);
    autotune_clear();
    return fake_cuda_modules != 0 || measure_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_unused),
        cmocka_unit_test(test_struct_size),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_launches),
        cmocka_unit_test(test_several_launches),
        cmocka_unit_test(test_tensor_in_place),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_second_source),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_outputs),
        cmocka_unit_test(test_block_scales),
        cmocka_unit_test(test_scales_of_problems),
        cmocka_unit_test(test_scales_of_nonsense),
        cmocka_unit_test(test_plain_call),
        cmocka_unit_test(test_sides),
        cmocka_unit_test(test_contexts),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
