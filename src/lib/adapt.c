/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/adapt.h"

#include "base/memory.h"
#include "base/stats.h"
#include "lib/info.h"
#include "lib/log.h"
#include "lib/process.h"
#include "measure/race.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

/* Rivals leave when every racer has ROUNDS_LEAST samples. None gets more than ROUNDS_MAX. With
 * eight rivals that takes about LAUNCHES_MAX launches. Later ones are not timed. */
enum { ROUNDS_LEAST = 3, ROUNDS_MAX = 9, LAUNCHES_MAX = 63 };

/* Events resolve half a microsecond, and a caller that waits for each launch leaves a gap between
 * the event and its kernel. So a rival has to gain more where kernels are short. */
static const double short_ns = 50000, short_gain_ns = 1000;

/* Racers are numbered as in a race (measure/race.h): the looked-up kernel, a copy, which never
 * runs, and the rivals. */
enum { RACERS_MAX = AUTOTUNE_VERIFIED_MAX + AT_RACE_RIVALS - 1, NOBODY = RACERS_MAX };

struct autotune_timed_launch {
    CUevent before, after;
    size_t racer;
    bool started, done;
};

struct autotune_adaptation {
    struct autotune_context context;
    struct autotune_kernel kernels[AUTOTUNE_VERIFIED_MAX];
    autotune_info infos[AUTOTUNE_VERIFIED_MAX]; /* with texts of their own */
    char *descriptions[AUTOTUNE_VERIFIED_MAX];
    size_t count;
    atomic_size_t winner; /* a racer's number; NOBODY: not known yet */

    pthread_mutex_t lock; /* for all below */
    struct at_race race;
    struct at_racer racers[RACERS_MAX];
    size_t issued_of[RACERS_MAX], samples_of[RACERS_MAX];
    struct autotune_timed_launch launches[LAUNCHES_MAX]; /* in their order; each runs once */
    size_t issued, done;
};

/* Return the number of a racer's kernel. While nobody has won, it is 0, the looked-up one. */
static size_t kernel_of(size_t racer)
{
    return racer < AT_RACE_RIVALS || racer == NOBODY ? 0 : racer - AT_RACE_RIVALS + 1;
}

/* ---- making ---- */

static enum at_status make_events(struct autotune_adaptation *adaptation, struct at_error *err)
{
    CUresult result = CUDA_SUCCESS;

    for (size_t i = 0; i < LAUNCHES_MAX && result == CUDA_SUCCESS; i++) {
        struct autotune_timed_launch *launch = &adaptation->launches[i];

        result = at_cuda.cuEventCreate(&launch->before, CU_EVENT_DEFAULT);
        if (result == CUDA_SUCCESS)
            result = at_cuda.cuEventCreate(&launch->after, CU_EVENT_DEFAULT);
    }
    return autotune_check_cuda(result, "making events", err);
}

/* Write what is told of each kernel. A launch that settles the race allocates nothing. */
static enum at_status describe_all(struct autotune_adaptation *adaptation,
                                   const struct autotune_answer *asked,
                                   const struct autotune_verified *verified, struct at_error *err)
{
    struct autotune_answer *answer = at_alloc(sizeof *answer);
    enum at_status status = AT_OK;

    answer->problem = asked->problem;
    answer->device = asked->device;
    snprintf(answer->policy, sizeof answer->policy, "%s", asked->policy);
    for (size_t i = 0; i < verified->count && status == AT_OK; i++) {
        answer->answer = verified->answers[i];
        status = autotune_write_answer(&adaptation->descriptions[i], answer, false, err);
        if (status == AT_OK)
            autotune_tell_own(&adaptation->infos[i], answer);
    }
    at_free(answer);
    return status;
}

static enum at_status load_all(struct autotune_adaptation *adaptation,
                               const struct autotune_answer *asked,
                               const struct autotune_verified *verified, struct at_error *err)
{
    struct at_config configs[AUTOTUNE_VERIFIED_MAX];

    for (size_t i = 0; i < verified->count; i++)
        configs[i] = verified->answers[i].config;
    return autotune_kernels_load(adaptation->kernels, configs, verified->count, asked,
                                 &adaptation->context, err);
}

static void line_up(struct autotune_adaptation *adaptation)
{
    adaptation->winner = NOBODY;
    adaptation->race = (struct at_race){
        .racers = adaptation->racers,
        .count = adaptation->count + AT_RACE_RIVALS - 1,
    };
    for (size_t i = 0; i < adaptation->race.count; i++)
        adaptation->racers[i].racing = i != AT_RACE_COPY;
}

