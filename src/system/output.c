/* SPDX-License-Identifier: Apache-2.0 */
#include "system/output.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "system/interrupt.h"
#include "system/paths.h"
#include "system/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct at_output {
    char *path;      /* as given */
    char *target;    /* path with links followed */
    char *temporary; /* in the target's folder */
    int fd;          /* of the temporary file; -1: none */
    bool unlocked;   /* the file system has no locks */
};

/* Fail with AT_USAGE, "cannot write PATH" and the reason of an errno value. */
static enum at_status output_cannot(const struct at_output *output, int error, struct at_error *err)
{
    return at_fail(err, AT_USAGE, "cannot write \"%s\": %s%s", output->path, strerror(error),
                   error == ENAMETOOLONG ? ": it is first written as .NAME.autotune, which takes "
                                           "ten bytes more"
                                         : "");
}

/* ---- the writer's process id, kept in the temporary file ---- */

/* Read the id that the locking process has written; 0: none. */
static long read_holder(int fd)
{
    char content[16] = "";
    ssize_t got = pread(fd, content, sizeof content - 1, 0);

    return got > 0 ? strtol(content, NULL, 10) : 0;
}

/* Write this process's id. Failure is ignored: the id is only used in messages. */
static void write_holder(int fd)
{
    char content[16];
    int size = snprintf(content, sizeof content, "%d\n", (int)getpid());
    ssize_t put = pwrite(fd, content, (size_t)size, 0);

    (void)put;
}

/* Is the lock likely to be released, or its holder to be known, in a moment? If a process is killed
 * while it starts a worker, the worker inherits the lock until exec closes it. A process that has
 * just taken the lock has not written its id yet. */
static bool is_passing(long holder)
{
    return holder <= 0 || (kill((pid_t)holder, 0) != 0 && errno == ESRCH);
}

/* ---- taking the temporary file ---- */

enum attempt { TAKEN, HELD, AGAIN, FAILED };

/* Is fd still the file that the temporary name names? Other processes rename and remove it. */
static bool output_is_named(const struct at_output *output, int fd)
{
    struct stat named, open;

    return lstat(output->temporary, &named) == 0 && fstat(fd, &open) == 0 &&
           named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

/* Open an existing temporary file: for writing, because NFS does not lock files opened read-only,
 * but another user's file may only be readable. */
static int open_found(const char *name)
{
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    int fd = open(name, O_RDWR | flags);

    return fd < 0 && errno == EACCES ? open(name, O_RDONLY | flags) : fd;
}

static bool lacks_locks(int error)
{
    return error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS;
}

bool at_output_has_record_locks(const struct at_output *output)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(output->fd, F_SETLK, &lock) == 0 || !lacks_locks(errno);
}

/* Lock the open file. Returns false with errno on failure. If the file system has no locks, sets
 * output->unlocked and returns true. */
static bool lock(struct at_output *output, int fd)
{
    int result;

    do
        result = flock(fd, LOCK_EX | LOCK_NB);
    while (result != 0 && errno == EINTR);
    output->unlocked = result != 0 && lacks_locks(errno);
    return result == 0 || output->unlocked;
}

/* Remove an existing temporary file if it is not locked: its process was killed. */
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
        *holder = read_holder(fd);
        if (errno == EWOULDBLOCK)
            return HELD;
        output_cannot(output, errno, err);
        return FAILED;
    }
    if (output_is_named(output, fd) && unlink(output->temporary) != 0 && errno != ENOENT) {
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
        /* Before it was locked, another process may have removed it as a leftover. */
        attempt = lock(output, fd) && output_is_named(output, fd) ? TAKEN : AGAIN;
    } else if (errno != EEXIST) {
        output_cannot(output, errno, err);
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

/* Create and lock the temporary file. */
static enum at_status output_take(struct at_output *output, enum at_output_wait wait,
                                  struct at_progress *progress, struct at_error *err)
{
    const struct timespec pause_time = {0, 20000000};
    int64_t began_ns = at_now_ns();
    bool noted = wait != AT_OUTPUT_WAIT || !progress;
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
                           "cannot write \"%s\": %s is about to write it: wait until it ends, or "
                           "name another file",
                           output->path, name);
        if (!noted)
            at_note(progress, "waiting for %s, which %s is about to write", output->path, name);
        noted = true;
        nanosleep(&pause_time, NULL);
        if (wait == AT_OUTPUT_WAIT && at_interrupt_seen())
            return at_fail(err, AT_INTERRUPTED, "interrupted while waiting for %s", name);
    }
    if (attempt == FAILED)
        return AT_USAGE;
    write_holder(output->fd);
    return AT_OK;
}

/* ---- names ---- */

enum { LINKS_MAX = 40 }; /* the system's own limit */

/* The target of the link at `name`; NULL if it is not a link. The caller frees it. */
static char *follow(const char *name)
{
    char to[PATH_MAX];
    ssize_t length = readlink(name, to, sizeof to);
    int folder = (int)(at_path_name(name) - name);

    if (length < 0 || length == sizeof to)
        return NULL;
    return at_format("%.*s%.*s", to[0] == '/' ? 0 : folder, name, (int)length, to);
}

