/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline's results: filed in the journal, counted, and told to the strategy. */
#include "pipeline/state.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/stats.h"
#include "device/kind.h"
#include "recording/recording.h"
#include "system/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum at_status at_recorder_prepare(const char *dir, struct at_error *err)
{
    char *path = at_format("%s/any.recording", dir);
    enum at_status status = AT_OK;

    if (mkdir(dir, 0777) != 0 && errno != EEXIST)
        status = at_fail(err, AT_USAGE, "cannot make the folder %s: %s", dir, strerror(errno));
    if (status == AT_OK)
        status = at_output_check(path, err);
    free(path);
    return status;
}

void at_recorder_begin(struct at_search *search)
{
    search->recorded = at_alloc_array(search->space.count, sizeof *search->recorded);
    search->recorded_ns = at_now_ns();
}

/* Keep one result. Its evaluation took the time since the one before: the sum is the search's. */
static void recorder_take(struct at_search *search, size_t index,
                          const struct at_measurement *measurement)
{
    int64_t now_ns = at_now_ns();
    struct at_recorded *recorded;

    if (!search->recorded)
        return;
    recorded = &search->recorded[index];
    /* Results from a journal took no time. */
    if (!search->session->options.resume)
        recorded->cost_ns += now_ns - search->recorded_ns;
    search->recorded_ns = now_ns;
    recorded->outcome = measurement->outcome;
    free(recorded->samples_ns); /* of an earlier measurement */
    recorded->samples_ns = NULL;
    recorded->sample_count = 0;
    if (measurement->outcome != AT_CORRECT)
        return;
    recorded->sample_count = measurement->sample_count < AT_RECORDING_SAMPLES_MAX
                                 ? measurement->sample_count
                                 : AT_RECORDING_SAMPLES_MAX;
    recorded->samples_ns =
        at_memdup(measurement->samples_ns, recorded->sample_count * sizeof(double));
}

/* "NVIDIA H200" and "8192x8192:f32,ld_src=8200" become h200-8192x8192-f32-ld_src-8200. */
static char *name_file(const char *dir, const char *device, const char *problem)
{
    static const char maker[] = "NVIDIA ";
    char *name = at_format(
        "%s-%s", strncmp(device, maker, strlen(maker)) == 0 ? device + strlen(maker) : device,
        problem);
    char *path;

    for (char *c = name; *c; c++) {
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c - 'A' + 'a');
        else if (!(*c >= 'a' && *c <= 'z') && !(*c >= '0' && *c <= '9') && *c != '_')
            *c = '-';
    }
    path = at_format("%s/%s.recording", dir, name);
    free(name);
    return path;
}

/* The space's families, in its order; borrowed but for the array. */
static size_t list_families(const struct at_search *search, struct at_recorded_family **list)
{
    const struct at_session *session = search->session;
    size_t count = 0, capacity = 0;

    *list = NULL;
    for (size_t i = 0; i < search->space.count; i++) {
        const struct at_family *family = search->space.configs[i].family;

        if (count == 0 || (*list)[count - 1].family != family) {
            struct at_recorded_family added = {
                .family = (struct at_family *)family,
                .hash = (char *)at_session_family_hash(session, family),
                .launches = 1,
            };

            AT_PUSH(*list, count, capacity, added);
        }
        (*list)[count - 1].config_count++;
    }
    return count;
}

