/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cuda_headers.h"

#include "base/memory.h"
#include "system/file.h"
#include "system/paths.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Every installation with headers for kernels has it. */
static const char sign[] = "cuda_fp16.h";

enum { CUDA_H_BYTES_MAX = 8 << 20 };

/* Where a search begins. */
enum base { NAMED, HOME, PATH, NVRTC, CONFIGURED, SYSTEM, BASES };

static const char *const variables[BASES] = {
    [NAMED] = "AUTOTUNE_CUDA_INCLUDE",
    [HOME] = "CUDA_HOME",
    [PATH] = "CUDA_PATH",
};

/* The folders to look in, in this order. The library's folder is lib64, lib or targets/NAME/lib of
 * a toolkit, lib of NVIDIA's packages for Python (nvidia/cu13; before CUDA 13, each part has a
 * folder), or the system's lib/NAME. */
static const struct {
    enum base base;
    const char *below;
} places[] = {
    {NVRTC, "../include"},
    {NVRTC, "../targets/x86_64-linux/include"},
    {NVRTC, "../targets/sbsa-linux/include"},
    {NVRTC, "../../cuda_runtime/include"},
    {HOME, "include"},
    {HOME, "targets/x86_64-linux/include"},
    {HOME, "targets/sbsa-linux/include"},
    {HOME, "cuda_runtime/include"},
    {PATH, "include"},
    {PATH, "targets/x86_64-linux/include"},
    {PATH, "targets/sbsa-linux/include"},
    {PATH, "cuda_runtime/include"},
    {CONFIGURED, "../include"},
    {CONFIGURED, "../targets/x86_64-linux/include"},
    {CONFIGURED, "../targets/sbsa-linux/include"},
    {CONFIGURED, "../../cuda_runtime/include"},
    {SYSTEM, "local/cuda/include"},
    {SYSTEM, "include"},
};

/* Where libcu++ lies, from the headers: since CUDA 13, and in the packages for Python before. In
 * older toolkits it is among the headers. */
static const char *const libcuxx_places[] = {"cccl", "../../cuda_cccl/include"};

/* The folder of a file; NULL if its name has none. */
static char *folder_of(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? at_strndup(file, (size_t)(slash - file)) : NULL;
}

static char *base_folder(enum base base, const char *nvrtc_path)
{
    const char *value = variables[base] ? getenv(variables[base]) : NULL;

    switch (base) {
    case NVRTC:
        return folder_of(nvrtc_path);
    case CONFIGURED:
        return at_path_from_own_file(AT_CUDA_LIBDIR);
    case SYSTEM:
        return at_strdup("/usr");
    default:
        return value && *value ? at_strdup(value) : NULL;
    }
}

/* The folder `below` of base, if it has this file; NULL otherwise. */
static char *look_in(const char *base, const char *below, const char *name)
{
    char *folder = at_format("%s/%s", base, below), *file = at_format("%s/%s", folder, name);
    bool found = access(file, R_OK) == 0;

    at_free(file);
    if (found)
        return folder;
    at_free(folder);
    return NULL;
}

int at_cuda_headers_version(const char *folder)
{
    static const char definition[] = "#define CUDA_VERSION ";
    char *path = at_format("%s/cuda.h", folder), *text = NULL;
    const char *found;
    size_t size;
    int version = 0;

    if (at_file_read(&text, &size, path, CUDA_H_BYTES_MAX, NULL) == AT_OK) {
        found = strstr(text, definition);
        if (found)
            version = atoi(found + strlen(definition));
    }
    at_free(text);
    at_free(path);
    return version / 1000 * 100 + version % 1000 / 10;
}

char *at_cuda_headers_find(const char *nvrtc_path, int version)
{
    char *first = base_folder(NAMED, nvrtc_path);

    if (first)
        return first;
    for (size_t i = 0; i < AT_COUNT(places); i++) {
        char *base = base_folder(places[i].base, nvrtc_path);
        char *found = base ? look_in(base, places[i].below, sign) : NULL;

        at_free(base);
        if (found && at_cuda_headers_version(found) == version) {
            at_free(first);
            return found;
        }
        if (first)
            at_free(found);
        else
            first = found;
    }
    return first;
}

char *at_cuda_headers_libcuxx(const char *folder)
{
    char *found = NULL;

    for (size_t i = 0; i < AT_COUNT(libcuxx_places) && !found; i++)
        found = look_in(folder, libcuxx_places[i], "cuda");
    return found;
}

/* The headers of a folder are the same as long as this file is: an installation brings all. Its
 * name does not count, because there are several ways to one folder. */
void at_cuda_headers_identify(char identity[AT_HASH_CHARS], const char *folder)
{
    char *file = at_format("%s/%s", folder ? folder : "", sign), *text, *longer;
    struct stat info = {0};

    if (folder)
        stat(file, &info);
    text = at_format("%jd %jd %jd %jd", (intmax_t)info.st_dev, (intmax_t)info.st_ino,
                     (intmax_t)info.st_size, (intmax_t)info.st_mtim.tv_sec);
    for (int i = 0; i < at_standard_headers; i++) {
        longer = at_format("%s\n%s", text, at_standard_header_texts[i]);
        at_free(text);
        text = longer;
    }
    at_hash(identity, text, strlen(text));
    at_free(text);
    at_free(file);
}

char *at_cuda_headers_request(void)
{
    const char *values[BASES];

    for (int i = NAMED; i <= PATH; i++) {
        values[i] = getenv(variables[i]);
        if (!values[i])
            values[i] = "";
    }
    return at_format("%s %s %s", values[NAMED], values[HOME], values[PATH]);
}
