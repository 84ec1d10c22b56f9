/* SPDX-License-Identifier: Apache-2.0 */
/* Plans whose first launches time rivals, with a driver whose kernels take the times that a test
 * gives them. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphDestroy(void *graph);

/* What a plan times at most, and what it needs with two kernels. */
enum { TIMED_MAX = 63, ENOUGH = TIMED_MAX + 1 };

enum { USUAL_NS = 100000 };

static autotune_profile *profile;

static const autotune_plan_options adapts = {
    .measure_ms = 600000, .struct_size = sizeof adapts, .flags = AUTOTUNE_ADAPT};

static int kernels; /* that the plan finds */
static int others;  /* the number of the first rival: see test_library_measure.c */

/* ---- what all share ---- */

static void begin(void)
{
    autotune_wisdom_forget();
    autotune_clear();
    fake_cuda_forget();
    fake_cuda_is_late = false;
    fake_cuda_queries_fail = 0;
    for (int i = 0; i < FAKE_CUDA_KERNELS_MAX; i++)
        fake_cuda_kernels[i] = (struct fake_cuda_kernel){.ns = USUAL_NS};
}

static void end(autotune_plan *plan)
{
    autotune_plan_free(plan);
    autotune_clear();
    assert_int_equal(fake_cuda_modules, 0);
    assert_int_equal(fake_cuda_held, 0);
    assert_int_equal(fake_cuda_mistakes, 0);
}

static autotune_status run(const autotune_plan *plan, uintptr_t dst, void *stream)
{
    return autotune_plan_execute(plan, (void *)dst, (void *)0x10000000000, stream, NULL);
}

/* Which kernel does a launch start? Each starts one, once. */
static int started_at(const autotune_plan *plan, uintptr_t dst)
{
    int before[FAKE_CUDA_KERNELS_MAX], started = -1;

    for (int i = 0; i < kernels; i++)
        before[i] = fake_cuda_kernels[i].launches;
    assert_int_equal(run(plan, dst, NULL), AUTOTUNE_OK);
    for (int i = 0; i < kernels; i++)
        if (fake_cuda_kernels[i].launches != before[i]) {
            assert_int_equal(fake_cuda_kernels[i].launches, before[i] + 1);
            assert_int_equal(started, -1);
            started = i;
        }
    return started;
}

static int started(const autotune_plan *plan)
{
    return started_at(plan, 4096);
}

static int64_t rivals_of(const autotune_plan *plan)
{
    autotune_info info = autotune_info_init();

    assert_int_equal(autotune_plan_info(plan, &info, NULL), AUTOTUNE_OK);
    return info.adapts;
}

/* Launch until the plan has settled. Returns how many launches that takes. */
static int settle(const autotune_plan *plan)
{
    int launches = 0;

    while (rivals_of(plan) > 0 && launches < 10 * ENOUGH) {
        started(plan);
        launches++;
    }
    return launches;
}

/* ---- the race ---- */

static void test_all(void **state)
{
    autotune_plan *plan;

    (void)state;
    begin();
    end(measure_plan(profile, NULL));
    others = fake_cuda_kernel_count;
    begin();
    plan = measure_plan(profile, &adapts);
    kernels = fake_cuda_kernel_count;
    assert_true(kernels >= others + 3);
    assert_in_range(rivals_of(plan), 3, 8);
    assert_true(measure_says(plan, "  adapts     the first launches time "));
    assert_in_range(settle(plan), 3, ENOUGH);
    assert_int_equal(started(plan), 0); /* all are alike */
    assert_true(measure_says(plan, "  adapted    the best of "));
    end(plan);
}

