/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each byte that a plan writes, and the bytes around. */
#include "base/memory.h"
#include "base/rng.h"
#include "plan-run.h"
#include "problem/step.h"

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

/* Each is checked with every shape that is not in place. Channels have none of the batches with
 * gaps between matrices, where a result's place does not tell its channel. */
static const char *const steps[] = {
    "f32:bf16",       "c64,conj",       "bf16:e4m3,scale",    "f32:u8,divide",
    "f64,alpha,beta", "c64,alpha,beta", "u8:f16,affine=rows", "f32,affine=cols,beta"};

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

/* A problem and its step. */
struct task {
    autotune_problem problem;
    struct at_step step;
    size_t result_size; /* bytes */
};

static struct task make_task(const autotune_problem *given)
{
    struct task task = {.problem = filled(*given, given->elem_size),
                        .result_size = (size_t)given->elem_size};

    if (given->step &&
        at_step_parse(&task.step, &task.problem.elem_size, given->step, NULL) != AT_OK)
        abort();
    if (given->step)
        task.result_size = (size_t)at_number_formats[task.step.to].bytes;
    return task;
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

/* ---- what a step takes ---- */

static const double given_number[2] = {0.375, -1.25}, given_beta[2] = {-0.75, 0.5};

/* The numbers of a channel. */
static double scale_of(int64_t channel)
{
    return 0.5 + (double)(channel % 7);
}

static double shift_of(int64_t channel)
{
    return (double)(channel % 5) - 1.5;
}

/* Numbers on the device, of the type that values are computed in. */
struct device_numbers {
    CUdeviceptr number, beta, scales, shifts;
};

static CUdeviceptr copy_numbers(const double *numbers, size_t count, bool doubles, CUstream stream)
{
    size_t bytes = count * (doubles ? sizeof(double) : sizeof(float));
    float *floats = at_alloc_array(count, sizeof *floats);
    CUdeviceptr made;

    for (size_t i = 0; i < count; i++)
        floats[i] = (float)numbers[i];
    require(at_cuda.cuMemAlloc(&made, bytes), "allocating");
    require(
        at_cuda.cuMemcpyHtoDAsync(made, doubles ? (const void *)numbers : floats, bytes, stream),
        "uploading");
    require(at_cuda.cuStreamSynchronize(stream), "uploading");
    free(floats);
    return made;
}

static int64_t channels_of(const struct task *task)
{
    return task->step.channels.axis == AT_ROWS_AXIS ? task->problem.rows : task->problem.cols;
}

static struct device_numbers make_numbers(const struct task *task, CUstream stream)
{
    bool doubles = at_step_computes_in(&task->step) == AT_F64;
    size_t channels = (size_t)channels_of(task);
    double *scales = at_alloc_array(channels, sizeof *scales);
    double *shifts = at_alloc_array(channels, sizeof *shifts);
    struct device_numbers made;

