/* SPDX-License-Identifier: Apache-2.0 */
/* autotune merge: write several profiles as one. */
#include "profile/merge.h"
#include "cmd/cmd.h"
#include "system/output.h"
#include "system/progress.h"

#include <stdio.h>
#include <string.h>

struct merge_options {
    char **files;
    int file_count;
    const char *out;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct merge_options *options = state->input;

    switch (key) {
    case 'o':
        options->out = arg;
        return 0;
    case ARGP_KEY_ARGS:
        options->files = &state->argv[state->next];
        options->file_count = state->argc - state->next;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which profiles?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options_table[] = {
    {"out", 'o', "FILE", 0, "Write to FILE (default: standard output)", 0},
    {0},
};
static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .args_doc = "FILE...",
    .doc = "Merges profiles: different devices, policies and software are kept side by side."
           "\vIf several have an entry for the same problem, device and policy, one is kept. These "
           "criteria decide, in this order: newer software, a complete search, more configs, more "
           "samples, a smaller spread, named first. Each case is reported on standard error.",
};

static enum at_status merge_files(const struct merge_options *options, struct at_profiles *profiles,
                                  struct at_merge *merge, struct at_error *err)
{
    enum at_status status = AT_OK;

    for (int i = 0; i < options->file_count && status == AT_OK; i++)
        status = at_profiles_add(profiles, options->files[i], err);
    return status == AT_OK ? at_merge_make(merge, profiles, err) : status;
}

static enum at_status run_merge(int argc, char **argv, struct at_error *err)
{
    struct merge_options options = {0};
    struct at_profiles profiles = {0};
    struct at_merge merge = {0};
    struct at_progress progress;
    struct at_output *output = NULL;
    enum at_status status = AT_OK;

    argp_parse(&argp, argc, argv, 0, NULL, &options);
    at_progress_init(&progress, false);
    if (options.out && strcmp(options.out, "-") != 0)
        status = at_output_open(&output, options.out, AT_OUTPUT_NO_WAIT, &progress, err);
    if (status == AT_OK)
        status = merge_files(&options, &profiles, &merge, err);
    if (status == AT_OK) {
        for (size_t i = 0; i < merge.conflict_count; i++)
            at_note(&progress, "%s", merge.conflicts[i]);
        status = at_profile_write(&merge.profile, output, err);
    }
    at_output_close(output);
    at_merge_clear(&merge);
    at_profiles_clear(&profiles);
    return status;
}

const struct at_command at_command_merge = {
    .name = "merge",
    .summary = "several profiles as one",
    .run = run_merge,
};
