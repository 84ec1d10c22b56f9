/* SPDX-License-Identifier: Apache-2.0 */
/* Matrices in the memory of an emulated device, with what surrounds them, for tests of kernels that
 * take many: the numbers of their step, and what the kernel has to make of them. */
#ifndef AT_TESTS_GROUP_SCENE_H
#define AT_TESTS_GROUP_SCENE_H

#include "base/memory.h"
#include "base/rng.h"
#include "emulated/machine/machine.h"
#include "emulated/ptx/ptx.h"
#include "problem/group_arguments.h"
#include "space/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { POISON = 0xa5 };

/* A config and its kernel. */
struct kernel {
    struct at_problem problem;
    struct at_config config;
    int64_t unit; /* elements that sides and addresses are multiples of */
    const struct at_ptx_kernel *ptx;
    char *name; /* for messages */
};

/* Matrices of one kind of kernel, with what surrounds them. Lists and groups of rows alike are
 * described as a list for the check. */
struct scene {
    const struct kernel *kernel;
    struct at_emu_memory *memory;
    struct at_rng rng;
    struct at_group_matrix *list;
    int64_t *padded; /* elements of a result row that have a value */
    size_t count;
    int64_t src_elements, dst_elements; /* of the buffers */
    uint64_t src, dst, kept, second;
    unsigned char *src_host, *dst_host, *kept_host, *second_host;
    int64_t *group;   /* the number of each matrix among all, also those without a place */
    uint64_t numbers; /* of a step that takes one: one for each group */
    /* Of a step with channels: the numbers of both kinds, and where those of each matrix begin. */
    uint64_t scales, shifts;
    int64_t *first_channel, stride;
};

static int64_t result_size(const struct scene *scene)
{
    return at_problem_elem_size(&scene->kernel->problem, AT_DESTINATION);
}

static int64_t kept_size(const struct scene *scene)
{
    int64_t bytes = at_step_kept_bytes(&scene->kernel->problem.step);

    return bytes ? bytes : scene->kernel->problem.elem_size;
}

static bool has(const struct scene *scene, enum at_operation operation)
{
    return at_step_has(&scene->kernel->problem.step, operation);
}

static int64_t below(struct scene *scene, int64_t bound)
{
    return (int64_t)at_rng_below(&scene->rng, (uint64_t)bound);
}

/* Draw a side of at most about as many elements, and a gap of up to two units. */
static int64_t draw_side(struct scene *scene, int64_t most)
{
    int64_t unit = scene->kernel->unit;

    return unit * (1 + below(scene, most < unit ? 1 : most / unit));
}

static int64_t draw_gap(struct scene *scene)
{
    return scene->kernel->unit * below(scene, 3);
}

static unsigned char *allocate(struct scene *scene, uint64_t *at, int64_t elements, int64_t size)
{
    *at = at_emu_memory_allocate(scene->memory, elements * size);
    return at_emu_memory_host(scene->memory, *at, (size_t)(elements * size));
}

/* Allocate the buffers, once it is known how large they are. Sources are bytes that differ from
 * their neighbours and make no NaN. */
static void make_buffers(struct scene *scene)
{
    int64_t size = scene->kernel->problem.elem_size;

    scene->src_host = allocate(scene, &scene->src, scene->src_elements + 1, size);
    scene->dst_host = allocate(scene, &scene->dst, scene->dst_elements + 1, result_size(scene));
    scene->kept_host = allocate(scene, &scene->kept, scene->src_elements + 1, kept_size(scene));
    scene->second_host =
        allocate(scene, &scene->second, scene->dst_elements + 1, result_size(scene));
    assert_true(scene->src_host && scene->dst_host && scene->kept_host && scene->second_host);
    for (int64_t i = 0; i < scene->src_elements * size; i++)
        scene->src_host[i] = (unsigned char)((i * 2654435761u >> 13) & 0x3f);
    memset(scene->dst_host, POISON, (size_t)(scene->dst_elements * result_size(scene)));
    memset(scene->kept_host, POISON, (size_t)(scene->src_elements * kept_size(scene)));
    for (int64_t i = 0; i < scene->dst_elements * result_size(scene); i++)
        scene->second_host[i] = (unsigned char)((i * 2246822519u >> 11) & 0x3f);
}

/* The number of a group, and what the second source is multiplied with. */
static double number_of(int64_t group)
{
    return (double)(group % 29) / 4 + 0.5;
}

static const double beta = -0.75;

/* Put a number for each group into memory, if the step takes one. */
static void make_numbers(struct scene *scene, int64_t count)
{
    enum at_number type = at_step_computes_in(&scene->kernel->problem.step);
    int64_t bytes = at_number_formats[type].bytes;
    unsigned char *to;

    if (!(scene->kernel->problem.step.operations &
          (1U << AT_SCALE | 1U << AT_DIVIDE | 1U << AT_ALPHA)) ||
        count == 0)
        return;
    to = allocate(scene, &scene->numbers, count, bytes);
    for (int64_t i = 0; i < count; i++) {
        const double number = number_of(i);

        at_number_cast(type, to + i * bytes, AT_F64, &number, false);
    }
}

