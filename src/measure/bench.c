/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench.h"

#include "base/clock.h"
#include "base/memory.h"
#include "problem/arguments.h"

#include <stdio.h>

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
        at_problem_args(&run->problem, &call.launch, dst, src, call.args, call.arg_words);
    else
        call.args[0] = dst, call.args[1] = src,
        call.args[2] = (uint64_t)(at_problem_bytes(&run->problem) / 2);
    return call;
}

/* ---- verification ---- */

/* A transpose is exact, so every bit of the result is compared, and every byte that the kernel must
 * not change. */

enum check_kind {
    CHECK_DESTINATION,
    CHECK_SOURCE,
    CHECK_RESTORED, /* in place: either this check or the preceding one of the destination must hold
                     */
};

static enum at_outcome (*const start_kind[])(const struct at_buffers *, struct at_device *,
                                             const struct at_harness *, int64_t, at_address,
                                             struct at_error *) = {
    [CHECK_DESTINATION] = at_buffers_check,
    [CHECK_SOURCE] = at_buffers_check_source,
    [CHECK_RESTORED] = at_buffers_check_restored,
};

/* A started check; its result has the same index on the device. */
struct started_check {
    const struct at_buffers *buffers;
    enum check_kind kind;
};

struct verification {
    struct at_bench *bench;
    struct started_check checks[AT_CHECKS_MAX];
    size_t count;
};

/* Clear the results: no mismatch, and the first one at the largest index. */
static enum at_outcome clear_results(struct at_bench *bench, struct at_error *err)
{
    static const struct at_check_result none = {0, UINT64_MAX};
    struct at_check_result cleared[AT_CHECKS_MAX];

    for (size_t i = 0; i < AT_CHECKS_MAX; i++)
        cleared[i] = none;
    return bench->ops->write(bench->device, bench->results, cleared, sizeof cleared, err);
}

static enum at_outcome start_check(struct verification *verification,
                                   const struct at_buffers *buffers, int64_t set,
                                   enum check_kind kind, struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    at_address result = bench->results + verification->count * sizeof(struct at_check_result);

    verification->checks[verification->count++] = (struct started_check){buffers, kind};
    return start_kind[kind](buffers, bench->device, &bench->harness, set, result, err);
}

/* Start a call between two marks. */
static enum at_outcome start_timed(struct at_bench *bench, const struct at_call *call,
                                   struct at_error *err)
{
    enum at_outcome outcome = bench->ops->mark(bench->device, AT_BEFORE, err);

    if (outcome == AT_CORRECT)
        outcome = bench->ops->start(bench->device, call, err);
    return outcome == AT_CORRECT ? bench->ops->mark(bench->device, AT_AFTER, err) : outcome;
}

/* Start a trial: reset the destination, run the kernel, check. */
static enum at_outcome start_trial(struct verification *verification,
                                   const struct at_kernel *kernel, const struct at_launch *launch,
                                   const struct at_buffers *buffers, int64_t set, bool timed,
                                   struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    struct at_call call = {.kernel = kernel, .launch = *launch};
    enum at_outcome outcome = at_buffers_reset(buffers, bench->device, &bench->harness, set, err);

    at_problem_args(&buffers->problem, &call.launch, at_buffers_dst(buffers, set),
                    at_buffers_src(buffers, set), call.args, call.arg_words);
    if (outcome == AT_CORRECT)
        outcome =
            timed ? start_timed(bench, &call, err) : bench->ops->start(bench->device, &call, err);
    if (outcome == AT_CORRECT)
        outcome = start_check(verification, buffers, set, CHECK_DESTINATION, err);
    return outcome;
}

static enum at_outcome report(const struct started_check *check,
                              const struct at_check_result *result, struct at_error *err)
{
    const struct at_buffers *buffers = check->buffers;
    bool source = check->kind == CHECK_SOURCE;
    int64_t zone = source ? buffers->src_zone : buffers->dst_zone;
    char *problem = at_problem_format(&buffers->problem);

    at_fail(err, AT_FAILED, "%s: %ju wrong elements in the %s, the first at %jd", problem,
            (uintmax_t)result->mismatches, source ? "source" : "destination",
            (intmax_t)result->first - (intmax_t)(zone / buffers->problem.elem_size));
    at_free(problem);
    return AT_WRONG;
}

/* Wait for all checks and read their results. */
static enum at_outcome finish(struct verification *verification, struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    struct at_check_result results[AT_CHECKS_MAX];
    enum at_outcome outcome = bench->ops->read(bench->device, results, bench->results,
                                               verification->count * sizeof *results, err);

    for (size_t i = 0; i < verification->count && outcome == AT_CORRECT; i++) {
        bool two =
            i + 1 < verification->count && verification->checks[i + 1].kind == CHECK_RESTORED;

        if (results[i].mismatches != 0 && !(two && results[i + 1].mismatches == 0))
            outcome = report(&verification->checks[i], &results[i], err);
        i += two;
    }
    return outcome;
}

