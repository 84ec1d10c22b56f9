/* SPDX-License-Identifier: Apache-2.0 */
/* What the library tells of its plans: which lines a function gets, by its level. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static autotune_profile *profile;

/* Lines, each after the digit of its level. */
struct told {
    char text[65536];
};

static void tell(void *user_data, autotune_log_level level, const char *line)
{
    struct told *told = user_data;
    size_t length = strlen(told->text);

    assert_null(strchr(line, '\n'));
    snprintf(told->text + length, sizeof told->text - length, "%d %s\n", (int)level, line);
}

static int lines(const struct told *told, const char *words)
{
    int count = 0;

    for (const char *at = told->text; (at = strstr(at, words)); at++)
        count++;
    return count;
}

static void make_and_free(const autotune_plan_options *options)
{
    autotune_plan_free(measure_plan(profile, options));
    autotune_clear();
}

/* A level has those before it, too. What no function wants is not told. */
static void test_levels(void **state)
{
    static const struct {
        autotune_log_level most;
        int plans, kernels;
    } cases[] = {
        {AUTOTUNE_LOG_NONE, 0, 0},
        {AUTOTUNE_LOG_WARNING, 0, 0},
        {AUTOTUNE_LOG_INFO, 1, 0},
        {AUTOTUNE_LOG_DEBUG, 1, 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct told told = {""};

        autotune_set_log(tell, &told, cases[i].most);
        make_and_free(NULL);
        autotune_set_log(NULL, &told, AUTOTUNE_LOG_DEBUG);
        make_and_free(NULL);
        assert_int_equal(lines(&told, "2 made a plan for 6000x6000:b4 on NVIDIA H200: "),
                         cases[i].plans);
        assert_int_equal(lines(&told, "3 loaded the kernel k_"), cases[i].kernels);
        assert_int_equal(lines(&told, "3 unloaded the kernel k_"), cases[i].kernels);
        assert_int_equal(lines(&told, "3 found 2 kernels in the cache in "), cases[i].kernels > 0);
    }
}

/* A kernel is compiled once; then it is in the cache. */
static void test_compiled(void **state)
{
    const char *usual = strdup(getenv("XDG_CACHE_HOME"));
    char other[4096];

    (void)state;
    snprintf(other, sizeof other, "%s/log-cache", measure_folder);
    setenv("XDG_CACHE_HOME", other, 1);
    for (int run = 0; run < 2; run++) {
        struct told told = {""};

        autotune_set_log(tell, &told, AUTOTUNE_LOG_INFO);
        make_and_free(NULL);
        assert_int_equal(lines(&told, "2 compiled 2 of 2 kernels in "), run == 0);
    }
    autotune_set_log(NULL, NULL, AUTOTUNE_LOG_NONE);
    setenv("XDG_CACHE_HOME", usual, 1);
    free((char *)usual);
}

/* What is compiled for an answer, without a GPU, is in the cache for its plan. Without a cache that
 * fails. */
static void test_precompiled(void **state)
{
    char *usual = strdup(getenv("XDG_CACHE_HOME")), other[4096];
    autotune_device *device = NULL;
    autotune_answer *answer = NULL;
    struct told told = {""};

    (void)state;
    assert_int_equal(autotune_device_described(&device, "h200", NULL), AUTOTUNE_OK);
    assert_int_equal(autotune_lookup(&answer, profile, device, &measure_problem, NULL, NULL),
                     AUTOTUNE_OK);
    snprintf(other, sizeof other, "%s/precompiled", measure_folder);
    setenv("XDG_CACHE_HOME", other, 1);
    autotune_set_log(tell, &told, AUTOTUNE_LOG_DEBUG);
    assert_int_equal(autotune_precompile(answer, profile, NULL), AUTOTUNE_OK);
    assert_int_equal(lines(&told, "2 compiled 2 of 2 kernels in "), 1);
    assert_int_equal(lines(&told, "loaded the kernel"), 0);
    make_and_free(NULL);
    assert_int_equal(lines(&told, "2 compiled "), 1);
    assert_int_equal(lines(&told, "3 found 2 kernels in the cache in "), 1);
    autotune_set_log(NULL, NULL, AUTOTUNE_LOG_NONE);

    setenv("XDG_CACHE_HOME", "/dev/null", 1);
    assert_int_equal(autotune_precompile(answer, profile, NULL), AUTOTUNE_INVALID);
    setenv("XDG_CACHE_HOME", usual, 1);
    free(usual);
    autotune_answer_free(answer);
    autotune_device_free(device);
}

/* A rival that is wrong is a warning, and why a config was taken is told. */
static void test_measured(void **state)
{
    struct told told = {""};

    (void)state;
    autotune_wisdom_forget();
    fake_cuda_forget();
    fake_cuda_kernels[2].wrong = true; /* after the looked-up one and that for any address */
    autotune_set_log(tell, &told, AUTOTUNE_LOG_INFO);
    make_and_free(&measure_amply);
    autotune_set_log(NULL, NULL, AUTOTUNE_LOG_NONE);
    fake_cuda_kernels[2].wrong = false;
    assert_int_equal(lines(&told, "1 a config gives wrong results here: "), 1);
    assert_int_equal(lines(&told, "2 that is the best of "), 1);
}

/* A file on the search path that is no profile. */
static void test_skipped(void **state)
{
    struct told told = {""};
    autotune_profile *opened = NULL;
    char path[4096];
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/autotune", measure_folder);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/none.yaml");
    file = fopen(path, "w");
    assert_non_null(file);
    fclose(file);
    setenv("XDG_DATA_HOME", measure_folder, 1);
    autotune_set_log(tell, &told, AUTOTUNE_LOG_WARNING);
    assert_int_equal(autotune_profile_open(&opened, NULL, NULL), AUTOTUNE_OK);
    autotune_set_log(NULL, NULL, AUTOTUNE_LOG_NONE);
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    autotune_profile_free(opened);
    assert_int_equal(lines(&told, "1 skipped "), 1);
}

static int set_up(void **state)
{
    measure_set_up();
    *state = profile = measure_open(NULL);
    make_and_free(NULL); /* skips all without NVRTC */
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),      cmocka_unit_test(test_compiled),
        cmocka_unit_test(test_precompiled), cmocka_unit_test(test_measured),
        cmocka_unit_test(test_skipped),
    };

    return cmocka_run_group_tests(tests, set_up, measure_tear_down);
}
