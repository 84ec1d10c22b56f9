/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/bench.h"

#include "base/clock.h"
#include "base/integer.h"
#include "base/memory.h"
#include "problem/problem.h"

#include <stdio.h>
#include <string.h>

enum { CHECKS_MAX = 3 * AT_CASES_MAX + 6 };

/* ---- cases and runs ---- */

enum at_outcome at_bench_harness(struct at_bench *bench, const void *image, size_t size,
                                 struct at_error *err)
{
    static const char *const entries[AT_HARNESS_KERNELS] = {
        [AT_POISON] = "at_poison",
        [AT_FILL_SOURCE] = "at_fill_source",
        [AT_FILL_SECOND] = "at_fill_second",
        [AT_CHECK] = "at_check",
        [AT_CHECK_TENSOR] = "at_check_tensor",
        [AT_CHECK_SOURCE] = "at_check_source",
    };
    const struct at_device_ops *ops = ((const struct at_device_base *)bench->device)->ops;
    enum at_outcome outcome = ops->load(bench->device, image, size, &bench->module, err);

    for (size_t i = 0; i < AT_COUNT(entries) && outcome == AT_CORRECT; i++)
        outcome = ops->find(bench->device, bench->module, entries[i], &bench->harness[i], err);
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
        at_buffers_release(bench, &bench->cases[--bench->case_count]);
    if (!bench->results)
        outcome = bench->ops->allocate(bench->device, CHECKS_MAX * sizeof(struct at_check_result),
                                       &bench->results, err);
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

/* Is little of a run's data in L2 when a launch begins, whatever ran before it? */
static bool bench_is_large(const struct at_bench *bench, const struct at_gpu_run *run)
{
    return at_problem_bytes(&run->problem) >= 2 * at_bench_info(bench)->l2_bytes;
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
    return (uint64_t)((side == AT_SOURCE ? problem->offset_src : problem->offset_dst) *
                      at_problem_elem_size(problem, side));
}

struct at_call at_bench_call(const struct at_bench *bench, const struct at_kernel *kernel,
                             const struct at_gpu_run *run, int64_t set)
{
    const struct at_buffers *tuned = &bench->cases[0];
    /* A copy's problem has no offset and may have another element size. It starts inside the red
     * zones, which are longer by the transpose's offset. */
    at_address dst = at_buffer_of(&tuned->dst, set) + offset_bytes(&run->problem, AT_DESTINATION) -
                     offset_bytes(&tuned->problem, AT_DESTINATION);
    at_address src = at_buffer_of(&tuned->src, set) + offset_bytes(&run->problem, AT_SOURCE) -
                     offset_bytes(&tuned->problem, AT_SOURCE);
    struct at_call call = {.kernel = kernel, .launch = run->launch, .cold = run->cold != 0};

    if (kernel)
        at_buffers_put_args(&call, tuned, &run->problem, set, dst, src);
    else
        call.args[0] = dst, call.args[1] = src,
        call.args[2] = (uint64_t)(at_problem_bytes(&run->problem) / 2);
    return call;
}

/* ---- verification ---- */

/* A transpose is exact, so every bit of the result is compared, and every byte that the kernel must
 * not change. */

/* A started check; its result has the same index on the device. */
struct started_check {
    const struct at_buffers *buffers;
    enum at_check_of what;
};

struct verification {
    struct at_bench *bench;
    struct started_check checks[CHECKS_MAX];
    size_t count;
};

/* Clear the results: no mismatch, and the first one at the largest index. */
static enum at_outcome clear_results(struct at_bench *bench, struct at_error *err)
{
    static const struct at_check_result none = {0, UINT64_MAX};
    struct at_check_result cleared[CHECKS_MAX];

