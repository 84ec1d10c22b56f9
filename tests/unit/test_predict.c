/* SPDX-License-Identifier: Apache-2.0 */
/* The time model: facts that hold for any prediction, whatever its rates. tests/bench/rank measures
 * how well it orders configs. */
#include "base/memory.h"
#include "emulated/ptx/ptx.h"
#include "emulated/time/description.h"
#include "emulated/time/occupancy.h"
#include "emulated/time/predict.h"
#include "emulated/time/traffic.h"
#include "kernel/builder.h"
#include "space/space.h"
#include "system/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "roles.h"
#include "shipped_families.h"
#include "skipped.h"
#include "template_header.h"

static char *header;
static struct at_builder *builder;
static struct at_device_info device;
static struct at_rates rates;

/* ---- a kernel on a problem ---- */

struct fixture {
    struct at_problem problem;
    struct at_built built;
    struct at_ptx_module *module;
    struct at_emu_memory *memory;
    struct at_emu_launch emu;
    uint64_t args[9];
};

static struct at_config config_of(const char *family, const char *param, int32_t value)
{
    struct at_config config = {0};

    for (size_t i = 0; i < family_count; i++)
        if (strcmp(families[i]->name, family) == 0)
            config = at_family_default(families[i]);
    assert_non_null(config.family);
    for (size_t i = 0; i < config.family->param_count; i++)
        if (strcmp(config.family->params[i].name, param) == 0)
            config.values[i] = value;
    return config;
}

static void open_fixture(struct fixture *f, const struct at_config *config, const char *spec)
{
    struct at_error err = {AT_OK, ""};
    struct at_launch launch;

    *f = (struct fixture){0};
    assert_int_equal(at_problem_parse(&f->problem, spec, &err), AT_OK);
    assert_int_equal(at_config_launch(config, &f->problem, &device, &launch, &err), AT_OK);
    at_builder_add(builder, config, at_problem_kind(&f->problem), NULL);
    assert_int_equal(at_builder_wait(builder, &f->built, &err), AT_OK);
    assert_int_equal(f->built.outcome, AT_CORRECT);
    assert_int_equal(
        at_ptx_read(&f->module, f->built.program->image, f->built.program->size - 1, &err), AT_OK);
    assert_int_equal(at_ptx_find(f->module, f->built.entry, &f->emu.kernel, &err), AT_OK);
    f->memory = at_emu_memory_new();
    f->args[1] = at_emu_memory_allocate(f->memory,
                                        at_problem_src_extent(&f->problem) * f->problem.elem_size);
    f->args[0] = at_emu_memory_allocate(f->memory,
                                        at_problem_dst_extent(&f->problem) * f->problem.elem_size);
    f->args[2] = (uint64_t)f->problem.rows;
    f->args[3] = (uint64_t)f->problem.cols;
    f->args[4] = (uint64_t)f->problem.ld_src;
    f->args[5] = (uint64_t)f->problem.ld_dst;
    f->args[6] = (uint64_t)f->problem.batch;
    f->args[7] = (uint64_t)f->problem.stride_src;
    f->args[8] = (uint64_t)f->problem.stride_dst;
    f->emu.args = f->args;
    f->emu.arg_count = AT_COUNT(f->args);
    f->emu.threads = 1;
    at_emu_launch_take(&f->emu, &launch);
}

static void close_fixture(struct fixture *f)
{
    at_emu_memory_free(f->memory);
    at_ptx_free(f->module);
    at_program_release(f->built.program);
}

static enum at_status predict_with(const struct fixture *f, const struct at_rates *with, bool cold,
                                   struct at_prediction *prediction, struct at_error *err)
{
    const struct at_grid_parts whole = at_grid_whole(&f->emu);

    return at_predict_launch(&device, with, f->memory, &f->emu, &whole,
                             f->built.resources.registers, f->built.resources.shared_bytes, cold,
                             prediction, err);
}

static struct at_prediction predict(const char *family, const char *param, int32_t value,
                                    const char *spec)
{
    struct at_config config = config_of(family, param, value);
    struct at_error err = {AT_OK, ""};
    struct at_prediction prediction = {0};
    struct fixture f;

    open_fixture(&f, &config, spec);
    assert_int_equal(predict_with(&f, &rates, true, &prediction, &err), AT_OK);
    close_fixture(&f);
    return prediction;
}

/* ---- the tests ---- */

