/* SPDX-License-Identifier: Apache-2.0 */
/* src/kernel: the text for the compiler, and reading its log. */
#include "base/memory.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "template_header.h"

static struct at_param tile_params[] = {{.name = (char[]){"TILE"}}, {.name = (char[]){"PAD"}}};
static struct at_family tile = {.name = (char[]){"tile"},
                                .template_path = (char[]){"templates/tile.cu"},
                                .source = (char[]){"// tile\nvoid transpose() {}"},
                                .params = tile_params,
                                .param_count = AT_COUNT(tile_params)};
static struct at_family plain = {.name = (char[]){"plain-1"},
                                 .template_path = (char[]){"plain-1.cu"},
                                 .source = (char[]){"// plain\n"}};

static struct at_family tall = {.name = (char[]){"tall"}, .tall_rows = 100};

static struct at_family including = {
    .name = (char[]){"including"},
    .template_path = (char[]){"templates/including.cu"},
    .source = (char[]){"// including\n#include \"transpose.cuh\"\n"
                       "#if TILE\n#  ifdef PAD\n#include <cuda_bf16.h>\n#  endif\n#endif\n"
                       "  # include <cuda_fp16.h>\n"}};
static struct at_family perhaps = {.name = (char[]){"perhaps"},
                                   .template_path = (char[]){"templates/perhaps.cu"},
                                   .source =
                                       (char[]){"#if TILE == 4\n#include <cuda_fp16.h>\n#endif\n"}};

/* ---- rendering ---- */

static void test_macros(void **state)
{
    const struct at_config config = {&tile, {32, -1}}, least = {&tile, {INT32_MIN, INT32_MAX}};
    const struct {
        const struct at_config *config;
        int64_t elem_size;
        int64_t rows;
        const char *lines, *options;
        enum at_groups_kind groups;
    } cases[] = {
        {&config, 4, 1, "#define ELEM_SIZE 4\n#define TILE 32\n#define PAD -1\n",
         "-DELEM_SIZE=4 -DTILE=32 -DPAD=-1", AT_NO_GROUPS},
        {&config, 16, 1, "#define ELEM_SIZE 16\n#define TILE 32\n#define PAD -1\n",
         "-DELEM_SIZE=16 -DTILE=32 -DPAD=-1", AT_NO_GROUPS},
        {&least, 1, 1, "#define ELEM_SIZE 1\n#define TILE -2147483648\n#define PAD 2147483647\n",
         "-DELEM_SIZE=1 -DTILE=-2147483648 -DPAD=2147483647", AT_NO_GROUPS},
        {&(struct at_config){.family = &plain}, 2, 1000, "#define ELEM_SIZE 2\n", "-DELEM_SIZE=2",
         AT_NO_GROUPS},
        {&(struct at_config){.family = &tall}, 2, 99, "#define ELEM_SIZE 2\n", "-DELEM_SIZE=2",
         AT_NO_GROUPS},
        {&(struct at_config){.family = &tall}, 2, 100, "#define ELEM_SIZE 2\n#define TALL 1\n",
         "-DELEM_SIZE=2 -DTALL=1", AT_NO_GROUPS},
        {&(struct at_config){.family = &plain}, 2, 1, "#define ELEM_SIZE 2\n#define GROUPED 1\n",
         "-DELEM_SIZE=2 -DGROUPED=1", AT_GROUP_LIST},
        {&(struct at_config){.family = &plain}, 2, 1, "#define ELEM_SIZE 2\n#define GROUPED 2\n",
         "-DELEM_SIZE=2 -DGROUPED=2", AT_RAGGED_GROUPS},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_problem_kind kind = {
            cases[i].elem_size, 1, cases[i].rows, {0}, cases[i].groups};
        char *text = at_render_macros(cases[i].config, kind);
        char *options = at_render_options(cases[i].config, kind);

        assert_string_equal(text, cases[i].lines);
        assert_string_equal(options, cases[i].options);
        free(options);
        free(text);
    }
}

/* What a template includes comes before all namespaces, with its place, and nothing else does. What
 * is inside of #if stays there. */
static void test_includes(void **state)
{
    static const char expected[] = "#define AT_MOVES_ONLY 1\n"
                                   "#include \"transpose.cuh\"\n"
                                   "#line 8 \"including.cu\"\n"
                                   "  # include <cuda_fp16.h>\n"
                                   "#define ELEM_SIZE 4\n";
    const struct at_config configs[] = {{&including, {0}}, {&plain, {0}}};
    const struct at_rendering renderings[] = {{&configs[0], {4, 1, 1, {0}, AT_NO_GROUPS}, "k_1"},
                                              {&configs[1], {4, 1, 1, {0}, AT_NO_GROUPS}, "k_2"}};
    char *text = at_render_program(renderings, AT_COUNT(renderings));

    (void)state;
    assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
    free(text);
}

