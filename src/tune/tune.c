/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/tune.h"

#include "base/clock.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/stats.h"
#include "base/text_stream.h"
#include "device/kind.h"
#include "device/relation.h"
#include "pipeline/pipeline.h"
#include "profile/entry.h"
#include "profile/newest.h"
#include "space/named.h"
#include "system/interrupt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char at_copy_family[] = "copy";

/* How many copies the guided search measures. Copies differ little, so it needs few; fewer if the
 * best copies of another size are known, or of this size. Emulating takes long. */
enum {
    COPY_SPACE_MAX = 4096,
    COPIES = 48,
    COPIES_WARM = 16,
    COPIES_CONFIRMING = 8,
    EMULATED_COPIES = 24
};

/* The element size does not matter: bytes are bytes. A step does. */
static bool is_copy_of_as_many(const struct at_problem *known, const struct at_problem *problem)
{
    return at_problem_bytes(known) == at_problem_bytes(problem) &&
           at_step_equal(&known->step, &problem->step);
}

/* Copies of as many bytes are as good. But on an emulated device only the very same copies are
 * taken, which another process would find too (remember_best has why). */
static const struct at_copies *remembered(const struct at_session *session,
                                          const struct at_problem *problem)
{
    bool (*is_as_good)(const struct at_problem *, const struct at_problem *) =
        session->kind->isolated ? at_problem_equal : is_copy_of_as_many;

    for (size_t i = 0; i < session->copy_count; i++)
        if (is_as_good(&session->copies[i].problem, problem))
            return &session->copies[i];
    return NULL;
}

static void remember(struct at_session *session, const struct at_copies *copies)
{
    AT_PUSH(session->copies, session->copy_count, session->copy_capacity, *copies);
    if (session->kind->isolated)
        return;
    for (size_t i = 0; i < copies->count; i++)
        at_warm_start_add(
            &session->copy_warm_start,
            &(struct at_winner){.problem = copies->problem, .config = copies->configs[i]});
}

/* How many copies to measure: few if an earlier run has found the best ones of as many bytes, and
 * nothing is changed since. */
static int64_t count_wanted(const struct at_session *session, const struct at_problem *problem)
{
    const struct at_warm_start *warm_start = &session->copy_warm_start;

    if (session->kind->slow)
        return EMULATED_COPIES;
    for (size_t i = 0; i < warm_start->count; i++)
        if (warm_start->winners[i].time_ns > 0 &&
            is_copy_of_as_many(&warm_start->winners[i].problem, problem))
            return COPIES_CONFIRMING;
    return warm_start->count > 0 ? COPIES_WARM : COPIES;
}

static enum at_status search_copies(struct at_session *session, struct at_family *const *family,
                                    const struct at_budget *budget,
                                    const struct at_progress_state *progress,
                                    struct at_copies *copies, struct at_error *err)
{
    int64_t wanted = count_wanted(session, &copies->problem);
    bool enough = budget->evaluations == 0 || budget->evaluations >= wanted;
    struct at_search search = {
        .session = session,
        .problem = copies->problem,
        .strategy = &at_strategy_guided,
        .start = {.seed = session->options.seed},
        .budget = {budget->ends_ns, enough ? wanted : budget->evaluations},
        .progress = *progress,
        .for_copies = true,
    };
    size_t best[AT_COPIES_MAX], *likely = NULL;
    enum at_status status = at_space_build(&search.space, family, 1, &search.problem,
                                           &session->gpu->info, COPY_SPACE_MAX, err);

    if (status == AT_OK) {
        search.start.likely_count = at_warm_start_likely(&session->copy_warm_start, &search.problem,
                                                         &search.space, &likely);
        search.start.likely = likely;
        status = at_pipeline_run(&search, SIZE_MAX, err);
    }
    if (status == AT_OK) {
        copies->count = at_rank_best(&search, best, AT_COPIES_MAX);
        for (size_t i = 0; i < copies->count; i++)
            copies->configs[i] = search.space.configs[best[i]];
        copies->complete = (enough || search.complete) && !at_interrupt_seen() &&
                           (budget->ends_ns == 0 || at_now_ns() < budget->ends_ns);
        if (copies->count > 0)
            copies->best_ns = search.results[best[0]].time_ns;
    }
    free(likely);
    at_search_clear(&search);
    return status;
}

