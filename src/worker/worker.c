/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/worker.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "system/interrupt.h"
#include "worker/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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

/* Returns a NULL-ended list. The caller frees the list, but not the texts in it. */
static char **worker_environment(void)
{
    size_t all = 0, count = 0;
    char **kept;

    while (environ && environ[all])
        all++;
    kept = at_alloc_array(all + 1, sizeof *kept);
    for (size_t i = 0; i < all; i++)
        if (is_passed(environ[i]))
            kept[count++] = environ[i];
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

/* Give the worker its descriptors. Returns an error number. */
static int set_descriptors(posix_spawn_file_actions_t *actions, int socket, int said)
{
    int error = posix_spawn_file_actions_adddup2(actions, socket, WORKER_FD);

    if (!error)
        error = posix_spawn_file_actions_addopen(actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    if (!error)
        error = posix_spawn_file_actions_adddup2(actions, said >= 0 ? said : STDOUT_FILENO,
                                                 STDERR_FILENO);
    return error;
}

enum at_status at_worker_start(struct at_worker *worker, const char *role, struct at_error *err)
{
    return at_worker_start_program(worker, NULL, role, err);
}

enum at_status at_worker_start_program(struct at_worker *worker, const char *program,
                                       const char *role, struct at_error *err)
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
    error = set_descriptors(&actions, ends[1], said);
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
