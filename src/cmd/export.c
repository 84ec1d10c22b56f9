/* SPDX-License-Identifier: Apache-2.0 */
/* autotune export: tuned kernels in a format that a build can use. */
#include "export/export.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/run_options.h"
#include "device/relation.h"
#include "profile/newest.h"
#include "system/output.h"
#include "system/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct export_options {
    struct at_lookup_options common;
    const char *out, *prefix;
    const struct at_export_format *format;
};

static const struct at_option options_table[] = {
    AT_TABLE(export_options, common, at_lookup_table),
    AT_GROUP(3, "What to write:"),
    {"as", 0, "FORMAT", 3, "Format to write",
     AT_SETS_ENTRY(export_options, format, struct at_export_format, at_export_choice),
     .noun = "format"},
    AT_OUT(
        3, export_options, out,
        "Write to FILE, or to a folder if the format has several files (default: standard output)"),
    {"prefix", 0, "NAME", 3,
     "Begin the names of functions, types, macros and variables with NAME (default: autotune)",
     AT_SETS_TEXT(export_options, prefix)},
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    const struct export_options *options = given;
    const struct at_export_format *format = options->format;

    if (!format)
        return at_fail(err, AT_USAGE, "name a format with --as");
    if (format->write_folder && !options->out)
        return at_fail(err, AT_USAGE, "%s has several files: name a folder with --out",
                       format->name);
    if (options->prefix && !format->has_names)
        return at_fail(err, AT_USAGE, "%s has no names that --prefix would change", format->name);
    return at_lookup_options_check(&options->common, err);
}

/* ---- for which device ---- */

static enum at_status device_of_file(const struct export_options *options,
                                     const struct at_profiles *profiles, struct at_target *target,
                                     struct at_error *err)
{
    const struct at_list *devices = &profiles->files[0].profile.devices;
    const struct at_device_record *records = devices->items;

    for (size_t i = 1; i < devices->count; i++)
        if (at_device_relation(&records[0].device, &records[i].device) != AT_SAME_DEVICE)
            return at_fail(
                err, AT_USAGE,
                "%s has several devices, %s and %s among them: name one with --device or "
                "--gpu",
                options->common.file, records[0].device.name, records[i].device.name);
    *target = (struct at_target){records[0].device, records[0].environment};
    return AT_OK;
}

static enum at_status find_target(struct export_options *options,
                                  const struct at_profiles *profiles, struct at_target *target,
                                  struct at_error *err)
{
    if (options->common.file && !options->common.run.gpu && !options->common.device)
        return device_of_file(options, profiles, target, err);
    return at_target_find(target, &options->common, err);
}

/* ---- which problems ---- */

static void add_tuned(const struct at_profile *profile, const struct at_device_info *device,
                      const char *policy, struct at_problem **problems, size_t *count,
                      size_t *capacity)
{
    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);) {
        struct at_problem problem;

        if (strcmp(at.record->policy.name, policy) != 0 ||
            at_device_relation(&at.record->device, device) != AT_SAME_DEVICE)
            continue;
        at_problem_parse(&problem, at.entry->problem, NULL); /* the reader has seen it parse */
        /* No format tells offsets apart. */
        if (!problem.offset_src && !problem.offset_dst)
            AT_PUSH(*problems, *count, *capacity, problem);
    }
}

/* Those of the command line, or else all that the profiles have for the device. */
static enum at_status find_problems(const struct export_options *options,
                                    const struct at_profiles *profiles,
                                    const struct at_device_info *device,
                                    struct at_problem **problems, size_t *count,
                                    struct at_error *err)
{
    size_t capacity = 0;

    if (at_run_problems_given(&options->common.run))
        return at_run_problems(&options->common.run, NULL, problems, count, err);
    *problems = NULL;
    *count = 0;
    for (size_t i = 0; i < profiles->count; i++)
        add_tuned(&profiles->files[i].profile, device, options->common.run.session.policy->name,
                  problems, count, &capacity);
    if (*count == 0)
        return at_fail(
            err, AT_MISMATCH,
            "no profile here is for %s under the policy %s: name problems with --problem, "
            "which uses the nearest entry",
            device->name, options->common.run.session.policy->name);
    return AT_OK;
}

/* ---- writing ---- */

static enum at_status write_export(const struct at_export *export, struct export_options *options,
                                   struct at_error *err)
{
    const struct at_export_format *format = options->format;
    struct at_progress *progress = &options->common.run.progress;
    struct at_text_stream stream;
    enum at_status status;

    if (!format->write_folder) {
        status = format->write(export, at_text_open(&stream), err);
        return at_out_write(options->out, &stream, status, progress, err);
    }
    status = at_path_make(options->out, 0777, err);
    if (status == AT_OK)
        status = format->write_folder(export, options->out, err);
    if (status == AT_OK)
        at_detail(progress, "wrote %s", options->out);
    return status;
}

static enum at_status export_problems(struct export_options *options,
                                      const struct at_profiles *profiles,
                                      const struct at_target *target, struct at_error *err)
{
    struct at_lookup *lookup = NULL;
    struct at_export export = {.device = &target->device,
                               .environment = &target->environment,
                               .policy = options->common.run.session.policy->name};
    struct at_problem *problems = NULL;
    size_t count;
    enum at_status status = at_export_set_prefix(&export, options->prefix, err);

    if (status == AT_OK)
        status = find_problems(options, profiles, &target->device, &problems, &count, err);
    if (status == AT_OK)
        status = at_lookup_open(&lookup, profiles, options->common.run.families,
                                options->common.run.session.family_count, err);
    if (status == AT_OK)
        status = at_export_make(&export, lookup, problems, count, err);
    if (status == AT_OK)
        status = write_export(&export, options, err);
    at_export_clear(&export);
    free(problems);
    at_lookup_close(lookup);
    return status;
}

static enum at_status run_export(void *given, struct at_error *err)
{
    struct export_options *options = given;
    struct at_profiles profiles = {0};
    struct at_target target;
    enum at_status status = AT_OK;

    if (!options->format->write_folder)
        status = at_out_check(options->out, NULL, err);
    if (status == AT_OK)
        status = at_searched_profiles(&profiles, options->common.file, NULL, 0,
                                      &options->common.run.progress, err);
    if (status == AT_OK)
        status = find_target(options, &profiles, &target, err);
    if (status == AT_OK)
        status = at_run_families(&options->common.run, err);
    if (status == AT_OK)
        status = export_problems(options, &profiles, &target, err);
    at_profiles_clear(&profiles);
    return status;
}

const struct at_command at_command_export = {
    .name = "export",
    .summary = "tuned kernels in a format that a build can use",
    .options = options_table,
    .arguments = "[PROBLEM...] [FILE]",
    .help = "Exports the kernels that lookup chooses, from FILE or from the search path: for the "
            "device that is named, or else for the one that FILE is about. Without problems it "
            "exports all problems that were tuned on that device.\vThe same input gives the same "
            "bytes."
            "\n\nExample:\n  autotune export --as header --out best.h best.yaml",
    .check = check,
    .size = sizeof(struct export_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_export,
};
