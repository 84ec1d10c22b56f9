/* SPDX-License-Identifier: Apache-2.0 */
/* Wrong arguments of libautotune's functions: NULL for each argument of each function, and unknown
 * policies. */
#include "lib/autotune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source_tree.h"

static autotune_profile *profile;
static autotune_device *device;
static const autotune_problem problem = {.elem_size = 4, .rows = 4096, .cols = 4096};

static const autotune_tensor tensor = {
    .elem_size = 2, .rank = 4, .extents = {8, 32, 2048, 128}, .permutation = {0, 2, 1, 3}};

/* ---- functions with a status: a call with NULL as argument number `missing` ---- */

static autotune_status open_profile(int missing, autotune_error **error)
{
    (void)missing; /* the path may be NULL */
    return autotune_profile_open(NULL, "/nonexistent.yaml", error);
}

static autotune_status describe_device(int missing, autotune_error **error)
{
    autotune_device *found = NULL;

    return autotune_device_described(missing == 0 ? NULL : &found, missing == 1 ? NULL : "h200",
                                     error);
}

static autotune_status make_device(int missing, autotune_error **error)
{
    const autotune_device_numbers numbers = autotune_device_numbers_init();
    autotune_device *made = NULL;

    return autotune_device_make(missing == 0 ? NULL : &made, missing == 1 ? NULL : &numbers, error);
}

static autotune_status find_current_device(int missing, autotune_error **error)
{
    (void)missing;
    return autotune_device_current(NULL, error);
}

static autotune_status tell_scales(int missing, autotune_error **error)
{
    autotune_scales scales[2];

    return autotune_problem_scales(missing == 0 ? NULL : scales, missing == 1 ? NULL : &problem,
                                   error);
}

static autotune_status set_nvrtc(int missing, autotune_error **error)
{
    (void)missing;
    return autotune_set_nvrtc(NULL, error);
}

static autotune_status look_up(int missing, autotune_error **error)
{
    autotune_answer *answer = NULL;

    return autotune_lookup(missing == 0 ? NULL : &answer, missing == 1 ? NULL : profile,
                           missing == 2 ? NULL : device, missing == 3 ? NULL : &problem, NULL,
                           error);
}

static autotune_status look_tensor_up(int missing, autotune_error **error)
{
    autotune_answer *answer = NULL;

    return autotune_tensor_lookup(missing == 0 ? NULL : &answer, missing == 1 ? NULL : profile,
                                  missing == 2 ? NULL : device, missing == 3 ? NULL : &tensor, NULL,
                                  error);
}

static autotune_status create_tensor_plan(int missing, autotune_error **error)
{
    autotune_plan *plan = NULL;

    return autotune_tensor_plan_create(missing == 0 ? NULL : &plan, missing == 1 ? NULL : profile,
                                       missing == 2 ? NULL : &tensor, error);
}

static const autotune_groups groups = {
    .struct_size = sizeof groups, .elem_size = 4, .count = 3, .rows = 9, .cols = 5, .most_rows = 9};

static autotune_status look_groups_up(int missing, autotune_error **error)
{
    autotune_answer *answer = NULL;

    return autotune_groups_lookup(missing == 0 ? NULL : &answer, missing == 1 ? NULL : profile,
                                  missing == 2 ? NULL : device, missing == 3 ? NULL : &groups, NULL,
                                  error);
}

static autotune_status create_groups_plan(int missing, autotune_error **error)
{
    autotune_plan *plan = NULL;

    return autotune_groups_plan_create(missing == 0 ? NULL : &plan, missing == 1 ? NULL : profile,
                                       missing == 2 ? NULL : &groups, error);
}

static autotune_status check_device(int missing, autotune_error **error)
{
    (void)missing;
    return autotune_answer_check_device(NULL, error);
}

static autotune_status precompile(int missing, autotune_error **error)
{
    autotune_answer *answer = NULL;
    autotune_status status;

    assert_int_equal(autotune_lookup(&answer, profile, device, &problem, NULL, NULL), AUTOTUNE_OK);
    status =
        autotune_precompile(missing == 0 ? NULL : answer, missing == 1 ? NULL : profile, error);
    autotune_answer_free(answer);
    return status;
}

