/* SPDX-License-Identifier: Apache-2.0 */
/* autotune lookup: which config to use for a problem, and what the answer is based on. */
#include "lookup/lookup.h"
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/run_options.h"
#include "device/kind.h"
#include "lookup/answer.h"
#include "lookup/rivals.h"
#include "pipeline/shootout.h"
#include "system/interrupt.h"

#include <stdio.h>
#include <stdlib.h>

struct lookup_options {
    struct at_lookup_options common;
    struct at_texts profiles;
    bool strict;
    int64_t measure_ns; /* 0: do not measure */
    enum at_output_format format;
};

static const struct at_option options_table[] = {
    AT_TABLE(lookup_options, common, at_lookup_table),
    AT_GROUP(3, "How to print:"),
    AT_PROBLEMS(1, lookup_options, common.run.problem_list,
                "All problems of a list like tuning/problems.yaml"),
    {"profile", 0, "FILE", 2,
     "Search this profile before those on the search path; may be repeated",
     AT_ADDS_TEXT(lookup_options, profiles)},
    {"strict", 0, NULL, 2, "Fail unless the answer was tuned on this model of device",
     AT_SETS_FLAG(lookup_options, strict)},
    {"measure", 0, "TIME", 2,
     "Time the answer on the GPU against its rivals, as many as this time allows, like 50ms or 2s; "
     "print the fastest",
     AT_SETS_TIME(lookup_options, measure_ns)},
    AT_FORMAT(3, lookup_options, format),
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    const struct lookup_options *options = given;

    if (!at_run_problems_given(&options->common.run))
        return at_fail(err, AT_USAGE, "which problem? Name it, like 8192x8192:f32");
    if (options->common.file && options->profiles.count > 0)
        return at_fail(err, AT_USAGE,
                       "give FILE, which is searched alone, or --profile, but not both");
    if (options->measure_ns > 0 && options->common.devices.count > 0)
        return at_fail(err, AT_USAGE,
                       "--measure runs kernels, so it needs a device that is there: --gpu, not "
                       "--device");
    return at_lookup_options_check(&options->common, false, err);
}

/* Measure an answer, unless that has been done. */
static enum at_status measure(struct lookup_options *options, const struct at_lookup *lookup,
                              const struct at_query *query, struct at_answer *answer,
                              struct at_error *err)
{
    struct at_session *session;
    enum at_status status;

    at_interrupt_catch();
    if (at_answer_is_settled(answer, query))
        return AT_OK;
    status = at_session_open(&session, query->device, &options->common.run.session, err);
    if (status != AT_OK)
        return status;
    status = at_measure_answer(session, lookup, query, options->measure_ns, answer, err);
    at_session_close(session);
    if (status == AT_OK && answer->measured.time_ns == 0)
        at_note(&options->common.run.progress,
                "nothing was measured: no other config that has been "
                "correct on this model of device was ready in time");
    if (status == AT_OK && answer->measured.predicted)
        at_note(&options->common.run.progress, "%s", at_emulated_times(query->device));
    return status;
}

/* Look one problem up, and print the answer, in JSON after `before`, or add it to the rows of a
 * table. */
static enum at_status answer_one(struct lookup_options *options, const struct at_lookup *lookup,
                                 const struct at_query *query, const char *before,
                                 struct at_list *rows, struct at_error *err)
{
    struct at_answer answer;
    enum at_status status = at_lookup_find(lookup, query, &answer, err);

    if (status == AT_OK && options->strict)
        status = at_answer_check_device(&answer, query, err);
    if (status == AT_OK && options->measure_ns > 0)
        status = measure(options, lookup, query, &answer, err);
    if (status != AT_OK)
        return status;
    if (options->format == AT_FORMAT_JSON && before)
        fputs(before, stdout);
    if (options->format == AT_FORMAT_JSON)
        return at_answer_write_json(&answer, query, stdout, err);
    if (options->format == AT_FORMAT_TABLE)
        at_answer_show(&answer, query, at_stdout_color(), stdout);
    else
        ((struct at_answer_record *)rows->items)[rows->count++] = at_answer_record(&answer, query);
    return AT_OK;
}

