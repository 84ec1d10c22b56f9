/* SPDX-License-Identifier: Apache-2.0 */
#include "study/own_study.h"

#include "base/memory.h"
#include "base/printable.h"
#include "system/interrupt.h"
#include "system/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As many as `autotune explain` counts: a user's blocks may differ more than those of a study. */
enum { BLOCKS_COUNTED = 256 };

/* ---- rows ---- */

struct rows {
    struct at_own_launch *items;
    size_t count, capacity;
};

/* Make a row of each launch, or of each kernel for a launch that names none. */
static struct rows make_rows(const struct at_own_file *file, const struct at_own_launch *launches,
                             size_t count)
{
    struct rows rows = {0};

    for (size_t i = 0; i < count; i++) {
        size_t kernels = launches[i].entry ? 1 : file->entries.count;

        for (size_t j = 0; j < kernels; j++) {
            AT_PUSH(rows.items, rows.count, rows.capacity, launches[i]);
            if (!launches[i].entry)
                rows.items[rows.count - 1].entry = file->entries.items[j].name;
        }
    }
    return rows;
}

/* Label a row by its kernel, and where a kernel has several rows by its launch too. */
static void label(struct at_study_line *line, const struct rows *rows, size_t row,
                  const char *plain)
{
    const struct at_own_launch *launch = &rows->items[row];
    size_t same = 0;

    for (size_t i = 0; i < rows->count; i++)
        same += strcmp(rows->items[i].entry, launch->entry) == 0;
    if (same > 1)
        snprintf(line->label, sizeof line->label, "%.*s, %.12s x %.12s", AT_QUOTED(plain, 31),
                 launch->grid, launch->block);
    else
        snprintf(line->label, sizeof line->label, "%.*s", AT_QUOTED(plain, 63));
}

static int64_t used_bytes(const struct at_study_line *line)
{
    int64_t counted = line->load.wanted_bytes + line->store.wanted_bytes;

    return (int64_t)((double)counted * (double)line->blocks / (double)line->blocks_counted);
}

static enum at_status count_row(const struct at_own_file *file, const struct rows *rows, size_t row,
                                const struct at_device_info *device, const struct at_rates *rates,
                                struct at_study_line *line, struct at_error *err)
{
    struct at_explanation explanation;
    enum at_status status = at_own_kernel_explain(file, &rows->items[row], device, rates,
                                                  BLOCKS_COUNTED, &explanation, err);

    if (status != AT_OK)
        return status;
    snprintf(line->config, sizeof line->config, "%.*s", AT_QUOTED(explanation.launch, 511));
    snprintf(line->problem, sizeof line->problem, "%s", explanation.file);
    label(line, rows, row, explanation.entry);
    at_study_add_up(line, &explanation);
    if (line->time_ns > 0)
        line->bandwidth_MB_per_s =
            (int64_t)((double)used_bytes(line) * 1000 / (double)line->time_ns);
    at_schema_clear(&at_explanation_schema, &explanation);
    return AT_OK;
}

/* ---- columns ---- */

static void add_column(struct at_study *study, enum at_study_column column)
{
    struct at_located *columns = study->columns.items;

    columns[study->columns.count++].text = at_strdup(at_study_column_names[column]);
}

static void choose_columns(struct at_study *study, const struct at_study_line *lines, size_t count)
{
    struct at_study_line all = {0};

    for (size_t i = 0; i < count; i++) {
        all.load.requests += lines[i].load.requests;
        all.store.requests += lines[i].store.requests;
        all.shared_load.requests += lines[i].shared_load.requests;
        all.shared_store.requests += lines[i].shared_store.requests;
    }
    study->columns.items = at_alloc_array(AT_STUDY_COLUMNS, sizeof(struct at_located));
    if (all.load.requests > 0) {
        add_column(study, AT_STUDY_LOAD_SECTORS);
        add_column(study, AT_STUDY_LOAD_USED);
    }
    if (all.store.requests > 0) {
        add_column(study, AT_STUDY_STORE_SECTORS);
        add_column(study, AT_STUDY_STORE_USED);
    }
    if (all.shared_load.requests > 0)
        add_column(study, AT_STUDY_SHARED_LOAD);
    if (all.shared_store.requests > 0)
        add_column(study, AT_STUDY_SHARED_STORE);
}

/* ---- the whole ---- */

static void describe(struct at_study_result *result, const struct at_own_file *file,
                     const struct at_device_info *device)
{
    const char *name = at_path_name(file->path);

    snprintf(result->study, sizeof result->study, "%.*s", AT_QUOTED(name, 63));
    snprintf(result->title, sizeof result->title, "its kernels, side by side");
    snprintf(result->device, sizeof result->device, "%s", device->name);
    snprintf(result->times, sizeof result->times, "predicted");
    snprintf(result->note, sizeof result->note, "%s",
             at_device_is_emulated(device) ? at_emulated_times(device)
                                           : "all times are predicted, none is measured");
    result->reading =
        at_strdup("GB/s are the bytes that the kernel uses, over the predicted time.");
}

enum at_status at_own_study(const struct at_own_file *file, const struct at_own_launch *launches,
                            size_t count, const struct at_device_info *device,
                            const struct at_rates *rates, struct at_study *study,
                            struct at_study_result *result, struct at_error *err)
{
    struct rows rows = make_rows(file, launches, count);
    struct at_study_line *lines = at_alloc_array(rows.count, sizeof *lines);
    const struct at_entry_point *none;
    enum at_status status = AT_OK;

    if (rows.count == 0) /* the message is that of a file without a kernel */
        status = at_entry_points_find(&file->entries, at_path_name(file->path), NULL, &none, err);
    else if (rows.count > AT_STUDY_ROWS_MAX)
        status = at_fail(err, AT_USAGE, "%s has %zu kernels; a study has at most %d: use --entry",
                         at_path_name(file->path), rows.count, AT_STUDY_ROWS_MAX);
    for (size_t i = 0; i < rows.count && status == AT_OK; i++)
        status = at_interrupt_seen() ? at_fail(err, AT_INTERRUPTED, "interrupted")
                                     : count_row(file, &rows, i, device, rates, &lines[i], err);
    if (status == AT_OK) {
        choose_columns(study, lines, rows.count);
        *result = (struct at_study_result){.lines = {lines, rows.count}};
        describe(result, file, device);
        lines = NULL;
    }
    free(lines);
    free(rows.items);
    return status;
}
