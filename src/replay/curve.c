/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/curve.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* The ratio of one point of a picture to the point before it. */
static const double step = 1.15;

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

/* How far a search is behind after some evaluations. One that has ended keeps its best. */
static double behind(const struct at_searches *searches, size_t search, size_t evaluations)
{
    const struct at_course *course = &searches->courses[search];
    size_t at = evaluations < course->count ? evaluations : course->count;
    double best_ns = at > 0 ? course->best_ns[at - 1] : INFINITY;

    if (!isfinite(best_ns))
        best_ns = searches->baseline->worst_ns;
    return best_ns / searches->baseline->optimum_ns - 1;
}

/* The value at a share of the sorted ones. */
static int64_t quantile_ppm(const double *sorted, size_t count, double share)
{
    return llround(1e6 * sorted[(size_t)ceil(share * (double)count) - 1]);
}

/* Fill in how far the searches are behind, each after its number of evaluations. */
static void measure(struct at_curve_record *record, const struct at_searches *searches,
                    const size_t *evaluations)
{
    double *values = at_alloc_array(searches->count, sizeof *values), sum = 0;

    for (size_t i = 0; i < searches->count; i++)
        sum += values[i] = behind(searches, i, evaluations[i]);
    qsort(values, searches->count, sizeof *values, by_value);
    record->behind_ppm = llround(1e6 * sum / (double)searches->count);
    record->lower_ppm = quantile_ppm(values, searches->count, 0.25);
    record->median_ppm = quantile_ppm(values, searches->count, 0.5);
    record->upper_ppm = quantile_ppm(values, searches->count, 0.75);
    free(values);
}

static int64_t mean_ms(const struct at_searches *searches, size_t evaluations)
{
    double sum_ns = 0;
    size_t made = 0;

    for (size_t i = 0; i < searches->count; i++) {
        if (searches->courses[i].count < evaluations)
            continue;
        sum_ns += at_course_spent(&searches->courses[i], evaluations);
        made++;
    }
    return made > 0 ? llround(sum_ns / (double)made / 1e6) : 0;
}

struct at_list at_curve_after(const struct at_searches *searches, const size_t *evaluations,
                              size_t count)
{
    struct at_curve_record *points = at_alloc_array(count, sizeof *points);
    size_t *each = at_alloc_array(searches->count, sizeof *each);

    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < searches->count; j++)
            each[j] = evaluations[i];
        points[i].evaluations = (int64_t)evaluations[i];
        points[i].ms = mean_ms(searches, evaluations[i]);
        measure(&points[i], searches, each);
    }
    free(each);
    return (struct at_list){points, count};
}

struct at_list at_curve_within(const struct at_searches *searches, const int64_t *times_ns,
                               size_t count)
{
    struct at_curve_record *points;
    size_t *each;

    if (searches->recording->evaluation_ns == 0)
        return (struct at_list){0};
    points = at_alloc_array(count, sizeof *points);
    each = at_alloc_array(searches->count, sizeof *each);
    for (size_t i = 0; i < count; i++) {
        double sum = 0;

        for (size_t j = 0; j < searches->count; j++)
            sum += (double)(each[j] = at_course_within(&searches->courses[j], (double)times_ns[i]));
        points[i].evaluations = llround(sum / (double)searches->count);
        points[i].ms = llround((double)times_ns[i] / 1e6);
        measure(&points[i], searches, each);
    }
    free(each);
    return (struct at_list){points, count};
}

/* ---- pictures ---- */

struct at_list at_curve_drawn_after(const struct at_searches *searches)
{
    size_t *evaluations = NULL, count = 0, capacity = 0, last = 0, next = 1;
    struct at_list points;

    for (size_t i = 0; i < searches->count; i++)
        last = searches->courses[i].count > last ? searches->courses[i].count : last;
    AT_PUSH(evaluations, count, capacity, next);
    while (next < last) {
        next = (size_t)fmax((double)next + 1, round((double)next * step));
        AT_PUSH(evaluations, count, capacity, next);
    }
    points = at_curve_after(searches, evaluations, count);
    free(evaluations);
    return points;
}

struct at_list at_curve_drawn_within(const struct at_searches *searches)
{
    int64_t *times_ns = NULL, next_ns;
    size_t count = 0, capacity = 0;
    double first_ns = INFINITY, last_ns = 0;
    struct at_list points;

    for (size_t i = 0; i < searches->count; i++) {
        first_ns = fmin(first_ns, at_course_spent(&searches->courses[i], 1));
        last_ns = fmax(last_ns, at_course_spent(&searches->courses[i], SIZE_MAX));
    }
    next_ns = 1000 * 1000 * llround(fmax(1, ceil(first_ns / 1e6)));
    AT_PUSH(times_ns, count, capacity, next_ns);
    while ((double)next_ns < last_ns) {
        next_ns = llround((double)next_ns * step);
        AT_PUSH(times_ns, count, capacity, next_ns);
    }
    points = at_curve_within(searches, times_ns, count);
    free(times_ns);
    return points;
}

/* ---- means ---- */

/* Add up a point of each list; a time of 0 does not count. */
static struct at_curve_record mean_point(const struct at_list *lists, size_t count, size_t place)
{
    struct at_curve_record mean = {0};
    int64_t used = 0, timed = 0;

    for (size_t i = 0; i < count; i++) {
        const struct at_curve_record *points = lists[i].items, *point;

        if (lists[i].count == 0)
            continue;
        point = &points[place < lists[i].count ? place : lists[i].count - 1];
        if (place < lists[i].count)
            mean.evaluations = point->evaluations;
        mean.ms += point->ms;
        mean.behind_ppm += point->behind_ppm;
        mean.lower_ppm += point->lower_ppm;
        mean.median_ppm += point->median_ppm;
        mean.upper_ppm += point->upper_ppm;
        used++;
        timed += point->ms > 0;
    }
    mean.ms /= timed > 0 ? timed : 1;
    mean.behind_ppm /= used;
    mean.lower_ppm /= used;
    mean.median_ppm /= used;
    mean.upper_ppm /= used;
    return mean;
}

struct at_list at_curve_mean(const struct at_list *lists, size_t count)
{
    size_t longest = 0;
    struct at_curve_record *points;

    for (size_t i = 0; i < count; i++)
        longest = lists[i].count > longest ? lists[i].count : longest;
    if (longest == 0)
        return (struct at_list){0};
    points = at_alloc_array(longest, sizeof *points);
    for (size_t i = 0; i < longest; i++)
        points[i] = mean_point(lists, count, i);
    return (struct at_list){points, longest};
}
