/* SPDX-License-Identifier: Apache-2.0 */
#include "export/variables.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <stdlib.h>

static void write_number(FILE *out, at_variable_writer *writer, const char *key, const char *part,
                         int64_t value)
{
    char text[24];

    snprintf(text, sizeof text, "%jd", (intmax_t)value);
    writer(out, key, part, text);
}

static void write_extents(FILE *out, at_variable_writer *writer, const char *key, const char *part,
                          const int64_t extents[3])
{
    char text[72];

    snprintf(text, sizeof text, "%jd %jd %jd", (intmax_t)extents[0], (intmax_t)extents[1],
             (intmax_t)extents[2]);
    writer(out, key, part, text);
}

static void write_item(FILE *out, at_variable_writer *writer, const struct at_export_item *item)
{
    const int64_t *launch = item->answer.launch.field;
    char *defines = at_export_defines(item);

    writer(out, item->key, "FAMILY", item->answer.config.family->name);
    writer(out, item->key, "DEFINES", defines);
    write_extents(out, writer, item->key, "GRID", &launch[AT_GRID_X]);
    write_extents(out, writer, item->key, "BLOCK", &launch[AT_BLOCK_X]);
    write_number(out, writer, item->key, "SHARED_BYTES", launch[AT_SHARED_BYTES]);
    write_number(out, writer, item->key, "CARVEOUT", launch[AT_CARVEOUT_PERCENT]);
    free(defines);
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
    char *device = at_export_plain(export->device->name), *keys = list_keys(export), arch[16];

    snprintf(arch, sizeof arch, "sm_%d", (int)export->device->compute_capability);
    writer(out, "DEVICE", NULL, device);
    writer(out, "ARCH", NULL, arch);
    writer(out, "PROBLEMS", NULL, keys);
    for (size_t i = 0; i < export->count; i++)
        write_item(out, writer, &export->items[i]);
    free(keys);
    free(device);
}
