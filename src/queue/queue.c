/* SPDX-License-Identifier: Apache-2.0 */
#include "queue/parts.h"

#include "base/clock.h"
#include "base/integer.h"
#include "base/memory.h"
#include "system/interrupt.h"

#include <stdlib.h>

/* A problem that this many tuners failed on is not given out again: it may be the reason. */
enum { LOSSES_MAX = 2 };

enum job_state { WAITING, TAKEN, FINISHED };

struct job {
    enum job_state state;
    size_t tuner;   /* that has it, or had it last */
    int64_t *known; /* by tuner: measurements */
    size_t size;    /* its place in the list of sizes */
    int losses;
};

/* The problems of as many bytes. */
struct size {
    int64_t bytes;
    size_t waiting;
    bool *had; /* by tuner */
    bool begun;
};

struct at_queue {
    const struct at_problem *problems;
    struct job *jobs;
    struct size *sizes;
    size_t count, tuners, size_count, finished;
};

/* Does its search take long? Where one side is short, fewer kernels suit, and a search takes about
 * half as long as elsewhere. The number of bytes matters little. */
static bool takes_long(const struct at_problem *problem)
{
    enum { SHORT_SIDE = 64 };

    return problem->rows > SHORT_SIDE && problem->cols > SHORT_SIDE;
}

static size_t find_size(struct at_queue *queue, int64_t bytes)
{
    for (size_t i = 0; i < queue->size_count; i++)
        if (queue->sizes[i].bytes == bytes)
            return i;
    queue->sizes[queue->size_count] =
        (struct size){.bytes = bytes, .had = at_alloc_array(queue->tuners, sizeof(bool))};
    return queue->size_count++;
}

struct at_queue *at_queue_new(const struct at_problem *problems, size_t count, size_t tuners)
{
    struct at_queue *queue = at_alloc(sizeof *queue);

    *queue = (struct at_queue){
        .problems = problems,
        .jobs = at_alloc_array(count, sizeof *queue->jobs),
        .sizes = at_alloc_array(count, sizeof *queue->sizes),
        .count = count,
        .tuners = tuners,
    };
    for (size_t i = 0; i < count; i++) {
        struct job *job = &queue->jobs[i];

        *job = (struct job){.known = at_alloc_array(tuners, sizeof *job->known),
                            .size = find_size(queue, at_problem_bytes(&problems[i]))};
        queue->sizes[job->size].waiting++;
    }
    return queue;
}

void at_queue_free(struct at_queue *queue)
{
    if (!queue)
        return;
    for (size_t i = 0; i < queue->size_count; i++)
        free(queue->sizes[i].had);
    for (size_t i = 0; i < queue->count; i++)
        free(queue->jobs[i].known);
    free(queue->sizes);
    free(queue->jobs);
    free(queue);
}

void at_queue_set_known(struct at_queue *queue, size_t problem, size_t tuner, int64_t measurements)
{
    queue->jobs[problem].known[tuner] = measurements;
}

void at_queue_forget(struct at_queue *queue, size_t tuner)
{
    for (size_t i = 0; i < queue->count; i++)
        queue->jobs[i].known[tuner] = 0;
}

/* ---- taking a job ---- */

/* Is another tuner working on a problem of this element size? It compiles the kernels that this one
 * would compile too. */
static bool is_compiled_elsewhere(const struct at_queue *queue, size_t tuner, int64_t elem_size)
{
    for (size_t i = 0; i < queue->count; i++)
        if (queue->jobs[i].state == TAKEN && queue->jobs[i].tuner != tuner &&
            queue->problems[i].elem_size == elem_size)
            return true;
    return false;
}

/* What decides which problem a tuner gets, the most important first. */
enum { BY_JOURNAL, BY_SIZE, BY_LENGTH, BY_WAITING, BY_KIND, BY_BYTES, ORDERS };

struct priority {
    int64_t of[ORDERS];
};

static struct priority priority_of(const struct at_queue *queue, size_t problem, size_t tuner)
{
    const struct job *job = &queue->jobs[problem];
    const struct size *size = &queue->sizes[job->size];
    bool mine = size->had[tuner];

    return (struct priority){{
        [BY_JOURNAL] = job->known[tuner] > 0,
        [BY_SIZE] = mine          ? 2
                    : size->begun ? 0
                                  : 1,
        [BY_LENGTH] = takes_long(&queue->problems[problem]),
        [BY_WAITING] = mine ? 0 : (int64_t)size->waiting,
        [BY_KIND] = !is_compiled_elsewhere(queue, tuner, queue->problems[problem].elem_size),
        [BY_BYTES] = size->bytes,
    }};
}

static bool is_higher(const struct priority *a, const struct priority *b)
{
    for (int i = 0; i < ORDERS; i++)
        if (a->of[i] != b->of[i])
            return a->of[i] > b->of[i];
    return false;
}

static bool may_take(const struct at_queue *queue, const struct job *job, size_t tuner)
{
    for (size_t i = 0; i < queue->tuners; i++)
        if (job->known[i] > job->known[tuner])
            return false;
    return job->state == WAITING;
}

static size_t choose(const struct at_queue *queue, size_t tuner)
{
    size_t best = AT_NO_JOB;
    struct priority best_priority;

    for (size_t i = 0; i < queue->count; i++) {
        struct priority priority;

        if (!may_take(queue, &queue->jobs[i], tuner))
            continue;
        if (queue->tuners == 1)
            return i;
        priority = priority_of(queue, i, tuner);
        if (best == AT_NO_JOB || is_higher(&priority, &best_priority)) {
            best = i;
            best_priority = priority;
        }
    }
    return best;
}

