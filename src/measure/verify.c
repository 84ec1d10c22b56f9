/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/verify.h"

#include "base/clock.h"
#include "base/memory.h"
#include "problem/arguments.h"

#include <stdio.h>

/* Is little of a run's data in L2 when a launch begins, whatever ran before it? */
static bool bench_is_large(const struct at_bench *bench, const struct at_gpu_run *run)
{
    return at_problem_bytes(&run->problem) >= 2 * at_bench_info(bench)->l2_bytes;
}

/* A started check; its result has the same index on the device. */
struct started_check {
    const struct at_buffers *buffers;
    enum at_check_of what;
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

/* Start checks of what a kernel has written. */
static enum at_outcome start_output_checks(struct verification *verification,
                                           const struct at_buffers *buffers, int64_t set,
                                           struct at_error *err)
{
    bool all = at_step_has(&buffers->problem.step, AT_BLOCKS);
    enum at_outcome outcome =
        start_check(verification, buffers, set, all ? AT_OF_ALL : AT_OF_DESTINATION, err);

    if (outcome == AT_CORRECT && buffers->kept.pitch && !all)
        outcome = start_check(verification, buffers, set, AT_OF_KEPT, err);
    if (outcome == AT_CORRECT && at_step_has(&buffers->problem.step, AT_AMAX))
        outcome = start_check(verification, buffers, set, AT_OF_LARGEST, err);
    if (outcome == AT_CORRECT && buffers->sums.pitch && !all)
        outcome = start_check(verification, buffers, set, AT_OF_SUMS, err);
    if (outcome == AT_CORRECT && !buffers->problem.in_place &&
        at_problem_scratch_most(&buffers->problem) > 0)
        outcome = start_check(verification, buffers, set, AT_OF_SCRATCH, err);
    return outcome;
}

/* Start all launches of a transpose, between two marks if it is timed. */
static enum at_outcome start_passes(struct at_bench *bench, struct at_call *call,
                                    const struct at_buffers *buffers, int64_t set, bool timed,
                                    at_address skip, struct at_error *err)
{
    enum at_outcome outcome = timed ? bench->ops->mark(bench->device, AT_BEFORE, err) : AT_CORRECT;

    for (int64_t i = 0; i < at_launch_passes(&call->launch) && outcome == AT_CORRECT; i++) {
        call->launch.field[AT_PASS] = i;
        at_buffers_put_args(call, buffers, &buffers->problem, set, at_buffer_of(&buffers->dst, set),
                            at_buffer_of(&buffers->src, set), skip);
        outcome = bench->ops->start(bench->device, call, err);
    }
    return timed && outcome == AT_CORRECT ? bench->ops->mark(bench->device, AT_AFTER, err)
                                          : outcome;
}

/* Reset the outputs and run the kernel. skip: the address of a flag, or 0. */
static enum at_outcome start_afresh(struct at_bench *bench, const struct at_kernel *kernel,
                                    const struct at_launch *launch,
                                    const struct at_buffers *buffers, int64_t set, bool timed,
                                    at_address skip, struct at_error *err)
{
    struct at_call call = {.kernel = kernel, .launch = *launch};
    enum at_outcome outcome = at_buffers_reset(bench, buffers, set, err);

    return outcome == AT_CORRECT ? start_passes(bench, &call, buffers, set, timed, skip, err)
                                 : outcome;
}

/* Start a trial, and check what it writes. */
static enum at_outcome start_trial(struct verification *verification,
                                   const struct at_kernel *kernel, const struct at_launch *launch,
                                   const struct at_buffers *buffers, int64_t set, bool timed,
                                   struct at_error *err)
{
    enum at_outcome outcome =
        start_afresh(verification->bench, kernel, launch, buffers, set, timed, 0, err);

