/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/shootout.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "device/kind.h"
#include "lookup/rivals.h"
#include "measure/race.h"
#include "pipeline/cases.h"
#include "pipeline/session.h"
#include "system/interrupt.h"

#include <math.h>
#include <stdlib.h>

/* Prepare the buffers of a problem. */
static enum at_status prepare(struct at_session *session, const struct at_problem *tuned,
                              struct at_error *err)
{
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t count = at_cases_for(tuned, session->options.policy, &session->gpu->info, cases);

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
                                      &session->gpu->info, &contestants[i].launch, err);
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

/* How the contestants are timed: as the search does, only for their time_ns; or for times that are
 * reported, in all pairs of buffers. */
enum pace { BRIEFLY, FULLY };

static size_t sample_count(const struct at_session *session, enum pace pace)
{
    const struct at_policy *policy = session->options.policy;

    return (size_t)(pace == FULLY ? policy->shootout_samples : policy->search_samples);
}

/* Hold the shoot-out once; samples_ns has room for all contestants' samples. */
static enum at_outcome hold_once(struct at_session *session, struct at_contestant *contestants,
                                 size_t count, enum pace pace, double *samples_ns,
                                 struct at_error *err)
{
    const struct at_policy *policy = session->options.policy;
    struct at_gpu_run runs[AT_CONTESTANTS_MAX];
    struct at_gpu_kernel kernels[AT_CONTESTANTS_MAX];
    struct at_program *programs[AT_CONTESTANTS_MAX];
    const struct at_gpu_shootout wanted = {
        .runs = runs,
        .programs = programs,
        .count = count,
        .train_ns = pace == FULLY ? policy->shootout_train_ns : policy->search_train_ns,
        .samples = (int64_t)sample_count(session, pace),
        .limit_ns = (int64_t)count * at_evaluation_limit_ns(session, &contestants[0].problem),
        .samples_ns = samples_ns,
        .kernels = kernels,
    };
    enum at_outcome outcome;

    for (size_t i = 0; i < count; i++) {
        runs[i] = run_of(session, &contestants[i]);
        if (pace == FULLY)
            runs[i].sets = 0;
        programs[i] = contestants[i].config ? contestants[i].built.program : NULL;
    }
    outcome = at_gpu_shootout(session->gpu, &wanted, err);
    for (size_t i = 0; i < count && outcome == AT_CORRECT; i++)
        contestants[i].kernel = kernels[i];
    return outcome;
}

/* Time the contestants against each other, in the tuned problem's buffers, which also hold the
 * vector of as many bytes. Tried twice if the worker is lost; then AT_FAILED. */
static enum at_status time_contestants(struct at_session *session,
                                       struct at_contestant *contestants, size_t count,
                                       enum pace pace, struct at_error *err)
{
    size_t samples = sample_count(session, pace);
    double *ns = at_alloc_array(count * samples, sizeof *ns);
    struct at_error why;
    enum at_outcome outcome = hold_once(session, contestants, count, pace, ns, &why);

    if (at_outcome_loses_device(outcome))
        outcome = hold_once(session, contestants, count, pace, ns, &why);
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

double at_shootout_time_driver(struct at_session *session, const struct at_problem *vector)
{
    struct at_contestant driver = {.problem = *vector};
    enum at_status status = time_contestants(session, &driver, 1, BRIEFLY, NULL);

    at_shootout_end(&driver, 1);
    return status == AT_OK ? driver.time_ns : 0;
}

void at_shootout_end(struct at_contestant *contestants, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        at_program_release(contestants[i].built.program);
        free(contestants[i].samples_ns);
    }
}

