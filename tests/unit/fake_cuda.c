/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h is not included: it renames functions, and these are the names in the library. */
#include "fake_cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

bool fake_cuda_is_there, fake_cupti_is_there;
_Thread_local int fake_cuda_device;
char fake_cuda_contexts[FAKE_CUDA_CONTEXTS];
_Thread_local void *fake_cuda_context = fake_cuda_contexts;
_Thread_local void *fake_cuda_launched_in;
_Thread_local uint64_t fake_cuda_launched[2], fake_cuda_last[FAKE_CUDA_WORDS];
int fake_cuda_last_at;
atomic_int fake_cuda_context_ids[FAKE_CUDA_CONTEXTS] = {1, 2, 3, 4, 5, 6, 7, 8, 9};
bool fake_cuda_is_old;
atomic_int fake_cuda_modules, fake_cuda_loads, fake_cuda_launches, fake_cuda_calls;
atomic_int fake_cuda_mistakes, fake_cuda_retained;
atomic_int fake_cuda_held, fake_cuda_allocations;
_Thread_local int64_t fake_cuda_now_ns;
bool fake_cuda_is_late;
int fake_cuda_queries_fail;
struct fake_cuda_kernel fake_cuda_kernels[FAKE_CUDA_KERNELS_MAX];
int fake_cuda_kernel_count;

/* Replaces the C library's dlopen: this program is the driver, and may be CUPTI. */
void *dlopen(const char *name, int flags)
{
    void *(*real)(const char *, int) = NULL;

    *(void **)&real = dlsym(RTLD_NEXT, "dlopen");
    if (name && strcmp(name, "libcuda.so.1") == 0)
        name = fake_cuda_is_there ? NULL : "libcuda-that-is-not-there.so.1";
    if (name && strstr(name, "libcupti.so"))
        name = fake_cupti_is_there ? NULL : "libcupti-that-is-not-there.so";
    return real(name, flags);
}

/* ---- stops ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* for these, and to find kernels */
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static enum fake_cuda_point stop_point; /* 0: none */
static int stop_device, stopped;

void fake_cuda_stop(int device, enum fake_cuda_point point)
{
    pthread_mutex_lock(&mutex);
    stop_point = point;
    stop_device = device;
    stopped = 0;
    pthread_mutex_unlock(&mutex);
}

void fake_cuda_await(void)
{
    pthread_mutex_lock(&mutex);
    while (stopped == 0)
        pthread_cond_wait(&changed, &mutex);
    pthread_mutex_unlock(&mutex);
}

int fake_cuda_go(void)
{
    int count;

    pthread_mutex_lock(&mutex);
    count = stopped;
    stop_point = 0;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
    return count;
}

static void pass(enum fake_cuda_point point)
{
    pthread_mutex_lock(&mutex);
    if (stop_point == point && stop_device == fake_cuda_device) {
        stopped++;
        pthread_cond_broadcast(&changed);
        while (stop_point == point)
            pthread_cond_wait(&changed, &mutex);
    }
    pthread_mutex_unlock(&mutex);
}

/* ---- functions with results ---- */

/* By the numbers of CUdevice_attribute. */
static const struct {
    int which, value;
} attributes[] = {
    {1, 1024},                     /* threads per block */
    {8, 49152},                    /* shared memory per block */
    {10, 32},                      /* threads per warp */
    {16, 132},                     /* multiprocessors */
    {32, 1},                       /* ECC */
    {36, 3201000},                 /* memory clock */
    {37, 6016},                    /* bus width in bits */
    {38, 62914560},    {39, 2048}, /* threads per multiprocessor */
    {75, 9},                       /* compute capability */
    {81, 233472},                  /* shared memory per multiprocessor */
    {82, 65536},                   /* registers per multiprocessor */
    {97, 232448},                  /* shared memory per block, opt-in */
    {139, 0x233510de},             /* the PCI device; without it, NVML is asked */
};