/* The numbers of a channel: none has those of its neighbours. */
static double scale_of(int64_t number)
{
    return (double)(number % 61) / 4 - 7;
}

static double shift_of(int64_t number)
{
    return (double)(number % 53) * 3 - 64;
}

/* Put the numbers of channels into memory, `count` of each kind and no more. */
static void make_channels(struct scene *scene, int64_t count)
{
    enum at_number type = at_step_computes_in(&scene->kernel->problem.step);
    int64_t bytes = at_number_formats[type].bytes;
    unsigned char *scales, *shifts;

    if (!has(scene, AT_AFFINE) || count == 0)
        return;
    scales = allocate(scene, &scene->scales, count, bytes);
    shifts = allocate(scene, &scene->shifts, count, bytes);
    for (int64_t i = 0; i < count; i++) {
        const double scale = scale_of(i), shift = shift_of(i);

        at_number_cast(type, scales + i * bytes, AT_F64, &scale, false);
        at_number_cast(type, shifts + i * bytes, AT_F64, &shift, false);
    }
}

/* Where the result of an element lies, and the element itself. */
static void place(const struct at_group_matrix *m, const int64_t at[4], int64_t *from, int64_t *to)
{
    *from = at[0] * m->stride_src[0] + at[1] * m->stride_src[1] + at[2] * m->ld_src + at[3];
    *to = at[0] * m->stride_dst[0] + at[1] * m->stride_dst[1] + at[3] * m->ld_dst + at[2];
}

/* Compute both results of an element of a matrix. */
static void compute(const struct scene *scene, size_t number, const int64_t at[4],
                    const void *element, const void *second, unsigned char *result,
                    unsigned char *kept)
{
    const struct at_problem *problem = &scene->kernel->problem;
    const int64_t channel =
        scene->first_channel[number] + at[at_problem_mixes_channels(problem) ? 2 : 3];
    const struct at_step_operands operands = {.number = {number_of(scene->group[number])},
                                              .beta = {beta},
                                              .channel_scale = scale_of(channel),
                                              .shift = shift_of(channel)};
    const struct at_step of_kept = at_step_kept(&problem->step);

    if (problem->step.given)
        at_step_apply(&problem->step, &operands, result, element, second);
    else
        memcpy(result, element, (size_t)problem->elem_size);
    if (has(scene, AT_BOTH))
        at_step_apply(&of_kept, &operands, kept, element, NULL);
}

/* Move the matrix in these buffers as the kernel should. */
static void move(const struct scene *scene, size_t number, unsigned char *dst, unsigned char *kept)
{
    const struct at_group_matrix *m = &scene->list[number];
    size_t size = (size_t)scene->kernel->problem.elem_size, results = (size_t)result_size(scene);
    int64_t src_start = (int64_t)((m->src - scene->src) / size),
            dst_start = (int64_t)((m->dst - scene->dst) / results), from, to;

    for (int64_t i = 0; i < m->extent[0] * m->extent[1]; i++)
        for (int64_t c = 0; c < m->cols; c++)
            for (int64_t r = 0; r < m->rows || (m->rows > 0 && r < scene->padded[number]); r++) {
                const int64_t at[] = {i % m->extent[0], i / m->extent[0], r, c};

                place(m, at, &from, &to);
                from += src_start;
                to = (to + dst_start) * (int64_t)results;
                if (r >= m->rows)
                    memset(dst + to, 0, results);
                else
                    compute(scene, number, at, scene->src_host + (size_t)from * size,
                            scene->second_host + to, dst + to, kept + from * kept_size(scene));
            }
}

static void check(const struct scene *scene)
{
    size_t src_bytes = (size_t)(scene->src_elements * kept_size(scene)),
           dst_bytes = (size_t)(scene->dst_elements * result_size(scene));
    unsigned char *dst = at_alloc(dst_bytes + 1), *kept = at_alloc(src_bytes + 1);

    memset(dst, POISON, dst_bytes);
    memset(kept, POISON, src_bytes);
    for (size_t i = 0; i < scene->count; i++)
        move(scene, i, dst, kept);
    if (memcmp(dst, scene->dst_host, dst_bytes) != 0)
        fail_msg("%s: a wrong result", scene->kernel->name);
    if (has(scene, AT_BOTH) && memcmp(kept, scene->kept_host, src_bytes) != 0)
        fail_msg("%s: a wrong second result", scene->kernel->name);
    free(dst);
    free(kept);
}

static void end(struct scene *scene)
{
    free(scene->list);
    free(scene->padded);
    free(scene->first_channel);
    free(scene->group);
    at_emu_memory_free(scene->memory);
}

#endif