size_t at_queue_take(struct at_queue *queue, size_t tuner)
{
    size_t chosen = choose(queue, tuner);
    struct job *job;
    struct size *size;

    if (chosen == AT_NO_JOB)
        return AT_NO_JOB;
    job = &queue->jobs[chosen];
    size = &queue->sizes[job->size];
    job->state = TAKEN;
    job->tuner = tuner;
    size->waiting--;
    size->had[tuner] = size->begun = true;
    return chosen;
}

void at_queue_finish(struct at_queue *queue, size_t problem)
{
    queue->jobs[problem].state = FINISHED;
    queue->finished++;
}

size_t at_queue_taken_by(const struct at_queue *queue, size_t tuner)
{
    for (size_t i = 0; i < queue->count; i++)
        if (queue->jobs[i].state == TAKEN && queue->jobs[i].tuner == tuner)
            return i;
    return AT_NO_JOB;
}

void at_queue_put_back(struct at_queue *queue, size_t problem)
{
    struct job *job = &queue->jobs[problem];

    job->state = WAITING;
    queue->sizes[job->size].waiting++;
}

bool at_queue_return(struct at_queue *queue, size_t problem)
{
    if (++queue->jobs[problem].losses == LOSSES_MAX) {
        at_queue_finish(queue, problem);
        return false;
    }
    at_queue_put_back(queue, problem);
    return true;
}

bool at_queue_has_job(const struct at_queue *queue, size_t tuner)
{
    return choose(queue, tuner) != AT_NO_JOB;
}

size_t at_queue_unfinished(const struct at_queue *queue)
{
    return queue->count - queue->finished;
}

/* ---- which problem a process gets, with how much of the budget, and what came of it ---- */

bool at_tuning_is_over(const struct at_tuning *run)
{
    const struct at_run_budget *whole = &run->options->budget;

    return at_interrupt_seen() || (whole->ns > 0 && at_now_ns() - run->started_ns >= whole->ns) ||
           (whole->evaluations > 0 && run->evaluations >= whole->evaluations);
}

size_t at_tuning_unfinished(const struct at_tuning *run)
{
    size_t open = 0;

    for (size_t i = 0; i < run->models; i++)
        open += at_queue_unfinished(run->queues[i]);
    return open;
}

/* Give each problem an equal share of the evaluations, whenever and wherever it is tuned, and each
 * that is not finished an equal share of the remaining time. */
static struct at_budget share_of_budget(const struct at_tuning *run,
                                        const struct at_tuner_process *process, size_t problem)
{
    /* The shoot-out takes a quarter of a second after the search. */
    static const int64_t shootout_ns = 250000000;
    const struct at_tuning_options *options = run->options;
    const struct at_run_budget *whole = &options->budget;
    struct at_budget share = {0};

    if (whole->ns > 0) {
        int64_t now_ns = at_now_ns(), count = (int64_t)run->count;
        int64_t rounds = ((int64_t)at_tuning_unfinished(run) + count - 1) / count;
        int64_t share_ns = (whole->ns - (now_ns - run->started_ns)) / rounds - shootout_ns;

        share.ends_ns = now_ns + (share_ns > 0 ? share_ns : 1);
    }
    if (whole->evaluations > 0) {
        int64_t of = (int64_t)(options->problem_count * run->models);
        int64_t place = (int64_t)(process->model * options->problem_count + problem);

        share.evaluations = whole->evaluations * (place + 1) / of - whole->evaluations * place / of;
        if (share.evaluations < 1)
            share.evaluations = 1;
    }
    if (whole->problem_ns > 0)
        share.ends_ns = at_min_known(share.ends_ns, at_now_ns() + whole->problem_ns);
    share.evaluations = at_min_known(share.evaluations, whole->problem_evaluations);
    return share;
}

void at_tuning_take_job(struct at_tuning *run, struct at_tuner_process *process, bool reserve,
                        struct at_tuning_job *job)
{
    *job = (struct at_tuning_job){.problem = AT_NO_JOB,
                                  .of = run->options->problem_count * run->models};
    if (at_tuning_is_over(run))
        return;
    if (process->reserved == AT_NO_JOB)
        process->reserved = at_queue_take(run->queues[process->model], process->place);
    job->problem = process->reserved;
    if (process->reserved == AT_NO_JOB)
        return;
    job->number = run->begun + 1;
    job->budget = share_of_budget(run, process, process->reserved);
    if (!reserve) {
        run->begun++;
        process->reserved = AT_NO_JOB;
    }
}

void at_tuning_take_result(struct at_tuning *run, struct at_tuner_process *process,
                           struct at_tuned *tuned)
{
    struct at_list *problems = &process->record.problems;
    const struct at_list before = *problems;
    struct at_entry *entries = before.items;

    run->evaluations += tuned->evaluations;
    process->record = tuned->record;
    *problems = before;
    at_queue_finish(run->queues[process->model], tuned->problem);
    run->finished++;
    if (tuned->status == AT_OK) {
        AT_PUSH(entries, problems->count, process->capacity, *tuned->entry);
        problems->items = entries;
    } else if (tuned->status == AT_INTERRUPTED) {
        run->skipped++; /* the budget or a signal ended it before anything was measured */
    } else {
        at_warn(run->progress, "%s", tuned->message);
        run->failed++;
    }
}