/* Whichever is the fastest, it stays, within 64 launches, and is told of. */
static void test_fastest(void **state)
{
    (void)state;
    for (int fastest = others; fastest < kernels; fastest++) {
        autotune_info info = autotune_info_init();
        autotune_launch launch;
        autotune_plan *plan;

        begin();
        fake_cuda_kernels[fastest].ns = USUAL_NS * 97 / 100;
        plan = measure_plan(profile, &adapts);
        for (int i = 0; i < ENOUGH; i++)
            started(plan);
        for (int i = 0; i < 3; i++)
            assert_int_equal(started(plan), fastest);
        assert_int_equal(autotune_plan_info(plan, &info, NULL), AUTOTUNE_OK);
        assert_int_equal(info.adapts, 0);
        assert_true(measure_says(plan, info.family));
        assert_int_equal(autotune_plan_launches(plan, NULL, NULL, &launch, 1), 1);
        assert_string_equal(launch.kernel, fake_cuda_kernels[fastest].entry);
        end(plan);
    }
}

/* A rival has to gain 0.3 %; below 50 us, a microsecond more. */
static void test_gain(void **state)
{
    static const struct {
        int64_t usual_ns, rival_ns;
        bool stays;
    } cases[] = {
        {100000, 99800, false}, {100000, 99000, true}, {51000, 50500, true},
        {20000, 19100, false},  {20000, 18500, true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_plan *plan;

        begin();
        for (int k = 0; k < kernels; k++)
            fake_cuda_kernels[k].ns = cases[i].usual_ns;
        fake_cuda_kernels[others].ns = cases[i].rival_ns;
        plan = measure_plan(profile, &adapts);
        settle(plan);
        assert_int_equal(started(plan), cases[i].stays ? others : 0);
        end(plan);
    }
}

/* Slow ones do not take part, and what is slower leaves early. */
static void test_slow(void **state)
{
    autotune_plan *plan;
    int verified;

    (void)state;
    begin();
    fake_cuda_kernels[others].ns = USUAL_NS * 3;
    fake_cuda_kernels[others + 1].ns = USUAL_NS * 9 / 10;
    plan = measure_plan(profile, &adapts);
    verified = fake_cuda_kernels[others].launches;
    fake_cuda_kernels[others + 2].ns = USUAL_NS * 2; /* which verifying has not told */
    settle(plan);
    assert_int_equal(fake_cuda_kernels[others].launches, verified);
    assert_int_equal(started(plan), others + 1);
    assert_true(fake_cuda_kernels[others + 2].launches < fake_cuda_kernels[others + 1].launches);
    end(plan);
}

static void test_all_slow(void **state)
{
    autotune_plan *plan;

    (void)state;
    begin();
    for (int i = others; i < kernels; i++)
        fake_cuda_kernels[i].ns = USUAL_NS * 6 / 5;
    plan = measure_plan(profile, &adapts);
    assert_int_equal(rivals_of(plan), 0);
    assert_true(measure_says(plan, "  measured   nothing: no rival is nearly as fast"));
    assert_int_equal(started(plan), 0);
    end(plan);
}

static void test_wrong(void **state)
{
    autotune_plan *plan;
    int verified;

    (void)state;
    begin();
    fake_cuda_kernels[others].ns = USUAL_NS / 2;
    fake_cuda_kernels[others].wrong = true;
    plan = measure_plan(profile, &adapts);
    verified = fake_cuda_kernels[others].launches;
    settle(plan);
    assert_int_equal(fake_cuda_kernels[others].launches, verified);
    end(plan);

    begin();
    fake_cuda_kernels[0].wrong = true;
    plan = measure_plan(profile, &adapts);
    verified = fake_cuda_kernels[0].launches;
    settle(plan);
    assert_true(started(plan) >= others);
    assert_int_equal(fake_cuda_kernels[0].launches, verified);
    end(plan);
}

/* ---- launches ---- */

/* Nobody waits for events. Without them the looked-up kernel runs, and later ones settle it. */
static void test_late(void **state)
{
    autotune_plan *plan;

    (void)state;
    begin();
    fake_cuda_kernels[others].ns = USUAL_NS * 9 / 10;
    plan = measure_plan(profile, &adapts);
    fake_cuda_is_late = true;
    for (int i = 0; i < TIMED_MAX; i++)
        started(plan);
    for (int i = 0; i < 5; i++)
        assert_int_equal(started(plan), 0);
    assert_true(rivals_of(plan) > 0);
    fake_cuda_is_late = false;
    assert_int_equal(started(plan), others);
    assert_int_equal(rivals_of(plan), 0);
    end(plan);

    begin();
    plan = measure_plan(profile, &adapts);
    fake_cuda_is_late = true;
    started(plan);
    end(plan); /* with a launch whose event has not come */
}

static void test_lost_events(void **state)
{
    autotune_plan *plan;

    (void)state;
    begin();
    fake_cuda_kernels[others].ns = USUAL_NS * 9 / 10;
    plan = measure_plan(profile, &adapts);
    fake_cuda_queries_fail = 700;
    assert_in_range(settle(plan), 2, ENOUGH);
    assert_int_equal(started(plan), 0);
    end(plan);
}

/* A rival whose launch fails takes no part any more. The caller gets the error. */
static void test_failing(void **state)
{
    autotune_plan *plan;
    int failed = 0;

    (void)state;
    begin();
    fake_cuda_kernels[others].ns = USUAL_NS * 9 / 10;
    plan = measure_plan(profile, &adapts);
    fake_cuda_kernels[others].crashes = 701; /* CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES */
    for (int i = 0; i < ENOUGH; i++)
        failed += run(plan, 4096, NULL) != AUTOTUNE_OK;
    assert_int_equal(failed, 1);
    assert_int_equal(started(plan), 0);
    end(plan);
}

/* Graphs keep what they capture. */
static void test_captured(void **state)
{
    static char stream;
    autotune_plan *plan;

    (void)state;
    for (int settled = 0; settled < 2; settled++) {
        void *graph = NULL;
        int modules;

        begin();
        fake_cuda_kernels[others].ns = USUAL_NS * 9 / 10;
        plan = measure_plan(profile, &adapts);
        if (settled)
            settle(plan);
        assert_int_equal(cuStreamBeginCapture_v2(&stream, 0), 0);
        for (int i = 0; i < ENOUGH; i++)
            assert_int_equal(run(plan, 4096, &stream), AUTOTUNE_OK);
        assert_int_equal(cuStreamEndCapture(&stream, &graph), 0);
        assert_int_equal(rivals_of(plan) > 0, !settled);
        cuGraphDestroy(graph);
        settle(plan);
        assert_int_equal(started(plan), others);
        autotune_plan_free(plan);
        autotune_clear();
        modules = fake_cuda_modules;
        assert_in_range(modules, 1, 3); /* those of the graph and the stand-in */
        fake_cuda_renew_context(0);
        autotune_clear();
        fake_cuda_context = fake_cuda_contexts;
        assert_int_equal(fake_cuda_modules, 0);
        assert_int_equal(fake_cuda_held, 0);
    }
}

/* Addresses that are less aligned than the problem says take no part. */
static void test_unaligned(void **state)
{
    autotune_plan *plan;
    int kernel;

    (void)state;
    begin();
    fake_cuda_kernels[others].ns = USUAL_NS * 9 / 10;
    plan = measure_plan(profile, &adapts);
    kernel = started_at(plan, 4100);
    assert_true(kernel < others);
    for (int i = 0; i < 2 * ENOUGH; i++)
        assert_int_equal(started_at(plan, 4100), kernel);
    assert_true(rivals_of(plan) > 0);
    settle(plan);
    assert_int_equal(started(plan), others);
    assert_int_equal(started_at(plan, 4100), kernel);
    end(plan);
}

static void *run_often(void *plan)
{
    fake_cuda_context = fake_cuda_contexts;
    for (int i = 0; i < 50; i++)
        if (run(plan, 4096, NULL) != AUTOTUNE_OK)
            return plan;
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[4];
    autotune_plan *plan;

    (void)state;
    begin();
    plan = measure_plan(profile, &adapts);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_often, plan), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;

        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    assert_int_equal(rivals_of(plan), 0);
    end(plan);
}

