/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the device; modules; reading and writing memory. */
#include "device/cuda/cuda_device.h"

#include "base/memory.h"
#include "device/cuda/driver.h"
#include "device/cuda/nvml.h"
#include "device/device.h"

#include <stdio.h>
#include <stdlib.h>

/* Device memory, launches, and their times. */

/* ---- memory ---- */

/* Device memory. Released blocks are kept for later requests: each problem of a run needs some
 * thirty buffers, of about the same sizes as the one before. On a machine with eight GPUs the
 * driver was seen to take 60 ms to free and allocate them again. */

/* A kept block is used only for requests of at least half its size. */
enum { SIZE_RATIO_MAX = 2 };

/* Find the smallest unused block that fits; NULL if there is none. */
static struct at_cuda_block *find_free(struct at_cuda_device *device, int64_t bytes)
{
    struct at_cuda_block *best = NULL;

    for (size_t i = 0; i < device->block_count; i++) {
        struct at_cuda_block *block = &device->blocks[i];

        if (!block->used && block->bytes >= bytes && block->bytes / SIZE_RATIO_MAX <= bytes &&
            (!best || block->bytes < best->bytes))
            best = block;
    }
    return best;
}

static void free_unused(struct at_cuda_device *device)
{
    size_t kept = 0;

    for (size_t i = 0; i < device->block_count; i++) {
        if (device->blocks[i].used)
            device->blocks[kept++] = device->blocks[i];
        else
            at_cuda.cuMemFree(device->blocks[i].address);
    }
    device->block_count = kept;
}

/* Take the beginning of the scratch memory. It is not released again. */
static enum at_outcome take_scratch(struct at_cuda_device *device, int64_t bytes,
                                    at_address *address, struct at_error *err)
{
    const int64_t unit = 256; /* as the driver aligns */
    int64_t taken = (bytes + unit - 1) / unit * unit;

    if (taken > device->scratch_bytes)
        return at_fail(err, AT_FAILED, "%jd bytes do not fit the scratch memory", (intmax_t)bytes),
               AT_OOM;
    *address = device->scratch;
    device->scratch += (at_address)taken;
    device->scratch_bytes -= taken;
    return AT_CORRECT;
}

static enum at_outcome cuda_allocate(struct at_device *base, int64_t bytes, at_address *address,
                                     struct at_error *err)
{
    struct at_cuda_device *device = at_cuda_device_of(base);
    struct at_cuda_block *block = find_free(device, bytes), made = {.bytes = bytes, .used = true};
    CUdeviceptr pointer = 0;
    char doing[64];
    CUresult result;
    enum at_outcome outcome;

    if (device->scratch)
        return take_scratch(device, bytes, address, err);
    if (block) {
        block->used = true;
        *address = block->address;
        return AT_CORRECT;
    }
    /* Before there is something to lose: in the library, without host memory the call ends here. */
    device->blocks = at_grow(device->blocks, device->block_count, &device->block_capacity,
                             sizeof *device->blocks);
    result = at_cuda.cuMemAlloc(&pointer, (size_t)bytes);
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        free_unused(device);
        result = at_cuda.cuMemAlloc(&pointer, (size_t)bytes);
    }
    snprintf(doing, sizeof doing, "allocating %jd bytes", (intmax_t)bytes);
    outcome = at_cuda_outcome(result, doing, err);
    if (outcome == AT_CORRECT) {
        *address = made.address = pointer;
        device->blocks[device->block_count++] = made;
    }
    return outcome;
}

static void cuda_release(struct at_device *base, at_address address)
{
    struct at_cuda_device *device = at_cuda_device_of(base);

    for (size_t i = 0; i < device->block_count; i++)
        if (device->blocks[i].address == address)
            device->blocks[i].used = false;
}

/* ---- launches ---- */

