/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/tuner_process.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "measure/gpu.h"
#include "system/cpus.h"
#include "system/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

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

void at_deal_put(struct at_wire *wire, const struct at_deal *deal)
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

bool at_tuned_get(struct at_wire *wire, struct at_tuned *tuned, struct at_entry *entry,
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

bool at_tuner_progress_get(struct at_wire *wire, struct at_progress_state *state, char *what,
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

static enum at_status send_frame(int fd, enum at_tuner_frame type, struct at_wire *wire,
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
    return send_frame(*(const int *)state, AT_TUNER_OPENED, &wire, err);
}

static enum at_status ask(void *state, bool wait, struct at_deal *deal, struct at_error *err)
{
    int fd = *(const int *)state;
    struct at_wire wire = {0};
    enum at_status status;
    int32_t type;

    at_wire_put_int(&wire, wait);
    status = send_frame(fd, AT_TUNER_ASK, &wire, err);
    if (status == AT_OK && (at_frame_receive(fd, &type, &wire, 0) != AT_FRAME_OK ||
                            type != AT_TUNER_ASK || !get_deal(&wire, deal)))
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
    return send_frame(*(const int *)state, AT_TUNER_TUNED, &wire, err);
}

/* The driver draws for all. */
static void send_progress(void *data, const struct at_progress_state *state)
{
    struct at_wire wire = {0};

    at_wire_put_text(&wire, state->what);
    at_wire_put_bytes(&wire, state, sizeof *state);
    send_frame(*(const int *)data, AT_TUNER_PROGRESS, &wire, NULL);
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
    send_frame(fd, AT_TUNER_ENDED, &wire, NULL);
}

enum at_status at_tuner_start(struct at_worker *worker, const struct at_tuner *tuner,
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
