/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/driver.h"

#include "base/memory.h"
#include "system/library.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct at_cuda_api at_cuda;

/* Only the development package has libcuda.so, without the version. */
static const char *const library_names[] = {"libcuda.so.1", NULL};

void at_cuda_describe(CUresult result, char *text, size_t capacity)
{
    const char *name = NULL, *string = NULL;

    at_cuda.cuGetErrorName(result, &name);
    at_cuda.cuGetErrorString(result, &string);
    if (name && string && *string)
        snprintf(text, capacity, "%s: %s", name, string);
    else /* the toolkit's stub describes nothing */
        snprintf(text, capacity, "CUDA error %d", (int)result);
}

/* ---- no GPU ---- */

static bool are_hidden(void)
{
    return getenv("CUDA_VISIBLE_DEVICES") != NULL;
}

static bool have_no_files(void)
{
    return access("/dev/nvidiactl", F_OK) != 0 && access("/dev/dxg", F_OK) != 0;
}

/* Why no GPU can be used, and what to do: of a result, the first line that applies. */
static const struct {
    CUresult result;
    bool (*applies)(void); /* NULL: always */
    const char *words;
} reasons[] = {
    {CUDA_ERROR_NO_DEVICE, are_hidden,
     "CUDA_VISIBLE_DEVICES hides all GPUs: unset it, or name those that nvidia-smi -L lists"},
    {CUDA_ERROR_NO_DEVICE, have_no_files,
     "libcuda is here, but no /dev/nvidiactl: start a container with GPU access (docker run --gpus "
     "all), or load the kernel module (modprobe nvidia)"},
    {CUDA_ERROR_NO_DEVICE, NULL,
     "the driver finds none that CUDA can use; nvidia-smi -L lists what it has"},
    {CUDA_ERROR_STUB_LIBRARY, NULL,
     "it is the CUDA Toolkit's stub of the driver, only for linking: take its folder out of "
     "LD_LIBRARY_PATH, so that the driver's own libcuda.so.1 is found"},
    {CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, NULL,
     "libcuda and the kernel module are of two versions: restart the machine after an update of "
     "the driver; in a container, do not install a driver"},
    {CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, NULL,
     "this libcuda of a toolkit's folder compat does not support the GPU: take that folder out of "
     "LD_LIBRARY_PATH"},
};

enum at_status at_cuda_no_gpu(CUresult result, struct at_error *err)
{
    const char *words = "nvidia-smi shows whether the driver works";
    char text[256];

    for (size_t i = AT_COUNT(reasons); i-- > 0;)
        if (reasons[i].result == result && (!reasons[i].applies || reasons[i].applies()))
            words = reasons[i].words;
    at_cuda_describe(result, text, sizeof text);
    return at_fail(err, AT_DEVICE, "no usable GPU: %s reports %s; %s",
                   at_library_path((const void *)(uintptr_t)at_cuda.cuInit), text, words);
}

/* ---- loading ---- */

static enum at_status initialise(struct at_error *err)
{
    CUresult result = at_cuda.cuInit(0);

    return result == CUDA_SUCCESS ? AT_OK : at_cuda_no_gpu(result, err);
}

enum at_status at_cuda_load(struct at_error *err)
{
    static void *library;
    const struct at_symbol symbols[] = {
#define SYMBOL(name, symbol) {symbol, (void **)&at_cuda.name, 0},
        AT_CUDA_FUNCTIONS(SYMBOL)
#undef SYMBOL
            {"cuCtxGetId", (void **)&at_cuda.cuCtxGetId, 1},
    };
    static const char lacking[] = "no NVIDIA driver";
    static const char remedy[] =
        "install it, or start the container with GPU access (docker run --gpus all)";
    void *opened;
    enum at_status status = AT_OK;

    if (!library) {
        status = at_library_open(&opened, library_names, NULL, lacking, remedy, err);
        if (status != AT_OK)
            return status;
        status = at_library_symbols(opened, symbols, AT_COUNT(symbols), err);
        if (status != AT_OK) {
            at_advise(err, remedy);
            return at_fail_within(err, "%s", lacking);
        }
        library = opened; /* only now that no symbol is missing */
    }
    return initialise(err);
}

/* The results that are not AT_CRASH. All but the last affect only the current call; every other
 * failure makes the context unusable. */
static const struct {
    CUresult result;
    enum at_outcome outcome;
} outcomes[] = {
    {CUDA_SUCCESS, AT_CORRECT},
    {CUDA_ERROR_OUT_OF_MEMORY, AT_OOM},
    {CUDA_ERROR_INVALID_VALUE, AT_LAUNCH},
    {CUDA_ERROR_INVALID_IMAGE, AT_LAUNCH},
    {CUDA_ERROR_INVALID_PTX, AT_LAUNCH},
    {CUDA_ERROR_UNSUPPORTED_PTX_VERSION, AT_LAUNCH},
    {CUDA_ERROR_INVALID_SOURCE, AT_LAUNCH},
    {CUDA_ERROR_NO_BINARY_FOR_GPU, AT_LAUNCH},
    {CUDA_ERROR_NOT_FOUND, AT_LAUNCH},
    {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, AT_LAUNCH},
    {CUDA_ERROR_NOT_SUPPORTED, AT_LAUNCH},
    {CUDA_ERROR_LAUNCH_TIMEOUT, AT_TIMEOUT},
};

enum at_outcome at_cuda_outcome(CUresult result, const char *doing, struct at_error *err)
{
    enum at_outcome outcome = AT_CRASH;
    char text[256];

    for (size_t i = 0; i < AT_COUNT(outcomes); i++)
        if (outcomes[i].result == result)
            outcome = outcomes[i].outcome;
    if (outcome != AT_CORRECT) {
        at_cuda_describe(result, text, sizeof text);
        at_fail(err, AT_FAILED, "%s: %s", doing, text);
    }
    return outcome;
}