CUresult at_cuda_prepare_kernel(const struct at_kernel *kernel, const struct at_launch *launch)
{
    int64_t dynamic = launch->field[AT_SHARED_BYTES];
    int64_t carveout = launch->field[AT_CARVEOUT_PERCENT];
    CUresult result = CUDA_SUCCESS;

    if (dynamic > 0)
        result = at_cuda.cuFuncSetAttribute(
            kernel->handle, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)dynamic);
    if (result == CUDA_SUCCESS && carveout >= 0)
        result = at_cuda.cuFuncSetAttribute(
            kernel->handle, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, (int)carveout);
    return result;
}

CUresult at_cuda_launch(const struct at_call *call, const struct at_cuda_given *given,
                        CUstream stream)
{
    const int64_t *size = call->launch.field;
    void *args[AT_CALL_ARGS] = {(void *)&given->dst, (void *)&given->src};

    for (size_t i = 2, word = 2; i < AT_CALL_ARGS; i++) {
        args[i] = (void *)&call->args[word];
        word += call->arg_words[i] ? call->arg_words[i] : 1;
    }
    if (given->other)
        args[given->other_number] = (void *)given->other;
    /* All blocks of a cooperative launch run at the same time. */
    if (size[AT_LAUNCHES] > 0)
        return at_cuda.cuLaunchCooperativeKernel(
            call->kernel->handle, (unsigned)size[AT_GRID_X], (unsigned)size[AT_GRID_Y],
            (unsigned)size[AT_GRID_Z], (unsigned)size[AT_BLOCK_X], (unsigned)size[AT_BLOCK_Y],
            (unsigned)size[AT_BLOCK_Z], (unsigned)size[AT_SHARED_BYTES], stream, args);
    return at_cuda.cuLaunchKernel(
        call->kernel->handle, (unsigned)size[AT_GRID_X], (unsigned)size[AT_GRID_Y],
        (unsigned)size[AT_GRID_Z], (unsigned)size[AT_BLOCK_X], (unsigned)size[AT_BLOCK_Y],
        (unsigned)size[AT_BLOCK_Z], (unsigned)size[AT_SHARED_BYTES], stream, args, NULL);
}

/* A kernel's launches may differ in shared memory, so it is prepared for each. */
static enum at_outcome cuda_start(struct at_device *device, const struct at_call *call,
                                  struct at_error *err)
{
    const struct at_cuda_given given = {.dst = call->args[0], .src = call->args[1]};
    CUstream stream = at_cuda_device_of(device)->stream;
    CUresult result;

    if (!call->kernel)
        return at_cuda_outcome(
            at_cuda.cuMemcpyDtoDAsync(call->args[0], call->args[1], call->args[2], stream),
            "copying", err);
    result = at_cuda_prepare_kernel(call->kernel, &call->launch);
    if (result == CUDA_SUCCESS)
        result = at_cuda_launch(call, &given, stream);
    return at_cuda_outcome(result, "launching", err);
}

static enum at_outcome cuda_wait(struct at_device *device, struct at_error *err)
{
    return at_cuda_outcome(at_cuda.cuStreamSynchronize(at_cuda_device_of(device)->stream),
                           "running", err);
}

/* The time of a single call among others. */

static enum at_outcome cuda_mark(struct at_device *device, enum at_mark which, struct at_error *err)
{
    CUevent *mark = &at_cuda_device_of(device)->marks[which];
    CUresult result = *mark ? CUDA_SUCCESS : at_cuda.cuEventCreate(mark, CU_EVENT_DEFAULT);

    if (result == CUDA_SUCCESS)
        result = at_cuda.cuEventRecordWithFlags(*mark, at_cuda_device_of(device)->stream,
                                                CU_EVENT_RECORD_DEFAULT);
    return at_cuda_outcome(result, "timing", err);
}

static enum at_outcome cuda_between(struct at_device *device, double *ns, struct at_error *err)
{
    const CUevent *marks = at_cuda_device_of(device)->marks;
    float elapsed_ms = 0;
    enum at_outcome outcome = at_cuda_outcome(
        at_cuda.cuEventElapsedTime(&elapsed_ms, marks[AT_BEFORE], marks[AT_AFTER]), "timing", err);

