/* SPDX-License-Identifier: Apache-2.0 */
/* src/measure/host_checks: on an emulated device the host does what the kernels of
 * templates/harness.cu do. Both fill the same buffers alike and find the same faults. */
#include "base/memory.h"
#include "base/rng.h"
#include "emulated/device/emulated.h"
#include "kernel/builder.h"
#include "measure/bench.h"
#include "problem/problem.h"
#include "roles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "problem_of.h"
#include "source_tree.h"
#include "template_header.h"

/* The emulated device's functions; and the same without view, so that kernels run. */
static struct at_device_ops by_host, by_kernels;
static struct at_bench bench = {.ops = &at_emu_device_ops};
static at_address result;

static void use(const struct at_device_ops *ops)
{
    ((struct at_device_base *)bench.device)->ops = ops;
}

static int prepare(void **state)
{
    const struct at_builder_options options = {
        .compute_capability = 90, .image = AT_IMAGE_PTX, .workers = 1, .header = template_header()};
    struct at_family family = {.name = (char[]){"harness"},
                               .template_path = (char[]){"harness.cu"},
                               .source = text_of("templates/harness.cu")};
    const struct at_config config = {.family = &family};
    struct at_builder *builder;
    struct at_built built;

    (void)state;
    by_host = by_kernels = at_emu_device_ops;
    by_kernels.view = NULL;
    assert_non_null(by_host.view);
    assert_int_equal(at_device_open(&at_emu_device_ops, &bench.device, 0, NULL), AT_OK);
    assert_int_equal(at_builder_open(&builder, &options, NULL, 0, NULL), AT_OK);
    at_builder_add(builder, &config, (struct at_problem_kind){.elem_size = 4, .axes = 1, .rows = 1},
                   NULL);
    assert_int_equal(at_builder_wait(builder, &built, NULL), AT_OK);
    assert_int_equal(built.outcome, AT_CORRECT);
    assert_int_equal(at_bench_harness(&bench, built.program->image, built.program->size, NULL),
                     AT_CORRECT);
    at_program_release(built.program);
    at_builder_close(builder);
    free((char *)options.header);
    free(family.source);
    assert_int_equal(by_host.allocate(bench.device, sizeof(struct at_check_result), &result, NULL),
                     AT_CORRECT);
    return 0;
}

static struct at_check_result run(const struct at_device_ops *ops, enum at_check_of what,
                                  const struct at_buffers *buffers)
{
    struct at_check_result found = {0, UINT64_MAX};

    use(ops);
    assert_int_equal(by_host.write(bench.device, result, &found, sizeof found, NULL), AT_CORRECT);
    assert_int_equal(at_buffers_check(&bench, buffers, 0, what, result, NULL), AT_CORRECT);
    assert_int_equal(by_host.read(bench.device, &found, result, sizeof found, NULL), AT_CORRECT);
    return found;
}

/* Both ways of a check find the same. */
static struct at_check_result compare(enum at_check_of what, const struct at_buffers *buffers)
{
    struct at_check_result host = run(&by_host, what, buffers);
    struct at_check_result kernels = run(&by_kernels, what, buffers);

    if (host.mismatches != kernels.mismatches || host.first != kernels.first) {
        char *problem = at_problem_format(&buffers->problem);

        fail_msg("%s: host %ju at %ju, kernels %ju at %ju", problem, (uintmax_t)host.mismatches,
                 (uintmax_t)host.first, (uintmax_t)kernels.mismatches, (uintmax_t)kernels.first);
    }
    return host;
}

static unsigned char *host_of(at_address address, int64_t size)
{
    void *bytes;

    assert_int_equal(by_host.view(bench.device, &bytes, address, (size_t)size, NULL), AT_CORRECT);
    return bytes;
}

/* Transpose each matrix of a list or group of rows, and fill up its results with 0. */
static void transpose_groups(const struct at_buffers *buffers)
{
    const struct at_problem *p = &buffers->problem;
    int64_t bytes = p->elem_size, result_bytes = at_problem_elem_size(p, AT_DESTINATION);
    unsigned char *dst =
        host_of(at_buffer_of(&buffers->dst, 0), at_problem_dst_extent(p) * result_bytes);
    const unsigned char *src =
        host_of(at_buffer_of(&buffers->src, 0), at_problem_src_extent(p) * bytes);
    struct at_group *all = at_groups_draw(&p->groups, at_problem_least_bytes(p));

    for (int64_t i = 0; i < p->groups.count; i++)
        for (int64_t col = 0; col < all[i].cols; col++)
            for (int64_t row = 0; row < all[i].padded_rows; row++) {
                unsigned char *to = dst + (all[i].dst + col * all[i].ld_dst + row) * result_bytes;
                const unsigned char *from = src + (all[i].src + row * all[i].ld_src + col) * bytes;

                if (row >= all[i].rows)
                    memset(to, 0, (size_t)result_bytes);
                else if (p->step.given)
                    at_step_apply(&p->step, &buffers->operands, to, from, NULL);
                else
                    memcpy(to, from, (size_t)bytes);
            }
    free(all);
}