enum at_status at_recorder_write(const struct at_search *search, const char *dir,
                                 int64_t duration_ns, struct at_error *err)
{
    const struct at_session *session = search->session;
    const struct at_device_info *info = &session->gpu->info;
    struct at_recording recording = {
        .problem = search->problem,
        .setting = session->setting,
        .copy_ns = (int64_t)(search->copy_ns + 0.5),
        .evaluation_ns = session->options.resume ? 0 : duration_ns / (int64_t)search->space.count,
        .space = search->space,
        .results = search->recorded,
    };
    char *path;
    enum at_status status;

    if (!search->complete) {
        at_warn(session->options.progress, "%s: not recorded: the search was cut short",
                search->progress.what);
        return AT_OK;
    }
    /* Predicted times must not pass for a GPU's. */
    recording.device = at_format("%s%s", session->kind->label, info->name);
    recording.family_count = list_families(search, &recording.families);
    path = name_file(dir, recording.device, search->progress.what);
    status = at_recording_write(&recording, path, err);
    free(path);
    free(recording.families);
    free(recording.device);
    return status;
}

static struct at_journal_key key_of(const struct at_search *search, const char *problem_text,
                                    size_t index, char **config)
{
    const struct at_family *family = search->space.configs[index].family;

    *config = at_config_format(&search->space.configs[index]);
    return (struct at_journal_key){problem_text, family->name,
                                   at_session_family_hash(search->session, family), *config};
}

static void file_result(const struct at_search *search, const char *problem_text, size_t index,
                        const struct at_measurement *measurement)
{
    struct at_error err = {AT_OK, ""};
    struct at_session *session = search->session;
    const struct at_config_result *result = &search->results[index];
    const struct at_journal_details details = {
        .gpu = session->gpu->info.uuid,
        .expected_ns = result->expected_ns,
        .again = result->done,
    };
    struct at_journal_key key;
    char *config;

    if (!session->journal)
        return;
    key = key_of(search, problem_text, index, &config);
    at_session_warn_of_journal(
        session, at_journal_add(session->journal, &key, measurement, &details, &err), &err);
    free(config);
}

static void sync_results(struct at_session *session)
{
    struct at_error err = {AT_OK, ""};

    if (session->journal && !session->journal_failed)
        at_session_warn_of_journal(session, at_journal_sync(session->journal, &err), &err);
}

/* Is this failure one to tell of? A shipped kernel may be refused by a device; a user's own may
 * not. */
static bool is_telling(const struct at_session_options *options, size_t family,
                       enum at_outcome outcome)
{
    return outcome == AT_COMPILE || outcome == AT_WRONG ||
           (family >= options->own_first && outcome != AT_CORRECT);
}

/* Warn of a family's first failure of each kind. */
static void show_failure(const struct at_search *search, size_t index,
                         const struct at_measurement *measurement)
{
    const struct at_session *session = search->session;
    const struct at_session_options *options = &session->options;
    const struct at_config *config = &search->space.configs[index];
    enum at_outcome outcome = measurement->outcome;
    size_t family = 0;
    char *text;

    while (options->families[family] != config->family)
        family++;
    if (!is_telling(options, family, outcome) || session->failure_shown[family][outcome])
        return;
    session->failure_shown[family][outcome] = true;
    text = at_config_format(config);
    if (outcome == AT_COMPILE)
        at_warn(options->progress, "%s does not compile: %s", config->family->name,
                measurement->message);
    else
        at_warn(options->progress, "%s %s: %s: %s%s; --verbose prints all failures",
                config->family->name, text, at_outcome_names[outcome], measurement->message,
                family >= options->own_first && (outcome == AT_WRONG || outcome == AT_CRASH)
                    ? "; if it is not for this problem, needs in its space file excludes it"
                    : "");
    free(text);
}

/* For --verbose. */
static void tell_result(const struct at_search *search, size_t index,
                        const struct at_measurement *measurement)
{
    struct at_progress *progress = search->session->options.progress;
    const char *family = search->space.configs[index].family->name;
    char *config;

    if (!progress->verbose)
        return;
    config = at_config_format(&search->space.configs[index]);
    if (measurement->outcome == AT_CORRECT)
        at_detail(progress, "%s: %s %s: %.2f us", search->progress.what, family, config,
                  at_median(measurement->samples_ns, measurement->sample_count) / 1e3);
    else
        at_detail(progress, "%s: %s %s: %s: %s", search->progress.what, family, config,
                  at_outcome_names[measurement->outcome], measurement->message);
    free(config);
}

