/* SPDX-License-Identifier: Apache-2.0 */
#include "library_measure.h"

#include "fake_cuda.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source_tree.h"

char measure_folder[] = "/tmp/autotune-test-measure-XXXXXX";
const autotune_plan_options measure_amply = {.measure_ms = 600000};

const autotune_problem measure_problem = {.elem_size = 4, .rows = 6000, .cols = 6000};

enum { HANGS_AFTER_S = 600 };

void measure_set_up(void)
{
    char path[4096];

    alarm(HANGS_AFTER_S);
    assert_non_null(mkdtemp(measure_folder));
    assert_non_null(getcwd(path, sizeof path - 16));
    strcat(path, "/autotune");
    setenv("AUTOTUNE_PROGRAM", path, 1);
    use_source_tree();
    setenv("XDG_DATA_HOME", "/nonexistent", 1);
    snprintf(path, sizeof path, "%s/cache", measure_folder);
    setenv("XDG_CACHE_HOME", path, 1);
    unsetenv("AUTOTUNE_PROFILE_PATH");
    unsetenv("AUTOTUNE_WISDOM");
    fake_cuda_is_there = true;
}

int measure_tear_down(void **state)
{
    char command[4096];

    autotune_wisdom_forget();
    autotune_profile_free(*state);
    snprintf(command, sizeof command, "rm -r %s", measure_folder);
    assert_int_equal(system(command), 0);
    return 0;
}

autotune_profile *measure_open(const char *path)
{
    autotune_profile *profile = NULL;
    autotune_error *error = NULL;
    char shipped[4096];

    snprintf(shipped, sizeof shipped, "%s/results/nvidia-h200.yaml", getenv("AUTOTUNE_DATADIR"));
    if (autotune_profile_open(&profile, path ? path : shipped, &error) != AUTOTUNE_OK)
        fail_msg("%s", autotune_error_message(error));
    return profile;
}

autotune_plan *measure_plan(const autotune_profile *profile, const autotune_plan_options *options)
{
    autotune_plan *plan = NULL;
    autotune_error *error = NULL;

    if (autotune_plan_create_with(&plan, profile, &measure_problem, options, &error) == AUTOTUNE_OK)
        return plan;
    if (strstr(autotune_error_message(error), "NVRTC")) {
        fprintf(stderr, "skipped: %s\n", autotune_error_message(error));
        autotune_error_free(error);
        skip();
    }
    fail_msg("%s", autotune_error_message(error));
    return NULL;
}

int measure_says(const autotune_plan *plan, const char *words)
{
    char text[8192];

    autotune_plan_describe(plan, text, sizeof text);
    if (strstr(text, words))
        return true;
    fprintf(stderr, "\"%s\" is not in:\n%s", words, text);
    return false;
}