/* Verify a contestant once, or as one that won. */
static enum at_status verify(struct at_session *session, const struct at_contestant *contestant,
                             bool won, struct at_measurement *measurement, struct at_error *err)
{
    bool again = at_warm_start_has(&session->warm_start, contestant->config,
                                   at_problem_kind(&contestant->problem));
    int64_t more = !won ? 0 : again ? VERIFICATIONS_AGAIN : WINNER_VERIFICATIONS;
    struct at_gpu_evaluation wanted = {
        .program = contestant->built.program,
        .run = run_of(session, contestant),
        .timing = {.train_ns = session->options.policy->search_train_ns,
                   .samples = 1,
                   .verify_more = at_verify_more(session, more)},
        .limit_ns = at_evaluation_limit_ns(session, &contestant->problem),
    };
    const struct at_device_info *device = &session->gpu->info;
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t case_count = at_cases_for(&contestant->problem, session->options.policy, device, cases);
    enum at_status status = at_cases_trials(contestant->config, device, cases, case_count, true,
                                            wanted.trials, &wanted.trial_count, err);

    if (status == AT_OK)
        status = at_gpu_evaluate(session->gpu, &wanted, err);
    if (status == AT_OK)
        at_gpu_take(session->gpu, measurement);
    return status;
}

/* Verify a contestant. AT_FAILED if its result is not correct. */
static enum at_status require_correct(struct at_session *session,
                                      const struct at_contestant *contestant, bool won,
                                      struct at_error *err)
{
    struct at_measurement measurement = {0};
    enum at_status status = verify(session, contestant, won, &measurement, err);

    if (status == AT_OK && measurement.outcome != AT_CORRECT)
        status = at_fail(err, AT_FAILED, "%s%s%s: %s", contestant->label,
                         contestant->label[0] ? ": " : "", at_outcome_names[measurement.outcome],
                         measurement.message);
    at_measurement_clear(&measurement);
    return status;
}

/* Build and verify a contestant in its problem's buffers, which are prepared. */
static enum at_status build_and_verify(struct at_session *session, struct at_contestant *contestant,
                                       struct at_error *err)
{
    enum at_status status = at_shootout_build(session, contestant, 1, err);

    return status == AT_OK ? require_correct(session, contestant, false, err) : status;
}

enum at_status at_shootout_check(struct at_session *session, struct at_contestant *contestant,
                                 struct at_error *err)
{
    enum at_status status = prepare(session, &contestant->problem, err);

    return status == AT_OK ? build_and_verify(session, contestant, err) : status;
}

/* Prepare a problem's buffers, unless *prepared is the same. */
static enum at_status prepare_other(struct at_session *session, const struct at_problem **prepared,
                                    const struct at_problem *problem, struct at_error *err)
{
    if (*prepared && at_problem_equal(*prepared, problem))
        return AT_OK;
    *prepared = problem;
    return prepare(session, problem, err);
}

enum at_status at_shootout_hold(struct at_session *session, const struct at_problem *problem,
                                struct at_contestant *contestants, size_t count,
                                struct at_error *err)
{
    const struct at_problem *prepared = NULL;
    enum at_status status = at_shootout_build(session, contestants, count, err);

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        if (!contestants[i].label)
            continue;
        if (contestants[i].label[0])
            at_progress_step(session->options.progress, contestants[i].label, i, count);
        status = at_interrupt_seen()
                     ? at_fail(err, AT_INTERRUPTED, "interrupted")
                     : prepare_other(session, &prepared, &contestants[i].problem, err);
        if (status == AT_OK)
            status = require_correct(session, &contestants[i], true, err);
    }
    if (status == AT_OK)
        status = prepare_other(session, &prepared, problem, err);
    if (status == AT_OK)
        status = time_contestants(session, contestants, count, FULLY, err);
    at_progress_clear(session->options.progress);
    return status;
}

/* ---- one config ---- */

/* The profiler's libraries take seconds to load. */
static const int64_t profiler_ns = 60000000000;

enum at_status at_time_config(struct at_session *session, const struct at_config *config,
                              const struct at_problem *problem, struct at_config_time *time,
                              struct at_counters *counters, struct at_error *err)
{
    size_t samples = sample_count(session, FULLY);
    struct at_contestant contestant = {
        .config = config, .problem = *problem, .label = config->family->name};
    enum at_status status = at_session_check_memory(session, problem, 1, err);

