/* SPDX-License-Identifier: Apache-2.0 */
#include "pipeline/cases.h"

#include "base/memory.h"
#include "device/kind.h"
#include "measure/bench.h"

#include <stdlib.h>
#include <string.h>

/* In elements, padding too. Odd padding puts rows at any offset from a vector; padding by 32 keeps
 * every vector of up to 16 bytes aligned. */
static const struct {
    int rows, cols;
    int pad_src, pad_dst; /* leading dimension beyond the row */
    int batch;
    int gap_src, gap_dst; /* stride beyond the matrix */
    int offset_src, offset_dst;
} shapes[] = {
    {1, 1, 0, 0, 1, 0, 0, 0, 0},         /* one element */
    {1, 37, 0, 0, 1, 0, 0, 0, 0},        /* vectors, shorter and longer than a block's tile */
    {37, 1, 2, 0, 1, 0, 0, 0, 0},        /* single elements */
    {1, 37, 0, 0, 3, 2, 5, 0, 1},        /* odd runs with gaps */
    {1, 65543, 0, 0, 1, 0, 0, 0, 0},     /* more than 16 bits of index */
    {33, 65, 0, 0, 1, 0, 0, 0, 0},       /* one more than a tile */
    {127, 129, 0, 0, 1, 0, 0, 0, 0},     /* one less and one more than a tile */
    {131, 67, 3, 5, 1, 0, 0, 0, 0},      /* odd padding on both sides */
    {67, 130, 2, 1, 1, 0, 0, 3, 1},      /* odd padding and odd addresses */
    {3, 1000, 0, 1, 1, 0, 0, 0, 0},      /* few rows */
    {1000, 3, 1, 0, 1, 0, 0, 0, 0},      /* few columns */
    {17, 19, 2, 3, 5, 7, 11, 0, 0},      /* an odd batch with odd gaps */
    {128, 256, 0, 0, 1, 0, 0, 0, 0},     /* aligned, rectangular */
    {256, 64, 32, 64, 1, 0, 0, 0, 0},    /* aligned padding */
    {160, 96, 0, 0, 3, 0, 0, 0, 0},      /* aligned batch, sizes not powers of two */
    {64, 128, 32, 32, 2, 64, 128, 0, 0}, /* aligned, padded, batched */
    {288, 544, 0, 0, 1, 0, 0, 0, 0},     /* several tiles each way, the last one partial */
};

/* Tensors, for problems of at least as many axes. A kernel is compiled for a number of axes: the
 * rest of them gets an extent of 1. Small ones, because there are many axes to go through. */
static const struct {
    const char *extents, *keys;
} tensors[] = {
    {"37x5x41", "perm=210"},                    /* matrices inside each other */
    {"64x3x96", "perm=210"},                    /* the same, aligned */
    {"67x2x130", "perm=210,offset_src=3"},      /* and odd addresses */
    {"6x5x48", "perm=102"},                     /* runs of whole vectors */
    {"11x13x7", "perm=102"},                    /* and odd ones */
    {"3x5x640", "perm=102"},                    /* and longer than a block of threads */
    {"3x4x64x128", "perm=1032"},                /* a batch of two axes, aligned */
    {"4x3x33x65", "perm=1032"},                 /* and odd */
    {"9x4x33x35", "perm=3021"},                 /* its axes inside the rows */
    {"35x2x3x2x70", "perm=41320"},              /* three of them */
    {"16x2x3x2x32", "perm=43210"},              /* small tiles, aligned */
    {"3x3x3x3x3x3x3", "perm=6543210"},          /* short axes */
    {"5x2x3x7x2x5", "perm=531420"},             /* */
    {"2x2x2x2x2x2x2x2x2x2", "perm=9876543210"}, /* */
    {"7x6x4x10", "perm=0213,strides_src=271x45x11x1,strides_dst=395x95x15x1"}, /* padded */
    {"5x6x9x8", "perm=3120,strides_src=500x80x8x1,offset_dst=1"},              /* */
};

/* Many matrices: empty ones, single elements, more than a block has threads, aligned ones and many
 * of these; and groups of rows, empty ones among them, with padding. */
