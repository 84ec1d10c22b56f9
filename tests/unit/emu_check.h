/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels on the emulated device: compiled to PTX by the real NVRTC, run, and compared with a
 * transpose in C, bit for bit. */
#ifndef AT_TESTS_EMU_CHECK_H
#define AT_TESTS_EMU_CHECK_H

#include "base/memory.h"
#include "base/rng.h"
#include "emulated/machine/machine.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"
#include "problem/arguments.h"
#include "space/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "hopper.h"
#include "shipped_families.h"
#include "template_header.h"

enum {
    HOST_THREADS = 2,
    ZONE = 64, /* bytes around the buffers; they must not change */
    POISON = 0xa5,
};

static struct at_device_info device = {
    .kind = "emu",
    .multiprocessors = 132,
    .l2_bytes = 50 << 20,
    HOPPER,
};

static char *header;

static struct at_nvrtc *compiler;

/* A setup, and below its teardown. */
static int read_sources(void **state)
{
    header = template_header();
    return read_shipped_families(state);
}

static int free_sources(void **state)
{
    at_nvrtc_close(compiler);
    free(header);
    return free_shipped_families(state);
}

/* Compile for this architecture from now on, and to this kind of image. */
static void use_architecture(int architecture, enum at_image image)
{
    struct at_error err = {AT_OK, ""};

    at_nvrtc_close(compiler);
    if (at_nvrtc_open(&compiler, architecture, image, &err) != AT_OK)
        fail_msg("%s", err.message);
    device.compute_capability = architecture;
}

/* Compile the source to PTX as the program does. */
static char *compile(const char *source)
{
    struct at_error err = {AT_OK, ""};
    struct at_compilation compiled = {0};

    if (at_nvrtc_compile(&compiled, compiler, source, header, false, &err) != AT_OK)
        fail_msg("%s", err.message);
    if (!compiled.image)
        fail_msg("compute capability %d: %s", (int)device.compute_capability, compiled.log);
    free(compiled.log);
    return compiled.image;
}

static struct at_ptx_module *read_module(const char *source)
{
    struct at_ptx_module *module;
    struct at_error err = {AT_OK, ""};
    char *ptx = compile(source);

    if (at_ptx_read(&module, ptx, strlen(ptx), &err) != AT_OK)
        fail_msg("%s", err.message);
    free(ptx);
    return module;
}

/* The same of kernels in one program, whose entries become k0, k1 and so on. */
static struct at_ptx_module *read_kernels(struct at_rendering *renderings, size_t count)
{
    struct at_ptx_module *module;
    char *source;

    for (size_t i = 0; i < count; i++)
        snprintf(renderings[i].entry, sizeof renderings[i].entry, "k%zu", i);
    source = at_render_program(renderings, count);
    module = read_module(source);
    free(source);
    return module;
}

static const struct at_ptx_kernel *find(const struct at_ptx_module *module, const char *name)
{
    const struct at_ptx_kernel *kernel;
    struct at_error err = {AT_OK, ""};

    if (at_ptx_find(module, name, &kernel, &err) != AT_OK)
        fail_msg("%s", err.message);
    return kernel;
}

/* A problem's buffers in emulated memory, and their expected content. */
struct buffers {
    struct at_problem problem;
    struct at_emu_memory *memory;
    size_t src_bytes, dst_bytes; /* sizes of the extents */
    uint64_t src, dst;           /* addresses of the extents, after a zone */
    unsigned char *src_host, *dst_host;
};

static struct buffers make_buffers(const struct at_problem *problem)
{
    struct buffers b = {.problem = *problem, .memory = at_emu_memory_new()};
    struct at_rng rng = {(uint64_t)problem->elem_size};
    int64_t src_offset, dst_offset;

    b.src_bytes = (size_t)(at_problem_src_extent(problem) * problem->elem_size);
    b.dst_bytes = (size_t)(at_problem_dst_extent(problem) * problem->elem_size);
    src_offset = problem->offset_src * problem->elem_size;
    dst_offset = problem->offset_dst * problem->elem_size + ZONE;
    b.src = at_emu_memory_allocate(b.memory,
                                   (int64_t)b.src_bytes + src_offset) /* nothing follows it */;
    b.src += (uint64_t)src_offset;
    b.dst = at_emu_memory_allocate(b.memory, (int64_t)b.dst_bytes + dst_offset + ZONE);
    b.dst += (uint64_t)dst_offset;
    b.src_host = at_emu_memory_host(b.memory, b.src, b.src_bytes);
    b.dst_host = at_emu_memory_host(b.memory, b.dst, b.dst_bytes);
    assert_non_null(b.src_host);
    assert_non_null(b.dst_host);
    for (size_t i = 0; i < b.src_bytes; i++)
        b.src_host[i] = (unsigned char)at_rng_next(&rng);
    memset(b.dst_host - ZONE, POISON, b.dst_bytes + 2 * ZONE);
    if (problem->in_place)
        memcpy(b.dst_host, b.src_host, b.src_bytes);
    return b;
}