    if (outcome == AT_CORRECT)
        *ns = 1e6 * (double)elapsed_ms;
    return outcome;
}

/* ---- clocks ---- */

/* The mean clock of the multiprocessors during a train. A small kernel before and after the train
 * writes the cycle and nanosecond counters to host memory. NVML would be too slow for each train,
 * and gives only the clock of a moment. NVBench uses such stamps too. */

/* The stamp before a train, and the one after it. */
enum stamp { STAMP_BEFORE, STAMP_AFTER, STAMPS };

/* Always multiprocessor 0 writes, because each has its own cycle counter. A grid of one block per
 * multiprocessor reaches it. The driver compiles this PTX, which takes next to no time. */
static const char stamp_ptx[] = ".version 6.3\n"
                                ".target sm_70\n"
                                ".address_size 64\n"
                                ".visible .entry stamp(.param .u64 to)\n"
                                "{\n"
                                ".reg .pred %other;\n"
                                ".reg .b32 %multiprocessor;\n"
                                ".reg .b64 %place, %ns, %cycles;\n"
                                "mov.u32 %multiprocessor, %smid;\n"
                                "setp.ne.u32 %other, %multiprocessor, 0;\n"
                                "@%other bra done;\n"
                                "ld.param.u64 %place, [to];\n"
                                "mov.u64 %ns, %globaltimer;\n"
                                "mov.u64 %cycles, %clock64;\n"
                                "st.volatile.global.v2.u64 [%place], {%ns, %cycles};\n"
                                "done:\n"
                                "ret;\n"
                                "}\n";

/* Load the stamp kernel. On failure there will be no stamps. */
static void cuda_clock_open(struct at_cuda_device *device)
{
    void *stamps = NULL;
    CUmodule module;
    CUresult result = at_cuda.cuModuleLoadData(&module, stamp_ptx);

    if (result == CUDA_SUCCESS)
        result = at_cuda.cuModuleGetFunction(&device->stamp, module, "stamp");
    if (result == CUDA_SUCCESS)
        result = at_cuda.cuMemHostAlloc(&stamps, STAMPS * sizeof *device->stamps,
                                        CU_MEMHOSTALLOC_DEVICEMAP);
    if (result == CUDA_SUCCESS)
        device->stamps = stamps;
}

/* Queue a stamp; does nothing if stamps are not possible. */
static enum at_outcome stamp(const struct at_cuda_device *device, enum stamp which,
                             struct at_error *err)
{
    const void *place;
    void *args[] = {&place};

    if (!device->stamps)
        return AT_CORRECT;
    place = &device->stamps[which];
    return at_cuda_outcome(at_cuda.cuLaunchKernel(device->stamp,
                                                  (unsigned)device->base.info.multiprocessors, 1, 1,
                                                  1, 1, 1, 0, device->stream, args, NULL),
                           "stamping", err);
}

/* The mean clock between the last two stamps; -1 without stamps, or if the value is impossible. */
static int64_t clock_khz(const struct at_cuda_device *device)
{
    /* Outside of these bounds a stamp was not written, or a counter was reset. */
    static const double least_khz = 1e4, most_khz = 1e7;
    const volatile struct at_cuda_clock_stamp *first, *last;
    double ns, khz;

    if (!device->stamps)
        return -1;
    first = &device->stamps[STAMP_BEFORE];
    last = &device->stamps[STAMP_AFTER];
    ns = (double)(int64_t)(last->ns - first->ns);
    khz = ns > 0 ? 1e6 * (double)(int64_t)(last->cycles - first->cycles) / ns : 0;
    return khz >= least_khz && khz <= most_khz ? (int64_t)khz : -1;
}

/* ---- trains ---- */