    if (outcome == AT_CORRECT)
        outcome = start_output_checks(verification, buffers, set, err);
    /* A GPU tells of a fault when other launches have been started. */
    if (outcome != AT_CORRECT && verification->bench->ops->view) {
        char *problem = at_problem_format(&buffers->problem);

        at_fail_within(err, "%s", problem);
        at_free(problem);
    }
    return outcome;
}

/* Start a launch that is to be skipped, and check that it writes nothing. */
static enum at_outcome start_skipped(struct verification *verification,
                                     const struct at_kernel *kernel, const struct at_launch *launch,
                                     const struct at_buffers *buffers, struct at_error *err)
{
    at_address flag = buffers->values + at_values_lay_out(&buffers->problem.step).flag;
    enum at_outcome outcome =
        start_afresh(verification->bench, kernel, launch, buffers, 0, false, flag, err);

    return outcome == AT_CORRECT ? start_check(verification, buffers, 0, AT_OF_NOTHING, err)
                                 : outcome;
}

static enum at_outcome report(const struct started_check *check,
                              const struct at_check_result *result, struct at_error *err)
{
    static const char *const names[] = {[AT_OF_SOURCE] = "source",
                                        [AT_OF_SECOND] = "second source",
                                        [AT_OF_DESTINATION] = "destination",
                                        [AT_OF_RESTORED] = "destination",
                                        [AT_OF_KEPT] = "second result"};
    const struct at_buffers *buffers = check->buffers;
    int64_t zone = at_checked_buffer(buffers, check->what)->zone;
    char *problem = at_problem_format(&buffers->problem);

    if (check->what == AT_OF_ALL)
        at_fail(err, AT_FAILED, "%s: %ju wrong bytes in the results and their scales", problem,
                (uintmax_t)result->mismatches);
    else if (check->what == AT_OF_NOTHING)
        at_fail(err, AT_FAILED, "%s: a launch that is to be skipped has written something",
                problem);
    else if (check->what == AT_OF_LARGEST)
        at_fail(err, AT_FAILED, "%s: the largest magnitude is not %g", problem,
                (double)at_f32_of(buffers->largest));
    else if (check->what == AT_OF_SUMS)
        at_fail(err, AT_FAILED, "%s: %ju wrong bytes in the sums", problem,
                (uintmax_t)result->mismatches);
    else if (check->what == AT_OF_SCRATCH)
        at_fail(err, AT_FAILED, "%s: the scratch memory was not cleared", problem);
    else
        at_fail(err, AT_FAILED, "%s: %ju wrong elements in the %s, the first at %jd", problem,
                (uintmax_t)result->mismatches, names[check->what],
                (intmax_t)result->first -
                    (intmax_t)(zone / at_checked_size(&buffers->problem, check->what)));
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
    size_t set_count = launch && launch->in_trials ? 0 : checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < trial_count && outcome == AT_CORRECT; i++) {
        const struct at_buffers *buffers = &bench->cases[trials[i].case_index];

        outcome = start_trial(&verification, kernel, &trials[i].launch, buffers, 0, false, err);
        if (outcome == AT_CORRECT)
            outcome = start_source_checks(&verification, buffers, 0, err);
    }
    if (trial_count > 0 && outcome == AT_CORRECT &&
        (at_step_has_outputs(&tuned->problem.step) || at_step_has(&tuned->problem.step, AT_BLOCKS)))
        outcome = start_skipped(&verification, kernel, &trials[0].launch,
                                &bench->cases[trials[0].case_index], err);
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

/* Start checks of what timed launches have left in place of destinations. In place, their number is
 * unknown here. After an even number a square is restored; any other matrix is filled and
 * transposed once more. */
static enum at_outcome start_left_checks(struct verification *verification,
                                         const struct at_kernel *kernel,
                                         const struct at_launch *launch,
                                         const struct at_buffers *buffers, int64_t set,
                                         struct at_error *err)
{
    const struct at_problem *problem = &buffers->problem;
    enum at_outcome outcome;

    if (problem->in_place && !at_problem_is_own_inverse(problem))
        return start_trial(verification, kernel, launch, buffers, set, false, err);
    outcome = start_output_checks(verification, buffers, set, err);
    return outcome == AT_CORRECT && problem->in_place
               ? start_check(verification, buffers, set, AT_OF_RESTORED, err)
               : outcome;
}

enum at_outcome at_verify_left(struct at_bench *bench, const struct at_kernel *kernel,
                               const struct at_gpu_run *run, bool destinations,
                               struct at_error *err)
{
    struct verification verification = {.bench = bench};
    const struct at_buffers *tuned = &bench->cases[0];
    int64_t sets[2];
    size_t set_count = checked_sets(bench, run, sets);
    enum at_outcome outcome = clear_results(bench, err);

    for (size_t i = 0; i < set_count && outcome == AT_CORRECT; i++) {
        if (destinations)
            outcome = start_left_checks(&verification, kernel, &run->launch, tuned, sets[i], err);
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
