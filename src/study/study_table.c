/* SPDX-License-Identifier: Apache-2.0 */
/* A study as a table. */
#include "base/flow.h"
#include "base/memory.h"
#include "study/study_run.h"
#include "system/streams.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 100, INDENT = 2, GAP = 2, LABEL_LEAST = 12 };

/* The figure of a line in a column; negative if the line has no such accesses. */
typedef double figure_fn(const struct at_study_line *line);

static double ratio(int64_t part, int64_t whole)
{
    return whole ? (double)part / (double)whole : -1;
}

static double load_sectors(const struct at_study_line *line)
{
    return ratio(line->load.sectors, line->load.requests);
}

static double store_sectors(const struct at_study_line *line)
{
    return ratio(line->store.sectors, line->store.requests);
}

static double load_used(const struct at_study_line *line)
{
    return ratio(100 * line->load.wanted_bytes, 32 * line->load.sectors);
}

static double store_used(const struct at_study_line *line)
{
    return ratio(100 * line->store.wanted_bytes, 32 * line->store.sectors);
}

static double shared_load(const struct at_study_line *line)
{
    return ratio(line->shared_load.wavefronts, line->shared_load.least_wavefronts);
}

static double shared_store(const struct at_study_line *line)
{
    return ratio(line->shared_store.wavefronts, line->shared_store.least_wavefronts);
}

static double conflicts(const struct at_study_line *line)
{
    const struct at_study_shared *load = &line->shared_load, *store = &line->shared_store;

    return ratio(load->wavefronts - load->least_wavefronts + store->wavefronts -
                     store->least_wavefronts,
                 line->blocks_counted);
}

static double occupancy(const struct at_study_line *line)
{
    return (double)line->occupancy_percent;
}

static double l1_size(const struct at_study_line *line)
{
    return ratio(line->caches.l1_bytes, line->caches.blocks ? 1024 : 0);
}

static double l1_hits(const struct at_study_line *line)
{
    return ratio(100 * line->caches.l1_hits, line->caches.l1_sectors);
}

static double l2_hits(const struct at_study_line *line)
{
    return ratio(100 * line->caches.l2_hits, line->caches.l2_sectors);
}

/* MB; negative if the caches were not counted. */
static double megabytes(const struct at_study_line *line, int64_t bytes)
{
    return line->caches.blocks ? (double)bytes / 1e6 : -1;
}

static double l2_read(const struct at_study_line *line)
{
    return megabytes(line, line->caches.l2_to_l1_bytes);
}

static double l2_written(const struct at_study_line *line)
{
    return megabytes(line, line->caches.l1_to_l2_bytes);
}

static double dram_read(const struct at_study_line *line)
{
    return megabytes(line, line->caches.dram_to_l2_bytes);
}

static double dram_written(const struct at_study_line *line)
{
    return megabytes(line, line->caches.l2_to_dram_bytes);
}

static double warm_read(const struct at_study_line *line)
{
    return megabytes(line, line->caches.warm_dram_to_l2_bytes);
}

static double time_us(const struct at_study_line *line)
{
    return (double)line->time_ns / 1e3;
}

static double bandwidth(const struct at_study_line *line)
{
    return (double)line->bandwidth_MB_per_s / 1e3;
}

struct column {
    const char *above, *title;
    int width, digits;
    figure_fn *figure;
};

