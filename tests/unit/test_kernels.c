/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels as courses and people write them, on the machine: NVRTC compiles each of tests/kernels,
 * and its results equal those of a function in C. What the machine does not run is refused in
 * CUDA's words, at the line of the source. */
#include "base/memory.h"
#include "emulated/machine/machine.h"
#include "emulated/ptx/ptx.h"
#include "kernel/cuda_headers.h"
#include "kernel/nvrtc.h"

#include <dlfcn.h>
#include <nvrtc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../kernels/references.h"
#include "sample.h"
#include "skipped.h"
#include "source_tree.h"

enum { GUARD = 64, HOST_THREADS = 2 };

typedef void reference(void *out, const void *in, int n);

/* A kernel `name` in the file of that name: void name(OUT *out, const IN *in, int n). */
struct sound_kernel {
    const char *name;
    uint32_t grid[3], block[3];
    int64_t dynamic_shared_bytes;
    char in, out; /* types of elements (values.h) */
    int in_count, out_count, n;
    double tolerance; /* of floats */
    reference *expected;
};

#define ONE(x)                                                                                     \
    {                                                                                              \
        (x), 1, 1                                                                                  \
    }
#define TWO(x, y)                                                                                  \
    {                                                                                              \
        (x), (y), 1                                                                                \
    }