    for (size_t i = 0; i < channels; i++) {
        scales[i] = scale_of((int64_t)i);
        shifts[i] = shift_of((int64_t)i);
    }
    made = (struct device_numbers){copy_numbers(given_number, 2, doubles, stream),
                                   copy_numbers(given_beta, 2, doubles, stream),
                                   copy_numbers(scales, channels, doubles, stream),
                                   copy_numbers(shifts, channels, doubles, stream)};
    free(shifts);
    free(scales);
    return made;
}

static void free_numbers(const struct device_numbers *numbers)
{
    at_cuda.cuMemFree(numbers->number);
    at_cuda.cuMemFree(numbers->beta);
    at_cuda.cuMemFree(numbers->scales);
    at_cuda.cuMemFree(numbers->shifts);
}

/* A number by its value or by where the device has it. */
static autotune_scalar scalar_of(const double value[2], CUdeviceptr at, const struct at_step *step,
                                 bool by_address)
{
    autotune_scalar scalar = {0};

    if (by_address)
        scalar.at = (const void *)at;
    else
        memcpy(scalar.value, value, (size_t)at_number_formats[step->to].parts * sizeof *value);
    return scalar;
}

/* Set the members that the step takes. The second source is `second`. */
static void take_numbers(autotune_execution *execution, const struct task *task,
                         const struct device_numbers *numbers, CUdeviceptr second, bool by_address)
{
    const struct at_step *step = &task->step;
    const autotune_scalar number = scalar_of(given_number, numbers->number, step, by_address);

    if (at_step_has(step, AT_SCALE) || at_step_has(step, AT_DIVIDE))
        execution->scale = number;
    if (at_step_has(step, AT_ALPHA))
        execution->alpha = number;
    if (at_step_has(step, AT_BETA)) {
        execution->beta = scalar_of(given_beta, numbers->beta, step, by_address);
        execution->src2 = (const void *)second;
    }
    if (at_step_has(step, AT_AFFINE)) {
        execution->channel_scale = (const void *)numbers->scales;
        execution->channel_shift = (const void *)numbers->shifts;
    }
}

/* Compute here what the plan does. */
static void transpose_here(const struct task *task, unsigned char *dst, const unsigned char *src,
                           const unsigned char *second)
{
    const autotune_problem *p = &task->problem;
    struct at_step_operands operands = {
        {given_number[0], given_number[1]}, {given_beta[0], given_beta[1]}, 1, 0};

    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t r = 0; r < p->rows; r++)
            for (int64_t c = 0; c < p->cols; c++) {
                size_t to = (size_t)(b * p->stride_dst + c * p->ld_dst + r) * task->result_size;
                const unsigned char *from =
                    src + (size_t)((b * p->stride_src + r * p->ld_src + c) * p->elem_size);
                int64_t channel = task->step.channels.axis == AT_ROWS_AXIS ? r : c;

                operands.channel_scale = scale_of(channel);
                operands.shift = shift_of(channel);
                if (task->step.given)
                    at_step_apply(&task->step, &operands, dst + to, from, second + to);
                else
                    memcpy(dst + to, from, task->result_size);
            }
}

/* ---- running it ---- */

static void execute(const autotune_plan *plan, const autotune_execution *execution, bool plainly)
{
    autotune_error *error = NULL;
    autotune_status status = plainly ? autotune_plan_execute(plan, execution->dst, execution->src,
                                                             execution->stream, &error)
                                     : autotune_plan_execute_with(plan, execution, &error);

    require_ok(status, &error, "executing");
}

static void execute_captured(const autotune_plan *plan, const autotune_execution *execution,
                             bool plainly)
{
    CUstream stream = execution->stream;
    CUgraph graph;
    CUgraphExec exec;

    require(at_cuda.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), "capturing");
    execute(plan, execution, plainly);
    require(at_cuda.cuStreamEndCapture(stream, &graph), "capturing");
    require(at_cuda.cuGraphInstantiate(&exec, graph, 0), "making a graph");
    require(at_cuda.cuGraphLaunch(exec, stream), "starting a graph");
    require(at_cuda.cuStreamSynchronize(stream), "running a graph");
    at_cuda.cuGraphExecDestroy(exec);
    at_cuda.cuGraphDestroy(graph);
}

/* Return whether each byte of the destination and of its margins is right. From a graph, numbers
 * are the device's, and the second source is what the destination had. */
