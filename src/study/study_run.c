/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study_run.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "device/kind.h"
#include "emulated/time/description.h"
#include "kernel/render.h"
#include "pipeline/shootout.h"
#include "schema/table.h"
#include "space/named.h"
#include "system/interrupt.h"
#include "system/paths.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { READING_MAX = 2000 };

const char *const at_study_column_names[AT_STUDY_COLUMNS] = {
    [AT_STUDY_LOAD_SECTORS] = "load_sectors",
    [AT_STUDY_LOAD_USED] = "load_used",
    [AT_STUDY_STORE_SECTORS] = "store_sectors",
    [AT_STUDY_STORE_USED] = "store_used",
    [AT_STUDY_SHARED_LOAD] = "shared_load",
    [AT_STUDY_SHARED_STORE] = "shared_store",
    [AT_STUDY_CONFLICTS] = "conflicts",
    [AT_STUDY_OCCUPANCY] = "occupancy",
    [AT_STUDY_L1_SIZE] = "l1_size",
    [AT_STUDY_L1_HITS] = "l1_hits",
    [AT_STUDY_L2_HITS] = "l2_hits",
    [AT_STUDY_L2_READ] = "l2_read",
    [AT_STUDY_L2_WRITTEN] = "l2_written",
    [AT_STUDY_DRAM_READ] = "dram_read",
    [AT_STUDY_DRAM_WRITTEN] = "dram_written",
    [AT_STUDY_WARM_READ] = "warm_read",
};

/* The fields of a kernel row, which `in` names within the record. */
#define KERNEL_ROW_FIELDS(record, in)                                                              \
    AT_FIELD(record, "family", in family, .kind = AT_FIELD_CHARS, .max = 64),                      \
        AT_FIELD(record, "label", in label, .kind = AT_FIELD_CHARS, .max = 64),                    \
        AT_FIELD(record, "parameters", in parameters, .kind = AT_FIELD_NAMED_INTS,                 \
                 .max = AT_PARAMS_MAX)

static const struct at_field row_fields[] = {
    KERNEL_ROW_FIELDS(at_study_row, kernel.),
    AT_FIELD(at_study_row, "problem", problem, .kind = AT_FIELD_LOCATED, AT_OPTIONAL),
};
static const struct at_schema row_schema = AT_SCHEMA("a row", at_study_row, row_fields);
static const struct at_field study_fields[] = {
    AT_LIST(at_study, columns, AT_FIELD_LOCATEDS, 0, AT_STUDY_COLUMNS),
    AT_FIELD(at_study, "problem", problem, .kind = AT_FIELD_LOCATED),
    AT_TEXT(at_study, reading, READING_MAX),
    AT_OBJECTS(at_study, rows, 1, AT_STUDY_ROWS_MAX, row_schema),
    AT_INT(at_study, schema, 1, 1),
    AT_CHARS(at_study, title),
};
static const struct at_schema study_schema = AT_SCHEMA("a study", at_study, study_fields);

static bool is_column(const char *word)
{
    for (int i = 0; i < AT_STUDY_COLUMNS; i++)
        if (strcmp(at_study_column_names[i], word) == 0)
            return true;
    return false;
}

static enum at_status check_columns(const struct at_study *study, const char *path,
                                    struct at_error *err)
{
    const struct at_located *columns = study->columns.items;
    char *known;

    for (size_t i = 0; i < study->columns.count; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(columns[i].text, columns[j].text) == 0)
                return at_fail(err, AT_USAGE, "%s:%d:%d: column %s is named twice", path,
                               columns[i].line, columns[i].column, columns[i].text);
        if (is_column(columns[i].text))
            continue;
        known = at_join(at_study_column_names, AT_STUDY_COLUMNS);
        at_fail(err, AT_USAGE, "%s:%d:%d: unknown column \"%s\"; known are %s", path,
                columns[i].line, columns[i].column, columns[i].text, known);
        free(known);
        return AT_USAGE;
    }
    return AT_OK;
}

