/* SPDX-License-Identifier: Apache-2.0 */
/* A search on the emulated device, the pipeline's watch over it: what a canary that has changed
 * touched is measured again, and what is too good to be true is measured twice. Nothing changes on
 * an emulated device, so the tests tell the search that the copy took another time before. */
#include "base/memory.h"
#include "measure/gpu_handle.h"
#include "measure/select.h"
#include "options/run_options.h"
#include "pipeline/pipeline.h"
#include "roles.h"
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

#include "needs_nvrtc.h"
#include "source_tree.h"

enum { EVALUATIONS = 3 };

static struct at_run_options options;
static struct at_device_info *device;
static struct at_session *session;
static struct at_family **naive;
static struct at_config copy;

static struct at_family **find_family(const char *name)
{
    for (size_t i = 0; i < options.session.family_count; i++)
        if (strcmp(options.families[i]->name, name) == 0)
            return &options.families[i];
    fail_msg("there is no family %s", name);
    return NULL;
}

/* Searches some configs with a canary, if there is to be one, that took copy_ns before. */
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

/* What the canary's kernel takes: where nothing is known of it, nothing has changed. */
static void test_no_drift(void **state)
{
    struct at_search search;

    (void)state;
    search_some(&search, true, 0);
    assert_int_equal(session->drifts, 0);
    assert_int_equal(session->remeasured, 0);
    assert_int_equal(search.doubted, 0);
    at_search_clear(&search);
}

static void test_drift(void **state)
{
    struct at_search plain, search;

    (void)state;
    search_some(&plain, false, 0);
    assert_int_equal(session->drifts, 0);
    /* It was a nanosecond: found at the first look, when some have been measured. */
    search_some(&search, true, 1);
    assert_int_equal(session->drifts, 1);
    assert_in_range(session->remeasured, 1, EVALUATIONS);
    for (size_t i = 0; i < search.space.count; i++) {
        assert_int_equal(search.candidates[i].done, plain.candidates[i].done);
        assert_true(search.candidates[i].time_ns == plain.candidates[i].time_ns);
    }
    assert_int_equal(search.best, plain.best);
    at_search_clear(&plain);
    at_search_clear(&search);
}

/* A transpose in a hundredth of the time of a copy: only those that would lead are doubted. */
static void test_doubt(void **state)
{
    struct at_search plain, search;
    size_t leaders = 0;
    double best_ns = 0;

    (void)state;
    search_some(&plain, false, 0);
    for (size_t i = 0; i < plain.space.count; i++)
        if (plain.candidates[i].done && (leaders == 0 || plain.candidates[i].time_ns < best_ns)) {
            best_ns = plain.candidates[i].time_ns;
            leaders++;
        }
    search_some(&search, false, 100 * best_ns);
    assert_in_range(leaders, 1, EVALUATIONS);
    assert_int_equal(search.doubted, leaders);
    assert_true(search.candidates[search.best].time_ns == best_ns);
    at_search_clear(&plain);
    at_search_clear(&search);
}

/* What at_session_warn writes to stderr; the caller frees it. */
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

/* Each is worth one warning, and stays in the profile. */
static void test_warnings(void **state)
{
    static const struct {
        struct at_gpu_conditions seen;
        const char *words; /* NULL: there is no warning */
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
    at_tune_describe(session, &record);
    assert_int_equal(record.conditions.other_processes, 2);
    assert_int_equal(record.conditions.capped_ms, 5);
    assert_int_equal(record.conditions.slowed_ms, 7);
    assert_int_equal(record.conditions.drifts, 4);
    assert_int_equal(record.conditions.remeasured, 9);
}

static int set_up(void **state)
{
    struct at_error err = {AT_OK, ""};
    enum at_status status;
    size_t count;

    (void)state;
    at_run_options_init(&options);
    options.quiet = true;
    at_run_options_finish(&options);
    options.session.jobs = 1; /* so that the results come in the order of the space */
    status = at_run_families(&options, &err);
    if (status == AT_OK)
        status = at_select_devices("emu", &device, &count, &err);
    if (status == AT_OK)
        status = at_session_open(&session, device, &options.session, &err);
    if (status != AT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return -1;
    }
    naive = find_family("naive");
    copy = at_family_default(*find_family("copy"));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    at_session_close(session);
    free(device);
    at_run_options_clear(&options);
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

    /* The session starts its workers from this program. */
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    if (lacks_nvrtc())
        return SKIPPED;
    use_source_tree();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