enum at_status autotune_adaptation_new(struct autotune_adaptation **made,
                                       const struct autotune_answer *asked,
                                       const struct autotune_verified *verified,
                                       const struct autotune_context *context, struct at_error *err)
{
    struct autotune_adaptation *adaptation = *made = at_alloc(sizeof *adaptation);
    enum at_status status;

    pthread_mutex_init(&adaptation->lock, NULL);
    adaptation->context = *context;
    adaptation->count = verified->count;
    line_up(adaptation);
    status = describe_all(adaptation, asked, verified, err);
    if (status == AT_OK)
        status = make_events(adaptation, err);
    return status == AT_OK ? load_all(adaptation, asked, verified, err) : status;
}

static void free_events(struct autotune_adaptation *adaptation)
{
    bool entered;

    if (!autotune_context_exists(&adaptation->context) ||
        autotune_enter(&adaptation->context, &entered, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < LAUNCHES_MAX; i++) {
        if (adaptation->launches[i].before)
            at_cuda.cuEventDestroy(adaptation->launches[i].before);
        if (adaptation->launches[i].after)
            at_cuda.cuEventDestroy(adaptation->launches[i].after);
    }
    autotune_leave(entered);
}

void autotune_adaptation_unload(struct autotune_adaptation *adaptation, bool captured)
{
    if (!adaptation)
        return;
    for (size_t i = 0; i < adaptation->count; i++) {
        struct autotune_kernel *kernel = &adaptation->kernels[i];

        autotune_module_drop(kernel->module, captured && adaptation->winner != NOBODY &&
                                                 i == kernel_of(adaptation->winner));
        kernel->module = NULL;
    }
    free_events(adaptation);
}

void autotune_adaptation_free(struct autotune_adaptation *adaptation)
{
    if (!adaptation)
        return;
    for (size_t i = 0; i < adaptation->count; i++) {
        autotune_info_clear(&adaptation->infos[i]);
        at_free(adaptation->descriptions[i]);
    }
    pthread_mutex_destroy(&adaptation->lock);
    at_free(adaptation);
}

/* ---- the race, under the lock ---- */

static size_t least_samples(const struct autotune_adaptation *adaptation)
{
    size_t least = ROUNDS_MAX;

    for (size_t i = 0; i < adaptation->race.count; i++)
        if (adaptation->racers[i].racing && adaptation->samples_of[i] < least)
            least = adaptation->samples_of[i];
    return least;
}

static void take_sample(struct autotune_adaptation *adaptation, size_t racer, double ns)
{
    size_t before = least_samples(adaptation), rounds;

    adaptation->racers[racer].ns[adaptation->samples_of[racer]++] = ns;
    rounds = least_samples(adaptation);
    if (rounds > before && rounds >= ROUNDS_LEAST)
        at_race_thin_out(&adaptation->race, rounds);
}

/* Has the launch ended? Then take its time. What fails takes no part any more. */
static void look_at(struct autotune_adaptation *adaptation, struct autotune_timed_launch *launch)
{
    float ms = 0;
    CUresult result = at_cuda.cuEventQuery(launch->after);

    if (result == CUDA_ERROR_NOT_READY)
        return;
    if (result == CUDA_SUCCESS)
        result = at_cuda.cuEventElapsedTime(&ms, launch->before, launch->after);
    if (result == CUDA_SUCCESS)
        take_sample(adaptation, launch->racer, 1e6 * (double)ms);
    else
        adaptation->racers[launch->racer].racing = false;
    launch->done = true;
    adaptation->done++;
}

/* Look at launches that have not been seen to end, but for those behind the first that has not: in
 * one stream they have not either. Asking breaks a capture that another thread has begun in its
 * strictest mode, unless this thread is in the mode that allows all. */
static void look_at_all(struct autotune_adaptation *adaptation)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;

    if (at_cuda.cuThreadExchangeStreamCaptureMode(&mode) != CUDA_SUCCESS)
        return;
    for (size_t i = 0; i < adaptation->issued; i++) {
        struct autotune_timed_launch *launch = &adaptation->launches[i];

        if (launch->started && !launch->done)
            look_at(adaptation, launch);
        if (launch->started && !launch->done)
            break;
    }
    at_cuda.cuThreadExchangeStreamCaptureMode(&mode);
}

/* Who has run least often is next. Every other round runs backwards, so that none always follows
 * the same. NOBODY: all have run often enough. */
static size_t next_racer(const struct autotune_adaptation *adaptation)
{
    size_t next = NOBODY, least = ROUNDS_MAX;

    for (size_t i = 0; i < adaptation->race.count; i++)
        if (adaptation->racers[i].racing && adaptation->issued_of[i] < least)
            least = adaptation->issued_of[i];
    for (size_t i = 0; i < adaptation->race.count && least < ROUNDS_MAX; i++)
        if (adaptation->racers[i].racing && adaptation->issued_of[i] == least &&
            (next == NOBODY || least % 2))
            next = i;
    return adaptation->issued < LAUNCHES_MAX ? next : NOBODY;
}

