/* SPDX-License-Identifier: Apache-2.0 */
/* What plans have measured, saved to files: by processes that save at once, are killed, or find a
 * broken file. */
#include "answer_info.h"
#include "fake_cuda.h"
#include "library_measure.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static autotune_profile *profile;
static bool learns; /* there is NVRTC */
static char wisdom[4096];

/* Measure a problem of this many rows; `fast`: a rival wins. Returns whether that worked. */
static bool learn(int64_t rows, bool fast)
{
    const autotune_problem problem = {.elem_size = 4, .rows = rows, .cols = 6000};
    autotune_plan *plan = NULL;
    autotune_status status;

    fake_cuda_forget();
    for (int i = 0; i < FAKE_CUDA_KERNELS_MAX; i++)
        fake_cuda_kernels[i] = (struct fake_cuda_kernel){.ns = fast && i == 3 ? 10000 : 20000};
    status = autotune_plan_create_with(&plan, profile, &problem, &measure_amply, NULL);
    autotune_plan_free(plan);
    return status == AUTOTUNE_OK;
}

/* The tier of a problem of this many rows, with the wisdom and the shipped profiles. */
static autotune_tier tier_of(int64_t rows, char *path)
{
    const autotune_problem problem = {.elem_size = 4, .rows = rows, .cols = 6000};
    autotune_profile *all = NULL;
    autotune_device *device = NULL;
    autotune_answer *answer = NULL;
    autotune_error *error = NULL;
    autotune_tier tier;

    setenv("AUTOTUNE_WISDOM", wisdom, 1);
    if (autotune_profile_open(&all, NULL, &error) != AUTOTUNE_OK)
        fail_msg("%s", autotune_error_message(error));
    unsetenv("AUTOTUNE_WISDOM");
    assert_int_equal(autotune_device_current(&device, NULL), AUTOTUNE_OK);
    assert_int_equal(autotune_lookup(&answer, all, device, &problem, NULL, NULL), AUTOTUNE_OK);
    tier = (autotune_tier)info_of(answer).tier;
    if (path)
        strcpy(path, info_of(answer).path);
    autotune_answer_free(answer);
    autotune_device_free(device);
    autotune_profile_free(all);
    return tier;
}

static char *read_text(const char *path)
{
    FILE *in = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    assert_non_null(in);
    assert_true(fread(text, 1, (1 << 20) - 1, in) > 0);
    fclose(in);
    return text;
}

static int count_problems(void)
{
    char *text = read_text(wisdom);
    int count = 0;

    for (const char *at = text; (at = strstr(at, "\n  - problem: ")); at++)
        count++;
    free(text);
    return count;
}

static void save(const char *path)
{
    autotune_error *error = NULL;

    if (autotune_wisdom_save(path, &error) != AUTOTUNE_OK)
        fail_msg("%s", autotune_error_message(error));
}

/* ---- saving and reading ---- */

static void test_nothing_unasked(void **state)
{
    autotune_error *error = NULL;

    (void)state;
    save(wisdom); /* nothing is known yet */
    assert_int_equal(access(wisdom, F_OK), -1);
    setenv("AUTOTUNE_WISDOM", wisdom, 1);
    learns = learn(6000, true);
    if (!learns) {
        fprintf(stderr, "skipped: no NVRTC\n");
        skip();
    }
    assert_int_equal(access(wisdom, F_OK), -1);
    unsetenv("AUTOTUNE_WISDOM");
    assert_int_equal(autotune_wisdom_save(NULL, &error), AUTOTUNE_INVALID);
    assert_non_null(strstr(autotune_error_message(error), "AUTOTUNE_WISDOM"));
    autotune_error_free(error);
}

static void test_saved(void **state)
{
    char path[4096], command[8192];

    (void)state;
    setenv("AUTOTUNE_WISDOM", wisdom, 1);
    save(NULL);
    assert_int_equal(tier_of(6000, path), AUTOTUNE_TIER_EXACT);
    assert_string_equal(path, wisdom);
    /* every tool reads it */
    snprintf(command, sizeof command, "\"$AUTOTUNE_PROGRAM\" check %s >/dev/null", wisdom);
    assert_int_equal(system(command), 0);
    /* a plan takes it without measuring */
    autotune_wisdom_forget();
    setenv("AUTOTUNE_WISDOM", wisdom, 1);
    autotune_profile *all = NULL;
    assert_int_equal(autotune_profile_open(&all, NULL, NULL), AUTOTUNE_OK);
    unsetenv("AUTOTUNE_WISDOM");
    int allocations = fake_cuda_allocations;
    autotune_plan *plan = measure_plan(all, &measure_amply);
    assert_int_equal(fake_cuda_allocations, allocations);
    assert_true(measure_says(plan, wisdom));
    autotune_plan_free(plan);
    autotune_profile_free(all);
}