static enum at_status check_problem(const struct at_located *spec, const char *path,
                                    struct at_error *err)
{
    struct at_problem problem;

    if (!spec->text || at_problem_parse(&problem, spec->text, err) == AT_OK)
        return AT_OK;
    return at_fail_within(err, "%s:%d:%d", path, spec->line, spec->column);
}

static const char *problem_text(const struct at_study *study, const struct at_study_row *row)
{
    return row->problem.text ? row->problem.text : study->problem.text;
}

static bool same_label_and_problem(const struct at_study *study, const struct at_study_row *a,
                                   const struct at_study_row *b)
{
    return strcmp(a->kernel.label, b->kernel.label) == 0 &&
           strcmp(problem_text(study, a), problem_text(study, b)) == 0;
}

static enum at_status check_rows(const struct at_study *study, const char *path,
                                 struct at_error *err)
{
    const struct at_study_row *rows = study->rows.items;
    enum at_status status = check_problem(&study->problem, path, err);

    for (size_t i = 0; i < study->rows.count && status == AT_OK; i++) {
        status = check_problem(&rows[i].problem, path, err);
        for (size_t j = 0; j < i && status == AT_OK; j++)
            if (same_label_and_problem(study, &rows[i], &rows[j]))
                status = at_fail(err, AT_USAGE, "%s: two rows on %s have the label \"%s\"", path,
                                 problem_text(study, &rows[i]), rows[i].kernel.label);
    }
    return status;
}

enum at_status at_study_read(struct at_study *study, const char *path, struct at_error *err)
{
    enum at_status status = at_schema_read_file(&study_schema, study, path, err);

    if (status != AT_OK)
        return status;
    status = check_columns(study, path, err);
    if (status == AT_OK)
        status = check_rows(study, path, err);
    if (status != AT_OK)
        at_study_clear(study);
    return status;
}

void at_study_clear(struct at_study *study)
{
    at_schema_clear(&study_schema, study);
}

struct at_problem at_study_problem(const struct at_study *study, size_t index)
{
    const struct at_study_row *rows = study->rows.items;
    struct at_problem problem;

    /* at_study_read has checked that it parses. */
    at_problem_parse(&problem, problem_text(study, &rows[index]), NULL);
    return problem;
}

enum at_status at_kernel_row_config(const struct at_kernel_row *row, const char *path,
                                    struct at_family *const *families, size_t family_count,
                                    struct at_config *config, struct at_error *err)
{
    if (at_config_from_some_names(config, families, family_count, row->family, &row->parameters,
                                  err) == AT_OK)
        return AT_OK;
    return at_fail_within(err, "%s: %s", path, row->label);
}

/* ---- the textbook ---- */

static const struct at_field kernel_fields[] = {KERNEL_ROW_FIELDS(at_kernel_row, )};
static const struct at_schema kernel_schema = AT_SCHEMA("a row", at_kernel_row, kernel_fields);
static const struct at_field textbook_fields[] = {
    AT_OBJECTS(at_textbook, rows, 1, AT_TEXTBOOK_ROWS_MAX, kernel_schema),
    AT_INT(at_textbook, schema, 1, 1),
};
static const struct at_schema textbook_schema =
    AT_SCHEMA("the textbook's rows", at_textbook, textbook_fields);

enum at_status at_textbook_read(struct at_textbook *textbook, struct at_error *err)
{
    char *path = at_path_data_file(AT_TEXTBOOK_FILE);
    enum at_status status = at_schema_read_file(&textbook_schema, textbook, path, err);

    free(path);
    return status;
}

void at_textbook_clear(struct at_textbook *textbook)
{
    at_schema_clear(&textbook_schema, textbook);
}

/* A row, ready to count and time. */
struct at_study_case {
    struct at_config config;
    struct at_problem problem;
};