static void test_order(void **state)
{
    static const struct {
        struct {
            const char *family, *param;
            int32_t value;
            const char *problem;
        } fast, slow;
    } cases[] = {
        /* bank conflicts */
        {{"tile", "PAD", 1, "4096x4096:f32"}, {"tile", "PAD", 0, "4096x4096:f32"}},
        /* more sectors, on either side */
        {{"tile", "PAD", 1, "4096x4096:f32"}, {"naive", "DIRECTION", 0, "4096x4096:f32"}},
        {{"tile", "PAD", 1, "4096x4096:f32"}, {"naive", "DIRECTION", 1, "4096x4096:f32"}},
        /* scattered stores are worse than scattered loads, which L1 gathers */
        {{"naive", "DIRECTION", 1, "4096x4096:f32"}, {"naive", "DIRECTION", 0, "4096x4096:f32"}},
        /* an edge that is handled element by element delays a small problem */
        {{"tile", "PAD", 1, "1024x1024:f32"}, {"odd", "UNROLL", 1, "1024x1024:f32"}},
        /* along the rows of the destination */
        {{"tile", "ORDER", 1, "8192x8192:f32"}, {"tile", "ORDER", 0, "8192x8192:f32"}},
        /* short runs of stores, in many pages */
        {{"tile", "TILE_ROWS", 64, "8192x8192:f32"}, {"tile", "TILE_ROWS", 32, "8192x8192:f32"}},
        {{"tile", "TILE_ROWS", 64, "8192x8192:f16"}, {"tile", "TILE_ROWS", 32, "8192x8192:f16"}},
        /* loads in flight with little room in L1 */
        {{"tile", "CARVEOUT", -1, "4096x4096:f64"}, {"tile", "CARVEOUT", 100, "4096x4096:f64"}},
        /* partly written sectors */
        {{"tile", "PAD", 1, "4096x4096:f32"}, {"tile", "PAD", 1, "4095x4095:f32"}},
        /* more bytes */
        {{"tile", "PAD", 1, "2048x2048:f32"}, {"tile", "PAD", 1, "4096x4096:f32"}},
        {{"tile", "PAD", 1, "4096x4096:f32"}, {"tile", "PAD", 1, "4096x4096:f64"}},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_prediction fast = predict(cases[i].fast.family, cases[i].fast.param,
                                            cases[i].fast.value, cases[i].fast.problem);
        struct at_prediction slow = predict(cases[i].slow.family, cases[i].slow.param,
                                            cases[i].slow.value, cases[i].slow.problem);

        assert_true(fast.ns > 0);
        assert_true(fast.ns < slow.ns);
    }
}

static void test_bounds(void **state)
{
    (void)state;
    assert_int_equal(predict("tile", "ORDER", 1, "8192x8192:f32").bound, AT_BOUND_DRAM);
    assert_int_equal(predict("tile", "PAD", 0, "8192x8192:f32").bound, AT_BOUND_SHARED);
    assert_int_equal(predict("naive", "DIRECTION", 0, "1x1:f32").bound, AT_BOUND_LAUNCH);
    assert_int_equal(predict("tile", "UNROLL", 1, "8192x8192:f32").bound, AT_BOUND_LATENCY);
    for (int i = 0; i < AT_BOUNDS; i++) {
        assert_non_null(at_bound_names[i]);
        for (int j = 0; j < i; j++)
            assert_string_not_equal(at_bound_names[i], at_bound_names[j]);
    }
}

/* A device with half of one rate is not faster. Other data in memory does not slow it. */
static void test_rates(void **state)
{
    static const size_t speeds[] = {
        offsetof(struct at_rates, clock_khz),
        offsetof(struct at_rates, dram_MB_per_s),
        offsetof(struct at_rates, l2_load_MB_per_s),
        offsetof(struct at_rates, l2_store_MB_per_s),
        offsetof(struct at_rates, load_lines_per_clock),
        offsetof(struct at_rates, slots_per_clock),
        offsetof(struct at_rates, store_lines_per_clock),
        offsetof(struct at_rates, wavefronts_per_clock),
    };
    struct at_config config = config_of("tile", "PAD", 1);
    struct at_error err = {AT_OK, ""};
    struct at_prediction before, after;
    struct fixture f;

    (void)state;
    open_fixture(&f, &config, "4096x4096:f32");
    assert_int_equal(predict_with(&f, &rates, true, &before, &err), AT_OK);
    for (size_t i = 0; i < AT_COUNT(speeds); i++) {
        struct at_rates slower = rates;

        *(int64_t *)((char *)&slower + speeds[i]) /= 2;
        assert_int_equal(predict_with(&f, &slower, true, &after, &err), AT_OK);
        assert_true(after.ns > before.ns);
    }
    assert_int_equal(predict_with(&f, &rates, false, &after, &err), AT_OK);
    assert_true(after.ns < before.ns);
    close_fixture(&f);
}

