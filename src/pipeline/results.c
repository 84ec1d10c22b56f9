/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline's end: results, new and remembered. */
#include "base/memory.h"
#include "base/stats.h"
#include "pipeline/ranking.h"
#include "pipeline/recorder.h"
#include "pipeline/state.h"

#include <stdlib.h>

static struct at_journal_key key_of(const struct at_search *search, const char *problem_text,
                                    size_t index, char **config)
{
    const struct at_session *session = search->session;
    const struct at_family *family = search->space.configs[index].family;
    size_t number = 0;

    while (session->options.families[number] != family)
        number++;
    *config = at_config_format(&search->space.configs[index]);
    return (struct at_journal_key){problem_text, family->name, session->family_hashes[number],
                                   *config};
}

/* A disk that is full is worth a warning, once; a machine that costs by the hour goes on. */
static void tell_of_journal(struct at_session *session, enum at_status status,
                            const struct at_error *err)
{
    if (status == AT_OK || session->journal_failed)
        return;
    session->journal_failed = true;
    at_warn(session->options.progress,
            "%s; the run goes on, and --resume will measure anew what is not in the journal",
            err->message);
}

static void file_result(const struct at_search *search, const char *problem_text, size_t index,
                        const struct at_measurement *measurement)
{
    struct at_error err = {AT_OK, ""};
    struct at_session *session = search->session;
    struct at_measurement filed = *measurement;
    struct at_journal_key key;
    char *config;

    if (!session->journal)
        return;
    key = key_of(search, problem_text, index, &config);
    filed.again = search->candidates[index].done;
    tell_of_journal(session, at_journal_add(session->journal, &key, &filed, &err), &err);
    free(config);
}

static void sync_results(struct at_session *session)
{
    struct at_error err = {AT_OK, ""};

    if (session->journal && !session->journal_failed)
        tell_of_journal(session, at_journal_sync(session->journal, &err), &err);
}

static void show_compile_failure(struct at_pipeline *p, size_t index, const char *message)
{
    const struct at_family *family = p->search->space.configs[index].family;

    for (size_t i = 0; i < p->session->options.family_count; i++) {
        if (p->session->options.families[i] != family || p->session->compile_failure_shown[i])
            continue;
        p->session->compile_failure_shown[i] = true;
        at_warn(p->session->options.progress, "%s does not compile: %s", family->name, message);
    }
}

static struct at_candidate *take_result(struct at_search *search, size_t index,
                                        const struct at_measurement *measurement)
{
    struct at_candidate *candidate = &search->candidates[index];

    at_recorder_take(search, index, measurement);
    candidate->outcome = measurement->outcome;
    if (measurement->outcome == AT_CORRECT)
        candidate->time_ns = at_median(measurement->samples_ns, measurement->sample_count);
    return candidate;
}

void at_pipeline_settle(struct at_pipeline *p, size_t index,
                        const struct at_measurement *measurement)
{
    struct at_search *search = p->search;
    struct at_candidate *candidate = take_result(search, index, measurement);

    candidate->done = true;
    if (candidate->outcome == AT_CORRECT &&
        (search->counts[AT_CORRECT] == 0 ||
         candidate->time_ns < search->candidates[search->best].time_ns))
        search->best = index;
    if (candidate->outcome == AT_COMPILE)
        show_compile_failure(p, index, measurement->message);
    search->counts[candidate->outcome]++;
    p->evaluations++;
    p->exhausted = false;
    p->news = true;
    search->strategy->tell(p->strategy, index, candidate->outcome, candidate->time_ns);
}

static void find_best(struct at_search *search)
{
    size_t best;

    if (at_rank_best(search, &best, 1) > 0)
        search->best = best;
}

/* A config that has been measured before: its newer result takes the place of the older one. The
 * strategy is not told, which knows each config once. */
static void settle_again(struct at_pipeline *p, size_t index,
                         const struct at_measurement *measurement)
{
    struct at_search *search = p->search;

    search->counts[search->candidates[index].outcome]--;
    search->counts[measurement->outcome]++;
    take_result(search, index, measurement);
    find_best(search);
}

void at_pipeline_file(struct at_pipeline *p, size_t index, const struct at_measurement *measurement)
{
    file_result(p->search, p->problem_text, index, measurement);
}

/* On disk before it counts, so that nothing that counted is ever lost. */
void at_pipeline_settle_filed(struct at_pipeline *p, size_t index,
                              const struct at_measurement *measurement)
{
    sync_results(p->session);
    if (p->search->candidates[index].done) {
        settle_again(p, index, measurement);
        p->again_in_flight--;
    } else {
        at_pipeline_settle(p, index, measurement);
    }
    p->in_flight--;
}

void at_search_refuse(struct at_search *search, size_t index, const struct at_measurement *failure)
{
    char *problem_text = at_problem_format(&search->problem);

    file_result(search, problem_text, index, failure);
    sync_results(search->session);
    free(problem_text);
    search->counts[AT_CORRECT]--;
    search->counts[failure->outcome]++;
    search->candidates[index].outcome = failure->outcome;
}

enum at_status at_pipeline_find_in_journal(struct at_pipeline *p, size_t index,
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
        p->search->candidates[index].started = true;
        at_pipeline_settle(p, index, &measurement);
        at_measurement_clear(&measurement);
    }
    return status;
}