/* Blocks of the grid to count. In these kernels all blocks but the last are alike. */
enum { BLOCKS_COUNTED = 64 };

static enum at_status prepare(const struct at_study *study, const char *path,
                              const struct at_device_info *device,
                              const struct at_session_options *options, struct at_study_case *cases,
                              struct at_error *err)
{
    const struct at_study_row *rows = study->rows.items;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < study->rows.count && status == AT_OK; i++) {
        cases[i].problem = at_study_problem(study, i);
        status = at_kernel_row_config(&rows[i].kernel, path, options->families,
                                      options->family_count, &cases[i].config, err);
        if (status != AT_OK)
            return status;
        status = at_config_require(&cases[i].config, &cases[i].problem, device,
                                   "not legal for its problem", err);
        if (status != AT_OK)
            at_fail_within(err, "%s: %s", path, rows[i].kernel.label);
    }
    return status;
}

/* ---- counting ---- */

static void add_global(struct at_study_global *sums, const struct at_explained_line *line)
{
    sums->requests += line->requests;
    sums->sectors += line->sectors;
    sums->wanted_bytes += line->wanted_bytes;
}

static void add_shared(struct at_study_shared *sums, const struct at_explained_line *line)
{
    sums->requests += line->requests;
    sums->wavefronts += line->wavefronts;
    sums->least_wavefronts += line->least_wavefronts;
}

static void add_up(struct at_study_line *line, const struct at_explanation *explanation)
{
    const struct at_explained_line *accesses = explanation->lines.items;

    for (size_t i = 0; i < explanation->lines.count; i++) {
        if (strcmp(accesses[i].access, "load global") == 0)
            add_global(&line->load, &accesses[i]);
        else if (strcmp(accesses[i].access, "store global") == 0)
            add_global(&line->store, &accesses[i]);
        else if (strcmp(accesses[i].access, "load shared") == 0)
            add_shared(&line->shared_load, &accesses[i]);
        else if (strcmp(accesses[i].access, "store shared") == 0)
            add_shared(&line->shared_store, &accesses[i]);
    }
    line->conflicts = line->shared_load.wavefronts - line->shared_load.least_wavefronts +
                      line->shared_store.wavefronts - line->shared_store.least_wavefronts;
    line->blocks = explanation->blocks;
    line->blocks_counted = explanation->blocks_counted;
    line->time_ns = explanation->predicted_ns;
    line->occupancy_percent = explanation->occupancy_percent;
    line->caches = explanation->caches;
}

/* Count a case and, if there are rates, predict its time. */
static enum at_status count_case(const struct at_study_case *item, const char *label,
                                 const struct at_device_info *device, const struct at_rates *rates,
                                 const char *header, struct at_study_line *line,
                                 struct at_error *err)
{
    struct at_explanation explanation;
    enum at_status status = at_explain(&item->config, &item->problem, device, rates, header,
                                       BLOCKS_COUNTED, NULL, &explanation, err);

    if (status != AT_OK) {
        at_fail_within(err, "%s", label);
        return status;
    }
    memcpy(line->family, explanation.family, sizeof line->family);
    memcpy(line->config, explanation.config, sizeof line->config);
    memcpy(line->problem, explanation.problem, sizeof line->problem);
    snprintf(line->label, sizeof line->label, "%s", label);
    add_up(line, &explanation);
    at_schema_clear(&at_explanation_schema, &explanation);
    return AT_OK;
}

static enum at_status count(const struct at_study *study, const struct at_study_case *cases,
                            const struct at_device_info *device, const struct at_rates *rates,
                            struct at_progress *progress, struct at_study_line *lines,
                            struct at_error *err)
{
    const struct at_study_row *rows = study->rows.items;
    char *header;
    enum at_status status = at_template_header_read(&header, err);

    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < study->rows.count && status == AT_OK; i++) {
        at_progress_step(progress, rows[i].kernel.label, i, study->rows.count);
        status = at_interrupt_seen() ? at_fail(err, AT_INTERRUPTED, "interrupted")
                                     : count_case(&cases[i], rows[i].kernel.label, device, rates,
                                                  header, &lines[i], err);
    }
    at_progress_clear(progress);
    free(header);
    return status;
}

