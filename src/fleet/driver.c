/* SPDX-License-Identifier: Apache-2.0 */
/* The driver: the main process of a run with several tuners. Each tuner has a process of its own.
 * The driver deals problems, takes results, and does without a process that dies. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "device/kind.h"
#include "fleet/parts.h"
#include "fleet/tuner.h"
#include "measure/gpu.h"
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
    TUNER_ASK,        /* int wait -> a deal */
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

static void deal_put(struct at_wire *wire, const struct at_deal *deal)
{
    const struct at_entry *news = deal->news.items;

    at_wire_put_int(wire, (int64_t)deal->problem);
    at_wire_put_int(wire, (int64_t)deal->number);
    at_wire_put_int(wire, (int64_t)deal->of);
    at_wire_put_bytes(wire, &deal->budget, sizeof deal->budget);
    at_wire_put_int(wire, (int64_t)deal->news.count);
    for (size_t i = 0; i < deal->news.count; i++)
        put_entry(wire, &news[i]);
}

static bool get_deal(struct at_wire *wire, struct at_deal *deal)
{
    struct at_entry *news;
    size_t count;

    *deal = (struct at_deal){.problem = (size_t)at_wire_get_int(wire),
                             .number = (size_t)at_wire_get_int(wire),
                             .of = (size_t)at_wire_get_int(wire)};
    at_wire_get_struct(wire, &deal->budget, sizeof deal->budget);
    count = at_wire_get_count(wire, sizeof(uint64_t));
    news = at_alloc_array(count, sizeof *news);
    deal->news = (struct at_list){news, count};
    for (size_t i = 0; i < count; i++)
        get_entry(wire, &news[i]);
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

static enum at_status ask(void *state, bool wait, struct at_deal *deal, struct at_error *err)
{
    int fd = *(const int *)state;
    struct at_wire wire = {0};
    enum at_status status;
    int32_t type;

    at_wire_put_int(&wire, wait);
    status = send_frame(fd, TUNER_ASK, &wire, err);
    if (status == AT_OK && (at_frame_receive(fd, &type, &wire, 0) != AT_FRAME_OK ||
                            type != TUNER_ASK || !get_deal(&wire, deal)))
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
    const struct at_dealer dealer = {&fd, send_opened, ask, send_tuned};
    struct at_error err = {AT_OK, ""};
    struct at_wire wire = {0};

    progress.draw = send_progress;
    progress.draw_data = &fd;
    tuner.session.progress = &progress;
    if (tuner.session.jobs > at_usable_cpus())
        tuner.session.jobs = at_usable_cpus();
    at_wire_put_int(&wire, at_tuner_run(&tuner, &dealer, &err));
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

/* List the entries that this member has not seen, of other members of its model. They are borrowed.
 * An emulated device takes nothing from one problem to the next. */
static struct at_list tell_news(struct at_fleet *fleet, struct at_member *to)
{
    struct at_entry *news = NULL;
    size_t count = 0, capacity = 0;

    if (at_device_kind(to->tuner.device)->isolated)
        return (struct at_list){0};
    for (size_t i = 0; i < fleet->count; i++) {
        const struct at_member *from = &fleet->members[i];
        const struct at_entry *entries = from->record.problems.items;

        if (from == to || from->model != to->model)
            continue;
        for (; to->told[i] < from->record.problems.count; to->told[i]++)
            AT_PUSH(news, count, capacity, entries[to->told[i]]);
    }
    return (struct at_list){news, count};
}

static void answer(struct at_fleet *fleet, struct at_member *member, bool reserve)
{
    struct at_wire wire = {0};
    struct at_deal dealt;

    at_fleet_deal(fleet, member, reserve, &dealt);
    dealt.news = tell_news(fleet, member);
    deal_put(&wire, &dealt);
    free(dealt.news.items);
    at_frame_send(member->worker.fd, TUNER_ASK, &wire); /* if it is gone, that shows later */
    at_wire_clear(&wire);
}

/* Deal to the members that wait, once all have opened their devices. If one cannot open its device,
 * the run fails before anything is measured. A problem that another member has may come back, so a
 * member waits as long as there is one. */
static void answer_waiting(struct at_fleet *fleet)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (!fleet->members[i].opened && fleet->members[i].worker.pid != 0)
            return;
    for (size_t i = 0; i < fleet->count; i++) {
        struct at_member *member = &fleet->members[i];
        const struct at_deck *deck = fleet->decks[member->model];
        bool over = at_fleet_is_over(fleet) || at_deck_open(deck) == 0;

        if (member->waits &&
            (over || at_deck_waits(deck, member->place) || member->reserved != AT_DECK_NONE)) {
            member->waits = false;
            answer(fleet, member, false);
        }
    }
}

/* A resumed run measures nothing twice: who knows a problem goes on with it. */
static bool take_opened(struct at_fleet *fleet, struct at_member *member, struct at_wire *wire)
{
    struct at_deck *deck = fleet->decks[member->model];
    size_t count = at_wire_get_count(wire, sizeof(struct at_known));

    for (size_t i = 0; i < count; i++) {
        struct at_known known = {0};

        at_wire_get_struct(wire, &known, sizeof known);
        if (wire->bad || known.problem >= fleet->options->problem_count)
            return false;
        at_deck_know(deck, known.problem, member->place, known.measurements);
    }
    member->opened = true;
    return at_wire_done(wire);
}

static bool take_tuned(struct at_fleet *fleet, struct at_member *member, struct at_wire *wire)
{
    struct at_tuned tuned;
    struct at_entry entry = {0};
    struct at_error message;

    member->what[0] = '\0';
    if (!tuned_get(wire, &tuned, &entry, &message) ||
        tuned.problem >= fleet->options->problem_count) {
        at_schema_clear(&at_entry_schema, &entry);
        return false;
    }
    at_fleet_take(fleet, member, &tuned);
    return true;
}

/* The problems in a lost member's hands go to others of its model. */
static void return_problems(struct at_fleet *fleet, const struct at_member *member,
                            const char *another)
{
    struct at_deck *deck = fleet->decks[member->model];
    size_t problem;

    while ((problem = at_deck_in_hand(deck, member->place)) != AT_DECK_NONE) {
        char *text = at_problem_format(&fleet->options->problems[problem]);

        if (at_deck_return(deck, problem)) {
            at_warn(fleet->progress, "%s waits for another %s", text, another);
        } else {
            at_warn(fleet->progress, "%s is given up: it was lost with two %ss", text, another);
            fleet->failed++;
        }
        free(text);
    }
}

static bool lives_any(const struct at_fleet *fleet, size_t model)
{
    for (size_t i = 0; i < fleet->count; i++)
        if (fleet->members[i].model == model && fleet->members[i].worker.pid != 0)
            return true;
    return false;
}

/* A member has ended, with a status or without a word (AT_INTERNAL). Fails if it could not open its
 * device, unless another member has that device: then that one goes on alone. Later, the others go
 * on; the run fails at its end if a model has no device left. */
static enum at_status end_member(struct at_fleet *fleet, struct at_member *member,
                                 enum at_status status, const char *message, struct at_error *err)
{
    const struct at_device_info *device = member->tuner.device;
    bool shared = member->tuner.session.turn.turns;
    struct at_worker_end end = {0};

    at_worker_stop(&member->worker, &end);
    at_turn_end(member->tuner.session.turn);
    at_deck_release(fleet->decks[member->model], member->place);
    member->what[0] = '\0';
    member->waits = false;
    member->reserved = AT_DECK_NONE;
    if (status == AT_OK)
        return AT_OK;
    if (!message)
        message = end.text;
    if (!member->opened && member->tuner.session.turn.place > 0) {
        at_note(fleet->progress, "%s (%s) tunes fewer problems at a time: %s", device->name,
                device->uuid, message);
        return AT_OK;
    }
    if (!member->opened)
        return at_fail(err, status, "%s", message);
    at_warn(fleet->progress, "%s%s (%s) is lost: %s", shared ? "a tuner of " : "", device->name,
            device->uuid, message);
    return_problems(fleet, member, shared ? "tuner" : "device");
    if (!lives_any(fleet, member->model) && at_deck_open(fleet->decks[member->model]) > 0)
        at_fail(&fleet->failure, status, "no %s is left: %s", device->name, message);
    return AT_OK;
}

static enum at_status take_frame(struct at_fleet *fleet, struct at_member *member,
                                 struct at_error *err)
{
    struct at_wire wire = {0};
    enum at_status status = AT_OK;
    bool sound = true, ended = false;
    struct at_error reason = {AT_INTERNAL, "it sent something unknown"};
    int32_t type;
    bool closed = at_frame_receive(member->worker.fd, &type, &wire, 0) != AT_FRAME_OK;

    if (!closed)
        switch (type) {
        case TUNER_OPENED:
            sound = take_opened(fleet, member, &wire);
            break;
        case TUNER_ASK:
            if (at_wire_get_int(&wire))
                member->waits = true;
            else
                answer(fleet, member, true);
            break;
        case TUNER_PROGRESS:
            sound = tuner_progress_get(&wire, &member->shown, member->what, sizeof member->what);
            break;
        case TUNER_TUNED:
            sound = take_tuned(fleet, member, &wire);
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
        status = end_member(fleet, member, reason.status, closed ? NULL : reason.message, err);
    at_wire_clear(&wire);
    return status;
}

/* The member whose problem has been in hand for longest; NULL: none has told of one. */
static const struct at_member *find_oldest(const struct at_fleet *fleet)
{
    const struct at_member *oldest = NULL;

    for (size_t i = 0; i < fleet->count; i++) {
        const struct at_member *member = &fleet->members[i];

        if (member->what[0] && (!oldest || member->shown.index < oldest->shown.index))
            oldest = member;
    }
    return oldest;
}

/* With one device, show a problem; with several, how many problems they have finished. */
static void draw(const struct at_fleet *fleet)
{
    bool one = fleet->options->device_count == 1;
    const struct at_member *oldest = find_oldest(fleet);
    double past_s = (double)(at_now_ns() - fleet->started_ns) / 1e9;
    char what[32];
    struct at_progress_state state = {
        .what = what,
        .index = fleet->finished,
        .of = fleet->options->problem_count * fleet->models,
        .left_s = -1,
        .run_left_s = -1,
        .run_ends_ns =
            fleet->options->budget.ns > 0 ? fleet->started_ns + fleet->options->budget.ns : 0,
    };

    if (one && !oldest)
        return;
    snprintf(what, sizeof what, "%zu devices", fleet->options->device_count);
    if (one) {
        state = oldest->shown;
        state.what = oldest->what;
        state.run_left_s /= (double)fleet->count;
    }
    if (fleet->finished > 0)
        state.run_left_s = past_s * (double)at_fleet_open(fleet) / (double)fleet->finished;
    at_progress_draw(fleet->progress, &state);
}

/* Wait for frames and take one of each member that has sent some. */
static enum at_status step(struct at_fleet *fleet, struct at_error *err)
{
    struct pollfd *fds = at_alloc_array(fleet->count, sizeof *fds);
    enum at_status status = AT_OK;

    for (size_t i = 0; i < fleet->count; i++) {
        const struct at_worker *worker = &fleet->members[i].worker;

        fds[i] = (struct pollfd){.fd = worker->pid != 0 ? worker->fd : -1, .events = POLLIN};
    }
    poll(fds, fleet->count, 100); /* for the progress line and the budget */
    for (size_t i = 0; i < fleet->count && status == AT_OK; i++)
        if (fds[i].fd >= 0 && fds[i].revents)
            status = take_frame(fleet, &fleet->members[i], err);
    free(fds);
    return status;
}

static bool lives(const struct at_fleet *fleet)
{
    for (size_t i = 0; i < fleet->models; i++)
        if (lives_any(fleet, i))
            return true;
    return false;
}

static void tell_interrupt(struct at_fleet *fleet, bool *told)
{
    if (*told || !at_interrupt_seen())
        return;
    *told = true;
    for (size_t i = 0; i < fleet->count; i++)
        if (fleet->members[i].worker.pid != 0)
            kill(fleet->members[i].worker.pid, AT_INTERRUPT_FOLLOWED);
}

enum at_status at_fleet_drive(struct at_fleet *fleet, struct at_error *err)
{
    enum at_status status = AT_OK;
    bool told = false;

    for (size_t i = 0; i < fleet->count && status == AT_OK; i++)
        status = tuner_start(&fleet->members[i].worker, &fleet->members[i].tuner, err);
    while (status == AT_OK && lives(fleet)) {
        tell_interrupt(fleet, &told);
        answer_waiting(fleet);
        if (fleet->begun > 0)
            at_gpu_end_spare(); /* until now it has kept the GPUs awake */
        draw(fleet);
        status = step(fleet, err);
    }
    at_progress_clear(fleet->progress);
    at_gpu_end_spare();
    /* After a failure the other devices' results so far are kept, but not the problems in hand. */
    for (size_t i = 0; i < fleet->count; i++)
        at_worker_stop(&fleet->members[i].worker, NULL);
    if (status == AT_OK && fleet->failure.status != AT_OK)
        status = at_fail(err, fleet->failure.status, "%s", fleet->failure.message);
    return status;
}
