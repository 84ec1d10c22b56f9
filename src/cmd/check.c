/* SPDX-License-Identifier: Apache-2.0 */
/* autotune check: is a profile sound? Reading it checks form and figures. Here each config is
 * checked against its family's space, for the device that the profile describes. An entry is stale
 * if it was made with other software or another kernel than there is now. */
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/hold.h"
#include "cmd/stale.h"
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
    struct at_here here = {0};
    enum at_status status = at_here_find(&here, profile, known, err);

    for (struct at_placed_entry at = {0}; status == AT_OK && at_profile_next(profile, &at);) {
        char *why = at_stale_why(&here, at.record, at.entry);

        check_entry(&found, &at, why, known, report);
        free(why);
    }
    at_here_clear(&here);
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
    .help = "Checks a profile: its form, its figures, and that every config is legal for its "
            "problem on its device. With --gpu, it verifies every winner for that device and times "
            "it against the default config. Each winner has held, drifted (by 3 % or more), or is "
            "broken. If the profile has none for that model of device, it tries all that are legal "
            "there. An entry is stale if its driver, its NVRTC or its kernel is another one now; "
            "tune --stale tunes these again.\vThe "
            "exit code is 0 if all of it holds, 1 if something does not (with --stale also if an "
            "entry is stale), 2 if the file "
            "cannot be read as a profile, 4 if it has predictions and the device is a GPU, or the "
            "other way round."
            "\n\nExample:\n  autotune check --gpu 0 best.yaml",
    .check = check,
    .size = sizeof(struct check_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_check,
};