/* Who stays, by as many samples as all have? */
static size_t judge(struct autotune_adaptation *adaptation)
{
    const double *samples_ns[RACERS_MAX];
    size_t places[RACERS_MAX], count = 0, rounds = least_samples(adaptation);
    struct at_racer *racers = adaptation->racers;
    double gain_ns;

    if (rounds < ROUNDS_LEAST || !racers[AT_RACE_INCUMBENT].racing)
        return AT_RACE_INCUMBENT;
    gain_ns = at_median(racers[AT_RACE_INCUMBENT].ns, rounds) < short_ns ? short_gain_ns : 0;
    for (size_t i = 0; i < adaptation->race.count; i++) {
        for (size_t k = 0; i >= AT_RACE_RIVALS && k < rounds; k++)
            racers[i].ns[k] += gain_ns;
        places[count] = i;
        samples_ns[count] = racers[i].ns;
        count += racers[i].racing;
    }
    return places[at_race_winner(samples_ns, count, rounds, true)];
}

static void settle(struct autotune_adaptation *adaptation)
{
    size_t winner = judge(adaptation);

    adaptation->race.rounds = least_samples(adaptation);
    atomic_store_explicit(&adaptation->winner, winner, memory_order_release);
}

/* ---- launches ---- */

const struct autotune_kernel *autotune_adapted(const struct autotune_adaptation *adaptation)
{
    size_t winner = atomic_load_explicit(&adaptation->winner, memory_order_acquire);

    return winner == NOBODY ? NULL : &adaptation->kernels[kernel_of(winner)];
}

/* Take the next launch that is timed; NULL: there is none. */
static struct autotune_timed_launch *take_launch(struct autotune_adaptation *adaptation)
{
    struct autotune_timed_launch *launch = NULL;
    size_t racer = next_racer(adaptation);

    if (racer != NOBODY) {
        launch = &adaptation->launches[adaptation->issued++];
        launch->racer = racer;
        adaptation->issued_of[racer]++;
    } else if (adaptation->done == adaptation->issued) {
        settle(adaptation);
    }
    return launch;
}

struct autotune_passing autotune_pass(struct autotune_adaptation *adaptation, CUstream stream)
{
    struct autotune_passing passing = {&adaptation->kernels[0], NULL};
    bool settled;

    pthread_mutex_lock(&adaptation->lock);
    settled = adaptation->winner != NOBODY;
    if (!settled) {
        look_at_all(adaptation);
        passing.timed = take_launch(adaptation);
    }
    settled = !settled && adaptation->winner != NOBODY;
    pthread_mutex_unlock(&adaptation->lock);
    if (passing.timed) {
        passing.kernel = &adaptation->kernels[kernel_of(passing.timed->racer)];
        at_cuda.cuEventRecordWithFlags(passing.timed->before, stream, CU_EVENT_RECORD_DEFAULT);
    } else if (autotune_adapted(adaptation)) {
        passing.kernel = autotune_adapted(adaptation);
    }
    if (settled)
        autotune_log(AUTOTUNE_LOG_INFO, "a plan has adapted: %s %s stays",
                     autotune_adaptation_info(adaptation, NULL)->family,
                     autotune_adaptation_info(adaptation, NULL)->config);
    return passing;
}

void autotune_passed(struct autotune_adaptation *adaptation, const struct autotune_passing *passing,
                     CUstream stream, CUresult result)
{
    struct autotune_timed_launch *timed = passing->timed;

    if (!timed)
        return;
    if (result == CUDA_SUCCESS)
        result = at_cuda.cuEventRecordWithFlags(timed->after, stream, CU_EVENT_RECORD_DEFAULT);
    pthread_mutex_lock(&adaptation->lock);
    timed->started = true;
    if (result != CUDA_SUCCESS) {
        adaptation->racers[timed->racer].racing = false;
        timed->done = true;
        adaptation->done++;
    }
    pthread_mutex_unlock(&adaptation->lock);
}

/* ---- what is told ---- */

const autotune_info *autotune_adaptation_info(const struct autotune_adaptation *adaptation,
                                              int64_t *rivals)
{
    size_t winner = atomic_load_explicit(&adaptation->winner, memory_order_acquire);

    if (rivals)
        *rivals = winner == NOBODY ? (int64_t)adaptation->count - 1 : 0;
    return &adaptation->infos[kernel_of(winner)];
}

size_t autotune_adaptation_describe(const struct autotune_adaptation *adaptation, char *text,
                                    size_t capacity)
{
    size_t winner = atomic_load_explicit(&adaptation->winner, memory_order_acquire);
    char line[160];

    if (winner == NOBODY)
        snprintf(line, sizeof line, "  adapts     the first launches time %zu rivals\n",
                 adaptation->count - 1);
    else
        snprintf(line, sizeof line,
                 "  adapted    the best of %zu configs by %zu launches of each\n",
                 adaptation->count, adaptation->race.rounds);
    return (size_t)snprintf(text, text ? capacity : 0, "%s%s",
                            adaptation->descriptions[kernel_of(winner)], line);
}