/* A kernel on a problem. */
struct kernel {
    const char *family, *param;
    int32_t value;
    const char *problem;
};

static double time_of(const struct kernel *kernel)
{
    return predict(kernel->family, kernel->param, kernel->value, kernel->problem).ns;
}

/* A rate slows the kernels that do what it stands for, and no others. */
static void test_terms(void **state)
{
    static const struct {
        size_t rate;
        struct kernel slowed, same;
    } cases[] = {
        /* requests that ask for little of each line */
        {offsetof(struct at_rates, load_piece_percent),
         {"naive", "DIRECTION", 1, "4096x4096:f32"},
         {"tile", "PAD", 1, "4096x4096:f32"}},
        {offsetof(struct at_rates, store_scatter_piece_percent),
         {"naive", "DIRECTION", 0, "4096x4096:f32"},
         {"tile", "PAD", 1, "4096x4096:f32"}},
        /* streaming loads and plain stores */
        {offsetof(struct at_rates, filling_percent),
         {"micro", "LOAD", 1, "4096x4096:f32"},
         {"micro", "LOAD", 0, "4096x4096:f32"}},
        /* loads in flight with little room in L1 */
        {offsetof(struct at_rates, crowded_percent),
         {"tile", "CARVEOUT", 100, "4096x4096:f64"},
         {"tile", "CARVEOUT", -1, "4096x4096:f64"}},
        /* more than one wave, the last of which leaves places empty */
        {offsetof(struct at_rates, later_warp_ns),
         {"tile", "PAD", 1, "4096x4096:f32"},
         {"tile", "PAD", 1, "256x256:f32"}},
        {offsetof(struct at_rates, tail_percent),
         {"tile", "PAD", 1, "4096x4096:f32"},
         {"tile", "PAD", 1, "256x256:f32"}},
        /* no barrier between loads and stores */
        {offsetof(struct at_rates, direct_drain_percent),
         {"warp", "LOAD", 0, "4096x4096:f32"},
         {"tile", "PAD", 1, "4096x4096:f32"}},
        {offsetof(struct at_rates, mixed_scatter_percent),
         {"warp", "LOAD", 0, "4096x4096:f32"},
         {"tile", "PAD", 1, "4096x4096:f32"}},
    };
    const struct at_rates usual = rates;
    const struct kernel scattered = {"tile", "ORDER", 2, "8192x8192:f32"};
    double before;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        double same = time_of(&cases[i].same);

        before = time_of(&cases[i].slowed);
        *(int64_t *)((char *)&rates + cases[i].rate) *= 4;
        assert_true(time_of(&cases[i].slowed) > before);
        assert_true(time_of(&cases[i].same) == same);
        rates = usual;
    }
    /* Many pages on both sides cost less than on each. */
    before = time_of(&scattered);
    rates.both_scatter_percent *= 4;
    assert_true(time_of(&scattered) < before);
    rates = usual;
}

static void near(double value, double expected)
{
    assert_true(value > 0.999 * expected - 1e-9 && value < 1.001 * expected + 1e-9);
}

static struct at_traffic traffic_of(const char *family, const char *param, int32_t value,
                                    const char *spec)
{
    struct at_config config = config_of(family, param, value);
    struct at_error err = {AT_OK, ""};
    struct at_grid_parts whole;
    struct at_traffic traffic;
    struct fixture f;

    open_fixture(&f, &config, spec);
    whole = at_grid_whole(&f.emu);
    assert_int_equal(at_traffic_sample(&traffic, f.memory, &f.emu, &whole, 1056, &err), AT_OK);
    close_fixture(&f);
    return traffic;
}

/* The default tile: 32x32, 256 threads, four loads per thread. */
static void test_traffic(void **state)
{
    struct at_traffic t = traffic_of("tile", "ORDER", 0, "8192x8192:f32");

    (void)state;
    assert_int_equal(t.blocks, 65536);
    near(t.load.requests, 32);
    near(t.store.requests, 32);
    near(t.load.sectors, 128);
    near(t.load.lines, 32);
    near(t.store.bytes, 4096);
    near(t.store.run_bytes, 128);
    near(t.work.wavefronts, 64);
    near(t.work.load_rounds, 1);
    near(t.work.load_requests, 4);
    near(t.work.barriers, 1);
    near(t.edge.load_rounds, 1); /* the edges are whole tiles too */
    near(t.load.streamed, 0);
    near(t.overlap, 0);
    near(t.partial_sectors, 0);
    /* 1056 blocks are four rows of tiles and a bit more: 512 bytes of each row of the destination,
     * of which a page holds 64. The range allows for the sample. */
    assert_true(t.store.page_bytes > 24e3 && t.store.page_bytes < 48e3);

    /* In column order they are four columns of tiles: whole rows of the destination. */
    t = traffic_of("tile", "ORDER", 1, "8192x8192:f32");
    assert_true(t.store.page_bytes > 700e3);

    /* Seven of eight rows of the destination begin within a sector. In column order the following
     * block fills it, except at the ends of the sample. */
    t = traffic_of("tile", "ORDER", 1, "8191x8191:f32");
    assert_true(t.partial_sectors > 50 && t.partial_sectors < 64);
    assert_true(t.far_partial_sectors < 0.2 * t.partial_sectors);
    t = traffic_of("tile", "ORDER", 0, "8191x8191:f32");
    assert_true(t.far_partial_sectors > 0.9 * t.partial_sectors);
}

