/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/own_kernel.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "explain/kernel_argument.h"
#include "system/file.h"
#include "system/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 4 << 20 };

/* ---- the file ---- */

enum at_status at_own_file_read(struct at_own_file *file, const char *path,
                                const struct at_include_dirs *dirs,
                                const struct at_device_info *device, struct at_error *err)
{
    size_t size;
    enum at_status status = at_file_read_text(&file->text, &size, path, FILE_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    file->path = at_strdup(path);
    status =
        at_compile_source(&file->compiled, path, file->text, dirs, device->compute_capability, err);
    if (status == AT_OK)
        at_entry_points_read(&file->entries, file->compiled.ptx, file->compiled.ptx_size);
    return status;
}

void at_own_file_clear(struct at_own_file *file)
{
    at_entry_points_clear(&file->entries);
    at_compiled_source_clear(&file->compiled);
    free(file->text);
    free(file->path);
    *file = (struct at_own_file){0};
}

/* ---- the launch ---- */

/* Bounds of CUDA, as of a family's launch (doc/space-format.md). */
static const struct extent {
    const char *option, *of;
    enum at_launch_field first;
    int64_t max[3];
} grid_extent = {"--grid", "blocks", AT_GRID_X, {INT32_MAX, 65535, 65535}},
  block_extent = {"--block", "threads", AT_BLOCK_X, {1024, 1024, 64}};

/* The length of the text up to a comma that is in no parentheses. */
static size_t part_length(const char *text)
{
    size_t length = 0;
    int depth = 0;

    for (; text[length] && (text[length] != ',' || depth > 0); length++)
        depth += (text[length] == '(') - (text[length] == ')');
    return length;
}

static enum at_status parse_extent(struct at_launch *launch, const struct extent *extent,
                                   const char *text, struct at_error *err)
{
    const char *rest = text;

    if (!text)
        return at_fail(err, AT_USAGE, "how many %s? %s X, X,Y or X,Y,Z gives their number",
                       extent->of, extent->option);
    for (int i = 0; i < 3; i++) {
        size_t length = rest ? part_length(rest) : 0;
        char *part = rest ? at_strndup(rest, length) : at_strdup("1");
        char *what = at_format("%s %s", extent->option, text);
        int64_t *value = &launch->field[extent->first + i];
        enum at_status status = at_number_parse(value, part, what, err);

        free(part);
        free(what);
        if (status != AT_OK)
            return status;
        if (*value < 1 || *value > extent->max[i])
            return at_fail(err, AT_USAGE, "%s %s: %c is from 1 to %jd %s, not %jd", extent->option,
                           text, "xyz"[i], (intmax_t)extent -> max[i], extent -> of,
                           (intmax_t)*value);
        if (rest)
            rest = rest[length] ? rest + length + 1 : NULL;
    }
    if (rest)
        return at_fail(err, AT_USAGE, "%s %s: it has more than three numbers", extent->option,
                       text);
    return AT_OK;
}

static enum at_status check_block(const struct at_launch *launch, const char *text,
                                  const struct at_device_info *device, struct at_error *err)
{
    const int64_t *field = launch->field;
    int64_t threads = field[AT_BLOCK_X] * field[AT_BLOCK_Y] * field[AT_BLOCK_Z];

    if (threads > device->max_threads_per_block)
        return at_fail(err, AT_USAGE, "--block %s: %jd threads; a block has at most %jd", text,
                       (intmax_t)threads, (intmax_t)device->max_threads_per_block);
    return AT_OK;
}

static enum at_status parse_shared(struct at_launch *launch, const char *text, int64_t static_bytes,
                                   const struct at_device_info *device, struct at_error *err)
{
    int64_t *bytes = &launch->field[AT_SHARED_BYTES];
    enum at_status status = text ? at_number_parse(bytes, text, "--shared", err) : AT_OK;

    if (status != AT_OK)
        return status;
    if (*bytes < 0 || *bytes + static_bytes > device->shared_bytes_per_block_optin)
        return at_fail(err, AT_USAGE,
                       "%jd bytes of dynamic shared memory and %jd of static; a block has at most "
                       "%jd",
                       (intmax_t)*bytes, (intmax_t)static_bytes,
                       (intmax_t)device->shared_bytes_per_block_optin);
    return AT_OK;
}

static enum at_status parse_launch(struct at_launch *parsed, const struct at_own_launch *launch,
                                   int64_t static_bytes, const struct at_device_info *device,
                                   struct at_error *err)
{
    enum at_status status = parse_extent(parsed, &grid_extent, launch->grid, err);

    if (status == AT_OK)
        status = parse_extent(parsed, &block_extent, launch->block, err);
    if (status == AT_OK)
        status = check_block(parsed, launch->block, device, err);
    if (status == AT_OK)
        status = parse_shared(parsed, launch->shared, static_bytes, device, err);
    parsed->field[AT_CARVEOUT_PERCENT] = -1;
    return status;
}

/* ---- the arguments ---- */

struct arguments {
    struct at_kernel_argument *items;
    size_t count;
    uint64_t *words; /* of all, one after the other */
    size_t word_count;
};

static void clear_arguments(struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; i++)
        at_kernel_argument_clear(&arguments->items[i]);
    free(arguments->items);
    free(arguments->words);
}

