/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/shootout.h"

#include "base/memory.h"
#include "base/stats.h"
#include "pipeline/cases.h"
#include "pipeline/pipeline.h"

#include <stdlib.h>

enum at_status at_shootout_prepare(struct at_session *session, const struct at_problem *tuned,
                                   struct at_error *err)
{
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t count = at_cases_for(tuned, session->options.policy, at_gpu_info(session->gpu), cases);

    return at_gpu_prepare(session->gpu, cases, count, err);
}

enum at_status at_shootout_build(struct at_session *session, struct at_contestant *contestants,
                                 size_t count, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count; i++)
        if (contestants[i].config)
            at_builder_add(session->builder, contestants[i].config,
                           at_problem_kind(&contestants[i].problem), &contestants[i]);
    while (at_builder_pending(session->builder) > 0) {
        struct at_built built;
        struct at_contestant *contestant;
        enum at_status waited = at_builder_wait(session->builder, &built, err);

        if (waited != AT_OK) {
            at_builder_drop(session->builder);
            return waited;
        }
        contestant = built.owner;
        contestant->built = built;
        if (built.outcome != AT_CORRECT)
            status = at_fail(err, AT_FAILED, "%s does not compile: %s",
                             contestant->config->family->name, built.message);
    }
    for (size_t i = 0; i < count && status == AT_OK; i++)
        if (contestants[i].config)
            status = at_config_launch(contestants[i].config, &contestants[i].problem,
                                      at_gpu_info(session->gpu), &contestants[i].launch, err);
    return status;
}

/* A kernel that is wrong one time in fifty passes this many verifications one time in fifty. A
 * config that passed them on another problem of this run needs fewer. */
enum { WINNER_VERIFICATIONS = 200, VERIFICATIONS_AGAIN = 40 };

static struct at_gpu_run run_of(const struct at_session *session,
                                const struct at_contestant *contestant)
{
    return at_session_run(session, contestant->config ? &contestant->built : NULL,
                          &contestant->problem, &contestant->launch);
}

/* How a shoot-out takes its samples. */
struct rounds {
    int64_t train_ns, samples;
    bool all_sets; /* use all pairs of buffers, not only the search's */
};

/* Hold the shoot-out once; samples_ns has room for all contestants' samples. */
static enum at_outcome hold(struct at_session *session, struct at_contestant *contestants,
                            size_t count, struct rounds rounds, double *samples_ns,
                            struct at_error *err)
{
    struct at_gpu_run runs[AT_CONTESTANTS_MAX];
    struct at_gpu_kernel kernels[AT_CONTESTANTS_MAX];
    struct at_program *programs[AT_CONTESTANTS_MAX];
    const struct at_gpu_shootout wanted = {
        .runs = runs,
        .programs = programs,
        .count = count,
        .train_ns = rounds.train_ns,
        .samples = rounds.samples,
        .limit_ns = (int64_t)count * at_evaluation_limit_ns(session, &contestants[0].problem),
        .samples_ns = samples_ns,
        .kernels = kernels,
    };
    enum at_outcome outcome;

    for (size_t i = 0; i < count; i++) {
        runs[i] = run_of(session, &contestants[i]);
        if (rounds.all_sets)
            runs[i].sets = 0;
        programs[i] = contestants[i].config ? contestants[i].built.program : NULL;
    }
    outcome = at_gpu_shootout(session->gpu, &wanted, err);
    for (size_t i = 0; i < count && outcome == AT_CORRECT; i++)
        contestants[i].kernel = kernels[i];
    return outcome;
}

static enum at_status time_contestants(struct at_session *session,
                                       struct at_contestant *contestants, size_t count,
                                       struct rounds rounds, struct at_error *err)
{
    size_t samples = (size_t)rounds.samples;
    double *ns = at_alloc_array(count * samples, sizeof *ns);
    struct at_error why;
    enum at_outcome outcome = hold(session, contestants, count, rounds, ns, &why);

