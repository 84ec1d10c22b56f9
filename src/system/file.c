/* SPDX-License-Identifier: Apache-2.0 */
#include "system/file.h"

#include "base/integer.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void at_file_close(void *data)
{
    close(*(const int *)data);
}

/* Return the descriptor that this process was started with and that the path means; -1: none. */
static int inherited(const char *path)
{
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    int64_t number;

    if (strcmp(path, AT_FILE_STDIN) == 0)
        return STDIN_FILENO;
    for (size_t i = 0; i < AT_COUNT(folders); i++) {
        size_t length = strlen(folders[i]);

        if (strncmp(path, folders[i], length) == 0 &&
            at_integer_parse(path + length, strlen(path + length), &number) && number >= 0 &&
            number <= INT_MAX)
            return (int)number;
    }
    return -1;
}

enum at_status at_file_read(char **text, size_t *size, const char *path, size_t max_bytes,
                            struct at_error *err)
{
    struct stat info = {0};
    char *buffer = NULL;
    size_t used = 0, wanted;
    ssize_t got = 1;
    struct at_cleanup cleanup;
    int given = inherited(path);
    int fd = given >= 0 ? fcntl(given, F_DUPFD_CLOEXEC, 0)
                        : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    enum at_status status;

    if (fd < 0)
        return at_fail(err, AT_USAGE, "cannot open %s: %s", path, strerror(errno));
    if (given < 0 && (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))) {
        status = at_fail(err, AT_USAGE,
                         S_ISDIR(info.st_mode) ? "%s is a folder, not a file"
                                               : "%s is not a regular file",
                         path);
        goto close_fd;
    }
    if (given < 0 && (info.st_size < 0 || (uintmax_t)info.st_size > max_bytes)) {
        status = at_fail(err, AT_USAGE, "%s has %jd bytes; at most %zu are read", path,
                         (intmax_t)info.st_size, max_bytes);
        goto close_fd;
    }
    wanted = given < 0 ? (size_t)info.st_size : max_bytes + 1; /* a pipe has no size */
    at_cleanup_push(&cleanup, at_file_close, &fd);
    buffer = at_alloc(wanted + 1);
    at_cleanup_pop(&cleanup);
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
    if (used > max_bytes) {
        status =
            at_fail(err, AT_USAGE, "%s has more than the %zu bytes that are read", path, max_bytes);
        goto free_buffer;
    }
    buffer[used] = '\0';
    *text = buffer;
    *size = used;
    close(fd);
    return AT_OK;

free_buffer:
    at_free(buffer);
close_fd:
    close(fd);
    return status;
}

enum at_status at_file_read_text(char **text, size_t *size, const char *path, size_t max_bytes,
                                 struct at_error *err)
{
    static const char mark[] = "\xef\xbb\xbf";
    const size_t length = sizeof mark - 1;
    enum at_status status = at_file_read(text, size, path, max_bytes, err);

    if (status == AT_OK && strncmp(*text, mark, length) == 0) {
        *size -= length;
        memmove(*text, *text + length, *size + 1); /* with the NUL */
    }
    return status;
}

/* ---- the files of a folder ---- */

static bool is_wanted(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);

    return name[0] != '.' && length > end && strcmp(name + length - end, suffix) == 0;
}

static int by_bytes(const void *left, const void *right)
{
    return strcmp(*(char *const *)left, *(char *const *)right);
}

static void close_stream(void *stream)
{
    closedir(stream);
}

/* Returns 0 or an errno value. */
static int read_names(struct at_folder *folder, DIR *stream, const char *suffix)
{
    const struct dirent *entry;

    errno = 0;
    while ((entry = readdir(stream))) {
        if (is_wanted(entry->d_name, suffix))
            AT_PUSH(folder->names, folder->count, folder->capacity, at_strdup(entry->d_name));
        errno = 0;
    }
    return errno;
}

int at_folder_list(struct at_folder *folder, const char *path, const char *suffix)
{
    struct at_folder listed = {0};
    struct at_cleanup cleanup;
    DIR *stream = opendir(path);
    int error;

    if (!stream && errno == ENOMEM)
        at_out_of_memory();
    if (!stream)
        return errno;
    at_cleanup_push(&cleanup, close_stream, stream);
    error = read_names(&listed, stream, suffix);
    at_cleanup_pop(&cleanup);
    closedir(stream);
    if (error != 0) {
        at_folder_clear(&listed);
        return error;
    }
    if (listed.count > 0)
        qsort(listed.names, listed.count, sizeof *listed.names, by_bytes);
    *folder = listed;
    return 0;
}

void at_folder_clear(struct at_folder *folder)
{
    for (size_t i = 0; i < folder->count; i++)
        at_free(folder->names[i]);
    at_free(folder->names);
    *folder = (struct at_folder){0};
}
