/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/buffers.h"

#include "base/memory.h"
#include "measure/host_checks.h"
#include "measure/policy.h"
#include "problem/arguments.h"
#include "problem/axes.h"

#include <string.h>

enum { HARNESS_THREADS = 256, HARNESS_BLOCKS_PER_MULTIPROCESSOR = 32 };

static const struct at_device_base *base_of(const struct at_device *device)
{
    return (const struct at_device_base *)device;
}

enum at_outcome at_harness_load(struct at_harness *harness, struct at_device *device,
                                const void *image, size_t size, struct at_error *err)
{
    const struct at_device_ops *ops = base_of(device)->ops;
    const struct {
        const char *entry;
        struct at_kernel *kernel;
    } kernels[] = {
        {"at_poison", &harness->poison},
        {"at_fill_source", &harness->fill_source},
        {"at_check", &harness->check},
        {"at_check_tensor", &harness->check_tensor},
        {"at_check_source", &harness->check_source},
    };
    enum at_outcome outcome = ops->load(device, image, size, &harness->module, err);

    for (size_t i = 0; i < AT_COUNT(kernels) && outcome == AT_CORRECT; i++)
        outcome = ops->find(device, harness->module, kernels[i].entry, kernels[i].kernel, err);
    return outcome;
}

/* Start one of the harness's kernels over this many items; it works with any number of threads. A
 * device whose memory the host can reach gets the host's function of the same name at once. */
static enum at_outcome start(struct at_device *device, const struct at_kernel *kernel,
                             at_host_check *host, int64_t items, struct at_call call,
                             struct at_error *err)
{
    int64_t blocks = (items + HARNESS_THREADS - 1) / HARNESS_THREADS;
    int64_t most = base_of(device)->info.multiprocessors * HARNESS_BLOCKS_PER_MULTIPROCESSOR;

    if (base_of(device)->ops->view)
        return host(device, call.args, err);
    call.kernel = kernel;
    call.launch = (struct at_launch){{
        [AT_GRID_X] = blocks < 1      ? 1
                      : blocks < most ? blocks
                                      : most,
        [AT_GRID_Y] = 1,
        [AT_GRID_Z] = 1,
        [AT_BLOCK_X] = HARNESS_THREADS,
        [AT_BLOCK_Y] = 1,
        [AT_BLOCK_Z] = 1,
        [AT_CARVEOUT_PERCENT] = -1,
    }};
    return base_of(device)->ops->start(device, &call, err);
}

static enum at_outcome poison(struct at_device *device, const struct at_harness *harness,
                              at_address address, int64_t bytes, struct at_error *err)
{
    return start(device, &harness->poison, at_host_poison, bytes / 16,
                 (struct at_call){.args = {address, (uint64_t)bytes}}, err);
}

/* Fill the source's buffer with a source's values; in place, the destination's buffer. */
static enum at_outcome fill(const struct at_buffers *buffers, struct at_device *device,
                            const struct at_harness *harness, at_address extent,
                            struct at_error *err)
{
    int64_t elements = at_problem_src_extent(&buffers->problem);

    return start(device, &harness->fill_source, at_host_fill_source, elements,
                 (struct at_call){
                     .args = {extent, (uint64_t)elements, (uint64_t)buffers->problem.elem_size}},
                 err);
}

enum at_outcome at_buffers_fill(const struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, struct at_error *err)
{
    enum at_outcome outcome =
        poison(device, harness, buffers->src, buffers->sets * buffers->src_pitch, err);

    if (outcome == AT_CORRECT)
        outcome = poison(device, harness, buffers->dst, buffers->sets * buffers->dst_pitch, err);
    for (int64_t set = 0; set < buffers->sets && outcome == AT_CORRECT; set++)
        outcome = fill(buffers, device, harness, at_buffers_src(buffers, set), err);
    for (int64_t set = 0; buffers->problem.in_place && set < buffers->sets; set++)
        if (outcome == AT_CORRECT)
            outcome = fill(buffers, device, harness, at_buffers_dst(buffers, set), err);
    return outcome;
}

enum at_outcome at_buffers_make(struct at_buffers *buffers, struct at_device *device,
                                const struct at_harness *harness, const struct at_gpu_case *wanted,
                                struct at_error *err)
{
    const struct at_device_ops *ops = base_of(device)->ops;
    const struct at_device_info *info = &base_of(device)->info;
    const struct at_problem *problem = &wanted->problem;
    int64_t src_bytes = at_problem_src_extent(problem) * problem->elem_size;
    int64_t dst_bytes = at_problem_dst_extent(problem) * problem->elem_size;
    /* An offset lengthens both red zones. */
    int64_t src_offset = problem->offset_src * problem->elem_size;
    int64_t dst_offset = problem->offset_dst * problem->elem_size;
    struct at_buffers made = {
        .problem = *problem,
        .sets = wanted->sets,
        .src_zone = at_red_zone_bytes(src_bytes, info) + src_offset,
        .dst_zone = at_red_zone_bytes(dst_bytes, info) + dst_offset,
        .src_pitch = at_buffer_bytes_with_zones(src_bytes, src_offset, info),
        .dst_pitch = at_buffer_bytes_with_zones(dst_bytes, dst_offset, info),
    };
    enum at_outcome outcome = ops->allocate(device, made.sets * made.src_pitch, &made.src, err);