/* ---- times on a GPU: one shoot-out per problem ---- */

_Static_assert((int)AT_STUDY_ROWS_MAX <= (int)AT_CONTESTANTS_MAX, "all rows fit one shoot-out");

static enum at_status time_all(struct at_session *session, const struct at_study_case *cases,
                               struct at_study_line *lines, size_t count, struct at_error *err)
{
    struct at_contestant *contestants = at_alloc_array(count, sizeof *contestants);
    size_t *which = at_alloc_array(count, sizeof *which);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count && status == AT_OK; i++) {
        size_t found = 0;

        if (lines[i].time_ns > 0)
            continue; /* timed together with an earlier one */
        for (size_t j = i; j < count; j++) {
            if (strcmp(lines[i].problem, lines[j].problem) != 0)
                continue;
            which[found] = j;
            contestants[found++] = (struct at_contestant){
                .config = &cases[j].config, .problem = cases[j].problem, .label = lines[j].label};
        }
        status = at_session_check_memory(session, &cases[i].problem, 1, err);
        if (status == AT_OK)
            status = at_shootout_hold(session, &cases[i].problem, contestants, found, err);
        for (size_t j = 0; j < found && status == AT_OK; j++)
            lines[which[j]].time_ns = llround(contestants[j].time_ns);
        at_shootout_end(contestants, found);
    }
    free(which);
    free(contestants);
    return status;
}

static enum at_status time_cases(const struct at_study_case *cases, struct at_study_line *lines,
                                 size_t count, const struct at_device_info *device,
                                 const struct at_session_options *options, struct at_error *err)
{
    struct at_session *session = NULL;
    enum at_status status = at_session_open(&session, device, options, err);

    if (status == AT_OK)
        status = time_all(session, cases, lines, count, err);
    at_session_close(session);
    return status;
}

/* ---- the whole ---- */

static void describe(struct at_study_result *result, const struct at_study *study, const char *name,
                     const struct at_device_info *device)
{
    snprintf(result->study, sizeof result->study, "%.*s", AT_QUOTED(at_path_name(name), 63));
    snprintf(result->device, sizeof result->device, "%s", device->name);
    snprintf(result->times, sizeof result->times, "%s", at_device_kind(device)->times);
    snprintf(result->note, sizeof result->note, "%s",
             at_device_kind(device)->predicted
                 ? at_emulated_times(device)
                 : "times are measured, counts are the emulated device's");
    memcpy(result->title, study->title, sizeof result->title);
    result->reading = at_strdup(study->reading);
}

/* 0 if the time is unknown. */
static int64_t bandwidth(int64_t bytes, int64_t time_ns)
{
    return time_ns > 0 ? (int64_t)((double)bytes * 1000 / (double)time_ns) : 0;
}

enum at_status at_study_run(const struct at_study *study, const char *name, const char *path,
                            const struct at_device_info *device,
                            const struct at_session_options *options,
                            struct at_study_result *result, struct at_error *err)
{
    size_t rows = study->rows.count;
    bool emulated = at_device_kind(device)->predicted;
    struct at_study_case *cases = at_alloc_array(rows, sizeof *cases);
    struct at_study_line *lines = at_alloc_array(rows, sizeof *lines);
    struct at_device_info described;
    struct at_rates rates;
    enum at_status status = prepare(study, path, device, options, cases, err);