/* What follows the line that says where a part of the header begins. */
static const char *after_line(const char *header, const char *name)
{
    char *line = at_format("#line 1 \"%s\"\n", name);
    const char *text = strstr(header, line);

    assert_non_null(text);
    text += strlen(line);
    free(line);
    return text;
}

/* The header comes with its parts, whose lines keep their names and numbers, and so do its own
 * lines behind them. */
static void test_header(void **state)
{
    char *header = template_header(), *own = text_of("templates/" AT_TEMPLATE_HEADER);
    const char *directive = own;
    size_t parts = 0;

    (void)state;
    for (int line = 1; *directive; line++, directive += strcspn(directive, "\n") + 1) {
        char name[64], *resumed, *path, *part;

        if (sscanf(directive, "#include \"%63[^\"]\"", name) != 1)
            continue;
        parts++;
        assert_true(at_template_header_has(header, name));
        path = at_format("templates/%s", name);
        part = text_of(path);
        resumed = at_format("%s#line %d \"" AT_TEMPLATE_HEADER "\"\n", part, line + 1);
        assert_int_equal(strncmp(after_line(header, name), resumed, strlen(resumed)), 0);
        free(resumed);
        free(part);
        free(path);
    }
    assert_int_not_equal(parts, 0);
    assert_true(at_template_header_has(header, AT_TEMPLATE_HEADER));
    assert_false(at_template_header_has(header, "tile.cu"));
    assert_null(strstr(header, "#include"));
    free(own);
    free(header);
}

/* A kernel that includes nothing has the same key wherever CUDA's headers are. */
static void test_keys(void **state)
{
    const struct at_config configs[] = {{&plain, {0}}, {&including, {0}}, {&perhaps, {0}}};
    struct at_compiler here = {.headers = "here"}, there = {.headers = "there"};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(configs); i++) {
        char keys[2][AT_HASH_CHARS];

        at_kernel_key(keys[0], &here, "", &configs[i],
                      (struct at_problem_kind){.elem_size = 4, .axes = 1, .rows = 1});
        at_kernel_key(keys[1], &there, "", &configs[i],
                      (struct at_problem_kind){4, 1, 1, {0}, AT_NO_GROUPS});
        assert_int_equal(strcmp(keys[0], keys[1]) == 0, configs[i].family == &plain);
    }
}

/* Those that a template gets from a problem (at_template_macros). */
#define MACROS_UNDEFINED                                                                           \
    "#undef ELEM_SIZE\n"                                                                           \
    "#undef AXES\n"                                                                                \
    "#undef TALL\n"                                                                                \
    "#undef RESULT_SIZE\n"                                                                         \
    "#undef STEP\n"                                                                                \
    "#undef STEP_NUMBERS\n"                                                                        \
    "#undef FROM\n"                                                                                \
    "#undef RULE\n"                                                                                \
    "#undef TO\n"                                                                                  \
    "#undef SCALE_LAYOUT\n"                                                                        \
    "#undef SCALE_ROWS\n"                                                                          \
    "#undef SCALE_COLS\n"                                                                          \
    "#undef KEPT_TO\n"                                                                             \
    "#undef KEPT_LAYOUT\n"                                                                         \
    "#undef KEPT_ROWS\n"                                                                           \
    "#undef KEPT_COLS\n"                                                                           \
    "#undef SUMS\n"                                                                                \
    "#undef GROUPED\n"

/* Two configs of one family and one of another: each has only its own macros, and compiler messages
 * name the template and its lines. */
