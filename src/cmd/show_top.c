/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/show_top.h"

#include "base/flow.h"
#include "base/memory.h"
#include "base/stats.h"
#include "journal/read.h"
#include "schema/table.h"
#include "tune/copy_limit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

struct document {
    struct at_list configs; /* of struct row */
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
static const struct at_field document_fields[] = {
    AT_WRITTEN(document, configs, AT_FIELD_OBJECTS, .object = &row_schema),
};
static const struct at_schema document_schema = AT_SCHEMA("configs", document, document_fields);

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

static int compare_sizes(size_t a, size_t b)
{
    return (a > b) - (a < b);
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
    return order != 0 ? order : compare_sizes(b->problem_number, a->problem_number);
}

static int by_time(const void *a_row, const void *b_row)
{
    const struct row *a = a_row, *b = b_row;
    int order = compare_sizes(a->problem_number, b->problem_number);

    if (order == 0)
        order = (a->time_ns > b->time_ns) - (a->time_ns < b->time_ns);
    if (order == 0)
        order = strcmp(a->family, b->family);
    return order != 0 ? order : strcmp(a->config, b->config);
}

static void clear_row(struct row *row)
{
    free(row->problem);
    free(row->family);
    free(row->config);
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
            clear_row(&rows->items[i]);
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
                clear_row(row);
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

enum at_status at_show_top(const char *path, size_t most, enum at_output_format format,
                           struct at_progress *progress, struct at_error *err)
{
    struct rows rows = {0};
    const struct at_journal_takers takers = {.measurement = take, .data = &rows};
    char *beside = at_format("%s.journal", path);
    bool is_beside = access(beside, F_OK) == 0;
    enum at_status status = at_journal_read(is_beside ? beside : path, &takers, err);

    if (status != AT_OK && !is_beside && access(path, F_OK) == 0 && !ends_in(path, ".journal"))
        status = at_fail_within(err,
                                "--top reads the journal that a run leaves beside its profile, and "
                                "there is no %s",
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
        status = at_print(&document_schema, &(struct document){{rows.items, rows.count}}, format,
                          stdout, err);
    for (size_t i = 0; i < rows.count; i++)
        clear_row(&rows.items[i]);
    free(rows.items);
    free(beside);
    return status;
}
