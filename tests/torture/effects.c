/* SPDX-License-Identifier: Apache-2.0 */
/* Applies an effect to a call: an error instead of its result, half its work, or a kill. */
#include "base/memory.h"
#include "torture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* Copy a descriptor of the stopped process into this one. */
static int borrow(pid_t pid, int fd)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0), borrowed;

    if (process < 0)
        return -1;
    borrowed = (int)syscall(SYS_pidfd_getfd, process, fd, 0);
    close(process);
    return borrowed;
}

/* Do the call's work on a buffer of this process. */
static ssize_t transfer(const char *call, int fd, void *bytes, size_t size, const uint64_t *args)
{
    if (strcmp(call, "read") == 0)
        return read(fd, bytes, size);
    if (strcmp(call, "pread64") == 0)
        return pread(fd, bytes, size, (off_t)args[3]);
    if (strcmp(call, "recvfrom") == 0)
        return recv(fd, bytes, size, (int)args[3]);
    if (strcmp(call, "write") == 0)
        return write(fd, bytes, size);
    if (strcmp(call, "pwrite64") == 0)
        return pwrite(fd, bytes, size, (off_t)args[3]);
    return send(fd, bytes, size, (int)args[3]);
}

/* Transfer half the requested bytes. */
static bool cut_short(const struct stopped *stopped, struct seccomp_notif_resp *response)
{
    const uint64_t *args = (const uint64_t *)stopped->request->data.args;
    const char *name = stopped->call->name;
    pid_t pid = (pid_t)stopped->request->pid;
    bool takes =
        strcmp(name, "read") == 0 || strcmp(name, "pread64") == 0 || strcmp(name, "recvfrom") == 0;
    size_t size = args[2] / 2;
    int fd = size > 0 ? borrow(pid, (int)args[0]) : -1;
    char *bytes;
    ssize_t done = -1;

    if (fd < 0)
        return false;
    bytes = at_alloc(size);
    if (takes || stopped_peek(pid, args[1], bytes, size))
        done = transfer(name, fd, bytes, size, args);
    if (done > 0 && takes && !stopped_poke(pid, args[1], bytes, (size_t)done))
        done = -1;
    if (done > 0)
        response->val = done;
    free(bytes);
    close(fd);
    return done > 0;
}

/* A close that fails still closes (close(2)): put /dev/null in the descriptor's place. */
static void close_there(const struct stopped *stopped)
{
    struct seccomp_notif_addfd addition = {
        .id = stopped->request->id,
        .flags = SECCOMP_ADDFD_FLAG_SETFD,
        .newfd = (uint32_t)stopped->request->data.args[0],
        .newfd_flags = O_CLOEXEC,
    };
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);

    if (null < 0)
        return;
    addition.srcfd = (uint32_t)null;
    ioctl(stopped->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &addition);
    close(null);
}

/* Return the start of the heap. An empty heap is not in the list of mappings (proc(5)). */
static unsigned long heap_start(pid_t pid)
{
    char *path = at_format("/proc/%d/stat", (int)pid), line[1024] = "", *rest;
    FILE *file = fopen(path, "re");
    unsigned long start = 0;

    free(path);
    if (file) {
        rest = fgets(line, sizeof line, file) ? strrchr(line, ')') : NULL;
        for (int field = 2; rest && field < 47; field++)
            rest = strchr(rest + 1, ' ');
        if (rest)
            start = strtoul(rest, NULL, 10);
        fclose(file);
    }
    return start;
}

/* Return the end of the heap: the result of a brk that fails. */
static unsigned long heap_end(pid_t pid)
{
    char *path = at_format("/proc/%d/maps", (int)pid), line[512];
    FILE *file = fopen(path, "re");
    unsigned long end = heap_start(pid), found;

    free(path);
    while (file && fgets(line, sizeof line, file))
        if (strstr(line, "[heap]") && sscanf(line, "%*x-%lx", &found) == 1)
            end = found;
    if (file)
        fclose(file);
    return end;
}

static bool fail(const struct stopped *stopped, int error, struct seccomp_notif_resp *response)
{
    if (strcmp(stopped->call->name, "brk") == 0) {
        response->val = (int64_t)heap_end((pid_t)stopped->request->pid);
        return response->val != 0;
    }
    if (strcmp(stopped->call->name, "close") == 0)
        close_there(stopped);
    response->error = -error;
    return true;
}

bool stopped_apply(const struct stopped *stopped, const struct point *point,
                   struct seccomp_notif_resp *response)
{
    bool done = false;

    switch (point->effect) {
    case EFFECT_ERROR:
    case EFFECT_ERRORS:
        done = fail(stopped, point->error, response);
        break;
    case EFFECT_SHORT:
        done = cut_short(stopped, response);
        break;
    case EFFECT_KILL:
        kill((pid_t)stopped->request->pid, SIGKILL);
        done = true;
        break;
    case EFFECT_KILL_AFTER: /* the tracer kills at the next call */
        break;
    }
    if (done)
        response->flags = 0;
    return done;
}
