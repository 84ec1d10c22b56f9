/* SPDX-License-Identifier: Apache-2.0 */
/* The driver: the main process of a run with several tuners. Each tuner has a process of its own.
 * The driver deals problems, takes results, and does without a process that dies. */
#include "base/clock.h"
#include "base/memory.h"
#include "fleet/parts.h"
#include "fleet/tuner_process.h"
#include "system/interrupt.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>

/* List the entries that this member has not seen, of other members of its model. They are borrowed.
 * An emulated device takes nothing from one problem to the next. */
static struct at_list tell_news(struct at_fleet *fleet, struct at_member *to)
{
    struct at_entry *news = NULL;
    size_t count = 0, capacity = 0;

    if (at_device_is_emulated(to->tuner.device))
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
    at_deal_put(&wire, &dealt);
    free(dealt.news.items);
    at_frame_send(member->worker.fd, AT_TUNER_ASK, &wire); /* if it is gone, that shows later */
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
    if (!at_tuned_get(wire, &tuned, &entry, &message) ||
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
        case AT_TUNER_OPENED:
            sound = take_opened(fleet, member, &wire);
            break;
        case AT_TUNER_ASK:
            if (at_wire_get_int(&wire))
                member->waits = true;
            else
                answer(fleet, member, true);
            break;
        case AT_TUNER_PROGRESS:
            sound = at_tuner_progress_get(&wire, &member->shown, member->what, sizeof member->what);
            break;
        case AT_TUNER_TUNED:
            sound = take_tuned(fleet, member, &wire);
            break;
        case AT_TUNER_ENDED:
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
        status = at_tuner_start(&fleet->members[i].worker, &fleet->members[i].tuner, err);
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
