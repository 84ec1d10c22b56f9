/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes a matrix with compiled kernels, which need neither libautotune nor a parser of JSON:
 * the table index.h says how each is launched. To build it:
 *   autotune export --as cubin --device h200 --problem 1000x3000:f32 --out kernels
 *   cc cubin.c -Ikernels -I$CUDA_HOME/include -lcuda -o cubin && ./cubin kernels */
#include "index.h"

#include <cuda.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 1000, COLS = 3000, COUNT = ROWS * COLS, ARGUMENTS_MAX = 12 };

static void check(CUresult result, const char *doing)
{
    const char *name = NULL;

    if (result == CUDA_SUCCESS)
        return;
    cuGetErrorName(result, &name);
    fprintf(stderr, "%s: %s\n", doing, name ? name : "unknown error");
    exit(3);
}

/* Load the kernel of an entry. A program keeps it, and sets its attributes once. */
static CUfunction load(const struct autotune_tuned *entry, const char *folder)
{
    const struct autotune_tuned_image *image =
        &autotune_tuned_images[entry - autotune_tuned_entries];
    char path[4096];
    CUmodule module;
    CUfunction function;

    snprintf(path, sizeof path, "%s/%s", folder, image->file);
    check(cuModuleLoad(&module, path), path);
    check(cuModuleGetFunction(&function, module, image->kernel), image->kernel);
    check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                             (int)entry->shared_bytes),
          "shared memory");
    if (entry->carveout_percent >= 0)
        check(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT,
                                 entry->carveout_percent),
              "carveout");
    return function;
}

/* Launch it: for a problem without numbers, groups, and launches in a row. */
static void launch(const struct autotune_tuned *entry, CUfunction function, CUdeviceptr dst,
                   CUdeviceptr src, CUstream stream)
{
    void *arguments[ARGUMENTS_MAX] = {&dst, &src};
    const unsigned long long *words = entry->words;

    for (int i = 0; i < entry->argument_count; i++) {
        arguments[2 + i] = (void *)words;
        words += entry->word_counts[i];
    }
    check(cuLaunchKernel(function, entry->grid[0], entry->grid[1], entry->grid[2], entry->block[0],
                         entry->block[1], entry->block[2], entry->shared_bytes, stream, arguments,
                         NULL),
          entry->problem);
}

static int capability_of(CUdevice device)
{
    int major, minor;

    check(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device),
          "capability");
    check(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device),
          "capability");
    return major * 10 + minor;
}

int main(int argc, char **argv)
{
    const struct autotune_tuned *entry =
        autotune_tuned_find(sizeof(float), ROWS, COLS, COLS, ROWS, 1, 0, 0, 0);
    float *source = malloc(COUNT * sizeof *source), *result = malloc(COUNT * sizeof *result);
    size_t wrong = 0;
    CUdevice device;
    CUcontext context;
    CUdeviceptr src, dst;

    if (argc != 2 || !entry || !source || !result)
        return 2;
    for (size_t i = 0; i < COUNT; i++)
        source[i] = (float)i;
    check(cuInit(0), "no GPU");
    check(cuDeviceGet(&device, 0), "no GPU");
    check(cuDevicePrimaryCtxRetain(&context, device), "making a context");
    check(cuCtxSetCurrent(context), "making a context");
    check(cuMemAlloc(&src, COUNT * sizeof *source), "memory");
    check(cuMemAlloc(&dst, COUNT * sizeof *source), "memory");
    check(cuMemcpyHtoD(src, source, COUNT * sizeof *source), "copying");
    entry = autotune_tuned_choose(entry, capability_of(device), dst, src);
    if (!entry)
        return 2;
    launch(entry, load(entry, argv[1]), dst, src, NULL);
    check(cuMemcpyDtoH(result, dst, COUNT * sizeof *result), "copying");
    for (size_t r = 0; r < ROWS; r++)
        for (size_t c = 0; c < COLS; c++)
            wrong += result[c * ROWS + r] != source[r * COLS + c];
    printf("%zu of %d elements are wrong\n", wrong, COUNT);
    cuMemFree(src);
    cuMemFree(dst);
    free(source);
    free(result);
    return wrong > 0;
}