int cuDeviceGetAttribute(int *value, int which, int device);
int cuDeviceGetName(char *name, int capacity, int device);
int cuDeviceGetUuid(char *uuid, int device);
int cuDeviceGetPCIBusId(char *id, int capacity, int device);
int cuDeviceTotalMem_v2(size_t *bytes, int device);
int cuCtxGetCurrent(void **context);
int cuCtxGetDevice(int *device);
int cuCtxGetId(void *context, unsigned long long *id);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDeviceGet(int *device, int number);
int cuCtxPushCurrent_v2(void *context);
int cuCtxPopCurrent_v2(void **context);
int cuGetErrorName(int error, const char **name);
int cuGetErrorString(int error, const char **text);
int cuModuleLoadData(void **module, const void *image);
int cuModuleUnload(void *module);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **args, void **extra);
int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, void *stream, void **args);
int cuStreamBeginCapture_v2(void *stream, int mode);
int cuStreamIsCapturing(void *stream, int *state);
int cuStreamEndCapture(void *stream, void **graph);
int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags);
int cuGraphLaunch(void *executable, void *stream);
int cuGraphDestroy(void *graph);
int cuGraphExecDestroy(void *executable);
int cuEventCreate(void **event, unsigned flags);
int cuEventDestroy_v2(void *event);
int cuEventRecordWithFlags(void *event, void *stream, unsigned flags);
int cuEventQuery(void *event);
int cuEventElapsedTime(float *ms, void *start, void *stop);
int cuThreadExchangeStreamCaptureMode(int *mode);
int cuStreamCreate(void **stream, unsigned flags);
int cuStreamDestroy_v2(void *stream);
int cuMemAlloc_v2(uint64_t *address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemGetInfo_v2(size_t *free_bytes, size_t *total);
int cuPointerGetAttribute(unsigned *value, int which, uint64_t address);
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream);
int cuFuncGetAttribute(int *value, int which, void *function);
int cuFuncSetAttribute(void *function, int which, int value);
int cuDriverGetVersion(int *version);

int cuDeviceGetAttribute(int *value, int which, int device)
{
    enum { MULTIPROCESSORS = 16 };

    *value = 0;
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
        if (attributes[i].which == which)
            *value = attributes[i].value;
    if (which == MULTIPROCESSORS && device == FAKE_CUDA_OTHER_MODEL)
        *value = 78;
    return 0;
}

int cuDeviceGetName(char *name, int capacity, int device)
{
    (void)device;
    strncpy(name, "NVIDIA H200", (size_t)capacity);
    return 0;
}

int cuDeviceGetUuid(char *uuid, int device)
{
    memset(uuid, device, 16);
    return 0;
}

int cuDeviceGetPCIBusId(char *id, int capacity, int device)
{
    (void)device;
    strncpy(id, "0000:0F:00.0", (size_t)capacity);
    return 0;
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)140 << 30;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = fake_cuda_context;
    return 0;
}

/* The contexts below the current one. */
static _Thread_local void *stack[8];
static _Thread_local size_t stacked;

enum { INVALID_VALUE = 1, INVALID_CONTEXT = 201 };

int cuCtxPushCurrent_v2(void *context)
{
    if (stacked == sizeof stack / sizeof *stack)
        abort();
    stack[stacked++] = fake_cuda_context;
    fake_cuda_context = context;
    return 0;
}

int cuCtxPopCurrent_v2(void **context)
{
    if (stacked == 0)
        return INVALID_CONTEXT;
    *context = fake_cuda_context;
    fake_cuda_context = stack[--stacked];
    return 0;
}

int cuCtxGetDevice(int *device)
{
    *device = fake_cuda_device;
    return 0;
}

int cuDeviceGet(int *device, int number)
{
    fake_cuda_calls++;
    *device = number;
    return 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    fake_cuda_calls++;
    fake_cuda_retained++;
    *context = &fake_cuda_contexts[device];
    return 0;
}

static int context_number(const void *context)
{
    return (int)((const char *)context - fake_cuda_contexts);
}

int cuCtxGetId(void *context, unsigned long long *id)
{
    enum { CONTEXT_IS_DESTROYED = 709, NOT_SUPPORTED = 801 };

    if (fake_cuda_is_old)
        return NOT_SUPPORTED;
    *id = (unsigned long long)fake_cuda_context_ids[context_number(context)];
    return *id ? 0 : CONTEXT_IS_DESTROYED;
}

int cuGetErrorName(int error, const char **name)
{
    (void)error;
    fake_cuda_calls++;
    *name = "FAKE_ERROR";
    return 0;
}