#define EXACT     0
#define R(name)   reference_##name
#define HALF_ULP  1e-3
#define F32_ERROR 2e-6
#define F32_SUMS  2e-5
#define F64_ERROR 1e-14
static const struct sound_kernel sound[] = {
    {"saxpy", ONE(3), ONE(64), 0, 'f', 'f', 2000, 1000, 1000, F32_ERROR, R(saxpy)},
    {"reduce_1", ONE(4), ONE(256), 0, 'i', 'i', 1024, 4, 256, EXACT, R(reduce)},
    {"reduce_2", ONE(4), ONE(256), 0, 'i', 'i', 1024, 4, 256, EXACT, R(reduce)},
    {"reduce_3", ONE(4), ONE(256), 0, 'i', 'i', 1024, 4, 256, EXACT, R(reduce)},
    {"reduce_4", ONE(4), ONE(256), 0, 'i', 'i', 2048, 4, 512, EXACT, R(reduce)},
    {"reduce_5", ONE(4), ONE(256), 0, 'i', 'i', 2048, 4, 512, EXACT, R(reduce)},
    {"reduce_6", ONE(4), ONE(256), 0, 'i', 'i', 2048, 4, 512, EXACT, R(reduce)},
    {"reduce_7", ONE(3), ONE(128), 0, 'i', 'i', 5000, 1, 5000, EXACT, R(reduce_all)},
    {"scan_hillis", ONE(1), ONE(256), 2048, 'i', 'i', 200, 200, 200, EXACT, R(inclusive)},
    {"scan_blelloch", ONE(1), ONE(256), 0, 'i', 'i', 512, 512, 512, EXACT, R(exclusive)},
    {"warp_scan", ONE(2), ONE(96), 0, 'i', 'i', 192, 192, 192, EXACT, R(warp_scan)},
    {"histogram_shared", ONE(4), ONE(128), 0, 'c', 'i', 3000, 256, 3000, EXACT, R(histogram)},
    {"histogram_global", ONE(24), ONE(128), 0, 'c', 'i', 3000, 256, 3000, EXACT, R(histogram)},
    {"matmul_naive", TWO(3, 3), TWO(16, 16), 0, 'f', 'f', 3200, 1600, 40, F32_SUMS, R(matmul)},
    {"matmul_tiled", TWO(3, 3), TWO(16, 16), 0, 'f', 'f', 3200, 1600, 40, F32_SUMS, R(matmul)},
    {"stencil_1d", ONE(5), ONE(64), 280, 'i', 'i', 300, 300, 300, EXACT, R(stencil_1d)},
    {"stencil_2d", TWO(3, 5), TWO(16, 8), 0, 'f', 'f', 1444, 1444, 38, F32_ERROR, R(stencil_2d)},
    {"stencil_3d", {3, 3, 5}, {4, 4, 2}, 0, 'f', 'f', 1000, 1000, 10, F32_ERROR, R(stencil_3d)},
    {"dot", ONE(3), ONE(128), 0, 'f', 'd', 4000, 1, 2000, 1e-13, R(dot)},
    {"softmax", ONE(5), ONE(64), 0, 'f', 'f', 320, 320, 5, F32_ERROR, R(softmax)},
    {"layer_norm", ONE(3), ONE(64), 0, 'f', 'f', 384, 384, 6, F32_SUMS, R(layer_norm)},
    {"bitonic_sort", ONE(1), ONE(256), 0, 'i', 'i', 256, 256, 256, EXACT, R(sorted)},
    {"sieve", ONE(8), ONE(128), 0, 'i', 'i', 1, 1000, 1000, EXACT, R(sieve)},
    {"mandelbrot", TWO(3, 6), TWO(16, 8), 0, 'i', 'i', 1, 2304, 48, EXACT, R(mandelbrot)},
    {"nbody", ONE(2), ONE(64), 0, 'f', 'f', 256, 256, 128, F32_SUMS, R(nbody)},
    {"spmv", ONE(2), ONE(64), 0, 'f', 'f', 400, 100, 100, F32_ERROR, R(spmv)},
    {"axpy_f16", ONE(4), ONE(64), 0, 'h', 'h', 600, 200, 200, EXACT, R(axpy_f16)},
    {"axpy_f16x2", ONE(2), ONE(64), 0, 'h', 'h', 400, 200, 200, HALF_ULP, R(axpy_f16x2)},
    {"axpy_bf16", ONE(4), ONE(64), 0, 'b', 'b', 400, 200, 200, EXACT, R(axpy_bf16)},
    {"axpy_bf16x2", ONE(2), ONE(64), 0, 'b', 'b', 400, 200, 200, EXACT, R(axpy_bf16)},
    {"sum_f16", ONE(4), ONE(64), 0, 'i', 'h', 256, 2, 256, EXACT, R(sum_f16)},
    {"dp4a_dot", ONE(2), ONE(64), 0, 'u', 'i', 200, 200, 100, EXACT, R(dp4a_dot)},
    {"constant_filter", ONE(2), ONE(64), 0, 'f', 'f', 128, 128, 128, F32_ERROR, R(constant_filter)},
    {"global_counter", ONE(2), ONE(64), 0, 'i', 'i', 64, 2, 128, EXACT, R(global_counter)},
    {"noinline_call", ONE(2), ONE(64), 0, 'i', 'i', 100, 100, 100, EXACT, R(noinline_call)},
    {"struct_call", ONE(2), ONE(64), 0, 'f', 'f', 100, 100, 100, F32_SUMS, R(struct_call)},
    {"nested_calls", ONE(1), ONE(64), 0, 'i', 'i', 64, 64, 64, EXACT, R(nested_calls)},
    {"recursion", ONE(2), ONE(64), 0, 'i', 'i', 128, 128, 128, EXACT, R(recursion)},
    {"switch_table", ONE(1), ONE(64), 0, 'i', 'i', 64, 65, 64, EXACT, R(switch_table)},
    {"branch_table", ONE(1), ONE(64), 0, 'i', 'i', 64, 64, 64, EXACT, R(branch_table)},
    {"local_array", ONE(2), ONE(32), 0, 'i', 'i', 1024, 1024, 1024, EXACT, R(sorted_by_16)},
    {"print_fields", ONE(1), ONE(32), 0, 'i', 'i', 1, 32, 32, EXACT, R(ones)},
    {"print_lines", ONE(3), ONE(32), 0, 'i', 'i', 1, 32, 32, EXACT, R(ones)},
    {"sync_votes", ONE(1), ONE(256), 0, 'i', 'i', 256, 256, 256, EXACT, R(sync_votes)},
    {"match_groups", ONE(2), ONE(64), 0, 'i', 'i', 128, 8, 128, EXACT, R(match_groups)},
    {"redux_ints", ONE(1), ONE(96), 0, 'i', 'i', 96, 15, 96, EXACT, R(redux_ints)},
    {"compact", ONE(2), ONE(64), 0, 'i', 'i', 128, 128, 128, EXACT, R(compact)},
    {"atomics_int", ONE(1), ONE(64), 0, 'i', 'i', 64, 18, 64, EXACT, R(atomics_int)},
    {"atomic_float", ONE(4), ONE(64), 0, 'f', 'f', 256, 4, 256, EXACT, R(atomic_float)},
    {"wide_product", ONE(2), ONE(32), 0, 'u', 'q', 128, 192, 64, EXACT, R(wide_product)},
    {"bit_tricks", ONE(2), ONE(64), 0, 'u', 'i', 128, 128, 128, EXACT, R(bit_tricks)},
    {"math_f32", ONE(2), ONE(64), 0, 'f', 'f', 128, 1024, 128, F32_ERROR, R(math_f32)},
    {"math_fast", ONE(2), ONE(64), 0, 'f', 'f', 128, 128, 128, F32_ERROR, R(math_fast)},
    {"math_f64", ONE(2), ONE(64), 0, 'd', 'd', 128, 512, 128, F64_ERROR, R(math_f64)},
    {"convert_numbers", ONE(2), ONE(64), 0, 'f', 'q', 128, 1024, 128, EXACT, R(convert_numbers)},
    {"rounding", ONE(2), ONE(64), 0, 'f', 'f', 128, 1024, 128, EXACT, R(rounding)},
    {"transpose_tile", TWO(3, 3), TWO(32, 8), 0, 'i', 'i', 4900, 4900, 70, EXACT, R(transpose)},
    {"clocks", ONE(3), ONE(64), 0, 'i', 'i', 10, 192, 192, EXACT, R(clocks)},
    {"generic_pointers", ONE(1), ONE(64), 0, 'i', 'i', 64, 64, 64, EXACT, R(generic_pointers)},
    {"game_of_life", TWO(3, 5), TWO(16, 8), 0, 'i', 'i', 1369, 1369, 37, EXACT, R(game_of_life)},
    {"black_scholes", ONE(2), ONE(64), 0, 'd', 'd', 128, 256, 128, 1e-12, R(black_scholes)},
    {"matvec", ONE(4), ONE(128), 0, 'f', 'f', 2176, 16, 128, F32_SUMS, R(matvec)},
    {"edit_distance", ONE(1), ONE(64), 0, 'c', 'i', 1600, 50, 50, EXACT, R(edit_distance)},
    {"random_pi", ONE(2), ONE(64), 0, 'i', 'i', 1, 1, 100, EXACT, R(random_pi)},
    {"binary_search", ONE(8), ONE(64), 0, 'i', 'i', 512, 512, 512, EXACT, R(binary_search)},
    {"radix_split", ONE(1), ONE(256), 0, 'i', 'i', 256, 256, 256, EXACT, R(radix_split)},
    {"convolution_2d", TWO(3, 3), TWO(16, 16), 0, 'f', 'f', 1378, 1369, 37, F32_ERROR,
     R(convolution_2d)},
    {"templates", ONE(1), ONE(64), 0, 'i', 'i', 512, 128, 64, EXACT, R(templates)},
    {"assert_holds", ONE(1), ONE(64), 0, 'i', 'i', 64, 64, 64, EXACT, R(copied)},
    {"cooperative", ONE(3), ONE(128), 0, 'i', 'i', 384, 1, 384, EXACT, R(reduce_all)},
    {"pipeline", ONE(1), ONE(64), 0, 'i', 'i', 320, 320, 320, EXACT, R(pipeline)},
    {"block_pipeline", ONE(1), ONE(64), 0, 'i', 'i', 320, 320, 320, EXACT, R(pipeline)},
    {"barrier_object", ONE(1), ONE(128), 0, 'i', 'i', 320, 320, 320, EXACT, R(pipeline)},
    {"spin_lock", ONE(1), ONE(32), 0, 'i', 'i', 32, 2, 32, EXACT, R(spin_lock)},
};

