/* SPDX-License-Identifier: Apache-2.0 */
/* The drift check of a search on the emulated device: after a drift the touched configs are
 * measured again, and suspiciously fast ones twice. An emulated device never changes, so the tests
 * claim another earlier time of the copy. */
#include "base/memory.h"
#include "measure/gpu.h"
#include "pipeline/pipeline.h"
#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "session.h"

enum { EVALUATIONS = 3 };

static struct at_family **naive;
static struct at_config copy;

/* Search some configs with a canary, if wanted, that took copy_ns before. */
static void search_some(struct at_search *search, bool canary, double copy_ns)
{
    struct at_error err = {AT_OK, ""};

    *search = (struct at_search){.session = session,
                                 .strategy = &at_strategy_exhaustive,
                                 .budget = {.evaluations = EVALUATIONS},
                                 .copy_ns = copy_ns,
                                 .progress = {.what = "a test"}};
    session->drifts = session->remeasured = 0;
    assert_int_equal(at_problem_parse(&search->problem, "8x8:f32", &err), AT_OK);
    search->canary = canary ? &copy : NULL;
    search->canary_problem = at_problem_copy_of(&search->problem);
    if (at_space_build(&search->space, naive, 1, &search->problem, device, 1000, &err) != AT_OK ||
        at_pipeline_run(search, SIZE_MAX, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(search->counts[AT_CORRECT], EVALUATIONS);
}

/* Without an earlier time of the canary there is no drift. */
static void test_no_drift(void **state)
{
    struct at_search search;

    (void)state;
    search_some(&search, true, 0);
    assert_int_equal(session->drifts, 0);
    assert_int_equal(session->remeasured, 0);
    assert_int_equal(search.measured_twice, 0);
    at_search_clear(&search);
}

static void test_drift(void **state)
{
    struct at_search plain, search;

    (void)state;
    search_some(&plain, false, 0);
    assert_int_equal(session->drifts, 0);
    /* Its time was a nanosecond: the first check finds that, when some configs are measured. */
    search_some(&search, true, 1);
    assert_int_equal(session->drifts, 1);
    assert_in_range(session->remeasured, 1, EVALUATIONS);
    for (size_t i = 0; i < search.space.count; i++) {
        assert_int_equal(search.results[i].done, plain.results[i].done);
        assert_true(search.results[i].time_ns == plain.results[i].time_ns);
    }
    assert_int_equal(search.best, plain.best);
    at_search_clear(&plain);
    at_search_clear(&search);
}

/* A transpose in a hundredth of the copy's time: only a config that would be the best is measured
 * twice. */
static void test_doubt(void **state)
{
    struct at_search plain, search;
    size_t leaders = 0;
    double best_ns = 0;

    (void)state;
    search_some(&plain, false, 0);
    for (size_t i = 0; i < plain.space.count; i++)
        if (plain.results[i].done && (leaders == 0 || plain.results[i].time_ns < best_ns)) {
            best_ns = plain.results[i].time_ns;
            leaders++;
        }
    search_some(&search, false, 100 * best_ns);
    assert_in_range(leaders, 1, EVALUATIONS);
    assert_int_equal(search.measured_twice, leaders);
    assert_true(search.results[search.best].time_ns == best_ns);
    at_search_clear(&plain);
    at_search_clear(&search);
}

/* The text that at_session_warn writes to stderr; the caller frees it. */
static char *warnings(void)
{
    FILE *file = tmpfile();
    int kept = dup(STDERR_FILENO);
    char text[1024];
    size_t size;

    assert_non_null(file);
    fflush(stderr);
    assert_true(kept >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    at_session_warn(session);
    fflush(stderr);
    assert_true(dup2(kept, STDERR_FILENO) >= 0);
    close(kept);
    rewind(file);
    size = fread(text, 1, sizeof text - 1, file);
    text[size] = '\0';
    fclose(file);
    return at_strdup(text);
}

/* Each condition causes one warning, and is in the profile. */
static void test_warnings(void **state)
{
    static const struct {
        struct at_gpu_conditions seen;
        const char *words; /* NULL: no warning */
    } steps[] = {
        {{.other_processes = -1}, NULL},
        {{.other_processes = 0}, NULL},
        {{.other_processes = 1}, "1 other process is on the NVIDIA H200: "},
        {{.other_processes = 2}, NULL},
        {{.capped_ns = 5000000}, NULL},
        {{.slowed_ns = 3000000}, "heat or the power supply slows the NVIDIA H200 down: "},
        {{.slowed_ns = 4000000}, NULL},
    };
    struct at_device_record record = {0};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(steps); i++) {
        char *text;

        at_gpu_conditions_widen(&session->gpu->conditions, &steps[i].seen);
        text = warnings();
        if (steps[i].words)
            assert_non_null(strstr(text, steps[i].words));
        else
            assert_string_equal(text, "");
        free(text);
    }
    session->drifts = 4;
    session->remeasured = 9;
    at_tune_record_device(&record, session);
    assert_int_equal(record.conditions.other_processes, 2);
    assert_int_equal(record.conditions.capped_ms, 5);
    assert_int_equal(record.conditions.slowed_ms, 7);
    assert_int_equal(record.conditions.drifts, 4);
    assert_int_equal(record.conditions.remeasured, 9);
}

static int set_up(void **state)
{
    (void)state;
    begin_options();
    options.session.jobs = 1; /* results come in the order of the space */
    if (open_session() != AT_OK)
        return -1;
    naive = find_family("naive");
    copy = at_family_default(*find_family("copy"));
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_drift),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_doubt),
        cmocka_unit_test(test_warnings),
    };
    int exit_code;

    if (ends_before_tests(argc, argv, &exit_code))
        return exit_code;
    return cmocka_run_group_tests(tests, set_up, close_session);
}
