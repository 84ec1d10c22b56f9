/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench.h"

enum at_outcome at_bench_harness(struct at_bench *bench, const void *image, size_t size,
                                 struct at_error *err)
{
    enum at_outcome outcome = at_harness_load(&bench->harness, bench->device, image, size, err);

    if (outcome == AT_CORRECT && !bench->results)
        outcome = bench->ops->allocate(
            bench->device, AT_CHECKS_MAX * sizeof(struct at_check_result), &bench->results, err);
    return outcome;
}

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
        at_buffers_release(&bench->cases[--bench->case_count], bench->device);
    while (bench->case_count < count && outcome == AT_CORRECT) {
        outcome = at_buffers_make(&bench->cases[bench->case_count], bench->device, &bench->harness,
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

bool at_bench_is_large(const struct at_bench *bench, const struct at_gpu_run *run)
{
    int64_t l2_bytes = ((const struct at_device_base *)bench->device)->info.l2_bytes;

    return at_problem_bytes(&run->problem) >= 2 * l2_bytes;
}

enum at_outcome at_bench_refill(struct at_bench *bench, struct at_error *err)
{
    enum at_outcome outcome = AT_CORRECT;

    for (size_t i = 0; i < bench->case_count && outcome == AT_CORRECT; i++)
        outcome = at_buffers_fill(&bench->cases[i], bench->device, &bench->harness, err);
    return outcome;
}