/* What the machine refuses, and what it stops; the source's line ends in "//!". */
static const struct {
    const char *name;
    enum at_emu_fault_kind kind; /* AT_EMU_NO_FAULT: refused before the start */
    const char *message;
} unsound[] = {
    {"refused_pointer", AT_EMU_NO_FAULT, "function pointer"},
    {"refused_texture", AT_EMU_NO_FAULT, "textures and surfaces"},
    {"refused_allocation", AT_EMU_NO_FAULT, "memory allocation in a kernel (malloc, new)"},
    {"refused_tensor_core", AT_EMU_NO_FAULT, "tensor cores (wmma, mma)"},
    {"refused_cluster", AT_EMU_NO_FAULT, "thread block clusters"},
    {"fails_assert", AT_EMU_ASSERTION, "thread (5, 0, 0): assertion failed: threadIdx.x != 5"},
    {"fails_endless", AT_EMU_WAIT, "no running thread can change what it reads"},
    {"fails_recursion", AT_EMU_LIMIT, "more than 512 calls, each within the other"},
    {"fails_printing", AT_EMU_LIMIT, "more than 48000000 steps"},
    {"fails_bounds", AT_EMU_GLOBAL_BOUNDS, "thread (4, 0, 0)"},
};

/* ---- compiling ---- */

