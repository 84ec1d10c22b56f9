/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of templates/quantise.cu, on the machine, against the references of block scales: each
 * byte of both results and of both arrays of scales. */
#include "emulated/machine/machine.h"
#include "emulated/ptx/ptx.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"
#include "problem/arguments.h"
#include "problem/block_scale.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "skipped.h"
#include "source_tree.h"

enum { HOST_THREADS = 2, MATRICES = 2 };

struct side {
    int rows, cols; /* of a block of the source; 0: no such result */
    enum at_scale_layout layout;
};

static const struct test_case {
    enum at_block_rules rule;
    enum at_number from, to;
    struct side transposed, kept;
    int rows, cols, ld_src, ld_dst;
    const char *macros; /* of the config */
    int tile_rows, tile_cols, threads, shared_bytes;
    bool has_tensor;
} cases[] = {
#define DEFAULT_TILE 128, 128, 256
    {AT_RULE_TE,
     AT_BF16,
     AT_E4M3,
     {128, 1, AT_SCALES_TRANSPOSED},
     {1, 128, AT_SCALES_ALIGNED},
     150,
     135,
     136,
     160,
     "",
     DEFAULT_TILE,
     17408,
     false},
    {AT_RULE_TE_POW2,
     AT_F16,
     AT_E5M2,
     {128, 128, AT_SCALES_TRANSPOSED},
     {128, 128, AT_SCALES_PLAIN},
     150,
     135,
     136,
     160,
     "",
     DEFAULT_TILE,
     16400,
     false},
    {AT_RULE_TORCHAO,
     AT_F32,
     AT_E4M3,
     {128, 1, AT_SCALES_PLAIN},
     {0},
     150,
     133,
     136,
     151,
     "#define ELEMENTS 4\n#define LANES 32\n#define SHIFTED 1\n",
     DEFAULT_TILE,
     16896,
     false},
    {AT_RULE_TORCHAO,
     AT_BF16,
     AT_E4M3,
     {0},
     {1, 128, AT_SCALES_TRANSPOSED},
     150,
     135,
     136,
     160,
     "#define IN_WARP 1\n",
     DEFAULT_TILE,
     0,
     false},
    {AT_RULE_RCEIL,
     AT_BF16,
     AT_E4M3,
     {32, 1, AT_SCALES_SWIZZLED},
     {1, 32, AT_SCALES_SWIZZLED},
     150,
     135,
     136,
     160,
     "#define IN_WARP 1\n#define LANES 8\n",
     DEFAULT_TILE,
     16384,
     false},
    {AT_RULE_FLOOR,
     AT_BF16,
     AT_E4M3,
     {32, 1, AT_SCALES_SWIZZLED},
     {0},
     101,
     135,
     135,
     103,
     "#define UNALIGNED 1\n#define SHIFTED 1\n#define LANES 4\n#define TILE_COLS 32\n"
     "#define THREADS 128\n#define ELEMENTS 4\n",
     128,
     32,
     128,
     4608,
     false},
    {AT_RULE_RCEIL,
     AT_BF16,
     AT_E4M3,
     {32, 1, AT_SCALES_PLAIN},
     {1, 32, AT_SCALES_PLAIN},
     263,
     267,
     267,
     263,
     "#define UNALIGNED 1\n#define SHIFTED 1\n",
     DEFAULT_TILE,
     36864,
     false},
    {AT_RULE_TE,
     AT_F32,
     AT_E5M2,
     {1, 128, AT_SCALES_ALIGNED},
     {128, 1, AT_SCALES_PLAIN},
     135,
     263,
     263,
     144,
     "#define UNALIGNED 1\n#define ELEMENTS 4\n#define LANES 32\n#define RUN 16\n",
     DEFAULT_TILE,
     33792,
     false},
    {AT_RULE_EVEN,
     AT_F16,
     AT_E2M1,
     {32, 1, AT_SCALES_ALIGNED},
     {1, 32, AT_SCALES_PLAIN},
     150,
     135,
     136,
     160,
     "",
     DEFAULT_TILE,
     12288,
     false},
    {AT_RULE_CEIL,
     AT_F16,
     AT_E5M2,
     {1, 32, AT_SCALES_PLAIN},
     {32, 1, AT_SCALES_PLAIN},
     150,
     135,
     136,
     160,
     "",
     DEFAULT_TILE,
     20480,
     false},
    {AT_RULE_TE_RCEIL,
     AT_F32,
     AT_E4M3,
     {64, 64, AT_SCALES_PLAIN},
     {1, 32, AT_SCALES_PLAIN},
     150,
     132,
     136,
     160,
     "#define ELEMENTS 4\n#define LANES 32\n",
     DEFAULT_TILE,
     18448,
     false},
    {AT_RULE_NVFP4,
     AT_BF16,
     AT_E2M1,
     {16, 1, AT_SCALES_SWIZZLED},
     {1, 16, AT_SCALES_SWIZZLED},
     149,
     136,
     136,
     160,
     "",
     DEFAULT_TILE,
     16384,
     true},
    {AT_RULE_TE_NVFP4,
     AT_BF16,
     AT_E2M1,
     {16, 1, AT_SCALES_SWIZZLED},
     {1, 16, AT_SCALES_SWIZZLED},
     150,
     136,
     136,
     160,
     "",
     DEFAULT_TILE,
     16384,
     true},
#undef DEFAULT_TILE
};

