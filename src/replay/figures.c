/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/figures.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const int64_t within_percents[] = {5, 1, 0};

enum { REACHES = AT_COUNT(within_percents) };

/* ---- on one recording ---- */

static int by_count(const void *left, const void *right)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;

    return (a > b) - (a < b);
}

/* The percentile of sorted values; 0 for SIZE_MAX. */
static int64_t percentile(const size_t *sorted, size_t count, size_t percent)
{
    size_t value = sorted[(count * percent + 99) / 100 - 1];

    return value == SIZE_MAX ? 0 : (int64_t)value;
}

static struct at_reach_record measure_reach(const struct at_recording *recording,
                                            const struct at_course *courses, size_t runs,
                                            int64_t percent)
{
    struct at_reach_record reach = {.within_percent = percent};
    size_t *evaluations = at_alloc_array(runs, sizeof *evaluations);
    size_t *ms = at_alloc_array(runs, sizeof *ms);

    for (size_t i = 0; i < runs; i++) {
        evaluations[i] = ms[i] = at_course_reach(&courses[i], recording, (double)percent);
        if (ms[i] != SIZE_MAX)
            ms[i] = (size_t)llround(at_course_spent(&courses[i], evaluations[i]) / 1e6);
    }
    qsort(evaluations, runs, sizeof *evaluations, by_count);
    qsort(ms, runs, sizeof *ms, by_count);
    reach.median_evaluations = percentile(evaluations, runs, 50);
    reach.p95_evaluations = percentile(evaluations, runs, 95);
    reach.median_ms = percentile(ms, runs, 50);
    reach.p95_ms = percentile(ms, runs, 95);
    free(ms);
    free(evaluations);
    return reach;
}

static void measure_ends(struct at_strategy_record *record, const struct at_recording *recording,
                         const struct at_course *courses, size_t runs)
{
    size_t *ends = at_alloc_array(runs, sizeof *ends), stopped = 0, sum = 0;

    for (size_t i = 0; i < runs; i++) {
        if (courses[i].reason)
            sum += ends[stopped++] = courses[i].count;
        record->ended_within_1_percent += at_course_reach(&courses[i], recording, 1) != SIZE_MAX;
    }
    qsort(ends, stopped, sizeof *ends, by_count);
    record->stopped = (int64_t)stopped;
    record->stopped_evaluations = stopped > 0 ? percentile(ends, stopped, 50) : 0;
    record->stopped_mean = stopped > 0 ? (int64_t)((sum + stopped / 2) / stopped) : 0;
    free(ends);
}

void at_figures_of_runs(struct at_strategy_record *record, const struct at_recording *recording,
                        const struct at_course *courses, size_t runs)
{
    struct at_reach_record *reaches = at_alloc_array(REACHES, sizeof *reaches);

    for (size_t i = 0; i < REACHES; i++)
        reaches[i] = measure_reach(recording, courses, runs, within_percents[i]);
    record->reaches = (struct at_list){reaches, REACHES};
    record->runs = (int64_t)runs;
    measure_ends(record, recording, courses, runs);
}

/* ---- over all recordings ---- */

/* ---- over all recordings ---- */

/* The median of values of which 0 means never, the greatest. */
static int64_t median_of(size_t *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] == 0)
            values[i] = SIZE_MAX;
    qsort(values, count, sizeof *values, by_count);
    return percentile(values, count, 50);
}

/* The median over the recordings of a member of a strategy's reaches. */
static int64_t median_reach(const struct at_comparison *comparison, size_t strategy, size_t reach,
                            size_t offset)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    size_t count = comparison->recordings.count;
    size_t *values = at_alloc_array(count, sizeof *values);
    int64_t median;

    for (size_t i = 0; i < count; i++) {
        const struct at_strategy_record *records = recordings[i].strategies.items;
        const struct at_reach_record *reaches = records[strategy].reaches.items;
        int64_t value;

        memcpy(&value, (const char *)&reaches[reach] + offset, sizeof value);
        values[i] = (size_t)value;
    }
    median = median_of(values, count);
    free(values);
    return median;
}

/* The median over the recordings on which the strategy stopped; 0: on none. */
static int64_t median_stop(const struct at_comparison *comparison, size_t strategy)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    size_t *values = at_alloc_array(comparison->recordings.count, sizeof *values), count = 0;
    int64_t median;

    for (size_t i = 0; i < comparison->recordings.count; i++) {
        const struct at_strategy_record *records = recordings[i].strategies.items;

        if (records[strategy].stopped > 0)
            values[count++] = (size_t)records[strategy].stopped_evaluations;
    }
    median = count > 0 ? median_of(values, count) : 0;
    free(values);
    return median;
}

/* The mean over the recordings of a strategy's curve, a member of its record. */
static struct at_list mean_curve(const struct at_comparison *comparison, size_t strategy,
                                 size_t offset)
{
    const struct at_compared_recording *recordings = comparison->recordings.items;
    size_t count = comparison->recordings.count;
    struct at_list *lists = at_alloc_array(count, sizeof *lists), mean;

    for (size_t i = 0; i < count; i++) {
        const struct at_strategy_record *records = recordings[i].strategies.items;

        memcpy(&lists[i], (const char *)&records[strategy] + offset, sizeof *lists);
    }
    mean = at_curve_mean(lists, count);
    free(lists);
    return mean;
}

void at_figures_sum_up(struct at_comparison *comparison, size_t strategy)
{
    struct at_strategy_record *all = (struct at_strategy_record *)comparison->all.items + strategy;
    const struct at_compared_recording *recordings = comparison->recordings.items;
    struct at_reach_record *reaches = at_alloc_array(REACHES, sizeof *reaches);
    size_t count = comparison->recordings.count;
    int64_t score = 0, stops = 0, stopping = 0;

#define MEDIAN(reach, member)                                                                      \
    median_reach(comparison, strategy, reach, offsetof(struct at_reach_record, member))
    for (size_t i = 0; i < REACHES; i++)
        reaches[i] = (struct at_reach_record){
            .within_percent = within_percents[i],
            .median_evaluations = MEDIAN(i, median_evaluations),
            .p95_evaluations = MEDIAN(i, p95_evaluations),
            .median_ms = MEDIAN(i, median_ms),
            .p95_ms = MEDIAN(i, p95_ms),
        };
#undef MEDIAN
    all->reaches = (struct at_list){reaches, REACHES};
    for (size_t i = 0; i < count; i++) {
        const struct at_strategy_record *one =
            (const struct at_strategy_record *)recordings[i].strategies.items + strategy;

        memcpy(all->name, one->name, sizeof all->name);
        all->runs += one->runs;
        all->stopped += one->stopped;
        all->ended_within_1_percent += one->ended_within_1_percent;
        score += one->score_permille;
        stops += one->stopped_mean;
        stopping += one->stopped > 0;
    }
#define MEAN(member) mean_curve(comparison, strategy, offsetof(struct at_strategy_record, member))
    all->curve = MEAN(curve);
    all->curve_of_time = MEAN(curve_of_time);
    all->drawn = MEAN(drawn);
#undef MEAN
    all->stopped_mean = stopping > 0 ? stops / stopping : 0;
    all->score_permille = llround((double)score / (double)count);
    all->stopped_evaluations = median_stop(comparison, strategy);
}
