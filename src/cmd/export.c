/* SPDX-License-Identifier: Apache-2.0 */
/* autotune export: tuned kernels in a format that a build can use. */
#include "export/export.h"
#include "base/text_stream.h"
#include "cmd/chosen.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "system/paths.h"

#include <stdlib.h>

struct export_options {
    struct at_lookup_options common;
    const char *out, *prefix;
    bool strict, any_address;
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
    {"any-address", 0, NULL, 3,
     "Have a second kernel for addresses that are not as aligned as the problem's",
     AT_SETS_FLAG(export_options, any_address)},
    {"strict", 0, NULL, 2,
     "Fail, and write nothing, if a kernel is a guess: not measured for its problem on this device",
     AT_SETS_FLAG(export_options, strict)},
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
    if (!options->common.file && !at_run_problems_given(&options->common.run))
        return at_fail(err, AT_USAGE,
                       "name problems, or the profile whose tuned problems are all to be exported");
    if (format->one_device && options->common.devices.count > 1)
        return at_fail(err, AT_USAGE, "%s is about one device: name only one with --device",
                       format->name);
    if (options->prefix && !format->has_names)
        return at_fail(err, AT_USAGE, "%s has no names that --prefix would change", format->name);
    return at_lookup_options_check(&options->common, true, err);
}

/* ---- guesses ---- */

/* More lines would hide the rest; the file has all. */
enum { GUESSES_SHOWN = 8 };

static enum at_status tell_guesses(const struct at_export *export, struct export_options *options,
                                   struct at_error *err)
{
    struct at_progress *progress = &options->common.run.progress;
    size_t count = 0;

    for (size_t i = 0; i < export->count; i++) {
        char *guess = at_export_guess(&export->items[i]);

        if (guess && count++ < GUESSES_SHOWN)
            at_note(progress, "a guess: %s", guess);
        free(guess);
    }
    if (count > GUESSES_SHOWN)
        at_note(progress, "and %zu more guesses", count - GUESSES_SHOWN);
    if (count == 0 || !options->strict)
        return AT_OK;
    return at_fail(err, AT_FAILED,
                   "%zu of %zu kernels %s guessed, which --strict refuses: tune %s on %s first",
                   count, export->count, count == 1 ? "is" : "are",
                   count == 1 ? "its problem" : "their problems", export->targets[0].device.name);
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

static enum at_status run_export(void *given, struct at_error *err)
{
    struct export_options *options = given;
    struct at_chosen chosen = {0};
    enum at_status status = AT_OK;

    if (!options->format->write_folder)
        status = at_out_check(options->out, NULL, err);
    if (status == AT_OK)
        status = at_export_set_prefix(&chosen.export, options->prefix, err);
    chosen.export.any_address = options->any_address;
    chosen.export.progress = &options->common.run.progress;
    if (status == AT_OK)
        status = at_chosen_find(&chosen, &options->common, err);
    if (status == AT_OK)
        status = tell_guesses(&chosen.export, options, err);
    if (status == AT_OK)
        status = write_export(&chosen.export, options, err);
    at_chosen_clear(&chosen);
    return status;
}

const struct at_command at_command_export = {
    .name = "export",
    .summary = "tuned kernels in a format that a build can use",
    .options = options_table,
    .arguments = "[PROBLEM...] [FILE]",
    .help = "Exports the kernels that lookup chooses, from FILE or from the search path: for the "
            "device that is named, or else for the one that FILE is about. Without problems it "
            "exports all that FILE has for that device.\vThe same input gives the same "
            "bytes."
            "\n\nExample:\n  autotune export --as header --out best.h best.yaml",
    .check = check,
    .size = sizeof(struct export_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_export,
};