static void test_program(void **state)
{
    static const char expected[] = "#define AT_MOVES_ONLY 1\n"
                                   "#include \"transpose.cuh\"\n"
                                   "#define ELEM_SIZE 4\n"
                                   "#define TILE 32\n"
                                   "#define PAD 1\n"
                                   "#define transpose k_a\n"
                                   "namespace k_a_source {\n"
                                   "#line 1 \"tile.cu\"\n"
                                   "// tile\n"
                                   "void transpose() {}\n"
                                   "}\n"
                                   "#undef transpose\n" MACROS_UNDEFINED "#undef TILE\n"
                                   "#undef PAD\n"
                                   "#define ELEM_SIZE 8\n"
                                   "#define AXES 3\n"
                                   "#define TILE 64\n"
                                   "#define PAD 0\n"
                                   "#define transpose k_b\n"
                                   "namespace k_b_source {\n"
                                   "#line 1 \"tile.cu\"\n"
                                   "// tile\n"
                                   "void transpose() {}\n"
                                   "}\n"
                                   "#undef transpose\n" MACROS_UNDEFINED "#undef TILE\n"
                                   "#undef PAD\n"
                                   "#define ELEM_SIZE 1\n"
                                   "#define transpose k_c\n"
                                   "namespace k_c_source {\n"
                                   "#line 1 \"plain-1.cu\"\n"
                                   "// plain\n"
                                   "\n"
                                   "}\n"
                                   "#undef transpose\n" MACROS_UNDEFINED;
    const struct at_config configs[] = {{&tile, {32, 1}}, {&tile, {64, 0}}, {.family = &plain}};
    const struct at_rendering renderings[] = {
        {&configs[0], {4, 1, 1, {0}, AT_NO_GROUPS}, "k_a"},
        {&configs[1], {8, 3, 1, {0}, AT_NO_GROUPS}, "k_b"},
        {&configs[2], {1, 1, 1, {0}, AT_NO_GROUPS}, "k_c"},
    };
    char *text = at_render_program(renderings, AT_COUNT(renderings));

    (void)state;
    assert_string_equal(text, expected);
    free(text);
}

/* The header has arithmetic and groups if one of a program's kernels needs them. */
static void test_moves_only(void **state)
{
    static const char define[] = "#define AT_MOVES_ONLY 1\n";
    static const struct {
        struct at_problem_kind kind;
        bool only;
    } cases[] = {
        {{4, 1, 1, {0}, AT_NO_GROUPS}, true},
        {{4, 3, 1, {0}, AT_NO_GROUPS}, true},
        {{4, 1, 1, {.given = true}, AT_NO_GROUPS}, false},
        {{4, 1, 1, {0}, AT_GROUP_LIST}, false},
        {{4, 1, 1, {0}, AT_RAGGED_GROUPS}, false},
    };
    const struct at_config config = {.family = &plain};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_rendering renderings[] = {{&config, cases[0].kind, "k_1"},
                                                  {&config, cases[i].kind, "k_2"}};
        char *text = at_render_program(renderings, AT_COUNT(renderings));

        assert_int_equal(strncmp(text, define, strlen(define)) == 0, cases[i].only);
        free(text);
    }
}

/* ---- the compiler's log ---- */

/* Logs of ptxas 13.0, except for the last kernel: its name begins like another's, and its numbers
 * are as large as possible. */
static const char resources_log[] =
    "ptxas warning : Value of threads per SM for entry k_two is out of range. .minnctapersm will "
    "be ignored\n"
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'k_two' for 'sm_75'\n"
    "ptxas info    : Function properties for k_two\n"
    "    104 bytes stack frame, 112 bytes spill stores, 116 bytes spill loads\n"
    "ptxas info    : Used 64 registers, used 1 barriers, 104 bytes cumulative stack size, 368 "
    "bytes cmem[0]\n"
    "ptxas info    : Compile time = 27.306 ms\n"
    "ptxas info    : Compiling entry function 'k_one' for 'sm_90'\n"
    "ptxas info    : Function properties for k_one\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 14 registers, used 1 barriers, 132 bytes smem\n"
    "ptxas info    : Compile time = 1.237 ms\n"
    "ptxas info    : Compiling entry function 'k_one_more' for 'sm_75'\n"
    "ptxas info    : Function properties for k_one_more\n"
    "    0 bytes stack frame, 10000 bytes spill stores, 20000 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 0 barriers, 49152 bytes smem, 424 bytes cmem[0]\n";

static void test_resources(void **state)
{
    static const struct {
        const char *log, *entry;
        struct at_kernel_resources expected; /* registers, spilled, shared */
    } cases[] = {
        {resources_log, "k_two", {64, 228, 0}},
        {resources_log, "k_one", {14, 0, 132}},
        {resources_log, "k_one_more", {255, 30000, 49152}},
        {resources_log, "k_on", {0, 0, 0}},
        {resources_log, "k_three", {0, 0, 0}},
        {"", "k_one", {0, 0, 0}},
        {"ptxas info    : Compiling entry function 'k_one' for 'sm_90'", "k_one", {0, 0, 0}},
        {"Compiling entry function 'k_one' registers, bytes smem", "k_one", {0, 0, 0}},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_kernel_resources got = at_ptxas_resources(cases[i].log, cases[i].entry);

        assert_int_equal(got.registers, cases[i].expected.registers);
        assert_int_equal(got.spill_bytes, cases[i].expected.spill_bytes);
        assert_int_equal(got.shared_bytes, cases[i].expected.shared_bytes);
    }
}

