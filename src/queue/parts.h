/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the queue share. */
#ifndef AT_QUEUE_PARTS_H
#define AT_QUEUE_PARTS_H

#include "queue/run.h"
#include "worker/worker.h"

/* ---- a job queue: which tuner tunes which problem ---- */

/* The tuners of a queue have devices of one model, and each problem goes to one of them. */
struct at_queue;

/* No problem. */
#define AT_NO_JOB SIZE_MAX

/* Make a queue of all problems, which are borrowed. */
struct at_queue *at_queue_new(const struct at_problem *problems, size_t count, size_t tuners);

void at_queue_free(struct at_queue *queue);

/* The tuner knows this many measurements of the problem. It is given only to those that know
 * most of it, so that none is made twice while one of them lives. */
void at_queue_set_known(struct at_queue *queue, size_t problem, size_t tuner, int64_t measurements);

/* The tuner is gone, with what it knows. */
void at_queue_forget(struct at_queue *queue, size_t tuner);

/* Give a problem to the tuner and return its index. AT_NO_JOB: none waits for it.
 *
 * A single tuner gets the problems in the order of the list. Several get those first that
 * probably take longest. A tuner prefers problems of as many bytes as it has had, because it knows
 * the best copies of that size; then sizes that no other tuner has had. */
size_t at_queue_take(struct at_queue *queue, size_t tuner);

/* The problem is tuned, or found to have no correct config. */
void at_queue_finish(struct at_queue *queue, size_t problem);

/* The problem was taken for nothing, and waits again. */
void at_queue_put_back(struct at_queue *queue, size_t problem);

/* Return a problem that the tuner has taken and not finished. AT_NO_JOB: there is none. */
size_t at_queue_taken_by(const struct at_queue *queue, size_t tuner);

/* The tuner of this problem has failed: the problem waits again. Returns false if that happened to
 * it too often; then it counts as finished. */
bool at_queue_return(struct at_queue *queue, size_t problem);

/* Does a problem wait for the tuner, and how many are not finished? */
bool at_queue_has_job(const struct at_queue *queue, size_t tuner);

size_t at_queue_unfinished(const struct at_queue *queue);

/* ---- a tuner: one device that tunes the problems which it takes from a job source ---- */

struct at_tuner {
    struct at_session_options session;
    const struct at_device_info *device;
    const struct at_problem *problems; /* all of the run */
    size_t problem_count;
    const char *out;     /* path of the profile that the run writes; NULL: none */
    bool accumulates;    /* into what that file has; else it is replaced */
    int64_t run_ends_ns; /* when the run's budget is spent, on at_now_ns's clock; 0: never */
    bool fresh;          /* do not start from the winners of earlier profiles */
    bool stays_near;     /* run on the CPUs near the device: others are for other devices */
};

/* What a tuner is to do next. */
struct at_tuning_job {
    size_t problem; /* index; AT_NO_JOB: nothing */
    size_t number;  /* of the run's problems, this is the n-th to be tuned */
    size_t of;
    struct at_budget budget;
    struct at_list results; /* entries that other tuners of this model have finished; owned */
};

/* What a tuner knows of a problem when a run is resumed. */
struct at_known {
    size_t problem;
    int64_t measurements; /* of its configs; 1 if only its copies are measured */
};

/* What came of it. */
struct at_tuned {
    size_t problem;
    enum at_status status; /* as at_tune_problem returns it */
    const char *message;   /* of a failure */
    int64_t evaluations;
    struct at_device_record record; /* so far; without problems */
    struct at_entry *entry;         /* if the status is AT_OK; the receiver moves it away */
};

/* Where a tuner takes its jobs, and delivers its results. */
struct at_job_source {
    void *state;
    /* The tuner has opened its device. Its journal has measurements of these problems. */
    enum at_status (*opened)(void *state, const struct at_known *known, size_t count,
                             struct at_error *err);
    /* Take a job. Without `wait`, tell which one will be next, or nothing. */
    enum at_status (*take_job)(void *state, bool wait, struct at_tuning_job *job,
                               struct at_error *err);
    enum at_status (*take_result)(void *state, struct at_tuned *tuned, struct at_error *err);
};

/* Open the device and tune until there is no job any more. Fails if the device or a function
 * of the source fails, or with the status of a problem after which the device cannot go on. */
enum at_status at_tuner_run(const struct at_tuner *tuner, const struct at_job_source *source,
                            struct at_error *err);

/* ---- a run ---- */

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
