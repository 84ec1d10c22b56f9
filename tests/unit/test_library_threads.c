/* SPDX-License-Identifier: Apache-2.0 */
/* Threads make, execute and free plans at once, on several devices, while others unload kernels.
 * AUTOTUNE_TEST_SECONDS says for how long. It is for the thread sanitiser above all: .ci/full. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* What cuda.h declares, and the fake driver defines. */
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphDestroy(void *graph);

enum { THREADS = 8, DEVICES = 3, HELD = 4 };

static void *const destination = (void *)(1LL << 40), *const source = (void *)(1LL << 41);
static void *const stream = (void *)4096;
static autotune_profile *profile;
static atomic_bool over;
static atomic_int failures, plans_made;

/* A thread, with the plans that it has at the moment. */
struct worker {
    pthread_t thread;
    unsigned seed;
    autotune_plan *plans[HELD];
    int device; /* of this thread */
};

static int draw(struct worker *worker, int count)
{
    return rand_r(&worker->seed) % count;
}

static autotune_plan **one_of(struct worker *worker)
{
    return &worker->plans[draw(worker, HELD)];
}

static void make(struct worker *worker)
{
    static const int64_t sizes[] = {1, 2, 4, 8};
    const autotune_problem problem = {
        .elem_size = sizes[draw(worker, 4)], .rows = 6000 + 16 * draw(worker, 5), .cols = 6000};
    const autotune_plan_options options = {.measure_ms = draw(worker, 50) == 0 ? 100000 : 0,
                                           .struct_size = sizeof options,
                                           .flags = draw(worker, 50) == 0 ? AUTOTUNE_ADAPT : 0};
    autotune_plan **plan = one_of(worker);

    autotune_plan_free(*plan);
    *plan = NULL;
    failures += autotune_plan_create_with(plan, profile, &problem, &options, NULL) != AUTOTUNE_OK;
    plans_made++;
}

static void execute(struct worker *worker)
{
    const autotune_plan *plan = *one_of(worker);

    if (plan)
        failures += autotune_plan_execute(plan, destination, source, stream, NULL) != AUTOTUNE_OK;
}

static void capture(struct worker *worker)
{
    void *graph;

    cuStreamBeginCapture_v2(stream, 0);
    execute(worker);
    cuStreamEndCapture(stream, &graph);
    cuGraphDestroy(graph);
}

static void free_one(struct worker *worker)
{
    autotune_plan **plan = one_of(worker);

    autotune_plan_free(*plan);
    *plan = NULL;
}

static void clear(struct worker *worker)
{
    (void)worker;
    autotune_clear();
}

static void keep(struct worker *worker)
{
    autotune_keep_unused((size_t)draw(worker, 8));
}

static void forget(struct worker *worker)
{
    (void)worker;
    autotune_wisdom_forget();
}

static void change_device(struct worker *worker)
{
    worker->device = draw(worker, DEVICES);
    fake_cuda_device = worker->device;
    fake_cuda_context = &fake_cuda_contexts[worker->device];
}

/* What threads do, and how often. */
static const struct {
    void (*what)(struct worker *worker);
    int share;
} deeds[] = {{make, 20}, {execute, 40}, {capture, 2}, {free_one, 10},
             {clear, 2}, {keep, 1},     {forget, 1},  {change_device, 4}};

static void do_one(struct worker *worker)
{
    int number = 0, drawn;

    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        number += deeds[i].share;
    drawn = draw(worker, number);
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++) {
        drawn -= deeds[i].share;
        if (drawn < 0) {
            deeds[i].what(worker);
            return;
        }
    }
}

static void *work(void *data)
{
    struct worker *worker = data;

    change_device(worker);
    while (!over)
        do_one(worker);
    for (int i = 0; i < HELD; i++)
        autotune_plan_free(worker->plans[i]);
    return NULL;
}

static void test_all(void **state)
{
    const char *asked = getenv("AUTOTUNE_TEST_SECONDS");
    struct timespec time = {.tv_sec = asked ? atoi(asked) : 1};
    struct worker workers[THREADS] = {{0}};

    (void)state;
    for (int i = 0; i < THREADS; i++) {
        workers[i].seed = (unsigned)i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    nanosleep(&time, NULL);
    over = true;
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    assert_int_equal(failures, 0);
    assert_true(plans_made >= THREADS);
    for (int i = 0; i < DEVICES; i++)
        fake_cuda_renew_context(i); /* takes what was captured */
    autotune_clear();
    assert_int_equal(fake_cuda_modules, 0);
    assert_int_equal(fake_cuda_held, 0);
    assert_int_equal(fake_cuda_mistakes, 0);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

    return cmocka_run_group_tests(tests, set_up, measure_tear_down);
}