static void test_first_error(void **state)
{
    static const struct {
        const char *log, *expected;
        bool none; /* no error in it: the first line is returned */
    } cases[] = {
        {"tile.cu(12): error: identifier \"x\" is undefined\n      x = 1;\n      ^\n\n"
         "1 error detected in the compilation of \"program.cu\".\n",
         "tile.cu(12): error: identifier \"x\" is undefined", false},
        {"tile.cu(3): catastrophic error: #error directive: \"no\"\n1 catastrophic error\n",
         "tile.cu(3): catastrophic error: #error directive: \"no\"", false},
        /* Warnings come first and may mention errors. */
        {"tile.cu(3): warning #177-D: variable \"y\" was declared but never referenced\n      int "
         "y;\n          ^\n\ntile.cu(4): error: expected a \";\"\n",
         "tile.cu(4): error: expected a \";\"", false},
        {"tile.cu(3): warning #177-D: variable \"error\" was declared but never referenced\n"
         "tile.cu(4): error: expected a \";\"\n",
         "tile.cu(4): error: expected a \";\"", false},
        {"tile.cu(3): warning #1105-D: #warning directive: \"rounding errors: none\"\n"
         "tile.cu(4): error: expected a \";\"\n",
         "tile.cu(4): error: expected a \";\"", false},
        {"ptxas error   : Entry function 'k' uses too much shared data (0xd000 bytes, 0xc000 max)",
         "ptxas error   : Entry function 'k' uses too much shared data (0xd000 bytes, 0xc000 max)",
         false},
        {"ptxas application ptx input, line 26; error   : Instruction 'setmaxnreg.inc' not "
         "supported "
         "on .target 'sm_90'\nptxas fatal   : Ptx assembly aborted due to errors\n",
         "ptxas application ptx input, line 26; error   : Instruction 'setmaxnreg.inc' not "
         "supported "
         "on .target 'sm_90'",
         false},
        {"tile.cu(3): warning #1105-D: #warning directive: \"late; error \"\nptxas fatal   : out "
         "of it\n",
         "ptxas fatal   : out of it", false},
        /* A function without __device__ counts as host code, but the constant is at fault. */
        {"a.cu(1): error: host functions are not allowed\n  constexpr int f(int n)\n\n"
         "a.cu(2): error: expression must have a constant value\n  constexpr int v = f(1);\n"
         "a.cu(2): note #2431-D: expression not folded to a constant due to excessive constexpr "
         "function call complexity\n",
         "a.cu(2): error: expression must have a constant value: computing it takes NVRTC too many "
         "steps",
         false},
        {"it failed\nand says no more", "it failed", true},
        {"ptxas info    : 0 bytes gmem\nptxas info    : Used 24 registers, 1048576 bytes smem\n",
         "ptxas info    : 0 bytes gmem", true},
        {"\n", "NVRTC ended without a message; it may be out of memory", true},
        {"", "NVRTC ended without a message; it may be out of memory", true},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char text[256];
        bool found = at_compile_first_error(cases[i].log, text, sizeof text);

        assert_int_equal(found, !cases[i].none);
        assert_string_equal(text, cases[i].expected);
    }
}

/* A template may contain anything; what a message repeats of it must not control a terminal. */
static void test_first_error_is_printable(void **state)
{
    char log[64], text[256], cut[8];

    (void)state;
    for (int c = 1; c < 256; c++) {
        if (c == '\n')
            continue;
        snprintf(log, sizeof log, "a.cu(1): error: <%c>", c);
        at_compile_first_error(log, text, sizeof text);
        assert_memory_equal(text, "a.cu(1): error: <", 17);
        assert_int_equal((unsigned char)text[17], c < ' ' || c == 127 ? ' ' : c);
        assert_string_equal(text + 18, ">");
    }
    at_compile_first_error("a.cu(1): error: too long for this", cut, sizeof cut);
    assert_string_equal(cut, "a.cu(1)");
    at_compile_first_error("a.cu: µ): error", cut, sizeof cut); /* µ has two bytes */
    assert_string_equal(cut, "a.cu: ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_macros),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_header),
        cmocka_unit_test(test_includes),
        cmocka_unit_test(test_moves_only),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_resources),
        cmocka_unit_test(test_first_error),
        cmocka_unit_test(test_first_error_is_printable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
