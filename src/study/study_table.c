/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a study, for people and for programs. */
#include "base/flow.h"
#include "base/memory.h"
#include "schema/table.h"
#include "study/study_run.h"
#include "system/progress.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, INDENT = 2, GAP = 2, LABEL_LEAST = 12 };

/* ---- as JSON ---- */

static const struct at_field global_fields[] = {
    AT_COUNTER(at_study_global, requests),
    AT_COUNTER(at_study_global, sectors),
    AT_COUNTER(at_study_global, wanted_bytes),
};
static const struct at_schema global_schema = AT_SCHEMA("accesses", at_study_global, global_fields);
static const struct at_field shared_fields[] = {
    AT_COUNTER(at_study_shared, least_wavefronts),
    AT_COUNTER(at_study_shared, requests),
    AT_COUNTER(at_study_shared, wavefronts),
};
static const struct at_schema shared_schema = AT_SCHEMA("accesses", at_study_shared, shared_fields);

static const struct at_field line_fields[] = {
    AT_COUNTER(at_study_line, bandwidth_MB_per_s, AT_OPTIONAL),
    AT_COUNTER(at_study_line, blocks),
    AT_COUNTER(at_study_line, blocks_counted),
    AT_OBJECT(at_study_line, "caches", caches, at_explained_caches_schema),
    AT_CHARS(at_study_line, config),
    AT_CHARS(at_study_line, family, AT_OPTIONAL),
    AT_CHARS(at_study_line, label),
    AT_OBJECT(at_study_line, "load", load, global_schema),
    AT_COUNTER(at_study_line, occupancy_percent),
    AT_CHARS(at_study_line, problem),
    AT_OBJECT(at_study_line, "shared_load", shared_load, shared_schema),
    AT_OBJECT(at_study_line, "shared_store", shared_store, shared_schema),
    AT_OBJECT(at_study_line, "store", store, global_schema),
    AT_COUNTER(at_study_line, time_ns, AT_OPTIONAL),
};
static const struct at_schema line_schema = AT_SCHEMA("a line", at_study_line, line_fields);

static const struct at_field result_fields[] = {
    AT_CHARS(at_study_result, device),
    AT_OBJECTS(at_study_result, lines, 0, AT_STUDY_ROWS_MAX, line_schema),
    AT_CHARS(at_study_result, note),
    AT_TEXT(at_study_result, reading, INT32_MAX),
    AT_CHARS(at_study_result, study),
    AT_CHARS(at_study_result, times),
    AT_CHARS(at_study_result, title),
};
const struct at_schema at_study_result_schema =
    AT_SCHEMA("the figures of a study", at_study_result, result_fields);

/* ---- columns ---- */

/* A figure is scale * part / (per * whole), of members of a line. */
struct column {
    const char *title;
    int above; /* so much of the title stands on the line above */
    int width, digits;
    double scale;
    size_t part;
    double per;
    size_t whole; /* 0: none */
    size_t known; /* 0: always; else if this member is above 0 */
};

#define PART(member)                   offsetof(struct at_study_line, member)
#define RATIO(scale, part, per, whole) scale, PART(part), per, PART(whole), 0
#define PER(part, per)                 1, PART(part), per, 0, 0
#define CACHED(part, per)              1, PART(caches.part), per, 0, PART(caches.blocks)
#define TIMED(part, per)               1, PART(part), per, 0, PART(time_ns)
#define HITS(level)                    RATIO(100, caches.level##_hits, 1, caches.level##_sectors)
#define WAYS(of)                       RATIO(1, of.wavefronts, 1, of.least_wavefronts)
#define PER_REQUEST(of)                RATIO(1, of.sectors, 1, of.requests)
#define USED(of)                       RATIO(100, of.wanted_bytes, 32, of.sectors)