static enum at_status check_argument(const struct at_kernel_argument *argument,
                                     const struct at_entry_parameter *parameter, size_t number,
                                     struct at_error *err)
{
    int64_t bytes = at_kernel_argument_bytes(argument);
    bool is_float = !argument->buffer && at_element_is_float(argument->type);
    char words[AT_PARAMETER_WORDS];

    if (bytes == parameter->bytes && (parameter->is_block || is_float == parameter->is_float))
        return AT_OK;
    at_entry_parameter_words(words, parameter);
    return at_fail(err, AT_USAGE, "argument %zu is %s, not --arg \"%s\"", number + 1, words,
                   argument->text);
}

/* Parse all arguments and compare them with the kernel's parameters. */
static enum at_status parse_arguments(struct arguments *arguments,
                                      const struct at_own_launch *launch,
                                      const struct at_entry_point *entry, struct at_error *err)
{
    char *takes = at_entry_point_format(entry);
    enum at_status status = AT_OK;

    arguments->items = at_alloc_array(launch->argument_count, sizeof *arguments->items);
    for (size_t i = 0; i < launch->argument_count && status == AT_OK; i++) {
        status = at_kernel_argument_parse(&arguments->items[i], launch->arguments[i], err);
        arguments->count += status == AT_OK;
    }
    if (status == AT_OK && arguments->count != entry->count)
        status = at_fail(err, AT_USAGE, "%s takes %zu argument%s; --arg gives %zu", takes,
                         entry->count, entry->count == 1 ? "" : "s", arguments->count);
    for (size_t i = 0; i < entry->count && status == AT_OK; i++) {
        status = check_argument(&arguments->items[i], &entry->parameters[i], i, err);
        if (status != AT_OK)
            at_fail_within(err, "%s", takes);
    }
    free(takes);
    return status;
}

static enum at_status make_arguments(struct arguments *arguments, struct at_emu_memory *memory,
                                     struct at_error *err)
{
    enum at_status status = AT_OK;

    arguments->words =
        at_alloc_array(AT_ARGUMENT_WORDS * arguments->count, sizeof *arguments->words);
    for (size_t i = 0; i < arguments->count && status == AT_OK; i++) {
        uint64_t words[AT_ARGUMENT_WORDS];
        size_t count =
            ((size_t)at_kernel_argument_bytes(&arguments->items[i]) + sizeof *words - 1) /
            sizeof *words;

        status = at_kernel_argument_make(&arguments->items[i], memory, i, words, err);
        if (status == AT_OK)
            memcpy(arguments->words + arguments->word_count, words, count * sizeof *words);
        arguments->word_count += count;
    }
    return status;
}

/* ---- the whole ---- */

static void name_kernel(struct at_explanation *explanation, const struct at_own_file *file,
                        const struct at_entry_point *entry, const struct at_own_launch *launch)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text;

    fprintf(out, "--grid %s --block %s", launch->grid, launch->block);
    if (launch->shared)
        fprintf(out, " --shared %s", launch->shared);
    for (size_t i = 0; i < launch->argument_count; i++)
        fprintf(out, " --arg '%s'", launch->arguments[i]);
    text = at_text_close(&stream, NULL);
    snprintf(explanation->file, sizeof explanation->file, "%s", at_path_name(file->path));
    snprintf(explanation->entry, sizeof explanation->entry, "%s", entry->plain);
    snprintf(explanation->launch, sizeof explanation->launch, "%s", text);
    free(text);
}

static enum at_status run(const struct at_own_file *file, const struct at_own_launch *launch,
                          const struct at_entry_point *entry, const struct at_device_info *device,
                          const struct at_rates *rates, int64_t max_blocks,
                          struct at_explanation *explanation, struct at_error *err)
{
    struct at_emu_memory *memory = at_emu_memory_new();
    struct arguments arguments = {0};
    struct at_explained_kernel kernel = {
        .ptx = file->compiled.ptx,
        .ptx_size = file->compiled.ptx_size,
        .entry = entry->name,
        .name = entry->plain,
        .resources = at_ptxas_resources(file->compiled.log, entry->name),
        .memory = memory,
    };
    enum at_status status =
        parse_launch(&kernel.launch, launch, kernel.resources.shared_bytes, device, err);

    if (status == AT_OK)
        status = parse_arguments(&arguments, launch, entry, err);
    if (status == AT_OK)
        status = make_arguments(&arguments, memory, err);
    if (status == AT_OK) {
        at_emu_memory_rewind(memory); /* it is run again to predict the time */
        kernel.args = arguments.words;
        kernel.arg_count = arguments.count;
        kernel.arg_words = arguments.word_count;
        status = at_explain_kernel(&kernel, device, rates, max_blocks, explanation, err);
    }
    clear_arguments(&arguments);
    at_emu_memory_free(memory);
    return status;
}

enum at_status at_own_kernel_explain(const struct at_own_file *file,
                                     const struct at_own_launch *launch,
                                     const struct at_device_info *device,
                                     const struct at_rates *rates, int64_t max_blocks,
                                     struct at_explanation *explanation, struct at_error *err)
{
    const struct at_entry_point *entry;
    enum at_status status =
        at_entry_points_find(&file->entries, at_path_name(file->path), launch->entry, &entry, err);

    if (status != AT_OK)
        return status;
    status = run(file, launch, entry, device, rates, max_blocks, explanation, err);
    if (status != AT_OK)
        at_fail_within(err, "%s", at_path_name(file->path));
    else
        name_kernel(explanation, file, entry, launch);
    return status;
}