/* ---- what does not adapt ---- */

static void test_off(void **state)
{
    static const struct {
        const char *step;
        bool in_place, is_view;
        const char *says;
    } cases[] = {
        {NULL, true, false, "nothing: plans in place do not adapt"},
        {"f32,alpha,beta", false, false, "nothing: plans that add to something do not adapt"},
        {"f32,amax", false, false, "nothing: plans with scratch do not adapt"},
        {"f32,sums", false, false, "nothing: plans with scratch do not adapt"},
        {NULL, false, true, "nothing: the source has strides below 1"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_problem problem = measure_problem;
        autotune_plan *plan = NULL;
        autotune_error *error = NULL;

        begin();
        problem.struct_size = sizeof problem;
        problem.step = cases[i].step;
        problem.in_place = cases[i].in_place;
        if (cases[i].is_view) {
            problem.explicit_strides = problem.batch = problem.stride_dst = 1;
            problem.ld_dst = problem.rows;
        }
        if (autotune_plan_create_with(&plan, profile, &problem, &adapts, &error) != AUTOTUNE_OK)
            fail_msg("%s", autotune_error_message(error));
        assert_true(measure_says(plan, cases[i].says));
        assert_int_equal(rivals_of(plan), 0);
        end(plan);
    }
}

/* What was measured needs no launches. */
static void test_measured(void **state)
{
    autotune_plan *plan;

    (void)state;
    begin();
    fake_cuda_kernels[others].ns = USUAL_NS * 9 / 10;
    end(measure_plan(profile, &measure_amply));
    plan = measure_plan(profile, &adapts);
    assert_int_equal(rivals_of(plan), 0);
    assert_int_equal(started(plan), others);
    end(plan);
}

static void test_bad_flags(void **state)
{
    const autotune_plan_options options = {.struct_size = sizeof options, .flags = 6};
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;

    (void)state;
    begin();
    assert_int_equal(autotune_plan_create_with(&plan, profile, &measure_problem, &options, &error),
                     AUTOTUNE_INVALID);
    assert_string_equal(autotune_error_message(error),
                        "flags is 6, and has to be AUTOTUNE_ADAPT, 1, or 0");
    autotune_error_free(error);
    end(NULL);
}

static int set_up(void **state)
{
    measure_set_up();
    *state = profile = measure_open(NULL);
    return 0;
}

/* The others need what the first finds out. */
static int need_kernels(void **state)
{
    (void)state;
    if (kernels == 0)
        fprintf(stderr, "skipped: no kernels were compiled\n");
    return kernels == 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all),
        cmocka_unit_test_setup(test_fastest, need_kernels),
        cmocka_unit_test_setup(test_gain, need_kernels),
        cmocka_unit_test_setup(test_slow, need_kernels),
        cmocka_unit_test_setup(test_all_slow, need_kernels),
        cmocka_unit_test_setup(test_wrong, need_kernels),
        cmocka_unit_test_setup(test_late, need_kernels),
        cmocka_unit_test_setup(test_lost_events, need_kernels),
        cmocka_unit_test_setup(test_failing, need_kernels),
        cmocka_unit_test_setup(test_captured, need_kernels),
        cmocka_unit_test_setup(test_unaligned, need_kernels),
        cmocka_unit_test_setup(test_threads, need_kernels),
        cmocka_unit_test_setup(test_off, need_kernels),
        cmocka_unit_test_setup(test_measured, need_kernels),
        cmocka_unit_test(test_bad_flags),
    };

    return cmocka_run_group_tests(tests, set_up, measure_tear_down);
}