/* Trains of launches, timed between two events.
 *
 * Kernels run as a CUDA graph that includes the two event records, so that no CPU work is between
 * the events. A copy by the driver runs from the stream instead: as a graph node it was seen to
 * drop to two thirds of its speed (H200, CUDA 13.0). The untimed copies before it hide the time
 * that the CPU needs to queue the others, unless the copies are very short. */

struct at_train {
    CUgraphExec graph; /* NULL: run from the stream */
    CUevent start, stop;
    struct at_call *calls; /* to run from the stream; NULL: they are in the graph */
    size_t count, lead_in;
};

/* Start the whole train with its events, on the stream or into the graph that captures it. */
static enum at_outcome start_train(struct at_device *device, const struct at_train *train,
                                   const struct at_call *calls, unsigned event_flags,
                                   struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;
    enum at_outcome outcome = stamp(at_cuda_device_of(device), STAMP_BEFORE, err);

    for (size_t i = train->count - train->lead_in; i < train->count && outcome == AT_CORRECT; i++)
        outcome = cuda_start(device, &calls[i], err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuEventRecordWithFlags(train->start, stream, event_flags),
                                  "timing", err);
    for (size_t i = 0; i < train->count && outcome == AT_CORRECT; i++)
        outcome = cuda_start(device, &calls[i], err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuEventRecordWithFlags(train->stop, stream, event_flags),
                                  "timing", err);
    return outcome == AT_CORRECT ? stamp(at_cuda_device_of(device), STAMP_AFTER, err) : outcome;
}

static enum at_outcome capture(struct at_device *device, struct at_train *train,
                               const struct at_call *calls, struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;
    CUgraph graph = NULL;
    CUresult ended;
    enum at_outcome outcome =
        at_cuda_outcome(at_cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                        "capturing", err);

    if (outcome != AT_CORRECT)
        return outcome;
    outcome = start_train(device, train, calls, CU_EVENT_RECORD_EXTERNAL, err);
    ended = at_cuda.cuStreamEndCapture(stream, &graph);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(ended, "capturing", err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuGraphInstantiate(&train->graph, graph, 0),
                                  "instantiating the graph", err);
    /* Otherwise the first launch uploads the graph, node by node, and short kernels wait for it:
     * with kernels of 3 us, the first train took 1.3 times as long as the others. */
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuGraphUpload(train->graph, stream),
                                  "uploading the graph", err);
    if (graph)
        at_cuda.cuGraphDestroy(graph);
    return outcome;
}

static void cuda_free_train(struct at_device *device, struct at_train *train)
{
    (void)device;
    if (!train)
        return;
    if (train->graph)
        at_cuda.cuGraphExecDestroy(train->graph);
    if (train->start)
        at_cuda.cuEventDestroy(train->start);
    if (train->stop)
        at_cuda.cuEventDestroy(train->stop);
    at_free(train->calls);
    at_free(train);
}

static enum at_outcome cuda_make_train(struct at_device *device, const struct at_call *calls,
                                       size_t count, size_t lead_in, struct at_train **train,
                                       struct at_error *err)
{
    struct at_train *made = at_alloc(sizeof *made);
    enum at_outcome outcome;

    made->count = count;
    made->lead_in = lead_in;
    /* Before there is an event to lose: in the library, without memory the call ends here. */
    if (!calls[0].kernel)
        made->calls = at_memdup(calls, count * sizeof *calls);
    outcome = at_cuda_outcome(at_cuda.cuEventCreate(&made->start, CU_EVENT_DEFAULT), "timing", err);
    if (outcome == AT_CORRECT)
        outcome =
            at_cuda_outcome(at_cuda.cuEventCreate(&made->stop, CU_EVENT_DEFAULT), "timing", err);
    if (outcome == AT_CORRECT && calls[0].kernel)
        outcome = capture(device, made, calls, err);
    if (outcome == AT_CORRECT)
        *train = made;
    else
        cuda_free_train(device, made);
    return outcome;
}

