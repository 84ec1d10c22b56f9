/* SPDX-License-Identifier: Apache-2.0 */
/* Times the library's calls, in wall time of the calling thread. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/stats.h"
#include "plan-run.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* With results/nvidia-h200.yaml these take kernels of all its families. */
static const autotune_problem timed[] = {
    {.elem_size = 4, .rows = 1000, .cols = 1000}, {.elem_size = 2, .rows = 8192, .cols = 4096},
    {.elem_size = 8, .rows = 511, .cols = 333},   {.elem_size = 1, .rows = 2000, .cols = 3000},
    {.elem_size = 2, .rows = 9973, .cols = 8191}, {.elem_size = 4, .rows = 3, .cols = 100000},
    {.elem_size = 4, .rows = 512, .cols = 512},
};

enum { BURST = 200, BURSTS = 101, LOOKUPS = 20000, REPEATS = 5, ROUNDS = 5 };

static void print_times(const char *what, const double *us, size_t count)
{
    printf("%s: median %.2f us, max %.2f us\n", what, at_median(us, count),
           at_quantile(us, count, 1));
}

static void require_done(bool done, const char *doing)
{
    if (done)
        return;
    perror(doing);
    exit(1);
}

static double plan_us(const autotune_profile *profile, const autotune_problem *problem)
{
    autotune_plan *plan;
    autotune_error *error = NULL;
    int64_t start = at_now_ns(), end;

    require_ok(autotune_plan_create(&plan, profile, problem, &error), &error, "planning");
    end = at_now_ns();
    autotune_plan_free(plan);
    return 1e-3 * (double)(end - start);
}

/* Times each problem with an empty cache, in a folder of its own, and again with the filled one. */
static void time_plans(const autotune_profile *profile)
{
    char folder[] = "/tmp/autotune-plans-XXXXXX", *command;
    double cold[AT_COUNT(timed)][ROUNDS], warm[AT_COUNT(timed)][ROUNDS];

    printf("the first plan of the process: %.2f us\n", plan_us(profile, &timed[0]));
    require_done(mkdtemp(folder), folder);
    for (size_t round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < AT_COUNT(timed); i++) {
            char *cache = at_format("%s/%zu-%zu", folder, round, i);

            setenv("XDG_CACHE_HOME", cache, 1);
            cold[i][round] = plan_us(profile, &timed[i]);
            warm[i][round] = plan_us(profile, &timed[i]);
            free(cache);
        }
    for (size_t i = 0; i < AT_COUNT(timed); i++) {
        printf("%lld x %lld of %d bytes: ", (long long)timed[i].rows, (long long)timed[i].cols,
               (int)timed[i].elem_size);
        print_times("cold plan", cold[i], ROUNDS);
        print_times("    from the cache", warm[i], ROUNDS);
    }
    command = at_format("rm -r '%s'", folder);
    require_done(system(command) == 0, command);
    free(command);
}

/* An empty kernel with a plan's parameters. */
static CUfunction bare_kernel(void)
{
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry bare(.param .u64 a, .param .u64 b, .param .u64 c,\n"
                              ".param .u64 d, .param .u64 e, .param .u64 f, .param .u64 g,\n"
                              ".param .u64 h, .param .u64 i) { ret; }\n";
    CUmodule module;
    CUfunction function;

    require(at_cuda.cuModuleLoadData(&module, ptx), "loading the bare kernel");
    require(at_cuda.cuModuleGetFunction(&function, module, "bare"), "finding the bare kernel");
    return function;
}

/* Return nanoseconds per launch. The queue is empty before, and never full. */
static double burst(const autotune_plan *plan, CUfunction bare, CUdeviceptr data, CUstream stream)
{
    void *dst = (void *)data, *src = (void *)(data + 65536);
    long long size = 16;
    void *args[] = {&dst, &src, &size, &size, &size, &size, &size, &size, &size};
    int64_t start = at_now_ns(), end;

    for (int i = 0; i < BURST; i++)
        if (plan)
            autotune_plan_execute(plan, dst, src, stream, NULL);
        else
            at_cuda.cuLaunchKernel(bare, 1, 1, 1, 256, 1, 1, 0, stream, args, NULL);
    end = at_now_ns();
    require(at_cuda.cuStreamSynchronize(stream), "running a burst");
    return (double)(end - start) / BURST;
}

/* The two take turns, so that a disturbance hits both. */
static void time_execute(const autotune_profile *profile)
{
    const autotune_problem tiny = {.elem_size = 4, .rows = 16, .cols = 16};
    CUstream stream = make_stream();
    CUfunction bare = bare_kernel();
    autotune_plan *plan;
    autotune_error *error = NULL;
    CUdeviceptr data;
    double planned[BURSTS], launched[BURSTS];

    require_ok(autotune_plan_create(&plan, profile, &tiny, &error), &error, "planning");
    require(at_cuda.cuMemAlloc(&data, 131072), "allocating");
    for (int i = 0; i < BURSTS; i++) {
        planned[i] = 1e-3 * burst(plan, bare, data, stream);
        launched[i] = 1e-3 * burst(NULL, bare, data, stream);
    }
    print_times("execute", planned, BURSTS);
    print_times("bare launch", launched, BURSTS);
    printf("execute over a bare launch: %.3f us\n",
           at_median(planned, BURSTS) - at_median(launched, BURSTS));
    autotune_plan_free(plan);
    at_cuda.cuMemFree(data);
}

/* Sides from 64 to 65536, log-uniform, a third of them odd; elements of all sizes. */
static autotune_problem *random_problems(size_t count)
{
    autotune_problem *problems = at_alloc_array(count, sizeof *problems);
    struct at_rng rng = {1};

    for (size_t i = 0; i < count; i++) {
        int64_t sides[2];

        for (int j = 0; j < 2; j++) {
            sides[j] = (int64_t)exp2(6 + 1e-6 * (double)at_rng_below(&rng, 10000000));
            sides[j] = i % 3 ? (sides[j] + 15) / 16 * 16 : sides[j] | 1;
        }
        problems[i] = (autotune_problem){
            .elem_size = 1 << at_rng_below(&rng, 5), .rows = sides[0], .cols = sides[1]};
    }
    return problems;
}

/* Each lookup has another problem. */
static void time_lookup(const autotune_profile *profile)
{
    autotune_problem *problems = random_problems(LOOKUPS);
    autotune_device *device;
    autotune_error *error = NULL;
    double us[REPEATS];

    require_ok(autotune_device_current(&device, &error), &error, "the current device");
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        int64_t start = at_now_ns();

        for (size_t i = 0; i < LOOKUPS; i++) {
            autotune_answer *answer;

            require_ok(autotune_lookup(&answer, profile, device, &problems[i], NULL, &error),
                       &error, "looking up");
            autotune_answer_free(answer);
        }
        us[repeat] = 1e-3 * (double)(at_now_ns() - start) / LOOKUPS;
    }
    print_times("lookup", us, REPEATS);
    autotune_device_free(device);
    free(problems);
}

int time_calls(const autotune_profile *profile)
{
    time_lookup(profile);
    time_plans(profile);
    time_execute(profile);
    return 0;
}