/* The last link may dangle: the file is then created. stat comes first, because the system may
 * refuse to follow another user's link in a shared folder (protected_symlinks, proc_sys_fs(5)). */
static enum at_status find_names(struct at_output *output, struct at_error *err)
{
    struct stat info;
    char *next;

    if (stat(output->path, &info) == 0) {
        if (!S_ISREG(info.st_mode))
            return at_fail(err, AT_USAGE, "cannot write \"%s\": it is %s", output->path,
                           S_ISDIR(info.st_mode) ? "a folder, not a file: name a file in it"
                                                 : "not a regular file");
    } else if (errno != ENOENT) {
        return output_cannot(output, errno, err);
    }
    output->target = at_strdup(output->path);
    for (int i = 0; i < LINKS_MAX && (next = follow(output->target)); i++) {
        at_free(output->target);
        output->target = next;
    }
    if (!*at_path_name(output->target))
        return at_fail(err, AT_USAGE, "cannot write \"%s\": it does not name a file", output->path);
    output->temporary =
        at_format("%.*s.%s.autotune", (int)(at_path_name(output->target) - output->target),
                  output->target, at_path_name(output->target));
    return AT_OK;
}

/* Give the new file the owner and mode of the one that it replaces. Only root may give a file away;
 * the mode comes last, because a change of owner clears bits of it. */
static void keep_mode(const struct at_output *output)
{
    struct stat old;

    if (stat(output->target, &old) != 0)
        return;
    if (fchown(output->fd, old.st_uid, old.st_gid) != 0 && errno != EPERM)
        return;
    (void)!fchmod(output->fd, old.st_mode & 07777);
}

/* ---- open, write, close ---- */

enum at_status at_output_open(struct at_output **output, const char *path, enum at_output_wait wait,
                              struct at_progress *progress, struct at_error *err)
{
    struct at_output *opened = at_alloc(sizeof *opened);
    enum at_status status;

    opened->path = at_strdup(path);
    opened->fd = -1;
    status = find_names(opened, err);
    if (status == AT_OK)
        status = output_take(opened, wait, progress, err);
    if (status != AT_OK) {
        at_output_close(opened);
        return status;
    }
    if (opened->unlocked && progress)
        at_warn(progress, "cannot keep other runs from writing %s: its file system has no locks",
                path);
    *output = opened;
    return AT_OK;
}

static int write_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t put = write(fd, bytes, size);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        size -= (size_t)put;
    }
    return 0;
}

static void sync_folder(const struct at_output *output)
{
    char *folder =
        at_strndup(output->target, (size_t)(at_path_name(output->target) - output->target));
    int fd = open(*folder ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd); /* May fail on some file systems; the rename has happened anyway. */
        close(fd);
    }
    at_free(folder);
}

static void drop(struct at_output *output)
{
    if (output->fd >= 0)
        close(output->fd);
    output->fd = -1;
}

enum at_status at_output_write(struct at_output *output, const void *bytes, size_t size,
                               struct at_error *err)
{
    enum at_status status = AT_OK;

    /* The temporary file was removed, or, on a file system without locks, replaced. */
    if (!output_is_named(output, output->fd)) {
        drop(output);
        status = output_take(output, AT_OUTPUT_WAIT_BRIEFLY, NULL, err);
    }
    if (status != AT_OK)
        return status;
    keep_mode(output);
    if (ftruncate(output->fd, 0) != 0 || write_all(output->fd, bytes, size) != 0 ||
        fsync(output->fd) != 0)
        return at_fail(err, AT_USAGE, "cannot write %s: %s", output->path, strerror(errno));
    if (rename(output->temporary, output->target) != 0)
        return at_fail(err, AT_USAGE, "cannot replace %s: %s", output->path, strerror(errno));
    sync_folder(output);
    drop(output);
    return AT_OK;
}

void at_output_close(struct at_output *output)
{
    if (!output)
        return;
    if (output->fd >= 0 && output_is_named(output, output->fd))
        unlink(output->temporary);
    drop(output);
    at_free(output->temporary);
    at_free(output->target);
    at_free(output->path);
    at_free(output);
}

enum at_status at_output_check(const char *path, struct at_error *err)
{
    struct at_output *output = NULL;
    enum at_status status = at_output_open(&output, path, AT_OUTPUT_WAIT_BRIEFLY, NULL, err);

    at_output_close(output);
    return status;
}

enum at_status at_output_replace(const char *path, const void *bytes, size_t size,
                                 struct at_error *err)
{
    struct at_output *output = NULL;
    enum at_status status = at_output_open(&output, path, AT_OUTPUT_WAIT_BRIEFLY, NULL, err);

    if (status == AT_OK)
        status = at_output_write(output, bytes, size, err);
    at_output_close(output);
    return status;
}

enum at_status at_output_replace_text(const char *path, struct at_text_stream *stream,
                                      enum at_status written, struct at_error *err)
{
    size_t size;
    char *text = at_text_close(stream, &size);

    if (written == AT_OK)
        written = at_output_replace(path, text, size, err);
    at_free(text);
    return written;
}