    if (status == AT_OK)
        status = at_shootout_hold(session, problem, &contestant, 1, err);
    if (status == AT_OK && counters) {
        struct at_gpu_run run = run_of(session, &contestant);

        status =
            at_gpu_count(session->gpu, &run, contestant.built.program,
                         profiler_ns + at_evaluation_limit_ns(session, problem), counters, err);
    }
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

/* Build and verify a config; it takes part if it is correct. Only a lost device is a failure. */
static enum at_status admit(struct race *race, const struct at_answer *answer, struct at_error *err)
{
    struct at_contestant *contestant = &race->contestants[race->count];
    enum at_status status;

    *contestant =
        (struct at_contestant){.config = &answer->config, .problem = race->problem, .label = ""};
    status = build_and_verify(race->session, contestant, err);
    if (status == AT_OK)
        race->runs[race->count++] = answer;
    else
        at_shootout_end(contestant, 1);
    return status == AT_FAILED ? AT_OK : status;
}

static enum at_status admit_all(struct race *race, int64_t ends_ns, struct at_error *err)
{
    struct at_progress *progress = race->session->options.progress;
    enum at_status status;

    for (size_t i = 1; i < race->answer_count; i++)
        at_builder_precompile(race->session->builder, &race->answers[i].config,
                              at_problem_kind(&race->problem));
    status = prepare(race->session, &race->problem, err);
    progress->steps_end_ns = ends_ns;
    for (size_t i = 0; i < race->answer_count && status == AT_OK; i++)
        if (i == 0 || at_now_ns() < ends_ns) {
            at_progress_step(progress, race->answers[i].config.family->name, i, race->answer_count);
            status = admit(race, &race->answers[i], err);
        }
    at_progress_clear(progress);
    progress->steps_end_ns = 0;
    at_builder_drop(race->session->builder);
    return status;
}

static void take(const struct race *race, struct at_answer *answer)
{
    size_t samples = sample_count(race->session, BRIEFLY), winner;
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

    *race = (struct race){.session = session, .problem = *query->problem, .answers = {*answer}};
    race->answer_count = 1 + at_rivals_find(lookup, query, answer, &race->answers[1]);
    if (race->answer_count > 1) {
        status = at_session_check_memory(session, &race->problem, 1, err);
        if (status == AT_OK)
            status = admit_all(race, ends_ns, err);
        if (status == AT_OK && race->count == 0)
            status = at_fail(err, AT_FAILED, "neither the looked-up config nor a rival is correct");
        if (status == AT_OK && (race->count > 1 || race->runs[0] != &race->answers[0]))
            status = time_contestants(session, race->contestants, race->count, BRIEFLY, err);
        if (status == AT_OK && race->contestants[0].samples_ns)
            take(race, answer);
    }
    at_shootout_end(race->contestants, race->count);
    free(race);
    return status;
}

/* ---- the finals of a search ---- */

/* At most this many of the fastest are timed again, if they are within this factor of the fastest.
 * Times measured seconds apart differ by 1 to 2 %, so the true best is seldom far down the list. */
enum { QUALIFIERS_MAX = 8 };
static const double qualifiers_within = 1.03;

/* Timed side by side, in a few rounds, they are known to some 3 in 1000. At most this many get
 * longer rounds, if they are within this factor of the fastest; and one copy, besides the
 * driver's. */
enum { FINALISTS_MAX = 3, COPIES_MAX = 1 };
static const double finalists_within = 1.006;

_Static_assert(QUALIFIERS_MAX + 2 + AT_COPIES_MAX + 1 <= AT_CONTESTANTS_MAX,
               "qualifiers, default, incumbent, copies and the driver's copy fit the shoot-out");

static size_t add_finalist(struct at_finals *finals, const struct at_config *config,
                           const struct at_problem *problem)
{
    finals->contestants[finals->count] =
        (struct at_contestant){.config = config, .problem = *problem};
    return finals->count++;
}

/* The place of a config among the finalists; SIZE_MAX: it is none. */
static size_t find_finalist(const struct at_finals *finals, const struct at_config *config)
{
    for (size_t i = 0; i < finals->finalists; i++)
        if (at_config_equal(finals->contestants[i].config, config))
            return i;
    return SIZE_MAX;
}

/* Collect the fastest configs of a search, the default (its index in the space; SIZE_MAX: none),
 * the incumbent (NULL: none; it may be outside the space) and the copies. */
static void finals_make(struct at_finals *finals, const struct at_search *search, size_t fallback,
                        const struct at_config *incumbent, const struct at_copies *copies)
{
    size_t best[QUALIFIERS_MAX], count = at_rank_best(search, best, QUALIFIERS_MAX);

    finals->fallback = finals->incumbent = SIZE_MAX;
    for (size_t i = 0; i < count; i++) {
        if (search->results[best[i]].time_ns > qualifiers_within * search->results[best[0]].time_ns)
            break;
        if (best[i] == fallback)
            finals->fallback = i;
        add_finalist(finals, &search->space.configs[best[i]], &search->problem);
    }
    if (finals->fallback == SIZE_MAX && at_search_found_correct(search, fallback))
        finals->fallback = add_finalist(finals, &search->space.configs[fallback], &search->problem);
    finals->finalists = finals->count;
    if (incumbent && (finals->incumbent = find_finalist(finals, incumbent)) == SIZE_MAX)
        finals->incumbent = add_finalist(finals, incumbent, &search->problem);
    finals->finalists = finals->count;
    for (size_t i = 0; i < copies->count; i++)
        add_finalist(finals, &copies->configs[i], &copies->problem);
    add_finalist(finals, NULL, &copies->problem);
}

/* Contestants from `first` to before `end`, of which `most` may stay. */
struct part {
    size_t first, end, most;
};

static bool has_chance(const struct at_finals *finals, size_t index, struct part part)
{
    const struct at_contestant *all = finals->contestants;
    size_t faster = 0;

    for (size_t i = part.first; i < part.end; i++) {
        if (all[index].time_ns > finalists_within * all[i].time_ns)
            return false;
        faster += all[i].time_ns < all[index].time_ns;
    }
    return faster < part.most;
}

static void remove_contestant(struct at_finals *finals, size_t index)
{
    at_shootout_end(&finals->contestants[index], 1);
    finals->count--;
    finals->finalists -= index < finals->finalists;
    memmove(&finals->contestants[index], &finals->contestants[index + 1],
            (finals->count - index) * sizeof finals->contestants[0]);
    if (finals->fallback != SIZE_MAX && finals->fallback > index)
        finals->fallback--;
    if (finals->incumbent != SIZE_MAX && finals->incumbent > index)
        finals->incumbent--;
}

void at_finals_keep(struct at_finals *finals)
{
    const struct part finalists = {0, finals->finalists, FINALISTS_MAX},
                      copies = {finals->finalists, finals->count - 1, COPIES_MAX};
    bool stays[AT_CONTESTANTS_MAX];

    for (size_t i = 0; i < copies.end; i++)
        stays[i] = i == finals->fallback || i == finals->incumbent ||
                   has_chance(finals, i, i < finalists.end ? finalists : copies);
    for (size_t i = copies.end; i-- > 0;)
        if (!stays[i])
            remove_contestant(finals, i);
}

/* If there are many finalists, time all contestants but the driver's copy briefly side by side, and
 * keep those that have a chance. They must be built, and their buffers prepared. */
static enum at_status finals_qualify(struct at_finals *finals, struct at_session *session,
                                     struct at_error *err)
{
    enum at_status status;