/* NVRTC, and the text of the templates. */
static struct at_nvrtc *nvrtc;
static char *header, *source;

static struct at_ptx_module *compile(const struct test_case *test)
{
    const struct side *t = &test->transposed, *k = &test->kept;
    char *program =
        at_format("#define FROM %d\n#define ELEM_SIZE %d\n#define RULE %d\n"
                  "#define TO %d\n#define SCALE_LAYOUT %d\n#define KEPT_LAYOUT %d\n"
                  "#define SCALE_ROWS %d\n#define SCALE_COLS %d\n"
                  "#define KEPT_ROWS %d\n#define KEPT_COLS %d\n%s%s",
                  test->from, at_number_formats[test->from].bytes, test->rule, test->to, t->layout,
                  k->layout, t->rows, t->cols, k->rows, k->cols, test->macros, source);
    struct at_compilation compiled;
    struct at_ptx_module *module;
    struct at_error err = {AT_OK, ""};

    if (at_nvrtc_compile(&compiled, nvrtc, program, header, false, &err) != AT_OK)
        fail_msg("%s", err.message);
    if (!compiled.image)
        fail_msg("%s", compiled.log);
    if (at_ptx_read(&module, compiled.image, strlen(compiled.image), &err) != AT_OK)
        fail_msg("%s", err.message);
    at_free(compiled.image);
    at_free(compiled.log);
    at_free(program);
    return module;
}

/* A buffer of the machine, and what it should hold. */
struct buffer {
    uint64_t address;
    unsigned char *held, *expected;
    size_t bytes;
};

static struct buffer buffer_of(struct at_emu_memory *memory, int64_t bytes)
{
    struct buffer made = {.bytes = (size_t)(bytes ? bytes : 1)};

    made.address = at_emu_memory_allocate(memory, (int64_t)made.bytes);
    made.held = at_emu_memory_host(memory, made.address, made.bytes);
    made.expected = at_alloc(made.bytes);
    memset(made.held, 0, made.bytes);
    memset(made.expected, 0, made.bytes);
    return made;
}

/* Elements of all magnitudes, with NaN, infinities and blocks of zeros here and there. */
static void fill(unsigned char *elements, const struct test_case *test)
{
    static const double specials[] = {
        __builtin_nan(""), __builtin_inf(), -__builtin_inf(), 0, -0.0, 3e38};
    const int bytes = at_number_formats[test->from].bytes;
    uint32_t state = 59;

    for (int i = 0; i < MATRICES * test->rows * test->ld_src; i++) {
        int row = i / test->ld_src, col = i % test->ld_src;
        double value, unit = __builtin_ldexp(1, row / 16 * 7 % 31 - 20 + col / 16 * 5 % 17);
        uint64_t bits;

        state = state * 1664525 + 1013904223;
        value = ((double)(state >> 8) / (1 << 23) - 1) * unit;
        if (state >> 8 < 1 << 13)
            value = specials[(state >> 4) % AT_COUNT(specials)];
        if (row / 32 == 1 && col / 32 == 2)
            value = 0;
        bits = at_number_convert(test->from, AT_F64, at_bits_of_f64(value), AT_NEAREST, false);
        memcpy(elements + i * bytes, &bits, (size_t)bytes);
    }
}

static int64_t scale_bytes(const struct test_case *test, const struct side *side, bool transposed)
{
    int bytes = at_number_formats[at_block_rules[test->rule].scale].bytes;
    int64_t down, across;

    if (side->rows == 0)
        return 0;
    down = (test->rows + side->rows - 1) / side->rows;
    across = (test->cols + side->cols - 1) / side->cols;
    return MATRICES * bytes *
           at_scale_places(side->layout, transposed ? across : down, transposed ? down : across,
                           bytes);
}

static void expect(const struct test_case *test, const struct side *side, bool transposed,
                   const struct buffer *elements, const float *of_tensor,
                   const struct buffer *results, const struct buffer *scales)
{
    const struct at_scaled_result result = {&at_block_rules[test->rule],
                                            test->to,
                                            side->rows,
                                            side->cols,
                                            transposed,
                                            side->layout,
                                            NULL};

    for (size_t i = 0; side->rows && i < MATRICES; i++)
        at_block_apply(&result, test->from, elements->held + i * (elements->bytes / MATRICES),
                       test->rows, test->cols, test->ld_src, of_tensor,
                       results->expected + i * (results->bytes / MATRICES),
                       transposed ? test->ld_dst : test->ld_src,
                       scales->expected + i * (scales->bytes / MATRICES));
}

static void check(size_t number, const char *what, struct buffer *buffer)
{
    for (size_t i = 0; i < buffer->bytes; i++)
        if (buffer->held[i] != buffer->expected[i])
            fail_msg("case %zu: byte %zu of the %s is %02x, not %02x", number, i, what,
                     buffer->held[i], buffer->expected[i]);
    at_free(buffer->expected);
}

