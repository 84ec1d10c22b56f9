/* SPDX-License-Identifier: Apache-2.0 */
/* Checks each byte that a plan writes, and the bytes around. */
#include "base/memory.h"
#include "base/rng.h"
#include "numbers/numbers.h"
#include "plan-run.h"
#include "problem/column_sums.h"
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
static const char *const steps[] = {"f32:bf16",
                                    "c64,conj",
                                    "bf16:e4m3,scale",
                                    "f32:u8,divide",
                                    "f64,alpha,beta",
                                    "c64,alpha,beta",
                                    "u8:f16,affine=rows",
                                    "f32,affine=cols,beta",
                                    "bf16:e4m3,scale,both,amax",
                                    "f32,both=bf16,amax=nan",
                                    "bf16:e4m3,both,blocks=1x128,scales=te-pow2,layout=aligned",
                                    "f32:e5m2,both=e4m3,blocks=1x32,scales=rceil,layout=swizzled",
                                    "bf16:e2m1,blocks=1x16,scales=nvfp4",
                                    "bf16,sums",
                                    "f32:e4m3,scale,both,amax,sums",
                                    "f16:e5m2,both,blocks=1x32,scales=floor,sums"};

/* Offsets of source and destination, in elements; of results of 4 bits, in bytes. Those of the
 * second result are the destination's. */
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
    size_t result_size, kept_size; /* bytes */
    autotune_scales scales[2];     /* of blocks: of the destination, and of the second result */
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
    task.kept_size = (size_t)at_step_kept_bytes(&task.step);
    if (at_step_has(&task.step, AT_BLOCKS)) {
        autotune_error *error = NULL;

        require_ok(autotune_problem_scales(task.scales, &task.problem, &error), &error, "scales");
    }
    return task;
}

/* A buffer in host and device memory, with a margin on both sides of the matrices. */
struct buffer {
    unsigned char *host;
    CUdeviceptr device;
    size_t bytes;
};

static struct buffer make_buffer(int64_t bytes)
{
    struct buffer buffer = {.bytes = (size_t)bytes + 2 * MARGIN_BYTES};

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
static const float of_tensor = 1e30F; /* the tensor's largest magnitude, for some block scales */

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
    CUdeviceptr number, beta, scales, shifts, of_tensor;
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
                                   copy_numbers(shifts, channels, doubles, stream),
                                   copy_numbers(&(double){of_tensor}, 1, false, stream)};
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
    at_cuda.cuMemFree(numbers->of_tensor);
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
    if (at_step_takes_largest(step) && by_address)
        execution->largest = (void *)numbers->of_tensor;
}

/* ---- what a plan writes ---- */

enum output { DST, KEPT, LARGEST, SCALES, KEPT_SCALES, SUMS, OUTPUTS };

/* The bytes of an output, and the distance of its first one from where it is allocated. */
static int64_t output_bytes(const struct task *task, enum output output)
{
    const autotune_problem *p = &task->problem;
    const int64_t dst_elements = (p->batch - 1) * p->stride_dst + p->cols * p->ld_dst;
    const int64_t src_elements = (p->batch - 1) * p->stride_src + p->rows * p->ld_src;
    const int64_t bytes[OUTPUTS] = {
        [DST] = task->step.given ? at_number_bytes(task->step.to, dst_elements)
                                 : dst_elements * p->elem_size,
        [KEPT] = src_elements * (int64_t)task->kept_size,
        [LARGEST] = at_step_has(&task->step, AT_AMAX) ? (int64_t)sizeof(float) : 0,
        [SCALES] = task->scales[0].bytes,
        [KEPT_SCALES] = task->scales[1].bytes,
        [SUMS] =
            at_step_has(&task->step, AT_SUMS) ? p->batch * p->cols * (int64_t)sizeof(float) : 0,
    };

    return bytes[output];
}

static size_t output_offset(const struct task *task, enum output output, const int64_t offset[2])
{
    const size_t size = output == DST ? task->result_size : output == KEPT ? task->kept_size : 0;

    return MARGIN_BYTES + (size_t)offset[1] * size;
}

/* The elements of a matrix. */
struct matrix {
    const struct task *task;
    const unsigned char *first;
};

static void read_row(const void *context, int64_t row, float *elements)
{
    const struct matrix *own = context;
    const autotune_problem *p = &own->task->problem;

    for (int64_t i = 0; i < p->cols; i++)
        at_number_cast(AT_F32, &elements[i], own->task->step.from,
                       own->first + (row * p->ld_src + i) * p->elem_size, false);
}

