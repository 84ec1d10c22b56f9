/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the queue share. */
#ifndef AT_QUEUE_PARTS_H
#define AT_QUEUE_PARTS_H

#include "queue/queue.h"
#include "queue/run.h"
#include "queue/tuner.h"
#include "worker/worker.h"

/* A tuner as the driver sees it. */
struct at_tuner_process {
    struct at_tuner tuner;
    char what[AT_PROGRESS_WHAT]; /* the problem that it has last told of; "": none */
    struct at_progress_state shown;
    char *journal;
    struct at_worker worker;
    size_t model;
    size_t place;    /* in the model's queue */
    size_t reserved; /* the problem that it was told to be next; AT_NO_JOB: none */
    bool opened;
    bool waits;      /* for a problem */
    size_t *told;    /* by process: how many of its entries this one knows */
    size_t capacity; /* of the record's entries */
    struct at_device_record record;
};

/* A device that several tuners share. */
struct at_shared_device {
    struct at_device_lock *lock;
    struct at_turns *turns;
};

struct at_tuning {
    const struct at_tuning_options *options;
    struct at_shared_device *shared; /* by device */
    struct at_progress *progress;
    struct at_tuner_process *processes;
    size_t count, models;
    struct at_queue **queues; /* by model */
    int64_t started_ns, evaluations;
    size_t begun, finished;  /* problems */
    size_t failed;           /* without a correct config */
    struct at_error failure; /* a model has no device left; status AT_OK: none */
    size_t skipped;          /* whose share of the budget was too small */
};

/* Is no more problem to be begun, because the budget is spent or the user has interrupted? */
bool at_tuning_is_over(const struct at_tuning *run);

/* Return how many problems are not finished. */
size_t at_tuning_unfinished(const struct at_tuning *run);

/* Give a job to a process, or with `reserve` only tell which it will be given next. The problem is
 * AT_NO_JOB if none waits or nothing more is to be begun. */
void at_tuning_take_job(struct at_tuning *run, struct at_tuner_process *process, bool reserve,
                        struct at_tuning_job *job);

/* Take what came of a problem. The entry moves to the process's record. */
void at_tuning_take_result(struct at_tuning *run, struct at_tuner_process *process,
                           struct at_tuned *tuned);

/* ---- driver.c ---- */

/* Run each tuner in a process of its own. Fails as at_tuning_run does. */
enum at_status at_tuning_drive(struct at_tuning *run, struct at_error *err);

#endif