/* clang-format off */
static const struct column chosen_columns[AT_STUDY_COLUMNS] = {
    [AT_STUDY_LOAD_SECTORS] = {"sectors per load", 7, 8, 2, PER_REQUEST(load)},
    [AT_STUDY_LOAD_USED] = {"used %", 4, 5, 1, USED(load)},
    [AT_STUDY_STORE_SECTORS] = {"sectors per store", 7, 9, 2, PER_REQUEST(store)},
    [AT_STUDY_STORE_USED] = {"used %", 4, 5, 1, USED(store)},
    [AT_STUDY_SHARED_LOAD] = {"shared load ways", 6, 9, 1, WAYS(shared_load)},
    [AT_STUDY_SHARED_STORE] = {"shared store ways", 6, 10, 1, WAYS(shared_store)},
    [AT_STUDY_CONFLICTS] = {"conflicts per block", 9, 9, 0, RATIO(1, conflicts, 1, blocks_counted)},
    [AT_STUDY_OCCUPANCY] = {"occu- pancy %", 5, 7, 0, PER(occupancy_percent, 1)},
    [AT_STUDY_L1_SIZE] = {"L1 KiB", 2, 4, 0, CACHED(l1_bytes, 1024)},
    [AT_STUDY_L1_HITS] = {"hits % L1", 6, 6, 1, HITS(l1)},
    [AT_STUDY_L2_HITS] = {"hits % L2", 6, 6, 1, HITS(l2)},
    [AT_STUDY_L2_READ] = {"MB from L2", 2, 7, 1, CACHED(l2_to_l1_bytes, 1e6)},
    [AT_STUDY_L2_WRITTEN] = {"MB to L2", 2, 7, 1, CACHED(l1_to_l2_bytes, 1e6)},
    [AT_STUDY_DRAM_READ] = {"MB from DRAM", 2, 9, 1, CACHED(dram_to_l2_bytes, 1e6)},
    [AT_STUDY_DRAM_WRITTEN] = {"MB to DRAM", 2, 7, 1, CACHED(l2_to_dram_bytes, 1e6)},
    [AT_STUDY_WARM_READ] = {"MB again from DRAM", 8, 9, 1, CACHED(warm_dram_to_l2_bytes, 1e6)},
};
static const struct column predicted_column = {"predicted us", 9, 9, 1, TIMED(time_ns, 1e3)};
static const struct column measured_column = {"time us", 4, 9, 1, TIMED(time_ns, 1e3)};
static const struct column bandwidth_column = {"rate GB/s", 4, 6, 0, TIMED(bandwidth_MB_per_s, 1e3)};
/* clang-format on */

static double member(const struct at_study_line *line, size_t offset)
{
    return (double)*(const int64_t *)((const char *)line + offset);
}

/* The figure of a line in a column; NAN if it is unknown, or there are no such accesses. */
static double figure(const struct column *column, const struct at_study_line *line)
{
    double part = column->scale * member(line, column->part);

    if (part < 0 || (column->known && member(line, column->known) <= 0))
        return NAN;
    if (column->whole == 0)
        return part / column->per;
    return member(line, column->whole) > 0 ? part / (column->per * member(line, column->whole))
                                           : NAN;
}

/* Have all rows this figure, as far as it is printed? */
static bool all_alike(const struct column *column, const struct at_study_result *result)
{
    const struct at_study_line *lines = result->lines.items;
    double most = 0.5 * pow(10, -column->digits), first = figure(column, &lines[0]);

    for (size_t i = 1; i < result->lines.count; i++) {
        double other = figure(column, &lines[i]);

        if (isnan(first) != isnan(other) || fabs(first - other) >= most)
            return false;
    }
    return true;
}

/* Choose the columns of a table, in order; returns their number. */
static size_t choose(const struct at_study *study, const struct at_study_result *result,
                     const struct column *columns[AT_STUDY_COLUMNS + 2])
{
    const struct at_located *words = study->columns.items;
    bool predicted = strcmp(result->times, "predicted") == 0;
    size_t count = 0;

    for (size_t i = 0; i < study->columns.count; i++)
        for (size_t j = 0; j < AT_STUDY_COLUMNS; j++)
            if (strcmp(words[i].text, at_study_column_names[j]) == 0 &&
                !(study->differing && all_alike(&chosen_columns[j], result)))
                columns[count++] = &chosen_columns[j];
    columns[count++] = predicted ? &predicted_column : &measured_column;
    columns[count++] = &bandwidth_column;
    return count;
}

/* The width of the kernels' names: of the longest, or on a narrow terminal what is left. */
static int label_width(const struct at_study_result *result, const struct column *const *columns,
                       size_t count)
{
    const struct at_study_line *lines = result->lines.items;
    size_t width = strlen("kernel");
    int left = at_streams_text_width(WIDTH) - INDENT;

    for (size_t i = 0; i < result->lines.count; i++)
        if (strlen(lines[i].label) > width)
            width = strlen(lines[i].label);
    for (size_t i = 0; i < count; i++)
        left -= GAP + columns[i]->width;
    return (int)width > left && left >= LABEL_LEAST ? left : (int)width;
}

static void print_titles(const struct column *const *columns, size_t count, int width)
{
    printf("%*s%*s", INDENT, "", width, "");
    for (size_t i = 0; i < count; i++)
        printf("%*s%*.*s", GAP, "", columns[i]->width, columns[i]->above, columns[i]->title);
    printf("\n%*s%-*s", INDENT, "", width, "kernel");
    for (size_t i = 0; i < count; i++)
        printf("%*s%*s", GAP, "", columns[i]->width, columns[i]->title + columns[i]->above + 1);
    putchar('\n');
}

