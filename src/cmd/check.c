/* SPDX-License-Identifier: Apache-2.0 */
/* autotune check: is a profile sound? Reading it checks form and figures. Here each config is
 * checked against its family's space, for the device that the profile describes. An entry is stale
 * if it was made with other software or another kernel than there is now. */
#include "cmd/check.h"

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
#include "profile/profile.h"
#include "space/named.h"
#include "system/interrupt.h"
#include "system/output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct check_options {
    struct at_run_options run;
    const char *file, *gpu; /* gpu NULL: run nothing */
    const char *out;        /* NULL: write nothing */
    bool stale;             /* an entry that is stale fails */
    struct at_check_report report;
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("profile", "which profile? Name its file, like best.yaml",
                AT_SETS_TEXT(check_options, file)),
    AT_GPU(0, check_options, gpu, "Verify and time every winner again on this device"),
    AT_FORMAT(0, check_options, report.format),
    {"stale", 0, NULL, 0, "Fail also if an entry is stale", AT_SETS_FLAG(check_options, stale)},
    AT_OUT(0, check_options, out,
           "If all holds, write the profile; where its winners are another model's, say in it that "
           "they were correct on this one, too"),
    AT_SPACE(0, check_options, run.spaces),
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    const struct check_options *options = given;

    return options->out && !options->gpu ? at_fail(err, AT_USAGE, "--out needs --gpu") : AT_OK;
}

/* ---- is it stale? ---- */

/* What is here of all that a time depends on. */
struct here {
    const struct at_session_options *known; /* NULL: nothing is known of here */
    struct at_device_info gpu;              /* the first one; its kind is "" if there is none */
    struct at_environment environment;
    char *header;                   /* text of AT_TEMPLATE_HEADER */
    const struct at_family *family; /* whose hash this is; NULL: none yet */
    char family_hash[AT_HASH_CHARS];
};

static void find_gpu(struct here *here, const struct at_profile *profile)
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

static enum at_status find_here(struct here *here, const struct at_profile *profile,
                                const struct at_session_options *known, struct at_error *err)
{
    const struct at_device_record *first = profile->devices.items;
    struct here found = {.known = known};
    enum at_status status = at_template_header_read(&found.header, err);

    if (status != AT_OK || profile->devices.count == 0)
        return status;
    find_gpu(&found, profile);
    /* Without a GPU there is only the compiler. */
    found.environment = at_environment_here(found.gpu.kind[0] ? &found.gpu : &first->device);
    *here = found;
    return AT_OK;
}

static void clear_here(struct here *here)
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