static const struct {
    enum at_groups_kind kind;
    const char *group;
} groups[] = {
    {AT_GROUP_LIST, "group=7,rows=0..40,cols=0..150"},
    {AT_GROUP_LIST, "group=1,rows=300,cols=7"},
    {AT_GROUP_LIST, "group=2,rows=1,cols=1"},
    {AT_GROUP_LIST, "group=1100,rows=1..3,cols=1..5"},
    {AT_GROUP_LIST, "group=40,rows=16..144,cols=16..144,multiple=16"},
    {AT_GROUP_LIST, "group=1100,rows=0..16,cols=16,multiple=16"},
    {AT_RAGGED_GROUPS, "group=9,total=500,cols=70,law=zipf"},
    {AT_RAGGED_GROUPS, "group=1,total=77,cols=1"},
    {AT_RAGGED_GROUPS, "group=1200,total=900,cols=3,law=sparse"},
    {AT_RAGGED_GROUPS, "group=30,total=100,cols=64,law=sparse,pad=32"},
    {AT_RAGGED_GROUPS, "group=1200,total=1920,cols=16,law=zipf,pad=16"},
    {AT_RAGGED_GROUPS, "group=5,total=640,cols=128,law=zipf,multiple=16,pad=16,stack=1"},
};

_Static_assert(AT_COUNT(tensors) < AT_VERIFICATION_CASES_MAX,
               "every one and the tuned problem fit");
_Static_assert(AT_COUNT(shapes) < AT_VERIFICATION_CASES_MAX &&
                   AT_VERIFICATION_CASES_MAX <= 32 /* AT_CASES_MAX of the worker */,
               "every shape and the tuned problem fit");

/* Make a problem in place like another one: a dense matrix, or a square with the shape's shorter
 * side. It has the gap of the shape's source, and a square its padding. */
static void put_in_place(struct at_problem *problem, const struct at_problem *like)
{
    int64_t pad = problem->ld_src - problem->cols;
    int64_t gap = problem->stride_src - problem->rows * problem->ld_src;
    int64_t side = problem->rows < problem->cols ? problem->rows : problem->cols;

    if (like->rows == like->cols)
        problem->rows = problem->cols = side;
    else
        pad = 0;
    problem->ld_src = problem->cols + pad;
    problem->ld_dst = problem->rows + pad;
    problem->stride_src = problem->stride_dst = problem->rows * problem->ld_src + gap;
    problem->offset_dst = problem->offset_src;
    problem->in_place = 1;
}

/* Channels along one axis or another: that of this number, or the next one whose strides nest. A
 * kernel that mixes channels takes only problems that do, and one that mixes none only the others.
 * False if no axis has such channels. */
static bool place_channels(struct at_problem *problem, size_t number, const struct at_problem *like)
{
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(problem, axes);
    bool placed = !at_step_has(&problem->step, AT_AFFINE);

    for (size_t i = 0; i < count && !placed; i++)
        placed = at_channels_place(&problem->step.channels, axes, count, (number + i) % count, "",
                                   NULL) == AT_OK &&
                 at_problem_mixes_channels(like) == at_problem_mixes_channels(problem);
    return placed;
}

/* 1, if results on this side are two in a byte: each row then begins in a whole one. */
static int64_t odd_on(const struct at_step *step, enum at_side side)
{
    return step->given && (side == AT_DESTINATION ? step->to : step->kept) == AT_E2M1;
}

/* Make a problem of this shape. False if no axis of it has channels like the problem's. */
static bool make_problem(struct at_problem *made, size_t shape, const struct at_problem *like)
{
    int64_t odd_src = odd_on(&like->step, AT_SOURCE), odd_dst = odd_on(&like->step, AT_DESTINATION);
    struct at_problem problem = {
        .elem_size = like->elem_size,
        .rows = shapes[shape].rows,
        .cols = shapes[shape].cols,
        .ld_src = shapes[shape].cols + shapes[shape].pad_src,
        .ld_dst = shapes[shape].rows + shapes[shape].pad_dst,
        .batch = shapes[shape].batch,
        .offset_src = shapes[shape].offset_src & ~odd_src,
        .offset_dst = shapes[shape].offset_dst & ~odd_dst,
        .step = like->step,
    };

    memcpy(problem.type, like->type, sizeof problem.type);
    problem.ld_src += problem.ld_src & odd_src;
    problem.ld_dst += problem.ld_dst & odd_dst;
    problem.stride_src = problem.rows * problem.ld_src + (shapes[shape].gap_src & ~odd_src);
    problem.stride_dst = problem.cols * problem.ld_dst + (shapes[shape].gap_dst & ~odd_dst);
    if (!place_channels(&problem, shape, like))
        return false;
    if (like->in_place)
        put_in_place(&problem, like);
    else
        at_problem_reduce(&problem);
    *made = problem;
    return true;
}

/* An axis of extent 1 that is the slowest on both sides: families tell axes by the order of their
 * strides. */
static struct at_axis make_last_axis(const struct at_problem *problem)
{
    struct at_axis axes[AT_AXES_MAX], last = {1, 1, 1};
    size_t count = at_problem_axes(problem, axes);

