/* SPDX-License-Identifier: Apache-2.0 */
/* The performance score: replay.h has its source. */
#include "base/memory.h"
#include "replay/replay.h"

#include <math.h>
#include <stdlib.h>

static const double covered =
    0.95; /* share of the gap from median to optimum at which the budget ends */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* The expected smallest of `drawn` values, drawn without repetition from sorted ones. The smallest
 * is the one at i if all are drawn from i on, and not all from i + 1 on. */
static double expected_least(const double *sorted, size_t count, size_t drawn)
{
    double all_from_here = 1, sum = 0;

    for (size_t i = 0; i < count && all_from_here > 0; i++) {
        double left = (double)(count - i);
        double all_from_next = all_from_here * fmax(0, left - (double)drawn) / left;

        sum += (all_from_here - all_from_next) * sorted[i];
        all_from_here = all_from_next;
    }
    return sum;
}

void at_baseline_make(struct at_baseline *baseline, const struct at_recording *recording)
{
    size_t count = recording->space.count, capacity = 0, correct = 0;
    double *sorted = at_alloc_array(count, sizeof *sorted), enough_ns;

    *baseline = (struct at_baseline){0};
    for (size_t i = 0; i < count; i++)
        if (recording->results[i].outcome == AT_CORRECT)
            sorted[correct++] = recording->results[i].time_ns;
    qsort(sorted, correct, sizeof *sorted, by_value);
    baseline->optimum_ns = sorted[0];
    baseline->worst_ns = sorted[correct - 1];
    enough_ns = sorted[correct / 2] - covered * (sorted[correct / 2] - sorted[0]);
    while (correct < count)
        sorted[correct++] = baseline->worst_ns;
    do {
        double least = expected_least(sorted, count, baseline->budget + 1);

        AT_PUSH(baseline->best_ns, baseline->budget, capacity, least);
    } while (baseline->best_ns[baseline->budget - 1] > enough_ns && baseline->budget < count);
    free(sorted);
}

void at_baseline_clear(struct at_baseline *baseline)
{
    free(baseline->best_ns);
    *baseline = (struct at_baseline){0};
}

/* The mean of the courses' best after `evaluations`; a course that has stopped keeps its best. */
static double mean_best(const struct at_baseline *baseline, const struct at_course *courses,
                        size_t count, size_t evaluations)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        size_t at = evaluations < courses[i].count ? evaluations : courses[i].count;
        double best_ns = at > 0 ? courses[i].best_ns[at - 1] : INFINITY;

        sum += isfinite(best_ns) ? best_ns : baseline->worst_ns;
    }
    return sum / (double)count;
}

double at_score(const struct at_baseline *baseline, const struct at_course *courses, size_t count)
{
    double sum = 0;
    size_t points = 0;

    for (size_t i = 0; i < baseline->budget; i++) {
        double gap_ns = baseline->best_ns[i] - baseline->optimum_ns;

        if (gap_ns <= 0)
            continue;
        sum += (baseline->best_ns[i] - mean_best(baseline, courses, count, i + 1)) / gap_ns;
        points++;
    }
    return points > 0 ? sum / (double)points : 1;
}
