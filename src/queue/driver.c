/* SPDX-License-Identifier: Apache-2.0 */
/* The driver: the main process of a run with several tuners. Each tuner has a process of its own.
 * The driver gives out problems, takes results, and does without a process that dies. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "device/kind.h"
#include "measure/gpu.h"
#include "queue/parts.h"
#include "system/cpus.h"
#include "system/interrupt.h"
#include "worker/worker.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Frames from a tuner. Only TUNER_ASK is answered, by a frame of the same type. */
enum tuner_frame {
    TUNER_OPENED = 1, /* count, int each: the problems that its journal has */
    TUNER_ASK,        /* int wait -> a job */
    TUNER_PROGRESS,   /* text what, a progress state */
    TUNER_TUNED,      /* what came of a problem */
    TUNER_ENDED,      /* int status, text message: the tuner's last frame */
};

/* ---- what frames carry ---- */

/* Entries travel as the text that a profile has of them. */
static void put_entry(struct at_wire *wire, const struct at_entry *entry)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    enum at_status status = at_schema_write_yaml(&at_entry_schema, entry, out, NULL);
    size_t size;
    char *text = at_text_close(&stream, &size);

    at_wire_put_bytes(wire, text, status == AT_OK ? size : 0); /* which the reader refuses */
    free(text);
}

static void get_entry(struct at_wire *wire, struct at_entry *entry)
{
    size_t size;
    const char *text = at_wire_get_bytes(wire, &size);

    *entry = (struct at_entry){0};
    if (wire->bad || at_schema_read(&at_entry_schema, entry, "a tuner's entry", text, size, NULL))
        wire->bad = true;
}

static void put_job(struct at_wire *wire, const struct at_tuning_job *job)
{
    const struct at_entry *results = job->results.items;

    at_wire_put_int(wire, (int64_t)job->problem);
    at_wire_put_int(wire, (int64_t)job->number);
    at_wire_put_int(wire, (int64_t)job->of);
    at_wire_put_bytes(wire, &job->budget, sizeof job->budget);
    at_wire_put_int(wire, (int64_t)job->results.count);
    for (size_t i = 0; i < job->results.count; i++)
        put_entry(wire, &results[i]);
}

static bool get_job(struct at_wire *wire, struct at_tuning_job *job)
{
    struct at_entry *results;
    size_t count;

    *job = (struct at_tuning_job){.problem = (size_t)at_wire_get_int(wire),
                                  .number = (size_t)at_wire_get_int(wire),
                                  .of = (size_t)at_wire_get_int(wire)};
    at_wire_get_struct(wire, &job->budget, sizeof job->budget);
    count = at_wire_get_count(wire, sizeof(uint64_t));
    results = at_alloc_array(count, sizeof *results);
    job->results = (struct at_list){results, count};
    for (size_t i = 0; i < count; i++)
        get_entry(wire, &results[i]);
    return at_wire_done(wire);
}

static void put_tuned(struct at_wire *wire, const struct at_tuned *tuned)
{
    at_wire_put_int(wire, (int64_t)tuned->problem);
    at_wire_put_int(wire, tuned->status);
    at_wire_put_text(wire, tuned->message);
    at_wire_put_int(wire, tuned->evaluations);
    at_wire_put_bytes(wire, &tuned->record, sizeof tuned->record);
    if (tuned->entry)
        put_entry(wire, tuned->entry);
}

/* Read what a tuner has sent. *entry and *message hold what tuned->entry and tuned->message point
 * to. Returns false for a frame that no tuner sends. */
static bool tuned_get(struct at_wire *wire, struct at_tuned *tuned, struct at_entry *entry,
                      struct at_error *message)
{
    *tuned = (struct at_tuned){.problem = (size_t)at_wire_get_int(wire),
                               .status = (enum at_status)at_wire_get_int(wire),
                               .message = message->message};
    at_wire_get_text(wire, message->message, sizeof message->message);
    tuned->evaluations = at_wire_get_int(wire);
    at_wire_get_struct(wire, &tuned->record, sizeof tuned->record);
    if (!wire->bad && tuned->status == AT_OK) {
        get_entry(wire, entry);
        tuned->entry = entry;
    }
    return at_wire_done(wire);
}

