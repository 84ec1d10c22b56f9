/* SPDX-License-Identifier: Apache-2.0 */
/* autotune space: a first space file for a transpose of the user's own. */
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "cmd/own_options.h"
#include "cmd/run_options.h"
#include "explain/own_space.h"
#include "system/paths.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct space_options {
    struct at_progress progress;
    const char *file, *entry, *gpu, *family, *out;
    struct at_texts arguments, defines;
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("file", "which kernel? Name its CUDA file, like my.cu",
                AT_SETS_TEXT(space_options, file)),
    {"entry", 0, "NAME", 0, "Which kernel, unless the file has only one",
     AT_SETS_TEXT(space_options, entry)},
    {"arg", 0, "MEANING", 0,
     "What the next argument of the kernel gets: dst, src, rows, cols, ld_src, ld_dst, batch or a "
     "number; may be repeated",
     AT_ADDS_TEXT(space_options, arguments)},
    {"define", 'D', "NAME[=VALUE]", 0,
     "Give a macro a value, so that it is no parameter; may be repeated",
     AT_ADDS_DEFINE(space_options, defines)},
    {"family", 0, "NAME", 0, "Name of the family (default: the file's)",
     AT_SETS_TEXT(space_options, family)},
    AT_GPU(0, space_options, gpu, "Device that the kernel is compiled for (default: emu)"),
    AT_OUT(0, space_options, out,
           "Write the space to FILE.yaml, and its template to FILE.cu (default: NAME-space.yaml)"),
    {0},
};

/* The name of a family that is like a file's. */
static char *family_of(const char *path)
{
    const char *name = at_path_name(path);
    char *family = at_strndup(name, strcspn(name, "."));

    for (char *c = family; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '-' && *c != '_')
            *c = '_';
    if (!isalpha((unsigned char)*family)) {
        char *longer = at_format("f%s", family);

        free(family);
        return longer;
    }
    return family;
}

static enum at_status write_files(const struct space_options *options,
                                  const struct at_draft_request *request,
                                  const struct at_device_info *device, const char *space_path,
                                  const char *family, struct at_error *err)
{
    char *kernel_path =
        at_format("%.*s.cu", (int)(strlen(space_path) - strlen(".yaml")), space_path);
    struct at_text_stream space, kernel;
    struct at_draft draft = {0};
    int64_t bytes = 0;
    struct at_progress progress = options->progress;
    enum at_status status = at_out_check(space_path, NULL, err);

    if (status == AT_OK)
        status = at_out_check(kernel_path, NULL, err);
    if (status == AT_OK) {
        FILE *space_out = at_text_open(&space), *kernel_out = at_text_open(&kernel);

        status = at_draft_read(&draft, request, device->compute_capability, err);
        if (status == AT_OK)
            at_own_space_write(space_out, kernel_out, &draft, request, family,
                               at_path_name(kernel_path));
        bytes = draft.element_bytes;
        at_draft_clear(&draft);
        status = at_out_write(kernel_path, &kernel, status, &progress, err);
        status = at_out_write(space_path, &space, status, &progress, err);
    }
    if (status == AT_OK)
        printf("wrote %s and %s\nautotune tune --space %s --family %s --problem 4096x4096:b%jd\n",
               space_path, kernel_path, space_path, family, (intmax_t)bytes);
    free(kernel_path);
    return status;
}

static enum at_status run_space(void *given, struct at_error *err)
{
    struct space_options *options = given;
    const struct at_draft_request request = {
        .path = at_given_file(options->file),
        .entry = options->entry,
        .arguments = options->arguments.items,
        .argument_count = options->arguments.count,
        .source = {.defines = options->defines},
    };
    struct at_device_info device;
    char *family = options->family ? at_strdup(options->family) : family_of(options->file);
    char *path = options->out ? at_strdup(options->out) : at_format("%s-space.yaml", family);
    enum at_status status;

    if (strlen(path) <= strlen(".yaml") ||
        strcmp(path + strlen(path) - strlen(".yaml"), ".yaml") != 0)
        status = at_fail(err, AT_USAGE, "--out %s: a space file is called NAME.yaml", path);
    else
        status = at_one_device(&device, options->gpu ? options->gpu : "emu", err);
    if (status == AT_OK)
        status = write_files(options, &request, &device, path, family, err);
    free(family);
    free(path);
    return status;
}

static void clear_options(void *given)
{
    free(((struct space_options *)given)->defines.items);
}

const struct at_command at_command_space = {
    .name = "space",
    .summary = "a first space file for a transpose of your own",
    .options = options_table,
    .arguments = "FILE.cu",
    .help =
        "Writes a space file, and its template, for a transpose in a CUDA file: its macros become "
        "parameters.\vSuch a macro is a number that the file defines. Or the file lacks it, as "
        "kernels for Kernel Tuner and KTT do. Their names tell values and launch "
        "(doc/own-kernels.md). --arg dst, src, rows, cols, ld_src, ld_dst, batch or a number tells "
        "what an argument of the kernel gets, where its name does not."
        "\n\nExample:\n  autotune space my.cu --entry transpose_shared",
    .clear = clear_options,
    .size = sizeof(struct space_options),
    .run = run_space,
};
