/* SPDX-License-Identifier: Apache-2.0 */
/* The time of atomic operations, predicted, against an H200's: 132 blocks of 256 threads, the
 * nanoseconds of one more operation of each thread. */
#include "emulated/ptx/ptx.h"
#include "emulated/time/description.h"
#include "emulated/time/predict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sample.h"
#include "source_tree.h"

/* Lane i of warp w works at (i & mask) * lane_stride + w * warp_stride; lanes from `active` on do
 * nothing. %s: the operation. */
static const char text[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry k(.param .u64 a, .param .u32 mask, .param .u32 lane_stride,\n"
    ".param .u32 warp_stride, .param .u32 active, .param .u32 times)\n{\n"
    ".reg .b32 %%r<16>; .reg .b64 %%d<8>; .reg .f32 %%f<2>; .reg .pred %%p<4>;\n"
    "ld.param.u64 %%d0, [a]; ld.param.u32 %%r0, [mask]; ld.param.u32 %%r1, [lane_stride];\n"
    "ld.param.u32 %%r2, [warp_stride]; ld.param.u32 %%r3, [active]; ld.param.u32 %%r4, [times];\n"
    "mov.u32 %%r5, %%tid.x; mov.u32 %%r6, %%ctaid.x; mad.lo.s32 %%r7, %%r6, 256, %%r5;\n"
    "shr.u32 %%r7, %%r7, 5; and.b32 %%r8, %%r5, 31; setp.ge.u32 %%p0, %%r8, %%r3; @%%p0 ret;\n"
    "and.b32 %%r8, %%r8, %%r0; mul.lo.s32 %%r8, %%r8, %%r1; mad.lo.s32 %%r8, %%r7, %%r2, %%r8;\n"
    "cvt.u64.u32 %%d1, %%r8; add.s64 %%d1, %%d0, %%d1; mov.f32 %%f0, 0f3F800000;\n"
    "L: %s;\nsub.s32 %%r4, %%r4, 1; setp.gt.s32 %%p1, %%r4, 0; @%%p1 bra L;\nret;\n}\n";

static const char integers[] = "red.global.add.u32 [%d1], %r5";
static const char joined[] = "red.global.add.u32 [%d0], %r5";
static const char floats[] = "red.global.add.f32 [%d1], %f0";

static const struct {
    const char *name, *operation;
    uint32_t mask, lane_stride, warp_stride, active;
    double measured_ns;
} cases[] = {
    {"an address that the compiler knows", joined, 0, 0, 0, 32, 775.5},
    {"an address, one lane", integers, 0, 0, 0, 1, 774.1},
    {"an address, all lanes", integers, 0, 0, 0, 32, 24726},
    {"two words of a sector", integers, 1, 8, 0, 32, 12330},
    {"two sectors", integers, 7, 8, 0, 32, 6216},
    {"eight sectors side by side", integers, 31, 8, 0, 32, 6210},
    {"32 sectors side by side", integers, 31, 32, 0, 32, 11683},
    {"sectors of 32 lines", integers, 31, 128, 0, 32, 3234},
    {"sectors 4 KiB apart", integers, 31, 4096, 0, 32, 1478.5},
    {"an address for each warp", integers, 0, 0, 256, 32, 430.6},
    {"an address, floats", floats, 0, 0, 0, 32, 59418},
    {"two sectors, floats", floats, 7, 8, 0, 32, 7434},
    {"eight sectors, floats", floats, 31, 8, 0, 32, 6250},
};

enum { BYTES = 1 << 22, REGISTERS = 16, TIMES = 64 };

static double predict(const struct at_emu_launch *launch, struct at_emu_memory *memory)
{
    struct at_device_info device;
    struct at_rates rates;
    const struct at_grid_parts whole = at_grid_whole(launch);
    struct at_prediction prediction;
    struct at_error err = {AT_OK, ""};

    assert_int_equal(at_description_read(&device, &rates, "h200", &err), AT_OK);
    assert_int_equal(at_predict_launch(&device, &rates, memory, launch, &whole, REGISTERS, 0, true,
                                       &prediction, &err),
                     AT_OK);
    assert_int_equal(prediction.bound, AT_BOUND_ATOMICS);
    return prediction.ns;
}

static void test_measured(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i += runs_whole() ? 1 : 3) {
        struct at_emu_memory *memory = at_emu_memory_new();
        uint64_t args[] = {at_emu_memory_allocate(memory, BYTES),
                           cases[i].mask,
                           cases[i].lane_stride,
                           cases[i].warp_stride,
                           cases[i].active,
                           TIMES};
        struct at_emu_launch launch = {.grid = {132, 1, 1},
                                       .block = {256, 1, 1},
                                       .args = args,
                                       .arg_count = sizeof args / sizeof *args,
                                       .threads = 1};
        struct at_ptx_module *module;
        struct at_error err = {AT_OK, ""};
        char ptx[2048];
        double once, ns;

        snprintf(ptx, sizeof ptx, text, cases[i].operation);
        assert_int_equal(at_ptx_read(&module, ptx, strlen(ptx), &err), AT_OK);
        assert_int_equal(at_ptx_find(module, "k", &launch.kernel, &err), AT_OK);
        once = predict(&launch, memory);
        args[5] *= 2;
        ns = (predict(&launch, memory) - once) / TIMES;
        if (ns < 0.7 * cases[i].measured_ns || ns > 1.1 * cases[i].measured_ns)
            fail_msg("%s: predicted %.1f ns, measured %.1f", cases[i].name, ns,
                     cases[i].measured_ns);
        at_ptx_free(module);
        at_emu_memory_free(memory);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_measured)};

    use_source_tree();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
