/* SPDX-License-Identifier: Apache-2.0 */
/* Plans share loaded kernels: how many are loaded, when they are unloaded, and what is done about
 * contexts that are gone. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "sample.h"

/* What cuda.h declares, and the fake driver defines. */
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphLaunch(void *executable, void *stream);
int cuGraphDestroy(void *graph);

static autotune_profile *profile;
static void *const destination = (void *)4096, *const source = (void *)0x10000000000;
static void *const stream = (void *)4096;

static void begin(void)
{
    autotune_clear();
    autotune_keep_unused(64);
    assert_int_equal(fake_cuda_modules, 0);
    assert_int_equal(fake_cuda_held, 0);
    fake_cuda_mistakes = 0;
}

static void end(void)
{
    begin();
    assert_int_equal(fake_cuda_mistakes, 0);
}

static autotune_plan *plan_for(autotune_problem problem)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;

    if (autotune_plan_create(&plan, profile, &problem, &error) != AUTOTUNE_OK)
        fail_msg("%s", autotune_error_message(error));
    return plan;
}

static autotune_plan *plan_of(int64_t elem_size)
{
    return plan_for((autotune_problem){.elem_size = elem_size, .rows = 6000, .cols = 6000});
}

static autotune_status run(const autotune_plan *plan, void *in)
{
    return autotune_plan_execute(plan, destination, source, in, NULL);
}

/* Many shapes of one kind, as in a program whose sequences have many lengths. */
static void test_many_shapes(void **state)
{
    enum { SHAPES = 300, FEW = 20 };
    int count = runs_whole() ? SHAPES : 60;
    autotune_plan *plans[SHAPES];
    int loads = fake_cuda_loads, held;

    (void)state;
    begin();
    for (int i = 0; i < count; i++)
        plans[i] = plan_for((autotune_problem){.elem_size = 2, .rows = 1000 + 8 * i, .cols = 512});
    held = fake_cuda_modules;
    assert_in_range(held, 1, FEW);
    assert_int_equal(fake_cuda_loads - loads, held);
    for (int i = 0; i < count; i++) {
        assert_int_equal(run(plans[i], NULL), AUTOTUNE_OK);
        autotune_plan_free(plans[i]);
    }
    assert_int_equal(fake_cuda_modules, held);
    autotune_clear();
    assert_int_equal(fake_cuda_modules, 0);
    end();
}

/* A kernel that is loaded is not looked for in the cache. */
static void test_without_cache(void **state)
{
    const char *usual = strdup(getenv("XDG_CACHE_HOME"));
    autotune_plan *plans[2];
    char other[4096];
    int loads;

    (void)state;
    begin();
    plans[0] = plan_of(4);
    loads = fake_cuda_loads;
    snprintf(other, sizeof other, "%s/unused-cache", measure_folder);
    setenv("XDG_CACHE_HOME", other, 1);
    plans[1] = plan_of(4);
    assert_int_equal(fake_cuda_loads, loads);
    assert_int_equal(access(other, F_OK), -1);
    setenv("XDG_CACHE_HOME", usual, 1);
    free((void *)usual);
    for (int i = 0; i < 2; i++)
        autotune_plan_free(plans[i]);
    end();
}

/* Of unused kernels the last used ones stay. */
static void test_keep(void **state)
{
    static const int64_t sizes[] = {1, 2, 4};
    int alone[3], loads;

    (void)state;
    begin();
    for (int i = 0; i < 3; i++) {
        loads = fake_cuda_loads;
        autotune_plan_free(plan_of(sizes[i]));
        alone[i] = fake_cuda_loads - loads;
        assert_true(alone[i] > 0);
    }
    loads = fake_cuda_loads;
    autotune_plan_free(plan_of(sizes[0]));
    assert_int_equal(fake_cuda_loads, loads);
    autotune_keep_unused((size_t)(alone[2] + alone[0]));
    assert_int_equal(fake_cuda_modules, alone[2] + alone[0]);
    autotune_plan_free(plan_of(sizes[2]));
    autotune_plan_free(plan_of(sizes[0]));
    assert_int_equal(fake_cuda_loads, loads);
    autotune_plan_free(plan_of(sizes[1]));
    assert_int_equal(fake_cuda_loads, loads + alone[1]);
    assert_int_equal(fake_cuda_modules, alone[2] + alone[0]);
    end();
}