    if (finals->finalists <= FINALISTS_MAX)
        return AT_OK;
    status = time_contestants(session, finals->contestants, finals->count - 1, BRIEFLY, err);
    if (status == AT_OK)
        at_finals_keep(finals);
    return status;
}

/* ---- the winner ---- */

static int64_t parameters_off_default(const struct at_config *config)
{
    const struct at_config usual = at_family_default(config->family);
    int64_t count = 0;

    for (size_t i = 0; i < config->family->param_count; i++)
        count += config->values[i] != usual.values[i];
    return count;
}

/* The measures of simplicity, most important first; less is simpler. */
enum { MEASURES = 5 };

static void measure_simplicity(const struct at_contestant *contestant, bool is_fallback,
                               int64_t measures[MEASURES])
{
    measures[0] = !is_fallback;
    measures[1] = contestant->config->family->preference;
    measures[2] = parameters_off_default(contestant->config);
    measures[3] = contestant->kernel.registers;
    measures[4] = contestant->kernel.shared_bytes + contestant->launch.field[AT_SHARED_BYTES];
}

static bool is_simpler(const struct at_contestant *contestants, size_t a, size_t b, size_t fallback)
{
    int64_t of_a[MEASURES], of_b[MEASURES];

    measure_simplicity(&contestants[a], a == fallback, of_a);
    measure_simplicity(&contestants[b], b == fallback, of_b);
    for (size_t i = 0; i < MEASURES; i++)
        if (of_a[i] != of_b[i])
            return of_a[i] < of_b[i];
    return contestants[a].time_ns < contestants[b].time_ns;
}

size_t at_finals_winner(const struct at_finals *finals, size_t samples, const bool *refused)
{
    const struct at_contestant *contestants = finals->contestants;
    size_t fastest = SIZE_MAX, winner;
    double most_ns = INFINITY; /* the winner is not slower than the default and the incumbent */

    for (size_t i = 0; i < finals->finalists; i++) {
        if (i == finals->fallback || i == finals->incumbent)
            most_ns = fmin(most_ns, contestants[i].time_ns);
        if (!refused[i] &&
            (fastest == SIZE_MAX || contestants[i].time_ns < contestants[fastest].time_ns))
            fastest = i;
    }
    if (fastest == SIZE_MAX)
        return SIZE_MAX;
    winner = fastest;
    for (size_t i = 0; i < finals->finalists; i++)
        if (!refused[i] && contestants[i].time_ns <= most_ns &&
            at_samples_equal(contestants[i].samples_ns, contestants[fastest].samples_ns, samples) &&
            is_simpler(contestants, i, winner, finals->fallback))
            winner = i;
    return winner;
}

/* Choose the best finalist that passes one more verification after all the timing. A finalist that
 * fails is no longer correct. If it is the default, the default has no time. */
static enum at_status choose_winner(struct at_search *search, struct at_finals *finals,
                                    struct at_error *err)
{
    bool refused[AT_CONTESTANTS_MAX] = {false};
    size_t samples = sample_count(search->session, FULLY), *winner = &finals->winner;
    enum at_status status = AT_OK;