int cuGetErrorString(int error, const char **text)
{
    (void)error;
    *text = "this driver runs nothing";
    return 0;
}

/* ---- modules and kernels ---- */

/* A module is the id of its context. */
static atomic_int loaded[FAKE_CUDA_CONTEXTS];

int cuModuleLoadData(void **module, const void *image)
{
    (void)image;
    pass(FAKE_CUDA_LOAD);
    fake_cuda_calls++;
    fake_cuda_loads++;
    if (!fake_cuda_context)
        return INVALID_CONTEXT;
    fake_cuda_modules++;
    loaded[context_number(fake_cuda_context)]++;
    *module = (void *)(intptr_t)fake_cuda_context_ids[context_number(fake_cuda_context)];
    return 0;
}

int cuModuleUnload(void *module)
{
    int number = fake_cuda_context ? context_number(fake_cuda_context) : -1;

    fake_cuda_calls++;
    if (number < 0 || (intptr_t)module != fake_cuda_context_ids[number]) {
        fake_cuda_mistakes++;
        return INVALID_CONTEXT;
    }
    fake_cuda_modules--;
    loaded[number]--;
    return 0;
}

void fake_cuda_renew_context(int number)
{
    static int last = FAKE_CUDA_CONTEXTS;

    fake_cuda_context_ids[number] = ++last;
    fake_cuda_modules -= loaded[number];
    loaded[number] = 0;
}

/* The harness's kernels that matter; others do nothing. `result` is the argument's number. */
static struct harness {
    const char *entry;
    int result;
} harness[] = {{"at_poison", -1}, {"at_check", 4}, {"at_check_tensor", 4}, {"at_check_source", 4}};

static struct harness other = {"", -1};

void fake_cuda_forget(void)
{
    for (int i = 0; i < fake_cuda_kernel_count; i++) {
        fake_cuda_kernels[i].entry[0] = '\0';
        fake_cuda_kernels[i].launches = 0;
    }
    fake_cuda_kernel_count = 0;
}

static void *find_kernel(const char *entry)
{
    int i = 0;

    pthread_mutex_lock(&mutex);
    while (i < fake_cuda_kernel_count && strcmp(fake_cuda_kernels[i].entry, entry) != 0)
        i++;
    if (i == FAKE_CUDA_KERNELS_MAX)
        abort();
    if (i == fake_cuda_kernel_count)
        strcpy(fake_cuda_kernels[fake_cuda_kernel_count++].entry, entry);
    pthread_mutex_unlock(&mutex);
    return &fake_cuda_kernels[i];
}

int cuModuleGetFunction(void **function, void *module, const char *name)
{
    (void)module;
    fake_cuda_calls++;
    *function = &other;
    for (size_t i = 0; i < sizeof harness / sizeof *harness; i++)
        if (strcmp(harness[i].entry, name) == 0)
            *function = &harness[i];
    if (strncmp(name, "k_", 2) == 0 && strlen(name) < sizeof fake_cuda_kernels->entry)
        *function = find_kernel(name);
    return 0;
}

static bool is_family(const void *function)
{
    return (const struct fake_cuda_kernel *)function >= fake_cuda_kernels &&
           (const struct fake_cuda_kernel *)function < fake_cuda_kernels + FAKE_CUDA_KERNELS_MAX;
}

/* ---- blocks: of the device's memory and of the driver's own, zeroed, with their length before
 * them. A test's malloc does not see them. ---- */

enum { PAGE = 4096 };

