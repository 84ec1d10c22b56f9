/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include "base/clock.h"
#include "base/memory.h"
#include "system/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

void at_wire_clear(struct at_wire *wire)
{
    at_free(wire->bytes);
    *wire = (struct at_wire){0};
}

static void append(struct at_wire *wire, const void *bytes, size_t size)
{
    if (wire->capacity - wire->size < size) {
        size_t needed = wire->size + size;
        unsigned char *larger;

        wire->capacity = needed > 2 * wire->capacity ? needed : 2 * wire->capacity;
        larger = at_alloc(wire->capacity);
        if (wire->size)
            memcpy(larger, wire->bytes, wire->size);
        at_free(wire->bytes);
        wire->bytes = larger;
    }
    if (size)
        memcpy(wire->bytes + wire->size, bytes, size);
    wire->size += size;
}

void at_wire_put_int(struct at_wire *wire, int64_t value)
{
    append(wire, &value, sizeof value);
}

void at_wire_put_real(struct at_wire *wire, double value)
{
    append(wire, &value, sizeof value);
}

void at_wire_put_bytes(struct at_wire *wire, const void *bytes, size_t size)
{
    at_wire_put_int(wire, (int64_t)size);
    append(wire, bytes, size);
}

void at_wire_put_text(struct at_wire *wire, const char *text)
{
    at_wire_put_bytes(wire, text, strlen(text));
}

static const void *take(struct at_wire *wire, size_t size)
{
    const unsigned char *here;

    if (wire->bad || wire->size - wire->position < size) {
        wire->bad = true;
        return NULL;
    }
    here = wire->bytes + wire->position;
    wire->position += size;
    return here;
}

/* Copy so many bytes; zeroes if they are not there. */
static void get(struct at_wire *wire, void *value, size_t size)
{
    const void *here = take(wire, size);

    if (here)
        memcpy(value, here, size);
    else
        memset(value, 0, size);
}

int64_t at_wire_get_int(struct at_wire *wire)
{
    int64_t value;

    get(wire, &value, sizeof value);
    return value;
}

double at_wire_get_real(struct at_wire *wire)
{
    double value;

    get(wire, &value, sizeof value);
    return value;
}

size_t at_wire_get_count(struct at_wire *wire, size_t item_size)
{
    int64_t count = at_wire_get_int(wire);

    if (count < 0 || (uint64_t)count > (wire->size - wire->position) / item_size) {
        wire->bad = true;
        return 0;
    }
    return (size_t)count;
}

const void *at_wire_get_bytes(struct at_wire *wire, size_t *size)
{
    *size = at_wire_get_count(wire, 1);
    return take(wire, *size);
}

void at_wire_get_text(struct at_wire *wire, char *text, size_t capacity)
{
    size_t size;
    const void *here = at_wire_get_bytes(wire, &size);

    if (!here)
        size = 0;
    if (size >= capacity)
        size = capacity - 1;
    if (size)
        memcpy(text, here, size);
    text[size] = '\0';
}

void at_wire_get_struct(struct at_wire *wire, void *record, size_t size)
{
    if (at_wire_get_count(wire, 1) != size)
        wire->bad = true;
    get(wire, record, size);
}

bool at_wire_done(const struct at_wire *wire)
{
    return !wire->bad && wire->position == wire->size;
}

/* ---- frames ---- */

static const uint32_t frame_magic = 0x61746672; /* "atfr" */

struct frame_header {
    uint32_t magic;
    int32_t type;
    uint64_t size;
};

/* Wait until fd can be read (POLLIN) or written (POLLOUT). */
static enum at_frame_result wait_for(int fd, short event, int64_t deadline_ns)
{
    struct pollfd poll_fd = {.fd = fd, .events = event};
    int ready;

    do {
        int64_t left_ns = deadline_ns - at_now_ns();
        int timeout_ms = deadline_ns == 0 ? -1 : left_ns <= 0 ? 0 : (int)(left_ns / 1000000 + 1);

        ready = poll(&poll_fd, 1, timeout_ms);
    } while (ready < 0 && errno == EINTR);
    return ready > 0 ? AT_FRAME_OK : ready == 0 ? AT_FRAME_TIMEOUT : AT_FRAME_CLOSED;
}