/* Transpose by the problem's axes, and apply its step. */
static void transpose(const struct at_buffers *buffers)
{
    const struct at_problem *p = &buffers->problem;
    size_t bytes = (size_t)p->elem_size;
    size_t result_bytes = (size_t)at_problem_elem_size(p, AT_DESTINATION);
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(p, axes);
    unsigned char *dst =
        host_of(at_buffer_of(&buffers->dst, 0), at_problem_dst_extent(p) * (int64_t)result_bytes);
    const unsigned char *src =
        host_of(at_buffer_of(&buffers->src, 0), at_problem_src_extent(p) * (int64_t)bytes);
    struct at_step_operands operands = buffers->operands;
    const unsigned char *second = NULL;
    int64_t all = 1;

    if (p->groups.count > 0) {
        transpose_groups(buffers);
        return;
    }
    if (buffers->second.pitch)
        second = host_of(at_buffer_of(&buffers->second, 0),
                         at_problem_dst_extent(p) * (int64_t)result_bytes);
    for (size_t i = 0; i < count; i++)
        all *= axes[i].extent;
    for (int64_t n = 0; n < all; n++) {
        int64_t left = n, from = 0, to = 0;

        for (size_t i = 0; i < count; i++) {
            from += left % axes[i].extent * axes[i].stride_src;
            to += left % axes[i].extent * axes[i].stride_dst;
            left /= axes[i].extent;
        }
        if (p->step.channels.count)
            at_step_take_set(&operands,
                             at_harness_set(to % p->step.channels.period / p->step.channels.run));
        if (p->step.given)
            at_step_apply(&p->step, &operands, dst + (size_t)to * result_bytes,
                          src + (size_t)from * bytes,
                          second ? second + (size_t)to * result_bytes : NULL);
        else
            memcpy(dst + (size_t)to * bytes, src + (size_t)from * bytes, bytes);
    }
}

/* Fill by kernels, and compare with what the host fills. */
static void check_fill(const struct at_buffers *buffers)
{
    const struct at_buffer *sides[] = {&buffers->src, &buffers->dst, &buffers->second};
    unsigned char *bytes[AT_COUNT(sides)], *copies[AT_COUNT(sides)];

    for (size_t i = 0; i < AT_COUNT(sides) && sides[i]->pitch; i++) {
        bytes[i] = host_of(sides[i]->start, sides[i]->pitch);
        copies[i] = at_memdup(bytes[i], (size_t)sides[i]->pitch);
        memset(bytes[i], 0, (size_t)sides[i]->pitch);
    }
    use(&by_kernels);
    assert_int_equal(at_buffers_fill(&bench, buffers, NULL), AT_CORRECT);
    for (size_t i = 0; i < AT_COUNT(sides) && sides[i]->pitch; i++) {
        assert_memory_equal(bytes[i], copies[i], (size_t)sides[i]->pitch);
        free(copies[i]);
    }
}

/* A byte anywhere is found, by both, in the destination and in the source. */
static void check_faults(const struct at_buffers *buffers, struct at_rng *rng)
{
    unsigned char *src = host_of(buffers->src.start, buffers->src.pitch);
    unsigned char *dst = host_of(buffers->dst.start, buffers->dst.pitch);

    for (int i = 0; i < 12; i++) {
        size_t at = (size_t)at_rng_below(rng, (uint64_t)buffers->dst.pitch);

        /* Beyond the last red zone, a pitch may have more. */
        dst[at] ^= 0x40;
        (void)compare(AT_OF_DESTINATION, buffers);
        dst[at] ^= 0x40;
        at = (size_t)at_rng_below(rng, (uint64_t)buffers->src.pitch);
        src[at] ^= 0x40;
        (void)compare(AT_OF_SOURCE, buffers);
        src[at] ^= 0x40;
    }
    dst[buffers->dst.zone] ^= 1;
    dst[0] ^= 1;
    assert_int_equal(compare(AT_OF_DESTINATION, buffers).mismatches, 2);
    assert_int_equal(compare(AT_OF_DESTINATION, buffers).first, 0);
    dst[buffers->dst.zone] ^= 1;
    dst[0] ^= 1;
}

