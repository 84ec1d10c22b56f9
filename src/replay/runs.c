/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/runs.h"

#include "base/memory.h"

#include <pthread.h>
#include <stdlib.h>

struct work {
    const struct at_replay_runs *runs;
    struct at_course *courses;
    pthread_mutex_t lock; /* for all below, and for done() */
    size_t next;
    enum at_status status; /* the first failure, with its message */
    struct at_error err;
};

/* Take the number of the next run; false: all are taken, or one has failed. */
static bool take(struct work *work, size_t *number)
{
    bool taken;

    pthread_mutex_lock(&work->lock);
    taken = work->next < work->runs->count && work->status == AT_OK;
    if (taken)
        *number = work->next++;
    pthread_mutex_unlock(&work->lock);
    return taken;
}

static void *replay(void *data)
{
    struct work *work = data;
    const struct at_replay_runs *runs = work->runs;
    size_t number;

    while (take(work, &number)) {
        struct at_replay_plan plan = *runs->plan;
        struct at_error err = {AT_OK, ""};
        enum at_status status;

        plan.start.seed += number;
        status = at_replay(&work->courses[number], runs->recording, &plan, &err);
        pthread_mutex_lock(&work->lock);
        if (status != AT_OK && work->status == AT_OK) {
            work->status = status;
            work->err = err;
        }
        if (runs->done)
            runs->done(runs->data);
        pthread_mutex_unlock(&work->lock);
    }
    return NULL;
}

enum at_status at_replay_runs(struct at_course *courses, const struct at_replay_runs *runs,
                              struct at_error *err)
{
    struct work work = {.runs = runs, .courses = courses};
    size_t wanted = runs->threads > 1 ? (size_t)runs->threads : 1, started = 0;
    pthread_t *threads;

    wanted = wanted < runs->count ? wanted : runs->count;
    threads = at_alloc_array(wanted, sizeof *threads);
    pthread_mutex_init(&work.lock, NULL);
    /* This thread works too, so the work is done even if the system refuses all others. */
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, replay, &work) == 0)
        started++;
    replay(&work);
    while (started > 0)
        pthread_join(threads[--started], NULL);
    pthread_mutex_destroy(&work.lock);
    free(threads);
    if (work.status == AT_OK)
        return AT_OK;
    for (size_t i = 0; i < runs->count; i++)
        at_course_clear(&courses[i]);
    if (err)
        *err = work.err;
    return work.status;
}
