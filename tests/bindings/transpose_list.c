/* SPDX-License-Identifier: Apache-2.0 */
/* Transposes the problems of a list on the GPU, and in C on the host, and compares each byte of the
 * results' memory.
 *
 *     transpose_list LIST
 *
 * tests/bindings/draw-problems makes lists, and says what their lines mean. Prints the lines whose
 * results differ. Exit: 0 if none does. */
#include "device.h"

#include <autotune.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANK_MAX = 6, UNWRITTEN = 0xa5 };

#define SCALE 0.3

struct problem {
    char kind[16], strides[16], step[32];
    int64_t bytes, result_bytes, rank, align;
    int64_t extents[RANK_MAX], permutation[RANK_MAX];
    int64_t src[RANK_MAX], dst[RANK_MAX]; /* strides */
    int64_t src_first, src_count, dst_first, dst_count;
};

/* ---- what steps compute ---- */

#define STEP(name, from, to, computed)                                                             \
    static void name(void *result, const void *element)                                            \
    {                                                                                              \
        from x;                                                                                    \
        to y;                                                                                      \
                                                                                                   \
        memcpy(&x, element, sizeof x);                                                             \
        y = (to)((computed)x * (computed)SCALE);                                                   \
        memcpy(result, &y, sizeof y);                                                              \
    }

STEP(u8_f32, uint8_t, float, float)
STEP(i16_f32, int16_t, float, float)
STEP(i32_f64, int32_t, double, double)
STEP(f64_f32, double, float, double)
STEP(f32_f32, float, float, float)
STEP(f64_f64, double, double, double)

static const struct step {
    const char *name;
    int64_t result_bytes;
    void (*apply)(void *result, const void *element);
} steps[] = {{"u8:f32,scale", 4, u8_f32},   {"i16:f32,scale", 4, i16_f32},
             {"i32:f64,scale", 8, i32_f64}, {"f64:f32,scale", 4, f64_f32},
             {"f32,scale", 4, f32_f32},     {"f64,scale", 8, f64_f64}};

/* NULL: elements are moved. */
static const struct step *step_of(const struct problem *problem)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (strcmp(steps[i].name, problem->step) == 0)
            return &steps[i];
    return NULL;
}

/* ---- the list ---- */

static bool read_numbers(FILE *file, int64_t *numbers, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (fscanf(file, "%" SCNd64, &numbers[i]) != 1)
            return false;
    return true;
}

static bool read_problem(FILE *file, struct problem *problem)
{
    int64_t head[2], places[5];

    if (fscanf(file, "%15s %15s", problem->kind, problem->strides) != 2 ||
        !read_numbers(file, head, 2) || head[1] > RANK_MAX)
        return false;
    problem->bytes = head[0];
    problem->rank = head[1];
    if (!read_numbers(file, problem->extents, problem->rank) ||
        !read_numbers(file, problem->permutation, problem->rank) ||
        !read_numbers(file, problem->src, problem->rank) ||
        !read_numbers(file, problem->dst, problem->rank) || !read_numbers(file, places, 5) ||
        fscanf(file, "%31s", problem->step) != 1)
        return false;
    problem->src_first = places[0];
    problem->src_count = places[1];
    problem->dst_first = places[2];
    problem->dst_count = places[3];
    problem->align = places[4];
    problem->result_bytes = step_of(problem) ? step_of(problem)->result_bytes : problem->bytes;
    return true;
}

/* ---- on the host ---- */

static int64_t extent_of(const struct problem *problem, int64_t axis)
{
    return problem->extents[problem->permutation[axis]];
}

static void transpose_here(const struct problem *problem, char *dst, const char *src)
{
    const struct step *step = step_of(problem);
    int64_t index[RANK_MAX] = {0}, from = problem->src_first, to = problem->dst_first;
    int64_t elements = 1, axis;

    for (axis = 0; axis < problem->rank; axis++)
        elements *= problem->extents[axis];
    for (int64_t i = 0; i < elements; i++) {
        char *result = dst + to * problem->result_bytes;
        const char *element = src + from * problem->bytes;

        if (step)
            step->apply(result, element);
        else
            memcpy(result, element, (size_t)problem->bytes);
        for (axis = problem->rank - 1; axis >= 0; axis--) {
            int64_t stride = problem->src[problem->permutation[axis]];

            from += stride;
            to += problem->dst[axis];
            if (++index[axis] < extent_of(problem, axis))
                break;
            from -= index[axis] * stride;
            to -= index[axis] * problem->dst[axis];
            index[axis] = 0;
        }
    }
}