#define FUNCTIONS(X)                                                                               \
    X(nvrtcCreateProgram)                                                                          \
    X(nvrtcDestroyProgram)                                                                         \
    X(nvrtcCompileProgram)                                                                         \
    X(nvrtcGetProgramLogSize)                                                                      \
    X(nvrtcGetProgramLog)                                                                          \
    X(nvrtcGetPTXSize)                                                                             \
    X(nvrtcGetPTX)

static struct {
#define FIELD(name) __typeof__(name) *name;
    FUNCTIONS(FIELD)
#undef FIELD
} api;

/* The folders of CUDA's headers and libcu++, as options. */
static char *cuda_folder, *libcuxx_folder;

/* All headers of CUDA that kernels include need nv/target, of libcu++. */
static bool has_headers(void)
{
    char *file = at_format("%s/nv/target", libcuxx_folder + strlen("-I"));
    bool there = access(file, R_OK) == 0;

    free(file);
    return there;
}

static void find_headers(const char *headers)
{
    char *libcuxx = headers ? at_cuda_headers_libcuxx(headers) : NULL;

    if (!headers)
        headers = ".";
    cuda_folder = at_format("-I%s", headers);
    libcuxx_folder = at_format("-I%s", libcuxx ? libcuxx : headers);
    free(libcuxx);
}

static char *compile(const char *file, const char *source, const char *architecture)
{
    const char *options[] = {architecture,     "-lineinfo", "-default-device", "-std=c++17",
                             "-device-int128", cuda_folder, libcuxx_folder};
    nvrtcProgram program;
    size_t size;
    char *text;

    assert_int_equal(api.nvrtcCreateProgram(&program, source, file, 0, NULL, NULL), NVRTC_SUCCESS);
    if (api.nvrtcCompileProgram(program, AT_COUNT(options), options) != NVRTC_SUCCESS) {
        api.nvrtcGetProgramLogSize(program, &size);
        text = at_alloc(size);
        api.nvrtcGetProgramLog(program, text);
        fail_msg("%s", text);
    }
    api.nvrtcGetPTXSize(program, &size);
    text = at_alloc(size);
    api.nvrtcGetPTX(program, text);
    api.nvrtcDestroyProgram(&program);
    return text;
}

/* ---- running ---- */

/* A kernel, ready to run. */
struct prepared {
    struct at_ptx_module *module;
    const struct at_ptx_kernel *kernel; /* NULL: refused */
    struct at_error refusal;
    int marked_line; /* of the source; 0: none */
};

static bool prepare(struct prepared *made, const char *name, const char *architecture)
{
    char *path = at_format("tests/kernels/%s.cu", name), *source = text_of(path), *ptx;
    char *file = at_format("%s.cu", name), *mark = strstr(source, "//!");
    bool needs_headers = strstr(source, "#include") != NULL;

    *made = (struct prepared){.marked_line = mark ? 1 : 0};
    for (const char *c = source; mark && c < mark; c++)
        made->marked_line += *c == '\n';
    if (!needs_headers || has_headers()) {
        ptx = compile(file, source, architecture);
        if (at_ptx_read(&made->module, ptx, strlen(ptx), &made->refusal) == AT_OK)
            at_ptx_find(made->module, name, &made->kernel, &made->refusal);
        free(ptx);
    }
    free(file);
    free(source);
    free(path);
    return !needs_headers || has_headers();
}

/* Random bits that are the same each time. */
static uint32_t next_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 32);
}

/* The buffers of a launch, and what the kernel prints. */
struct launched {
    struct at_emu_memory *memory;
    char *in, *out;
    struct at_emu_fault fault;
    char printed[4096];
};

static void keep_printed(void *context, const char *text)
{
    snprintf(((struct launched *)context)->printed, 4096, "%s", text);
}

