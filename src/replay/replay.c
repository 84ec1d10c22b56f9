/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

/* ---- the performance score ---- */

/* The share of the gap from median to optimum at which the budget ends. */
static const double covered = 0.95;

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

/* The best after `evaluations`. A course that has stopped keeps its best. */
static double best_after(const struct at_baseline *baseline, const struct at_course *course,
                         size_t evaluations)
{
    size_t at = evaluations < course->count ? evaluations : course->count;
    double best_ns = at > 0 ? course->best_ns[at - 1] : INFINITY;

    return isfinite(best_ns) ? best_ns : baseline->worst_ns;
}

/* The mean of the courses' best after `evaluations`. */
static double mean_best(const struct at_baseline *baseline, const struct at_course *courses,
                        size_t count, size_t evaluations)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += best_after(baseline, &courses[i], evaluations);
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

/* ---- a search ---- */

struct replay {
    const struct at_recording *recording;
    const struct at_replay_plan *plan;
    void *strategy;
    bool *asked;
    size_t *waiting; /* requested and without a result, oldest first: a ring buffer */
    size_t first, count;
    struct at_course *course;
    size_t capacity, spent_capacity;
    double best_ns, spent_ns;
};

static enum at_status take(struct replay *replay, size_t index, struct at_error *err)
{
    const struct at_replay_plan *plan = replay->plan;

    if (index >= replay->recording->space.count || replay->asked[index])
        return at_fail(err, AT_INTERNAL, "%s asked for config %zu of %zu%s", plan->strategy->name,
                       index, replay->recording->space.count,
                       index < replay->recording->space.count ? " a second time" : "");
    replay->asked[index] = true;
    replay->waiting[(replay->first + replay->count++) % plan->ahead] = index;
    return AT_OK;
}

/* Ask while there is room, as the pipeline does. */
static enum at_status fill(struct replay *replay, struct at_error *err)
{
    const struct at_replay_plan *plan = replay->plan;
    enum at_status status = AT_OK;
    size_t index;

    while (status == AT_OK && replay->count < plan->ahead &&
           (plan->budget == 0 || replay->course->count + replay->count < plan->budget) &&
           plan->strategy->ask(replay->strategy, &index))
        status = take(replay, index, err);
    return status;
}

static void tell_oldest(struct replay *replay)
{
    size_t index = replay->waiting[replay->first];
    const struct at_recorded *result = &replay->recording->results[index];
    struct at_course *course = replay->course;
    size_t told = course->count;

    replay->first = (replay->first + 1) % replay->plan->ahead;
    replay->count--;
    if (result->outcome == AT_CORRECT && result->time_ns < replay->best_ns)
        replay->best_ns = result->time_ns;
    replay->spent_ns += (double)at_recording_cost(replay->recording, index);
    AT_PUSH(course->best_ns, course->count, replay->capacity, replay->best_ns);
    AT_PUSH(course->spent_ns, told, replay->spent_capacity, replay->spent_ns);
    replay->plan->strategy->tell(replay->strategy, index, result->outcome, result->time_ns);
}

enum at_status at_replay(struct at_course *course, const struct at_recording *recording,
                         const struct at_replay_plan *plan, struct at_error *err)
{
    const struct at_strategy *strategy = plan->strategy;
    double optimum_ns = recording->results[recording->best].time_ns;
    struct replay replay = {
        .recording = recording, .plan = plan, .course = course, .best_ns = INFINITY};
    enum at_status status = AT_OK;

    *course = (struct at_course){0};
    replay.strategy = strategy->create(&recording->space, &plan->start);
    replay.asked = at_alloc_array(recording->space.count, sizeof *replay.asked);
    replay.waiting = at_alloc_array(plan->ahead, sizeof *replay.waiting);
    while (status == AT_OK && (strategy->reason || replay.best_ns > optimum_ns)) {
        status = fill(&replay, err);
        if (status != AT_OK || replay.count == 0)
            break;
        tell_oldest(&replay);
    }
    if (status == AT_OK && strategy->reason)
        course->reason = strategy->reason(replay.strategy);
    strategy->destroy(replay.strategy);
    free(replay.waiting);
    free(replay.asked);
    if (status != AT_OK)
        at_course_clear(course);
    return status;
}

void at_course_clear(struct at_course *course)
{
    free(course->best_ns);
    free(course->spent_ns);
    *course = (struct at_course){0};
}

/* The evaluations until the best is at most `enough_ns`; SIZE_MAX: never. */
static size_t count_until(const struct at_course *course, double enough_ns)
{
    for (size_t i = 0; i < course->count; i++)
        if (course->best_ns[i] <= enough_ns)
            return i + 1;
    return SIZE_MAX;
}

size_t at_course_found(const struct at_course *course)
{
    double best_ns = course->count > 0 ? course->best_ns[course->count - 1] : INFINITY;

    return isinf(best_ns) ? 0 : count_until(course, best_ns);
}

size_t at_course_reach(const struct at_course *course, const struct at_recording *recording,
                       double percent)
{
    return count_until(course, recording->results[recording->best].time_ns * (1 + percent / 100));
}

double at_course_spent(const struct at_course *course, size_t evaluations)
{
    if (evaluations > course->count)
        evaluations = course->count;
    return evaluations > 0 ? course->spent_ns[evaluations - 1] : 0;
}

size_t at_course_within(const struct at_course *course, double ns)
{
    size_t low = 0, high = course->count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (course->spent_ns[middle] <= ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* ---- curves ---- */

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
        sum += values[i] = best_after(searches->baseline, &searches->courses[i], evaluations[i]) /
                               searches->baseline->optimum_ns -
                           1;
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

/* The ratio of one point to the point before it. */
static const double step = 1.15;

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