/* Skip the bytes that have been sent. */
static void skip(struct iovec *parts, size_t count, size_t size)
{
    for (size_t i = 0; i < count && size > 0; i++) {
        size_t skipped = size < parts[i].iov_len ? size : parts[i].iov_len;

        parts[i].iov_base = (char *)parts[i].iov_base + skipped;
        parts[i].iov_len -= skipped;
        size -= skipped;
    }
}

/* Send all parts with one call, so that the receiver wakes up once. Wait only if the socket is
 * full: most frames fit. */
static enum at_frame_result send_all(int fd, struct iovec *parts, size_t count, size_t size,
                                     int64_t deadline_ns)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};

    while (size > 0) {
        enum at_frame_result result = AT_FRAME_OK;
        /* MSG_NOSIGNAL: a dead worker is a result here, not a SIGPIPE. */
        ssize_t sent = sendmsg(fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);

        if (sent < 0 && errno == EAGAIN)
            result = wait_for(fd, POLLOUT, deadline_ns);
        else if (sent < 0 && errno != EINTR)
            result = AT_FRAME_CLOSED;
        if (result != AT_FRAME_OK)
            return result;
        if (sent > 0) {
            skip(parts, count, (size_t)sent);
            size -= (size_t)sent;
        }
    }
    return AT_FRAME_OK;
}

/* A worker that has not read a frame by then hangs, even on a busy machine. */
static const int64_t send_limit_ns = 60 * INT64_C(1000000000);

enum at_frame_result at_frame_send(int fd, int32_t type, const struct at_wire *message)
{
    struct frame_header header = {frame_magic, type, message->size};
    struct iovec parts[] = {{&header, sizeof header}, {message->bytes, message->size}};
    enum at_frame_result result = send_all(
        fd, parts, AT_COUNT(parts), sizeof header + message->size, at_now_ns() + send_limit_ns);

    /* The other end may live on, but it will never answer a frame that it did not get: receiving
     * must find the connection closed. */
    if (result != AT_FRAME_OK)
        shutdown(fd, SHUT_RD);
    return result;
}

static enum at_frame_result receive_all(int fd, void *bytes, size_t size, int64_t deadline_ns)
{
    char *next = bytes;

    while (size > 0) {
        enum at_frame_result result = AT_FRAME_OK;
        ssize_t got = recv(fd, next, size, MSG_DONTWAIT);

        if (got < 0 && errno == EAGAIN)
            result = wait_for(fd, POLLIN, deadline_ns);
        else if (got == 0 || (got < 0 && errno != EINTR))
            result = AT_FRAME_CLOSED;
        if (result != AT_FRAME_OK)
            return result;
        if (got > 0) {
            next += got;
            size -= (size_t)got;
        }
    }
    return AT_FRAME_OK;
}

enum at_frame_result at_frame_receive(int fd, int32_t *type, struct at_wire *message,
                                      int64_t deadline_ns)
{
    struct frame_header header;
    enum at_frame_result result = receive_all(fd, &header, sizeof header, deadline_ns);

    if (result != AT_FRAME_OK)
        return result;
    if (header.magic != frame_magic || header.size > AT_FRAME_BYTES_MAX)
        return AT_FRAME_BAD;
    message->bytes = at_alloc(header.size);
    message->size = message->capacity = header.size;
    result = receive_all(fd, message->bytes, message->size, deadline_ns);
    if (result == AT_FRAME_OK)
        *type = header.type;
    else
        at_wire_clear(message);
    return result;
}

/* ---- processes ---- */

