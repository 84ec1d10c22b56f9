/* SPDX-License-Identifier: Apache-2.0 */
/* autotune show: print profiles. */
#include "base/memory.h"
#include "cmd/cmd.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/format.h"
#include "cmd/show_top.h"
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEY_CONFIGS = 0x100, KEY_TOP, TOP_MAX = 1000000 };

struct show_options {
    struct at_progress progress;
    char **files;
    size_t count;
    enum at_output_format format;
    bool configs;
    size_t top; /* 0: the winners alone */
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct show_options *options = state->input;

    switch (key) {
    case 'f':
        options->format = at_parse_format(state, arg);
        return 0;
    case KEY_CONFIGS:
        options->configs = true;
        return 0;
    case KEY_TOP:
        options->top = (size_t)at_parse_integer(state, "top", arg, 1, TOP_MAX);
        return 0;
    case ARGP_KEY_ARGS:
        options->files = &state->argv[state->next];
        options->count = (size_t)(state->argc - state->next);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "which profile?");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options_table[] = {
    {"configs", KEY_CONFIGS, NULL, 0, "Also print each winner's parameters and launch", 0},
    {"top", KEY_TOP, "N", 0,
     "Instead print each problem's N fastest configs, from the journal of the profile", 0},
    {"format", 'f', "NAME", 0, "How to print the result; the first is the default {formats}", 0},
    {0},
};
static const struct argp argp = {
    .options = options_table,
    .parser = parse,
    .help_filter = at_help_filter,
    .args_doc = "FILE...",
    .doc = "Prints profiles."
           "\vExample:\n  autotune show --top 5 best.yaml",
};

/* Print the profiles' devices as one list, and take them. */
static enum at_status print_together(struct at_profile *profiles,
                                     const struct show_options *options, struct at_error *err)
{
    struct at_profile all = {.schema = AT_PROFILE_SCHEMA};
    struct at_device_record *records = NULL;
    size_t capacity = 0;
    enum at_status status;

    for (size_t i = 0; i < options->count; i++) {
        const struct at_device_record *read = profiles[i].devices.items;

        for (size_t j = 0; j < profiles[i].devices.count; j++)
            AT_PUSH(records, all.devices.count, capacity, read[j]);
        free(profiles[i].devices.items);
        profiles[i].devices = (struct at_list){0};
    }
    all.devices.items = records;
    status = at_print_profile(&all, options->format, options->configs, err);
    at_profile_clear(&all);
    return status;
}

/* Tables for people have a section for each device of each profile. */
static enum at_status print_apart(struct at_profile *profiles, const struct show_options *options,
                                  struct at_error *err)
{
    enum at_status status = AT_OK;

    for (size_t i = 0; i < options->count && status == AT_OK; i++) {
        if (i > 0)
            putchar('\n');
        status = at_print_profile(&profiles[i], options->format, options->configs, err);
    }
    return status;
}

/* All profiles are read before the first is printed. */
static enum at_status run_show(int argc, char **argv, struct at_error *err)
{
    struct show_options options = {0};
    struct at_profile *profiles;
    enum at_status status = AT_OK;

    at_command_line(&argp, 0, argc, argv, &options, &options.progress);
    if (options.top > 0 && options.count > 1)
        return at_fail(err, AT_USAGE, "--top takes one file at a time, not %zu", options.count);
    if (options.top > 0)
        return at_show_top(options.files[0], options.top, options.format, &options.progress, err);
    profiles = at_alloc_array(options.count, sizeof *profiles);
    for (size_t i = 0; i < options.count && status == AT_OK; i++)
        status = at_read_profile(&profiles[i], options.files[i], &options.progress, err);
    if (status == AT_OK)
        status = (options.format == AT_FORMAT_TABLE ? print_apart : print_together)(profiles,
                                                                                    &options, err);
    for (size_t i = 0; i < options.count; i++)
        at_profile_clear(&profiles[i]);
    free(profiles);
    return status;
}

const struct at_command at_command_show = {
    .name = "show",
    .summary = "print profiles as tables",
    .run = run_show,
};