/* Return the expected bytes: the transpose, surrounded by poison. In place, gaps between rows keep
 * their content. */
static unsigned char *expected(const struct buffers *b)
{
    const struct at_problem given = at_problem_as_given(&b->problem), *p = &given;
    size_t size = (size_t)p->elem_size;
    unsigned char *out = at_alloc(b->dst_bytes + 2 * ZONE);
    struct at_axis axes[AT_AXES_MAX];
    size_t axis_count = at_problem_axes(p, axes);

    memset(out, POISON, b->dst_bytes + 2 * ZONE);
    if (p->in_place)
        memcpy(out + ZONE, b->src_host, b->src_bytes);
    for (int64_t i = 0; i < at_problem_bytes(p) / 2 / p->elem_size; i++) {
        int64_t left = i, from = 0, to = 0;

        for (size_t k = 0; k < axis_count; left /= axes[k++].extent) {
            from += left % axes[k].extent * axes[k].stride_src;
            to += left % axes[k].extent * axes[k].stride_dst;
        }
        memcpy(out + ZONE + (size_t)to * size, b->src_host + (size_t)from * size, size);
    }
    return out;
}

static void run(struct buffers *b, struct at_emu_launch *launch, const char *what)
{
    struct at_emu_fault fault;
    struct at_error err = {AT_OK, ""};

    launch->threads = HOST_THREADS;
    launch->instruction_limit = 10000000;
    if (at_emu_run(b->memory, launch, &fault, &err) != AT_OK)
        fail_msg("%s: %s", what, err.message);
    if (fault.kind != AT_EMU_NO_FAULT)
        fail_msg("%s: %s", what, fault.message);
}

static void run_transpose(struct buffers *b, const struct at_ptx_kernel *kernel,
                          const struct at_config *config, const char *what)
{
    const struct at_problem *p = &b->problem;
    uint64_t args[AT_CALL_WORDS];
    uint8_t words[AT_CALL_ARGS];
    struct at_emu_launch launch = {.kernel = kernel, .args = args, .arg_words = AT_CALL_WORDS};
    struct at_step_numbers numbers = {0};
    struct at_launch wanted;
    struct at_error err = {AT_OK, ""};

    assert_int_equal(at_config_launch(config, p, &device, &wanted, &err), AT_OK);
    at_emu_launch_take(&launch, &wanted);
    if (wanted.field[AT_SCRATCH_BYTES] > 0)
        numbers.scratch = at_emu_memory_allocate(b->memory, wanted.field[AT_SCRATCH_BYTES]);
    for (int64_t i = 0; i < at_launch_passes(&wanted); i++) {
        wanted.field[AT_PASS] = i;
        launch.arg_count =
            at_problem_args(p, &wanted, b->dst, b->src,
                            wanted.field[AT_LAUNCHES] > 0 ? &numbers : NULL, args, words);
        run(b, &launch, what);
    }
}

static inline bool is_legal(const struct at_config *config, const struct at_problem *problem)
{
    struct at_error err = {AT_OK, ""};
    bool legal = false;

    assert_int_equal(at_config_legal(config, problem, &device, &legal, NULL, &err), AT_OK);
    return legal;
}

static inline void check_on(const struct at_ptx_kernel *kernel, const struct at_config *config,
                            const struct at_problem *problem)
{
    char *values = at_config_format(config), *spec = at_problem_format(problem);
    char *what = at_format("%s %s on %s", config->family->name, values, spec);
    struct buffers b = make_buffers(problem);
    unsigned char *right = expected(&b);

    run_transpose(&b, kernel, config, what);
    if (memcmp(right, b.dst_host - ZONE, b.dst_bytes + 2 * ZONE) != 0)
        fail_msg("%s: a wrong result", what);
    free(right);
    at_emu_memory_free(b.memory);
    free(what);
    free(spec);
    free(values);
}

#endif
