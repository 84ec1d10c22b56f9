/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/replay.h"

#include "base/memory.h"

#include <math.h>
#include <stdlib.h>

struct replay {
    const struct at_recording *recording;
    const struct at_replay_plan *plan;
    void *strategy;
    bool *asked;
    size_t *waiting; /* asked and not told, oldest first: a ring */
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

size_t at_course_reach(const struct at_course *course, const struct at_recording *recording,
                       double percent)
{
    double enough_ns = recording->results[recording->best].time_ns * (1 + percent / 100);

    for (size_t i = 0; i < course->count; i++)
        if (course->best_ns[i] <= enough_ns)
            return i + 1;
    return SIZE_MAX;
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
