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

struct show_options {
    struct at_progress progress;
    struct at_texts files;
    enum at_output_format format;
    bool configs;
    size_t top; /* 0: the winners alone */
};

enum { TOP_MAX = 1000000 };

static const struct at_option options_table[] = {
    AT_ARGUMENT("profile", "which profile?", AT_ADDS_TEXT(show_options, files)),
    {"configs", 0, NULL, 0, "Also print each winner's parameters and launch",
     AT_SETS_FLAG(show_options, configs)},
    {"top", 0, "N", 0,
     "Instead print each problem's N fastest configs, from the journal of the profile",
     AT_SETS_INTEGER(show_options, top, size_t, 1, TOP_MAX)},
    AT_FORMAT(0, show_options, format),
    {0},
};

static const struct at_syntax syntax = {
    .options = options_table,
    .arguments = "FILE...",
    .help = "Prints profiles."
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

    for (size_t i = 0; i < options->files.count; i++) {
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

    for (size_t i = 0; i < options->files.count && status == AT_OK; i++) {
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

    at_command_line(&syntax, argc, argv, &options, &options.progress);
    if (options.top > 0 && options.files.count > 1)
        return at_fail(err, AT_USAGE, "--top takes one file at a time, not %zu",
                       options.files.count);
    if (options.top > 0)
        return at_show_top(options.files.items[0], options.top, options.format, &options.progress,
                           err);
    profiles = at_alloc_array(options.files.count, sizeof *profiles);
    for (size_t i = 0; i < options.files.count && status == AT_OK; i++)
        status = at_read_profile(&profiles[i], options.files.items[i], &options.progress, err);
    if (status == AT_OK)
        status = (options.format == AT_FORMAT_TABLE ? print_apart : print_together)(profiles,
                                                                                    &options, err);
    for (size_t i = 0; i < options.files.count; i++)
        at_profile_clear(&profiles[i]);
    free(profiles);
    return status;
}

const struct at_command at_command_show = {
    .name = "show",
    .summary = "print profiles as tables",
    .run = run_show,
};
