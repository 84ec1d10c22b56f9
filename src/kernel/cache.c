/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cache.h"

#include "base/clock.h"
#include "base/memory.h"
#include "system/file.h"
#include "system/paths.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct at_cubin_cache {
    int fd; /* of the folder */
    char *path;
    int64_t written_bytes; /* since the last trim */
    bool is_swept;
};

/* ---- the folder's files ---- */

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

/* Add the entry of a name to the listing, if it is one of the wanted kind. False: it cannot be
 * read. */
static bool list_entry(struct listing *listing, int folder, const char *name, enum kind wanted)
{
    struct entry entry;
    struct stat info;

    if (!has_kind(name, &entry.kind) || (wanted != KINDS && entry.kind != wanted))
        return true;
    if (fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT; /* another process has removed it */
    entry.name = at_strdup(name);
    entry.bytes = info.st_size;
    entry.used = info.st_mtim;
    AT_PUSH(listing->entries, listing->count, listing->capacity, entry);
    return true;
}

/* List the entries of a kind, or of all: KINDS. */
static enum at_status list_entries(const struct at_cubin_cache *cache, enum kind wanted,
                                   struct listing *listing, struct at_error *err)
{
    int fd = openat(cache->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd < 0 ? NULL : fdopendir(fd);
    enum at_status status = AT_OK;
    struct dirent *next;
    struct at_cleanup cleanup;

    *listing = (struct listing){0};
    if (!stream) {
        at_fail(err, AT_USAGE, "cannot read the folder %s: %s", cache->path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return AT_USAGE;
    }
    at_cleanup_push(&cleanup, close_stream, stream);
    for (errno = 0; (next = readdir(stream)); errno = 0)
        if (!list_entry(listing, fd, next->d_name, wanted))
            break;
    if (errno != 0) {
        status =
            at_fail(err, AT_USAGE, "cannot list the folder %s: %s", cache->path, strerror(errno));
        free_listing(listing);
    }
    at_cleanup_pop(&cleanup);
    closedir(stream);
    return status;
}

enum at_status at_cubin_cache_usage(const struct at_cubin_cache *cache,
                                    struct at_cubin_usage *usage, struct at_error *err)
{
    struct listing listing;
    enum at_status status = list_entries(cache, KINDS, &listing, err);

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

void at_cubin_cache_trim(const struct at_cubin_cache *cache, int64_t most)
{
    struct listing listing;
    int64_t bytes = 0;

    if (list_entries(cache, KINDS, &listing, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < listing.count; i++)
        bytes += listing.entries[i].bytes;
    if (bytes > most) {
        if (listing.count > 0)
            qsort(listing.entries, listing.count, sizeof *listing.entries, by_use);
        for (size_t i = 0; i < listing.count && bytes > most / 4 * 3; i++)
            if (unlinkat(cache->fd, listing.entries[i].name, 0) == 0)
                bytes -= listing.entries[i].bytes;
    }
    free_listing(&listing);
}

void at_cubin_cache_sweep(struct at_cubin_cache *cache)
{
    struct listing listing;

    cache->is_swept = true;
    if (list_entries(cache, ASIDE, &listing, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < listing.count; i++) {
        const char *name = listing.entries[i].name;
        int fd = openat(cache->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

        if (fd < 0)
            continue;
        if (flock(fd, LOCK_EX | LOCK_NB) == 0) /* its writer has ended */
            unlinkat(cache->fd, name, 0);
        close(fd);
    }
    free_listing(&listing);
}

char *at_cubin_usage_text(const struct at_cubin_usage *usage)
{
    return at_format("%zu kernels in %zu programs, %.1f MiB of at most %" PRId64 " MiB",
                     usage->kernels, usage->programs, (double)usage->bytes / 0x1p20,
                     AT_CUBIN_CACHE_BYTES_MAX >> 20);
}

enum at_status at_cubin_cache_clear(const struct at_cubin_cache *cache, struct at_error *err)
{
    struct listing listing;
    size_t kept = 0;
    enum at_status status = list_entries(cache, KINDS, &listing, err);

    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < listing.count; i++) {
        if (unlinkat(cache->fd, listing.entries[i].name, 0) == 0 ||
            errno == ENOENT) /* another process removed it */
            continue;
        if (kept++ == 0)
            at_fail(err, AT_USAGE, "cannot remove %s/%s: %s", cache->path, listing.entries[i].name,
                    strerror(errno));
    }
    if (kept > 1)
        at_fail_within(err, "%zu files were not removed", kept);
    free_listing(&listing);
    return kept == 0 ? AT_OK : AT_USAGE;
}

/* ---- opening and entries ---- */

/* Changes with the layout of an entry. Entries of another layout are misses. */
static const char entry_magic[8] = "atcube2";

enum { ENTRY_BYTES_MAX = 64 << 20 };

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
    char *path = folder ? at_strdup(folder) : at_path_user("XDG_CACHE_HOME", ".cache");
    struct at_cubin_cache *opened;
    enum at_status status;
    int fd;

    if (!path)
        return at_fail(err, AT_USAGE, "this user has no home: set HOME or XDG_CACHE_HOME");
    opened = at_alloc(sizeof *opened);
    status = check_link(path, err);
    if (status != AT_OK)
        goto free_all;
    fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        status = at_path_make(path, 0700, err);
        if (status != AT_OK)
            goto free_all;
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    }
    if (fd < 0) {
        status = at_fail(err, AT_USAGE, "cannot open %s: %s", path, strerror(errno));
        goto free_all;
    }
    status = check_folder(fd, path, err);
    if (status != AT_OK) {
        close(fd);
        goto free_all;
    }
    opened->fd = fd;
    opened->path = path;
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
    close(cache->fd);
    at_free(cache->path);
    at_free(cache);
}

const char *at_cubin_cache_path(const struct at_cubin_cache *cache)
{
    return cache->path;
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
    fd = openat(cache->fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
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
    int fd = openat(cache->fd, aside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *out = NULL;

    if (fd < 0)
        return NULL;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        out = fdopen(fd, "w");
    if (!out) {
        close(fd);
        unlinkat(cache->fd, aside, 0);
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

    if (!cache->is_swept)
        at_cubin_cache_sweep(cache);
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
    if (failed || renameat(cache->fd, aside, cache->fd, name) != 0)
        unlinkat(cache->fd, aside, 0);
    fclose(out); /* after the rename: closing releases the lock */
    cache->written_bytes += (int64_t)size;
    if (cache->written_bytes > trim_interval_bytes) {
        at_cubin_cache_trim(cache, AT_CUBIN_CACHE_BYTES_MAX);
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

bool at_cubin_cache_recall(struct at_cubin_cache *cache, const char *key, void *note, size_t size)
{
    return find(cache, key, "note", note, size);
}

void at_cubin_cache_note(struct at_cubin_cache *cache, const char *key, const void *note,
                         size_t size)
{
    if (cache)
        write_entry(cache, key, "note", note, size);
}

/* ---- what is known of an NVRTC that is not loaded ---- */

/* Identifies a file's content; zeroes if there is no file. */
struct stamp {
    int64_t device, inode, bytes, changed_s, changed_ns;
};

struct note {
    char path[1024]; /* of NVRTC */
    struct stamp library, loader_cache;
    struct at_compiler compiler;
};

/* The loader searches it after LD_LIBRARY_PATH (ld.so(8)). */
static const char loader_cache[] = "/etc/ld.so.cache";

static struct stamp stamp_of(const char *path)
{
    struct stat info;

    if (stat(path, &info) != 0)
        return (struct stamp){0};
    return (struct stamp){(int64_t)info.st_dev, (int64_t)info.st_ino, info.st_size,
                          info.st_mtim.tv_sec, info.st_mtim.tv_nsec};
}

static bool same_stamp(const struct stamp *a, const struct stamp *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

static void nvrtc_key(char key[AT_HASH_CHARS], int64_t compute_capability)
{
    const char *folders = getenv("LD_LIBRARY_PATH");
    char *request = at_nvrtc_request();
    char *text = at_format("%s\n%s\n%d", request, folders ? folders : "", (int)compute_capability);

    at_hash(key, text, strlen(text));
    at_free(text);
    at_free(request);
}

bool at_nvrtc_recall(struct at_compiler *compiler, int64_t compute_capability,
                     struct at_cubin_cache *cache)
{
    char key[AT_HASH_CHARS];
    struct note note;
    struct stamp library, loader;

    nvrtc_key(key, compute_capability);
    if (!at_cubin_cache_recall(cache, key, &note, sizeof note))
        return false;
    note.path[sizeof note.path - 1] = '\0';
    library = stamp_of(note.path);
    loader = stamp_of(loader_cache);
    if (!same_stamp(&library, &note.library) || !same_stamp(&loader, &note.loader_cache))
        return false;
    *compiler = note.compiler;
    return true;
}

void at_nvrtc_remember(const struct at_nvrtc *nvrtc, int64_t compute_capability,
                       struct at_cubin_cache *cache)
{
    const char *path = at_nvrtc_path();
    char key[AT_HASH_CHARS];
    struct note note;

    memset(&note, 0, sizeof note); /* clears the padding, which is written too */
    note.compiler = *at_nvrtc_compiler(nvrtc);
    note.library = stamp_of(path);
    note.loader_cache = stamp_of(loader_cache);
    /* A relative path may mean another file next time. */
    if (path[0] != '/' || strlen(path) >= sizeof note.path || note.library.inode == 0)
        return;
    strcpy(note.path, path);
    nvrtc_key(key, compute_capability);
    at_cubin_cache_note(cache, key, &note, sizeof note);
}