    if (status == AT_OK && emulated)
        status =
            at_description_read(&described, &rates, device->uuid + strlen(AT_EMULATED_PREFIX), err);
    if (status == AT_OK)
        status =
            count(study, cases, device, emulated ? &rates : NULL, options->progress, lines, err);
    if (status == AT_OK && !emulated)
        status = time_cases(cases, lines, rows, device, options, err);
    if (status == AT_OK) {
        for (size_t i = 0; i < rows; i++)
            lines[i].bandwidth_MB_per_s =
                bandwidth(at_problem_bytes(&cases[i].problem), lines[i].time_ns);
        *result = (struct at_study_result){.lines = {lines, rows}};
        describe(result, study, name, device);
        lines = NULL;
    }
    free(lines);
    free(cases);
    return status;
}

/* ---- kernels of the user's own ---- */

/* As many as `autotune explain` counts: a user's blocks may differ more than those of a study. */
enum { OWN_BLOCKS_COUNTED = 256 };

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

/* The kernel with this name; NULL: there is none. */
static const struct at_entry_point *kernel_of(const struct at_own_file *file, const char *name)
{
    const struct at_entry_point *found;
    struct at_error ignored;

    return at_entry_points_find(&file->entries, at_path_name(file->path), name, &found, &ignored) ==
                   AT_OK
               ? found
               : NULL;
}

/* Compare the results of a row with those of another kernel, as its first row launches it, or with
 * a file. */
static enum at_status check_row(const struct at_own_file *file, const struct rows *rows, size_t row,
                                const struct at_device_info *device, struct at_error *err)
{
    const char *check = rows->items[row].check;
    const struct at_own_launch *reference = NULL;
    const struct at_entry_point *wanted = check ? kernel_of(file, check) : NULL;

    if (!check || (wanted && kernel_of(file, rows->items[row].entry) == wanted))
        return AT_OK;
    for (size_t i = 0; i < rows->count && wanted && !reference; i++)
        if (kernel_of(file, rows->items[i].entry) == wanted)
            reference = &rows->items[i];
    return at_own_kernel_check(file, &rows->items[row], reference, device, err);
}

static enum at_status count_row(const struct at_own_file *file, const struct rows *rows, size_t row,
                                const struct at_device_info *device, const struct at_rates *rates,
                                struct at_study_line *line, struct at_error *err)
{
    struct at_explanation explanation;
    enum at_status status = at_own_kernel_explain(file, &rows->items[row], device, rates,
                                                  OWN_BLOCKS_COUNTED, NULL, &explanation, err);

    if (status != AT_OK)
        return status;
    snprintf(line->config, sizeof line->config, "%.*s", AT_QUOTED(explanation.launch, 511));
    snprintf(line->problem, sizeof line->problem, "%s", explanation.file);
    label(line, rows, row, explanation.entry);
    add_up(line, &explanation);
    line->bandwidth_MB_per_s = bandwidth(used_bytes(line), line->time_ns);
    at_schema_clear(&at_explanation_schema, &explanation);
    return AT_OK;
}

/* Columns, each with the requests without which it has no figures. */
static const struct {
    enum at_study_column column;
    size_t requests; /* of a line */
} own_columns[] = {
    {AT_STUDY_LOAD_SECTORS, offsetof(struct at_study_line, load.requests)},
    {AT_STUDY_LOAD_USED, offsetof(struct at_study_line, load.requests)},
    {AT_STUDY_STORE_SECTORS, offsetof(struct at_study_line, store.requests)},
    {AT_STUDY_STORE_USED, offsetof(struct at_study_line, store.requests)},
    {AT_STUDY_SHARED_LOAD, offsetof(struct at_study_line, shared_load.requests)},
    {AT_STUDY_SHARED_STORE, offsetof(struct at_study_line, shared_store.requests)},
};

