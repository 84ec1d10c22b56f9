/* SPDX-License-Identifier: Apache-2.0 */
/* autotune show: print profiles. */
#include "base/flow.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/stats.h"
#include "cmd/command_line.h"
#include "cmd/files.h"
#include "journal/journal.h"
#include "profile/profile.h"
#include "schema/table.h"
#include "system/progress.h"
#include "tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct show_options {
    struct at_progress progress;
    struct at_texts files;
    enum at_output_format format;
    bool configs;
    size_t top; /* 0: the winners alone */
};

enum { TOP_MAX = 1000000 };

static const struct at_option options_table[] = {
    AT_ARGUMENT("profile", "which profile? Name its file, like best.yaml",
                AT_ADDS_TEXT(show_options, files)),
    {"configs", 0, NULL, 0, "Also print each winner's parameters and launch",
     AT_SETS_FLAG(show_options, configs)},
    {"top", 0, "N", 0,
     "Instead print each problem's N fastest configs, from the journal of the profile",
     AT_SETS_INTEGER(show_options, top, size_t, 1, TOP_MAX)},
    AT_FORMAT(0, show_options, format),
    {0},
};

/* ---- the fastest configs of a journal ---- */

enum { WIDTH = 80, INDENT = 4 };

/* A config, by its last measurement. */
struct row {
    char *problem, *family, *config;
    int64_t rank, time_ns, over_best_permille, expected_ns, registers; /* expected 0: unknown */
    int64_t run;
    size_t problem_number; /* in the order of the journal */
    bool correct, dropped;
};

struct rows {
    struct row *items;
    size_t count, capacity;
};

static const struct at_field row_fields[] = {
    AT_WRITTEN(row, problem, AT_FIELD_TEXT, AT_COLUMN(1, "problem")),
    AT_WRITTEN(row, rank, AT_FIELD_INT, AT_COLUMN(2, "rank")),
    AT_WRITTEN(row, time_ns, AT_FIELD_INT, AT_COLUMN(3, "us", 1000, 2)),
    AT_WRITTEN(row, over_best_permille, AT_FIELD_INT, AT_COLUMN(4, "slower %", 10, 1)),
    AT_WRITTEN(row, expected_ns, AT_FIELD_INT, AT_OPTIONAL, AT_COLUMN(5, "expected us", 1000, 2)),
    AT_WRITTEN(row, family, AT_FIELD_TEXT, AT_COLUMN(6, "kernel")),
    AT_WRITTEN(row, config, AT_FIELD_TEXT, AT_COLUMN(7, "config")),
    AT_WRITTEN(row, registers, AT_FIELD_INT, AT_COLUMN(8, "registers")),
};
static const struct at_schema row_schema = AT_SCHEMA("a measured config", row, row_fields);

static void take(void *data, const struct at_journal_entry *entry)
{
    struct rows *rows = data;
    const struct at_measurement *measured = &entry->measurement;
    struct row row = {
        .expected_ns = (int64_t)(entry->details.expected_ns + 0.5),
        .registers = measured->kernel.registers,
        .run = entry->run,
        .problem_number = rows->count,
        .correct = measured->outcome == AT_CORRECT && measured->sample_count > 0,
    };

    if (strcmp(entry->key.family, at_copy_family) == 0) /* the copy limit's */
        return;
    if (row.correct)
        row.time_ns = (int64_t)(at_median(measured->samples_ns, measured->sample_count) + 0.5);
    row.problem = at_strdup(entry->key.problem);
    row.family = at_strdup(entry->key.family);
    row.config = at_strdup(entry->key.config);
    AT_PUSH(rows->items, rows->count, rows->capacity, row);
}

/* By problem, newest run, config, and the newest measurement first. Until they are ranked,
 * problem_number is the place in the journal. */
static int by_config(const void *a_row, const void *b_row)
{
    const struct row *a = a_row, *b = b_row;
    int order = strcmp(a->problem, b->problem);

    if (order == 0)
        order = (a->run < b->run) - (a->run > b->run);
    if (order == 0)
        order = strcmp(a->family, b->family);
    if (order == 0)
        order = strcmp(a->config, b->config);
    return order != 0 ? order
                      : at_integer_compare((int64_t)b->problem_number, (int64_t)a->problem_number);
}

