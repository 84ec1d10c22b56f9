/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cubin_folder.h"

#include "base/guard.h"
#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum kind { KERNEL, PROGRAM, NOTE, ASIDE, KINDS };

static const char *const suffixes[KINDS] = {".kernel", ".program", ".note", ".aside"};

struct entry {
    char *name;
    enum kind kind;
    int64_t bytes;
    struct timespec used;
};

struct listing {
    struct entry *entries;
    size_t count, capacity;
};

static bool has_kind(const char *name, enum kind *kind)
{
    const char *dot = strrchr(name, '.');

    for (*kind = 0; dot && *kind < KINDS; ++*kind)
        if (strcmp(dot, suffixes[*kind]) == 0)
            return true;
    return false;
}

static void free_listing(struct listing *listing)
{
    for (size_t i = 0; i < listing->count; i++)
        at_free(listing->entries[i].name);
    at_free(listing->entries);
}

static void close_stream(void *stream)
{
    closedir(stream);
}

/* Add the entry of a name to the listing, if it is one. False: it cannot be read. */
static bool list_entry(struct listing *listing, int folder, const char *name)
{
    struct entry entry;
    struct stat info;

    if (!has_kind(name, &entry.kind))
        return true;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT; /* another process has removed it */
    entry.name = at_strdup(name);
    entry.bytes = info.st_size;
    entry.used = info.st_mtim;
    AT_PUSH(listing->entries, listing->count, listing->capacity, entry);
    return true;
}

static enum at_status list_entries(const struct at_cubin_folder *folder, struct listing *listing,
                                   struct at_error *err)
{
    int fd = openat(folder->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    enum at_status status = AT_OK;
    struct dirent *next;
    struct at_cleanup cleanup;

    *listing = (struct listing){0};
    if (!stream) {
        at_fail(err, AT_USAGE, "cannot read the folder %s: %s", folder->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return AT_USAGE;
    }
    at_cleanup_push(&cleanup, close_stream, stream);
    for (errno = 0; (next = readdir(stream)); errno = 0)
        if (!list_entry(listing, fd, next->d_name))
            break;
    if (errno != 0) {
        status =
            at_fail(err, AT_USAGE, "cannot list the folder %s: %s", folder->path, strerror(errno));
        free_listing(listing);
    }
    at_cleanup_pop(&cleanup);
    closedir(stream);
    return status;
}

enum at_status at_cubin_folder_usage(const struct at_cubin_folder *folder,
                                     struct at_cubin_usage *usage, struct at_error *err)
{
    struct listing listing;
    enum at_status status = list_entries(folder, &listing, err);

    if (status != AT_OK)
        return status;
    *usage = (struct at_cubin_usage){0};
    for (size_t i = 0; i < listing.count; i++) {
        usage->kernels += listing.entries[i].kind == KERNEL;
        usage->programs += listing.entries[i].kind == PROGRAM;
        usage->bytes += listing.entries[i].bytes;
    }
    free_listing(&listing);
    return AT_OK;
}

static int by_use(const void *left, const void *right)
{
    const struct timespec *a = &((const struct entry *)left)->used;
    const struct timespec *b = &((const struct entry *)right)->used;

    if (a->tv_sec != b->tv_sec)
        return a->tv_sec < b->tv_sec ? -1 : 1;
    return (a->tv_nsec > b->tv_nsec) - (a->tv_nsec < b->tv_nsec);
}

void at_cubin_folder_trim(const struct at_cubin_folder *folder, int64_t most)
{
    struct listing listing;
    int64_t bytes = 0;

    if (list_entries(folder, &listing, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < listing.count; i++)
        bytes += listing.entries[i].bytes;
    if (bytes > most) {
        if (listing.count > 0)
            qsort(listing.entries, listing.count, sizeof *listing.entries, by_use);
        for (size_t i = 0; i < listing.count && bytes > most / 4 * 3; i++)
            if (unlinkat(folder->fd, listing.entries[i].name, 0) == 0)
                bytes -= listing.entries[i].bytes;
    }
    free_listing(&listing);
}

void at_cubin_folder_sweep(const struct at_cubin_folder *folder)
{
    struct listing listing;

    if (list_entries(folder, &listing, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < listing.count; i++) {
        const struct entry *entry = &listing.entries[i];
        int fd = entry->kind == ASIDE ? openat(folder->fd, entry->name,
                                               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                                      : -1;

        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) /* its writer has ended */
            unlinkat(folder->fd, entry->name, 0);
        close(fd);
    }
    free_listing(&listing);
}

enum at_status at_cubin_folder_clear(const struct at_cubin_folder *folder, struct at_error *err)
{
    struct listing listing;
    size_t kept = 0;
    enum at_status status = list_entries(folder, &listing, err);

    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < listing.count; i++) {
        if (unlinkat(folder->fd, listing.entries[i].name, 0) == 0 ||
            errno == ENOENT) /* another process removed it */
            continue;
        if (kept++ == 0)
            at_fail(err, AT_USAGE, "cannot remove %s/%s: %s", folder->path, listing.entries[i].name,
                    strerror(errno));
    }
    if (kept > 1)
        at_fail_within(err, "%zu files were not removed", kept);
    free_listing(&listing);
    return kept == 0 ? AT_OK : AT_USAGE;
}