/* A session without it only has the driver's copy. */
static struct at_family *find_copy_family(const struct at_session *session)
{
    return at_family_find(session->options.families, session->options.family_count, at_copy_family);
}

enum at_status at_copies_find(struct at_session *session, const struct at_problem *problem,
                              const struct at_budget *budget,
                              const struct at_progress_state *progress, struct at_copies *copies,
                              struct at_error *err)
{
    struct at_copies found = {.problem = at_problem_copy_of(problem)};
    const struct at_copies *known = remembered(session, &found.problem);
    struct at_family *family = find_copy_family(session);
    struct at_progress_state copy_progress = *progress;
    enum at_status status = AT_OK;

    if (known) {
        *copies = *known;
        return AT_OK;
    }
    copy_progress.what = "copy limit";
    if (family)
        status = search_copies(session, &family, budget, &copy_progress, &found, err);
    if (status != AT_OK)
        return status;
    if (found.count > 0 && !at_interrupt_seen())
        found.driver_ns = at_shootout_time_driver(session, &found.problem);
    if (found.complete || !family) /* a search that was cut short is not remembered */
        remember(session, &found);
    *copies = found;
    return AT_OK;
}

/* The result of a search of fewer configs may not be the best, unless it ended by itself. */
enum { SEARCHED_LEAST = 100 };

static bool is_searched(const struct at_entry *entry)
{
    return entry->ended == AT_ENDED_SETTLED || entry->ended == AT_ENDED_EXHAUSTED ||
           at_evaluations_total(&entry->evaluations) >= SEARCHED_LEAST;
}

struct reading {
    const struct at_session *session;
    const struct at_device_record *record, *now; /* record NULL: nothing is known of where it was */
};

/* Does what was measured hold here and now? Nothing that a time depends on may have changed, nor
 * the config's kernel. */
static bool holds(const struct reading *reading, const struct at_winner *winner,
                  const char *measured)
{
    const struct at_device_record *record = reading->record, *now = reading->now;
    char hash[AT_SHORT_HASH_CHARS];

    if (!record || at_device_relation(&now->device, &record->device) != AT_SAME_DEVICE ||
        memcmp(&record->environment, &now->environment, sizeof now->environment) != 0 ||
        strcmp(record->policy.name, now->policy.name) != 0)
        return false;
    at_kernel_hash(hash, at_session_family_hash(reading->session, winner->config.family),
                   &winner->config, at_problem_kind(&winner->problem));
    return strcmp(hash, measured) == 0;
}

static bool read_winner(struct at_warm_start *warm_start, const struct reading *reading,
                        const struct at_entry *entry)
{
    const struct at_session_options *options = &reading->session->options;
    const struct at_result_record *found = &entry->winner;
    struct at_winner winner = {0};

    if (at_problem_parse(&winner.problem, entry->problem, NULL) != AT_OK ||
        at_config_from_names(&winner.config, options->families, options->family_count,
                             found->family, &found->parameters, NULL) != AT_OK)
        return false;
    if (reading->record &&
        at_device_relation(&reading->now->device, &reading->record->device) == AT_SAME_DEVICE &&
        is_searched(entry))
        winner.space = entry->evaluations.configs;
    if (winner.space > 0 && holds(reading, &winner, found->kernel))
        winner.time_ns = (double)found->time_ns;
    at_warm_start_add(warm_start, &winner);
    return true;
}

static void read_copy(struct at_warm_start *copies, const struct reading *reading,
                      const struct at_entry *entry)
{
    const struct at_session_options *options = &reading->session->options;
    struct at_winner copy = {0};
    struct at_problem problem;

    if (at_problem_parse(&problem, entry->problem, NULL) != AT_OK ||
        at_config_parse(&copy.config, options->families, options->family_count, entry->copy.method,
                        NULL) != AT_OK)
        return;
    copy.problem = at_problem_copy_of(&problem);
    if (holds(reading, &copy, entry->copy.kernel))
        copy.time_ns = (double)entry->copy.time_ns;
    at_warm_start_add(copies, &copy);
}

static size_t read_entries(struct at_session *session, const struct reading *reading,
                           const struct at_list *list)
{
    const struct at_entry *entries = list->items;
    size_t taken = 0;

    for (size_t i = 0; i < list->count; i++) {
        taken += read_winner(&session->warm_start, reading, &entries[i]);
        read_copy(&session->copy_warm_start, reading, &entries[i]);
    }
    return taken;
}