static enum at_outcome cuda_time_train(struct at_device *device, struct at_train *train,
                                       struct at_train_time *time, struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;
    float elapsed_ms = 0;
    enum at_outcome outcome =
        train->graph
            ? at_cuda_outcome(at_cuda.cuGraphLaunch(train->graph, stream), "launching", err)
            : start_train(device, train, train->calls, CU_EVENT_RECORD_DEFAULT, err);

    /* cuEventElapsedTime does not report earlier failures (cuda.h), so wait first. */
    if (outcome == AT_CORRECT)
        outcome = cuda_wait(device, err);
    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(
            at_cuda.cuEventElapsedTime(&elapsed_ms, train->start, train->stop), "timing", err);
    if (outcome == AT_CORRECT)
        *time =
            (struct at_train_time){1e6 * (double)elapsed_ms, clock_khz(at_cuda_device_of(device))};
    return outcome;
}

static enum at_status open_context(struct at_cuda_device *device, struct at_error *err)
{
    CUresult result = at_cuda.cuDevicePrimaryCtxRetain(&device->context, device->handle);
    char text[256];

    if (result == CUDA_SUCCESS)
        result = at_cuda.cuCtxSetCurrent(device->context);
    if (result == CUDA_SUCCESS)
        result = at_cuda.cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS)
        return AT_OK;
    at_cuda_describe(result, text, sizeof text);
    return at_fail(err, AT_DEVICE, "cannot use %s: %s", device->base.info.name, text);
}

static enum at_status open_device(struct at_device **device, int64_t ordinal, struct at_error *err)
{
    struct at_cuda_device *opened;
    int count = 0;
    enum at_status status = at_cuda_load(err);

    if (status != AT_OK)
        return status;
    at_cuda.cuDeviceGetCount(&count);
    if (ordinal < 0 || ordinal >= count)
        return at_fail(err, AT_DEVICE, "there is no CUDA device %d; this machine has %d",
                       (int)ordinal, count);
    opened = at_alloc(sizeof *opened);
    at_cuda.cuDeviceGet(&opened->handle, (int)ordinal);
    status = at_cuda_info(opened->handle, ordinal, &opened->base.info, err);
    if (status == AT_OK)
        status = open_context(opened, err);
    if (status != AT_OK) {
        at_free(opened);
        return status;
    }
    opened->nvml = at_nvml_open(opened->base.info.pci_bus_id);
    cuda_clock_open(opened);
    *device = (struct at_device *)opened;
    return AT_OK;
}

static void versions(struct at_device *device, char *driver, size_t driver_size, char *cuda,
                     size_t cuda_size)
{
    int version = 0;

    at_nvml_driver_version(at_cuda_device_of(device)->nvml, driver, driver_size);
    at_cuda.cuDriverGetVersion(&version);
    snprintf(cuda, cuda_size, "%d.%d", version / 1000, version % 1000 / 10);
}

static void state(struct at_device *device, struct at_device_state *state_now)
{
    at_nvml_state(at_cuda_device_of(device)->nvml, state_now);
}

static void memory(struct at_device *device, int64_t *free_bytes, int64_t *total_bytes)
{
    size_t free_now = 0, total = 0;

    (void)device;
    at_cuda.cuMemGetInfo(&free_now, &total);
    *free_bytes = (int64_t)free_now;
    *total_bytes = (int64_t)total;
}

static enum at_outcome load(struct at_device *device, const void *image, size_t size,
                            struct at_module **module, struct at_error *err)
{
    CUmodule loaded;
    enum at_outcome outcome =
        at_cuda_outcome(at_cuda.cuModuleLoadData(&loaded, image), "loading", err);

    (void)device;
    (void)size; /* a cubin contains its size */
    if (outcome == AT_CORRECT)
        *module = (struct at_module *)loaded;
    return outcome;
}

static void unload(struct at_device *device, struct at_module *module)
{
    (void)device;
    at_cuda.cuModuleUnload((CUmodule)module);
}

