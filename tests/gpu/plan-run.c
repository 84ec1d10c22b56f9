/* SPDX-License-Identifier: Apache-2.0 */
/* Plans on a GPU, made by libautotune as others link it: for tests/gpu/plan.bats.
 *   plan-run check CONTEXT PROFILE   every problem of the table, at aligned and odd addresses,
 * started and captured: each byte of the destination is compared plan-run speed CONTEXT PROFILE
 * what the calls cost, in microseconds of the calling thread CONTEXT: "driver", a context of this
 * program's own; "primary", the one that the runtime API uses. */
#include "base/clock.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/stats.h"
#include "device/cuda/driver.h"
#include "lib/autotune.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN_BYTES = 256 };

/* ---- failing ---- */

static void require(CUresult result, const char *doing)
{
    char text[256];

    if (result == CUDA_SUCCESS)
        return;
    at_cuda_describe(result, text, sizeof text);
    fprintf(stderr, "%s: %s\n", doing, text);
    exit(1);
}

static void require_ok(autotune_status status, autotune_error *error, const char *doing)
{
    if (status == AUTOTUNE_OK)
        return;
    fprintf(stderr, "%s: %s\n", doing, autotune_error_message(error));
    autotune_error_free(error);
    exit(1);
}

/* ---- the context ---- */

/* The function that cuda.h calls cuCtxCreate differs from toolkit to toolkit; this one is in all.
 */
static CUcontext make_own_context(CUdevice device)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    CUresult (*create)(CUcontext *, unsigned, CUdevice) = NULL;
    CUcontext context;

    if (library)
        *(void **)&create = dlsym(library, "cuCtxCreate_v2");
    require(create ? create(&context, 0, device) : CUDA_ERROR_NOT_FOUND, "making a context");
    return context;
}

static void enter_context(const char *kind)
{
    struct at_error err;
    CUcontext context;
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

static CUstream make_stream(void)
{
    CUstream stream;

    require(at_cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "making a stream");
    return stream;
}

/* ---- checking ---- */

/* Of each element size. */
static const autotune_problem shapes[] = {
    {.rows = 512, .cols = 768},
    {.rows = 301, .cols = 207},
    {.rows = 300, .cols = 200, .ld_src = 208, .ld_dst = 301},
    {.rows = 100, .cols = 60, .batch = 3, .stride_src = 6001, .stride_dst = 6005},
    {.rows = 32, .cols = 32, .batch = 70},
    {.rows = 3, .cols = 10000},
    {.rows = 10001, .cols = 5},
    {.rows = 1, .cols = 1000},
    {.rows = 1000, .cols = 1},
    {.rows = 256, .cols = 256, .in_place = 1},
    {.rows = 99, .cols = 99, .ld_src = 101, .ld_dst = 101, .batch = 2, .in_place = 1},
};

/* Elements that source and destination are moved by. */
static const int64_t offsets[][2] = {{0, 0}, {1, 0}, {0, 1}, {3, 5}};

static autotune_problem filled(autotune_problem p, int64_t elem_size)
{
    p.elem_size = elem_size;
    p.ld_src = p.ld_src ? p.ld_src : p.cols;
    p.ld_dst = p.ld_dst ? p.ld_dst : p.rows;
    p.batch = p.batch ? p.batch : 1;
    p.stride_src = p.stride_src ? p.stride_src : p.rows * p.ld_src;
    p.stride_dst = p.stride_dst ? p.stride_dst : p.cols * p.ld_dst;
    return p;
}

/* A buffer here and on the device, with a margin before and behind what the problem uses. */
struct buffer {
    unsigned char *host;
    CUdeviceptr device;
    size_t bytes;
};

static struct buffer make_buffer(int64_t elements, int64_t elem_size)
{
    struct buffer buffer = {.bytes = (size_t)(elements * elem_size) + 2 * MARGIN_BYTES};

    buffer.host = at_alloc(buffer.bytes);
    require(at_cuda.cuMemAlloc(&buffer.device, buffer.bytes), "allocating");
    return buffer;
}

static void free_buffer(struct buffer *buffer)
{
    at_cuda.cuMemFree(buffer->device);
    free(buffer->host);
}

static void fill(struct buffer *buffer, uint64_t seed)
{
    struct at_rng rng = {seed};

    for (size_t i = 0; i < buffer->bytes; i++)
        buffer->host[i] = (unsigned char)at_rng_next(&rng);
}

static void upload(const struct buffer *buffer, CUstream stream)
{
    require(at_cuda.cuMemcpyHtoDAsync(buffer->device, buffer->host, buffer->bytes, stream),
            "uploading");
    require(at_cuda.cuStreamSynchronize(stream), "uploading");
}

static void transpose_here(const autotune_problem *p, unsigned char *dst, const unsigned char *src)
{
    size_t size = (size_t)p->elem_size;

    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t r = 0; r < p->rows; r++)
            for (int64_t c = 0; c < p->cols; c++)
                memcpy(dst + (size_t)(b * p->stride_dst + c * p->ld_dst + r) * size,
                       src + (size_t)(b * p->stride_src + r * p->ld_src + c) * size, size);
}

