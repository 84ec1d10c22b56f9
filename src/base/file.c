/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum at_status at_file_read(char **text, size_t *size, const char *path, size_t max_bytes,
                            struct at_error *err)
{
    struct stat info;
    char *buffer = NULL;
    size_t used = 0, wanted;
    ssize_t got = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum at_status status;

    if (fd < 0)
        return at_fail(err, AT_USAGE, "cannot open %s: %s", path, strerror(errno));
    if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
        status = at_fail(err, AT_USAGE, "%s is not a regular file", path);
        goto close_fd;
    }
    if (info.st_size < 0 || (uintmax_t)info.st_size > max_bytes) {
        status = at_fail(err, AT_USAGE, "%s has %jd bytes; at most %zu are read", path,
                         (intmax_t)info.st_size, max_bytes);
        goto close_fd;
    }
    wanted = (size_t)info.st_size;
    buffer = at_alloc(wanted + 1);
    while (used < wanted && (got = read(fd, buffer + used, wanted - used)) != 0) {
        if (got > 0)
            used += (size_t)got;
        else if (errno != EINTR)
            break;
    }
    if (got < 0) {
        status = at_fail(err, AT_USAGE, "cannot read %s: %s", path, strerror(errno));
        goto free_buffer;
    }
    buffer[used] = '\0';
    *text = buffer;
    *size = used;
    close(fd);
    return AT_OK;

free_buffer:
    free(buffer);
close_fd:
    close(fd);
    return status;
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

/* Opens a new temporary file beside path. *temporary and *folder are the caller's to free. */
static int open_beside(const char *path, char **temporary, char **folder)
{
    char *copy = at_strdup(path);
    int fd;

    *folder = at_strdup(dirname(copy));
    free(copy);
    *temporary = at_format("%s/.autotune-XXXXXX", *folder);
    fd = mkostemp(*temporary, O_CLOEXEC);
    return fd;
}

static void sync_folder(const char *folder)
{
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd >= 0) {
        fsync(fd); /* Some file systems cannot; the rename has happened all the same. */
        close(fd);
    }
}

enum at_status at_file_replace(const char *path, const void *bytes, size_t size,
                               struct at_error *err)
{
    char *temporary, *folder;
    enum at_status status = AT_OK;
    int fd = open_beside(path, &temporary, &folder);
    mode_t mask = umask(0);

    umask(mask); /* The only way to learn it is to set it. */
    if (fd < 0) {
        status = at_fail(err, AT_USAGE, "cannot write in %s: %s", folder, strerror(errno));
        goto free_names;
    }
    /* mkostemp gives 0600; a result file is as readable as any other the user makes. */
    if (fchmod(fd, 0666 & ~mask) != 0 || write_all(fd, bytes, size) != 0 || fsync(fd) != 0) {
        status = at_fail(err, AT_INTERNAL, "cannot write %s: %s", path, strerror(errno));
        close(fd);
        goto remove_temporary;
    }
    close(fd);
    if (rename(temporary, path) != 0) {
        status = at_fail(err, AT_USAGE, "cannot replace %s: %s", path, strerror(errno));
        goto remove_temporary;
    }
    sync_folder(folder);
    goto free_names;

remove_temporary:
    unlink(temporary);
free_names:
    free(temporary);
    free(folder);
    return status;
}

enum at_status at_file_check_writable(const char *path, struct at_error *err)
{
    char *temporary, *folder;
    enum at_status status = AT_OK;
    struct stat info;
    bool there = stat(path, &info) == 0;
    int fd;

    if (there && !S_ISREG(info.st_mode))
        return at_fail(err, AT_USAGE, "cannot write %s: it is not a regular file", path);
    /* Where there is no such file yet, making it tells of a name that cannot be one. */
    fd = there ? open_beside(path, &temporary, &folder)
               : open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 && (there || errno != EEXIST)) { /* a link to nothing can be replaced */
        status = at_fail(err, AT_USAGE, "cannot write \"%s\": %s", path, strerror(errno));
    } else if (fd >= 0) {
        close(fd);
        unlink(there ? temporary : path);
    }
    if (there) {
        free(temporary);
        free(folder);
    }
    return status;
}