static void choose_columns(struct at_study *study, const struct at_study_line *lines, size_t count)
{
    struct at_located *columns = at_alloc_array(AT_COUNT(own_columns), sizeof *columns);

    study->columns.items = columns;
    for (size_t i = 0; i < AT_COUNT(own_columns); i++) {
        size_t j = 0;

        while (j < count &&
               *(const int64_t *)((const char *)&lines[j] + own_columns[i].requests) == 0)
            j++;
        if (j < count)
            columns[study->columns.count++].text =
                at_strdup(at_study_column_names[own_columns[i].column]);
    }
}

static void describe_own(struct at_study_result *result, const struct at_own_file *file,
                         const struct at_device_info *device)
{
    const char *name = at_path_name(file->path);

    snprintf(result->study, sizeof result->study, "%.*s", AT_QUOTED(name, 63));
    snprintf(result->title, sizeof result->title, "its kernels, side by side");
    snprintf(result->device, sizeof result->device, "%s", device->name);
    snprintf(result->times, sizeof result->times, "predicted");
    snprintf(result->note, sizeof result->note, "%s",
             at_device_kind(device)->predicted ? at_emulated_times(device)
                                               : "all times are predicted, none is measured");
    result->reading =
        at_strdup("GB/s are the bytes that the kernel uses, over the predicted time.");
}

/* Check and count a row; its line is behind those of the rows before. */
static enum at_status study_row(const struct at_own_file *file, const struct rows *rows, size_t row,
                                const struct at_device_info *device, const struct at_rates *rates,
                                struct at_study_line *line, struct at_error *err)
{
    enum at_status status;

    if (at_interrupt_seen())
        return at_fail(err, AT_INTERRUPTED, "interrupted");
    status = check_row(file, rows, row, device, err);
    return status == AT_OK ? count_row(file, rows, row, device, rates, line, err) : status;
}

enum at_status at_own_study(const struct at_own_file *file, const struct at_own_launch *launches,
                            size_t count, const struct at_device_info *device,
                            const struct at_rates *rates, struct at_progress *progress,
                            struct at_study *study, struct at_study_result *result,
                            size_t *left_out, struct at_error *err)
{
    struct rows rows = make_rows(file, launches, count);
    struct at_study_line *lines = at_alloc_array(rows.count, sizeof *lines);
    const struct at_entry_point *none;
    char **reasons = at_alloc_array(rows.count, sizeof *reasons);
    struct at_error first;
    size_t made = 0;
    enum at_status status = AT_OK;

    *left_out = 0;
    if (rows.count == 0) /* the message is that of a file without a kernel */
        status = at_entry_points_find(&file->entries, at_path_name(file->path), NULL, &none, err);
    else if (rows.count > AT_STUDY_ROWS_MAX)
        status = at_fail(err, AT_USAGE, "%s has %zu kernels; a study has at most %d: use --entry",
                         at_path_name(file->path), rows.count, AT_STUDY_ROWS_MAX);
    for (size_t i = 0; i < rows.count && status == AT_OK; i++) {
        at_progress_step(progress, rows.items[i].entry, i, rows.count);
        status = study_row(file, &rows, i, device, rates, &lines[made], err);
        made += status == AT_OK;
        if (status == AT_FAILED || status == AT_USAGE) { /* others may run */
            char *plain = at_plain_name(rows.items[i].entry);

            if (*left_out == 0)
                first = *err;
            lines[made] = (struct at_study_line){0};
            reasons[(*left_out)++] = at_format("%s is left out: %s", plain, err->message);
            free(plain);
            status = AT_OK;
        }
    }
    at_progress_clear(progress);
    for (size_t i = 0; i < *left_out; i++) {
        if (made > 0)
            at_warn(progress, "%s", reasons[i]);
        free(reasons[i]);
    }
    if (status == AT_OK && made == 0) {
        *err = first;
        status = first.status;
    }
    if (status == AT_OK) {
        choose_columns(study, lines, made);
        *result = (struct at_study_result){.lines = {lines, made}};
        describe_own(result, file, device);
        lines = NULL;
    }
    free(reasons);
    free(lines);
    free(rows.items);
    return status;
}
