/* SPDX-License-Identifier: Apache-2.0 */
/* autotune diff: what differs between two profiles. */
#include "profile/diff.h"
#include "cmd/cmd.h"
#include "options/argument.h"
#include "options/command_line.h"
#include "options/format.h"
#include "options/read_profile.h"

#include <stdio.h>

struct diff_options {
    struct at_progress progress;
    const char *files[2];
    int file_count;
    enum at_output_format format;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct diff_options *options = state->input;

    switch (key) {
    case 'f':
        options->format = at_parse_format(state, arg);
        return 0;
    case ARGP_KEY_ARG:
        if (options->file_count == 2)
            argp_error(state, "two profiles at a time");
        options->files[options->file_count++] = arg;
        return 0;
    case ARGP_KEY_END:
        if (options->file_count < 2)
            argp_error(state, "which two profiles?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options_table[] = {
    {"format", 'f', "NAME", 0, "How to print the result; the first is the default {formats}", 0},
    {0},
};
static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .help_filter = at_help_filter,
    .args_doc = "OLD NEW",
    .doc =
        "Compares two profiles of the same models of devices. Prints problems that only one has, "
        "other winners, and times of the same winner that differ by more than both spreads."
        "\vThe exit code is 0 if nothing differs, 1 if something does, 2 if a file cannot be read "
        "as a profile.",
};

static enum at_status compare(const struct diff_options *options, const struct at_profile *from,
                              const struct at_profile *to, struct at_error *err)
{
    struct at_diff diff = at_diff_make(from, to);
    enum at_status status = AT_OK;

    if (options->format == AT_FORMAT_JSON)
        status = at_diff_write_json(&diff, stdout, err);
    else if (options->format == AT_FORMAT_TABLE)
        at_diff_show(&diff, stdout);
    else
        at_diff_tabulate(&diff, at_table_form(options->format), stdout);
    if (status == AT_OK && diff.count > 0)
        status = AT_FAILED; /* no message: the output says it */
    at_diff_clear(&diff);
    return status;
}

static enum at_status run_diff(int argc, char **argv, struct at_error *err)
{
    struct diff_options options = {0};
    struct at_profile from = {0}, to = {0};
    enum at_status status;

    at_command_line(&argp, 0, argc, argv, &options, &options.progress);
    status = at_read_profile(&from, options.files[0], &options.progress, err);
    if (status == AT_OK)
        status = at_read_profile(&to, options.files[1], &options.progress, err);
    if (status == AT_OK)
        status = compare(&options, &from, &to, err);
    at_profile_clear(&to);
    at_profile_clear(&from);
    return status;
}

const struct at_command at_command_diff = {
    .name = "diff",
    .summary = "what differs between two profiles",
    .run = run_diff,
};
