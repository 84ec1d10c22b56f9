/* SPDX-License-Identifier: Apache-2.0 */
#include "system/folder.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