    while (status == AT_OK && (*winner = at_finals_winner(finals, samples, refused)) != SIZE_MAX) {
        const struct at_contestant *best = &finals->contestants[*winner];
        size_t index = at_search_find(search, best->config);
        struct at_measurement measurement = {0};
        bool correct;

        status = verify(search->session, best, true, &measurement, err);
        correct = measurement.outcome == AT_CORRECT;
        if (status == AT_OK && !correct) {
            at_warn(search->session->options.progress,
                    "%s: a finalist failed when it was verified again: %s: %s",
                    search->progress.what, at_outcome_names[measurement.outcome],
                    measurement.message);
            refused[*winner] = true;
            if (*winner == finals->fallback)
                finals->fallback = SIZE_MAX;
            if (*winner == finals->incumbent)
                finals->incumbent = SIZE_MAX;
            if (at_search_found_correct(search, index))
                at_search_refuse(search, index, &measurement);
        }
        at_measurement_clear(&measurement);
        if (correct)
            break;
    }
    if (status == AT_OK && *winner == SIZE_MAX)
        status = at_fail(err, AT_FAILED, "%s: no finalist is correct", search->progress.what);
    return status;
}

/* After a much larger problem, a worker's launches of a few microseconds take a percent longer than
 * in a fresh worker, and unequally so (H200). The winner will run in a fresh process, so the
 * shoot-out does too. */
static const double brief_ns = 20000;
enum { MUCH_LARGER = 16 };

bool at_finals_need_new_worker(const struct at_search *search)
{
    const struct at_gpu *gpu = search->session->gpu;

    return search->copy_ns > 0 && search->copy_ns < brief_ns &&
           gpu->largest_bytes >= MUCH_LARGER * at_problem_bytes(&search->problem) &&
           !search->session->kind->predicted;
}

/* The journal gets the finalists that are correct. */
static void file_finals(const struct at_search *search, const struct at_finals *finals)
{
    int64_t place = 0;

    for (size_t i = 0; i < finals->finalists; i++) {
        const struct at_contestant *finalist = &finals->contestants[i];

        if (at_search_found_correct(search, at_search_find(search, finalist->config)))
            at_search_file_final(search, finalist->config, finalist->samples_ns, place++,
                                 i == finals->winner);
    }
}

/* Verify a config that this search has not measured, so that it cannot end the shoot-out. */
static bool is_still_correct(const struct at_search *search, const struct at_config *config)
{
    struct at_session *session = search->session;
    struct at_contestant contestant = {.config = config, .problem = search->problem};
    struct at_measurement measurement = {0};
    struct at_error err;
    enum at_status status = at_shootout_build(session, &contestant, 1, &err);
    bool correct;

    if (status == AT_OK)
        status = prepare(session, &search->problem, &err);
    if (status == AT_OK)
        status = verify(session, &contestant, true, &measurement, &err);
    correct = status == AT_OK && measurement.outcome == AT_CORRECT;
    if (!correct)
        at_warn(session->options.progress, "%s: the profile's winner does not hold: %s",
                search->progress.what, status == AT_OK ? measurement.message : err.message);
    at_measurement_clear(&measurement);
    at_shootout_end(&contestant, 1);
    return correct;
}

/* The config that the profile has for the problem; NULL: none that is legal and correct. */
static const struct at_config *find_incumbent(const struct at_search *search)
{
    const struct at_warm_start *incumbents = &search->session->incumbents;
    const struct at_device_info *device = &search->session->gpu->info;
    const struct at_config *incumbent = NULL;
    size_t index;

    for (size_t i = 0; i < incumbents->count && !incumbent; i++)
        if (at_problem_equal(&incumbents->winners[i].problem, &search->problem) &&
            at_config_require(&incumbents->winners[i].config, &search->problem, device, "", NULL) ==
                AT_OK)
            incumbent = &incumbents->winners[i].config;
    if (!incumbent)
        return NULL;
    index = at_search_find(search, incumbent);
    if (index != SIZE_MAX && search->results[index].done)
        return at_search_found_correct(search, index) ? incumbent : NULL;
    return is_still_correct(search, incumbent) ? incumbent : NULL;
}

enum at_status at_finals_hold(struct at_finals *finals, struct at_search *search, size_t fallback,
                              const struct at_copies *copies, struct at_error *err)
{
    struct at_session *session = search->session;
    enum at_status status;

    finals_make(finals, search, fallback, find_incumbent(search), copies);
    status = at_shootout_build(session, finals->contestants, finals->count, err);
    if (at_finals_need_new_worker(search))
        at_gpu_renew(session->gpu);
    session->gpu->meanwhile = search->ahead;
    if (status == AT_OK)
        status = prepare(session, &search->problem, err);
    if (status == AT_OK)
        status = finals_qualify(finals, session, err);
    if (status == AT_OK)
        status = time_contestants(session, finals->contestants, finals->count, FULLY, err);
    if (status == AT_OK)
        status = choose_winner(search, finals, err);
    session->gpu->meanwhile = (struct at_meanwhile){0};
    if (status == AT_OK)
        file_finals(search, finals);
    return status;
}
