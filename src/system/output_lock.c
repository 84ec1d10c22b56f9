/* SPDX-License-Identifier: Apache-2.0 */
/* The temporary file: made, locked, taken over from a process that was killed. */
#include "system/output_parts.h"

#include "base/clock.h"
#include "system/interrupt.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum at_status at_output_cannot(const struct at_output *output, int error, struct at_error *err)
{
    return at_fail(err, AT_USAGE, "cannot write \"%s\": %s%s", output->path, strerror(error),
                   error == ENAMETOOLONG ? ": it is first written as .NAME.autotune, which takes "
                                           "ten bytes more"
                                         : "");
}

/* ---- who writes it ---- */

/* The process that has locked the file, as it says itself; 0: it has not said. */
static long holder_of(int fd)
{
    char content[16] = "";
    ssize_t got = pread(fd, content, sizeof content - 1, 0);

    return got > 0 ? strtol(content, NULL, 10) : 0;
}

/* A help to people: where it cannot be told, the lock holds all the same. */
static void tell_holder(int fd)
{
    char content[16];
    int size = snprintf(content, sizeof content, "%d\n", (int)getpid());
    ssize_t put = pwrite(fd, content, (size_t)size, 0);

    (void)put;
}

/* May the lock be free in a moment, or tell more? A process that is killed while it starts a worker
 * leaves its lock to that one until its program is loaded, which closes it. One that has just taken
 * it has not yet said who it is. */
static bool is_passing(long holder)
{
    return holder <= 0 || (kill((pid_t)holder, 0) != 0 && errno == ESRCH);
}

/* ---- taking the temporary file ---- */

enum attempt { TAKEN, HELD, AGAIN, FAILED };

bool at_output_is_named(const struct at_output *output, int fd)
{
    struct stat named, open;

    return lstat(output->temporary, &named) == 0 && fstat(fd, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/* There is one already. NFS locks no file that is only read; but another user's may be. */
static int open_found(const char *name)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = open(name, O_RDWR | flags);

    return fd < 0 && errno == EACCES ? open(name, O_RDONLY | flags) : fd;
}

/* Locks the open file; false with errno where it cannot. */
static bool lock(struct at_output *output, int fd)
{
    int result;

    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    output->unlocked = result != 0 && (errno == ENOLCK || errno == EOPNOTSUPP || errno == ENOSYS);
    return result == 0 || output->unlocked;
}

/* Locks a file that was there already. What nobody else has locked is what a process has left that
 * was killed: it goes. */
static enum attempt clear_found(struct at_output *output, int fd, long *holder,
                                struct at_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        at_fail(err, AT_USAGE, "cannot write \"%s\": %s is not a regular file: remove it",
                output->path, output->temporary);
        return FAILED;
    }
    if (!lock(output, fd)) {
        *holder = holder_of(fd);
        if (errno == EWOULDBLOCK)
            return HELD;
        at_output_cannot(output, errno, err);
        return FAILED;
    }
    if (at_output_is_named(output, fd) && unlink(output->temporary) != 0 && errno != ENOENT) {
        at_fail(err, AT_USAGE,
                "cannot write \"%s\": cannot remove %s, which another run has left: %s",
                output->path, output->temporary, strerror(errno));
        return FAILED;
    }
    return AGAIN;
}

static enum attempt try_to_take(struct at_output *output, long *holder, struct at_error *err)
{
    int fd = open(output->temporary, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
    enum attempt attempt;

    *holder = 0;
    if (fd >= 0) {
        /* Before the lock another process may have taken it for left behind, and removed it. */
        attempt = lock(output, fd) && at_output_is_named(output, fd) ? TAKEN : AGAIN;
    } else if (errno != EEXIST) {
        at_output_cannot(output, errno, err);
        return FAILED;
    } else {
        fd = open_found(output->temporary);
        if (fd < 0 && errno == ENOENT)
            return AGAIN;
        if (fd < 0) {
            at_fail(err, AT_USAGE, "cannot write \"%s\": cannot open %s: %s: remove it",
                    output->path, output->temporary, strerror(errno));
            return FAILED;
        }
        attempt = clear_found(output, fd, holder, err);
    }
    if (attempt == TAKEN)
        output->fd = fd;
    else
        close(fd);
    return attempt;
}

static const int64_t waits_ns[] = {
    [AT_OUTPUT_NO_WAIT] = 0,
    [AT_OUTPUT_WAIT_BRIEFLY] = INT64_C(10000000000),
    [AT_OUTPUT_WAIT] = INT64_MAX,
};
static const int64_t passing_ns = INT64_C(5000000000);

enum at_status at_output_take(struct at_output *output, enum at_output_wait wait,
                              struct at_progress *progress, struct at_error *err)
{
    const struct timespec pause_time = {0, 20000000};
    int64_t began_ns = at_now_ns();
    bool told = wait != AT_OUTPUT_WAIT || !progress;
    enum attempt attempt;
    char name[32];
    long holder;

    while ((attempt = try_to_take(output, &holder, err)) == HELD || attempt == AGAIN) {
        int64_t waited_ns = at_now_ns() - began_ns;

        if (attempt == AGAIN)
            continue;
        snprintf(name, sizeof name, holder > 0 ? "process %ld" : "another process", holder);
        if (waited_ns >= waits_ns[wait] && !(is_passing(holder) && waited_ns < passing_ns))
            return at_fail(err, AT_USAGE,
                           "cannot write \"%s\": %s is about to write it: wait for its end, or "
                           "name another file",
                           output->path, name);
        if (!told)
            at_note(progress, "waiting for %s, which %s is about to write", output->path, name);
        told = true;
        nanosleep(&pause_time, NULL);
        if (wait == AT_OUTPUT_WAIT && at_interrupt_seen())
            return at_fail(err, AT_INTERRUPTED, "interrupted while %s had %s", name, output->path);
    }
    if (attempt == FAILED)
        return AT_USAGE;
    tell_holder(output->fd);
    return AT_OK;
}