/* Answer all problems, up to the first that fails. Several are one array in JSON. */
static enum at_status answer_all(struct lookup_options *options, const struct at_lookup *lookup,
                                 const struct at_target *target, const struct at_problem *problems,
                                 size_t count, struct at_error *err)
{
    struct at_list rows = {at_alloc_array(count, sizeof(struct at_answer_record)), 0};
    enum at_status status = AT_OK;
    size_t i = 0;

    for (; i < count && status == AT_OK; i++) {
        if (i > 0 && options->format == AT_FORMAT_TABLE)
            putchar('\n');
        status = answer_one(options, lookup,
                            &(struct at_query){.problem = &problems[i],
                                               .device = &target->device,
                                               .environment = &target->environment,
                                               .policy = options->common.run.session.policy->name,
                                               .strict = options->strict},
                            count == 1 ? NULL
                            : i == 0   ? "[\n"
                                       : ",\n",
                            &rows, err);
    }
    if (options->format == AT_FORMAT_JSON && count > 1 && (i > 1 || status == AT_OK))
        puts("]");
    if (rows.count > 0)
        (void)at_print_list("answers", &at_answer_schema, rows.items, rows.count, options->format,
                            stdout, NULL);
    at_schema_clear_records(&at_answer_schema, rows.items, rows.count);
    return status;
}

static enum at_status look_up(struct lookup_options *options, const struct at_profiles *profiles,
                              struct at_error *err)
{
    struct at_problem *problems = NULL;
    size_t count = 0;
    struct at_target target;
    struct at_lookup *lookup;
    enum at_status status = at_run_problems(&options->common.run, NULL, &problems, &count, err);

    if (status == AT_OK)
        status = at_target_find(&target, &options->common, err);
    if (status == AT_OK)
        status = at_run_families(&options->common.run, err);
    if (status == AT_OK)
        status = at_lookup_open(&lookup, profiles, options->common.run.families,
                                options->common.run.session.family_count, err);
    if (status == AT_OK) {
        status = answer_all(options, lookup, &target, problems, count, err);
        at_lookup_close(lookup);
    }
    free(problems);
    return status;
}

static enum at_status run_lookup(void *given, struct at_error *err)
{
    struct lookup_options *options = given;
    struct at_profiles profiles = {.for_lookup = true};
    enum at_status status =
        at_searched_profiles(&profiles, options->common.file, options->profiles.items,
                             options->profiles.count, &options->common.run.progress, err);

    if (status == AT_OK)
        status = look_up(options, &profiles, err);
    at_profiles_clear(&profiles);
    return status;
}

const struct at_command at_command_lookup = {
    .name = "lookup",
    .summary = "which config for a problem, and why",
    .options = options_table,
    .arguments = "[PROBLEM...] [FILE]",
    .help =
        "Tells which config to use for a problem on a device, even if neither was tuned. "
        "Searches only FILE, or the search path.\vThe answer is always legal for the problem and "
        "the device. It comes from the first tier that has one: (1) this problem on this model of "
        "device; (2) the nearest problem on this model; (3) the nearest problem on a device with "
        "as many of the same multiprocessors; (4) on the same compute capability; (5) on the "
        "nearest compute capability; (6) the default config. Where the nearest problem is far, "
        "small networks predict which of all configs is fastest.\n\n"
        "The search path: --profile, "
        "$AUTOTUNE_WISDOM, $AUTOTUNE_PROFILE_PATH, $XDG_DATA_HOME/autotune, and the results that "
        "come with the program."
        "\n\nExample:\n  autotune lookup 8192x8192:f32 --device h200 best.yaml",
    .check = check,
    .size = sizeof(struct lookup_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_lookup,
};
