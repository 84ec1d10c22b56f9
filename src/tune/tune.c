/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/tune.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "base/text_stream.h"
#include "device/kind.h"
#include "pipeline/pipeline.h"
#include "pipeline/results.h"
#include "pipeline/session.h"
#include "pipeline/shootout.h"
#include "profile/entry.h"
#include "profile/profile.h"
#include "system/interrupt.h"
#include "tune/copy_limit.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static size_t add(struct at_finals *finals, const struct at_config *config,
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
        add(finals, &search->space.configs[best[i]], &search->problem);
    }
    if (finals->fallback == SIZE_MAX && at_search_found_correct(search, fallback))
        finals->fallback = add(finals, &search->space.configs[fallback], &search->problem);
    finals->finalists = finals->count;
    if (incumbent && (finals->incumbent = find_finalist(finals, incumbent)) == SIZE_MAX)
        finals->incumbent = add(finals, incumbent, &search->problem);
    finals->finalists = finals->count;
    for (size_t i = 0; i < copies->count; i++)
        add(finals, &copies->configs[i], &copies->problem);
    add(finals, NULL, &copies->problem);
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
    status = at_shootout_time_briefly(session, finals->contestants, finals->count - 1, err);
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
    const struct at_launch *launch = &contestant->launch;

    measures[0] = !is_fallback;
    measures[1] = contestant->config->family->preference;
    measures[2] = parameters_off_default(contestant->config);
    measures[3] = contestant->kernel.registers;
    measures[4] = contestant->kernel.shared_bytes + launch->field[AT_SHARED_BYTES];
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

/* The time of a finalist that the winner must not exceed. */
static double bound_of(const struct at_finals *finals, size_t index)
{
    return index == SIZE_MAX ? INFINITY : finals->contestants[index].time_ns;
}