/* Names; with a '*' at the end, prefixes of names. */
static const char *const passed[] = {
    "ASAN_OPTIONS",          /* sanitisers */
    "AUTOTUNE_CUDA_INCLUDE", /* the headers for kernels, with CUDA_HOME and CUDA_PATH */
    "AUTOTUNE_CUPTI",        /* the library that reads counters */
    "AUTOTUNE_DATADIR",      /* descriptions of emulated devices */
    "AUTOTUNE_NVRTC",        /* the compiler */
    "CUDA_DEVICE_ORDER",     /* the numbering of GPUs */
    "CUDA_HOME",
    "CUDA_INJECTION64_PATH",             /* profilers and compute-sanitizer, with LD_* and NV_* */
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", /* sharing of a GPU */
    "CUDA_MPS_CLIENT_PRIORITY",
    "CUDA_MPS_LOG_DIRECTORY",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "HOME", /* the CUDA driver's files */
    "LD_*", /* places of libraries, as for the main process */
    "LLVM_PROFILE_FILE",
    "LSAN_OPTIONS",
    "NV_*",
    "UBSAN_OPTIONS",
};

static bool is_passed(const char *variable)
{
    size_t name = strcspn(variable, "=");

    for (size_t i = 0; i < AT_COUNT(passed); i++) {
        size_t length = strcspn(passed[i], "*");
        bool prefix = passed[i][length] == '*';

        if ((prefix ? name > length : name == length) && strncmp(variable, passed[i], length) == 0)
            return true;
    }
    return false;
}

static _Atomic(const char *) given; /* what at_worker_give says; or NULL */

void at_worker_give(const char *variable)
{
    given = variable;
}

static bool same_name(const char *variable, const char *other)
{
    return other && strncmp(variable, other, strcspn(other, "=") + 1) == 0;
}

/* Returns a NULL-ended list. The caller frees the list, but not the texts in it. */
static char **worker_environment(void)
{
    char *own = (char *)given;
    size_t all = 0, count = 0;
    char **kept;

    while (environ && environ[all])
        all++;
    kept = at_alloc_array(all + 2, sizeof *kept);
    for (size_t i = 0; i < all; i++)
        if (is_passed(environ[i]) && !same_name(environ[i], own))
            kept[count++] = environ[i];
    kept[count] = own;
    return kept;
}

static const char role_option[] = "--worker=";

/* The descriptor of a worker's end of the socket pair. The second end of a new pair never has this
 * number, so dup2 always makes a copy, and copies stay open across exec. */
enum { WORKER_FD = STDIN_FILENO };

/* The kept part of a worker's standard error. */
enum { SAID_BYTES = 16 << 10 };

/* Forbid new privileges and core files: with a GPU mapped, a core file would be large. */
static void limit_process(void)
{
    const struct rlimit none = {0, 0};

    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    setrlimit(RLIMIT_CORE, &none);
}

int at_worker_serve(const struct at_worker_role *const *roles, int argc, char **argv,
                    int *exit_code)
{
    const struct at_worker_role *const *role = roles;
    size_t prefix = sizeof role_option - 1;

    if (argc != 2 || strncmp(argv[1], role_option, prefix) != 0)
        return 0;
    while (*role && strcmp((*role)->name, argv[1] + prefix) != 0)
        role++;
    if (!*role)
        return 0;
    /* If the parent died before this line, the socket is at end of file. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, (*role)->name);
    at_interrupt_ignore();
    limit_process();
    *exit_code = (*role)->serve(WORKER_FD);
    return 1;
}

/* Give the worker default signal handling and its own process group, so that a terminal's Ctrl-C
 * reaches only the main process. */
static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none, all;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setpgroup(attributes, 0);
    posix_spawnattr_setsigmask(attributes, &none);
    posix_spawnattr_setsigdefault(attributes, &all);
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
}

/* A file in memory that takes SAID_BYTES and refuses more. Unlike a pipe, it needs no reader while
 * the worker runs, and outlasts it. -1: the system has none to give. */
