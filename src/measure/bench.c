/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench.h"

/* Are these cases prepared already? A shoot-out's are, after its search. */
static bool is_prepared(const struct at_bench *bench, const struct at_gpu_case *cases, size_t count)
{
    bool same = count > 0 && count == bench->case_count;

    for (size_t i = 0; i < count && same; i++)
        same = bench->cases[i].sets == cases[i].sets &&
               at_problem_equal(&bench->cases[i].problem, &cases[i].problem);
    return same;
}

enum at_outcome at_bench_prepare(struct at_bench *bench, const struct at_gpu_case *cases,
                                 size_t count, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    if (is_prepared(bench, cases, count)) {
        outcome = at_bench_refill(bench, err);
        return outcome == AT_CORRECT ? bench->ops->wait(bench->device, err) : outcome;
    }
    while (bench->case_count > 0)
        at_buffers_release(bench, &bench->cases[--bench->case_count]);
    if (!bench->results)
        outcome = bench->ops->allocate(
            bench->device, AT_CHECKS_MAX * sizeof(struct at_check_result), &bench->results, err);
    while (bench->case_count < count && outcome == AT_CORRECT) {
        outcome = at_buffers_make(bench, &bench->cases[bench->case_count],
                                  &cases[bench->case_count], err);
        if (outcome == AT_CORRECT)
            bench->case_count++;
    }
    return outcome == AT_CORRECT ? bench->ops->wait(bench->device, err) : outcome;
}

int64_t at_bench_sets(const struct at_bench *bench, const struct at_gpu_run *run)
{
    int64_t all = bench->cases[0].sets;

    return run->sets > 0 && run->sets < all ? run->sets : all;
}

enum at_outcome at_bench_refill(struct at_bench *bench, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < bench->case_count && outcome == AT_CORRECT; i++)
        outcome = at_buffers_fill(bench, &bench->cases[i], err);
    return outcome;
}

static uint64_t offset_bytes(const struct at_problem *problem, enum at_side side)
{
    return (uint64_t)at_problem_side_bytes(
        problem, side, side == AT_SOURCE ? problem->offset_src : problem->offset_dst);
}

struct at_call at_bench_call(const struct at_bench *bench, const struct at_kernel *kernel,
                             const struct at_gpu_run *run, int64_t set, int64_t pass)
{
    const struct at_buffers *tuned = &bench->cases[0];
    /* A copy's problem has no offset and may have another element size. It starts inside the red
     * zones, which are longer by the transpose's offset. */
    at_address dst = at_buffer_of(&tuned->dst, set) + offset_bytes(&run->problem, AT_DESTINATION) -
                     offset_bytes(&tuned->problem, AT_DESTINATION);
    at_address src = at_buffer_of(&tuned->src, set) + offset_bytes(&run->problem, AT_SOURCE) -
                     offset_bytes(&tuned->problem, AT_SOURCE);
    struct at_call call = {.kernel = kernel, .launch = run->launch, .cold = run->cold != 0};

    call.launch.field[AT_PASS] = pass;
    if (kernel)
        at_buffers_put_args(&call, tuned, &run->problem, set, dst, src, 0);
    else
        call.args[0] = dst, call.args[1] = src,
        call.args[2] = (uint64_t)(at_problem_bytes(&run->problem) / 2);
    return call;
}
