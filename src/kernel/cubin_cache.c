/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cubin_cache.h"

#include "base/clock.h"
#include "base/guard.h"
#include "base/memory.h"
#include "system/file.h"
#include "system/paths.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Changes with the layout of an entry. Entries of another layout are misses. */
static const char entry_magic[8] = "atcube2";

enum { ENTRY_BYTES_MAX = 64 << 20 };

struct at_cubin_cache {
    struct at_cubin_folder folder;
    int64_t written_bytes; /* since the last trim of the folder */
    bool swept;            /* swept before the first write */
};

/* Bytes written before the folder's total is checked again. */
static const int64_t trim_interval_bytes = AT_CUBIN_CACHE_BYTES_MAX / 16;

/* Precedes the content of each file. Packed, so that no padding is written. */
struct __attribute__((packed)) entry_header {
    char magic[8];
    char key[AT_HASH_CHARS];
    char content_hash[AT_HASH_CHARS];
    uint64_t content_bytes;
};

/* Only a folder that no other user can write is trusted: its files become code on the GPU. */
static enum at_status check_folder(int fd, const char *folder, struct at_error *err)
{
    struct stat info;

    if (fstat(fd, &info) != 0)
        return at_fail(err, AT_INTERNAL, "cannot look at %s: %s", folder, strerror(errno));
    if (info.st_uid != geteuid() || (info.st_mode & 022) != 0)
        return at_fail(err, AT_USAGE, "%s belongs to, or can be written by, another user", folder);
    return AT_OK;
}

/* The folder may be a link, to a folder on another disk for instance. A link of another user could
 * make this one's files elsewhere entries. */
static enum at_status check_link(const char *folder, struct at_error *err)
{
    struct stat info;

    if (lstat(folder, &info) == 0 && S_ISLNK(info.st_mode) && info.st_uid != geteuid())
        return at_fail(err, AT_USAGE, "%s is a link that belongs to another user", folder);
    return AT_OK;
}

enum at_status at_cubin_cache_open(struct at_cubin_cache **cache, const char *folder,
                                   struct at_error *err)
{
    char *path = folder ? at_strdup(folder) : at_path_cache();
    struct at_cubin_cache *opened;
    enum at_status status;
    int fd;

    if (!path)
        return at_fail(err, AT_USAGE, "this user has no home: set HOME or XDG_CACHE_HOME");
    opened = at_alloc(sizeof *opened);
    status = at_path_make(path, err);
    if (status == AT_OK)
        status = check_link(path, err);
    if (status != AT_OK)
        goto free_all;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        status = at_fail(err, AT_USAGE, "cannot open %s: %s", path, strerror(errno));
        goto free_all;
    }
    status = check_folder(fd, path, err);
    if (status != AT_OK) {
        close(fd);
        goto free_all;
    }
    opened->folder = (struct at_cubin_folder){fd, path};
    *cache = opened;
    return AT_OK;

free_all:
    at_free(opened);
    at_free(path);
    return status;
}

void at_cubin_cache_close(struct at_cubin_cache *cache)
{
    if (!cache)
        return;
    close(cache->folder.fd);
    at_free(cache->folder.path);
    at_free(cache);
}

const struct at_cubin_folder *at_cubin_cache_folder(const struct at_cubin_cache *cache)
{
    return &cache->folder;
}

/* Read exactly size bytes. */
static bool read_exactly(int fd, void *bytes, size_t size)
{
    char *next = bytes;

    while (size > 0) {
        ssize_t got = read(fd, next, size);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        next += got;
        size -= (size_t)got;
    }
    return true;
}

static bool header_holds(const struct entry_header *header, const char *key, const void *content)
{
    char hash[AT_HASH_CHARS];

    at_hash(hash, content, header->content_bytes);
    return memcmp(header->key, key, AT_HASH_CHARS) == 0 &&
           memcmp(header->content_hash, hash, AT_HASH_CHARS) == 0;
}

/* A plain file that no other user can have written, even if the folder was once open to others. */
static bool is_ours(int fd)
{
    struct stat info;

    return fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_uid == geteuid() &&
           (info.st_mode & 022) == 0;
}

