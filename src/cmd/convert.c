/* SPDX-License-Identifier: Apache-2.0 */
/* autotune convert: write a recording in another tuner's format, and back. */
#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "recording/recording.h"

struct convert_options {
    struct at_progress progress;
    const char *file, *out, *family;
    const struct at_recording_format *format;
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("file", "which recording? Name its file, like space.recording",
                AT_SETS_TEXT(convert_options, file)),
    {"to", 0, "FORMAT", 0, "Format to write",
     AT_SETS_ENTRY(convert_options, format, struct at_recording_format, at_recording_choice),
     .noun = "format"},
    {"family", 0, "NAME", 0, "Write only this family", AT_SETS_TEXT(convert_options, family)},
    AT_OUT(0, convert_options, out, "Write to FILE (default: standard output)"),
    {0},
};

static enum at_status check(void *given, struct at_error *err)
{
    const struct convert_options *options = given;

    return options->format
               ? AT_OK
               : at_fail(err, AT_USAGE, "which format is the recording to get? See --to");
}

static enum at_status run_convert(void *given, struct at_error *err)
{
    struct convert_options *options = given;
    struct at_recording recording = {0};
    struct at_text_stream stream;
    enum at_status status = at_out_check(options->out, options->file, err);

    if (status == AT_OK)
        status = at_read_recording(&recording, options->file, &options->progress, err);
    if (status == AT_OK && options->family)
        status = at_recording_keep_family(&recording, options->family, err);
    if (status == AT_OK) {
        status = at_recording_write_as(&recording, options->format, at_text_open(&stream), err);
        status = at_out_write(options->out, &stream, status, &options->progress, err);
    }
    at_recording_clear(&recording);
    return status;
}

const struct at_command at_command_convert = {
    .name = "convert",
    .summary = "recordings in the formats of other tuners, and back",
    .options = options_table,
    .arguments = "FILE",
    .help = "Converts a recording to a format that other auto-tuners read, or back.\vNo data of a "
            "recording is lost: what other formats have no place for goes into their member "
            "\"autotune\". Files of other tuners are converted from one of their formats to the "
            "other."
            "\n\nExample:\n  autotune convert --to kernel-tuner --out cache.json tile.recording",
    .check = check,
    .size = sizeof(struct convert_options),
    .run = run_convert,
};