/* Read the progress that a tuner has sent; state->what stays NULL. Returns false for a frame that
 * no tuner sends. */
static bool tuner_progress_get(struct at_wire *wire, struct at_progress_state *state, char *what,
                               size_t size)
{
    at_wire_get_text(wire, what, size);
    at_wire_get_struct(wire, state, sizeof *state);
    state->what = NULL;
    return at_wire_done(wire);
}

/* ---- the tuner's end ---- */

static enum at_status lost(struct at_error *err)
{
    return at_fail(err, AT_INTERNAL, "the driver of this run is gone");
}

static enum at_status send_frame(int fd, enum tuner_frame type, struct at_wire *wire,
                                 struct at_error *err)
{
    enum at_frame_result result = at_frame_send(fd, type, wire);

    at_wire_clear(wire);
    return result == AT_FRAME_OK ? AT_OK : lost(err);
}

static enum at_status send_opened(void *state, const struct at_known *known, size_t count,
                                  struct at_error *err)
{
    struct at_wire wire = {0};

    at_wire_put_int(&wire, (int64_t)count);
    for (size_t i = 0; i < count; i++)
        at_wire_put_bytes(&wire, &known[i], sizeof known[i]);
    return send_frame(*(const int *)state, TUNER_OPENED, &wire, err);
}

static enum at_status ask_job(void *state, bool wait, struct at_tuning_job *job,
                              struct at_error *err)
{
    int fd = *(const int *)state;
    struct at_wire wire = {0};
    enum at_status status;
    int32_t type;

    at_wire_put_int(&wire, wait);
    status = send_frame(fd, TUNER_ASK, &wire, err);
    if (status == AT_OK && (at_frame_receive(fd, &type, &wire, 0) != AT_FRAME_OK ||
                            type != TUNER_ASK || !get_job(&wire, job)))
        status = lost(err);
    at_wire_clear(&wire);
    return status;
}

static enum at_status send_tuned(void *state, struct at_tuned *tuned, struct at_error *err)
{
    struct at_wire wire = {0};

    put_tuned(&wire, tuned);
    if (tuned->entry)
        at_schema_clear(&at_entry_schema, tuned->entry);
    return send_frame(*(const int *)state, TUNER_TUNED, &wire, err);
}

/* The driver draws for all. */
static void send_progress(void *data, const struct at_progress_state *state)
{
    struct at_wire wire = {0};

    at_wire_put_text(&wire, state->what);
    at_wire_put_bytes(&wire, state, sizeof *state);
    send_frame(*(const int *)data, TUNER_PROGRESS, &wire, NULL);
}

static void serve(int fd, const struct at_tuner *inherited)
{
    struct at_tuner tuner = *inherited;
    struct at_progress progress = *inherited->session.progress;
    const struct at_job_source source = {&fd, send_opened, ask_job, send_tuned};
    struct at_error err = {AT_OK, ""};
    struct at_wire wire = {0};

    progress.draw = send_progress;
    progress.draw_data = &fd;
    tuner.session.progress = &progress;
    if (tuner.session.jobs > at_usable_cpus())
        tuner.session.jobs = at_usable_cpus();
    at_wire_put_int(&wire, at_tuner_run(&tuner, &source, &err));
    at_wire_put_text(&wire, err.message);
    send_frame(fd, TUNER_ENDED, &wire, NULL);
}