static void write_software(const struct here *here, const struct at_device_record *record,
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
static bool is_rendered_anew(struct here *here, const struct at_entry *entry)
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

/* Tell why a measured entry is stale: "NVRTC 12.9 then, 13.0 here"; "": it is not. The caller frees
 * it. */
static char *why_stale(struct here *here, const struct at_device_record *record,
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

/* ---- is it sound? ---- */

/* Does the recorded launch equal the one that the space gives? */
static bool same_launch(const struct at_result_record *result, const struct at_launch *launch)
{
    return memcmp(result->grid.items, &launch->field[AT_GRID_X], 3 * sizeof(int64_t)) == 0 &&
           memcmp(result->block.items, &launch->field[AT_BLOCK_X], 3 * sizeof(int64_t)) == 0;
}

static enum at_status check_result(const struct at_result_record *result,
                                   const struct at_problem *problem,
                                   const struct at_device_info *device,
                                   const struct at_session_options *known, struct at_error *err)
{
    struct at_config config;
    struct at_launch launch;
    enum at_status status = at_config_from_names(&config, known->families, known->family_count,
                                                 result->family, &result->parameters, err);

    if (status == AT_OK)
        status = at_config_require(&config, problem, device, "illegal here", err);
    if (status == AT_OK)
        status = at_config_launch(&config, problem, device, &launch, err);
    if (status == AT_OK && result->time_ns > 0 && !same_launch(result, &launch))
        status = at_fail(err, AT_FAILED, "the launch is not the one that the space gives");
    return status;
}

/* What checking found. */
struct soundness {
    size_t failures; /* configs that do not hold */
    size_t stale;    /* entries */
};

/* Print the config unless it is sound, and that its entry is stale if there is a reason. */
static void take_result(struct soundness *found, const struct at_check_row *row,
                        enum at_output_format format, const char *policy)
{
    bool illegal = row->verdict == AT_ILLEGAL;

    if (format == AT_FORMAT_TABLE && illegal)
        printf("%s: %s: %s\n", row->problem, row->config, row->message);
    else if (format == AT_FORMAT_TABLE && row->message[0])
        printf("%s: stale on %s, %s: %s\n", row->problem, row->device, policy, row->message);
    found->failures += illegal;
    found->stale += !illegal && row->message[0];
}

/* Check the winner and the default. `stale`: why the entry is stale, or "". */
static void check_entry(struct soundness *found, const struct at_placed_entry *at,
                        const char *stale, const struct at_session_options *known,
                        struct at_check_report *report)
{
    const struct at_entry *entry = at->entry;
    const struct at_device_info *device = &at->record->device;
    const struct {
        const char *name;
        const struct at_result_record *result;
    } results[] = {{"winner", &entry->winner}, {"default", &entry->fallback}};
    struct at_problem problem;
    struct at_error err;

    at_problem_parse(&problem, entry->problem, NULL); /* checked when the profile was read */
    for (size_t i = 0; i < AT_COUNT(results); i++) {
        const struct at_result_record *result = results[i].result;
        const char *why = i == 0 ? stale : "";
        struct at_check_row row = {.problem = entry->problem,
                                   .device = (char *)device->name,
                                   .config = (char *)results[i].name,
                                   .recorded_ns = result->time_ns};
        bool sound;

        if (!result->family[0])
            continue;
        sound = check_result(result, &problem, device, known, &err) == AT_OK;
        row.verdict = !sound ? AT_ILLEGAL : *why ? AT_STALE : AT_SOUND;
        row.message = sound ? (char *)why : err.message;
        at_check_add(report, &row);
        take_result(found, &row, report->format, at->record->policy.name);
        at_detail(known->progress, "%s on %s: %s, %s: %s", entry->problem, device->name,
                  results[i].name, result->family, *row.message ? row.message : "sound");
    }
}

static enum at_status check_profile(const struct at_profile *profile, const char *file,
                                    const struct at_session_options *known,
                                    struct at_check_report *report, size_t *stale,
                                    struct at_error *err)
{
    size_t entries = at_profile_entries(profile), models = at_profile_models(profile);
    struct soundness found = {0};
    struct here here = {0};
    enum at_status status = find_here(&here, profile, known, err);

    for (struct at_placed_entry at = {0}; status == AT_OK && at_profile_next(profile, &at);) {
        char *why = why_stale(&here, at.record, at.entry);

        check_entry(&found, &at, why, known, report);
        free(why);
    }
    clear_here(&here);
    *stale = found.stale;
    if (status == AT_OK && found.failures > 0)
        status = at_fail(err, AT_FAILED, "%s: %zu config%s not hold", file, found.failures,
                         found.failures == 1 ? " does" : "s do");
    if (status != AT_OK || report->format != AT_FORMAT_TABLE)
        return status;
    printf("%s: sound: %zu problem%s on %zu device%s\n", file, entries, entries == 1 ? "" : "s",
           models, models == 1 ? "" : "s");
    if (found.stale > 0)
        printf("%zu stale: autotune tune --stale %s tunes %s again\n", found.stale, file,
               found.stale == 1 ? "it" : "them");
    return AT_OK;
}

/* ---- what to tune again ---- */

struct sorting {
    const struct at_stale_request *request;
    struct here here;
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
    char *why = why_stale(&sorting->here, record, entry);
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
        status = find_here(&sorting.here, &profile, &run->session, err);
    if (status == AT_OK)
        at_profile_filter(&profile, stays_to_be_timed, &sorting);
    clear_here(&sorting.here);
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

/* ---- the command ---- */

static enum at_status run_check(void *given, struct at_error *err)
{
    struct check_options *options = given;
    struct at_profile profile = {0};
    struct at_output *output = NULL;
    size_t stale = 0;
    enum at_status status = at_out_check(options->out, options->file, err), printed;

    if (status == AT_OK && options->out)
        status =
            at_output_open(&output, options->out, AT_OUTPUT_NO_WAIT, &options->run.progress, err);
    if (status == AT_OK)
        status = at_run_families(&options->run, err);
    if (status == AT_OK) {
        status = (options->out ? at_profile_read_whole
                               : at_profile_read)(&profile, at_given_file(options->file), err);
        if (status != AT_OK)
            at_advise_kind(err, options->file, AT_KIND_PROFILE);
    }
    if (status == AT_OK)
        at_detail(&options->run.progress, "read %s", options->file);
    if (status == AT_OK)
        status = check_profile(&profile, options->file, &options->run.session, &options->report,
                               &stale, err);
    if (status == AT_OK && options->gpu) {
        options->run.gpu = options->gpu;
        at_interrupt_catch();
        status = at_check_times(&profile, options->file, &options->run, &options->report, err);
    }
    /* A file that cannot be read gives no document; a run that was cut short what it had. */
    printed = status == AT_OK || options->report.count > 0
                  ? at_check_print(&options->report, status == AT_OK ? err : NULL)
                  : AT_OK;
    status = status == AT_OK ? printed : status;
    if (status == AT_OK && options->stale && stale > 0) {
        status = AT_FAILED;
        err->message[0] = '\0'; /* the output says it */
    }
    if (status == AT_OK && output)
        status = at_profile_write(&profile, output, err);
    at_output_close(output);
    at_profile_clear(&profile);
    at_check_clear(&options->report);
    return status;
}

const struct at_command at_command_check = {
    .name = "check",
    .summary = "is a profile sound, and does it still hold?",
    .options = options_table,
    .arguments = "FILE",
    .help =
        "Checks a profile: its form, its figures, and that every config is legal for its "
        "problem on its device. With --gpu, it verifies every winner for that device and times "
        "it against the default config. Each winner has held, drifted (by 3 % or more), or is "
        "broken. If the profile has predictions for that model of GPU, they are measured: --out "
        "writes the faster of each and the default. If it has neither, it tries all that are legal "
        "there. An entry is stale if its driver, its NVRTC or its kernel is another one now; "
        "tune --stale tunes these again.\vThe "
        "exit code is 0 if all of it holds, 1 if something does not (with --stale also if an "
        "entry is stale), 2 if the file "
        "cannot be read as a profile, 4 if it has only predictions of another model than the "
        "GPU, or only measurements and the device is emulated."
        "\n\nExample:\n  autotune check --gpu 0 best.yaml",
    .check = check,
    .size = sizeof(struct check_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_check,
};
