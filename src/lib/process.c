/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/process.h"

#include "device/cuda/driver.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn_ended = PTHREAD_COND_INITIALIZER;
static struct autotune_turn *turns; /* that threads have; under the mutex */
static atomic_bool busy;    /* a thread holds the mutex, and may have changed what it protects */
static atomic_bool watched; /* begin_child runs in forked children */
static atomic_bool lost;    /* this is a child in which CUDA does not work */

/* Runs in the child, whose only thread is the one that forked. Running twice does no harm. */
static void begin_child(void)
{
    if (busy || at_cuda.cuInit)
        lost = true;
    busy = false;
    pthread_mutex_init(&mutex, NULL);
}

enum at_status autotune_check_process(struct at_error *err)
{
    if (!atomic_load_explicit(&lost, memory_order_relaxed))
        return AT_OK;
    return at_fail(
        err, AT_DEVICE,
        "this process is a fork of one that used CUDA, which CUDA does not survive: fork "
        "before the first plan, or start the process anew (posix_spawn, or exec)");
}

static void release(void *unused)
{
    (void)unused;
    busy = false;
    pthread_mutex_unlock(&mutex);
}

void autotune_lock_anyway(struct at_cleanup *lock)
{
    /* Before the mutex is taken for the first time. Two threads may both do it. */
    if (!watched && pthread_atfork(NULL, NULL, begin_child) != 0)
        at_out_of_memory();
    watched = true;
    pthread_mutex_lock(&mutex);
    busy = true;
    at_cleanup_push(lock, release, NULL);
}

enum at_status autotune_lock(struct at_cleanup *lock, struct at_error *err)
{
    enum at_status status = autotune_check_process(err);

    if (status == AT_OK)
        autotune_lock_anyway(lock);
    return status;
}

void autotune_unlock(struct at_cleanup *lock)
{
    at_cleanup_pop(lock);
    release(NULL);
}

/* ---- turns ---- */

static bool is_taken(const char *of)
{
    for (const struct autotune_turn *turn = turns; turn; turn = turn->next)
        if (strcmp(turn->of, of) == 0)
            return true;
    return false;
}

static void end_turn(void *data)
{
    struct autotune_turn *turn = data, **place = &turns;
    struct at_cleanup lock;

    autotune_lock_anyway(&lock);
    while (*place != turn)
        place = &(*place)->next;
    *place = turn->next;
    pthread_cond_broadcast(&turn_ended);
    autotune_unlock(&lock);
}

void autotune_turn_take(struct autotune_turn *turn, const char *of)
{
    struct at_cleanup lock;

    autotune_lock_anyway(&lock);
    while (is_taken(of))
        pthread_cond_wait(&turn_ended, &mutex);
    busy = true; /* threads that had the mutex meanwhile have cleared it */
    snprintf(turn->of, sizeof turn->of, "%s", of);
    turn->next = turns;
    turns = turn;
    autotune_unlock(&lock);
    at_cleanup_push(&turn->cleanup, end_turn, turn);
}

void autotune_turn_end(struct autotune_turn *turn)
{
    at_cleanup_pop(&turn->cleanup);
    end_turn(turn);
}