/* Print a kernel's name, of which what does not fit stands on lines before. */
static void print_label(const char *label, int width)
{
    int indent = INDENT;

    while ((int)strlen(label) > width - (indent - INDENT)) {
        int most = width - (indent - INDENT), end = most;

        while (end > 0 && label[end] != ' ')
            end--;
        if (end == 0) /* a word without a blank */
            end = most;
        printf("%*s%.*s\n", indent, "", end, label);
        label += end + (label[end] == ' ');
        indent = 2 * INDENT;
    }
    printf("%*s%-*s", indent, "", width - (indent - INDENT), label);
}

static void print_line(const struct at_study_line *line, const struct column *const *columns,
                       size_t count, int width)
{
    print_label(line->label, width);
    for (size_t i = 0; i < count; i++) {
        double value = figure(columns[i], line);

        if (isnan(value))
            printf("%*s%*s", GAP, "", columns[i]->width, "-");
        else
            printf("%*s%*.*f", GAP, "", columns[i]->width, columns[i]->digits, value);
    }
    putchar('\n');
}

/* Titles that are others where no column stands beside them. */
static const char *const alone_titles[AT_STUDY_COLUMNS] = {
    [AT_STUDY_LOAD_USED] = "used % of loads",
    [AT_STUDY_STORE_USED] = "used % of stores",
    [AT_STUDY_OCCUPANCY] = "occupancy %",
};

/* Print the figures in which all rows are alike. */
static void print_alike(const struct at_study *study, const struct at_study_result *result)
{
    const struct at_study_line *lines = result->lines.items;
    struct at_flow flow = at_flow_begin(stdout, WIDTH, INDENT, "alike:");

    for (size_t i = 0; i < AT_STUDY_COLUMNS && study->differing; i++) {
        const struct column *column = &chosen_columns[i];

        if (all_alike(column, result) && !isnan(figure(column, &lines[0])))
            at_flow_add(&flow, "%s %.*f;", alone_titles[i] ? alone_titles[i] : column->title,
                        column->digits, figure(column, &lines[0]));
    }
    at_flow_end(&flow);
}

static void print_text(const struct at_study *study, const struct at_study_result *result)
{
    const struct at_study_line *lines = result->lines.items;
    const struct column *columns[AT_STUDY_COLUMNS + 2];
    bool predicted = strcmp(result->times, "predicted") == 0;
    size_t count = choose(study, result, columns);
    int width = label_width(result, columns, count);

    printf(predicted ? "%s: %s\non %s (emulated: %s)\n\n" : "%s: %s\non %s; %s\n\n", result->study,
           result->title, result->device, result->note);
    print_titles(columns, count, width);
    for (size_t i = 0; i < result->lines.count; i++) {
        if (i == 0 || strcmp(lines[i].problem, lines[i - 1].problem) != 0)
            printf("%s\n", lines[i].problem);
        print_line(&lines[i], columns, count, width);
    }
    putchar('\n');
    if (study->differing)
        print_alike(study, result);
    at_flow_words(stdout, at_streams_text_width(WIDTH), 0, result->reading);
}

/* A row of the table for programs. */
struct row {
    const char *problem, *label;
    double figures[AT_STUDY_COLUMNS + 2];
};

/* The columns depend on the study, so the fields are made here. */
static enum at_status print_plain(const struct at_study *study,
                                  const struct at_study_result *result,
                                  enum at_output_format format, struct at_error *err)
{
    const struct at_study_line *lines = result->lines.items;
    const struct column *columns[AT_STUDY_COLUMNS + 2];
    size_t count = choose(study, result, columns);
    struct at_field fields[AT_STUDY_COLUMNS + 4] = {
        AT_ONLY_COLUMN(row, problem, AT_FIELD_TEXT, AT_COLUMN(0, "problem")),
        AT_ONLY_COLUMN(row, label, AT_FIELD_TEXT, AT_COLUMN(0, "kernel")),
    };
    const struct at_schema row_schema = {"a row", sizeof(struct row), fields, count + 2};
    struct row *rows = at_alloc_array(result->lines.count, sizeof *rows);
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        fields[i + 2] = (struct at_field)AT_ONLY_COLUMN(
            row, figures[i], AT_FIELD_REAL, AT_OPTIONAL,
            AT_COLUMN(0, columns[i]->title, .digits = columns[i]->digits));
    for (size_t i = 0; i < result->lines.count; i++) {
        rows[i].problem = lines[i].problem;
        rows[i].label = lines[i].label;
        for (size_t j = 0; j < count; j++)
            rows[i].figures[j] = figure(columns[j], &lines[i]);
    }
    status = at_print_list("rows", &row_schema, rows, result->lines.count, format, stdout, err);
    free(rows);
    return status;
}

enum at_status at_study_print(const struct at_study *study, const struct at_study_result *result,
                              enum at_output_format format, struct at_error *err)
{
    if (format == AT_FORMAT_JSON)
        return at_print(&at_study_result_schema, result, format, stdout, err);
    if (format != AT_FORMAT_TABLE)
        return print_plain(study, result, format, err);
    print_text(study, result);
    return AT_OK;
}
