/* SPDX-License-Identifier: Apache-2.0 */
/* autotune check: is a profile sound? Reading it checks form and figures. Here each config is
 * checked against its family's space, for the device that the profile describes. */
#include "base/memory.h"
#include "cmd/check_times.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "profile/newest.h"
#include "space/named.h"
#include "system/interrupt.h"
#include "system/output.h"

#include <stdio.h>
#include <string.h>

struct check_options {
    struct at_run_options run;
    const char *file, *gpu; /* gpu NULL: run nothing */
    const char *out;        /* NULL: write nothing */
    struct at_check_report report;
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("profile", "which profile?", AT_SETS_TEXT(check_options, file)),
    AT_GPU(0, check_options, gpu, "Verify and time every winner again on this device"),
    AT_FORMAT(0, check_options, report.format),
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

static const struct at_syntax syntax = {
    .options = options_table,
    .arguments = "FILE",
    .help = "Checks a profile: its form, its figures, and that every config is legal for its "
            "problem on its device. With --gpu, it verifies every winner for that device and times "
            "it against the default config. Each winner has held, drifted (by 3 % or more), or is "
            "broken. If the profile has none for that model of device, it tries all that are legal "
            "there.\vThe "
            "exit code is 0 if all of it holds, 1 if something does not, 2 if the file "
            "cannot be read as a profile, 4 if it has predictions and the device is a GPU, or the "
            "other way round."
            "\n\nExample:\n  autotune check --gpu 0 best.yaml",
    .check = check,
};

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

/* Print each config that does not hold; return their number. */
static size_t check_entry(const struct at_entry *entry, const struct at_device_info *device,
                          const struct at_session_options *known, struct at_check_report *report)
{
    const struct {
        const char *name;
        const struct at_result_record *result;
    } results[] = {{"winner", &entry->winner}, {"default", &entry->fallback}};
    struct at_problem problem;
    struct at_error err;
    size_t failures = 0;

    at_problem_parse(&problem, entry->problem, NULL); /* checked when the profile was read */
    for (size_t i = 0; i < AT_COUNT(results); i++) {
        const struct at_result_record *result = results[i].result;
        bool sound;

        if (!result->family[0])
            continue;
        sound = check_result(result, &problem, device, known, &err) == AT_OK;
        at_check_add(report, &(struct at_check_row){.problem = entry->problem,
                                                    .device = (char *)device->name,
                                                    .config = (char *)results[i].name,
                                                    .verdict = sound ? "sound" : "illegal",
                                                    .message = sound ? "" : err.message,
                                                    .recorded_ns = result->time_ns});
        at_detail(known->progress, "%s on %s: %s, %s: %s", entry->problem, device->name,
                  results[i].name, result->family, sound ? "sound" : err.message);
        if (!sound && report->format == AT_FORMAT_TABLE)
            printf("%s: %s: %s\n", entry->problem, results[i].name, err.message);
        failures += !sound;
    }
    return failures;
}

static enum at_status check_profile(const struct at_profile *profile, const char *file,
                                    const struct at_session_options *known,
                                    struct at_check_report *report, struct at_error *err)
{
    const struct at_device_record *records = profile->devices.items;
    size_t entries = 0, failures = 0, models = at_profile_models(profile);

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_entry *problems = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count; j++)
            failures += check_entry(&problems[j], &records[i].device, known, report);
        entries += records[i].problems.count;
    }
    if (failures > 0)
        return at_fail(err, AT_FAILED, "%s: %zu config%s not hold", file, failures,
                       failures == 1 ? " does" : "s do");
    if (report->format != AT_FORMAT_TABLE)
        return AT_OK;
    printf("%s: sound: %zu problem%s on %zu device%s\n", file, entries, entries == 1 ? "" : "s",
           models, models == 1 ? "" : "s");
    return AT_OK;
}

static enum at_status run_check(int argc, char **argv, struct at_error *err)
{
    struct check_options options = {0};
    struct at_profile profile = {0};
    struct at_output *output = NULL;
    enum at_status status = AT_OK, printed;

    at_run_options_init(&options.run);
    at_command_line(&syntax, argc, argv, &options, &options.run.progress);
    status = at_out_check(options.out, options.file, err);
    if (status == AT_OK && options.out)
        status =
            at_output_open(&output, options.out, AT_OUTPUT_NO_WAIT, &options.run.progress, err);
    if (status == AT_OK)
        status = at_run_families(&options.run, err);
    if (status == AT_OK)
        status = (options.out ? at_profile_read_whole
                              : at_profile_read)(&profile, at_given_file(options.file), err);
    if (status == AT_OK)
        at_detail(&options.run.progress, "read %s", options.file);
    if (status == AT_OK)
        status = check_profile(&profile, options.file, &options.run.session, &options.report, err);
    if (status == AT_OK && options.gpu) {
        options.run.gpu = options.gpu;
        at_interrupt_catch();
        status = at_check_times(&profile, options.file, &options.run, &options.report, err);
    }
    /* A file that cannot be read gives no document; a run that was cut short what it had. */
    printed = status == AT_OK || options.report.count > 0
                  ? at_check_print(&options.report, status == AT_OK ? err : NULL)
                  : AT_OK;
    status = status == AT_OK ? printed : status;
    if (status == AT_OK && output)
        status = at_profile_write(&profile, output, err);
    at_output_close(output);
    at_profile_clear(&profile);
    at_run_options_clear(&options.run);
    return status;
}

const struct at_command at_command_check = {
    .name = "check",
    .summary = "is a profile sound, and does it still hold?",
    .run = run_check,
};