static enum at_outcome find(struct at_device *device, struct at_module *module, const char *entry,
                            struct at_kernel *kernel, struct at_error *err)
{
    const struct {
        CUfunction_attribute which;
        int64_t *value;
    } attributes[] = {
        {CU_FUNC_ATTRIBUTE_NUM_REGS, &kernel->registers},
        {CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &kernel->local_bytes},
        {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &kernel->shared_bytes},
    };
    CUfunction function = NULL;
    CUresult result = at_cuda.cuModuleGetFunction(&function, (CUmodule)module, entry);

    (void)device;
    kernel->handle = function;
    for (size_t i = 0; i < AT_COUNT(attributes) && result == CUDA_SUCCESS; i++) {
        int value = 0;

        result = at_cuda.cuFuncGetAttribute(&value, attributes[i].which, function);
        *attributes[i].value = value;
    }
    return at_cuda_outcome(result, "finding the kernel", err);
}

static enum at_outcome read_back(struct at_device *device, void *bytes, at_address address,
                                 size_t size, struct at_error *err)
{
    enum at_outcome outcome = cuda_wait(device, err);

    if (outcome == AT_CORRECT)
        outcome = at_cuda_outcome(at_cuda.cuMemcpyDtoH(bytes, address, size), "reading", err);
    return outcome;
}

static enum at_outcome write_there(struct at_device *device, at_address address, const void *bytes,
                                   size_t size, struct at_error *err)
{
    CUstream stream = at_cuda_device_of(device)->stream;

    return at_cuda_outcome(at_cuda.cuMemcpyHtoDAsync(address, bytes, size, stream), "writing", err);
}

static enum at_status cuda_list(struct at_device_info **infos, size_t *count, struct at_error *err)
{
    struct at_device_info *list;
    int number = 0;
    enum at_status status = at_cuda_load(err);

    if (status != AT_OK)
        return status;
    at_cuda.cuDeviceGetCount(&number);
    if (number == 0)
        return at_cuda_no_gpu(CUDA_ERROR_NO_DEVICE, err);
    list = at_alloc_array((size_t)number, sizeof *list);
    for (int i = 0; i < number && status == AT_OK; i++) {
        CUdevice handle;

        at_cuda.cuDeviceGet(&handle, i);
        status = at_cuda_info(handle, i, &list[i], err);
    }
    if (status != AT_OK) {
        at_free(list);
        return status;
    }
    *infos = list;
    *count = (size_t)number;
    return AT_OK;
}

const struct at_device_ops at_cuda_device_ops = {
    .kind = "cuda",
    .list = cuda_list,
    .open = open_device,
    .versions = versions,
    .state = state,
    .memory = memory,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .load = load,
    .unload = unload,
    .find = find,
    .start = cuda_start,
    .wait = cuda_wait,
    .read = read_back,
    .write = write_there,
    .make_train = cuda_make_train,
    .time_train = cuda_time_train,
    .free_train = cuda_free_train,
    .mark = cuda_mark,
    .between = cuda_between,
    .count = at_cuda_count,
};

/* ---- a device in a context of others ---- */

enum at_outcome at_cuda_enter(struct at_cuda_device *device, struct at_error *err)
{
    device->base.ops = &at_cuda_device_ops;
    return at_cuda_outcome(at_cuda.cuStreamCreate(&device->stream, CU_STREAM_NON_BLOCKING),
                           "making a stream", err);
}

void at_cuda_leave(struct at_cuda_device *device)
{
    for (size_t i = 0; i < device->block_count; i++)
        at_cuda.cuMemFree(device->blocks[i].address);
    for (size_t i = 0; i < AT_MARKS; i++)
        if (device->marks[i])
            at_cuda.cuEventDestroy(device->marks[i]);
    at_free(device->blocks);
    if (device->stream)
        at_cuda.cuStreamDestroy(device->stream);
    device->marks[AT_BEFORE] = device->marks[AT_AFTER] = NULL;
    device->blocks = NULL;
    device->block_count = device->block_capacity = 0;
    device->stream = NULL;
}
