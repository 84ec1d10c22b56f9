/* SPDX-License-Identifier: Apache-2.0 */
/* A GPU's own counters, with a driver and a CUPTI that count nothing. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "fake_cuda.h"
#include "fake_cupti.h"

static struct at_cuda_device device = {
    .base.info = {.ordinal = 0, .multiprocessors = 132, .l2_bytes = 60 << 20}};
static struct at_kernel kernel;
static struct at_module *module;

static int open_device(void **state)
{
    struct at_error err;

    (void)state;
    fake_cuda_is_there = true;
    assert_int_equal(at_cuda_load(&err), AT_OK);
    assert_int_equal(at_cuda_enter(&device, &err), AT_CORRECT);
    assert_int_equal(
        at_cuda_device_ops.load((struct at_device *)&device, "image", 5, &module, &err),
        AT_CORRECT);
    assert_int_equal(
        at_cuda_device_ops.find((struct at_device *)&device, module, "k_tile", &kernel, &err),
        AT_CORRECT);
    return 0;
}

static enum at_outcome count(struct at_counters *counters, struct at_error *err)
{
    struct at_call call = {.kernel = &kernel};

    for (int i = 0; i <= AT_BLOCK_Z; i++)
        call.launch.field[i] = 1;
    call.launch.field[AT_CARVEOUT_PERCENT] = -1;
    memset(err, 0, sizeof *err);
    return at_cuda_device_ops.count((struct at_device *)&device, &call, counters, err);
}

/* Nothing is left: neither CUPTI's objects nor modules, and the buffer serves the next count. */
static void check_left(int modules, int held)
{
    assert_int_equal(fake_cupti_held, 0);
    assert_int_equal(fake_cuda_modules, modules);
    assert_true(fake_cuda_held <= held + 1);
}

static void expect_text(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" lacks \"%s\"", text, part);
}

static void test_no_library(void **state)
{
    struct at_counters counters = {.launches = 17};
    struct at_error err;

    (void)state;
    fake_cupti_is_there = false;
    assert_int_equal(count(&counters, &err), AT_LAUNCH);
    assert_int_equal(err.status, AT_DEVICE);
    expect_text(err.message, "no CUPTI, which reads a GPU's counters: cannot open");
    expect_text(err.message, "libcupti.so.13 or libcupti.so.12");
    assert_int_equal(counters.launches, 17);
    fake_cupti_is_there = true;
}

static void test_counts(void **state)
{
    struct at_counters counters;
    struct at_error err;
    int modules = fake_cuda_modules, held = fake_cuda_held, launches = fake_cuda_launches;

    (void)state;
    fake_cupti_passes = 5;
    assert_int_equal(count(&counters, &err), AT_CORRECT);
    assert_int_equal(counters.launches, 5);
    assert_int_equal(counters.load_requests, 100);
    assert_int_equal(counters.l1_hits, 106);
    assert_int_equal(counters.dram_to_l2_bytes, 111);
    assert_int_equal(counters.duration_ns, 113);
    /* Before each counted launch, outside of its range, the caches are emptied. */
    assert_int_equal(fake_cuda_kernels[0].launches, 5);
    assert_int_equal(fake_cuda_launches - launches, 10);
    assert_int_equal(fake_cupti_launches_inside, 1);
    expect_text(fake_cupti_names, "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum "
                                  "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum ");
    expect_text(fake_cupti_names, "dram__bytes_write.sum gpu__time_duration.sum ");
    check_left(modules, held);
}

/* Whatever fails, the message names it, nothing is left, and the next count succeeds. */
static void test_failures(void **state)
{
    static const char *const functions[] = {
        "cuptiProfilerInitialize",
        "cuptiDeviceGetChipName",
        "cuptiProfilerGetCounterAvailability",
        "cuptiProfilerHostInitialize",
        "cuptiProfilerHostConfigAddMetrics",
        "cuptiProfilerHostGetConfigImageSize",
        "cuptiProfilerHostGetConfigImage",
        "cuptiProfilerHostEvaluateToGpuValues",
        "cuptiRangeProfilerEnable",
        "cuptiRangeProfilerGetCounterDataSize",
        "cuptiRangeProfilerCounterDataImageInitialize",
        "cuptiRangeProfilerSetConfig",
        "cuptiRangeProfilerStart",
        "cuptiRangeProfilerStop",
        "cuptiRangeProfilerDecodeData",
    };
    int modules = fake_cuda_modules, held = fake_cuda_held;
    struct at_error err;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(functions); i++) {
        struct at_counters counters = {.launches = 17};

        fake_cupti_fails = functions[i];
        fake_cupti_result = 9;
        assert_int_equal(count(&counters, &err), AT_LAUNCH);
        assert_int_equal(err.status, AT_DEVICE);
        expect_text(err.message, "cannot read this GPU's counters: ");
        expect_text(err.message, functions[i]);
        expect_text(err.message, ": FAKE_RESULT (9)");
        assert_int_equal(counters.launches, 17);
        check_left(modules, held);
        fake_cupti_fails = NULL;
        assert_int_equal(count(&counters, &err), AT_CORRECT);
    }
}

static void test_refusals(void **state)
{
    static const struct {
        int result;
        const char *message;
    } refusals[] = {
        {26, "another profiler is using this GPU's counters: end it first ("},
        {35, "NVreg_RestrictProfilingToAdminUsers=0 (cuptiRangeProfilerEnable: FAKE_RESULT)"},
        {39, "run without it"},
        {40, "its administrator can allow it"},
        {41, "confidential computing"},
        {43, "use a whole GPU"},
    };
    struct at_counters counters;
    struct at_error err;

    (void)state;
    fake_cupti_fails = "cuptiRangeProfilerEnable";
    for (size_t i = 0; i < AT_COUNT(refusals); i++) {
        fake_cupti_result = refusals[i].result;
        assert_int_equal(count(&counters, &err), AT_LAUNCH);
        assert_int_equal(err.status, AT_DEVICE);
        expect_text(err.message, refusals[i].message);
    }
    fake_cupti_fails = NULL;
}

static void test_bad_answers(void **state)
{
    int modules = fake_cuda_modules, held = fake_cuda_held;
    struct at_counters counters;
    struct at_error err;

    (void)state;
    fake_cupti_passes = -1;
    assert_int_equal(count(&counters, &err), AT_LAUNCH);
    expect_text(err.message, "more than 256 launches");
    fake_cupti_passes = 1;
    fake_cupti_dropped = 1;
    assert_int_equal(count(&counters, &err), AT_LAUNCH);
    expect_text(err.message, "dropped");
    fake_cupti_dropped = 0;
    fake_cupti_first = NAN;
    assert_int_equal(count(&counters, &err), AT_LAUNCH);
    expect_text(err.message,
                "counter l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum has no value");
    fake_cupti_first = -5;
    assert_int_equal(count(&counters, &err), AT_LAUNCH);
    fake_cupti_first = 100;
    check_left(modules, held);
}

/* A kernel that crashes loses the device: the message is the driver's, and CUPTI is left alone. */
static void test_crash(void **state)
{
    struct at_counters counters;
    struct at_error err;

    (void)state;
    fake_cuda_kernels[0].crashes = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(count(&counters, &err), AT_CRASH);
    expect_text(err.message, "launching: ");
    assert_int_equal(fake_cupti_held, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_library),  cmocka_unit_test(test_counts),
        cmocka_unit_test(test_failures),    cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_bad_answers), cmocka_unit_test(test_crash), /* the last: it leaves */
    };

    return cmocka_run_group_tests_name("counters", tests, open_device, NULL);
}