static int make_said(void)
{
    int fd = memfd_create("stderr", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && (ftruncate(fd, SAID_BYTES) != 0 || fcntl(fd, F_ADD_SEALS, F_SEAL_GROW) != 0)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* Both processes share the position in the file, which is where the text ends. */
static void show_said(int fd)
{
    char text[SAID_BYTES + 1];
    off_t size = lseek(fd, 0, SEEK_CUR);
    ssize_t got = size > 0 && size <= SAID_BYTES ? pread(fd, text, (size_t)size, 0) : 0;

    text[got > 0 ? got : 0] = '\0';
    at_print_lines(stderr, text);
}

/* Give the worker its descriptors; -1: there is none. Returns an error number. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int socket, int said, int shared)
{
    int error = posix_spawn_file_actions_adddup2(actions, socket, WORKER_FD);

    if (!error)
        error = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, said >= 0 ? said : STDOUT_FILENO,
                                                 STDERR_FILENO);
    if (!error && shared >= 0)
        error = posix_spawn_file_actions_adddup2(actions, shared, AT_WORKER_SHARED_FD);
    return error;
}

static enum at_status start(struct at_worker *worker, const char *program, const char *role,
                            int shared, struct at_error *err)
{
    char option[64], name[] = "autotune";
    char *argv[] = {name, option, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    char **environment;
    int ends[2], error, said;
    pid_t pid;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return at_fail(err, AT_INTERNAL, "cannot make a socket pair: %s", strerror(errno));
    snprintf(option, sizeof option, "%s%s", role_option, role);
    posix_spawn_file_actions_init(&actions);
    posix_spawnattr_init(&attributes);
    set_attributes(&attributes);
    environment = worker_environment();
    said = make_said();
    error = set_descriptors(&actions, ends[1], said, shared);
    if (!error)
        error = posix_spawn(&pid, program ? program : "/proc/self/exe", &actions, &attributes, argv,
                            environment);
    at_free(environment);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (error) {
        close(ends[0]);
        if (said >= 0)
            close(said);
        return at_fail(err, AT_INTERNAL, "cannot start a %s worker: %s", role, strerror(error));
    }
    worker->pid = pid;
    worker->fd = ends[0];
    worker->said = said;
    return AT_OK;
}

enum at_status at_worker_start(struct at_worker *worker, const char *role, struct at_error *err)
{
    return start(worker, NULL, role, -1, err);
}

enum at_status at_worker_start_sharing(struct at_worker *worker, const char *role, int shared,
                                       struct at_error *err)
{
    return start(worker, NULL, role, shared, err);
}

enum at_status at_worker_start_program(struct at_worker *worker, const char *program,
                                       const char *role, struct at_error *err)
{
    return start(worker, program, role, -1, err);
}

static void describe_end(int wait_status, struct at_worker_end *end)
{
    if (WIFSIGNALED(wait_status)) {
        end->signal = WTERMSIG(wait_status);
        snprintf(end->text, sizeof end->text, "signal %d (%s)", end->signal,
                 strsignal(end->signal));
    } else {
        snprintf(end->text, sizeof end->text, "exit code %d", WEXITSTATUS(wait_status));
    }
}

/* A process that waits in a kernel driver cannot be killed before that returns. */
static const int64_t stop_limit_ns = INT64_C(10000000000);

/* Wait for the end of a killed process. Returns false if it takes too long. Most processes end
 * within a millisecond; one with a CUDA context takes tens of milliseconds. */
static bool reap(pid_t pid, int *wait_status)
{
    const struct timespec pause_time = {0, 500000};
    int64_t deadline_ns = at_now_ns() + stop_limit_ns;
    pid_t reaped;

    while ((reaped = waitpid(pid, wait_status, WNOHANG)) == 0 && at_now_ns() < deadline_ns)
        nanosleep(&pause_time, NULL);
    return reaped != 0;
}

void at_worker_kill(const struct at_worker *worker)
{
    if (worker->pid != 0)
        kill(worker->pid, SIGKILL);
}

void at_worker_stop(struct at_worker *worker, struct at_worker_end *end)
{
    struct at_worker_end ended = {.pid = worker->pid};
    int wait_status = 0;

    if (worker->pid == 0)
        return;
    /* If it has already ended, the kill does nothing, and waitpid reports how it ended. */
    at_worker_kill(worker);
    if (reap(worker->pid, &wait_status)) {
        describe_end(wait_status, &ended);
    } else {
        ended.stays = true;
        snprintf(ended.text, sizeof ended.text, "killed, and still there");
    }
    if (end)
        *end = ended;
    close(worker->fd);
    if (worker->said >= 0) {
        show_said(worker->said);
        close(worker->said);
    }
    *worker = (struct at_worker){0};
}
