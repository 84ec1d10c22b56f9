/* SPDX-License-Identifier: Apache-2.0 */
/* Builds trains of launches. */
#include "base/memory.h"
#include "measure/bench.h"

#include <stdlib.h>

/* Longer trains take more time to build than to run. */
enum { LAUNCHES_MAX = 1024 };

static uint64_t offset_bytes(const struct at_problem *problem, int64_t offset)
{
    return (uint64_t)(offset * problem->elem_size);
}

struct at_call at_bench_call(const struct at_bench *bench, const struct at_kernel *kernel,
                             const struct at_gpu_run *run, int64_t set)
{
    const struct at_buffers *tuned = &bench->cases[0];
    /* A copy's problem has no offset and may have another element size. It starts inside the red
     * zones, which are longer by the transpose's offset. */
    at_address dst = at_buffers_dst(tuned, set) +
                     offset_bytes(&run->problem, run->problem.offset_dst) -
                     offset_bytes(&tuned->problem, tuned->problem.offset_dst);
    at_address src = at_buffers_src(tuned, set) +
                     offset_bytes(&run->problem, run->problem.offset_src) -
                     offset_bytes(&tuned->problem, tuned->problem.offset_src);
    struct at_call call = {.kernel = kernel, .launch = run->launch, .cold = run->cold != 0};

    if (kernel)
        at_call_set_problem(&call, &run->problem, dst, src);
    else
        call.args[0] = dst, call.args[1] = src,
        call.args[2] = (uint64_t)(at_problem_bytes(&run->problem) / 2);
    return call;
}

/* Untimed launches at the start. They follow another kernel, whose traces one launch may not
 * remove: in a shoot-out of twelve the winner took 0.3 to 0.8 % longer than in one of two, where
 * half of its trains follow its own (H200). */
static size_t lead_in(int64_t launches)
{
    return launches < 10 ? 1 : (size_t)launches / 10;
}

static enum at_outcome make(struct at_bench *bench, const struct at_kernel *kernel,
                            const struct at_gpu_run *run, int64_t launches, struct at_train **train,
                            struct at_error *err)
{
    struct at_call *calls = at_alloc_array((size_t)launches, sizeof *calls);
    enum at_outcome outcome;

    for (int64_t i = 0; i < launches; i++)
        calls[i] = at_bench_call(bench, kernel, run, i % at_bench_sets(bench, run));
    outcome = bench->ops->make_train(bench->device, calls, (size_t)launches, lead_in(launches),
                                     train, err);
    at_free(calls);
    return outcome;
}

/* Times one launch, after an untimed one that has paid the first-launch costs. */
enum at_outcome at_train_estimate(struct at_bench *bench, const struct at_kernel *kernel,
                                  const struct at_gpu_run *run, struct at_train_time *launch,
                                  struct at_error *err)
{
    struct at_train *train;
    enum at_outcome outcome = make(bench, kernel, run, 1, &train, err);

    if (outcome != AT_CORRECT)
        return outcome;
    outcome = bench->ops->time_train(bench->device, train, launch, err);
    if (!at_outcome_loses_device(outcome))
        bench->ops->free_train(bench->device, train);
    return outcome;
}

/* Whole rounds of the sets, so that each is used equally often. */
static int64_t launches_for(double launch_ns, int64_t train_ns, int64_t sets)
{
    double wanted = launch_ns > 0 ? (double)train_ns / launch_ns : LAUNCHES_MAX;
    int64_t launches = wanted >= LAUNCHES_MAX ? LAUNCHES_MAX : (int64_t)wanted + 1;

    return (launches + sets - 1) / sets * sets;
}

enum at_outcome at_train_build(struct at_bench *bench, const struct at_kernel *kernel,
                               const struct at_gpu_run *run, double launch_ns, int64_t train_ns,
                               struct at_train **train, int64_t *launches, struct at_error *err)
{
    *launches = launches_for(launch_ns, train_ns, at_bench_sets(bench, run));
    return make(bench, kernel, run, *launches, train, err);
}