static void run(struct launched *run, const struct sound_kernel *test,
                const struct at_ptx_kernel *kernel, const struct at_emu_observer *observer)
{
    size_t in_bytes = (size_t)(test->in_count * bytes_of_type(test->in));
    size_t out_bytes = (size_t)(test->out_count * bytes_of_type(test->out));
    struct at_emu_printer printer = {run, keep_printed};
    struct at_error err = {AT_OK, ""};
    uint64_t args[3], state = 1;
    struct at_emu_launch launch = {.kernel = kernel,
                                   .dynamic_shared_bytes = test->dynamic_shared_bytes,
                                   .args = args,
                                   .arg_count = 3,
                                   .block_limit = AT_EMU_BLOCK_STEPS,
                                   .threads = HOST_THREADS,
                                   .find_races = true,
                                   .observer = observer,
                                   .printer = &printer,
                                   .multiprocessors = 4};

    *run = (struct launched){.memory = at_emu_memory_new()};
    memcpy(launch.grid, test->grid, sizeof launch.grid);
    memcpy(launch.block, test->block, sizeof launch.block);
    args[0] = at_emu_memory_allocate(run->memory, (int64_t)out_bytes);
    args[1] = at_emu_memory_allocate(run->memory, (int64_t)in_bytes);
    args[2] = (uint64_t)test->n;
    run->out = at_emu_memory_host(run->memory, args[0], out_bytes);
    run->in = at_emu_memory_host(run->memory, args[1], in_bytes);
    for (int i = 0; i < test->in_count; i++)
        set_element(run->in + i * bytes_of_type(test->in), test->in, next_bits(&state));
    if (at_emu_run(run->memory, &launch, &run->fault, &err) != AT_OK)
        fail_msg("%s: %s", test->name, err.message);
}

/* The number of the first element that is not as expected, or -1. */
static int first_difference(const struct sound_kernel *test, const struct launched *run)
{
    int bytes = bytes_of_type(test->out), wrong = -1;
    char *expected = at_alloc((size_t)(test->out_count * bytes));

    test->expected(expected, run->in, test->n);
    for (int i = 0; i < test->out_count && wrong < 0; i++)
        if (!equal_elements(expected + i * bytes, run->out + i * bytes, test->out, test->tolerance))
            wrong = i;
    free(expected);
    return wrong;
}

static char newest[] = "-arch=compute_90", oldest[] = "-arch=compute_80";

/* A sample has a sixth of the kernels, and a twentieth for the older architecture. */
static void test_sound(void **state)
{
    const size_t step = runs_whole() ? 1 : *state == newest ? 6 : 20;
    int failed = 0, skipped = 0;

    for (size_t i = 0; i < AT_COUNT(sound); i += step) {
        struct prepared made;
        struct launched launched;
        int wrong;

        if (!prepare(&made, sound[i].name, *state)) {
            skipped++;
            continue;
        }
        if (!made.kernel) {
            fprintf(stderr, "%s: %s\n", sound[i].name, made.refusal.message);
            failed++;
            at_ptx_free(made.module);
            continue;
        }
        run(&launched, &sound[i], made.kernel, NULL);
        wrong = first_difference(&sound[i], &launched);
        if (launched.fault.kind)
            fprintf(stderr, "%s: %s\n", sound[i].name, launched.fault.message);
        else if (wrong >= 0)
            fprintf(stderr, "%s: element %d is wrong\n", sound[i].name, wrong);
        failed += launched.fault.kind || wrong >= 0;
        at_emu_memory_free(launched.memory);
        at_ptx_free(made.module);
    }
    if (skipped)
        fprintf(stderr, "%d kernels skipped: no nv/target in %s\n", skipped, libcuxx_folder + 2);
    assert_int_equal(failed, 0);
}

/* The line is said as "NAME.cu line 12". */
static void assert_at_line(const char *name, const char *message, int line)
{
    char *place = at_format("%s.cu line %d", name, line);

    if (!strstr(message, place))
        fail_msg("%s: \"%s\" does not say \"%s\"", name, message, place);
    free(place);
}

/* A sample has a third of them. */
static void test_unsound(void **state)
{
    for (size_t i = 0; i < AT_COUNT(unsound); i += runs_whole() ? 1 : 3) {
        const struct sound_kernel call = {unsound[i].name, ONE(1), ONE(32), 0, 'i', 'i', 32, 32, 32,
                                          EXACT,           NULL};
        const char *message;
        struct launched launched = {0};
        struct prepared made;

        assert_true(prepare(&made, unsound[i].name, *state));
        if (unsound[i].kind == AT_EMU_NO_FAULT) {
            assert_null(made.kernel);
            message = made.refusal.message;
        } else {
            if (!made.kernel)
                fail_msg("%s: %s", unsound[i].name, made.refusal.message);
            run(&launched, &call, made.kernel, NULL);
            assert_int_equal(launched.fault.kind, unsound[i].kind);
            message = launched.fault.message;
        }
        if (!strstr(message, unsound[i].message))
            fail_msg("%s: \"%s\" does not say \"%s\"", unsound[i].name, message,
                     unsound[i].message);
        assert_at_line(unsound[i].name, message, made.marked_line);
        at_emu_memory_free(launched.memory);
        at_ptx_free(made.module);
    }
}

