/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each byte that a plan writes, and the bytes around. */
#include "base/memory.h"
#include "base/rng.h"
#include "plan-run.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN_BYTES = 256 };

/* Each is checked with every element size. */
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

/* Offsets of source and destination, in elements. */
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

/* A buffer in host and device memory, with a margin on both sides of the matrices. */
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

/* Return whether each byte of the destination and of its margins is right. */
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

int check_plan(const autotune_plan *plan, const autotune_problem *given, CUstream stream)
{
    autotune_problem p = filled(*given, given->elem_size);
    char *name = name_of(plan);
    int wrong = 0;

    for (size_t i = 0; i < AT_COUNT(offsets); i++)
        for (int captured = 0; captured < 2; captured++)
            if (!is_right(plan, &p, offsets[i], captured, stream)) {
                printf("wrong: %s, align %" PRId64 ", source + %" PRId64 ", destination + %" PRId64
                       "%s\n",
                       name, given->align_bytes, offsets[i][0], offsets[i][1],
                       captured ? ", captured" : "");
                wrong++;
            }
    free(name);
    return wrong;
}

/* Return the number of wrong runs. */
static int check_problem(const autotune_profile *profile, const autotune_problem *given,
                         int64_t elem_size, int64_t align_bytes, CUstream stream)
{
    autotune_problem asked = *given;
    autotune_plan *plan;
    autotune_error *error = NULL;
    int wrong;

    asked.elem_size = elem_size;
    asked.align_bytes = align_bytes;
    require_ok(autotune_plan_create(&plan, profile, &asked, &error), error, "planning");
    wrong = check_plan(plan, &asked, stream);
    autotune_plan_free(plan);
    return wrong;
}

int check_plans(const autotune_profile *profile)
{
    CUstream stream = make_stream();
    int wrong = 0, runs = 0;

    for (int64_t elem_size = 1; elem_size <= 16; elem_size *= 2)
        for (size_t i = 0; i < AT_COUNT(shapes); i++, runs += 4 * (int)AT_COUNT(offsets)) {
            wrong += check_problem(profile, &shapes[i], elem_size, 0, stream);
            wrong += check_problem(profile, &shapes[i], elem_size, elem_size, stream);
        }
    printf("%d runs, %d wrong\n", runs, wrong);
    at_cuda.cuStreamDestroy(stream);
    return wrong > 0;
}