    if (outcome == AT_CORRECT)
        outcome = ops->allocate(device, made.sets * made.dst_pitch, &made.dst, err);
    if (outcome == AT_CORRECT)
        outcome = at_buffers_fill(&made, device, harness, err);
    if (outcome == AT_CORRECT)
        *buffers = made;
    else if (!at_outcome_loses_device(outcome)) /* a lost device releases nothing */
        at_buffers_release(&made, device);
    return outcome;
}

void at_buffers_release(struct at_buffers *buffers, struct at_device *device)
{
    base_of(device)->ops->release(device, buffers->src);
    base_of(device)->ops->release(device, buffers->dst);
    *buffers = (struct at_buffers){0};
}

at_address at_buffers_src(const struct at_buffers *buffers, int64_t set)
{
    return buffers->src + (uint64_t)(set * buffers->src_pitch + buffers->src_zone);
}

at_address at_buffers_dst(const struct at_buffers *buffers, int64_t set)
{
    return buffers->dst + (uint64_t)(set * buffers->dst_pitch + buffers->dst_zone);
}

enum at_outcome at_buffers_reset(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set,
                                 struct at_error *err)
{
    enum at_outcome outcome =
        poison(device, harness, buffers->dst + (uint64_t)(set * buffers->dst_pitch),
               buffers->dst_pitch, err);

    if (outcome == AT_CORRECT && buffers->problem.in_place)
        outcome = fill(buffers, device, harness, at_buffers_dst(buffers, set), err);
    return outcome;
}

/* The same for batches of any axes. The kernel has its own struct `tensor_axes`, with the axes that
 * are farthest apart in the destination first. */
static enum at_outcome check_tensor(const struct at_buffers *buffers, struct at_device *device,
                                    const struct at_harness *harness, int64_t set,
                                    at_address result, struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_axes_merge(axes, at_problem_axes(p, axes)), word = 0;
    struct at_call call = {.args = {
                               buffers->dst + (uint64_t)(set * buffers->dst_pitch),
                               (uint64_t)buffers->dst_zone,
                               (uint64_t)at_problem_dst_extent(p),
                               (uint64_t)p->elem_size,
                               result,
                           }};
    uint64_t *words = call.args + 5;
    int64_t span = 0;

    at_axes_sort(axes, count, AT_DESTINATION);
    for (size_t i = 0; i < count; i++) { /* from the last word on, for the span of inner axes */
        const uint64_t entry[] = {(uint64_t)axes[i].extent, (uint64_t)axes[i].stride_src,
                                  (uint64_t)axes[i].stride_dst, (uint64_t)span};

        memcpy(words + 4 * (AT_AXES_MAX - 1 - i), entry, sizeof entry);
        span += (axes[i].extent - 1) * axes[i].stride_dst;
    }
    for (size_t i = 0; i < 4 * count; i++)
        words[word++] = words[4 * (AT_AXES_MAX - count) + i];
    words[4 * AT_AXES_MAX] = (uint64_t)count;
    call.arg_words[5] = 4 * AT_AXES_MAX + 1;
    return start(device, &harness->check_tensor, at_host_check_tensor,
                 buffers->dst_pitch / p->elem_size, call, err);
}

enum at_outcome at_buffers_check(const struct at_buffers *buffers, struct at_device *device,
                                 const struct at_harness *harness, int64_t set, at_address result,
                                 struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;

    if (at_problem_is_tensor(p))
        return check_tensor(buffers, device, harness, set, result, err);

    struct at_call call = {.args = {
                               buffers->dst + (uint64_t)(set * buffers->dst_pitch),
                               (uint64_t)buffers->dst_zone,
                               (uint64_t)p->rows,
                               (uint64_t)p->cols,
                               (uint64_t)p->ld_src,
                               (uint64_t)p->ld_dst,
                               (uint64_t)p->batch,
                               (uint64_t)p->stride_src,
                               (uint64_t)p->stride_dst,
                               (uint64_t)p->in_place,
                               (uint64_t)p->elem_size,
                               result,
                           }};

    return start(device, &harness->check, at_host_check_matrix, buffers->dst_pitch / p->elem_size,
                 call, err);
}

/* Is a buffer still filled like a source? */
static enum at_outcome check_filled(const struct at_buffers *buffers, struct at_device *device,
                                    const struct at_harness *harness, at_address base, int64_t zone,
                                    int64_t pitch, at_address result, struct at_error *err)
{
    const struct at_problem *p = &buffers->problem;
    struct at_call call = {.args = {
                               base,
                               (uint64_t)zone,
                               (uint64_t)at_problem_src_extent(p),
                               (uint64_t)p->elem_size,
                               result,
                           }};

    return start(device, &harness->check_source, at_host_check_source, pitch / p->elem_size, call,
                 err);
}

enum at_outcome at_buffers_check_source(const struct at_buffers *buffers, struct at_device *device,
                                        const struct at_harness *harness, int64_t set,
                                        at_address result, struct at_error *err)
{
    return check_filled(buffers, device, harness,
                        buffers->src + (uint64_t)(set * buffers->src_pitch), buffers->src_zone,
                        buffers->src_pitch, result, err);
}

enum at_outcome at_buffers_check_restored(const struct at_buffers *buffers,
                                          struct at_device *device,
                                          const struct at_harness *harness, int64_t set,
                                          at_address result, struct at_error *err)
{
    return check_filled(buffers, device, harness,
                        buffers->dst + (uint64_t)(set * buffers->dst_pitch), buffers->dst_zone,
                        buffers->dst_pitch, result, err);
}

void at_call_set_problem(struct at_call *call, const struct at_problem *problem, at_address dst,
                         at_address src)
{
    at_problem_args(problem, &call->launch, dst, src, call->args, call->arg_words);
}