static void add_here(const struct task *task, unsigned char *sums, const unsigned char *src)
{
    const autotune_problem *p = &task->problem;
    float *own = at_alloc_array((size_t)p->cols, sizeof *own);

    for (int64_t b = 0; b < p->batch; b++) {
        const struct matrix matrix = {task, src + b * p->stride_src * p->elem_size};

        at_column_sums(own, &(struct at_row_source){read_row, &matrix}, p->rows, p->cols);
        memcpy(sums + (size_t)(b * p->cols) * sizeof *own, own, (size_t)p->cols * sizeof *own);
    }
    free(own);
}

/* Compute here what the plan does with blocks. */
static void quantise_here(const struct task *task, unsigned char *const out[OUTPUTS],
                          const unsigned char *src, const float *tensor)
{
    const autotune_problem *p = &task->problem;
    const struct at_step *step = &task->step;

    for (int64_t b = 0; b < p->batch; b++)
        for (int own = 0; own < 2; own++) {
            const struct at_scaled_result result = at_step_scaled(step, own);
            const int64_t stride = b * (own ? p->stride_dst : p->stride_src);

            if (own || task->kept_size > 0)
                at_block_apply(
                    &result, step->from, src + (size_t)(b * p->stride_src * p->elem_size), p->rows,
                    p->cols, p->ld_src, tensor,
                    out[own ? DST : KEPT] + at_number_bytes(result.to, stride),
                    own ? p->ld_dst : p->ld_src,
                    out[own ? SCALES : KEPT_SCALES] + b * task->scales[!own].matrix_bytes);
        }
}