/* Bytes of any value; or numbers, because NaN has more than one form. */
static void fill(const struct problem *problem, char *src)
{
    uint32_t state = 1;
    bool is_double = problem->bytes == sizeof(double);

    for (int64_t i = 0; i < problem->src_count; i++) {
        char *element = src + i * problem->bytes;

        for (int64_t k = 0; k < problem->bytes; k++) {
            state = state * 1664525 + 1013904223;
            element[k] = (char)(state >> 24);
        }
        if (problem->step[0] == 'f') {
            double number = (double)(state >> 8) / 7;
            float less = (float)number;

            memcpy(element, is_double ? (void *)&number : &less, (size_t)problem->bytes);
        }
    }
}

/* ---- on the GPU ---- */

static autotune_status plan_matrix(autotune_plan **plan, const autotune_profile *profile,
                                   const struct problem *problem, autotune_error **error)
{
    autotune_problem matrix = autotune_problem_init();

    matrix.elem_size = problem->bytes;
    matrix.batch = problem->extents[0];
    matrix.rows = problem->extents[1];
    matrix.cols = problem->extents[2];
    if (strcmp(problem->strides, "dense") != 0) {
        matrix.stride_src = problem->src[0];
        matrix.ld_src = problem->src[1];
        matrix.stride_dst = problem->dst[0];
        matrix.ld_dst = problem->dst[1];
    }
    matrix.explicit_strides = strcmp(problem->strides, "explicit") == 0;
    matrix.align_bytes = problem->align;
    matrix.step = step_of(problem) ? problem->step : NULL;
    return autotune_plan_create(plan, profile, &matrix, error);
}

static autotune_status plan_tensor(autotune_plan **plan, const autotune_profile *profile,
                                   const struct problem *problem, autotune_error **error)
{
    autotune_tensor tensor = autotune_tensor_init();

    tensor.elem_size = problem->bytes;
    tensor.rank = problem->rank;
    for (int64_t i = 0; i < problem->rank; i++) {
        tensor.extents[i] = problem->extents[i];
        tensor.permutation[i] = problem->permutation[i];
        if (strcmp(problem->strides, "dense") != 0) {
            tensor.strides_src[i] = problem->src[i];
            tensor.strides_dst[i] = problem->dst[i];
        }
    }
    tensor.explicit_strides = strcmp(problem->strides, "explicit") == 0;
    tensor.align_bytes = problem->align;
    tensor.step = step_of(problem) ? problem->step : NULL;
    return autotune_tensor_plan_create(plan, profile, &tensor, error);
}

/* `dst` and `src` are where the memory begins. */
static autotune_status transpose_there(const autotune_profile *profile,
                                       const struct problem *problem, char *dst, const char *src,
                                       autotune_error **error)
{
    autotune_plan *plan;
    autotune_execution execution = autotune_execution_init();
    autotune_status status = strcmp(problem->kind, "matrix") == 0
                                 ? plan_matrix(&plan, profile, problem, error)
                                 : plan_tensor(&plan, profile, problem, error);

    if (status != AUTOTUNE_OK)
        return status;
    execution.dst = dst + problem->dst_first * problem->result_bytes;
    execution.src = src + problem->src_first * problem->bytes;
    if (step_of(problem))
        execution.scale.value[0] = SCALE;
    status = autotune_plan_execute_with(plan, &execution, error);
    autotune_plan_free(plan);
    return status;
}

static bool is_right(const autotune_profile *profile, const struct problem *problem)
{
    size_t src_bytes = (size_t)(problem->src_count * problem->bytes);
    size_t dst_bytes = (size_t)(problem->dst_count * problem->result_bytes);
    char *src = malloc(src_bytes), *found = malloc(dst_bytes), *wanted = malloc(dst_bytes);
    void *there_src, *there_dst;
    autotune_error *error = NULL;
    bool is_same;

    fill(problem, src);
    memset(wanted, UNWRITTEN, dst_bytes);
    there_src = device_put(src, src_bytes);
    there_dst = device_put(wanted, dst_bytes);
    if (transpose_there(profile, problem, there_dst, there_src, &error) != AUTOTUNE_OK)
        printf("%s\n", autotune_error_message(error));
    device_take(found, there_dst, dst_bytes);
    device_take(src, there_src, src_bytes);
    transpose_here(problem, wanted, src);
    is_same = !error && memcmp(found, wanted, dst_bytes) == 0;
    autotune_error_free(error);
    free(src);
    free(found);
    free(wanted);
    return is_same;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    autotune_profile *profile;
    autotune_error *error = NULL;
    struct problem problem;
    int count = 0, wrong = 0;

    if (!file) {
        fprintf(stderr, "Usage: transpose_list LIST\n");
        return 2;
    }
    device_open();
    if (autotune_profile_open(&profile, NULL, &error) != AUTOTUNE_OK) {
        fprintf(stderr, "%s\n", autotune_error_message(error));
        return 1;
    }
    while (read_problem(file, &problem)) {
        count++;
        if (!is_right(profile, &problem)) {
            printf("problem %d differs\n", count);
            wrong++;
        }
    }
    printf("%d problems, %d differ\n", count, wrong);
    autotune_profile_free(profile);
    fclose(file);
    return wrong > 0;
}
