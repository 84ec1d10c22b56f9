/* SPDX-License-Identifier: Apache-2.0 */
/* The conversions of CUDA's headers on the emulated device: by the instructions that a GPU has, and
 * by the integer arithmetic of the headers where it has none. Each result is the reference's, bit
 * for bit. `test_conversions cuda` runs them on a GPU. */
#include "base/memory.h"
#include "device/cuda/cuda_device.h"
#include "device/device.h"
#include "emulated/device/emulated.h"
#include "kernel/nvrtc.h"
#include "numbers/numbers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../kernels/conversions.h"
#include "sample.h"
#include "skipped.h"
#include "source_tree.h"

enum { BLOCK = 256, PATTERNS = 1 << 16, SAMPLE = 1 << 10 };

static const struct conversion {
    const char *name;
    enum at_number to, from;
    int units; /* numbers that a thread converts */
    enum at_rounding rounding;
    bool saturate;
} conversions[] = {
#define ROW(name, to, from, units, rounding, saturate, OUT, IN, value)                             \
    {#name, AT_##to, AT_##from, units, AT_##rounding, saturate},
    ALL_CONVERSIONS(ROW)
#undef ROW
};

/* GPUs that differ in their instructions: 8-bit floats come with 8.9, more of bf16 with 9.0, and
 * e8m0 with the features that each GPU from 10.0 on has for itself. */
static const struct target {
    const char *name;
    int64_t compute_capability;
    bool sampled;
    const char *features;
} targets[] = {
    {"compute_80", 80, true, ""},
    {"compute_86", 86, false, ""},
    {"compute_89", 89, false, ""},
    {"compute_90", 90, false, ""},
    {"compute_100", 100, true, "#define __CUDA_ARCH_FAMILY_SPECIFIC__ 1000\n"},
    {"compute_120", 120, false, ""},
};

static const struct at_device_ops *ops = &at_emu_device_ops;
static struct at_device *device;

/* ---- numbers to convert ---- */

static uint64_t next_bits(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 32 | *state << 32;
}

/* A float of an exponent that smaller formats have too, often near a tie of theirs. */
static uint64_t random_float(const struct at_number_format *format, uint64_t *state)
{
    uint64_t random = next_bits(state), sign = random >> 63, rest = next_bits(state);
    int place = 1 + (int)(next_bits(state) % (uint64_t)format->mantissa);
    uint64_t exponent = (uint64_t)format->bias - 140 + random % 280;
    uint64_t ends[] = {rest, 0, UINT64_C(1) << (place - 1), (UINT64_C(1) << (place - 1)) + 1};
    uint64_t kept = rest >> place << place, low = ends[rest % 4] & ((UINT64_C(1) << place) - 1);

    if (format->bias < 140)
        exponent = random % (2 * (uint64_t)format->bias + 2);
    return sign << (8 * format->bytes - 1) | exponent << format->mantissa |
           ((kept | low) & ((UINT64_C(1) << format->mantissa) - 1));
}

/* An integer of any magnitude, often near a tie. */
static uint64_t random_integer(const struct at_number_format *format, uint64_t *state)
{
    uint64_t random = next_bits(state), value = random >> (next_bits(state) % 64);
    int place = (int)(next_bits(state) % 64);

    if (random & 1)
        value = (value >> place << place) + (UINT64_C(1) << place >> 1) + (random >> 1) % 3 - 1;
    if (random & 8)
        value = 0 - value;
    return value & UINT64_MAX >> (64 - 8 * format->bytes);
}

/* Number `i` to convert: first 0, 1 and the largest bits; all, or many, of the small formats. */
static uint64_t input(const struct at_number_format *format, int i, uint64_t *state)
{
    uint64_t all = UINT64_MAX >> (64 - 8 * format->bytes), sign = all ^ all >> 1;
    uint64_t infinite = sign - (UINT64_C(1) << format->mantissa);
    const uint64_t special[] = {
        0,        1,        all,          all - 1,         sign,         sign | 1,
        sign - 1, infinite, infinite - 1, infinite | sign, infinite | 1, sign | (infinite - 1),
        all ^ 2,  sign | 2, infinite | 2, infinite >> 1,   sign >> 1,    (sign >> 1) - 1,
    };

    if (format->bytes <= 2)
        return (uint64_t)i * 40503 & all;
    if (i < (int)AT_COUNT(special))
        return special[i] & all;
    return format->kind == AT_NUMBER_FLOAT ? random_float(format, state)
                                           : random_integer(format, state);
}

/* ---- running ---- */

static uint64_t element(const char *buffer, int i, int bytes)
{
    uint64_t bits = 0;

    memcpy(&bits, buffer + i * bytes, (size_t)bytes);
    return bits;
}

static void require(enum at_outcome outcome, const struct at_error *err)
{
    if (outcome != AT_CORRECT)
        fail_msg("%s", err->message);
}

/* Run the kernel on `count` numbers. */
static void run(const struct at_kernel *kernel, const struct conversion *test, char *out,
                const char *in, int count)
{
    size_t in_bytes = (size_t)(count * at_number_formats[test->from].bytes);
    size_t out_bytes = (size_t)(count * at_number_formats[test->to].bytes);
    int threads = count / test->units;
    struct at_call call = {
        .kernel = kernel,
        .launch.field = {[AT_GRID_X] = (threads + BLOCK - 1) / BLOCK,
                         [AT_GRID_Y] = 1,
                         [AT_GRID_Z] = 1,
                         [AT_BLOCK_X] = BLOCK,
                         [AT_BLOCK_Y] = 1,
                         [AT_BLOCK_Z] = 1,
                         [AT_CARVEOUT_PERCENT] = -1},
    };
    struct at_error err = {AT_OK, ""};

    require(ops->allocate(device, (int64_t)out_bytes, &call.args[0], &err), &err);
    require(ops->allocate(device, (int64_t)in_bytes, &call.args[1], &err), &err);
    call.args[2] = (uint64_t)threads;
    require(ops->write(device, call.args[1], in, in_bytes, &err), &err);
    require(ops->start(device, &call, &err), &err);
    require(ops->wait(device, &err), &err);
    require(ops->read(device, out, call.args[0], out_bytes, &err), &err);
    ops->release(device, call.args[0]);
    ops->release(device, call.args[1]);
}

/* Returns how many of `count` results are wrong. */
static int wrong_results(const struct at_kernel *kernel, const struct conversion *test, int count)
{
    const struct at_number_format *from = &at_number_formats[test->from];
    int to_bytes = at_number_formats[test->to].bytes, wrong = 0;
    char *in = at_alloc((size_t)(count * from->bytes)), *out = at_alloc((size_t)(count * to_bytes));
    uint64_t state = 1;

    for (int i = 0; i < count; i++) {
        uint64_t bits = input(from, i, &state);

        memcpy(in + i * from->bytes, &bits, (size_t)from->bytes);
    }
    run(kernel, test, out, in, count);
    for (int i = 0; i < count; i++) {
        uint64_t bits = element(in, i, from->bytes), result = element(out, i, to_bytes);
        uint64_t expected =
            at_number_convert(test->to, test->from, bits, test->rounding, test->saturate);

        if (result != expected && wrong++ < 2)
            fprintf(stderr, "%s of %#llx is %#llx, not %#llx\n", test->name,
                    (unsigned long long)bits, (unsigned long long)result,
                    (unsigned long long)expected);
    }
    free(out);
    free(in);
    return wrong;
}

static struct at_module *compile(const struct target *target)
{
    char *kernels = text_of("tests/kernels/conversions.cu"), *folder = path_of("tests/kernels");
    char *source = at_format("%s%s", target->features, kernels);
    const char *const folders[] = {folder};
    enum at_image image = ops == &at_emu_device_ops ? AT_IMAGE_PTX_ALONE : AT_IMAGE_CUBIN;
    struct at_compilation made = {0};
    struct at_error err = {AT_OK, ""};
    struct at_module *module = NULL;
    struct at_nvrtc *nvrtc;

    assert_int_equal(at_nvrtc_open(&nvrtc, target->compute_capability, image, &err), AT_OK);
    at_nvrtc_search(nvrtc, folders, 1);
    if (at_nvrtc_compile(&made, nvrtc, source, "", false, &err) != AT_OK)
        fail_msg("%s", err.message);
    if (!made.image)
        fail_msg("%s", made.log);
    require(ops->load(device, made.image, made.size, &module, &err), &err);
    at_nvrtc_close(nvrtc);
    free(made.image);
    free(made.log);
    free(source);
    free(folder);
    free(kernels);
    return module;
}

static void test_headers(void **state)
{
    struct at_module *module = compile(*state);
    int failed = 0;

    for (size_t i = 0; i < AT_COUNT(conversions); i++) {
        struct at_kernel kernel = {0};
        struct at_error err = {AT_OK, ""};

        if (ops->find(device, module, conversions[i].name, &kernel, &err) != AT_CORRECT) {
            fprintf(stderr, "%s: %s\n", conversions[i].name, err.message);
            failed++;
        } else {
            failed += wrong_results(&kernel, &conversions[i], runs_whole() ? PATTERNS : SAMPLE) > 0;
        }
    }
    ops->unload(device, module);
    assert_int_equal(failed, 0);
}

/* at_nvrtc_open says what is missing. e8m0 came with CUDA 12.8. */
static bool lacks_header(void)
{
    struct at_nvrtc *nvrtc;
    bool lacks = true;

    if (lacks_nvrtc())
        return true;
    if (at_nvrtc_open(&nvrtc, 90, AT_IMAGE_PTX_ALONE, NULL) == AT_OK) {
        lacks = !at_nvrtc_headers(nvrtc) || at_nvrtc_version(nvrtc) < 1208;
        at_nvrtc_close(nvrtc);
    }
    if (lacks)
        fprintf(stderr, "skipped: no cuda_fp8.h of CUDA 12.8 or newer\n");
    return lacks;
}

int main(int argc, char **argv)
{
    struct CMUnitTest tests[AT_COUNT(targets)];
    struct target gpu = {"GPU", 0, true, ""};
    struct at_error err = {AT_OK, ""};
    size_t count = 0;

    if (lacks_header())
        return SKIPPED;
    use_source_tree();
    if (argc > 1 && strcmp(argv[1], "cuda") == 0)
        ops = &at_cuda_device_ops;
    if (at_device_open(ops, &device, 0, &err) != AT_OK) {
        fprintf(stderr, "%s\n", err.message);
        return EXIT_FAILURE;
    }
    gpu.compute_capability = ((struct at_device_base *)device)->info.compute_capability;
    for (size_t i = 0; i < AT_COUNT(targets) && ops == &at_emu_device_ops; i++)
        if (targets[i].sampled || runs_whole())
            tests[count++] =
                (struct CMUnitTest){targets[i].name, test_headers, NULL, NULL, (void *)&targets[i]};
    if (count == 0)
        tests[count++] = (struct CMUnitTest){gpu.name, test_headers, NULL, NULL, &gpu};
    return _cmocka_run_group_tests("conversions", tests, count, NULL, NULL);
}
