/* SPDX-License-Identifier: Apache-2.0 */
/* Structs of callers with nonsense in one member: no call crashes, and outputs stay as they were
 * unless it succeeds. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static autotune_profile *profile;
static autotune_device *device;
static autotune_plan *plan;

static const int64_t nonsense[] = {-1, INT64_MIN, INT64_MAX, (int64_t)1 << 62, 4104, 3};

static int refused, taken;

/* A call has ended: it made its object, or told why not. */
static void check(autotune_status status, const void *made, autotune_error *error)
{
    if (status == AUTOTUNE_OK) {
        assert_non_null(made);
        assert_null(error);
        taken++;
        return;
    }
    assert_true(status == AUTOTUNE_INVALID || status == AUTOTUNE_FAILED);
    assert_null(made);
    assert_true(strlen(autotune_error_message(error)) > 0);
    autotune_error_free(error);
    refused++;
}

static void look_up(const void *problem, const void *tensor, const void *groups)
{
    autotune_answer *answer = NULL;
    autotune_error *error = NULL;
    autotune_status status =
        problem  ? autotune_lookup(&answer, profile, device, problem, NULL, &error)
        : tensor ? autotune_tensor_lookup(&answer, profile, device, tensor, NULL, &error)
                 : autotune_groups_lookup(&answer, profile, device, groups, NULL, &error);

    check(status, answer, error);
    autotune_answer_free(answer);
}

static void use_problem(const void *problem)
{
    autotune_scales scales[2];

    autotune_problem_scales(scales, problem, NULL);
    look_up(problem, NULL, NULL);
}

static void use_tensor(const void *tensor)
{
    look_up(NULL, tensor, NULL);
}

static void use_groups(const void *groups)
{
    look_up(NULL, NULL, groups);
}

static void use_options(const void *options)
{
    autotune_plan *made = NULL;
    autotune_error *error = NULL;
    autotune_status status =
        autotune_plan_create_with(&made, profile, &measure_problem, options, &error);

    check(status, made, error);
    autotune_plan_free(made);
}

static void use_execution(const void *execution)
{
    autotune_error *error = NULL;
    autotune_status status = autotune_plan_execute_with(plan, execution, &error);

    check(status, status == AUTOTUNE_OK ? plan : NULL, error);
}

static void use_info(const void *info)
{
    autotune_info copy;
    autotune_error *error = NULL;
    autotune_status status;

    memcpy(&copy, info, sizeof copy);
    status = autotune_plan_info(plan, &copy, &error);
    check(status, status == AUTOTUNE_OK ? plan : NULL, error);
}

static void use_numbers(const void *numbers)
{
    autotune_device *usual = device, *made = NULL;
    autotune_error *error = NULL;
    autotune_status status = autotune_device_make(&made, numbers, &error);

    check(status, made, error);
    if (!made)
        return;
    device = made;
    use_problem(&measure_problem);
    device = usual;
    autotune_device_free(made);
}

/* A struct that makes sense, and the offset of a text in it, which stays. */
static void misuse(const void *sound, size_t size, size_t text_at, void (*use)(const void *))
{
    union {
        int64_t words[sizeof(autotune_tensor) / sizeof(int64_t)];
        autotune_tensor largest;
    } bent;

    assert_true(size <= sizeof bent);
    for (size_t at = 0; at < size; at += sizeof(int64_t))
        for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense && at != text_at; i++) {
            memcpy(&bent, sound, size);
            bent.words[at / sizeof(int64_t)] = nonsense[i];
            use(&bent);
        }
}

static void test_all(void **state)
{
    autotune_problem problem = autotune_problem_init();
    autotune_tensor tensor = autotune_tensor_init();
    autotune_groups groups = autotune_groups_init();
    autotune_plan_options options = autotune_plan_options_init();
    autotune_execution execution = autotune_execution_init();
    autotune_info info = autotune_info_init();
    autotune_device_numbers numbers = autotune_device_numbers_init();

    (void)state;
    problem.elem_size = tensor.elem_size = groups.elem_size = 4;
    problem.rows = problem.cols = 64;
    tensor.rank = 3;
    for (int64_t i = 0; i < tensor.rank; i++) {
        tensor.extents[i] = 8;
        tensor.permutation[i] = 2 - i;
    }
    groups.count = groups.most_rows = 8;
    groups.rows = groups.cols = 64;
    execution.dst = (void *)4096;
    execution.src = (void *)0x10000000000;
    misuse(&problem, sizeof problem, offsetof(autotune_problem, step), use_problem);
    problem.explicit_strides = 1;
    problem.ld_src = problem.ld_dst = 64;
    problem.batch = 1;
    misuse(&problem, sizeof problem, offsetof(autotune_problem, step), use_problem);
    misuse(&tensor, sizeof tensor, offsetof(autotune_tensor, step), use_tensor);
    tensor.explicit_strides = 1;
    for (int64_t i = 0, stride = 64; i < tensor.rank; i++, stride /= 8)
        tensor.strides_src[i] = tensor.strides_dst[i] = stride;
    misuse(&tensor, sizeof tensor, offsetof(autotune_tensor, step), use_tensor);
    /* The list is an address of the host's, as the step is. */
    misuse(&groups, offsetof(autotune_groups, list), offsetof(autotune_groups, step), use_groups);
    misuse(&options, sizeof options, offsetof(autotune_plan_options, policy), use_options);
    misuse(&execution, sizeof execution, SIZE_MAX, use_execution);
    misuse(&info, sizeof info, SIZE_MAX, use_info);
    numbers.name = "abacus";
    numbers.compute_capability = 90;
    numbers.multiprocessors = numbers.memory_bytes = numbers.l2_bytes = 1;
    misuse(&numbers, sizeof numbers, offsetof(autotune_device_numbers, name), use_numbers);
    assert_true(refused > 300 && taken > 100);
}

static int set_up(void **state)
{
    measure_set_up();
    profile = *state = measure_open(NULL);
    plan = measure_plan(profile, NULL);
    return autotune_device_described(&device, "h200", NULL) != AUTOTUNE_OK;
}

static int tear_down(void **state)
{
    autotune_plan_free(plan);
    autotune_device_free(device);
    return measure_tear_down(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_all)};

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