/* Start a tuner. It ends when it has sent TUNER_ENDED, or with its parent. */
static enum at_status tuner_start(struct at_worker *worker, const struct at_tuner *tuner,
                                  struct at_error *err)
{
    pid_t driver = getpid(), pid;
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return at_fail(err, AT_INTERNAL, "cannot make a socket pair: %s", strerror(errno));
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != driver) /* it died before that line */
            _exit(AT_INTERNAL);
        prctl(PR_SET_NAME, "tuner");
        at_interrupt_follow();
        at_gpu_leave_spare();
        if (tuner->stays_near)
            at_cpus_stay_near(tuner->device->pci_bus_id);
        close(ends[0]);
        serve(ends[1], tuner);
        _exit(AT_OK); /* the driver flushes its streams and removes its files, not this process */
    }
    close(ends[1]);
    if (pid < 0) {
        close(ends[0]);
        return at_fail(err, AT_INTERNAL, "cannot start a tuner: %s", strerror(errno));
    }
    *worker = (struct at_worker){.pid = pid, .fd = ends[0], .said = -1};
    return AT_OK;
}

/* List the entries that this process has not seen, of others of its model. They are borrowed.
 * An emulated device takes nothing from one problem to the next. */
static struct at_list list_results(struct at_tuning *run, struct at_tuner_process *to)
{
    struct at_entry *results = NULL;
    size_t count = 0, capacity = 0;

    if (at_device_kind(to->tuner.device)->isolated)
        return (struct at_list){0};
    for (size_t i = 0; i < run->count; i++) {
        const struct at_tuner_process *from = &run->processes[i];
        const struct at_entry *entries = from->record.problems.items;

        if (from == to || from->model != to->model)
            continue;
        for (; to->told[i] < from->record.problems.count; to->told[i]++)
            AT_PUSH(results, count, capacity, entries[to->told[i]]);
    }
    return (struct at_list){results, count};
}

static void answer(struct at_tuning *run, struct at_tuner_process *process, bool reserve)
{
    struct at_wire wire = {0};
    struct at_tuning_job job;

    at_tuning_take_job(run, process, reserve, &job);
    job.results = list_results(run, process);
    put_job(&wire, &job);
    free(job.results.items);
    at_frame_send(process->worker.fd, TUNER_ASK, &wire); /* if it is gone, that shows later */
    at_wire_clear(&wire);
}

/* Give problems to the processes that wait, once all have opened their devices. If one cannot open
 * its device, the run fails before anything is measured. A problem that another process has may
 * come back, so a process waits as long as there is one. */
static void answer_waiting(struct at_tuning *run)
{
    for (size_t i = 0; i < run->count; i++)
        if (!run->processes[i].opened && run->processes[i].worker.pid != 0)
            return;
    for (size_t i = 0; i < run->count; i++) {
        struct at_tuner_process *process = &run->processes[i];
        const struct at_queue *queue = run->queues[process->model];
        bool over = at_tuning_is_over(run) || at_queue_unfinished(queue) == 0;

        if (process->waits &&
            (over || at_queue_has_job(queue, process->place) || process->reserved != AT_NO_JOB)) {
            process->waits = false;
            answer(run, process, false);
        }
    }
}

/* A resumed run measures nothing twice: who knows a problem goes on with it. */
static bool take_opened(struct at_tuning *run, struct at_tuner_process *process,
                        struct at_wire *wire)
{
    struct at_queue *queue = run->queues[process->model];
    size_t count = at_wire_get_count(wire, sizeof(struct at_known));

    for (size_t i = 0; i < count; i++) {
        struct at_known known = {0};

        at_wire_get_struct(wire, &known, sizeof known);
        if (wire->bad || known.problem >= run->options->problem_count)
            return false;
        at_queue_set_known(queue, known.problem, process->place, known.measurements);
    }
    process->opened = true;
    return at_wire_done(wire);
}

static bool take_tuned(struct at_tuning *run, struct at_tuner_process *process,
                       struct at_wire *wire)
{
    struct at_tuned tuned;
    struct at_entry entry = {0};
    struct at_error message;