/* Run a case. With `skip` nothing may be written. */
static void run(size_t number, bool skips)
{
    const struct test_case *test = &cases[number];
    const int bits = at_number_bits(test->to), bytes = at_number_formats[test->from].bytes;
    const int down = (test->rows + test->tile_rows - 1) / test->tile_rows;
    const int across = (test->cols + test->tile_cols - 1) / test->tile_cols;
    struct at_emu_memory *memory = at_emu_memory_new();
    struct at_ptx_module *module = compile(test);
    struct buffer src = buffer_of(memory, (int64_t)MATRICES * test->rows * test->ld_src * bytes);
    struct buffer dst = buffer_of(memory, (int64_t)MATRICES * test->cols * test->ld_dst * bits / 8);
    struct buffer kept =
        buffer_of(memory, (int64_t)MATRICES * test->rows * test->ld_src * bits / 8);
    struct buffer scales = buffer_of(memory, scale_bytes(test, &test->transposed, true));
    struct buffer kept_scales = buffer_of(memory, scale_bytes(test, &test->kept, false));
    struct buffer tensor = buffer_of(memory, 4), skip = buffer_of(memory, 4);
    const float of_tensor = 448;
    const struct {
        uint64_t words[9];
        struct at_step_numbers numbers;
    } args = {{dst.address, src.address, (uint64_t)test->rows, (uint64_t)test->cols,
               (uint64_t)test->ld_src, (uint64_t)test->ld_dst, MATRICES,
               (uint64_t)test->rows * (uint64_t)test->ld_src,
               (uint64_t)test->cols * (uint64_t)test->ld_dst},
              {.number.at = test->has_tensor ? tensor.address : 0,
               .kept = kept.address,
               .skip = skip.address,
               .scales = scales.address,
               .kept_scales = kept_scales.address}};
    struct at_emu_launch launch = {.grid = {(uint32_t)(down * across * MATRICES), 1, 1},
                                   .block = {(uint32_t)test->threads, 1, 1},
                                   .dynamic_shared_bytes = test->shared_bytes,
                                   .args = args.words,
                                   .arg_count = 10,
                                   .arg_words = sizeof args / sizeof(uint64_t),
                                   .block_limit = AT_EMU_BLOCK_STEPS,
                                   .threads = HOST_THREADS,
                                   .find_races = true,
                                   .multiprocessors = 4};
    struct at_emu_fault fault = {0};
    struct at_error err = {AT_OK, ""};

    fill(src.held, test);
    memcpy(src.expected, src.held, src.bytes);
    memcpy(tensor.held, &of_tensor, sizeof of_tensor);
    skip.held[0] = skips;
    /* Padding is written, too. */
    memset(scales.held, 0xab, scales.bytes);
    memset(kept_scales.held, 0xab, kept_scales.bytes);
    if (skips || test->transposed.rows == 0)
        memset(scales.expected, 0xab, scales.bytes);
    if (skips || test->kept.rows == 0)
        memset(kept_scales.expected, 0xab, kept_scales.bytes);
    if (!skips) {
        const float *given = test->has_tensor ? &of_tensor : NULL;

        expect(test, &test->transposed, true, &src, given, &dst, &scales);
        expect(test, &test->kept, false, &src, given, &kept, &kept_scales);
    }
    if (at_ptx_find(module, "transpose", &launch.kernel, &err) != AT_OK ||
        at_emu_run(memory, &launch, &fault, &err) != AT_OK)
        fail_msg("case %zu: %s", number, err.message);
    if (fault.kind)
        fail_msg("case %zu: %s", number, fault.message);
    check(number, "source", &src);
    check(number, "transposed result", &dst);
    check(number, "kept result", &kept);
    check(number, "scales", &scales);
    check(number, "kept scales", &kept_scales);
    at_free(tensor.expected);
    at_free(skip.expected);
    at_emu_memory_free(memory);
    at_ptx_free(module);
}

static void kernels_equal_the_references(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++)
        run(i, false);
}

static void a_flag_skips_the_work(void **state)
{
    (void)state;
    run(0, true);
}

static int open_templates(void **state)
{
    struct at_error err = {AT_OK, ""};

    (void)state;
    use_source_tree();
    if (at_nvrtc_open(&nvrtc, 90, AT_IMAGE_PTX_ALONE, &err) != AT_OK ||
        at_template_header_read(&header, &err) != AT_OK ||
        at_template_read(&source, "quantise.cu", &err) != AT_OK)
        fail_msg("%s", err.message);
    return 0;
}

static int close_templates(void **state)
{
    (void)state;
    at_nvrtc_close(nvrtc);
    at_free(header);
    at_free(source);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_equal_the_references),
        cmocka_unit_test(a_flag_skips_the_work),
    };

    if (lacks_nvrtc())
        return SKIPPED;
    return cmocka_run_group_tests(tests, open_templates, close_templates);
}