/* The setting is for kernels without a plan only. */
static void test_keep_none(void **state)
{
    autotune_plan *plans[2];
    int modules;

    (void)state;
    begin();
    autotune_keep_unused(0);
    for (int i = 0; i < 2; i++)
        plans[i] = plan_of(4);
    modules = fake_cuda_modules;
    autotune_clear();
    autotune_plan_free(plans[0]);
    assert_int_equal(fake_cuda_modules, modules);
    assert_int_equal(run(plans[1], NULL), AUTOTUNE_OK);
    autotune_plan_free(plans[1]);
    assert_int_equal(fake_cuda_modules, 0);
    end();
}

/* Plans whose launches differ in shared memory share a kernel, in either order. */
static void test_shared_memory(void **state)
{
    static const int64_t rows[][2] = {{150, 160}, {160, 150}};

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        autotune_launch launches[2];
        autotune_plan *plans[2];

        begin();
        for (int k = 0; k < 2; k++) {
            plans[k] = plan_for(
                (autotune_problem){.elem_size = 4, .rows = rows[i][k], .cols = 100, .in_place = 1});
            assert_int_equal(autotune_plan_launches(plans[k], NULL, NULL, &launches[k], 1), 1);
        }
        assert_string_equal(launches[0].kernel, launches[1].kernel);
        assert_int_not_equal(launches[0].shared_bytes, launches[1].shared_bytes);
        for (int k = 0; k < 2; k++)
            assert_int_equal(autotune_plan_execute(plans[k], source, source, NULL, NULL),
                             AUTOTUNE_OK);
        for (int k = 0; k < 2; k++)
            autotune_plan_free(plans[k]);
        end();
    }
}

/* ---- graphs ---- */

static void *capture(const autotune_plan *plan)
{
    void *graph = NULL;

    assert_int_equal(cuStreamBeginCapture_v2(stream, 0), 0);
    assert_int_equal(run(plan, stream), AUTOTUNE_OK);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    return graph;
}

/* What a graph runs stays loaded until its context ends; what else the plan had does not matter. */
static void test_captured(void **state)
{
    autotune_plan *plan;
    void *graph;
    int modules, loads;

    (void)state;
    begin();
    plan = plan_of(4);
    modules = fake_cuda_modules;
    graph = capture(plan);
    autotune_plan_free(plan);
    autotune_keep_unused(0);
    autotune_clear();
    assert_int_equal(fake_cuda_modules, modules);
    assert_int_equal(cuGraphLaunch(graph, stream), 0);
    loads = fake_cuda_loads;
    autotune_plan_free(plan_of(4));
    assert_int_equal(fake_cuda_loads, loads);
    cuGraphDestroy(graph);
    fake_cuda_renew_context(0);
    autotune_plan_free(plan_of(4));
    assert_int_equal(fake_cuda_loads, loads + modules);
    end();
}

/* A plan's own scratch is part of the graph. */
static void test_captured_scratch(void **state)
{
    static const autotune_problem problem = {
        .elem_size = 4, .rows = 3000, .cols = 4200, .in_place = 1};
    autotune_plan *plan;
    void *graph = NULL;
    int held;

    (void)state;
    begin();
    plan = plan_for(problem);
    assert_true(autotune_plan_scratch_bytes(plan) > 0);
    assert_int_equal(cuStreamBeginCapture_v2(stream, 0), 0);
    assert_int_equal(autotune_plan_execute(plan, source, source, stream, NULL), AUTOTUNE_OK);
    assert_int_equal(cuStreamEndCapture(stream, &graph), 0);
    cuGraphDestroy(graph);
    held = fake_cuda_held;
    autotune_plan_free(plan);
    assert_int_equal(fake_cuda_held, held);
    fake_cuda_held = 0;
    fake_cuda_renew_context(0);
    end();
}

/* ---- contexts ---- */

/* A kernel belongs to one context. */
static void test_two_contexts(void **state)
{
    autotune_plan *plans[2];
    int modules;

    (void)state;
    begin();
    plans[0] = plan_of(4);
    modules = fake_cuda_modules;
    fake_cuda_context = &fake_cuda_contexts[1];
    plans[1] = plan_of(4);
    assert_int_equal(fake_cuda_modules, 2 * modules);
    fake_cuda_context = NULL;
    for (int i = 0; i < 2; i++)
        autotune_plan_free(plans[i]);
    autotune_clear();
    assert_int_equal(fake_cuda_modules, 0);
    assert_null(fake_cuda_context);
    fake_cuda_context = &fake_cuda_contexts[0];
    end();
}

