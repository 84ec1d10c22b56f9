/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_advice.h"

#include "base/memory.h"
#include "kernel/cuda_headers.h"
#include "kernel/included_files.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Long messages that learners meet, by a part of them, in plain words. */
static const struct {
    const char *part, *words;
} plain[] = {
    {"not allowed in JIT mode",
     "this is host code, and only kernels are compiled: put it between #ifndef __CUDACC_RTC__ and "
     "#endif, or mark it __device__"},
};

static const char mark[] = ": error: ";

/* Replace the message after "FILE(LINE): error: ". */
static void say_plainly(char *text, size_t capacity)
{
    char *message = strstr(text, mark);

    if (!message)
        return;
    message += strlen(mark);
    for (size_t i = 0; i < AT_COUNT(plain); i++)
        if (strstr(message, plain[i].part))
            snprintf(message, capacity - (size_t)(message - text), "%s", plain[i].words);
}

void at_compile_advise(const struct at_nvrtc *nvrtc, char *text, size_t capacity)
{
    const char *folder = at_nvrtc_headers(nvrtc);
    bool missing = strstr(text, "open source file"), own = strstr(text, ".cu(");
    int headers = folder ? at_cuda_headers_version(folder) : 0, version = at_nvrtc_version(nvrtc);
    char *advice;
    size_t used;

    say_plainly(text, capacity);
    used = strlen(text);
    if (folder && headers && headers != version && (missing || !own))
        advice = at_format("; NVRTC is of CUDA %d.%d, the headers of %d.%d: name those of %d.%d in "
                           "AUTOTUNE_CUDA_INCLUDE (now %s)",
                           version / 100, version % 100, headers / 100, headers % 100,
                           version / 100, version % 100, folder);
    else if (folder && missing && strstr(text, "\"nv/target\""))
        advice = at_format("; it is of libcu++: install cuda-cccl, or nvidia-cuda-cccl for Python, "
                           "beside the headers in %s",
                           folder);
    else if (folder && missing)
        advice = at_format("; CUDA's headers are those in %s", folder);
    else if (missing)
        advice = at_strdup(
            "; no headers of CUDA were found: install them (cuda-cudart-dev, or "
            "nvidia-cuda-runtime for Python), or name their folder in AUTOTUNE_CUDA_INCLUDE");
    else
        return;
    snprintf(text + used, capacity - used, "%s%s", advice,
             missing && at_nvrtc_is_searching(nvrtc) ? "; " AT_INCLUDE_FOLDERS : "");
    at_free(advice);
}