static const struct column chosen_columns[AT_STUDY_COLUMNS] = {
    [AT_STUDY_LOAD_SECTORS] = {"sectors", "per load", 8, 2, load_sectors},
    [AT_STUDY_LOAD_USED] = {"used", "%", 5, 1, load_used},
    [AT_STUDY_STORE_SECTORS] = {"sectors", "per store", 9, 2, store_sectors},
    [AT_STUDY_STORE_USED] = {"used", "%", 5, 1, store_used},
    [AT_STUDY_SHARED_LOAD] = {"shared", "load ways", 9, 1, shared_load},
    [AT_STUDY_SHARED_STORE] = {"shared", "store ways", 10, 1, shared_store},
    [AT_STUDY_CONFLICTS] = {"conflicts", "per block", 9, 0, conflicts},
    [AT_STUDY_OCCUPANCY] = {"occu-", "pancy %", 7, 0, occupancy},
    [AT_STUDY_L1_SIZE] = {"L1", "KiB", 4, 0, l1_size},
    [AT_STUDY_L1_HITS] = {"hits %", "L1", 6, 1, l1_hits},
    [AT_STUDY_L2_HITS] = {"hits %", "L2", 6, 1, l2_hits},
    [AT_STUDY_L2_READ] = {"MB", "from L2", 7, 1, l2_read},
    [AT_STUDY_L2_WRITTEN] = {"MB", "to L2", 7, 1, l2_written},
    [AT_STUDY_DRAM_READ] = {"MB", "from DRAM", 9, 1, dram_read},
    [AT_STUDY_DRAM_WRITTEN] = {"MB", "to DRAM", 7, 1, dram_written},
    [AT_STUDY_WARM_READ] = {"MB again", "from DRAM", 9, 1, warm_read},
};
static const struct column predicted_column = {"predicted", "us", 9, 1, time_us};
static const struct column measured_column = {"time", "us", 9, 1, time_us};
static const struct column bandwidth_column = {"rate", "GB/s", 6, 0, bandwidth};

/* Choose the columns of a table, in order; returns their number. */
static size_t choose(const struct at_study *study, bool predicted,
                     const struct column *columns[AT_STUDY_COLUMNS + 2])
{
    const struct at_located *words = study->columns.items;
    size_t count = 0;

    for (size_t i = 0; i < study->columns.count; i++)
        for (size_t j = 0; j < AT_STUDY_COLUMNS; j++)
            if (strcmp(words[i].text, at_study_column_names[j]) == 0)
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
        printf("%*s%*s", GAP, "", columns[i]->width, columns[i]->above);
    printf("\n%*s%-*s", INDENT, "", width, "kernel");
    for (size_t i = 0; i < count; i++)
        printf("%*s%*s", GAP, "", columns[i]->width, columns[i]->title);
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
        double figure = columns[i]->figure(line);

        if (figure < 0)
            printf("%*s%*s", GAP, "", columns[i]->width, "-");
        else
            printf("%*s%*.*f", GAP, "", columns[i]->width, columns[i]->digits, figure);
    }
    putchar('\n');
}

void at_study_print(const struct at_study *study, const struct at_study_result *result)
{
    const struct at_study_line *lines = result->lines.items;
    const struct column *columns[AT_STUDY_COLUMNS + 2];
    bool predicted = strcmp(result->times, "predicted") == 0;
    size_t count = choose(study, predicted, columns);
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
    at_flow_words(stdout, at_streams_text_width(WIDTH), 0, result->reading);
}

void at_study_tabulate(const struct at_study *study, const struct at_study_result *result,
                       enum at_table_form form)
{
    const struct at_study_line *lines = result->lines.items;
    const struct column *chosen[AT_STUDY_COLUMNS + 2];
    size_t count = choose(study, strcmp(result->times, "predicted") == 0, chosen);
    struct at_table_column columns[AT_STUDY_COLUMNS + 4] = {{"problem", true}, {"kernel", true}};
    struct at_table table = {columns, count + 2, NULL, 0, 0};
    char *titles[AT_STUDY_COLUMNS + 2];

    for (size_t i = 0; i < count; i++) {
        titles[i] = at_format("%s %s", chosen[i]->above, chosen[i]->title);
        columns[i + 2] = (struct at_table_column){titles[i], false};
    }
    for (size_t i = 0; i < result->lines.count; i++) {
        at_table_add(&table, "%s", lines[i].problem);
        at_table_add(&table, "%s", lines[i].label);
        for (size_t j = 0; j < count; j++) {
            double figure = chosen[j]->figure(&lines[i]);

            if (figure < 0)
                at_table_add(&table, "%s", "");
            else
                at_table_add(&table, "%.*f", chosen[j]->digits, figure);
        }
    }
    at_table_print(&table, form, stdout);
    at_table_clear(&table);
    for (size_t i = 0; i < count; i++)
        free(titles[i]);
}
