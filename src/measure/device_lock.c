/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/device_lock.h"

#include "base/memory.h"
#include "base/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

struct at_device_lock {
    int fd;
};

/* The file, made if need be; -1 with the reason in err. */
static int open_file(const struct at_device_info *info, struct at_error *err)
{
    char *folder = at_path_runtime(), *path = at_format("%s/%s.lock", folder, info->uuid);
    int fd = -1;

    if (at_path_make(folder, err) == AT_OK) {
        fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
            at_fail(err, AT_USAGE, "cannot open %s: %s", path, strerror(errno));
    }
    free(path);
    free(folder);
    return fd;
}

/* The process that has the lock; 0: it has not written yet. */
static long holder_of(int fd)
{
    char content[16] = "";
    ssize_t got = pread(fd, content, sizeof content - 1, 0);

    return got > 0 ? strtol(content, NULL, 10) : 0;
}

/* "process 1234" */
static void name_holder(int fd, char *text, size_t size)
{
    long pid = holder_of(fd);

    if (pid > 0)
        snprintf(text, size, "process %ld", pid);
    else
        snprintf(text, size, "another process");
}

static void write_holder(int fd)
{
    char content[16];
    int size = snprintf(content, sizeof content, "%d\n", (int)getpid());

    /* Who has the lock is a help to people; where it cannot be told, the lock holds all the same.
     */
    if (ftruncate(fd, 0) != 0 || pwrite(fd, content, (size_t)size, 0) != size)
        return;
}

/* Takes it, if nobody has it. A process that is killed while it starts a worker leaves it to that
 * one until its program is loaded, which closes it: that is waited for, five seconds at most. */
static bool try_lock(int fd)
{
    const struct timespec pause_time = {0, 10000000};
    bool taken = flock(fd, LOCK_EX | LOCK_NB) == 0;

    for (int i = 0; i < 500 && !taken && errno == EWOULDBLOCK; i++) {
        long pid = holder_of(fd);

        if (pid <= 0 || kill((pid_t)pid, 0) == 0 || errno != ESRCH) {
            errno = EWOULDBLOCK;
            break;
        }
        nanosleep(&pause_time, NULL);
        taken = flock(fd, LOCK_EX | LOCK_NB) == 0;
    }
    return taken;
}

static enum at_status lock_file(int fd, const struct at_device_info *info, bool wait,
                                struct at_progress *progress, struct at_error *err)
{
    char holder[32];

    if (try_lock(fd))
        return AT_OK;
    if (errno != EWOULDBLOCK)
        return at_fail(err, AT_INTERNAL, "cannot lock %s: %s", info->name, strerror(errno));
    name_holder(fd, holder, sizeof holder);
    if (!wait)
        return at_fail(err, AT_DEVICE,
                       "%s (%s) is in use by another run of autotune, %s: wait for its end with "
                       "--wait, or name another device",
                       info->name, info->uuid, holder);
    at_note(progress, "waiting for %s (%s), which %s uses", info->name, info->uuid, holder);
    if (flock(fd, LOCK_EX) == 0)
        return AT_OK;
    return at_fail(err, AT_INTERRUPTED, "interrupted while %s had the device", holder);
}

enum at_status at_device_lock_take(struct at_device_lock **lock, const struct at_device_info *info,
                                   bool wait, struct at_progress *progress, struct at_error *err)
{
    struct at_error none;
    enum at_status status;
    int fd;

    *lock = NULL;
    if (at_device_is_emulated(info))
        return AT_OK;
    fd = open_file(info, &none);
    if (fd < 0) {
        at_warn(progress, "other runs on %s are not kept off: %s", info->name, none.message);
        return AT_OK;
    }
    status = lock_file(fd, info, wait, progress, err);
    if (status != AT_OK) {
        close(fd);
        return status;
    }
    write_holder(fd);
    *lock = at_alloc(sizeof **lock);
    (*lock)->fd = fd;
    return AT_OK;
}

/* The file stays: another process may be waiting on it. */
void at_device_lock_release(struct at_device_lock *lock)
{
    if (!lock)
        return;
    close(lock->fd);
    free(lock);
}