static const struct sound_kernel *find(const char *name)
{
    for (size_t i = 0; i < AT_COUNT(sound); i++)
        if (strcmp(sound[i].name, name) == 0)
            return &sound[i];
    fail_msg("no kernel %s", name);
    return NULL;
}

/* What the blocks print comes in their order, whichever host thread ran them. */
static void test_printed(void **state)
{
    struct prepared made;
    struct launched launched;

    assert_true(prepare(&made, "print_lines", *state));
    assert_non_null(made.kernel);
    run(&launched, find("print_lines"), made.kernel, NULL);
    assert_string_equal(launched.printed, "0:  0.00|text|a|123456789abc|7   |%\n"
                                          "1:  1.25|text|b|123456789abc|7   |%\n"
                                          "2:  0.00|text|a|123456789abc|7   |%\n"
                                          "3:  1.25|text|b|123456789abc|7   |%\n"
                                          "4:  0.00|text|a|123456789abc|7   |%\n"
                                          "5:  1.25|text|b|123456789abc|7   |%\n");
    at_emu_memory_free(launched.memory);
    at_ptx_free(made.module);
}

/* A field is at most 1024 characters wide, and a conversion that is none prints nothing. */
static void test_printed_fields(void **state)
{
    struct prepared made;
    struct launched launched;
    const char *wide;

    assert_true(prepare(&made, "print_fields", *state));
    assert_non_null(made.kernel);
    run(&launched, find("print_fields"), made.kernel, NULL);
    wide = strchr(strchr(launched.printed, '\n') + 1, '\n') + 1;
    assert_memory_equal(launched.printed, "   7|7   |0.2|+001.500|te|    t|%|0xff|1|\n", 42);
    assert_int_equal(strcspn(wide, "|"), 1024);
    assert_int_equal(strcspn(wide + 1025, "|"), 1024 + 2);
    at_emu_memory_free(launched.memory);
    at_ptx_free(made.module);
}

/* The comparison itself finds a single wrong element of each type. */
static void test_comparison(void **state)
{
    static const char *const names[] = {"saxpy",    "reduce_1",  "math_f64",
                                        "axpy_f16", "axpy_bf16", "wide_product"};

    for (size_t i = 0; i < AT_COUNT(names); i++) {
        const struct sound_kernel *test = find(names[i]);
        struct prepared made;
        struct launched launched;
        int bytes = bytes_of_type(test->out), last = test->out_count - 1;

        if (!prepare(&made, names[i], *state))
            continue;
        run(&launched, test, made.kernel, NULL);
        assert_int_equal(first_difference(test, &launched), -1);
        launched.out[(last + 1) * bytes - 1] ^= 1;
        assert_int_equal(first_difference(test, &launched), last);
        at_emu_memory_free(launched.memory);
        at_ptx_free(made.module);
    }
}

/* at_nvrtc_open lets NVRTC find its built-in declarations, where the loader does not know them. */
static int open_compiler(void **state)
{
    struct at_nvrtc *nvrtc;
    void *library;

    (void)state;
    assert_int_equal(at_nvrtc_open(&nvrtc, 90, AT_IMAGE_PTX, NULL), AT_OK);
    find_headers(at_nvrtc_headers(nvrtc));
    at_nvrtc_close(nvrtc);
    library = dlopen(at_nvrtc_path(), RTLD_NOW);
    assert_non_null(library);
#define LOAD(name) *(void **)&api.name = dlsym(library, #name);
    FUNCTIONS(LOAD)
#undef LOAD
    return 0;
}

static int free_headers(void **state)
{
    (void)state;
    free(cuda_folder);
    free(libcuxx_folder);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"sound kernels, compute_90", test_sound, NULL, NULL, newest},
        {"sound kernels, compute_80", test_sound, NULL, NULL, oldest},
        {"unsound kernels", test_unsound, NULL, NULL, newest},
        {"printed", test_printed, NULL, NULL, newest},
        {"printed fields", test_printed_fields, NULL, NULL, newest},
        {"comparison", test_comparison, NULL, NULL, newest},
    };

    if (lacks_nvrtc())
        return SKIPPED;
    return cmocka_run_group_tests(tests, open_compiler, free_headers);
}