    for (size_t i = 0; i < CHECKS_MAX; i++)
        cleared[i] = none;
    return bench->ops->write(bench->device, bench->results, cleared, sizeof cleared, err);
}

static enum at_outcome start_check(struct verification *verification,
                                   const struct at_buffers *buffers, int64_t set,
                                   enum at_check_of what, struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    at_address result = bench->results + verification->count * sizeof(struct at_check_result);

    verification->checks[verification->count++] = (struct started_check){buffers, what};
    return at_buffers_check(bench, buffers, set, what, result, err);
}

static enum at_outcome start_source_checks(struct verification *verification,
                                           const struct at_buffers *buffers, int64_t set,
                                           struct at_error *err)
{
    enum at_outcome outcome = start_check(verification, buffers, set, AT_OF_SOURCE, err);

    if (outcome == AT_CORRECT && buffers->second.pitch)
        outcome = start_check(verification, buffers, set, AT_OF_SECOND, err);
    return outcome;
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
    enum at_outcome outcome = at_buffers_reset(bench, buffers, set, err);

    at_buffers_put_args(&call, buffers, &buffers->problem, set, at_buffer_of(&buffers->dst, set),
                        at_buffer_of(&buffers->src, set));
    if (outcome == AT_CORRECT)
        outcome =
            timed ? start_timed(bench, &call, err) : bench->ops->start(bench->device, &call, err);
    if (outcome == AT_CORRECT)
        outcome = start_check(verification, buffers, set, AT_OF_DESTINATION, err);
    return outcome;
}

static enum at_outcome report(const struct started_check *check,
                              const struct at_check_result *result, struct at_error *err)
{
    static const char *const names[] = {[AT_OF_SOURCE] = "source",
                                        [AT_OF_SECOND] = "second source",
                                        [AT_OF_DESTINATION] = "destination",
                                        [AT_OF_RESTORED] = "destination"};
    const struct at_buffers *buffers = check->buffers;
    enum at_side side = check->what == AT_OF_SOURCE ? AT_SOURCE : AT_DESTINATION;
    int64_t zone = at_buffers_checked(buffers, check->what)->zone;
    char *problem = at_problem_format(&buffers->problem);

    at_fail(err, AT_FAILED, "%s: %ju wrong elements in the %s, the first at %jd", problem,
            (uintmax_t)result->mismatches, names[check->what],
            (intmax_t)result->first -
                (intmax_t)(zone / at_problem_elem_size(&buffers->problem, side)));
    at_free(problem);
    return AT_WRONG;
}

/* Wait for all checks and read their results. */
static enum at_outcome finish(struct verification *verification, struct at_error *err)
{
    struct at_bench *bench = verification->bench;
    struct at_check_result results[CHECKS_MAX];
    enum at_outcome outcome = bench->ops->read(bench->device, results, bench->results,
                                               verification->count * sizeof *results, err);

    for (size_t i = 0; i < verification->count && outcome == AT_CORRECT; i++) {
        bool two =
            i + 1 < verification->count && verification->checks[i + 1].what == AT_OF_RESTORED;

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
    bool timed = launch && bench->ops->mark && bench_is_large(bench, run);
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < trial_count && outcome == AT_CORRECT; i++) {
        const struct at_buffers *buffers = &bench->cases[trials[i].case_index];

        outcome = start_trial(&verification, kernel, &trials[i].launch, buffers, 0, false, err);
        if (outcome == AT_CORRECT)
            outcome = start_source_checks(&verification, buffers, 0, err);
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

enum at_outcome at_verify_left(struct at_bench *bench, const struct at_gpu_run *run,
                               bool destinations, struct at_error *err)
{
    struct verification verification = {.bench = bench};
    const struct at_buffers *tuned = &bench->cases[0];
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < set_count && outcome == AT_CORRECT; i++) {
        if (destinations)
            outcome = start_check(&verification, tuned, sets[i], AT_OF_DESTINATION, err);
        /* The number of timed launches is unknown here; after an even number the matrix is
         * restored. */
        if (outcome == AT_CORRECT && destinations && tuned->problem.in_place)
            outcome = start_check(&verification, tuned, sets[i], AT_OF_RESTORED, err);
        if (outcome == AT_CORRECT)
            outcome = start_source_checks(&verification, tuned, sets[i], err);
    }
    return outcome == AT_CORRECT ? finish(&verification, err) : outcome;
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