static void *map(size_t bytes)
{
    char *block = mmap(NULL, bytes + PAGE, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (block == MAP_FAILED)
        abort();
    *(size_t *)block = bytes + PAGE;
    return block + PAGE;
}

static void unmap(void *object)
{
    char *block = (char *)object - PAGE;

    munmap(block, *(size_t *)block);
}

/* ---- running ---- */

static _Thread_local bool is_wrong; /* what was written since the last poison */

static int run_family(struct fake_cuda_kernel *kernel)
{
    pass(FAKE_CUDA_RUN);
    kernel->launches++;
    fake_cuda_now_ns += kernel->ns ? kernel->ns : 10000;
    is_wrong |= kernel->wrong;
    return kernel->crashes;
}

static void run_harness(const struct harness *which, void **args)
{
    if (which == &harness[0])
        is_wrong = false;
    if (which->result >= 0 && is_wrong)
        ++**(uint64_t **)args[which->result]; /* the results are in host memory */
}

static int most_shared(const struct fake_cuda_kernel *kernel)
{
    return kernel->shared ? kernel->shared : 49152;
}

/* A graph is a list of launches and events. */
struct fake_node {
    struct fake_cuda_kernel *kernel; /* NULL: an event */
    int64_t *event;
};
struct fake_graph {
    size_t count;
    struct fake_node nodes[8192];
};
static _Thread_local struct fake_graph *captured; /* NULL: nothing is captured */

static void add(struct fake_node node)
{
    if (captured->count == sizeof captured->nodes / sizeof node)
        abort();
    captured->nodes[captured->count++] = node;
}

int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **args, void **extra)
{
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)stream;
    (void)extra;
    fake_cuda_calls++;
    fake_cuda_launches++;
    if (!is_family(function)) {
        run_harness(function, args);
        return 0;
    }
    if (shared > (unsigned)most_shared(function))
        return INVALID_VALUE;
    fake_cuda_launched_in = fake_cuda_context;
    for (int i = 0; i < 2; i++)
        fake_cuda_launched[i] = *(uint64_t *)args[i];
    if (fake_cuda_last_at)
        memcpy(fake_cuda_last, args[fake_cuda_last_at], sizeof fake_cuda_last);
    if (!fake_cuda_context)
        return INVALID_CONTEXT;
    if (!captured)
        return run_family(function);
    add((struct fake_node){.kernel = function});
    return 0;
}

int cuLaunchCooperativeKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                              unsigned by, unsigned bz, unsigned shared, void *stream, void **args)
{
    return cuLaunchKernel(function, gx, gy, gz, bx, by, bz, shared, stream, args, NULL);
}

int cuFuncSetAttribute(void *function, int which, int value)
{
    enum { MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };

    fake_cuda_calls++;
    if (is_family(function) && which == MAX_DYNAMIC_SHARED_SIZE_BYTES)
        ((struct fake_cuda_kernel *)function)->shared = value;
    return 0;
}

static int make(void **object, size_t size)
{
    *object = map(size);
    fake_cuda_calls++;
    fake_cuda_held++;
    return 0;
}

int cuStreamBeginCapture_v2(void *stream, int mode)
{
    (void)stream;
    (void)mode;
    return make((void **)&captured, sizeof *captured);
}

int cuStreamIsCapturing(void *stream, int *state)
{
    (void)stream;
    fake_cuda_calls++;
    *state = captured != NULL;
    return 0;
}

int cuStreamEndCapture(void *stream, void **graph)
{
    (void)stream;
    fake_cuda_calls++;
    *graph = captured;
    captured = NULL;
    return 0;
}

int cuGraphInstantiateWithFlags(void **executable, void *graph, unsigned long long flags)
{
    int result = make(executable, sizeof(struct fake_graph));

    (void)flags;
    if (result == 0)
        memcpy(*executable, graph, sizeof(struct fake_graph));
    return result;
}

int cuGraphLaunch(void *executable, void *stream)
{
    const struct fake_graph *graph = executable;

    (void)stream;
    fake_cuda_calls++;
    for (size_t i = 0; i < graph->count; i++) {
        int failed = graph->nodes[i].kernel ? run_family(graph->nodes[i].kernel) : 0;

        if (failed)
            return failed;
        if (graph->nodes[i].event)
            *graph->nodes[i].event = fake_cuda_now_ns;
    }
    return 0;
}

static int drop(void *object)
{
    fake_cuda_calls++;
    fake_cuda_held--;
    unmap(object);
    return 0;
}

int cuGraphDestroy(void *graph)
{
    return drop(graph);
}

int cuGraphExecDestroy(void *executable)
{
    return drop(executable);
}

int cuEventCreate(void **event, unsigned flags)
{
    (void)flags;
    return make(event, sizeof(int64_t));
}

int cuEventDestroy_v2(void *event)
{
    return drop(event);
}

int cuEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    (void)stream;
    (void)flags;
    fake_cuda_calls++;
    if (captured)
        add((struct fake_node){.event = event});
    else
        *(int64_t *)event = fake_cuda_now_ns;
    return 0;
}

