/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls cost, in time of the calling thread. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "plan-run.h"

#include <stdio.h>

static const autotune_problem timed[] = {
    {.elem_size = 4, .rows = 1000, .cols = 1000},  {.elem_size = 2, .rows = 8192, .cols = 4096},
    {.elem_size = 8, .rows = 511, .cols = 333},    {.elem_size = 1, .rows = 2000, .cols = 3000},
    {.elem_size = 16, .rows = 256, .cols = 10000}, {.elem_size = 4, .rows = 3, .cols = 100000},
};

enum { BURST = 200, BURSTS = 101, LOOKUPS = 20000 };

static void print_times(const char *what, const double *us, size_t count)
{
    printf("%s: median %.2f us, max %.2f us\n", what, at_median(us, count),
           at_quantile(us, count, 1));
}

/* All problems, twice: the second time every kernel is in the cache, if not the first. */
static void time_plans(const autotune_profile *profile)
{
    double us[AT_COUNT(timed)];

    for (int round = 1; round <= 2; round++) {
        for (size_t i = 0; i < AT_COUNT(timed); i++) {
            autotune_plan *plan;
            autotune_error *error = NULL;
            int64_t start = at_now_ns();

            require_ok(autotune_plan_create(&plan, profile, &timed[i], &error), error, "planning");
            us[i] = 1e-3 * (double)(at_now_ns() - start);
            autotune_plan_free(plan);
            if (round == 1 && i == 0)
                printf("the first plan of the process: %.2f us\n", us[i]);
        }
        print_times(round == 1 ? "plans, first round" : "plans, second round", us, AT_COUNT(us));
    }
}

/* A kernel with a plan's parameters that does nothing. */
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

/* Nanoseconds a launch, with the queue empty before and never full. */
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

/* The two in turns, so that what disturbs one disturbs the other. */
static void time_execute(const autotune_profile *profile)
{
    const autotune_problem tiny = {.elem_size = 4, .rows = 16, .cols = 16};
    CUstream stream = make_stream();
    CUfunction bare = bare_kernel();
    autotune_plan *plan;
    autotune_error *error = NULL;
    CUdeviceptr data;
    double planned[BURSTS], launched[BURSTS];

    require_ok(autotune_plan_create(&plan, profile, &tiny, &error), error, "planning");
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

static void time_lookup(const autotune_profile *profile)
{
    autotune_device *device;
    autotune_error *error = NULL;
    int64_t start;

    require_ok(autotune_device_current(&device, &error), error, "the current device");
    start = at_now_ns();
    for (int i = 0; i < LOOKUPS; i++) {
        autotune_answer *answer;

        require_ok(autotune_lookup(&answer, profile, device, &timed[(size_t)i % AT_COUNT(timed)],
                                   NULL, &error),
                   error, "looking up");
        autotune_answer_free(answer);
    }
    printf("lookup: %.3f us\n", 1e-3 * (double)(at_now_ns() - start) / LOOKUPS);
    autotune_device_free(device);
}

int time_calls(const autotune_profile *profile)
{
    time_lookup(profile);
    time_plans(profile);
    time_execute(profile);
    return 0;
}
