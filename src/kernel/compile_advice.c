/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_advice.h"

#include "base/memory.h"

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
    size_t used;

    say_plainly(text, capacity);
    used = strlen(text);
    if (!strstr(text, "open source file"))
        return;
    if (folder)
        snprintf(text + used, capacity - used, "; CUDA's headers are those in %s", folder);
    else
        snprintf(text + used, capacity - used,
                 "; no headers of CUDA were found: install them (cuda-cudart-dev, or "
                 "nvidia-cuda-runtime for Python), or name their folder in AUTOTUNE_CUDA_INCLUDE");
}
