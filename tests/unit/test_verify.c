/* SPDX-License-Identifier: Apache-2.0 */
/* src/measure/verify: what is verified, and a kernel that is wrong now and then. No kernel is so on
 * an emulated device; here one launch in fifty of a correct kernel changes a byte of the result. */
#include "base/memory.h"
#include "emulated/device/emulated.h"
#include "kernel/builder.h"
#include "measure/bench.h"
#include "measure/verify.h"
#include "roles.h"
#include "space/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "source_tree.h"
#include "template_header.h"

static struct at_device_ops
    ops; /* the emulated device's, except start; the harness uses the original */
static int launches, wrong_every; /* 0: never */

static enum at_outcome start_and_spoil(struct at_device *device, const struct at_call *call,
                                       struct at_error *err)
{
    enum at_outcome outcome = at_emu_device_ops.start(device, call, err);
    unsigned char byte;

    launches++;
    if (outcome != AT_CORRECT || wrong_every == 0 || launches % wrong_every != 0)
        return outcome;
    outcome = ops.read(device, &byte, call->args[0], 1, err);
    byte ^= 1;
    return outcome == AT_CORRECT ? ops.write(device, call->args[0], &byte, 1, err) : outcome;
}

static struct at_bench bench;
static struct at_kernel kernel;
static struct at_gpu_run run;
static char *header;
static struct at_builder *builder;
static const int64_t long_ns = INT64_C(600000000000); /* enough on a busy machine */
static struct at_family *naive;
static struct at_family harness = {.name = (char[]){"harness"},
                                   .template_path = (char[]){"harness.cu"}};

static struct at_built build(const struct at_config *config)
{
    struct at_built built;
    struct at_error err;