static bool is_right(const autotune_plan *plan, const struct task *task, const int64_t offset[2],
                     bool captured, CUstream stream)
{
    const autotune_problem *p = &task->problem;
    int64_t src_elements = (p->batch - 1) * p->stride_src + p->rows * p->ld_src + offset[0];
    int64_t dst_elements = (p->batch - 1) * p->stride_dst + p->cols * p->ld_dst + offset[1];
    struct buffer src = make_buffer(src_elements, p->elem_size);
    struct buffer dst = make_buffer(dst_elements, (int64_t)task->result_size);
    struct buffer second = make_buffer(dst_elements, (int64_t)task->result_size);
    struct device_numbers numbers = make_numbers(task, stream);
    size_t src_at = MARGIN_BYTES + (size_t)(offset[0] * p->elem_size);
    size_t dst_at = MARGIN_BYTES + (size_t)offset[1] * task->result_size;
    unsigned char *got = at_alloc(dst.bytes), *before;
    autotune_execution execution = autotune_execution_init();
    bool right;

    fill(&src, 1);
    fill(&dst, 2);
    fill(&second, 3);
    upload(&src, stream);
    upload(&dst, stream);
    upload(&second, stream);
    execution.dst = (void *)(dst.device + dst_at);
    execution.src = p->in_place ? execution.dst : (const void *)(src.device + src_at);
    execution.stream = stream;
    take_numbers(&execution, task, &numbers, (captured ? dst : second).device + dst_at, captured);
    (captured ? execute_captured : execute)(plan, &execution, !task->step.given);
    require(at_cuda.cuStreamSynchronize(stream), "running");
    require(at_cuda.cuMemcpyDtoH(got, dst.device, dst.bytes), "downloading");
    before = at_memdup(dst.host, dst.bytes);
    transpose_here(task, dst.host + dst_at, p->in_place ? before + dst_at : src.host + src_at,
                   (captured ? before : second.host) + dst_at);
    right = memcmp(got, dst.host, dst.bytes) == 0;
    free(before);
    free(got);
    free_numbers(&numbers);
    free_buffer(&second);
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
    struct task task = make_task(given);
    char *name = name_of(plan);
    int wrong = 0;

    for (size_t i = 0; i < AT_COUNT(offsets); i++)
        for (int captured = 0; captured < 2; captured++)
            if (!is_right(plan, &task, offsets[i], captured, stream)) {
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
                         int64_t elem_size, const char *step, int64_t align_bytes, CUstream stream)
{
    autotune_problem asked = *given;
    autotune_plan *plan;
    autotune_error *error = NULL;
    int wrong;

    asked.struct_size = sizeof asked;
    asked.elem_size = elem_size;
    asked.step = step;
    asked.align_bytes = align_bytes;
    require_ok(autotune_plan_create(&plan, profile, &asked, &error), &error, "planning");
    wrong = check_plan(plan, &asked, stream);
    autotune_plan_free(plan);
    return wrong;
}

/* The same with addresses as allocators give them, and with those of any element. */
static int check_both(const autotune_profile *profile, const autotune_problem *given,
                      int64_t elem_size, const char *step, CUstream stream)
{
    return check_problem(profile, given, elem_size, step, 0, stream) +
           check_problem(profile, given, elem_size, step, elem_size, stream);
}

static bool takes(const autotune_problem *shape, const char *step)
{
    return !shape->in_place && !(shape->stride_dst && strstr(step, "affine"));
}

static int64_t source_size(const char *step)
{
    autotune_problem problem = {.step = step};

    return make_task(&problem).problem.elem_size;
}

int check_plans(const autotune_profile *profile)
{
    const int runs_each = 4 * (int)AT_COUNT(offsets);
    CUstream stream = make_stream();
    int wrong = 0, runs = 0;

    for (size_t i = 0; i < AT_COUNT(shapes); i++) {
        for (int64_t elem_size = 1; elem_size <= 16; elem_size *= 2, runs += runs_each)
            wrong += check_both(profile, &shapes[i], elem_size, NULL, stream);
        for (size_t k = 0; k < AT_COUNT(steps); k++) {
            if (!takes(&shapes[i], steps[k]))
                continue;
            runs += runs_each;
            wrong += check_both(profile, &shapes[i], source_size(steps[k]), steps[k], stream);
        }
    }
    printf("%d runs, %d wrong\n", runs, wrong);
    at_cuda.cuStreamDestroy(stream);
    return wrong > 0;
}
