/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/bench_table.h"

#include "base/memory.h"
#include "base/stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(AT_BENCH_LINES_MAX + AT_COPIES_MAX + 1 <= AT_CONTESTANTS_MAX,
               "all fit one shoot-out");

/* Return the problem that a config runs on. Kernels of the copy family copy a vector of as many
 * bytes. */
static struct at_problem problem_for(const struct at_bench_table *table,
                                     const struct at_config *config)
{
    return strcmp(config->family->name, at_copy_family) == 0 ? at_problem_copy_of(&table->problem)
                                                             : table->problem;
}

static struct at_contestant *add_contestant(struct at_bench_table *table,
                                            const struct at_config *config,
                                            const struct at_problem *problem)
{
    struct at_contestant *contestant = &table->contestants[table->contestant_count++];

    *contestant = (struct at_contestant){.config = config, .problem = *problem};
    return contestant;
}

enum at_status at_bench_table_add(struct at_bench_table *table, struct at_session *session,
                                  const char *label, const struct at_config *config,
                                  struct at_error *err)
{
    struct at_bench_line *line = &table->lines[table->line_count++];
    struct at_problem problem = problem_for(table, config);
    bool legal;
    enum at_status status =
        at_config_legal(config, &problem, at_gpu_info(session->gpu), &legal, NULL, err);

    *line = (struct at_bench_line){.label = label, .config = *config};
    if (status == AT_OK && legal)
        line->contestant = add_contestant(table, &line->config, &problem);
    return status;
}

enum at_status at_bench_table_add_copies(struct at_bench_table *table, struct at_session *session,
                                         const struct at_progress_state *progress,
                                         struct at_error *err)
{
    struct at_copies *copies = &table->copies;
    const struct at_budget unlimited = {0};
    enum at_status status =
        at_copies_find(session, &table->problem, &unlimited, progress, copies, err);

    table->copies_first = table->contestant_count;
    for (size_t i = 0; i < copies->count && status == AT_OK; i++)
        add_contestant(table, &copies->configs[i], &copies->problem);
    if (status == AT_OK)
        add_contestant(table, NULL, &copies->problem);
    return status;
}

static enum at_status verify(const struct at_bench_line *line, struct at_session *session,
                             struct at_error *err)
{
    enum at_status status = at_shootout_prepare(session, &line->contestant->problem, err);

    return status == AT_OK ? at_shootout_require(session, line->contestant, line->label, err)
                           : status;
}

enum at_status at_bench_table_time(struct at_bench_table *table, struct at_session *session,
                                   struct at_error *err)
{
    enum at_status status =
        at_shootout_build(session, table->contestants, table->contestant_count, err);

    for (size_t i = 0; i < table->line_count && status == AT_OK; i++)
        if (table->lines[i].contestant)
            status = verify(&table->lines[i], session, err);
    if (status == AT_OK)
        status = at_shootout_prepare(session, &table->problem, err);
    if (status == AT_OK)
        status = at_shootout_time(session, table->contestants, table->contestant_count, err);
    return status;
}

static const struct at_contestant *copy_limit(const struct at_bench_table *table)
{
    const struct at_contestant *best = &table->contestants[table->copies_first];

    for (size_t i = table->copies_first; i < table->contestant_count; i++)
        if (table->contestants[i].time_ns < best->time_ns)
            best = &table->contestants[i];
    return best;
}

/* The rows of a report, while it is filled. */
struct rows {
    const struct at_bench_table *table;
    const struct at_session *session;
    struct at_bench_row *items;
    size_t count;
};

static void add_row(struct rows *rows, const char *label, const struct at_contestant *contestant)
{
    struct at_bench_row *row = &rows->items[rows->count++];
    double bytes = (double)at_problem_bytes(&rows->table->problem);
    int64_t peak_MB_per_s = at_gpu_info(rows->session->gpu)->peak_bandwidth_MB_per_s;

    snprintf(row->label, sizeof row->label, "%s", label);
    if (!contestant)
        return;
    if (contestant->config) {
        char *config = at_config_format(contestant->config);

        snprintf(row->kernel, sizeof row->kernel, "%s %s", contestant->config->family->name,
                 config);
        free(config);
    } else {
        snprintf(row->kernel, sizeof row->kernel, "memcpy");
    }
    row->time_ns = llround(contestant->time_ns);
    row->bandwidth_MB_per_s = llround(1000 * bytes / contestant->time_ns);
    row->of_copy_permille = llround(1000 * copy_limit(rows->table)->time_ns / contestant->time_ns);
    row->spread_permille = at_spread_permille(
        contestant->samples_ns, (size_t)rows->session->options.policy->shootout_samples);
    row->from_l2 = peak_MB_per_s > 0 && row->bandwidth_MB_per_s > peak_MB_per_s;
}

void at_bench_table_report(const struct at_bench_table *table, const struct at_session *session,
                           struct at_bench_report *report)
{
    const struct at_device_info *device = at_gpu_info(session->gpu);
    struct rows rows = {table, session,
                        at_alloc_array(table->line_count + 2, sizeof(struct at_bench_row)), 0};
    char *problem = at_problem_format(&table->problem);

    *report = (struct at_bench_report){.predicted = at_device_is_emulated(device)};
    if (report->predicted)
        snprintf(report->note, sizeof report->note, "%s", at_emulated_times(device));
    snprintf(report->device, sizeof report->device, "%s", device->name);
    snprintf(report->policy, sizeof report->policy, "%s", session->options.policy->name);
    snprintf(report->problem, sizeof report->problem, "%s", problem);
    free(problem);
    add_row(&rows, "copy limit", copy_limit(table));
    add_row(&rows, "memcpy by the driver", &table->contestants[table->contestant_count - 1]);
    for (size_t i = 0; i < table->line_count; i++)
        add_row(&rows, table->lines[i].label, table->lines[i].contestant);
    report->rows = (struct at_list){rows.items, rows.count};
}