    process->what[0] = '\0';
    if (!tuned_get(wire, &tuned, &entry, &message) ||
        tuned.problem >= run->options->problem_count) {
        at_schema_clear(&at_entry_schema, &entry);
        return false;
    }
    at_tuning_take_result(run, process, &tuned);
    return true;
}

/* The problems that a lost process has go to others of its model. */
static void return_problems(struct at_tuning *run, const struct at_tuner_process *process,
                            const char *another)
{
    struct at_queue *queue = run->queues[process->model];
    size_t problem;

    while ((problem = at_queue_taken_by(queue, process->place)) != AT_NO_JOB) {
        char *text = at_problem_format(&run->options->problems[problem]);

        if (at_queue_return(queue, problem)) {
            at_warn(run->progress, "%s waits for another %s", text, another);
        } else {
            at_warn(run->progress, "%s is given up: it was lost with two %ss", text, another);
            run->failed++;
        }
        free(text);
    }
}

static bool lives_any(const struct at_tuning *run, size_t model)
{
    for (size_t i = 0; i < run->count; i++)
        if (run->processes[i].model == model && run->processes[i].worker.pid != 0)
            return true;
    return false;
}

/* A process has ended, with a status or without a word (AT_INTERNAL). Fails if it could not open
 * its device, unless another process has that device: then that one goes on alone. Later, the
 * others go on; the run fails at its end if a model has no device left. */
static enum at_status end_process(struct at_tuning *run, struct at_tuner_process *process,
                                  enum at_status status, const char *message, struct at_error *err)
{
    const struct at_device_info *device = process->tuner.device;
    bool shared = process->tuner.session.turn.turns;
    struct at_worker_end end = {0};

    at_worker_stop(&process->worker, &end);
    at_turn_end(process->tuner.session.turn);
    at_queue_forget(run->queues[process->model], process->place);
    process->what[0] = '\0';
    process->waits = false;
    if (!process->opened && process->reserved != AT_NO_JOB)
        at_queue_put_back(run->queues[process->model], process->reserved);
    process->reserved = AT_NO_JOB;
    if (status == AT_OK)
        return AT_OK;
    if (!message)
        message = end.text;
    if (!process->opened && process->tuner.session.turn.place > 0) {
        at_note(run->progress, "%s (%s) tunes fewer problems at a time: %s", device->name,
                device->uuid, message);
        return AT_OK;
    }
    if (!process->opened)
        return at_fail(err, status, "%s", message);
    at_warn(run->progress, "%s%s (%s) is lost: %s", shared ? "a tuner of " : "", device->name,
            device->uuid, message);
    return_problems(run, process, shared ? "tuner" : "device");
    if (!lives_any(run, process->model) && at_queue_unfinished(run->queues[process->model]) > 0)
        at_fail(&run->failure, status, "no %s is left: %s", device->name, message);
    return AT_OK;
}

static enum at_status take_frame(struct at_tuning *run, struct at_tuner_process *process,
                                 struct at_error *err)
{
    struct at_wire wire = {0};
    enum at_status status = AT_OK;
    bool sound = true, ended = false;
    struct at_error reason = {AT_INTERNAL, "it sent something unknown"};
    int32_t type;
    bool closed = at_frame_receive(process->worker.fd, &type, &wire, 0) != AT_FRAME_OK;

    if (!closed)
        switch (type) {
        case TUNER_OPENED:
            sound = take_opened(run, process, &wire);
            break;
        case TUNER_ASK:
            if (at_wire_get_int(&wire))
                process->waits = true;
            else
                answer(run, process, true);
            break;
        case TUNER_PROGRESS:
            sound = tuner_progress_get(&wire, &process->shown, process->what, sizeof process->what);
            break;
        case TUNER_TUNED:
            sound = take_tuned(run, process, &wire);
            break;
        case TUNER_ENDED:
            ended = true;
            reason.status = (enum at_status)at_wire_get_int(&wire);
            at_wire_get_text(&wire, reason.message, sizeof reason.message);
            break;
        default:
            sound = false;
        }
    if (closed || ended || !sound)
        status = end_process(run, process, reason.status, closed ? NULL : reason.message, err);
    at_wire_clear(&wire);
    return status;
}