    for (size_t i = 0; i < count; i++) {
        if (axes[i].extent * axes[i].stride_src > last.stride_src)
            last.stride_src = axes[i].extent * axes[i].stride_src;
        if (axes[i].extent * axes[i].stride_dst > last.stride_dst)
            last.stride_dst = axes[i].extent * axes[i].stride_dst;
    }
    return last;
}

/* Make a tensor with as many axes as this problem. False if it has more, no such channels, or gaps
 * in place. */
static bool make_tensor(struct at_problem *problem, size_t tensor, const struct at_problem *like)
{
    char *spec = at_format("%s:b%d,%s%s", tensors[tensor].extents, (int)like->elem_size,
                           tensors[tensor].keys, like->in_place ? ",inplace=1" : "");
    enum at_status status = at_problem_parse(problem, spec, NULL);
    struct at_axis last;

    free(spec);
    if (status != AT_OK || problem->outer_count > like->outer_count)
        return false;
    memcpy(problem->type, like->type, sizeof problem->type);
    problem->step = like->step;
    if (!place_channels(problem, tensor, like))
        return false;
    last = make_last_axis(problem);
    while (problem->outer_count < like->outer_count)
        problem->outer[problem->outer_count++] = last;
    return true;
}

/* Make groups with the types and operations of this problem. */
static bool make_groups(struct at_problem *problem, size_t number, const struct at_problem *like)
{
    char *own = at_problem_format(like), *spec;
    bool made = groups[number].kind == at_groups_kind(&like->groups);

    spec = at_format("%s%s", groups[number].group, strchr(own, ':'));
    made = made && at_problem_parse(problem, spec, NULL) == AT_OK;
    free(spec);
    free(own);
    return made;
}

static bool is_among(const struct at_problem *problem, const struct at_gpu_case *cases,
                     size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (at_problem_equal(&cases[i].problem, problem))
            return true;
    return false;
}

size_t at_cases_for(const struct at_problem *problem, const struct at_policy *policy,
                    const struct at_device_info *device,
                    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX])
{
    size_t count = 0;

    cases[count++] = (struct at_gpu_case){*problem, at_policy_buffer_sets(policy, problem, device)};
    for (size_t i = 0; i < AT_COUNT(groups) && problem->groups.count > 0; i++) {
        struct at_gpu_case *made = &cases[count];

        made->sets = 1;
        count += make_groups(&made->problem, i, problem);
    }
    if (problem->groups.count > 0)
        return count;
    for (size_t i = 0; i < AT_COUNT(tensors) && at_problem_is_tensor(problem); i++) {
        struct at_gpu_case *made = &cases[count];

        made->sets = 1;
        count += make_tensor(&made->problem, i, problem);
    }
    for (size_t i = 0; i < AT_COUNT(shapes) && !at_problem_is_tensor(problem); i++) {
        struct at_gpu_case made = {.sets = 1};

        if (make_problem(&made.problem, i, problem) &&
            !is_among(&made.problem, cases + 1, count - 1)) /* some squares repeat */
            cases[count++] = made;
    }
    return count;
}

int64_t at_cases_memory_bytes(const struct at_problem *problem, const struct at_policy *policy,
                              const struct at_device_info *device)
{
    struct at_gpu_case cases[AT_VERIFICATION_CASES_MAX];
    size_t count = at_cases_for(problem, policy, device, cases);
    int64_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        if (__builtin_add_overflow(
                bytes, at_buffers_bytes(&cases[i].problem, cases[i].sets, device), &bytes))
            return INT64_MAX;
    return bytes;
}

/* Then a kernel has many blocks. To emulate them takes longer than all other cases. */
static bool has_long_side(const struct at_problem *problem)
{
    return problem->rows > UINT16_MAX || problem->cols > UINT16_MAX;
}

enum at_status at_cases_trials(const struct at_config *config, const struct at_device_info *device,
                               const struct at_gpu_case *cases, size_t case_count, bool winner,
                               struct at_gpu_trial trials[AT_VERIFICATION_CASES_MAX],
                               size_t *trial_count, struct at_error *err)
{
    bool all = winner || !at_device_kind(device)->slow;
    enum at_status status = AT_OK;
    size_t count = 0;

    for (size_t i = 1; i < case_count && status == AT_OK; i++) {
        bool legal = false;

        if (!all && has_long_side(&cases[i].problem))
            continue;
        status = at_config_legal(config, &cases[i].problem, device, &legal, NULL, err);
        if (status != AT_OK || !legal)
            continue;
        trials[count].case_index = (int64_t)i;
        status = at_config_launch(config, &cases[i].problem, device, &trials[count++].launch, err);
    }
    *trial_count = count;
    return status;
}