static void execute(const autotune_plan *plan, CUdeviceptr dst, CUdeviceptr src, CUstream stream)
{
    autotune_error *error = NULL;

    require_ok(autotune_plan_execute(plan, (void *)dst, (void *)src, stream, &error), error,
               "executing");
}

static void execute_captured(const autotune_plan *plan, CUdeviceptr dst, CUdeviceptr src,
                             CUstream stream)
{
    CUgraph graph;
    CUgraphExec exec;

    require(at_cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "capturing");
    execute(plan, dst, src, stream);
    require(at_cuda.cuStreamEndCapture(stream, &graph), "capturing");
    require(at_cuda.cuGraphInstantiate(&exec, graph, 0), "making a graph");
    require(at_cuda.cuGraphLaunch(exec, stream), "starting a graph");
    require(at_cuda.cuStreamSynchronize(stream), "running a graph");
    at_cuda.cuGraphExecDestroy(exec);
    at_cuda.cuGraphDestroy(graph);
}

/* Returns whether each byte of the destination and of its margins is what it should be. */
static bool is_right(const autotune_plan *plan, const autotune_problem *p, const int64_t offset[2],
                     bool captured, CUstream stream)
{
    int64_t src_elements = (p->batch - 1) * p->stride_src + p->rows * p->ld_src + offset[0];
    int64_t dst_elements = (p->batch - 1) * p->stride_dst + p->cols * p->ld_dst + offset[1];
    struct buffer src = make_buffer(src_elements, p->elem_size);
    struct buffer dst = make_buffer(dst_elements, p->elem_size);
    size_t src_at = MARGIN_BYTES + (size_t)(offset[0] * p->elem_size);
    size_t dst_at = MARGIN_BYTES + (size_t)(offset[1] * p->elem_size);
    unsigned char *got = at_alloc(dst.bytes), *before;
    CUdeviceptr from = p->in_place ? dst.device + dst_at : src.device + src_at;
    bool right;

    fill(&src, 1);
    fill(&dst, 2);
    upload(&src, stream);
    upload(&dst, stream);
    (captured ? execute_captured : execute)(plan, dst.device + dst_at, from, stream);
    require(at_cuda.cuStreamSynchronize(stream), "running");
    require(at_cuda.cuMemcpyDtoH(got, dst.device, dst.bytes), "downloading");
    before = at_memdup(dst.host, dst.bytes);
    transpose_here(p, dst.host + dst_at, p->in_place ? before + dst_at : src.host + src_at);
    right = memcmp(got, dst.host, dst.bytes) == 0;
    free(before);
    free(got);
    free_buffer(&dst);
    free_buffer(&src);
    return right;
}

static char *name_of(const autotune_plan *plan)
{
    char text[4096];

    autotune_plan_describe(plan, text, sizeof text);
    return at_strndup(text, strcspn(text, "\n"));
}

/* Returns how many of its runs went wrong. */
static int check_problem(const autotune_profile *profile, const autotune_problem *given,
                         int64_t elem_size, CUstream stream)
{
    autotune_problem asked = *given, p = filled(*given, elem_size);
    autotune_plan *plan;
    autotune_error *error = NULL;
    char *name;
    int wrong = 0;

    asked.elem_size = elem_size;
    require_ok(autotune_plan_create(&plan, profile, &asked, &error), error, "planning");
    name = name_of(plan);
    for (size_t i = 0; i < AT_COUNT(offsets); i++)
        for (int captured = 0; captured < 2; captured++)
            if (!is_right(plan, &p, offsets[i], captured, stream)) {
                printf("wrong: %s, source + %" PRId64 ", destination + %" PRId64 "%s\n", name,
                       offsets[i][0], offsets[i][1], captured ? ", captured" : "");
                wrong++;
            }
    free(name);
    autotune_plan_free(plan);
    return wrong;
}

static int check(const autotune_profile *profile)
{
    CUstream stream = make_stream();
    int wrong = 0, runs = 0;

    for (int64_t elem_size = 1; elem_size <= 16; elem_size *= 2)
        for (size_t i = 0; i < AT_COUNT(shapes); i++, runs += 2 * (int)AT_COUNT(offsets))
            wrong += check_problem(profile, &shapes[i], elem_size, stream);
    printf("%d runs, %d wrong\n", runs, wrong);
    at_cuda.cuStreamDestroy(stream);
    return wrong > 0;
}

/* ---- speed ---- */

static const autotune_problem timed[] = {
    {.elem_size = 4, .rows = 1000, .cols = 1000},  {.elem_size = 2, .rows = 8192, .cols = 4096},
    {.elem_size = 8, .rows = 511, .cols = 333},    {.elem_size = 1, .rows = 2000, .cols = 3000},
    {.elem_size = 16, .rows = 256, .cols = 10000}, {.elem_size = 4, .rows = 3, .cols = 100000},
};