static autotune_status tell_answer(int missing, autotune_error **error)
{
    autotune_info info = autotune_info_init();

    return autotune_answer_info(missing == 0 ? NULL : (const autotune_answer *)&device,
                                missing == 1 ? NULL : &info, error);
}

static autotune_status tell_plan(int missing, autotune_error **error)
{
    autotune_info info = autotune_info_init();

    return autotune_plan_info(missing == 0 ? NULL : (const autotune_plan *)&device,
                              missing == 1 ? NULL : &info, error);
}

static autotune_status create_plan(int missing, autotune_error **error)
{
    autotune_plan *plan = NULL;

    return autotune_plan_create(missing == 0 ? NULL : &plan, missing == 1 ? NULL : profile,
                                missing == 2 ? NULL : &problem, error);
}

static autotune_status create_plan_with(int missing, autotune_error **error)
{
    autotune_plan *plan = NULL;

    return autotune_plan_create_with(missing == 0 ? NULL : &plan, missing == 1 ? NULL : profile,
                                     missing == 2 ? NULL : &problem, NULL, error);
}

static autotune_status create_tensor_plan_with(int missing, autotune_error **error)
{
    autotune_plan *plan = NULL;

    return autotune_tensor_plan_create_with(missing == 0 ? NULL : &plan,
                                            missing == 1 ? NULL : profile,
                                            missing == 2 ? NULL : &tensor, NULL, error);
}

/* The environment may name a path. */
static autotune_status save_wisdom(int missing, autotune_error **error)
{
    (void)missing;
    unsetenv("AUTOTUNE_WISDOM");
    return autotune_wisdom_save(NULL, error);
}

static autotune_status execute_plan(int missing, autotune_error **error)
{
    (void)missing;
    return autotune_plan_execute(NULL, (void *)4096, (void *)0x10000000000, NULL, error);
}

static autotune_status execute_plan_with(int missing, autotune_error **error)
{
    const autotune_execution execution = autotune_execution_init();

    return autotune_plan_execute_with(missing == 0 ? NULL : (const autotune_plan *)&device,
                                      missing == 1 ? NULL : &execution, error);
}

/* ---- functions without a status: the value that autotune.h promises for NULL ---- */

#define RETURNS(name, expression)                                                                  \
    static bool name(void)                                                                         \
    {                                                                                              \
        return (expression);                                                                       \
    }
#define DOES(name, call)                                                                           \
    static bool name(void)                                                                         \
    {                                                                                              \
        call;                                                                                      \
        return true;                                                                               \
    }

static char text[16];

/* The text is "", whatever the capacity. */
static bool writes_nothing(size_t length)
{
    bool nothing = length == 0 && text[0] == '\0';

    strcpy(text, "before");
    return nothing;
}

RETURNS(skipped, autotune_profile_skipped(NULL, 0) == NULL)
RETURNS(device_name, autotune_device_name(NULL) == NULL)
RETURNS(parameter_count, autotune_answer_parameter_count(NULL) == 0)
RETURNS(parameter_name, autotune_answer_parameter_name(NULL, 0) == NULL)
RETURNS(parameter_value, autotune_answer_parameter_value(NULL, 0) == 0)
RETURNS(answer_launches, autotune_answer_launches(NULL, NULL, 0) == 0)
RETURNS(plan_launches, autotune_plan_launches(NULL, NULL, NULL, NULL, 0) == 0)
RETURNS(plan_scratch_bytes, autotune_plan_scratch_bytes(NULL) == 0)
RETURNS(describe, writes_nothing(autotune_answer_describe(NULL, text, sizeof text)) &&
                      autotune_answer_describe(NULL, NULL, 9) == 0)
RETURNS(json, writes_nothing(autotune_answer_json(NULL, text, sizeof text)) &&
                  autotune_answer_json(NULL, NULL, 0) == 0)
RETURNS(plan_describe, writes_nothing(autotune_plan_describe(NULL, text, sizeof text)))
RETURNS(error_status, autotune_error_status(NULL) == AUTOTUNE_OK)
RETURNS(error_message, strcmp(autotune_error_message(NULL), "") == 0)
RETURNS(version_number, autotune_version_number() == AUTOTUNE_VERSION)
RETURNS(status_name, strcmp(autotune_status_name(AUTOTUNE_MISMATCH), "AUTOTUNE_MISMATCH") == 0 &&
                         strcmp(autotune_status_name((autotune_status)99), "unknown status") == 0)