size_t at_warm_profiles_read(struct at_session *session, const struct at_profiles *profiles,
                             const struct at_device_record *now)
{
    size_t taken = 0;

    for (int relation = AT_SAME_DEVICE; relation <= AT_SAME_ARCHITECTURE; relation++)
        for (size_t i = 0; i < profiles->count; i++) {
            const struct at_list *devices = &profiles->files[i].profile.devices;
            const struct at_device_record *records = devices->items;

            for (size_t j = 0; j < devices->count; j++)
                if ((int)at_device_relation(&now->device, &records[j].device) == relation)
                    taken += read_entries(session, &(struct reading){session, &records[j], now},
                                          &records[j].problems);
        }
    return taken;
}

void at_incumbents_read(struct at_session *session, const struct at_profile *profile,
                        const struct at_device_record *now)
{
    const struct reading reading = {.session = session};
    const struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count && at_same_place(&records[i], now); j++)
            read_winner(&session->incumbents, &reading, &entries[j]);
    }
}

void at_warm_profiles_add(struct at_session *session, const struct at_list *entries)
{
    read_entries(session, &(struct reading){.session = session}, entries);
}

/* Add the winner and the runners-up to the warm start of the next problems. Not on an emulated
 * device: its times are predictions, which stay the same in whatever order and by however many
 * processes a list is tuned, if nothing goes from one problem to the next. */
