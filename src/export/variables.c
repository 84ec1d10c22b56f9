/* SPDX-License-Identifier: Apache-2.0 */
#include "export/variables.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <stdlib.h>

struct target {
    at_variable_writer *writer;
    FILE *out;
    const char *prefix, *key;
};

static void write_text(const struct target *target, const char *part, const char *text)
{
    target->writer(target->out, target->prefix, target->key, part, text, false);
}

static void write_list(const struct target *target, const char *part, const char *list)
{
    target->writer(target->out, target->prefix, target->key, part, list, true);
}

static void write_number(const struct target *target, const char *part, int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%jd", (intmax_t)value);
    write_text(target, part, text);
}

static void write_extents(const struct target *target, const char *part, const int64_t extents[3])
{
    char text[72];

    snprintf(text, sizeof text, "%jd %jd %jd", (intmax_t)extents[0], (intmax_t)extents[1],
             (intmax_t)extents[2]);
    write_list(target, part, text);
}

static void write_arguments(const struct target *target, const struct at_export_item *item)
{
    const struct at_export_arguments arguments = at_export_arguments(item);
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *counts, *words = at_export_words(&arguments, " ");

    for (size_t i = 0; i < arguments.count; i++)
        fprintf(out, "%s%d", i ? " " : "", arguments.word_counts[i]);
    counts = at_text_close(&stream, NULL);
    write_list(target, "WORD_COUNTS", counts);
    write_list(target, "WORDS", words);
    free(counts);
    free(words);
}

static void write_item(const struct target *target, const struct at_export_item *item)
{
    const int64_t *launch = item->answer.launch.field;

    write_text(target, "PROBLEM", item->spec);
    write_text(target, "FAMILY", item->answer.config.family->name);
    write_list(target, "DEFINES", item->defines);
    write_extents(target, "GRID", &launch[AT_GRID_X]);
    write_extents(target, "BLOCK", &launch[AT_BLOCK_X]);
    write_number(target, "SHARED_BYTES", launch[AT_SHARED_BYTES]);
    write_number(target, "CARVEOUT", launch[AT_CARVEOUT_PERCENT]);
    write_arguments(target, item);
}

static char *list_keys(const struct at_export *export)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (size_t i = 0; i < export->count; i++)
        fprintf(out, "%s%s", i ? " " : "", export->items[i].key);
    return at_text_close(&stream, NULL);
}

void at_export_variables(const struct at_export *export, at_variable_writer *writer, FILE *out)
{
    const char *prefix = export->macro_prefix;
    char *device = at_export_plain(export->device->name), *keys = list_keys(export), arch[16];

    snprintf(arch, sizeof arch, "sm_%d", (int)export->device->compute_capability);
    writer(out, prefix, "DEVICE", NULL, device, false);
    writer(out, prefix, "ARCH", NULL, arch, false);
    writer(out, prefix, "PROBLEMS", NULL, keys, true);
    for (size_t i = 0; i < export->count; i++)
        write_item(&(struct target){writer, out, prefix, export->items[i].key}, &export->items[i]);
    free(keys);
    free(device);
}
