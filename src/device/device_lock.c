/* SPDX-License-Identifier: Apache-2.0 */
#include "device/device_lock.h"

#include "base/memory.h"
#include "device/gpu_node.h"
#include "device/kind.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

struct at_device_lock {
    int fd;
};

/* Open the device's special file; -1 with the reason in err. */
static int open_node(const struct at_device_info *info, struct at_error *err)
{
    char *path;
    int fd;

    if (at_gpu_node(&path, "", info->pci_bus_id, err) != AT_OK)
        return -1;
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        at_fail(err, AT_DEVICE, "cannot open %s: %s", path, strerror(errno));
    free(path);
    return fd;
}

/* Find the process that holds the lock in /proc/locks (proc(5)); 0 if it has ended or belongs to
 * another container. */
static int find_lock_holder(int fd)
{
    FILE *locks = fopen("/proc/locks", "re");
    struct stat file;
    char line[256];
    int holder = 0;

    if (!locks)
        return 0;
    if (fstat(fd, &file) == 0)
        while (holder == 0 && fgets(line, sizeof line, locks)) {
            unsigned major_number, minor_number;
            uintmax_t inode;
            int pid;

            if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%ju", &pid, &major_number, &minor_number,
                       &inode) == 4 &&
                makedev(major_number, minor_number) == file.st_dev && inode == file.st_ino &&
                pid > 0 && (kill(pid, 0) == 0 || errno != ESRCH))
                holder = pid;
        }
    fclose(locks);
    return holder;
}

/* Take the lock if it is free. If a process is killed while it starts a worker, the worker inherits
 * the lock until exec closes it. Wait for that, at most five seconds. */
static bool try_lock(int fd)
{
    const struct timespec pause_time = {0, 10000000};
    bool taken = flock(fd, LOCK_EX | LOCK_NB) == 0;

    for (int i = 0; i < 500 && !taken && errno == EWOULDBLOCK; i++) {
        if (find_lock_holder(fd) > 0) {
            errno = EWOULDBLOCK;
            break;
        }
        nanosleep(&pause_time, NULL);
        taken = flock(fd, LOCK_EX | LOCK_NB) == 0;
    }
    return taken;
}

/* Lock an open file. If its file system has no locks, warns and sets *taken to false. */
static enum at_status lock_file(int fd, const struct at_device_info *info, bool wait,
                                struct at_progress *progress, bool *taken, struct at_error *err)
{
    char holder[32];
    int pid;

    *taken = try_lock(fd);
    if (*taken)
        return AT_OK;
    if (errno != EWOULDBLOCK) {
        at_warn(progress, "cannot keep other runs off %s: cannot lock its special file: %s",
                info->name, strerror(errno));
        return AT_OK;
    }
    pid = find_lock_holder(fd);
    snprintf(holder, sizeof holder, pid > 0 ? "process %d" : "another process", pid);
    if (!wait)
        return at_fail(
            err, AT_DEVICE,
            "%s (%s) is in use by another run of autotune, %s: wait for it with --wait, or "
            "name another device",
            info->name, info->uuid, holder);
    at_note(progress, "waiting for %s (%s), which %s uses", info->name, info->uuid, holder);
    *taken = flock(fd, LOCK_EX) == 0;
    if (*taken)
        return AT_OK;
    return at_fail(err, AT_INTERRUPTED, "interrupted while waiting for %s", holder);
}

enum at_status at_device_lock_take(struct at_device_lock **lock, const struct at_device_info *info,
                                   bool wait, struct at_progress *progress, struct at_error *err)
{
    struct at_error reason;
    enum at_status status;
    bool taken;
    int fd;

    *lock = NULL;
    if (!at_device_kind(info)->hardware)
        return AT_OK;
    fd = open_node(info, &reason);
    if (fd < 0) {
        at_warn(progress, "cannot keep other runs off %s: %s", info->name, reason.message);
        return AT_OK;
    }
    status = lock_file(fd, info, wait, progress, &taken, err);
    if (status != AT_OK || !taken) {
        close(fd);
        return status;
    }
    *lock = at_alloc(sizeof **lock);
    (*lock)->fd = fd;
    return AT_OK;
}

void at_device_lock_release(struct at_device_lock *lock)
{
    if (!lock)
        return;
    close(lock->fd);
    free(lock);
}
