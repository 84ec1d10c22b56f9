/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/time_config.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "device/kind.h"
#include "lookup/rivals.h"
#include "measure/race.h"
#include "pipeline/shootout.h"

#include <math.h>
#include <stdlib.h>

/* ---- one config ---- */

enum at_status at_time_config(struct at_session *session, const struct at_config *config,
                              const struct at_problem *problem, struct at_config_time *time,
                              struct at_counters *counters, struct at_error *err)
{
    size_t samples = (size_t)session->options.policy->shootout_samples;
    struct at_contestant contestant = {.config = config, .problem = *problem};
    enum at_status status = at_session_check_memory(session, problem, 1, err);

    if (status == AT_OK)
        status = at_shootout_build(session, &contestant, 1, err);
    if (status == AT_OK)
        status = at_shootout_prepare(session, problem, err);
    if (status == AT_OK)
        status = at_shootout_require(session, &contestant, config->family->name, err);
    if (status == AT_OK)
        status = at_shootout_time(session, &contestant, 1, err);
    if (status == AT_OK && counters)
        status = at_shootout_count(session, &contestant, counters, err);
    if (status == AT_OK)
        *time = (struct at_config_time){
            .ns = contestant.time_ns,
            .spread_permille = at_spread_permille(contestant.samples_ns, samples),
            .samples = (int64_t)samples,
        };
    at_shootout_end(&contestant, 1);
    return status;
}

/* ---- an answer and its rivals ---- */

_Static_assert(1 + AT_RIVALS_MAX <= AT_CONTESTANTS_MAX, "all take part in one shoot-out");

struct race {
    struct at_session *session;
    struct at_problem problem;
    struct at_answer answers[1 + AT_RIVALS_MAX]; /* the looked-up one first */
    size_t answer_count;
    struct at_contestant contestants[1 + AT_RIVALS_MAX]; /* those that are correct */
    const struct at_answer *runs[1 + AT_RIVALS_MAX];     /* the contestants' */
    size_t count;
};

static void precompile(const struct race *race)
{
    for (size_t i = 1; i < race->answer_count; i++)
        at_builder_precompile(race->session->builder, &race->answers[i].config,
                              at_problem_kind(&race->problem));
}

/* Build and verify a config; it takes part if it is correct. Only a lost device is a failure. */
static enum at_status admit(struct race *race, const struct at_answer *answer, struct at_error *err)
{
    struct at_contestant *contestant = &race->contestants[race->count];
    struct at_measurement measurement = {0};
    enum at_status status;

    *contestant = (struct at_contestant){.config = &answer->config, .problem = race->problem};
    status = at_shootout_build(race->session, contestant, 1, err);
    if (status == AT_OK)
        status = at_shootout_verify_briefly(race->session, contestant, &measurement, err);
    if (status == AT_OK && measurement.outcome == AT_CORRECT)
        race->runs[race->count++] = answer;
    else
        at_shootout_end(contestant, 1);
    at_measurement_clear(&measurement);
    return status == AT_FAILED ? AT_OK : status;
}

static enum at_status admit_all(struct race *race, int64_t ends_ns, struct at_error *err)
{
    enum at_status status = at_shootout_prepare(race->session, &race->problem, err);

    for (size_t i = 0; i < race->answer_count && status == AT_OK; i++)
        if (i == 0 || at_now_ns() < ends_ns)
            status = admit(race, &race->answers[i], err);
    at_builder_drop(race->session->builder);
    return status;
}

static void take(const struct race *race, struct at_answer *answer)
{
    size_t samples = (size_t)race->session->options.policy->search_samples, winner;
    const double *samples_ns[1 + AT_RIVALS_MAX];
    bool has_incumbent = race->runs[0] == &race->answers[0];

    for (size_t i = 0; i < race->count; i++)
        samples_ns[i] = race->contestants[i].samples_ns;
    winner = at_race_winner(samples_ns, race->count, samples, has_incumbent);
    *answer = *race->runs[winner];
    answer->measured = (struct at_measured){
        .time_ns = llround(race->contestants[winner].time_ns),
        .configs = (int64_t)race->count,
        .predicted = race->session->kind->predicted,
    };
    if (has_incumbent)
        answer->measured.looked_up_ns = llround(race->contestants[0].time_ns);
}

enum at_status at_measure_answer(struct at_session *session, const struct at_lookup *lookup,
                                 const struct at_query *query, int64_t budget_ns,
                                 struct at_answer *answer, struct at_error *err)
{
    struct race *race = at_alloc(sizeof *race);
    int64_t ends_ns = at_now_ns() + budget_ns;
    enum at_status status = AT_OK;

    race->session = session;
    race->problem = *query->problem;
    race->answers[0] = *answer;
    race->answer_count = 1 + at_rivals_find(lookup, query, answer, &race->answers[1]);
    if (race->answer_count > 1) {
        status = at_session_check_memory(session, &race->problem, 1, err);
        if (status == AT_OK) {
            precompile(race);
            status = admit_all(race, ends_ns, err);
        }
        if (status == AT_OK && race->count == 0)
            status = at_fail(err, AT_FAILED, "neither the looked-up config nor a rival is correct");
        if (status == AT_OK && (race->count > 1 || race->runs[0] != &race->answers[0]))
            status = at_shootout_time_briefly(session, race->contestants, race->count, err);
        if (status == AT_OK && race->contestants[0].samples_ns)
            take(race, answer);
    }
    at_shootout_end(race->contestants, race->count);
    free(race);
    return status;
}
