/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/cuda_headers.h"

#include "base/memory.h"
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
    {HOME, "include"},
    {HOME, "targets/x86_64-linux/include"},
    {HOME, "targets/sbsa-linux/include"},
    {PATH, "include"},
    {PATH, "targets/x86_64-linux/include"},
    {PATH, "targets/sbsa-linux/include"},
    {NVRTC, "../include"},
    {NVRTC, "../targets/x86_64-linux/include"},
    {NVRTC, "../targets/sbsa-linux/include"},
    {NVRTC, "../../cuda_runtime/include"},
    {CONFIGURED, "../include"},
    {CONFIGURED, "../targets/x86_64-linux/include"},
    {CONFIGURED, "../targets/sbsa-linux/include"},
    {SYSTEM, "local/cuda/include"},
    {SYSTEM, "include"},
};

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

/* The folder `below` of base, if it has the headers. */
static char *look_in(const char *base, const char *below)
{
    char *folder = at_format("%s/%s", base, below), *file = at_format("%s/%s", folder, sign);
    bool found = access(file, R_OK) == 0;

    at_free(file);
    if (found)
        return folder;
    at_free(folder);
    return NULL;
}

char *at_cuda_headers_find(const char *nvrtc_path)
{
    char *found = base_folder(NAMED, nvrtc_path);

    for (size_t i = 0; i < AT_COUNT(places) && !found; i++) {
        char *base = base_folder(places[i].base, nvrtc_path);

        if (base)
            found = look_in(base, places[i].below);
        at_free(base);
    }
    return found;
}

/* The headers of a folder are the same as long as this file is: an installation brings all. */
void at_cuda_headers_identify(char identity[AT_HASH_CHARS], const char *folder)
{
    char *file = at_format("%s/%s", folder ? folder : "", sign), *text, *longer;
    struct stat info = {0};

    if (folder)
        stat(file, &info);
    text = at_format("%s %jd %jd %jd", file, (intmax_t)info.st_ino, (intmax_t)info.st_size,
                     (intmax_t)info.st_mtim.tv_sec);
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