/* The process that has had its problem for longest; NULL: none has told of one. */
static const struct at_tuner_process *find_oldest(const struct at_tuning *run)
{
    const struct at_tuner_process *oldest = NULL;

    for (size_t i = 0; i < run->count; i++) {
        const struct at_tuner_process *process = &run->processes[i];

        if (process->what[0] && (!oldest || process->shown.index < oldest->shown.index))
            oldest = process;
    }
    return oldest;
}

/* With one device, show a problem; with several, how many problems they have finished. */
static void draw(const struct at_tuning *run)
{
    bool one = run->options->device_count == 1;
    const struct at_tuner_process *oldest = find_oldest(run);
    double past_s = (double)(at_now_ns() - run->started_ns) / 1e9;
    char what[32];
    struct at_progress_state state = {
        .what = what,
        .index = run->finished,
        .of = run->options->problem_count * run->models,
        .left_s = -1,
        .run_left_s = -1,
        .run_ends_ns = run->options->budget.ns > 0 ? run->started_ns + run->options->budget.ns : 0,
    };

    if (one && !oldest)
        return;
    snprintf(what, sizeof what, "%zu devices", run->options->device_count);
    if (one) {
        state = oldest->shown;
        state.what = oldest->what;
        state.run_left_s /= (double)run->count;
    }
    if (run->finished > 0 && !run->options->session->resume) /* a journal's problems take no time */
        state.run_left_s = past_s * (double)at_tuning_unfinished(run) / (double)run->finished;
    at_progress_draw(run->progress, &state);
}

/* Wait for frames and take one of each process that has sent some. */
static enum at_status step(struct at_tuning *run, struct at_error *err)
{
    struct pollfd *fds = at_alloc_array(run->count, sizeof *fds);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < run->count; i++) {
        const struct at_worker *worker = &run->processes[i].worker;

        fds[i] = (struct pollfd){.fd = worker->pid != 0 ? worker->fd : -1, .events = POLLIN};
    }
    poll(fds, run->count, 100); /* for the progress line and the budget */
    for (size_t i = 0; i < run->count && status == AT_OK; i++)
        if (fds[i].fd >= 0 && fds[i].revents)
            status = take_frame(run, &run->processes[i], err);
    free(fds);
    return status;
}

static bool lives(const struct at_tuning *run)
{
    for (size_t i = 0; i < run->models; i++)
        if (lives_any(run, i))
            return true;
    return false;
}

static void tell_interrupt(struct at_tuning *run, bool *told)
{
    if (*told || !at_interrupt_seen())
        return;
    *told = true;
    for (size_t i = 0; i < run->count; i++)
        if (run->processes[i].worker.pid != 0)
            kill(run->processes[i].worker.pid, AT_INTERRUPT_FOLLOWED);
}

enum at_status at_tuning_drive(struct at_tuning *run, struct at_error *err)
{
    enum at_status status = AT_OK;
    bool told = false;

    for (size_t i = 0; i < run->count && status == AT_OK; i++)
        status = tuner_start(&run->processes[i].worker, &run->processes[i].tuner, err);
    while (status == AT_OK && lives(run)) {
        tell_interrupt(run, &told);
        answer_waiting(run);
        if (run->begun > 0)
            at_gpu_end_spare(); /* until now it has kept the GPUs awake */
        draw(run);
        status = step(run, err);
    }
    at_progress_clear(run->progress);
    at_gpu_end_spare();
    /* After a failure the other devices' results so far are kept, but not the unfinished problems.
     */
    for (size_t i = 0; i < run->count; i++)
        at_worker_stop(&run->processes[i].worker, NULL);
    if (status == AT_OK && run->failure.status != AT_OK)
        status = at_fail(err, run->failure.status, "%s", run->failure.message);
    return status;
}
