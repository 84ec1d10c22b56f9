/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/environment.h"

#include "base/memory.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Names; with a '*' at the end, prefixes of names. */
static const char *const passed[] = {
    "ASAN_OPTIONS",          /* sanitisers */
    "AUTOTUNE_CUDA_INCLUDE", /* the headers for kernels, with CUDA_HOME and CUDA_PATH */
    "AUTOTUNE_CUPTI",        /* the library that reads counters */
    "AUTOTUNE_DATADIR",      /* descriptions of emulated devices */
    "AUTOTUNE_NVRTC",        /* the compiler */
    "CUDA_DEVICE_ORDER",     /* the numbering of GPUs */
    "CUDA_HOME",
    "CUDA_INJECTION64_PATH",             /* profilers and compute-sanitizer, with LD_* and NV_* */
    "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", /* sharing of a GPU */
    "CUDA_MPS_CLIENT_PRIORITY",
    "CUDA_MPS_LOG_DIRECTORY",
    "CUDA_MPS_PIPE_DIRECTORY",
    "CUDA_PATH",
    "CUDA_VISIBLE_DEVICES",
    "HOME", /* the CUDA driver's files */
    "LD_*", /* places of libraries, as for the main process */
    "LLVM_PROFILE_FILE",
    "LSAN_OPTIONS",
    "NV_*",
    "UBSAN_OPTIONS",
};

static bool is_passed(const char *variable)
{
    size_t name = strcspn(variable, "=");

    for (size_t i = 0; i < AT_COUNT(passed); i++) {
        size_t length = strcspn(passed[i], "*");
        bool prefix = passed[i][length] == '*';

        if ((prefix ? name > length : name == length) && strncmp(variable, passed[i], length) == 0)
            return true;
    }
    return false;
}

char **at_worker_environment(void)
{
    size_t all = 0, count = 0;
    char **kept;

    while (environ && environ[all])
        all++;
    kept = at_alloc_array(all + 1, sizeof *kept);
    for (size_t i = 0; i < all; i++)
        if (is_passed(environ[i]))
            kept[count++] = environ[i];
    return kept;
}
