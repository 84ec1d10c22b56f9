/* SPDX-License-Identifier: Apache-2.0 */
/* autotune merge: write several profiles as one. */
#include "profile/merge.h"
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/run_options.h"
#include "profile/newest.h"
#include "system/output.h"
#include "system/progress.h"

#include <stdlib.h>

/* More lines of one kind would hide the others. */
enum { LINES_MAX = 20 };

struct merge_options {
    struct at_progress progress;
    struct at_texts files;
    const char *out;
    const char *problems; /* the list that the profiles should have; NULL: unknown */
    bool answers;         /* without measurements */
    bool replace;         /* what the file has */
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("profile", "which profiles? Name their files, like old.yaml new.yaml",
                AT_ADDS_TEXT(merge_options, files)),
    {"answers", 0, NULL, 0,
     "Write only what a lookup needs: each config once, with the problems that it answers, and no "
     "measurements",
     AT_SETS_FLAG(merge_options, answers)},
    AT_OUT(0, merge_options, out,
           "Write to FILE (default: standard output). A profile that is there takes part"),
    {"replace", 0, NULL, 0, "Drop what FILE has", AT_SETS_FLAG(merge_options, replace)},
    AT_PROBLEMS(0, merge_options, problems,
                "Say which problems of a list like tuning/problems.yaml are missing or doubled"),
    {0},
};

static enum at_status merge_files(struct merge_options *options, struct at_profiles *profiles,
                                  struct at_merge *merge, struct at_error *err)
{
    struct at_profile_file there = {0};
    enum at_status status = AT_OK;

    if (!options->replace)
        status = at_out_profile_read(&there.profile, options->out, err);
    if (there.profile.devices.count > 0) {
        there.path = at_strdup(options->out);
        AT_PUSH(profiles->files, profiles->count, profiles->capacity, there);
    }
    for (size_t i = 0; i < options->files.count && status == AT_OK; i++) {
        status = at_add_profile(profiles, options->files.items[i], err);
        if (status == AT_OK)
            at_detail(&options->progress, "read %s", options->files.items[i]);
    }
    return status == AT_OK ? at_merge_make(merge, profiles, err) : status;
}

/* ---- what is missing ---- */

/* The list's problems, and how many lines were printed. */
struct expected {
    struct at_progress *progress;
    char **names;
    size_t count, missing;
};

/* Tell which problems this device lacks, whatever software they were tuned with. */
static void find_missing(struct expected *expected, const struct at_profile *profile,
                         const struct at_device_record *subject)
{
    for (size_t i = 0; i < expected->count; i++)
        if (!at_profile_has(profile, subject, expected->names[i]) &&
            ++expected->missing <= LINES_MAX)
            at_note(expected->progress, "missing: %s on %s, %s", expected->names[i],
                    subject->device.name, subject->policy.name);
}

static void find_all_missing(struct expected *expected, const struct at_profile *profile)
{
    const struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        bool seen = false;

        for (size_t j = 0; j < i && !seen; j++)
            seen = at_same_place(&records[i], &records[j]);
        if (!seen)
            find_missing(expected, profile, &records[i]);
    }
}

static void tell_more(struct at_progress *progress, const char *what, size_t count)
{
    if (count > LINES_MAX)
        at_note(progress, "%s: %zu more", what, count - LINES_MAX);
}

static void tell_doubled(struct at_progress *progress, const struct at_merge *merge)
{
    for (size_t i = 0; i < merge->repeat_count && i < LINES_MAX; i++)
        at_note(progress, "doubled: %s", merge->repeats[i]);
    tell_more(progress, "doubled", merge->repeat_count);
}

/* Compare the merged profile with the list. AT_FAILED: problems are missing. */
static enum at_status compare_list(const char *path, const struct at_merge *merge,
                                   struct at_progress *progress, struct at_error *err)
{
    const struct at_run_options listed = {.problem_list = path, .session = {.progress = progress}};
    struct expected expected = {.progress = progress};
    struct at_problem *problems = NULL;
    enum at_status status = at_run_problems(&listed, NULL, &problems, &expected.count, err);

    if (status != AT_OK)
        return status;
    expected.names = at_alloc_array(expected.count, sizeof *expected.names);
    for (size_t i = 0; i < expected.count; i++)
        expected.names[i] = at_problem_format(&problems[i]);
    tell_doubled(progress, merge);
    find_all_missing(&expected, &merge->profile);
    tell_more(progress, "missing", expected.missing);
    for (size_t i = 0; i < expected.count; i++)
        free(expected.names[i]);
    free(expected.names);
    free(problems);
    if (expected.missing == 0)
        return AT_OK;
    return at_fail(err, AT_FAILED, "%zu of the problems of %s are missing; the others are written",
                   expected.missing, path);
}

/* Write the merged profile, with notes. What is missing makes the command fail, but not the file.
 */
static enum at_status deliver(struct merge_options *options, struct at_merge *merge,
                              struct at_output *output, struct at_error *err)
{
    struct at_progress *progress = &options->progress;
    struct at_error writing;
    enum at_status whole = AT_OK;

    for (size_t i = 0; i < merge->conflict_count; i++)
        at_note(progress, "%s", merge->conflicts[i]);
    if (options->problems)
        whole = compare_list(options->problems, merge, progress, err);
    if (whole != AT_OK && whole != AT_FAILED)
        return whole;
    if (options->answers) {
        at_profile_keep_newest(&merge->profile);
        at_profile_drop_measurements(&merge->profile);
    }
    if (at_profile_write(&merge->profile, output, &writing) != AT_OK)
        return at_fail(err, writing.status, "%s", writing.message);
    if (output)
        at_detail(progress, "wrote %s", options->out);
    return whole;
}

static enum at_status run_merge(void *given, struct at_error *err)
{
    struct merge_options *options = given;
    struct at_profiles profiles = {.whole = true};
    struct at_merge merge = {0};
    struct at_output *output = NULL;
    enum at_status status = AT_OK;

    if (at_out_is_file(options->out))
        status = at_output_open(&output, options->out, AT_OUTPUT_NO_WAIT, &options->progress, err);
    if (status == AT_OK)
        status = merge_files(options, &profiles, &merge, err);
    if (status == AT_OK)
        status = deliver(options, &merge, output, err);
    at_output_close(output);
    at_merge_clear(&merge);
    at_profiles_clear(&profiles);
    return status;
}

const struct at_command at_command_merge = {
    .name = "merge",
    .summary = "several profiles as one",
    .options = options_table,
    .arguments = "FILE...",
    .help =
        "Merges profiles: different models of devices, policies and software are kept side by "
        "side; "
        "GPUs of one model are not. The order of the files makes no difference."
        "\vIf several have an entry for the same problem, model, policy and software, one is kept. "
        "These criteria decide, in this order: measurements, a complete search, more configs, "
        "more samples, a smaller spread, a shorter time, a larger share of the copy limit. Each "
        "case is reported on standard error."
        "\n\nExample:\n  autotune merge --out all.yaml h100.yaml h200.yaml",
    .size = sizeof(struct merge_options),
    .run = run_merge,
};