/* Without a current context a plan takes the first device's primary one, and leaves none behind. */
static void test_no_context(void **state)
{
    autotune_device *device = NULL;
    autotune_plan *plan = NULL;
    int retained;

    (void)state;
    begin();
    fake_cuda_context = NULL;
    retained = fake_cuda_retained;
    assert_int_equal(autotune_device_current(&device, NULL), AUTOTUNE_OK);
    assert_string_equal(autotune_device_name(device), "NVIDIA H200");
    autotune_device_free(device);
    assert_int_equal(fake_cuda_retained, retained);
    plan = plan_of(4);
    assert_int_equal(fake_cuda_retained, retained + 1);
    assert_null(fake_cuda_context);
    assert_int_equal(run(plan, NULL), AUTOTUNE_OK);
    assert_ptr_equal(fake_cuda_launched_in, &fake_cuda_contexts[0]);
    autotune_plan_free(plan);
    assert_null(fake_cuda_context);
    assert_int_equal(
        autotune_plan_create(&plan, profile, &(autotune_problem){.elem_size = 4, .rows = -1}, NULL),
        AUTOTUNE_INVALID);
    assert_null(fake_cuda_context);
    fake_cuda_context = &fake_cuda_contexts[0];
    end();
}

/* The next context has the address of the last one. */
static void test_renewed_context(void **state)
{
    int loads, count;

    (void)state;
    begin();
    loads = fake_cuda_loads;
    autotune_plan_free(plan_of(4));
    count = fake_cuda_loads - loads;
    fake_cuda_renew_context(0);
    autotune_plan_free(plan_of(4));
    assert_int_equal(fake_cuda_loads - loads, 2 * count);
    fake_cuda_context_ids[0] = 0; /* destroyed */
    autotune_clear();
    assert_int_equal(fake_cuda_mistakes, 0);
    fake_cuda_renew_context(0);
    end();
}

/* A driver without ids: nobody would know, so nothing stays. */
static void test_old_driver(void **state)
{
    autotune_plan *plans[2];
    int loads = fake_cuda_loads, modules;
    void *graph;

    (void)state;
    begin();
    fake_cuda_is_old = true;
    for (int i = 0; i < 2; i++)
        plans[i] = plan_of(4);
    modules = fake_cuda_modules;
    assert_int_equal(fake_cuda_loads - loads, modules);
    for (int i = 0; i < 2; i++)
        autotune_plan_free(plans[i]);
    assert_int_equal(fake_cuda_modules, 0);
    plans[0] = plan_of(4);
    graph = capture(plans[0]);
    autotune_plan_free(plans[0]);
    autotune_clear();
    assert_int_equal(fake_cuda_modules, modules);
    cuGraphDestroy(graph);
    fake_cuda_is_old = false;
    fake_cuda_renew_context(0);
    end();
}

/* ---- threads ---- */

static void *make(void *plan)
{
    *(autotune_plan **)plan = plan_of(8);
    return NULL;
}

/* Without a cache too, a kernel that several threads want is loaded once. */
static void test_at_once(void **state)
{
    enum { THREADS = 4 };
    char *usual = strdup(getenv("XDG_CACHE_HOME"));
    autotune_plan *plans[THREADS];
    pthread_t threads[THREADS];
    int loads = fake_cuda_loads, modules;

    (void)state;
    begin();
    setenv("XDG_CACHE_HOME", "/proc/no-folder", 1);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, make, &plans[i]), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    setenv("XDG_CACHE_HOME", usual, 1);
    free(usual);
    modules = fake_cuda_modules;
    assert_int_equal(fake_cuda_loads - loads, modules);
    for (int i = 0; i < THREADS; i++)
        autotune_plan_free(plans[i]);
    end();
}

static int set_up(void **state)
{
    measure_set_up();
    *state = profile = measure_open(NULL);
    autotune_plan_free(measure_plan(profile, NULL)); /* skips all without NVRTC */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_shapes),
        cmocka_unit_test(test_without_cache),
        cmocka_unit_test(test_keep),
        cmocka_unit_test(test_keep_none),
        cmocka_unit_test(test_shared_memory),
        cmocka_unit_test(test_captured),
        cmocka_unit_test(test_captured_scratch),
        cmocka_unit_test(test_two_contexts),
        cmocka_unit_test(test_renewed_context),
        cmocka_unit_test(test_old_driver),
        cmocka_unit_test(test_at_once),
        cmocka_unit_test(test_no_context),
    };

    return cmocka_run_group_tests(tests, set_up, measure_tear_down);
}