    at_builder_add(builder, config, (struct at_problem_kind){.elem_size = 4, .axes = 1, .rows = 1},
                   NULL);
    if (at_builder_wait(builder, &built, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(built.outcome, AT_CORRECT);
    return built;
}

/* A small problem with its buffers, and the naive kernel for it. */
static int prepare(void **state)
{
    const struct at_builder_options options = {
        .compute_capability = 90, .image = AT_IMAGE_PTX, .workers = 1, .header = template_header()};
    const struct at_config harness_config = {.family = &harness};
    char *path = path_of("tuning/naive.yaml"), *templates = path_of("templates");
    struct at_gpu_case tuned = {.sets = 1};
    struct at_config config;
    struct at_built built;
    struct at_module *module;

    (void)state;
    header = (char *)options.header;
    harness.source = text_of("templates/harness.cu");
    assert_int_equal(at_builder_open(&builder, &options, NULL, 0, NULL), AT_OK);
    assert_int_equal(at_family_read(&naive, path, templates, NULL), AT_OK);
    assert_int_equal(at_problem_parse(&tuned.problem, "5x7:f32", NULL), AT_OK);

    ops = at_emu_device_ops;
    ops.start = start_and_spoil;
    bench.ops = &ops;
    assert_int_equal(at_device_open(&at_emu_device_ops, &bench.device, 0, NULL), AT_OK);
    built = build(&harness_config);
    assert_int_equal(at_bench_harness(&bench, built.program->image, built.program->size, NULL),
                     AT_CORRECT);
    at_program_release(built.program);
    assert_int_equal(at_bench_prepare(&bench, &tuned, 1, NULL), AT_CORRECT);

    assert_int_equal(at_space_default(&config, &naive, 1, &tuned.problem,
                                      &((struct at_device_base *)bench.device)->info, NULL),
                     AT_OK);
    run.problem = tuned.problem;
    assert_int_equal(at_config_launch(&config, &tuned.problem,
                                      &((struct at_device_base *)bench.device)->info, &run.launch,
                                      NULL),
                     AT_OK);
    built = build(&config);
    assert_int_equal(
        ops.load(bench.device, built.program->image, built.program->size, &module, NULL),
        AT_CORRECT);
    assert_int_equal(ops.find(bench.device, module, built.entry, &kernel, NULL), AT_CORRECT);
    at_program_release(built.program);
    free(templates);
    free(path);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    at_builder_close(builder);
    at_family_free(naive);
    free(harness.source);
    free(header);
    return 0;
}

static void test_right(void **state)
{
    struct at_error err;

    (void)state;
    launches = wrong_every = 0;
    if (at_verify_often(&bench, &kernel, &run, 100, long_ns, &err) != AT_CORRECT)
        fail_msg("%s", err.message);
    assert_true(launches > 0 && launches < 100 + 8);
}

/* One verification misses it; many find it. */
static void test_wrong_now_and_then(void **state)
{
    struct at_error err;

    (void)state;
    launches = 0;
    wrong_every = 50;
    assert_int_equal(at_verify_before(&bench, &kernel, &run, NULL, 0, NULL, &err), AT_CORRECT);
    assert_int_equal(at_verify_often(&bench, &kernel, &run, 100, long_ns, &err), AT_WRONG);
    assert_non_null(strstr(err.message, "5x7:f32: 1 wrong elements in the destination"));
}

static int marks;
static double between_ns;

static enum at_outcome count_mark(struct at_device *device, enum at_mark which,
                                  struct at_error *err)
{
    (void)device;
    (void)err;
    assert_int_equal(which, marks % 2 == 0 ? AT_BEFORE : AT_AFTER);
    assert_int_equal(launches, (marks + 1) / 2);
    marks++;
    return AT_CORRECT;
}

static enum at_outcome tell_time(struct at_device *device, double *ns, struct at_error *err)
{
    (void)device;
    (void)err;
    *ns = between_ns;
    return AT_CORRECT;
}

/* Of a large problem the verified launches are timed, unless the device cannot; the second pair of
 * buffers is left out for a kernel that is too slow. */
static void test_timed(void **state)
{
    static const struct {
        const char *what;
        bool marks, large;
        double takes_ns, give_up_ns;
        int launches;
        double ns;
    } cases[] = {
        {"no limit", true, true, 70000, 0, 2, 70000},
        {"within the limit", true, true, 70000, 70000, 2, 70000},
        {"over the limit", true, true, 70000, 69999, 1, 70000},
        {"too short", true, true, 40000, 0, 2, 0},
        {"small", true, false, 70000, 69999, 2, 0},
        {"a device without marks", false, true, 70000, 69999, 2, 0},
    };
    struct at_device_info *info = &((struct at_device_base *)bench.device)->info;
    const int64_t l2_bytes = info->l2_bytes;
    const struct at_gpu_case tuned = {.problem = run.problem, .sets = 2};

    (void)state;
    wrong_every = 0;
    assert_int_equal(at_bench_prepare(&bench, &tuned, 1, NULL), AT_CORRECT);
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_verified_launch launch = {.give_up_ns = cases[i].give_up_ns};

        ops.mark = cases[i].marks ? count_mark : NULL;
        ops.between = tell_time;
        info->l2_bytes = cases[i].large ? at_problem_bytes(&run.problem) / 2 : l2_bytes;
        between_ns = cases[i].takes_ns;
        launches = marks = 0;
        assert_int_equal(at_verify_before(&bench, &kernel, &run, NULL, 0, &launch, NULL),
                         AT_CORRECT);
        if (launches != cases[i].launches || launch.ns != cases[i].ns ||
            marks != (cases[i].marks && cases[i].large ? 2 * launches : 0))
            fail_msg("%s: %d launches, %d marks, %g ns", cases[i].what, launches, marks, launch.ns);
    }
    info->l2_bytes = l2_bytes;
    ops.mark = NULL;
}

/* What a kernel has written into a source is found without a timed launch, too. */
static void test_sources(void **state)
{
    unsigned char byte;
    at_address src = at_buffer_of(&bench.cases[0].src, bench.cases[0].sets - 1);
    struct at_error err;

    (void)state;
    assert_int_equal(at_verify_left(&bench, &kernel, &run, false, &err), AT_CORRECT);
    assert_int_equal(ops.read(bench.device, &byte, src, 1, NULL), AT_CORRECT);
    byte ^= 1;
    assert_int_equal(ops.write(bench.device, src, &byte, 1, NULL), AT_CORRECT);
    assert_int_equal(at_verify_left(&bench, &kernel, &run, false, &err), AT_WRONG);
    assert_non_null(strstr(err.message, "1 wrong elements in the source"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_right),
        cmocka_unit_test(test_wrong_now_and_then),
        cmocka_unit_test(test_timed),
        cmocka_unit_test(test_sources),
    };
    int exit_code;

    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    return cmocka_run_group_tests(tests, prepare, clean_up);
}