/* The run's sets to check: the first and the last. Sets differ only in their address; checking a
 * thousand of them would take longer than timing them. */
static size_t checked_sets(const struct at_bench *bench, const struct at_gpu_run *run,
                           int64_t sets[2])
{
    sets[0] = 0;
    sets[1] = at_bench_sets(bench, run) - 1;
    return sets[1] > 0 ? 2 : 1;
}

/* A launch this long is timed accurately in a queue of others. */
static const double long_ns = 50000;

enum at_outcome at_verify_before(struct at_bench *bench, const struct at_kernel *kernel,
                                 const struct at_gpu_run *run, const struct at_gpu_trial *trials,
                                 size_t trial_count, struct at_verified_launch *launch,
                                 struct at_error *err)
{
    struct verification verification = {.bench = bench};
    const struct at_buffers *tuned = &bench->cases[0];
    bool timed = launch && bench->ops->mark && at_bench_is_large(bench, run);
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < trial_count && outcome == AT_CORRECT; i++) {
        const struct at_buffers *buffers = &bench->cases[trials[i].case_index];

        outcome = start_trial(&verification, kernel, &trials[i].launch, buffers, 0, false, err);
        if (outcome == AT_CORRECT)
            outcome = start_check(&verification, buffers, 0, CHECK_SOURCE, err);
    }
    for (size_t i = 0; i < set_count && outcome == AT_CORRECT; i++) {
        outcome = start_trial(&verification, kernel, &run->launch, tuned, sets[i], timed, err);
        if (!timed || outcome != AT_CORRECT)
            continue;
        outcome = finish(&verification, err);
        if (outcome == AT_CORRECT)
            outcome = bench->ops->between(bench->device, &launch->ns, err);
        if (launch->give_up_ns > 0 && launch->ns > launch->give_up_ns)
            break;
    }
    if (timed && launch->ns < long_ns)
        launch->ns = 0;
    return outcome == AT_CORRECT && !timed ? finish(&verification, err) : outcome;
}

/* Check what launches have left in the run's sets: the sources, and the destinations if asked to.
 */
static enum at_outcome verify_left(struct at_bench *bench, const struct at_gpu_run *run,
                                   bool destinations, struct at_error *err)
{
    struct verification verification = {.bench = bench};
    const struct at_buffers *tuned = &bench->cases[0];
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < set_count && outcome == AT_CORRECT; i++) {
        if (destinations)
            outcome = start_check(&verification, tuned, sets[i], CHECK_DESTINATION, err);
        /* The number of timed launches is unknown here; after an even number the matrix is
         * restored. */
        if (outcome == AT_CORRECT && destinations && tuned->problem.in_place)
            outcome = start_check(&verification, tuned, sets[i], CHECK_RESTORED, err);
        if (outcome == AT_CORRECT)
            outcome = start_check(&verification, tuned, sets[i], CHECK_SOURCE, err);
    }
    return outcome == AT_CORRECT ? finish(&verification, err) : outcome;
}

enum at_outcome at_verify_after(struct at_bench *bench, const struct at_gpu_run *run,
                                struct at_error *err)
{
    return verify_left(bench, run, true, err);
}

enum at_outcome at_verify_sources(struct at_bench *bench, const struct at_gpu_run *run,
                                  struct at_error *err)
{
    return verify_left(bench, run, false, err);
}

/* Launches whose results are read together. */
enum { ROUND_LAUNCHES = 8 };

enum at_outcome at_verify_often(struct at_bench *bench, const struct at_kernel *kernel,
                                const struct at_gpu_run *run, int64_t times, int64_t limit_ns,
                                struct at_error *err)
{
    const struct at_buffers *tuned = &bench->cases[0];
    int64_t ends_ns = at_now_ns() + limit_ns;
    enum at_outcome outcome = AT_CORRECT;

    for (int64_t done = 0; outcome == AT_CORRECT && done < times && at_now_ns() < ends_ns;) {
        struct verification verification = {.bench = bench};

        outcome = clear_results(bench, err);
        for (int i = 0; i < ROUND_LAUNCHES && outcome == AT_CORRECT; i++, done++)
            outcome = start_trial(&verification, kernel, &run->launch, tuned, done % tuned->sets,
                                  false, err);
        if (outcome == AT_CORRECT)
            outcome = finish(&verification, err);
    }
    return outcome;
}