static struct at_config_result *take_result(struct at_search *search, size_t index,
                                            const struct at_measurement *measurement)
{
    struct at_config_result *result = &search->results[index];

    tell_result(search, index, measurement);

    recorder_take(search, index, measurement);
    result->outcome = measurement->outcome;
    if (measurement->outcome == AT_CORRECT)
        result->time_ns = at_median(measurement->samples_ns, measurement->sample_count);
    return result;
}

/* Count a result and tell the strategy. */
static void settle(struct at_pipeline *p, size_t index, const struct at_measurement *measurement)
{
    struct at_search *search = p->search;
    struct at_config_result *result = take_result(search, index, measurement);

    result->done = true;
    if (result->outcome == AT_CORRECT && (search->counts[AT_CORRECT] == 0 ||
                                          result->time_ns < search->results[search->best].time_ns))
        search->best = index;
    show_failure(search, index, measurement);
    search->counts[result->outcome]++;
    p->evaluations++;
    p->exhausted = false;
    p->new_results = true;
    search->strategy->tell(p->strategy, index, result->outcome, result->time_ns);
}

/* Find the best again: the config that was best may have become slower. */
static void find_best(struct at_search *search)
{
    size_t best;

    if (at_rank_best(search, &best, 1) > 0)
        search->best = best;
}

/* Replace a config's result by a newer one. The strategy is not told again: it learns each config
 * once. */
static void settle_again(struct at_pipeline *p, size_t index,
                         const struct at_measurement *measurement)
{
    struct at_search *search = p->search;

    search->counts[search->results[index].outcome]--;
    search->counts[measurement->outcome]++;
    take_result(search, index, measurement);
    find_best(search);
}

void at_pipeline_file(struct at_pipeline *p, size_t index, const struct at_measurement *measurement)
{
    file_result(p->search, p->problem_text, index, measurement);
}

/* The result is on disk before it counts, so that no result that counted is lost. */
void at_pipeline_settle_filed(struct at_pipeline *p, size_t index,
                              const struct at_measurement *measurement)
{
    sync_results(p->session);
    if (p->search->results[index].done) {
        settle_again(p, index, measurement);
        p->remeasuring--;
    } else {
        settle(p, index, measurement);
    }
    p->in_flight--;
}

size_t at_search_find(const struct at_search *search, const struct at_config *config)
{
    for (size_t i = 0; i < search->space.count; i++)
        if (at_config_equal(&search->space.configs[i], config))
            return i;
    return SIZE_MAX;
}

bool at_search_found_correct(const struct at_search *search, size_t index)
{
    return index != SIZE_MAX && search->results[index].done &&
           search->results[index].outcome == AT_CORRECT;
}

void at_search_refuse(struct at_search *search, size_t index, const struct at_measurement *failure)
{
    char *problem_text = at_problem_format(&search->problem);

    file_result(search, problem_text, index, failure);
    sync_results(search->session);
    free(problem_text);
    search->counts[AT_CORRECT]--;
    search->counts[failure->outcome]++;
    search->results[index].outcome = failure->outcome;
}

void at_search_file_final(const struct at_search *search, const struct at_config *config,
                          const double *samples_ns, int64_t place, bool won)
{
    struct at_session *session = search->session;
    struct at_error err = {AT_OK, ""};
    const struct at_journal_final final = {
        .place = place,
        .won = won,
        .samples_ns = samples_ns,
        .sample_count = (size_t)session->options.policy->shootout_samples,
    };
    struct at_journal_key key;
    char *problem_text = at_problem_format(&search->problem), *text;

    key = key_of(search, problem_text, (size_t)(config - search->space.configs), &text);
    at_detail(session->options.progress, "%s: finalist %s %s: %.2f us%s", problem_text, key.family,
              text, at_median(samples_ns, final.sample_count) / 1e3, won ? ", the winner" : "");
    if (session->journal)
        at_session_warn_of_journal(
            session,
            at_journal_add_final(session->journal, &key, session->gpu->info.uuid, &final, &err),
            &err);
    free(text);
    free(problem_text);
}

