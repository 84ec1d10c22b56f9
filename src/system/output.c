/* SPDX-License-Identifier: Apache-2.0 */
#include "system/output_parts.h"

#include "base/memory.h"
#include "system/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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
            return at_fail(err, AT_USAGE, "cannot write \"%s\": it is not a regular file",
                           output->path);
    } else if (errno != ENOENT) {
        return at_output_cannot(output, errno, err);
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
        status = at_output_take(opened, wait, progress, err);
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
    if (!at_output_is_named(output, output->fd)) {
        drop(output);
        status = at_output_take(output, AT_OUTPUT_WAIT_BRIEFLY, NULL, err);
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
    if (output->fd >= 0 && at_output_is_named(output, output->fd))
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
