/* SPDX-License-Identifier: Apache-2.0 */
/* The time of one config, on the emulated device: what `explain --gpu 0` does on a GPU. */
#include "base/memory.h"
#include "emulated/time/description.h"
#include "explain/explain.h"
#include "pipeline/shootout.h"
#include "system/paths.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problem_of.h"
#include "session.h"

static struct at_config config_of(const char *family)
{
    return at_family_default(*find_family(family));
}

/* The worker predicts the same as explain does without a worker. */
static void test_time(void **state)
{
    struct at_config config = config_of("tile");
    struct at_explanation explanation = {0};
    struct at_device_info described;
    struct at_config_time time;
    struct at_problem problem = problem_of("200x300:f32");
    struct at_rates rates;
    struct at_error err = {AT_OK, ""};
    bool found;

    (void)state;
    assert_int_equal(at_time_config(session, &config, &problem, &time, NULL, &err), AT_OK);
    assert_int_equal(time.samples, options.session.policy->shootout_samples);
    assert_int_equal(time.spread_permille, 0);

    assert_int_equal(at_description_find(&described, &rates, &found, device, &err), AT_OK);
    assert_true(found);
    assert_int_equal(at_explain(&config, &problem, device, &rates, session->header, 256, NULL,
                                &explanation, &err),
                     AT_OK);
    assert_true(time.ns > (double)explanation.predicted_ns - 1 &&
                time.ns < (double)explanation.predicted_ns + 1);
    assert_int_equal(explanation.bytes_needed, 200 * 300 * 4);
    at_schema_clear(&at_explanation_schema, &explanation);

    /* A device without a description gets counts and no time. */
    assert_int_equal(
        at_explain(&config, &problem, device, NULL, session->header, 256, NULL, &explanation, &err),
        AT_OK);
    assert_int_equal(explanation.predicted_ns, 0);
    assert_string_equal(explanation.bound, "");
    assert_true(explanation.lines.count > 0 && explanation.occupancy_blocks > 0);
    at_schema_clear(&at_explanation_schema, &explanation);
}

/* A kernel that does not transpose gets no time. fault.cu explains the numbers. */
static void test_faults(void **state)
{
    static const struct {
        int32_t fault;
        const char *message;
    } cases[] = {{2, "fault: crash: "}, {5, "fault: wrong: "}, {7, "fault does not compile"}};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_config config = config_of("fault");
        struct at_config_time time = {.samples = 17};
        struct at_problem problem = problem_of("64x96:f32");
        struct at_error err = {AT_OK, ""};

        config.values[0] = cases[i].fault;
        assert_int_equal(at_time_config(session, &config, &problem, &time, NULL, &err), AT_FAILED);
        if (strncmp(err.message, cases[i].message, strlen(cases[i].message)) != 0)
            fail_msg("%s", err.message);
        assert_int_equal(time.samples, 17);
    }
}

/* Each contestant is verified in its own problem's buffers, and all are timed in those of one. A
 * fault is told with the label; without a label a contestant is known to be correct. */
static void test_hold(void **state)
{
    static const struct {
        const char *family, *label, *message; /* of the second contestant */
    } cases[] = {{"tile", "second", NULL},
                 {"fault", "second", "second: wrong: "},
                 {"fault", "", "wrong: "},
                 {"fault", NULL, NULL}};
    const struct at_problem large = problem_of("200x300:f32"), small = problem_of("16x16:f32");
    const struct at_config tile = config_of("tile");
    struct at_config_time alone;
    struct at_error err = {AT_OK, ""};

    (void)state;
    assert_int_equal(at_time_config(session, &tile, &large, &alone, NULL, &err), AT_OK);
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_config second = config_of(cases[i].family);
        struct at_contestant contestants[] = {
            {.config = &tile, .problem = large, .label = "first"},
            {.config = &second, .problem = small, .label = cases[i].label}};
        const char *message = cases[i].message;

        if (strcmp(cases[i].family, "fault") == 0)
            second.values[0] = 5; /* wrong */
        assert_int_equal(at_shootout_hold(session, &large, contestants, 2, &err),
                         message ? AT_FAILED : AT_OK);
        if (message && strncmp(err.message, message, strlen(message)) != 0)
            fail_msg("%s", err.message);
        if (!message) {
            assert_true(fabs(contestants[0].time_ns - alone.ns) < 1);
            assert_true(contestants[1].time_ns > 0 && contestants[1].time_ns < alone.ns);
        }
        at_shootout_end(contestants, 2);
    }
}

/* An emulated device has no counters of its own. */
static void test_no_counters(void **state)
{
    struct at_config config = config_of("tile");
    struct at_counters counters;
    struct at_config_time time;
    struct at_problem problem = problem_of("64x96:f32");
    struct at_error err = {AT_OK, ""};

    (void)state;
    assert_int_equal(at_time_config(session, &config, &problem, &time, &counters, &err), AT_DEVICE);
    assert_string_equal(err.message, "this device has no counters");
}

static void test_too_large(void **state)
{
    struct at_config config = config_of("tile");
    struct at_config_time time;
    struct at_problem problem = problem_of("32768x32768:b1");
    struct at_error err = {AT_OK, ""};

    (void)state;
    assert_int_equal(at_time_config(session, &config, &problem, &time, NULL, &err), AT_USAGE);
}

/* Device models are identified by name and compute capability. */
static void test_find_description(void **state)
{
    static const struct {
        const char *name;
        int64_t compute_capability, multiprocessors;
        bool found;
    } cases[] = {{"NVIDIA L40S", 89, 142, true},
                 {"by another name", 89, 142, true},
                 {"NVIDIA L40S", 90, 142, false},
                 {"NVIDIA L40S", 89, 141, false}};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_device_info there = {.kind = "cuda",
                                       .compute_capability = cases[i].compute_capability,
                                       .multiprocessors = cases[i].multiprocessors,
                                       .memory_bytes = INT64_C(48305799168)};
        struct at_device_info described = {.multiprocessors = 17};
        struct at_rates rates;
        struct at_error err = {AT_OK, ""};
        bool found;

        snprintf(there.name, sizeof there.name, "%s", cases[i].name);
        assert_int_equal(at_description_find(&described, &rates, &found, &there, &err), AT_OK);
        assert_int_equal(found, cases[i].found);
        assert_int_equal(described.multiprocessors, cases[i].found ? 142 : 17);
    }
}

/* ---- main ---- */

static int set_up(void **state)
{
    char *faults = path_of("tests/gpu/fault.yaml");
    enum at_status status;

    (void)state;
    begin_options();
    AT_PUSH(options.spaces.items, options.spaces.count, options.spaces.capacity, faults);
    status = open_session();
    free(faults);
    return status == AT_OK ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_time),      cmocka_unit_test(test_faults),
        cmocka_unit_test(test_hold),      cmocka_unit_test(test_no_counters),
        cmocka_unit_test(test_too_large), cmocka_unit_test(test_find_description),
    };
    int exit_code;

    if (ends_before_tests(argc, argv, &exit_code))
        return exit_code;
    return cmocka_run_group_tests(tests, set_up, close_session);
}