size_t at_finals_winner(const struct at_finals *finals, size_t samples, const bool *refused)
{
    const struct at_contestant *contestants = finals->contestants;
    size_t fastest = SIZE_MAX, winner;
    double most_ns;

    for (size_t i = 0; i < finals->finalists; i++)
        if (!refused[i] &&
            (fastest == SIZE_MAX || contestants[i].time_ns < contestants[fastest].time_ns))
            fastest = i;
    if (fastest == SIZE_MAX)
        return SIZE_MAX;
    most_ns = fmin(bound_of(finals, finals->fallback), bound_of(finals, finals->incumbent));
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
                                    size_t *winner, struct at_error *err)
{
    bool refused[AT_CONTESTANTS_MAX] = {false};
    size_t samples = (size_t)search->session->options.policy->shootout_samples;
    enum at_status status = AT_OK;

    while (status == AT_OK && (*winner = at_finals_winner(finals, samples, refused)) != SIZE_MAX) {
        const struct at_contestant *best = &finals->contestants[*winner];
        size_t index = at_search_find(search, best->config);
        struct at_measurement measurement = {0};
        bool correct;

        status = at_shootout_verify(search->session, best, &measurement, err);
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

/* Add the winner and the runners-up to the warm start of the next problems. Not on an emulated
 * device: its times are predictions, which stay the same in whatever order and by however many
 * processes a list is tuned, if nothing goes from one problem to the next. */
static void remember_best(struct at_search *search, const struct at_finals *finals, size_t winner)
{
    struct at_warm_start *warm_start = &search->session->warm_start;
    bool taken[AT_CONTESTANTS_MAX] = {false};

    if (search->session->kind->isolated)
        return;
    taken[winner] = true;
    at_warm_start_add(warm_start, &(struct at_winner){.problem = search->problem,
                                                      .config = *finals->contestants[winner].config,
                                                      .verified = true});
    for (int place = 1; place < AT_WINNERS_PER_PROBLEM; place++) {
        const struct at_contestant *next = NULL;

        for (size_t i = 0; i < finals->finalists; i++)
            if (!taken[i] && (!next || finals->contestants[i].time_ns < next->time_ns))
                next = &finals->contestants[i];
        if (!next)
            break;
        taken[next - finals->contestants] = true;
        at_warm_start_add(warm_start,
                          &(struct at_winner){.problem = search->problem, .config = *next->config});
    }
}

/* After a much larger problem, a worker's launches of a few microseconds take a percent longer than
 * in a fresh worker, and unequally so (H200). The winner will run in a
 * fresh process, so the shoot-out does too. */
static const double brief_ns = 20000;
enum { MUCH_LARGER = 16 };

static bool needs_new_worker(const struct at_search *search)
{
    const struct at_gpu *gpu = search->session->gpu;

    return search->copy_ns > 0 && search->copy_ns < brief_ns &&
           at_gpu_largest_bytes(gpu) >= MUCH_LARGER * at_problem_bytes(&search->problem) &&
           !at_device_kind(at_gpu_info(gpu))->predicted;
}

/* The journal gets the finalists that are correct. */
static void file_finals(const struct at_search *search, const struct at_finals *finals,
                        size_t winner)
{
    int64_t place = 0;

    for (size_t i = 0; i < finals->finalists; i++) {
        const struct at_contestant *finalist = &finals->contestants[i];

        if (at_search_found_correct(search, at_search_find(search, finalist->config)))
            at_search_file_final(search, finalist->config, finalist->samples_ns, place++,
                                 i == winner);
    }
}

/* ---- the profile's entry ---- */

static struct at_timed timed(const struct at_contestant *contestant,
                             const struct at_session *session)
{
    struct at_timed timed = {
        .config = contestant->config,
        .problem = &contestant->problem,
        .launch = &contestant->launch,
        .kernel = contestant->kernel,
        .samples_ns = contestant->samples_ns,
        .samples = (size_t)session->options.policy->shootout_samples,
        .predicted = session->kind->predicted,
    };

    if (timed.config)
        at_session_hash_kernel(timed.hash, session, timed.config, timed.problem);
    return timed;
}

static struct at_copy_record record_copies(const struct at_finals *finals,
                                           const struct at_session *session)
{
    const struct at_contestant *all = finals->contestants, *driver = &all[finals->count - 1],
                               *best = driver;
    struct at_timed fastest, drivers;

    for (size_t i = finals->finalists; i < finals->count; i++)
        if (all[i].time_ns < best->time_ns)
            best = &all[i];
    fastest = timed(best, session);
    drivers = timed(driver, session);
    return at_copy_of(&fastest, &drivers);
}

static enum at_ended how_ended(const struct at_search *search)
{
    if (search->complete)
        return AT_ENDED_EXHAUSTED;
    if (search->reason)
        return AT_ENDED_SETTLED;
    return at_interrupt_seen() ? AT_ENDED_INTERRUPTED : AT_ENDED_BUDGET;
}

static struct at_entry entry_of(const struct at_search *search, const struct at_finals *finals,
                                size_t winner)
{
    const struct at_session *session = search->session;
    struct at_timed best = timed(&finals->contestants[winner], session), fallback;
    struct at_entry entry = {
        .problem = at_problem_format(&search->problem),
        .seed = (int64_t)session->options.seed,
        .ended = how_ended(search),
        .copy = record_copies(finals, session),
        .evaluations = {.points = search->space.raw, .configs = (int64_t)search->space.count},
    };

    entry.winner = at_result_of(&best, entry.copy.time_ns);
    if (finals->fallback != SIZE_MAX) {
        fallback = timed(&finals->contestants[finals->fallback], session);
        entry.fallback = at_result_of(&fallback, entry.copy.time_ns);
    }
    for (int i = 0; i < AT_OUTCOMES; i++)
        entry.evaluations.counts[i] = (int64_t)search->counts[i];
    snprintf(entry.search, sizeof entry.search, "%s", search->strategy->name);
    entry.from_l2 = at_result_is_from_l2(&entry.winner, at_gpu_info(session->gpu));
    return entry;
}

/* ---- the finals ---- */

static enum at_status finish(struct at_search *search, struct at_finals *finals,
                             const struct at_tune_place *place, struct at_entry *entry,
                             struct at_error *err)
{
    struct at_session *session = search->session;
    size_t winner;
    enum at_status status = at_shootout_build(session, finals->contestants, finals->count, err);

    if (needs_new_worker(search))
        at_gpu_renew(session->gpu);
    at_gpu_meanwhile(session->gpu, place->ahead, place->state);
    if (status == AT_OK)
        status = at_shootout_prepare(session, &search->problem, err);
    if (status == AT_OK)
        status = finals_qualify(finals, session, err);
    if (status == AT_OK)
        status = at_shootout_time(session, finals->contestants, finals->count, err);
    if (status == AT_OK)
        status = choose_winner(search, finals, &winner, err);
    at_gpu_meanwhile(session->gpu, NULL, NULL);
    if (status == AT_OK) {
        file_finals(search, finals, winner);
        *entry = entry_of(search, finals, winner);
        remember_best(search, finals, winner);
    }
    return status;
}

/* "412 wrong, 3 compile" */
static char *count_failures(const struct at_search *search)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    const char *between = "";

    for (int i = 0; i < AT_OUTCOMES; i++) {
        if (search->counts[i] == 0)
            continue;
        fprintf(out, "%s%zu %s", between, search->counts[i], at_outcome_names[i]);
        between = ", ";
    }
    return at_text_close(&stream, NULL);
}

static int64_t count_measured(const struct at_search *search)
{
    size_t measured = 0;

    for (int i = 0; i < AT_OUTCOMES; i++)
        measured += search->counts[i];
    return (int64_t)measured;
}

static enum at_status no_winner(const struct at_search *search, struct at_error *err)
{
    int64_t measured = count_measured(search);
    char *counts;

    if (search->space.count == 0)
        return at_fail(err, AT_FAILED, "%s: no config is legal on this device",
                       search->progress.what);
    if (measured == 0)
        return at_fail(err, AT_INTERRUPTED, "%s: %s before a config was measured",
                       search->progress.what,
                       at_interrupt_seen() ? "interrupted" : "the budget was spent");
    counts = count_failures(search);
    at_fail(err, AT_FAILED, "%s: no correct config among the %" PRId64 " measured of %zu (%s)",
            search->progress.what, measured, search->space.count, counts);
    free(counts);
    return AT_FAILED;
}

/* Find the default config's index in the space; SIZE_MAX if it is not legal here. */
static size_t find_default(const struct at_search *search)
{
    const struct at_session *session = search->session;
    struct at_config config;

    if (at_space_default(&config, session->options.tuned, session->options.tuned_count,
                         &search->problem, at_gpu_info(session->gpu), NULL) != AT_OK)
        return SIZE_MAX;
    return at_search_find(search, &config);
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
        status = at_shootout_prepare(session, &search->problem, &err);
    if (status == AT_OK)
        status = at_shootout_verify(session, &contestant, &measurement, &err);
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
    const struct at_device_info *device = at_gpu_info(search->session->gpu);
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

/* If a user's own family has no legal config, its space file is probably wrong. */
static void warn_of_empty_families(const struct at_search *search)
{
    const struct at_session_options *options = &search->session->options;

    for (size_t i = options->own_first; i < options->family_count; i++) {
        bool found = false, tuned = false;

        for (size_t j = 0; j < options->tuned_count; j++)
            tuned |= options->tuned[j] == options->families[i];
        for (size_t j = 0; j < search->space.count && !found; j++)
            found = search->space.configs[j].family == options->families[i];
        if (tuned && !found)
            at_warn(options->progress, "%s: no config of %s is legal", search->progress.what,
                    options->families[i]->path);
    }
}

static void note_search(const struct at_search *search)
{
    struct at_progress *progress = search->session->options.progress;

    if (search->measured_twice > 0)
        at_note(progress, "%s: results that seemed too good and were measured twice: %zu",
                search->progress.what, search->measured_twice);
    if (search->reason)
        at_note(progress, "%s: the search stopped after %zu of %zu configs: %s",
                search->progress.what, search->progress.done, search->space.count, search->reason);
}

/* Run the search from the warm start, and write a recording if requested. */
static enum at_status run_search(struct at_search *search, size_t fallback, struct at_error *err)
{
    const struct at_session *session = search->session;
    struct at_winner winner;
    size_t *likely;
    int64_t began_ns = at_now_ns(), busy_ns = at_gpu_conditions(session->gpu)->busy_ns;
    enum at_status status;

    search->start.likely_count =
        at_warm_start_likely(&session->warm_start, &search->problem, &search->space, &likely);
    search->start.likely = likely;
    search->start.searched_before = at_warm_start_knows(
        &session->warm_start, &search->problem, &search->space, &winner, &search->start.winner);
    search->start.winner_ns = search->start.searched_before ? winner.time_ns : 0;
    search->start.seed = session->options.seed;
    search->start.copy_ns = search->copy_ns;
    if (session->options.record)
        at_recorder_begin(search);
    status = at_pipeline_run(search, fallback, err);
    search->start.likely = NULL;
    free(likely);
    search->took_ns = at_now_ns() - began_ns;
    search->busy_ns = at_gpu_conditions(session->gpu)->busy_ns - busy_ns;
    if (status == AT_OK)
        note_search(search);
    if (status == AT_OK && session->options.record)
        status = at_recorder_write(search, session->options.record, search->took_ns, err);
    return status;
}

/* The search for copies gets a quarter of the remaining time at most. It uses up no evaluations,
 * but may make at most as many as the budget has. */
static struct at_budget copies_budget(const struct at_search *search)
{
    struct at_budget budget = search->budget;
    int64_t now_ns = at_now_ns();

    if (budget.ends_ns > now_ns)
        budget.ends_ns = now_ns + (budget.ends_ns - now_ns) / 4;
    return budget;
}

static enum at_status search_and_finish(struct at_search *search, const struct at_tune_place *place,
                                        struct at_entry *entry, struct at_error *err)
{
    struct at_session *session = search->session;
    struct at_finals finals = {0};
    struct at_copies copies;
    struct at_budget budget = copies_budget(search);
    size_t fallback = find_default(search);
    enum at_status status =
        at_copies_find(session, &search->problem, &budget, &search->progress, &copies, err);

    if (status == AT_FAILED)
        return at_fail_within(err, "%s: its copies", search->progress.what);
    if (status != AT_OK)
        return status;
    search->copy_ns = copies.best_ns;
    search->canary = copies.count > 0 ? &copies.configs[0] : NULL;
    search->canary_problem = copies.problem;
    if (needs_new_worker(search))
        at_gpu_will_renew(session->gpu);
    if (!at_interrupt_seen())
        status = run_search(search, fallback, err);
    if (status != AT_OK)
        return status;
    if (search->counts[AT_CORRECT] == 0)
        return no_winner(search, err);
    finals_make(&finals, search, fallback, find_incumbent(search), &copies);
    status = finish(search, &finals, place, entry, err);
    at_shootout_end(finals.contestants, finals.count);
    return status;
}

/* A GPU's time goes into compiling, and into trains of launches that take as long for each problem.
 * An emulated one runs part of the grid: the time that 64x64 to 2048x2048 take grows like this. */
double at_tune_weight(const struct at_problem *problem, const struct at_device_info *device)
{
    static const double bytes_of_constant_part = 1 << 20;

    return at_device_kind(device)->slow
               ? 1 + sqrt((double)at_problem_bytes(problem) / bytes_of_constant_part)
               : 1;
}

enum at_status at_tune_problem(struct at_session *session, const struct at_problem *problem,
                               const struct at_budget *budget, struct at_tune_place place,
                               struct at_entry *entry, struct at_error *err)
{
    struct at_search search = {
        .session = session,
        .problem = *problem,
        .strategy = session->options.strategy,
        .budget = *budget,
    };
    char *what = at_problem_format(problem);
    int64_t began_ns = at_now_ns();
    enum at_status status =
        at_space_build(&search.space, session->options.tuned, session->options.tuned_count, problem,
                       at_gpu_info(session->gpu), AT_SPACE_MAX, err);

    search.progress.what = what;
    search.progress.index = place.index;
    search.progress.of = place.of;
    search.progress.run_ends_ns = place.run_ends_ns;
    search.progress.predicted = session->kind->predicted;
    if (status == AT_OK)
        warn_of_empty_families(&search);
    if (status == AT_OK)
        status = search.space.count > 0 ? search_and_finish(&search, &place, entry, err)
                                        : no_winner(&search, err);
    if (status == AT_OK)
        at_note(session->options.progress,
                "%s: tuned in %.2f s; the search took %.2f s, the GPU at work for "
                "%.1f %% of it",
                what, (double)(at_now_ns() - began_ns) / 1e9, (double)search.took_ns / 1e9,
                100 * (double)search.busy_ns / (double)search.took_ns);
    session->measured += count_measured(&search);
    at_search_clear(&search);
    at_session_warn(session);
    free(what);
    return status;
}

/* ---- the device's record ---- */

static int64_t known(int64_t value)
{
    return value < 0 ? 0 : value;
}

static void record_conditions(const struct at_session *session, struct at_conditions *record)
{
    const struct at_gpu_conditions *seen = at_gpu_conditions(session->gpu);
    size_t used = 0;

    *record = (struct at_conditions){
        .clock_sm_min_khz = known(seen->clock_sm_min_khz),
        .clock_sm_max_khz = known(seen->clock_sm_max_khz),
        .clock_memory_khz = known(seen->clock_memory_khz),
        .power_max_mW = known(seen->power_max_mW),
        .temperature_max_c = known(seen->temperature_max_c),
        .other_processes = known(seen->other_processes),
        .capped_ms = seen->capped_ns / 1000000,
        .slowed_ms = seen->slowed_ns / 1000000,
        .discarded_samples = seen->discarded,
        .drifts = session->drifts,
        .remeasured = session->remeasured,
    };
    if (!seen->throttle_known)
        return;
    strcpy(record->throttle, "none");
    for (size_t i = 0; i < AT_THROTTLES; i++)
        if (seen->throttle >> i & 1)
            used += (size_t)snprintf(record->throttle + used, sizeof record->throttle - used,
                                     "%s%s", used ? " " : "", at_throttle_names[i]);
}

void at_tune_record_device(struct at_device_record *record, const struct at_session *session)
{
    const struct at_policy *policy = session->options.policy;

    record->device = *at_gpu_info(session->gpu);
    record->environment =
        at_environment_of(at_gpu_driver_version(session->gpu), at_gpu_cuda_version(session->gpu),
                          at_builder_compiler(session->builder));
    snprintf(record->policy.name, sizeof record->policy.name, "%s", policy->name);
    record->policy.buffer_bytes = !at_device_kind(&record->device)->keeps_l2
                                      ? 0
                                      : policy->l2_multiple * record->device.l2_bytes;
    record->policy.train_ns = policy->shootout_train_ns;
    record->policy.search_samples = policy->search_samples;
    record->policy.shootout_samples = policy->shootout_samples;
    record_conditions(session, &record->conditions);
}

/* ---- compiling ahead ---- */

/* More than the guided search asks for before its first result. */
enum { ASKED_MAX = 32 };

static void ask_ahead(struct at_session *session, const struct at_problem *problem,
                      int64_t evaluations, const struct at_space *space)
{
    const struct at_strategy *strategy = session->options.strategy;
    size_t *likely, index,
        count = at_warm_start_likely(&session->warm_start, problem, space, &likely);
    const struct at_start start = {
        .seed = session->options.seed, .likely = likely, .likely_count = count};
    void *state = strategy->create(space, &start);
    int64_t most = evaluations > 0 && evaluations < ASKED_MAX ? evaluations : ASKED_MAX;

    for (int64_t i = 0; i < most && strategy->ask(state, &index); i++)
        at_builder_precompile(session->builder, &space->configs[index], at_problem_kind(problem));
    strategy->destroy(state);
    free(likely);
}

void at_tune_ahead(struct at_session *session, const struct at_problem *problem,
                   int64_t evaluations)
{
    const struct at_session_options *options = &session->options;
    struct at_space space = {0};

    /* On a resumed run the journal's configs are not compiled. A failure is reported when the
     * problem is tuned. */
    if (options->resume)
        return;
    if (at_space_build(&space, options->tuned, options->tuned_count, problem,
                       at_gpu_info(session->gpu), AT_SPACE_MAX, NULL) == AT_OK)
        ask_ahead(session, problem, evaluations, &space);
    at_space_clear(&space);
    at_builder_step(session->builder, NULL);
}
