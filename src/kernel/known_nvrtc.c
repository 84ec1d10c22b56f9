/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/known_nvrtc.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

static void key_of(char key[AT_HASH_CHARS], int64_t compute_capability)
{
    const char *folders = getenv("LD_LIBRARY_PATH");
    char *request = at_nvrtc_request();
    char *text = at_format("%s\n%s\n%d", request, folders ? folders : "", (int)compute_capability);

    at_hash(key, text, strlen(text));
    at_free(text);
    at_free(request);
}

bool at_known_nvrtc_find(struct at_cubin_cache *cache, int64_t compute_capability,
                         struct at_compiler *compiler)
{
    char key[AT_HASH_CHARS];
    struct note note;
    struct stamp library, loader;

    key_of(key, compute_capability);
    if (!at_cubin_cache_find_note(cache, key, &note, sizeof note))
        return false;
    note.path[sizeof note.path - 1] = '\0';
    library = stamp_of(note.path);
    loader = stamp_of(loader_cache);
    if (!same_stamp(&library, &note.library) || !same_stamp(&loader, &note.loader_cache))
        return false;
    *compiler = note.compiler;
    return true;
}

void at_known_nvrtc_put(struct at_cubin_cache *cache, int64_t compute_capability,
                        const struct at_nvrtc *nvrtc)
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
    key_of(key, compute_capability);
    at_cubin_cache_put_note(cache, key, &note, sizeof note);
}
