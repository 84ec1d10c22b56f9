/* SPDX-License-Identifier: Apache-2.0 */
/* Devices that a program makes of numbers: their answers, and which numbers are refused. */
#include "lib/autotune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "source_tree.h"

static autotune_profile *profile;

static autotune_device_numbers numbers_of_h200(void)
{
    autotune_device_numbers numbers = autotune_device_numbers_init();

    numbers.name = "NVIDIA H200";
    numbers.compute_capability = 90;
    numbers.multiprocessors = 132;
    numbers.memory_bytes = INT64_C(150109880320);
    numbers.l2_bytes = 62914560;
    return numbers;
}

/* As JSON, one after the other. */
static void write_answers(char *text, size_t capacity, const autotune_device *device)
{
    static const autotune_problem problems[] = {
        {.elem_size = 4, .rows = 8192, .cols = 8192},
        {.elem_size = 2, .rows = 6000, .cols = 6001},
        {.elem_size = 4, .rows = 300, .cols = 300, .batch = 70},
        {.elem_size = 4, .rows = 3000, .cols = 4201, .in_place = 1},
    };
    size_t used = 0;

    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        autotune_answer *answer = NULL;

        assert_int_equal(autotune_lookup(&answer, profile, device, &problems[i], NULL, NULL),
                         AUTOTUNE_OK);
        used += autotune_answer_json(answer, text + used, capacity - used);
        assert_true(used < capacity);
        autotune_answer_free(answer);
    }
}

/* With defaults, and with all numbers given. */
static void test_made_device(void **state)
{
    enum { CHARS = 1 << 16 };
    static char wanted[CHARS], found[CHARS];
    autotune_device_numbers numbers = numbers_of_h200();
    autotune_device *device = NULL;

    (void)state;
    assert_int_equal(autotune_device_described(&device, "h200", NULL), AUTOTUNE_OK);
    write_answers(wanted, CHARS, device);
    autotune_device_free(device);
    for (int all = 0; all < 2; all++) {
        if (all) {
            numbers.warp_size = 32;
            numbers.max_threads_per_block = 1024;
            numbers.max_threads_per_multiprocessor = 2048;
            numbers.registers_per_multiprocessor = 65536;
            numbers.shared_bytes_per_block = 49152;
            numbers.shared_bytes_per_block_optin = 232448;
            numbers.shared_bytes_per_multiprocessor = 233472;
        }
        assert_int_equal(autotune_device_make(&device, &numbers, NULL), AUTOTUNE_OK);
        assert_string_equal(autotune_device_name(device), "NVIDIA H200");
        write_answers(found, CHARS, device);
        assert_string_equal(found, wanted);
        autotune_device_free(device);
    }
}

/* The H200's winner has 512 threads, which are too many here. */
static void test_small_device(void **state)
{
    static const autotune_problem problem = {.elem_size = 4, .rows = 8192, .cols = 8192};
    autotune_device_numbers numbers = numbers_of_h200();
    autotune_device *device = NULL;
    autotune_answer *answer = NULL;
    autotune_launch launch;

    (void)state;
    numbers.max_threads_per_block = 256;
    assert_int_equal(autotune_device_make(&device, &numbers, NULL), AUTOTUNE_OK);
    assert_int_equal(autotune_lookup(&answer, profile, device, &problem, NULL, NULL), AUTOTUNE_OK);
    assert_int_equal(autotune_answer_launches(answer, &launch, 1), 1);
    assert_in_range(launch.block[0] * launch.block[1] * launch.block[2], 1, 256);
    autotune_answer_free(answer);
    autotune_device_free(device);
}

static void test_bad_numbers(void **state)
{
#define MEMBER(member) offsetof(autotune_device_numbers, member)
    static const struct {
        size_t offset;
        int64_t value;
        const char *message;
    } cases[] = {
        {MEMBER(struct_size), 0, "struct_size of autotune_device_numbers is 0"},
        {MEMBER(compute_capability), 0, "compute_capability is 0, and has to be 10 to 999"},
        {MEMBER(compute_capability), 9, "compute_capability is 9"},
        {MEMBER(compute_capability), 61,
         "warp_size is 0, and has to be 1 to 1024: no described device has this compute"},
        {MEMBER(multiprocessors), 0, "multiprocessors is 0, and has to be 1 to 65536"},
        {MEMBER(memory_bytes), 0, "memory_bytes is 0"},
        {MEMBER(l2_bytes), 0, "l2_bytes is 0"},
        {MEMBER(l2_bytes), -1, "l2_bytes is -1"},
        {MEMBER(warp_size), -1, "warp_size is -1"},
        {MEMBER(max_threads_per_block), 65537, "max_threads_per_block is 65537"},
        {MEMBER(max_threads_per_multiprocessor), -1, "max_threads_per_multiprocessor is -1"},
        {MEMBER(registers_per_multiprocessor), -1, "registers_per_multiprocessor is -1"},
        {MEMBER(shared_bytes_per_block), -1, "shared_bytes_per_block is -1"},
        {MEMBER(shared_bytes_per_block_optin), -1, "shared_bytes_per_block_optin is -1"},
        {MEMBER(shared_bytes_per_multiprocessor), -1, "shared_bytes_per_multiprocessor is -1"},
    };
#undef MEMBER

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_device_numbers numbers = numbers_of_h200();
        autotune_device *device = NULL;
        autotune_error *error = NULL;

        memcpy((char *)&numbers + cases[i].offset, &cases[i].value, sizeof cases[i].value);
        assert_int_equal(autotune_device_make(&device, &numbers, &error), AUTOTUNE_INVALID);
        assert_null(device);
        if (!strstr(autotune_error_message(error), cases[i].message))
            assert_string_equal(autotune_error_message(error), cases[i].message);
        autotune_error_free(error);
    }
}

static void test_bad_names(void **state)
{
    char longest[128];
    const char *const names[] = {NULL, "", "H200\n", longest};

    (void)state;
    memset(longest, 'x', sizeof longest);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        autotune_device_numbers numbers = numbers_of_h200();
        autotune_device *device = NULL;
        autotune_error *error = NULL;

        numbers.name = names[i];
        assert_int_equal(autotune_device_make(&device, &numbers, &error), AUTOTUNE_INVALID);
        assert_null(device);
        assert_string_equal(autotune_error_message(error),
                            "name has to be printable, in 1 to 127 bytes");
        autotune_error_free(error);
    }
}

static int set_up(void **state)
{
    char path[4096];

    (void)state;
    use_source_tree();
    snprintf(path, sizeof path, "%s/results/nvidia-h200.yaml", source_tree());
    return autotune_profile_open(&profile, path, NULL) != AUTOTUNE_OK;
}

static int tear_down(void **state)
{
    (void)state;
    autotune_profile_free(profile);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_made_device),
        cmocka_unit_test(test_small_device),
        cmocka_unit_test(test_bad_numbers),
        cmocka_unit_test(test_bad_names),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