/* Read the content of KEY.KIND, which the caller frees. NULL: a miss. */
static void *read_entry(struct at_cubin_cache *cache, const char *key, const char *kind,
                        size_t *size)
{
    char name[AT_HASH_CHARS + 16];
    struct entry_header header;
    struct at_cleanup cleanup;
    void *content = NULL;
    int fd;

    snprintf(name, sizeof name, "%s.%s", key, kind);
    fd = openat(cache->folder.fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (is_ours(fd) && read_exactly(fd, &header, sizeof header) &&
        memcmp(header.magic, entry_magic, sizeof entry_magic) == 0 &&
        header.content_bytes <= ENTRY_BYTES_MAX) {
        at_cleanup_push(&cleanup, at_file_close, &fd);
        content = at_alloc(header.content_bytes);
        at_cleanup_pop(&cleanup);
        if (!read_exactly(fd, content, header.content_bytes) ||
            !header_holds(&header, key, content)) {
            at_free(content);
            content = NULL;
        }
    }
    if (content)
        futimens(fd, NULL); /* marks it as used, for the trim */
    close(fd);
    *size = content ? header.content_bytes : 0;
    return content;
}

/* Open a new file beside the entries, locked: an unlocked one was left by a killed process. Without
 * locks it is written all the same. */
static FILE *open_aside(struct at_cubin_cache *cache, const char *aside)
{
    int fd = openat(cache->folder.fd, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = NULL;

    if (fd < 0)
        return NULL;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        out = fdopen(fd, "w");
    if (!out) {
        close(fd);
        unlinkat(cache->folder.fd, aside, 0);
    }
    return out;
}

static void write_entry(struct at_cubin_cache *cache, const char *key, const char *kind,
                        const void *content, size_t size)
{
    char name[AT_HASH_CHARS + 16], aside[AT_HASH_CHARS + 64];
    static atomic_uint number; /* threads of the library write too */
    struct entry_header header = {.content_bytes = size};
    FILE *out;
    int failed;

    if (!cache->swept)
        at_cubin_folder_sweep(&cache->folder);
    cache->swept = true;
    memcpy(header.magic, entry_magic, sizeof entry_magic);
    memcpy(header.key, key, AT_HASH_CHARS);
    at_hash(header.content_hash, content, size);
    snprintf(name, sizeof name, "%s.%s", key, kind);
    /* Two containers that share a home may have the same process id, but not the same time. */
    snprintf(aside, sizeof aside, "%s.%d.%u.%" PRIx64 ".aside", name, (int)getpid(), number++,
             (uint64_t)at_now_ns());
    out = open_aside(cache, aside);
    if (!out)
        return;
    fwrite(&header, sizeof header, 1, out);
    fwrite(content, size, 1, out);
    failed = fflush(out) != 0 || ferror(out);
    /* No fsync: after a crash of the machine the checksum detects a torn entry. */
    if (failed || renameat(cache->folder.fd, aside, cache->folder.fd, name) != 0)
        unlinkat(cache->folder.fd, aside, 0);
    fclose(out); /* after the rename: closing releases the lock */
    cache->written_bytes += (int64_t)size;
    if (cache->written_bytes > trim_interval_bytes) {
        at_cubin_folder_trim(&cache->folder, AT_CUBIN_CACHE_BYTES_MAX);
        cache->written_bytes = 0;
    }
}

/* Read an entry of a known size. */
static bool find(struct at_cubin_cache *cache, const char *key, const char *kind, void *wanted,
                 size_t wanted_size)
{
    size_t size;
    void *content = cache ? read_entry(cache, key, kind, &size) : NULL;
    bool found = content && size == wanted_size;

    if (found)
        memcpy(wanted, content, size);
    at_free(content);
    return found;
}

bool at_cubin_cache_find(struct at_cubin_cache *cache, const char *key,
                         struct at_cached_kernel *kernel)
{
    return find(cache, key, "kernel", kernel, sizeof *kernel);
}

bool at_cubin_cache_find_note(struct at_cubin_cache *cache, const char *key, void *note,
                              size_t size)
{
    return find(cache, key, "note", note, size);
}

bool at_cubin_cache_load(struct at_cubin_cache *cache, const char *program, void **image,
                         size_t *size)
{
    *image = cache ? read_entry(cache, program, "program", size) : NULL;
    return *image != NULL;
}

void at_cubin_cache_put(struct at_cubin_cache *cache, const char *key,
                        const struct at_cached_kernel *kernel)
{
    if (cache)
        write_entry(cache, key, "kernel", kernel, sizeof *kernel);
}

void at_cubin_cache_put_program(struct at_cubin_cache *cache, const char *program,
                                const void *image, size_t size)
{
    if (cache)
        write_entry(cache, program, "program", image, size);
}

void at_cubin_cache_put_note(struct at_cubin_cache *cache, const char *key, const void *note,
                             size_t size)
{
    if (cache)
        write_entry(cache, key, "note", note, size);
}
