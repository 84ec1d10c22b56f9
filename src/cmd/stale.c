/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/stale.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/files.h"
#include "cmd/hold.h"
#include "device/kind.h"
#include "device/relation.h"
#include "kernel/render.h"
#include "lookup/facts.h"
#include "measure/select.h"
#include "profile/newest.h"
#include "space/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void find_gpu(struct at_here *here, const struct at_profile *profile)
{
    struct at_device_info *devices;
    size_t count;
    bool hardware = false;

    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at) && !hardware;)
        hardware = at_device_kind(&at.record->device)->hardware;
    if (!hardware || at_select_devices("auto", &devices, &count, NULL) != AT_OK)
        return;
    if (at_device_kind(devices)->hardware)
        here->gpu = devices[0];
    free(devices);
}

enum at_status at_here_find(struct at_here *here, const struct at_profile *profile,
                            const struct at_session_options *known, struct at_error *err)
{
    const struct at_device_record *first = profile->devices.items;
    struct at_here found = {.known = known};
    enum at_status status = at_template_read(&found.header, AT_TEMPLATE_HEADER, err);

    if (status != AT_OK || profile->devices.count == 0)
        return status;
    find_gpu(&found, profile);
    /* Without a GPU there is only the compiler. */
    found.environment = at_environment_here(found.gpu.kind[0] ? &found.gpu : &first->device);
    *here = found;
    return AT_OK;
}

void at_here_clear(struct at_here *here)
{
    free(here->header);
}

/* The facts about software that make an entry stale. CUDA's version follows from the driver's. */
static const struct {
    const char *name, *title;
    bool if_predicted; /* the program predicts times, so its version counts for these alone */
} stale_facts[] = {
    {"autotune", "autotune", true},
    {"driver", "driver", false},
    {"nvrtc", "NVRTC", false},
    {"nvrtc_identity", "build of NVRTC", false},
};

static const char *title_of(const struct at_fact *fact, bool predicted)
{
    for (size_t i = 0; i < AT_COUNT(stale_facts) && at_fact_is_conflict(fact); i++)
        if (strcmp(stale_facts[i].name, fact->name) == 0 &&
            (predicted || !stale_facts[i].if_predicted))
            return stale_facts[i].title;
    return NULL;
}

static void write_software(const struct at_here *here, const struct at_device_record *record,
                           FILE *out)
{
    struct at_environment environment = here->environment;
    const struct at_query query = {
        .device = &record->device, .environment = &environment, .policy = record->policy.name};
    struct at_fact facts[AT_FACTS_MAX];
    bool predicted = at_device_kind(&record->device)->predicted;
    size_t count;

    if (at_device_relation(&record->device, &here->gpu) != AT_SAME_DEVICE)
        environment.driver[0] = '\0';
    if (strcmp(environment.nvrtc, record->environment.nvrtc) != 0)
        environment.nvrtc_identity[0] = '\0';
    count = at_facts_compare(facts, &query, record);
    for (size_t i = 0; i < count; i++) {
        const char *title = title_of(&facts[i], predicted);

        if (title)
            fprintf(out, "%s%s %s then, %s here", ftell(out) > 0 ? "; " : "", title, facts[i].tuned,
                    facts[i].here);
    }
}

/* Is the winner's kernel rendered otherwise now? */
static bool is_rendered_anew(struct at_here *here, const struct at_entry *entry)
{
    const struct at_result_record *winner = &entry->winner;
    struct at_config config;
    struct at_problem problem;
    char hash[AT_SHORT_HASH_CHARS];

    if (!winner->kernel[0] || at_problem_parse(&problem, entry->problem, NULL) != AT_OK ||
        at_config_from_names(&config, here->known->families, here->known->family_count,
                             winner->family, &winner->parameters, NULL) != AT_OK)
        return false;
    if (here->family != config.family)
        at_family_hash(here->family_hash, config.family, here->header);
    here->family = config.family;
    at_kernel_hash(hash, here->family_hash, &config, at_problem_kind(&problem));
    return strcmp(hash, winner->kernel) != 0;
}

