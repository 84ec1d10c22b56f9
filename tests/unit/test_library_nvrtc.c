/* SPDX-License-Identifier: Apache-2.0 */
/* A process names its NVRTC: plans open that one, and its environment stays as it is. */
#include "fake_cuda.h"
#include "library_measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static const char in_environment[] = "/nowhere/environment.so", named[] = "/nowhere/named.so";

/* Returns whether the call fails with these words. */
static int refuses(const char *path, const char *words)
{
    autotune_error *error = NULL;
    int as_wanted = autotune_set_nvrtc(path, &error) == AUTOTUNE_INVALID &&
                    strstr(autotune_error_message(error), words) != NULL;

    if (!as_wanted)
        fprintf(stderr, "\"%s\" is not in: %s\n", words, autotune_error_message(error));
    autotune_error_free(error);
    return as_wanted;
}

static int name_and_plan(const autotune_profile *profile)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;
    int as_wanted;

    setenv("AUTOTUNE_NVRTC", in_environment, 1);
    as_wanted =
        autotune_set_nvrtc(named, NULL) == AUTOTUNE_OK &&
        autotune_set_nvrtc(named, NULL) == AUTOTUNE_OK &&
        refuses("/nowhere/other.so", "NVRTC was named /nowhere/named.so before") &&
        autotune_plan_create(&plan, profile, &measure_problem, &error) == AUTOTUNE_NO_DEVICE &&
        strstr(autotune_error_message(error), named) &&
        strcmp(getenv("AUTOTUNE_NVRTC"), in_environment) == 0;
    autotune_error_free(error);
    autotune_plan_free(plan);
    return as_wanted;
}

/* In a child, since a name holds as long as its process. */
static void test_named(void **state)
{
    int ended = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(name_and_plan(*state) ? 0 : 1);
    assert_int_equal(waitpid(child, &ended, 0), child);
    assert_int_equal(ended, 0);
}

static void test_too_late(void **state)
{
    autotune_plan *plan = measure_plan(*state, NULL);

    assert_true(refuses(named, "NVRTC is open already, from "));
    autotune_plan_free(plan);
}

static int set_up(void **state)
{
    measure_set_up();
    *state = measure_open(NULL);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_named),
        cmocka_unit_test(test_too_late),
    };

    return cmocka_run_group_tests(tests, set_up, measure_tear_down);
}