/* Traffic of other families: a halo that two blocks load, single rows and columns at the edge,
 * streaming accesses, exchanges without shared memory, and copies that do not wait for each
 * other. */
static void test_traffic_of_families(void **state)
{
    struct at_traffic t = traffic_of("odd", "ALIGN", 32, "1024x1024:f32");

    (void)state;
    assert_true(t.overlap > 0.02 && t.overlap < 0.3);
    assert_true(t.edge.load_rounds > 2 * t.work.load_rounds);
    t = traffic_of("warp", "LOAD", 1, "1024x1024:f32");
    near(t.load.streamed, t.load.sectors);
    near(t.store.streamed, 0);
    near(t.work.barriers, 0);
    assert_true(t.work.shuffles > 0);
    t = traffic_of("narrow", "ASYNC", 1, "300000x3:f32");
    near(t.work.load_rounds, 1);
    assert_true(t.load.requests > 0);
}

static void test_fault(void **state)
{
    struct at_config config = config_of("tile", "PAD", 1);
    struct at_error err = {AT_OK, ""};
    struct at_prediction prediction = {.ns = 17};
    struct fixture f;

    (void)state;
    open_fixture(&f, &config, "1024x1024:f32");
    f.args[5] *= 2; /* rows of the destination farther apart than its buffer allows */
    assert_int_equal(predict_with(&f, &rates, true, &prediction, &err), AT_FAILED);
    assert_non_null(strstr(err.message, "block"));
    assert_true(prediction.ns == 17);
    close_fixture(&f);
}

/* ---- main ---- */

static int set_up(void **state)
{
    struct at_builder_options options = {
        .compute_capability = 90, .image = AT_IMAGE_PTX, .workers = 1, .use_cache = true};
    struct at_error err;

    read_shipped_families(state);
    options.header = header = template_header();
    if (at_description_read(&device, &rates, "h200", &err) != AT_OK ||
        at_builder_open(&builder, &options, NULL, 0, &err) != AT_OK)
        fail_msg("%s", err.message);
    return 0;
}

static int tear_down(void **state)
{
    at_builder_close(builder);
    free(header);
    return free_shipped_families(state);
}

/* What a driver refuses. Registers are of whole warps, and of quarters of a multiprocessor. */
static void test_launch_limits(void **state)
{
    static const struct {
        int64_t threads, registers, static_bytes, dynamic_bytes;
        const char *message; /* NULL: launched */
    } cases[] = {
        {1024, 64, 0, 0, NULL},
        {1024, 65, 0, 0, "73728 registers per block; the limit is 65536"},
        {993, 65, 0, 0, "73728 registers per block; the limit is 65536"},
        {1025, 1, 0, 0, "1025 threads per block; the limit is 1024"},
        {32, 1, 49152, 183296, NULL},
        {32, 1, 49152, 183297, "232449 bytes of shared memory per block; the limit is 232448"},
        {256, 208, 0, 0, NULL},
        {288, 208, 0, 0, "288 threads of 208 registers; a multiprocessor cannot hold such a block"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_error err = {AT_OK, ""};
        enum at_status status =
            at_occupancy_check(&device, cases[i].threads, cases[i].registers, cases[i].static_bytes,
                               cases[i].dynamic_bytes, &err);

        assert_int_equal(status, cases[i].message ? AT_FAILED : AT_OK);
        assert_string_equal(err.message, cases[i].message ? cases[i].message : "");
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_rates),
        cmocka_unit_test(test_terms),
        cmocka_unit_test(test_fault),
        cmocka_unit_test(test_traffic),
        cmocka_unit_test(test_traffic_of_families),
        cmocka_unit_test(test_launch_limits),
    };
    int exit_code;

    /* The builder starts its workers from this program. */
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    if (lacks_nvrtc())
        return SKIPPED;
    use_source_tree();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