/* Settle the journal's result of a config, if there is one. */
static enum at_status pipeline_find_in_journal(struct at_pipeline *p, size_t index,
                                               struct at_error *err)
{
    struct at_measurement measurement;
    struct at_journal_key key;
    bool found;
    char *config;
    enum at_status status;

    key = key_of(p->search, p->problem_text, index, &config);
    status = at_journal_find(p->session->journal, &key, &found, &measurement, err);
    free(config);
    if (status == AT_OK && found) {
        p->search->results[index].started = true;
        settle(p, index, &measurement);
        at_measurement_clear(&measurement);
    }
    return status;
}

size_t at_rank_best(const struct at_search *search, size_t *best, size_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < search->space.count; i++) {
        const struct at_config_result *result = &search->results[i];
        size_t place = count;

        if (!result->done || result->outcome != AT_CORRECT)
            continue;
        while (place > 0 && search->results[best[place - 1]].time_ns > result->time_ns)
            place--;
        if (place == most)
            continue;
        if (count < most)
            count++;
        memmove(best + place + 1, best + place, (count - 1 - place) * sizeof *best);
        best[place] = i;
    }
    return count;
}

/* Resumes a run: takes in what the journal has of the problem, in the order of measurement, before
 * the strategy is asked. So the strategy knows what it knew and goes on from there, whatever order
 * later results come in. */

/* A config that the journal has. */
struct known {
    char *text;    /* family and config */
    size_t number; /* in the journal */
    size_t index;  /* in the space; SIZE_MAX: it is not there */
};

struct known_list {
    struct known *items;
    size_t count, capacity;
};

static char *name_of(const char *family, const char *config)
{
    return at_format("%s %s", family, config);
}

static void take(void *data, const char *family, const char *config)
{
    struct known_list *list = data;
    struct known known = {name_of(family, config), list->count, SIZE_MAX};

    AT_PUSH(list->items, list->count, list->capacity, known);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const struct known *)a)->text, ((const struct known *)b)->text);
}

static int by_number(const void *a, const void *b)
{
    size_t p = ((const struct known *)a)->number, q = ((const struct known *)b)->number;

    return (p > q) - (p < q);
}

static void find_in_space(struct known_list *list, const struct at_space *space)
{
    if (list->count == 0)
        return;
    qsort(list->items, list->count, sizeof *list->items, by_text);
    for (size_t i = 0; i < space->count; i++) {
        char *config = at_config_format(&space->configs[i]);
        struct known key = {.text = name_of(space->configs[i].family->name, config)}, *known;

        known = bsearch(&key, list->items, list->count, sizeof *list->items, by_text);
        if (known)
            known->index = i;
        free(key.text);
        free(config);
    }
    qsort(list->items, list->count, sizeof *list->items, by_number);
}

enum at_status at_pipeline_resume(struct at_pipeline *p, struct at_error *err)
{
    struct known_list list = {0};
    size_t taken = 0;
    enum at_status status;

    if (!p->session->journal || !p->session->options.resume)
        return AT_OK;
    status = at_journal_each(p->session->journal, p->problem_text, take, &list, err);
    if (status == AT_OK)
        find_in_space(&list, &p->search->space);
    for (size_t i = 0; i < list.count; i++) {
        if (status == AT_OK && list.items[i].index != SIZE_MAX) {
            status = pipeline_find_in_journal(p, list.items[i].index, err);
            taken++;
        }
        free(list.items[i].text);
    }
    free(list.items);
    if (status == AT_OK && taken > 0)
        at_note(p->session->options.progress, "%s: %zu results from the journal", p->problem_text,
                taken);
    return status;
}