enum { BURST = 200, BURSTS = 101, LOOKUPS = 20000 };

static void print_times(const char *what, const double *us, size_t count)
{
    printf("%s: median %.2f us, max %.2f us\n", what, at_median(us, count),
           at_quantile(us, count, 1));
}

/* All problems, twice: the second time every kernel is in the cache, if not the first. */
static void time_plans(const autotune_profile *profile)
{
    double us[AT_COUNT(timed)];

    for (int round = 1; round <= 2; round++) {
        for (size_t i = 0; i < AT_COUNT(timed); i++) {
            autotune_plan *plan;
            autotune_error *error = NULL;
            int64_t start = at_now_ns();

            require_ok(autotune_plan_create(&plan, profile, &timed[i], &error), error, "planning");
            us[i] = 1e-3 * (double)(at_now_ns() - start);
            autotune_plan_free(plan);
            if (round == 1 && i == 0)
                printf("the first plan of the process: %.2f us\n", us[i]);
        }
        print_times(round == 1 ? "plans, first round" : "plans, second round", us, AT_COUNT(us));
    }
}

/* A kernel with a plan's parameters that does nothing. */
static CUfunction bare_kernel(void)
{
    static const char ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
                              ".visible .entry bare(.param .u64 a, .param .u64 b, .param .u64 c,\n"
                              ".param .u64 d, .param .u64 e, .param .u64 f, .param .u64 g,\n"
                              ".param .u64 h, .param .u64 i) { ret; }\n";
    CUmodule module;
    CUfunction function;

    require(at_cuda.cuModuleLoadData(&module, ptx), "loading the bare kernel");
    require(at_cuda.cuModuleGetFunction(&function, module, "bare"), "finding the bare kernel");
    return function;
}

/* Nanoseconds a launch, with the queue empty before and never full. */
static double burst(const autotune_plan *plan, CUfunction bare, CUdeviceptr data, CUstream stream)
{
    void *dst = (void *)data, *src = (void *)(data + 65536);
    long long size = 16;
    void *args[] = {&dst, &src, &size, &size, &size, &size, &size, &size, &size};
    int64_t start = at_now_ns(), end;

    for (int i = 0; i < BURST; i++)
        if (plan)
            autotune_plan_execute(plan, dst, src, stream, NULL);
        else
            at_cuda.cuLaunchKernel(bare, 1, 1, 1, 256, 1, 1, 0, stream, args, NULL);
    end = at_now_ns();
    require(at_cuda.cuStreamSynchronize(stream), "running a burst");
    return (double)(end - start) / BURST;
}

/* The two in turns, so that what disturbs one disturbs the other. */
static void time_execute(const autotune_profile *profile)
{
    const autotune_problem tiny = {.elem_size = 4, .rows = 16, .cols = 16};
    CUstream stream = make_stream();
    CUfunction bare = bare_kernel();
    autotune_plan *plan;
    autotune_error *error = NULL;
    CUdeviceptr data;
    double planned[BURSTS], launched[BURSTS];

    require_ok(autotune_plan_create(&plan, profile, &tiny, &error), error, "planning");
    require(at_cuda.cuMemAlloc(&data, 131072), "allocating");
    for (int i = 0; i < BURSTS; i++) {
        planned[i] = 1e-3 * burst(plan, bare, data, stream);
        launched[i] = 1e-3 * burst(NULL, bare, data, stream);
    }
    print_times("execute", planned, BURSTS);
    print_times("bare launch", launched, BURSTS);
    printf("execute over a bare launch: %.3f us\n",
           at_median(planned, BURSTS) - at_median(launched, BURSTS));
    autotune_plan_free(plan);
    at_cuda.cuMemFree(data);
}

static void time_lookup(const autotune_profile *profile)
{
    autotune_device *device;
    autotune_error *error = NULL;
    int64_t start;

    require_ok(autotune_device_current(&device, &error), error, "the current device");
    start = at_now_ns();
    for (int i = 0; i < LOOKUPS; i++) {
        autotune_answer *answer;

        require_ok(autotune_lookup(&answer, profile, device, &timed[(size_t)i % AT_COUNT(timed)],
                                   NULL, &error),
                   error, "looking up");
        autotune_answer_free(answer);
    }
    printf("lookup: %.3f us\n", 1e-3 * (double)(at_now_ns() - start) / LOOKUPS);
    autotune_device_free(device);
}

int main(int argc, char **argv)
{
    autotune_profile *profile;
    autotune_error *error = NULL;
    int status = 0;

    if (argc != 4) {
        fprintf(stderr, "Usage: plan-run check|speed driver|primary PROFILE\n");
        return 2;
    }
    enter_context(argv[2]);
    require_ok(autotune_profile_open(&profile, argv[3], &error), error, "opening");
    if (strcmp(argv[1], "check") == 0) {
        status = check(profile);
    } else {
        time_lookup(profile);
        time_plans(profile);
        time_execute(profile);
    }
    autotune_profile_free(profile);
    return status;
}