RETURNS(version, strlen(autotune_version()) > 0)
DOES(profile_free, autotune_profile_free(NULL))
DOES(device_free, autotune_device_free(NULL))
DOES(answer_free, autotune_answer_free(NULL))
DOES(plan_free, autotune_plan_free(NULL))
DOES(error_free, autotune_error_free(NULL))
DOES(wisdom_forget, autotune_wisdom_forget())
DOES(clear, autotune_clear())
DOES(keep_unused, autotune_keep_unused(0))
DOES(set_log, autotune_set_log(NULL, NULL, AUTOTUNE_LOG_DEBUG))

/* ---- all of them ---- */

static const struct {
    const char *function;
    autotune_status (*call)(int missing, autotune_error **error);
    const char *arguments[5]; /* numbers of the arguments that must not be NULL */
    bool (*check)(void);
} functions[] = {
    {"autotune_answer_check_device", check_device, {"answer"}, NULL},
    {"autotune_answer_describe", NULL, {NULL}, describe},
    {"autotune_answer_free", NULL, {NULL}, answer_free},
    {"autotune_answer_info", tell_answer, {"answer", "info"}, NULL},
    {"autotune_answer_json", NULL, {NULL}, json},
    {"autotune_answer_launches", NULL, {NULL}, answer_launches},
    {"autotune_answer_parameter_count", NULL, {NULL}, parameter_count},
    {"autotune_answer_parameter_name", NULL, {NULL}, parameter_name},
    {"autotune_answer_parameter_value", NULL, {NULL}, parameter_value},
    {"autotune_clear", NULL, {NULL}, clear},
    {"autotune_device_current", find_current_device, {"device"}, NULL},
    {"autotune_device_described", describe_device, {"device", "name"}, NULL},
    {"autotune_device_free", NULL, {NULL}, device_free},
    {"autotune_device_make", make_device, {"device", "numbers"}, NULL},
    {"autotune_device_name", NULL, {NULL}, device_name},
    {"autotune_error_free", NULL, {NULL}, error_free},
    {"autotune_error_message", NULL, {NULL}, error_message},
    {"autotune_error_status", NULL, {NULL}, error_status},
    {"autotune_groups_lookup", look_groups_up, {"answer", "profile", "device", "problem"}, NULL},
    {"autotune_groups_plan_create", create_groups_plan, {"plan", "profile", "problem"}, NULL},
    {"autotune_keep_unused", NULL, {NULL}, keep_unused},
    {"autotune_lookup", look_up, {"answer", "profile", "device", "problem"}, NULL},
    {"autotune_plan_create", create_plan, {"plan", "profile", "problem"}, NULL},
    {"autotune_plan_create_with", create_plan_with, {"plan", "profile", "problem"}, NULL},
    {"autotune_plan_describe", NULL, {NULL}, plan_describe},
    {"autotune_plan_execute", execute_plan, {"plan"}, NULL},
    {"autotune_plan_execute_with", execute_plan_with, {"plan", "execution"}, NULL},
    {"autotune_plan_free", NULL, {NULL}, plan_free},
    {"autotune_plan_info", tell_plan, {"plan", "info"}, NULL},
    {"autotune_plan_launches", NULL, {NULL}, plan_launches},
    {"autotune_plan_scratch_bytes", NULL, {NULL}, plan_scratch_bytes},
    {"autotune_problem_scales", tell_scales, {"scales", "problem"}, NULL},
    {"autotune_precompile", precompile, {"answer", "profile"}, NULL},
    {"autotune_profile_free", NULL, {NULL}, profile_free},
    {"autotune_profile_open", open_profile, {"profile"}, NULL},
    {"autotune_profile_skipped", NULL, {NULL}, skipped},
    {"autotune_set_log", NULL, {NULL}, set_log},
    {"autotune_set_nvrtc", set_nvrtc, {"path"}, NULL},
    {"autotune_status_name", NULL, {NULL}, status_name},
    {"autotune_tensor_lookup", look_tensor_up, {"answer", "profile", "device", "problem"}, NULL},
    {"autotune_tensor_plan_create", create_tensor_plan, {"plan", "profile", "problem"}, NULL},
    {"autotune_tensor_plan_create_with",
     create_tensor_plan_with,
     {"plan", "profile", "problem"},
     NULL},
    {"autotune_version", NULL, {NULL}, version},
    {"autotune_version_number", NULL, {NULL}, version_number},
    {"autotune_wisdom_forget", NULL, {NULL}, wisdom_forget},
    {"autotune_wisdom_save", save_wisdom, {"path"}, NULL},
};