static int by_time(const void *a_row, const void *b_row)
{
    const struct row *a = a_row, *b = b_row;
    int order = at_integer_compare((int64_t)a->problem_number, (int64_t)b->problem_number);

    if (order == 0)
        order = (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
    if (order == 0)
        order = strcmp(a->family, b->family);
    return order != 0 ? order : strcmp(a->config, b->config);
}

static bool same_config(const struct row *a, const struct row *b)
{
    return a->run == b->run && strcmp(a->family, b->family) == 0 &&
           strcmp(a->config, b->config) == 0;
}

/* Return the end of the rows of one problem. */
static size_t end_of(const struct rows *rows, size_t first)
{
    size_t end = first;

    while (end < rows->count && strcmp(rows->items[end].problem, rows->items[first].problem) == 0)
        end++;
    return end;
}

/* Keep each config's last measurement in its problem's newest run, if it is correct. */
static void keep_last(struct rows *rows)
{
    size_t kept = 0;

    qsort(rows->items, rows->count, sizeof *rows->items, by_config);
    for (size_t first = 0, end; first < rows->count; first = end) {
        size_t place = SIZE_MAX;

        end = end_of(rows, first);
        for (size_t i = first; i < end; i++) {
            struct row *row = &rows->items[i];

            row->dropped = !row->correct || row->run != rows->items[first].run ||
                           (i > first && same_config(row, row - 1));
            place = row->problem_number < place ? row->problem_number : place;
        }
        for (size_t i = first; i < end; i++)
            rows->items[i].problem_number = place;
    }
    for (size_t i = 0; i < rows->count; i++)
        if (rows->items[i].dropped)
            at_schema_clear(&row_schema, &rows->items[i]);
        else
            rows->items[kept++] = rows->items[i];
    rows->count = kept;
}

/* Rank each problem's rows, and drop those behind the first `most`. */
static void rank(struct rows *rows, size_t most)
{
    size_t kept = 0, end;

    qsort(rows->items, rows->count, sizeof *rows->items, by_time);
    for (size_t first = 0; first < rows->count; first = end) {
        double best_ns = (double)rows->items[first].time_ns;
        size_t number = rows->items[first].problem_number;

        for (end = first; end < rows->count && rows->items[end].problem_number == number; end++) {
            struct row *row = &rows->items[end];

            row->rank = (int64_t)(end - first + 1);
            row->over_best_permille =
                (int64_t)(1000 * ((double)row->time_ns - best_ns) / best_ns + 0.5);
            if (row->rank > (int64_t)most)
                at_schema_clear(&row_schema, row);
            else
                rows->items[kept++] = *row;
        }
    }
    rows->count = kept;
}

static void print_text(const struct rows *rows)
{
    for (size_t i = 0; i < rows->count; i++) {
        const struct row *row = &rows->items[i];

        if (row->rank == 1)
            printf("%s%s\n%4s %10s %9s  kernel\n", i > 0 ? "\n" : "", row->problem, "rank", "us",
                   "slower %");
        printf("%4jd %10.2f %9.1f  %s\n", (intmax_t)row->rank, (double)row->time_ns / 1e3,
               (double)row->over_best_permille / 10, row->family);
        at_flow_paragraph(stdout, WIDTH, INDENT, "", row->config);
    }
}

static bool ends_in(const char *text, const char *end)
{
    size_t length = strlen(text), end_length = strlen(end);

    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Print the `most` fastest correct configs of each problem in a journal, by the search's times in
 * the problem's newest run. path is the journal's, or that of the profile it is beside. */
static enum at_status show_top(const char *path, size_t most, enum at_output_format format,
                               struct at_progress *progress, struct at_error *err)
{
    struct rows rows = {0};
    char *beside = at_format("%s.journal", path);
    bool is_beside = access(beside, F_OK) == 0;
    enum at_status status =
        at_journal_read(is_beside ? beside : path, take, NULL, NULL, &rows, err);

    if (status != AT_OK && !is_beside && access(path, F_OK) == 0 && !ends_in(path, ".journal"))
        status = at_fail(err, AT_USAGE,
                         "--top reads the journal that a run leaves beside its profile, and there "
                         "is no %s",
                         beside);

    if (status == AT_OK) {
        at_detail(progress, "read %s", is_beside ? beside : path);
        keep_last(&rows);
        rank(&rows, most);
    }
    if (status == AT_OK && rows.count == 0)
        status = at_fail(err, AT_FAILED, "%s has no correct config", path);
    else if (status == AT_OK && format == AT_FORMAT_TABLE)
        print_text(&rows);
    else if (status == AT_OK)
        status = at_print_list("configs", &row_schema, rows.items, rows.count, format, stdout, err);
    at_schema_clear_records(&row_schema, rows.items, rows.count);
    free(beside);
    return status;
}

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

/* Tables for people have a section for each device of each profile. In JSON several profiles are an
 * array. */
static enum at_status print_apart(struct at_profile *profiles, const struct show_options *options,
                                  struct at_error *err)
{
    bool array = options->format == AT_FORMAT_JSON && options->files.count > 1;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < options->files.count && status == AT_OK; i++) {
        fputs(array ? (i > 0 ? ",\n" : "[\n") : i > 0 ? "\n" : "", stdout);
        status = at_print_profile(&profiles[i], options->format, options->configs, err);
    }
    if (array && status == AT_OK)
        puts("]");
    return status;
}

/* All profiles are read before the first is printed. */
static enum at_status run_show(void *given, struct at_error *err)
{
    struct show_options *options = given;
    struct at_profile *profiles;
    bool together;
    enum at_status status = AT_OK;

    if (options->top > 0 && options->files.count > 1)
        return at_fail(err, AT_USAGE, "--top takes one file at a time, not %zu",
                       options->files.count);
    if (options->top > 0)
        return show_top(options->files.items[0], options->top, options->format, &options->progress,
                        err);
    profiles = at_alloc_array(options->files.count, sizeof *profiles);
    for (size_t i = 0; i < options->files.count && status == AT_OK; i++)
        status = at_read_profile(&profiles[i], options->files.items[i], &options->progress, err);
    together = options->format == AT_FORMAT_CSV || options->format == AT_FORMAT_MARKDOWN;
    if (status == AT_OK)
        status = (together ? print_together : print_apart)(profiles, options, err);
    for (size_t i = 0; i < options->files.count; i++)
        at_profile_clear(&profiles[i]);
    free(profiles);
    return status;
}

const struct at_command at_command_show = {
    .name = "show",
    .summary = "print profiles as tables",
    .options = options_table,
    .arguments = "FILE...",
    .help = "Prints profiles."
            "\vExample:\n  autotune show --top 5 best.yaml",
    .size = sizeof(struct show_options),
    .run = run_show,
};
