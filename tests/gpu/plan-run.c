/* SPDX-License-Identifier: Apache-2.0 */
/* Plans of libautotune on a GPU, for tests/gpu/plan.bats.
 *
 *     plan-run check|measure|speed CONTEXT PROFILE
 *
 *   check    every byte: many problems, at aligned and odd addresses, launched directly and from a
 *            CUDA graph;
 *   measure  plans with a second, then with 50 ms: every byte, and the times of the measured and of
 *            the looked-up config;
 *   speed    the library's calls, in microseconds.
 *
 * CONTEXT: "driver", a context that this program creates; "primary", the one of the runtime API. */
#include "plan-run.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void require(CUresult result, const char *doing)
{
    char text[256];

    if (result == CUDA_SUCCESS)
        return;
    at_cuda_describe(result, text, sizeof text);
    fprintf(stderr, "%s: %s\n", doing, text);
    exit(1);
}

void require_ok(autotune_status status, autotune_error **error, const char *doing)
{
    if (status == AUTOTUNE_OK)
        return;
    fprintf(stderr, "%s: %s\n", doing, autotune_error_message(*error));
    autotune_error_free(*error);
    exit(1);
}

/* cuda.h maps cuCtxCreate to different functions in different toolkits. The driver has this one for
 * all of them. */
static CUcontext make_own_context(CUdevice device)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    CUresult (*create)(CUcontext *, unsigned, CUdevice) = NULL;
    CUcontext context = NULL;

    if (library)
        *(void **)&create = dlsym(library, "cuCtxCreate_v2");
    require(create ? create(&context, 0, device) : CUDA_ERROR_NOT_FOUND, "making a context");
    return context;
}

static void enter_context(const char *kind)
{
    struct at_error err;
    CUcontext context = NULL;
    CUdevice device;

    if (at_cuda_load(&err) != AT_OK) {
        fprintf(stderr, "%s\n", err.message);
        exit(3);
    }
    require(at_cuda.cuDeviceGet(&device, 0), "finding the device");
    if (strcmp(kind, "driver") == 0)
        context = make_own_context(device);
    else
        require(at_cuda.cuDevicePrimaryCtxRetain(&context, device), "the primary context");
    require(at_cuda.cuCtxSetCurrent(context), "entering the context");
}

CUstream make_stream(void)
{
    CUstream stream;

    require(at_cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "making a stream");
    return stream;
}

static const struct {
    const char *name;
    int (*run)(const autotune_profile *profile);
} ways[] = {
    {"check", check_plans}, {"measure", measure_plans}, {"speed", time_calls}, {NULL, NULL}};

int main(int argc, char **argv)
{
    autotune_profile *profile;
    autotune_error *error = NULL;
    size_t way = 0;
    int status;

    while (argc == 4 && ways[way].name && strcmp(ways[way].name, argv[1]) != 0)
        way++;
    if (argc != 4 || !ways[way].name) {
        fprintf(stderr, "Usage: plan-run check|measure|speed driver|primary PROFILE\n");
        return 2;
    }
    enter_context(argv[2]);
    require_ok(autotune_profile_open(&profile, argv[3], &error), &error, "opening");
    status = ways[way].run(profile);
    autotune_profile_free(profile);
    return status;
}