enum { FUNCTIONS = sizeof functions / sizeof *functions };

/* Each name in autotune.map has a row here, in the same order. */
static void test_all_are_here(void **state)
{
    char name[4096], line[256];
    size_t count = 0;
    FILE *map;

    (void)state;
    snprintf(name, sizeof name, "%s/src/lib/autotune.map", source_tree());
    map = fopen(name, "r");
    assert_non_null(map);
    while (fgets(line, sizeof line, map)) {
        char *function = line + strspn(line, " ");

        if (strncmp(function, "autotune_", strlen("autotune_")) != 0)
            continue;
        function[strcspn(function, ";")] = '\0';
        assert_true(count < FUNCTIONS);
        assert_string_equal(functions[count++].function, function);
    }
    fclose(map);
    assert_int_equal(count, FUNCTIONS);
}

static void refuse_null(size_t number, int missing)
{
    autotune_error *error = NULL;
    char named[64];

    assert_int_equal(functions[number].call(missing, NULL), AUTOTUNE_INVALID);
    assert_int_equal(functions[number].call(missing, &error), AUTOTUNE_INVALID);
    assert_int_equal(autotune_error_status(error), AUTOTUNE_INVALID);
    snprintf(named, sizeof named, "\"%s\" is NULL", functions[number].arguments[missing]);
    if (!strstr(autotune_error_message(error), named))
        fail_msg("%s: %s", functions[number].function, autotune_error_message(error));
    autotune_error_free(error);
}

static void test_null(void **state)
{
    (void)state;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        for (int missing = 0; functions[i].arguments[missing]; missing++)
            refuse_null(i, missing);
        if (functions[i].check && !functions[i].check())
            fail_msg("%s(NULL)", functions[i].function);
    }
}

static void test_policies(void **state)
{
    static const struct {
        const char *policy;
        autotune_status status;
    } cases[] = {
        {NULL, AUTOTUNE_OK},
        {"cold", AUTOTUNE_OK},
        {"warm", AUTOTUNE_OK},
        {"", AUTOTUNE_INVALID},
        {"hot", AUTOTUNE_INVALID},
        {"Cold", AUTOTUNE_INVALID},
        {"cold ", AUTOTUNE_INVALID},
        {"warm!", AUTOTUNE_INVALID},
        {"col", AUTOTUNE_INVALID},
        {"a policy of more characters than are kept", AUTOTUNE_INVALID},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        autotune_answer *answer = NULL;
        autotune_error *error = NULL;

        assert_int_equal(
            autotune_lookup(&answer, profile, device, &problem, cases[i].policy, &error),
            cases[i].status);
        assert_int_equal(answer != NULL, cases[i].status == AUTOTUNE_OK);
        if (error && !strstr(autotune_error_message(error), "has to be \"cold\" or \"warm\""))
            fail_msg("%s", autotune_error_message(error));
        autotune_answer_free(answer);
        autotune_error_free(error);
    }
}

static int set_up(void **state)
{
    char name[4096];

    (void)state;
    use_source_tree();
    snprintf(name, sizeof name, "%s/tests/data/small-profile.yaml", source_tree());
    strcpy(text, "before");
    return autotune_profile_open(&profile, name, NULL) != AUTOTUNE_OK ||
           autotune_device_described(&device, "h200", NULL) != AUTOTUNE_OK;
}

static int tear_down(void **state)
{
    (void)state;
    autotune_device_free(device);
    autotune_profile_free(profile);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_are_here),
        cmocka_unit_test(test_null),
        cmocka_unit_test(test_policies),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