static void remember_best(struct at_search *search, const struct at_finals *finals)
{
    struct at_warm_start *warm_start = &search->session->warm_start;
    bool taken[AT_CONTESTANTS_MAX] = {false};

    if (search->session->kind->isolated)
        return;
    taken[finals->winner] = true;
    at_warm_start_add(warm_start,
                      &(struct at_winner){.problem = search->problem,
                                          .config = *finals->contestants[finals->winner].config,
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

/* ---- the profile's entry ---- */

struct at_timed at_tune_timed(const struct at_contestant *contestant,
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
        at_kernel_hash(timed.hash, at_session_family_hash(session, timed.config->family),
                       timed.config, at_problem_kind(timed.problem));
    return timed;
}

static struct at_copy_record record_copies(const struct at_finals *finals,
                                           const struct at_session *session)
{
    const struct at_contestant *all = finals->contestants, *driver = &all[finals->count - 1],
                               *best = driver;
    struct at_timed fastest, drivers;

    /* The driver moves as many bytes as a copy with a step, but does not compute. */
    for (const struct at_contestant *copy = &all[finals->finalists]; copy < driver; copy++)
        if (copy->time_ns < best->time_ns || (best == driver && copy->problem.step.given))
            best = copy;
    fastest = at_tune_timed(best, session);
    drivers = at_tune_timed(driver, session);
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

static struct at_entry entry_of(const struct at_search *search, const struct at_finals *finals)
{
    const struct at_session *session = search->session;
    struct at_timed best = at_tune_timed(&finals->contestants[finals->winner], session), fallback;
    struct at_entry entry = {
        .problem = at_problem_format(&search->problem),
        .seed = (int64_t)session->options.seed,
        .ended = how_ended(search),
        .copy = record_copies(finals, session),
        .evaluations = {.points = search->space.raw, .configs = (int64_t)search->space.count},
    };

    entry.winner = at_result_of(&best, entry.copy.time_ns);
    if (finals->fallback != SIZE_MAX) {
        fallback = at_tune_timed(&finals->contestants[finals->fallback], session);
        entry.fallback = at_result_of(&fallback, entry.copy.time_ns);
    }
    for (int i = 0; i < AT_OUTCOMES; i++)
        entry.evaluations.counts[i] = (int64_t)search->counts[i];
    snprintf(entry.search, sizeof entry.search, "%s", search->strategy->name);
    entry.from_l2 = at_result_is_from_l2(&entry.winner, &session->gpu->info);
    return entry;
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
    const char *what = search->progress.what;
    int64_t measured = count_measured(search);
    char *counts;

    if (search->space.count == 0)
        return at_fail(err, AT_FAILED, "%s: no config is legal on this device", what);
    if (measured == 0)
        return at_fail(err, AT_INTERRUPTED, "%s: %s before a config was measured", what,
                       at_interrupt_seen() ? "interrupted" : "the budget was spent");
    counts = count_failures(search);
    at_fail(err, AT_FAILED, "%s: no correct config among the %" PRId64 " measured of %zu (%s)",
            what, measured, search->space.count, counts);
    free(counts);
    return AT_FAILED;
}

/* Find the default config's index in the space; SIZE_MAX if it is not legal here. */
static size_t find_default(const struct at_search *search)
{
    const struct at_session *session = search->session;
    struct at_config config;

    if (at_space_default(&config, session->options.tuned, session->options.tuned_count,
                         &search->problem, &session->gpu->info, NULL) != AT_OK)
        return SIZE_MAX;
    return at_search_find(search, &config);
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

/* List the configs to begin with: those of the warm start; of a copy, the best copies. */
static size_t list_likely(const struct at_search *search, const struct at_copies *copies,
                          size_t **likely)
{
    const struct at_warm_start *from = &search->session->warm_start;
    struct at_warm_start best = {0};
    size_t count;

    for (size_t i = 0; i < copies->count; i++)
        at_warm_start_add(
            &best, &(struct at_winner){.problem = copies->problem, .config = copies->configs[i]});
    if (at_problem_equal(&copies->problem, &search->problem))
        from = &best;
    count = at_warm_start_likely(from, &search->problem, &search->space, likely);
    at_warm_start_clear(&best);
    return count;
}

static bool is_driver_faster(const struct at_copies *copies)
{
    return copies->driver_ns > 0 && (copies->best_ns == 0 || copies->driver_ns < copies->best_ns);
}

/* Return what no transpose beats by much. A copy that computes can be slow itself, where each
 * element has its channel. The driver's copy of as many bytes does not compute. */
static double bound_of_search(const struct at_search *search, const struct at_copies *copies)
{
    return search->problem.step.given && is_driver_faster(copies) ? copies->driver_ns
                                                                  : search->copy_ns;
}

/* Run the search, and write a recording if requested. */
static enum at_status run_search(struct at_search *search, size_t fallback,
                                 const struct at_copies *copies, struct at_error *err)
{
    struct at_session *session = search->session;
    struct at_phase_time began = at_phase_begin(session);
    struct at_winner winner;
    size_t *likely;
    enum at_status status;

    search->start.likely_count = list_likely(search, copies, &likely);
    search->start.likely = likely;
    search->start.searched_before = at_warm_start_knows(
        &session->warm_start, &search->problem, &search->space, &winner, &search->start.winner);
    search->start.winner_ns = search->start.searched_before ? winner.time_ns : 0;
    search->start.seed = session->options.seed;
    search->start.copy_ns = bound_of_search(search, copies);
    if (session->options.record)
        at_recorder_begin(search);
    status = at_pipeline_run(search, fallback, err);
    search->start.likely = NULL;
    free(likely);
    search->took = at_phase_end(session, AT_PHASE_SEARCH, began);
    if (status != AT_OK)
        return status;
    note_search(search);
    if (session->options.record)
        status = at_recorder_write(search, session->options.record, search->took.ns, err);
    return status;
}

static enum at_status search_and_finish(struct at_search *search, struct at_entry *entry,
                                        struct at_error *err)
{
    struct at_session *session = search->session;
    struct at_finals finals = {0};
    struct at_copies copies;
    struct at_budget budget = search->budget;
    size_t fallback = find_default(search);
    int64_t now_ns = at_now_ns();
    struct at_phase_time began = at_phase_begin(session);
    enum at_status status;

    /* The search for copies gets a quarter of the remaining time at most. It uses up no
     * evaluations, but may make at most as many as the budget has. */
    if (budget.ends_ns > now_ns)
        budget.ends_ns = now_ns + (budget.ends_ns - now_ns) / 4;
    status = at_copies_find(session, &search->problem, &budget, &search->progress, &copies, err);
    if (status != AT_OK)
        return status == AT_FAILED ? at_fail_within(err, "%s: its copies", search->progress.what)
                                   : status;
    at_phase_end(session, AT_PHASE_COPIES, began);
    search->copy_ns = search->limit_ns = copies.best_ns;
    /* The driver does not compute, so its copy is no limit of a problem with a step. */
    if (!search->problem.step.given && is_driver_faster(&copies))
        search->limit_ns = copies.driver_ns;
    search->canary = copies.count > 0 ? &copies.configs[0] : NULL;
    search->canary_problem = copies.problem;
    if (at_finals_need_new_worker(search))
        at_gpu_will_renew(session->gpu);
    if (!at_interrupt_seen())
        status = run_search(search, fallback, &copies, err);
    if (status != AT_OK || search->counts[AT_CORRECT] == 0)
        return status != AT_OK ? status : no_winner(search, err);
    began = at_phase_begin(session);
    status = at_finals_hold(&finals, search, fallback, &copies, err);
    at_phase_end(session, AT_PHASE_FINALS, began);
    if (status == AT_OK) {
        *entry = entry_of(search, &finals);
        remember_best(search, &finals);
    }
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

/* An emulated device computes as long as it is asked, so it has no share of time at work. */
static void note_time(const struct at_search *search, double seconds)
{
    struct at_progress *progress = search->session->options.progress;
    const char *what = search->progress.what;

    if (search->took.busy_ns == 0)
        at_note(progress, "%s: finished in %.2f s; the journal had all results of its search", what,
                seconds);
    else if (!search->session->kind->hardware)
        at_note(progress, "%s: tuned in %.2f s", what, seconds);
    else
        at_note(progress,
                "%s: tuned in %.2f s; the search took %.2f s, the GPU at work for %.1f %% of it",
                what, seconds, (double)search->took.ns / 1e9,
                100 * fmin(1, (double)search->took.busy_ns / (double)search->took.ns));
}

enum at_status at_tune_problem(struct at_session *session, const struct at_problem *problem,
                               const struct at_budget *budget, struct at_tune_place place,
                               struct at_entry *entry, struct at_error *err)
{
    char *what = at_problem_format(problem);
    struct at_search search = {
        .session = session,
        .problem = *problem,
        .strategy = session->options.strategy,
        .budget = *budget,
        .progress = {.what = what,
                     .index = place.index,
                     .of = place.of,
                     .run_ends_ns = place.run_ends_ns,
                     .predicted = session->kind->predicted},
        .ahead = place.ahead,
    };
    int64_t began_ns = at_now_ns();
    enum at_status status =
        at_space_build(&search.space, session->options.tuned, session->options.tuned_count, problem,
                       &session->gpu->info, AT_SPACE_MAX, err);

    if (status == AT_OK)
        warn_of_empty_families(&search);
    if (status == AT_OK)
        status = search.space.count > 0 ? search_and_finish(&search, entry, err)
                                        : no_winner(&search, err);
    if (status == AT_OK)
        note_time(&search, (double)(at_now_ns() - began_ns) / 1e9);
    if (status == AT_OK || status == AT_FAILED || status == AT_INTERRUPTED)
        at_phases_file(session, what);
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
    const struct at_gpu_conditions *seen = &session->gpu->conditions;
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

    record->device = session->gpu->info;
    record->device.memory_ecc = 0; /* a profile does not have it */
    record->environment = at_environment_of(session->gpu->driver, session->gpu->cuda,
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

static void ask_ahead(struct at_session *session, const struct at_strategy *strategy,
                      const struct at_warm_start *warm_start, const struct at_problem *problem,
                      int64_t evaluations, const struct at_space *space)
{
    size_t *likely, index, count = at_warm_start_likely(warm_start, problem, space, &likely);
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
    if (at_space_build(&space, options->tuned, options->tuned_count, problem, &session->gpu->info,
                       AT_SPACE_MAX, NULL) == AT_OK)
        ask_ahead(session, options->strategy, &session->warm_start, problem, evaluations, &space);
    at_space_clear(&space);
    at_builder_step(session->builder, NULL);
}

void at_copies_ahead(struct at_session *session, const struct at_device_info *device,
                     const struct at_problem *problem, int64_t evaluations)
{
    const struct at_problem copy = at_problem_copy_of(problem);
    int64_t wanted = count_wanted(session, &copy);
    struct at_family *family = find_copy_family(session);
    struct at_space space = {0};

    if (family && at_space_build(&space, &family, 1, &copy, device, COPY_SPACE_MAX, NULL) == AT_OK)
        ask_ahead(session, &at_strategy_guided, &session->copy_warm_start, &copy,
                  evaluations > 0 ? at_min(evaluations, wanted) : wanted, &space);
    at_space_clear(&space);
    at_builder_step(session->builder, NULL);
}