/* In its strictest mode, in which threads begin, asking breaks the captures of other threads. */
enum { CAPTURE_MODE_GLOBAL, CAPTURE_MODE_RELAXED = 2 };
static _Thread_local int capture_mode = CAPTURE_MODE_GLOBAL;

int cuThreadExchangeStreamCaptureMode(int *mode)
{
    int before = capture_mode;

    fake_cuda_calls++;
    capture_mode = *mode;
    *mode = before;
    return 0;
}

int cuEventQuery(void *event)
{
    enum { NOT_READY = 600 };

    (void)event;
    fake_cuda_calls++;
    if (capture_mode != CAPTURE_MODE_RELAXED)
        fake_cuda_mistakes++;
    return fake_cuda_queries_fail ? fake_cuda_queries_fail : fake_cuda_is_late ? NOT_READY : 0;
}

int cuEventElapsedTime(float *ms, void *start, void *stop)
{
    fake_cuda_calls++;
    *ms = (float)(1e-6 * (double)(*(int64_t *)stop - *(int64_t *)start));
    return 0;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    return make(stream, 1);
}

int cuStreamDestroy_v2(void *stream)
{
    return drop(stream);
}

/* ---- memory ---- */

/* The addresses of late. */
static atomic_uint_least64_t allocated[1024];

int cuMemAlloc_v2(uint64_t *address, size_t bytes)
{
    fake_cuda_calls++;
    fake_cuda_held++;
    *address = (uint64_t)(uintptr_t)map(bytes);
    allocated[fake_cuda_allocations++ % (sizeof allocated / sizeof *allocated)] = *address;
    return 0;
}

static bool is_allocated(uint64_t address)
{
    for (size_t i = 0; i < sizeof allocated / sizeof *allocated; i++)
        if (allocated[i] == address)
            return true;
    return false;
}

int cuMemFree_v2(uint64_t address)
{
    return drop((void *)(uintptr_t)address);
}

int cuMemGetInfo_v2(size_t *free_bytes, size_t *total)
{
    fake_cuda_calls++;
    *free_bytes = (size_t)100 << 30;
    *total = (size_t)140 << 30;
    return 0;
}

/* Addresses that no program has are a device's, and the lowest ones the second device's. Others are
 * of memory that the driver does not know. */
int cuPointerGetAttribute(unsigned *value, int which, uint64_t address)
{
    enum { MEMORY_TYPE = 2, DEVICE_MEMORY = 2 };

    fake_cuda_calls++;
    *value = which == MEMORY_TYPE ? DEVICE_MEMORY : address < 4096;
    return which != MEMORY_TYPE || address < 1 << 20 || is_allocated(address) ? 0 : INVALID_VALUE;
}

int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes, void *stream)
{
    (void)stream;
    fake_cuda_calls++;
    memcpy((void *)(uintptr_t)to, from, bytes);
    return 0;
}

int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)
{
    fake_cuda_calls++;
    memcpy(to, (const void *)(uintptr_t)from, bytes);
    return 0;
}

/* A copy takes time too: profiles have it. */
int cuMemcpyDtoDAsync_v2(uint64_t to, uint64_t from, size_t bytes, void *stream)
{
    (void)to, (void)from, (void)bytes, (void)stream;
    fake_cuda_calls++;
    fake_cuda_now_ns += 9000;
    return 0;
}

int cuFuncGetAttribute(int *value, int which, void *function)
{
    (void)which;
    (void)function;
    fake_cuda_calls++;
    *value = 32;
    return 0;
}

int cuDriverGetVersion(int *version)
{
    fake_cuda_calls++;
    *version = 13000;
    return 0;
}

/* ---- functions that only succeed ---- */

#define SUCCESS(name)                                                                              \
    int name(void);                                                                                \
    int name(void)                                                                                 \
    {                                                                                              \
        fake_cuda_calls++;                                                                         \
        return 0;                                                                                  \
    }

SUCCESS(cuCtxSetCurrent)
SUCCESS(cuDeviceGetCount)
SUCCESS(cuDevicePrimaryCtxRelease_v2)
SUCCESS(cuGraphUpload)
SUCCESS(cuInit)
SUCCESS(cuMemHostAlloc)
SUCCESS(cuStreamSynchronize)