    if (at_outcome_loses_device(outcome))
        outcome = hold(session, contestants, count, rounds, ns, &why);
    for (size_t i = 0; i < count && outcome == AT_CORRECT; i++) {
        free(contestants[i].samples_ns);
        contestants[i].samples_ns = at_memdup(ns + i * samples, samples * sizeof *ns);
        contestants[i].time_ns = at_median(contestants[i].samples_ns, samples);
    }
    free(ns);
    if (outcome == AT_CORRECT)
        return AT_OK;
    return at_fail(err, AT_FAILED, "the shoot-out ended with %s: %s", at_outcome_names[outcome],
                   why.message);
}

enum at_status at_shootout_time(struct at_session *session, struct at_contestant *contestants,
                                size_t count, struct at_error *err)
{
    const struct at_policy *policy = session->options.policy;

    return time_contestants(
        session, contestants, count,
        (struct rounds){policy->shootout_train_ns, policy->shootout_samples, true}, err);
}

enum at_status at_shootout_time_briefly(struct at_session *session,
                                        struct at_contestant *contestants, size_t count,
                                        struct at_error *err)
{
    const struct at_policy *policy = session->options.policy;

    return time_contestants(session, contestants, count,
                            (struct rounds){policy->search_train_ns, policy->search_samples, false},
                            err);
}

/* The profiler's libraries take seconds to load. */
static const int64_t profiler_ns = 60000000000;

enum at_status at_shootout_count(struct at_session *session, const struct at_contestant *contestant,
                                 struct at_counters *counters, struct at_error *err)
{
    struct at_gpu_run run = run_of(session, contestant);

    return at_gpu_count(session->gpu, &run, contestant->built.program,
                        profiler_ns + at_evaluation_limit_ns(session, &contestant->problem),
                        counters, err);
}

void at_shootout_end(struct at_contestant *contestants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        at_program_release(contestants[i].built.program);
        free(contestants[i].samples_ns);
    }
}

static enum at_status verify(struct at_session *session, const struct at_contestant *contestant,
                             int64_t more, struct at_measurement *measurement, struct at_error *err)
{
    struct at_gpu_evaluation wanted = {
        .program = contestant->built.program,
        .run = run_of(session, contestant),
        .timing = {.train_ns = session->options.policy->search_train_ns,
                   .samples = 1,
                   .verify_more = at_verify_more(session, more)},
        .limit_ns = at_evaluation_limit_ns(session, &contestant->problem),
    };
    const struct at_device_info *device = at_gpu_info(session->gpu);
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t case_count = at_cases_for(&contestant->problem, session->options.policy, device, cases);
    enum at_status status = at_cases_trials(contestant->config, device, cases, case_count,
                                            wanted.trials, &wanted.trial_count, err);

    if (status == AT_OK)
        status = at_gpu_evaluate(session->gpu, &wanted, err);
    if (status == AT_OK)
        at_gpu_take(session->gpu, measurement);
    return status;
}

enum at_status at_shootout_verify(struct at_session *session,
                                  const struct at_contestant *contestant,
                                  struct at_measurement *measurement, struct at_error *err)
{
    bool again = at_warm_start_has(&session->warm_start, contestant->config,
                                   at_problem_kind(&contestant->problem));

    return verify(session, contestant, again ? VERIFICATIONS_AGAIN : WINNER_VERIFICATIONS,
                  measurement, err);
}

enum at_status at_shootout_verify_briefly(struct at_session *session,
                                          const struct at_contestant *contestant,
                                          struct at_measurement *measurement, struct at_error *err)
{
    return verify(session, contestant, 0, measurement, err);
}

enum at_status at_shootout_require(struct at_session *session,
                                   const struct at_contestant *contestant, const char *label,
                                   struct at_error *err)
{
    struct at_measurement measurement = {0};
    enum at_status status = at_shootout_verify(session, contestant, &measurement, err);

    if (status == AT_OK && measurement.outcome != AT_CORRECT)
        status = at_fail(err, AT_FAILED, "%s%s%s: %s", label ? label : "", label ? ": " : "",
                         at_outcome_names[measurement.outcome], measurement.message);
    at_measurement_clear(&measurement);
    return status;
}