/* What is known already stays, and what is saved twice is there once. */
static void test_merged(void **state)
{
    (void)state;
    autotune_wisdom_forget();
    assert_true(learn(6016, false));
    save(wisdom);
    save(wisdom);
    assert_int_equal(count_problems(), 2);
    assert_int_equal(tier_of(6016, NULL), AUTOTUNE_TIER_EXACT);
    assert_int_equal(tier_of(6000, NULL), AUTOTUNE_TIER_EXACT);
    assert_int_equal(tier_of(6032, NULL), AUTOTUNE_TIER_SHAPE);
}

/* ---- several processes ---- */

enum { PROCESSES = 6 };

/* Each has learnt another problem, and saves it at the same moment: nothing is lost. */
static void test_at_once(void **state)
{
    pid_t children[PROCESSES];
    int start[2], before = count_problems();
    char byte;

    (void)state;
    assert_int_equal(pipe(start), 0);
    for (int i = 0; i < PROCESSES; i++) {
        autotune_wisdom_forget();
        assert_true(learn(7008 + 16 * i, false));
        children[i] = fork();
        if (children[i] == 0) {
            close(start[1]);
            _exit(read(start[0], &byte, 1) != 0 || autotune_wisdom_save(wisdom, NULL) != 0);
        }
    }
    close(start[0]);
    close(start[1]); /* now */
    for (int i = 0; i < PROCESSES; i++) {
        int status;

        assert_int_equal(waitpid(children[i], &status, 0), children[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(count_problems(), before + PROCESSES);
}

/* A process that is killed while it saves leaves the old file or the new one, whole; and the next
 * one saves. */
static void test_killed(void **state)
{
    const char *end = "\nend: profile\n";

    (void)state;
    autotune_wisdom_forget();
    assert_true(learn(8016, false));
    for (int i = 0; i < 40; i++) {
        pid_t child = fork();
        char *text;

        if (child == 0) {
            for (;;)
                autotune_wisdom_save(wisdom, NULL);
        }
        usleep((useconds_t)(500 * i));
        kill(child, SIGKILL);
        assert_int_equal(waitpid(child, NULL, 0), child);
        text = read_text(wisdom);
        assert_string_equal(text + strlen(text) - strlen(end), end);
        free(text);
    }
    save(wisdom);
    assert_int_equal(tier_of(8016, NULL), AUTOTUNE_TIER_EXACT);
    assert_int_equal(tier_of(7008, NULL), AUTOTUNE_TIER_EXACT);
}

/* ---- broken files ---- */

/* A broken file is an error that names it, on reading and on saving, and is left as it is. */
static void test_broken(void **state)
{
    static const char nonsense[] = "schema: 4\ndevices:\n";
    autotune_profile *all = NULL;
    autotune_error *error = NULL;
    char path[4096], *text;
    FILE *out;

    (void)state;
    snprintf(path, sizeof path, "%s/broken.yaml", measure_folder);
    out = fopen(path, "w");
    assert_non_null(out);
    fputs(nonsense, out);
    fclose(out);
    setenv("AUTOTUNE_WISDOM", path, 1);
    assert_int_equal(autotune_profile_open(&all, NULL, &error), AUTOTUNE_INVALID);
    assert_non_null(strstr(autotune_error_message(error), "AUTOTUNE_WISDOM"));
    assert_non_null(strstr(autotune_error_message(error), "broken.yaml"));
    autotune_error_free(error);
    assert_int_equal(autotune_wisdom_save(NULL, &error), AUTOTUNE_INVALID);
    assert_non_null(strstr(autotune_error_message(error), "broken.yaml"));
    autotune_error_free(error);
    unsetenv("AUTOTUNE_WISDOM");
    text = read_text(path);
    assert_string_equal(text, nonsense);
    free(text);
}

static void test_unwritable(void **state)
{
    autotune_error *error = NULL;

    (void)state;
    assert_int_equal(autotune_wisdom_save("/nonexistent/wisdom.yaml", &error), AUTOTUNE_INVALID);
    assert_non_null(strstr(autotune_error_message(error), "/nonexistent/wisdom.yaml"));
    autotune_error_free(error);
}

static int need_to_learn(void **state)
{
    (void)state;
    return !learns;
}

static int set_up(void **state)
{
    measure_set_up();
    snprintf(wisdom, sizeof wisdom, "%s/wisdom.yaml", measure_folder);
    *state = profile = measure_open(NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_unasked),
        cmocka_unit_test_setup(test_saved, need_to_learn),
        cmocka_unit_test_setup(test_merged, need_to_learn),
        cmocka_unit_test_setup(test_at_once, need_to_learn),
        cmocka_unit_test_setup(test_killed, need_to_learn),
        cmocka_unit_test_setup(test_broken, need_to_learn),
        cmocka_unit_test_setup(test_unwritable, need_to_learn),
    };

    return cmocka_run_group_tests(tests, set_up, measure_tear_down);
}