char *at_stale_why(struct at_here *here, const struct at_device_record *record,
                   const struct at_entry *entry)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    if (here->known && at_entry_is_measured(entry)) {
        write_software(here, record, out);
        if (is_rendered_anew(here, entry))
            fprintf(out, "%sits kernel is another one now", ftell(out) > 0 ? "; " : "");
    }
    return at_text_close(&stream, NULL);
}

/* ---- what to tune again ---- */

struct sorting {
    const struct at_stale_request *request;
    struct at_here here;
    struct at_stale_list *list;
};

static bool is_here(const struct at_stale_request *request, const struct at_device_record *record)
{
    struct at_device_record place = {0};

    snprintf(place.policy.name, sizeof place.policy.name, "%s", request->run->session.policy->name);
    for (size_t i = 0; i < request->device_count; i++) {
        place.device = request->devices[i];
        if (at_same_place(record, &place))
            return true;
    }
    return false;
}

static void list_problem(struct at_stale_list *list, const char *problem, const char *why,
                         struct at_progress *progress)
{
    struct at_problem parsed;

    if (at_problem_parse(&parsed, problem, NULL) != AT_OK)
        return; /* checked when the profile was read */
    at_note(progress, "%s is stale: %s", problem, why);
    AT_PUSH(list->problems, list->count, list->capacity, parsed);
}

/* List a stale entry of these devices. Return true for an entry whose time is to be checked: it was
 * measured here and is not stale. */
static bool stays_to_be_timed(const struct at_device_record *record, const struct at_entry *entry,
                              const void *state)
{
    struct sorting *sorting = (void *)state;
    char *why = at_stale_why(&sorting->here, record, entry);
    bool here = is_here(sorting->request, record), stale = *why;

    if (stale && here)
        list_problem(sorting->list, entry->problem, why, sorting->request->run->session.progress);
    sorting->list->elsewhere += stale && !here;
    free(why);
    return here && !stale && at_entry_is_measured(entry);
}

/* Time the winners again. List those that are broken, or slower by more than `drift`. */
static enum at_status list_slower(struct sorting *sorting, struct at_profile *profile,
                                  struct at_error *err)
{
    struct at_run_options *run = sorting->request->run;
    struct at_check_report report = {.format = AT_FORMAT_JSON}; /* prints nothing */
    enum at_status status = at_check_times(profile, sorting->request->file, run, &report, err);

    for (size_t i = 0; i < report.count; i++) {
        const struct at_check_row *row = &report.rows[i];
        bool slower = row->verdict == AT_DRIFTED && row->now_ns > row->recorded_ns;
        char *why = slower ? at_format("%.1f %% slower now",
                                       100 * ((double)row->now_ns / (double)row->recorded_ns - 1))
                           : at_strdup(row->message);

        if (slower || row->verdict == AT_BROKEN)
            list_problem(sorting->list, row->problem, why, run->session.progress);
        free(why);
    }
    at_check_clear(&report);
    return status == AT_FAILED ? AT_OK : status;
}

enum at_status at_stale_find(struct at_stale_list *list, const struct at_stale_request *request,
                             struct at_error *err)
{
    struct at_run_options *run = request->run;
    struct at_profile profile = {0};
    struct at_stale_list found = {0};
    struct sorting sorting = {.request = request, .list = &found};
    enum at_status status = at_read_profile(&profile, request->file, &run->progress, err);

    if (status == AT_OK)
        status = at_here_find(&sorting.here, &profile, &run->session, err);
    if (status == AT_OK)
        at_profile_filter(&profile, stays_to_be_timed, &sorting);
    at_here_clear(&sorting.here);
    /* Predicted times do not change from run to run. */
    if (status == AT_OK && profile.devices.count > 0 &&
        !at_device_kind(&request->devices[0])->predicted)
        status = list_slower(&sorting, &profile, err);
    at_profile_clear(&profile);
    if (status == AT_OK)
        *list = found;
    else
        free(found.problems);
    return status;
}
