/* SPDX-License-Identifier: Apache-2.0 */
/* libcuda.so.1 for tests: the driver of tests/unit, with a device that runs kernels. It is the
 * machine of src/emulated, whose memory is the device's, so it finds each access that is out of
 * bounds. A launch has ended when the call returns. Link it with libautotune_internal.a. */
#define cuDeviceGetAttribute usual_attribute
#define cuLaunchKernel       usual_launch
#define cuMemAlloc_v2        usual_allocate
#define cuMemFree_v2         usual_free
#define cuMemcpyDtoDAsync_v2 usual_copy
#define cuMemcpyDtoH_v2      usual_read
#define cuMemcpyHtoDAsync_v2 usual_write
#define cuModuleGetFunction  usual_function
#define cuModuleLoadData     usual_load
#define cuModuleUnload       usual_unload
#include "../unit/fake_cuda.c"
#undef cuDeviceGetAttribute
#undef cuLaunchKernel
#undef cuMemAlloc_v2
#undef cuMemFree_v2
#undef cuMemcpyDtoDAsync_v2
#undef cuMemcpyDtoH_v2
#undef cuMemcpyHtoDAsync_v2
#undef cuModuleGetFunction
#undef cuModuleLoadData
#undef cuModuleUnload

#include "emulated/machine/machine.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"

#include <stdio.h>

enum { OUT_OF_MEMORY = 2, INVALID_PTX = 218, NOT_FOUND = 500, LAUNCH_FAILED = 719 };

/* A new driver of NVRTC's compiles for it as PTX, which the machine reads: see nvrtc.c. */
int cuDeviceGetAttribute(int *value, int which, int device)
{
    enum { CAPABILITY_MAJOR = 75, NEWER_THAN_ALL = 99 };

    if (which != CAPABILITY_MAJOR)
        return usual_attribute(value, which, device);
    *value = NEWER_THAN_ALL;
    return 0;
}

static int fail(int result, const char *message)
{
    fprintf(stderr, "the emulated device: %s\n", message);
    return result;
}

/* ---- memory ---- */

static struct at_emu_memory *memory(void)
{
    static struct at_emu_memory *made;

    pthread_mutex_lock(&mutex);
    if (!made)
        made = at_emu_memory_new();
    pthread_mutex_unlock(&mutex);
    return made;
}

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    uint64_t allocated = at_emu_memory_allocate(memory(), (int64_t)bytes);

    if (!allocated)
        return OUT_OF_MEMORY;
    *address = allocated;
    return 0;
}

int cuMemFree_v2(uint64_t address)
{
    at_emu_memory_release(memory(), address);
    return 0;
}

static int copy(void *to, const void *from, size_t bytes)
{
    if (!to || !from)
        return fail(INVALID_VALUE, "what is copied is not all within an allocation");
    memmove(to, from, bytes);
    return 0;
}

int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)
{
    return copy(at_emu_memory_host(memory(), to, bytes), from, bytes);
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    return cuMemcpyHtoD_v2(to, from, bytes);
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    return copy(to, at_emu_memory_host(memory(), from, bytes), bytes);
}

int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    (void)stream;
    return copy(at_emu_memory_host(memory(), to, bytes), at_emu_memory_host(memory(), from, bytes),
                bytes);
}

SUCCESS(cuCtxSynchronize)

/* ---- modules and launches ---- */

int cuModuleLoadData(void **module, const void *image)
{
    struct at_ptx_module *read;
    struct at_error err;

    if (at_ptx_read(&read, image, strlen(image), &err) != AT_OK)
        return fail(INVALID_PTX, err.message);
    *module = read;
    return 0;
}

int cuModuleUnload(void *module)
{
    at_ptx_free(module);
    return 0;
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    const struct at_ptx_kernel *found;
    struct at_error err;

    if (at_ptx_find(module, name, &found, &err) != AT_OK)
        return fail(NOT_FOUND, err.message);
    *function = (void *)found;
    return 0;
}

/* Copy the arguments, which the machine wants as words. */
static int gather(uint64_t words[AT_CALL_WORDS], const struct at_ptx_kernel *kernel, void **args)
{
    size_t used = 0;

    for (size_t i = 0; i < kernel->param_count; i++) {
        size_t count = (kernel->params[i].bytes + sizeof *words - 1) / sizeof *words;

        if (count > AT_CALL_WORDS - used)
            return fail(INVALID_VALUE, "there are too many arguments");
        memcpy(&words[used], args[i], kernel->params[i].bytes);
        used += count;
    }
    return 0;
}

int cuLaunchKernel(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                   void *stream, void **args, void **extra)
{
    const struct at_ptx_kernel *kernel = function;
    uint64_t words[AT_CALL_WORDS] = {0};
    struct at_emu_launch launch = {
        .kernel = kernel,
        .grid = {grid_x, grid_y, grid_z},
        .block = {block_x, block_y, block_z},
        .dynamic_shared_bytes = shared,
        .args = words,
        .arg_count = kernel->param_count,
        .arg_words = AT_CALL_WORDS,
        .block_limit = AT_EMU_BLOCK_STEPS,
        .threads = 1,
        .multiprocessors = 132,
    };
    struct at_emu_fault fault = {0};
    struct at_error err;
    int failed = gather(words, kernel, args);

    (void)stream, (void)extra;
    if (failed)
        return failed;
    if (at_emu_run(memory(), &launch, &fault, &err) != AT_OK)
        return fail(INVALID_VALUE, err.message);
    return fault.kind == AT_EMU_NO_FAULT ? 0 : fail(LAUNCH_FAILED, fault.message);
}