static void test_same(void **state)
{
    static const char *const specs[] = {
        "5x7:b1",
        "33x65:b2",
        "64x48:f32",
        "31x17:f64",
        "9x10:c128",
        "1x1:b1",
        "20x30:f32,ld_src=37,ld_dst=21,offset_src=3,offset_dst=5",
        "7x9:b1,batch=5,stride_src=80,stride_dst=99,ld_src=11,ld_dst=8",
        "12x12:f16,inplace=1",
        "8x8:f32,batch=3,ld_src=10,ld_dst=10,stride_src=90,stride_dst=90,inplace=1",
        "7x6x4x10:b4,perm=0213,strides_src=271x45x11x1,strides_dst=395x95x15x1",
        "5x6x9x8:b2,perm=3120,strides_src=500x80x8x1,offset_dst=1",
        "3x3x3x3x3x3x3:b1,perm=6543210",
        "5x2x3x7x2x5:b8,perm=531420",
        "2x2x3:b4,perm=210,strides_dst=3x5x7", /* strides that do not nest */
        "6x7x33:b1,perm=102",                  /* runs longer than a unit of 16 bytes */
        "9x11x3:b1,perm=102",                  /* and several in one */
        "33x20:bf16:e4m3,scale",
        "9x40:u8:f64,ld_src=41,ld_dst=10,offset_dst=1,divide",
        "7x6x5:c64:c128,perm=210,conj",
        "33x20:f32,alpha,beta",
        "9x10:c64,ld_dst=12,offset_dst=1,alpha,beta",
        "7x6x5:bf16:f64,perm=210,strides_dst=50x7x1,beta",
        "33x20:u8:f16,affine",
        "20x33:u8:f32,ld_dst=21,affine=rows,beta",
        "9x11:f32:e4m3,batch=5,stride_dst=120,affine=batch",
        "7x6x5:f64,perm=210,offset_dst=1,divide,affine=1",
    };
    struct at_rng rng = {17};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_gpu_case wanted = {.sets = 1};
        struct at_buffers buffers;
        struct at_error err;

        if (at_problem_parse(&wanted.problem, specs[i], &err) != AT_OK)
            fail_msg("%s", err.message);
        use(&by_host);
        assert_int_equal(at_buffers_make(&bench, &buffers, &wanted, &err), AT_CORRECT);
        check_fill(&buffers);
        assert_true(compare(AT_OF_DESTINATION, &buffers).mismatches > 0 ||
                    (wanted.problem.rows == 1 && wanted.problem.in_place));
        assert_int_equal(compare(AT_OF_SOURCE, &buffers).mismatches, 0);
        if (buffers.second.pitch)
            assert_int_equal(compare(AT_OF_SECOND, &buffers).mismatches, 0);
        if (wanted.problem.in_place)
            assert_int_equal(compare(AT_OF_RESTORED, &buffers).mismatches, 0);
        transpose(&buffers);
        assert_int_equal(compare(AT_OF_DESTINATION, &buffers).mismatches, 0);
        check_faults(&buffers, &rng);
        at_buffers_release(&bench, &buffers);
    }
}

/* Of many matrices, a wrong byte anywhere counts: in elements, gaps and padding, and around. */
static void test_groups(void **state)
{
    static const char *const specs[] = {
        "group=5,rows=0..9,cols=0..11:b1",
        "group=4,rows=1..20,cols=1..9:f32",
        "group=3,rows=16..48,cols=16..48,multiple=16:f16",
        "group=3,rows=5,cols=7:c128",
        "group=4,rows=0..30,cols=5:bf16:e4m3,scale",
        "group=4,total=30,cols=7:b8",
        "group=6,total=41,cols=5,law=zipf,pad=8:f16",
        "group=12,total=20,cols=3,law=sparse,pad=4:f32",
        "group=3,total=32,cols=6,law=zipf,multiple=8,pad=16,stack=1:u8:f32",
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_gpu_case wanted = {.sets = 1, .problem = problem_of(specs[i])};
        int64_t bytes = at_problem_side_bytes(&wanted.problem, AT_DESTINATION,
                                              at_problem_dst_extent(&wanted.problem));
        struct at_buffers buffers;
        unsigned char *dst;

        use(&by_host);
        assert_int_equal(at_buffers_make(&bench, &buffers, &wanted, NULL), AT_CORRECT);
        check_fill(&buffers);
        assert_true(compare(AT_OF_DESTINATION, &buffers).mismatches > 0);
        assert_int_equal(compare(AT_OF_SOURCE, &buffers).mismatches, 0);
        transpose(&buffers);
        assert_int_equal(compare(AT_OF_DESTINATION, &buffers).mismatches, 0);
        dst = host_of(buffers.dst.start, buffers.dst.pitch);
        for (int64_t at = buffers.dst.zone - 1; at <= buffers.dst.zone + bytes; at += 3) {
            dst[at] ^= 0x40;
            if (run(&by_host, AT_OF_DESTINATION, &buffers).mismatches != 1)
                fail_msg("%s: byte %jd is not checked", specs[i], (intmax_t)at);
            dst[at] ^= 0x40;
        }
        for (int64_t at = buffers.dst.zone - 1; at <= buffers.dst.zone + bytes; at += bytes / 8) {
            dst[at] ^= 0x40;
            assert_int_equal(compare(AT_OF_DESTINATION, &buffers).mismatches, 1);
            dst[at] ^= 0x40;
        }
        at_buffers_release(&bench, &buffers);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same), cmocka_unit_test(test_groups)};
    int exit_code;

    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    return cmocka_run_group_tests_name("host_checks", tests, prepare, NULL);
}