/* Compute here what the plan does. `tensor` is the tensor's largest magnitude, or NULL. */
static void transpose_here(const struct task *task, unsigned char *const out[OUTPUTS],
                           const unsigned char *src, const unsigned char *second,
                           const float *tensor)
{
    const struct at_step kept = at_step_kept(&task->step);
    unsigned char *dst = out[DST];
    uint32_t largest = 0;
    const autotune_problem *p = &task->problem;
    struct at_step_operands operands = {
        {given_number[0], given_number[1]}, {given_beta[0], given_beta[1]}, 1, 0};

    if (at_step_has(&task->step, AT_SUMS))
        add_here(task, out[SUMS], src);
    if (at_step_has(&task->step, AT_BLOCKS)) {
        quantise_here(task, out, src, tensor);
        return;
    }
    for (int64_t b = 0; b < p->batch; b++)
        for (int64_t r = 0; r < p->rows; r++)
            for (int64_t c = 0; c < p->cols; c++) {
                size_t to = (size_t)(b * p->stride_dst + c * p->ld_dst + r) * task->result_size;
                size_t place = (size_t)(b * p->stride_src + r * p->ld_src + c);
                const unsigned char *from = src + place * (size_t)p->elem_size;
                int64_t channel = task->step.channels.axis == AT_ROWS_AXIS ? r : c;

                operands.channel_scale = scale_of(channel);
                operands.shift = shift_of(channel);
                if (task->step.given)
                    at_step_apply(&task->step, &operands, dst + to, from, second + to);
                else
                    memcpy(dst + to, from, task->result_size);
                if (task->kept_size > 0)
                    at_step_apply(&kept, &operands, out[KEPT] + place * task->kept_size, from,
                                  NULL);
                if (at_step_has(&task->step, AT_AMAX))
                    largest = at_step_larger(&task->step, largest, from);
            }
    if (at_step_has(&task->step, AT_AMAX))
        memcpy(out[LARGEST], &largest, sizeof largest);
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

/* Set where the outputs are. Some are not there: their buffers are margins alone. */
static void take_outputs(autotune_execution *execution, const struct task *task,
                         const struct buffer out[OUTPUTS], const int64_t offset[2])
{
    void **const members[OUTPUTS] = {
        [DST] = &execution->dst,
        [KEPT] = &execution->dst2,
        [LARGEST] = &execution->largest,
        [SCALES] = &execution->block_scales,
        [KEPT_SCALES] = &execution->block_scales2,
        [SUMS] = &execution->sums,
    };

    for (enum output i = DST; i < OUTPUTS; i++)
        if (output_bytes(task, i) > 0)
            *members[i] = (void *)(out[i].device + output_offset(task, i, offset));
}

/* Has the device what the host has? */
static bool are_equal(const struct buffer out[OUTPUTS], CUstream stream)
{
    bool equal = true;

    require(at_cuda.cuStreamSynchronize(stream), "running");
    for (enum output i = DST; i < OUTPUTS; i++) {
        unsigned char *got = at_alloc(out[i].bytes);

        require(at_cuda.cuMemcpyDtoH(got, out[i].device, out[i].bytes), "downloading");
        equal = equal && memcmp(got, out[i].host, out[i].bytes) == 0;
        free(got);
    }
    return equal;
}

/* Is nothing written if the launch is to be skipped? Steps without more outputs are not. */
static bool is_skipped(const autotune_plan *plan, const struct task *task,
                       const autotune_execution *given, const struct buffer out[OUTPUTS])
{
    const int flag = 1;
    autotune_execution execution = *given;
    CUdeviceptr skip;
    bool equal;

    if (!at_step_has_outputs(&task->step) && !at_step_has(&task->step, AT_BLOCKS))
        return true;
    require(at_cuda.cuMemAlloc(&skip, sizeof flag), "allocating");
    require(at_cuda.cuMemcpyHtoDAsync(skip, &flag, sizeof flag, given->stream), "uploading");
    require(at_cuda.cuStreamSynchronize(given->stream), "uploading");
    execution.skip = (const void *)skip;
    execute(plan, &execution, false);
    equal = are_equal(out, given->stream);
    at_cuda.cuMemFree(skip);
    return equal;
}

/* Return whether each byte of the outputs and of their margins is right. From a graph, numbers
 * are the device's, and the second source is what the destination had. */
static bool is_right(const autotune_plan *plan, const struct task *task, const int64_t offset[2],
                     bool captured, CUstream stream)
{
    const autotune_problem *p = &task->problem;
    const int64_t src_elements = (p->batch - 1) * p->stride_src + p->rows * p->ld_src + offset[0];
    struct buffer src = make_buffer(src_elements * p->elem_size), out[OUTPUTS], second;
    struct device_numbers numbers = make_numbers(task, stream);
    const size_t src_at = MARGIN_BYTES + (size_t)(offset[0] * p->elem_size);
    const size_t dst_at = output_offset(task, DST, offset);
    unsigned char *places[OUTPUTS], *before;
    autotune_execution execution = autotune_execution_init();
    bool right;

    fill(&src, 1);
    upload(&src, stream);
    for (enum output i = DST; i < OUTPUTS; i++) {
        const size_t at = output_offset(task, i, offset);

        out[i] = make_buffer(output_bytes(task, i) + (int64_t)at - MARGIN_BYTES);
        fill(&out[i], 2 + i);
        upload(&out[i], stream);
        places[i] = out[i].host + at;
    }
    second = make_buffer((int64_t)out[DST].bytes - 2 * MARGIN_BYTES);
    fill(&second, 2 + OUTPUTS);
    upload(&second, stream);
    take_outputs(&execution, task, out, offset);
    execution.src = p->in_place ? execution.dst : (const void *)(src.device + src_at);
    execution.stream = stream;
    take_numbers(&execution, task, &numbers, (captured ? out[DST] : second).device + dst_at,
                 captured);
    right = is_skipped(plan, task, &execution, out);
    (captured ? execute_captured : execute)(plan, &execution, !task->step.given);
    before = at_memdup(out[DST].host, out[DST].bytes);
    transpose_here(task, places, p->in_place ? before + dst_at : src.host + src_at,
                   (captured ? before : second.host) + dst_at, captured ? &of_tensor : NULL);
    right = are_equal(out, stream) && right;
    free(before);
    free_numbers(&numbers);
    free_buffer(&second);
    for (enum output i = DST; i < OUTPUTS; i++)
        free_buffer(&out[i]);
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
    const autotune_problem p = filled(*shape, 1);
    const bool has_even_rows = (p.ld_dst | p.stride_dst) % 2 == 0;

    return !shape->in_place && !(shape->stride_dst && strstr(step, "affine")) &&
           (has_even_rows || !strstr(step, ":e2m1"));
}

static int64_t source_size(const char *text)
{
    struct at_step step;
    int64_t bytes;

    if (at_step_parse(&step, &bytes, text, NULL) != AT_OK)
        abort();
    return bytes;
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
