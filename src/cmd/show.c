/* SPDX-License-Identifier: Apache-2.0 */
/* autotune show: print a profile. */
#include "cmd/cmd.h"
#include "options/argument.h"
#include "options/format.h"
#include "profile/profile.h"

#include <stdio.h>

struct show_options {
    const char *file;
    enum at_output_format format;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct show_options *options = state->input;

    switch (key) {
    case 'f':
        options->format = at_parse_format(state, arg);
        return 0;
    case ARGP_KEY_ARG:
        if (options->file)
            argp_error(state, "one profile at a time");
        options->file = arg;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which profile?");
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
    .args_doc = "FILE",
    .doc = "Prints a profile.",
};

static enum at_status run_show(int argc, char **argv, struct at_error *err)
{
    struct show_options options = {0};
    struct at_profile profile = {0};
    enum at_status status;

    argp_parse(&argp, argc, argv, 0, NULL, &options);
    status = at_profile_read(&profile, options.file, err);
    if (status != AT_OK)
        return status;
    if (options.format == AT_FORMAT_JSON)
        status = at_profile_write_json(&profile, stdout, err);
    else
        at_profile_show(&profile, at_stdout_color(), stdout);
    at_profile_clear(&profile);
    return status;
}

const struct at_command at_command_show = {
    .name = "show",
    .summary = "print a profile as a table",
    .run = run_show,
};
