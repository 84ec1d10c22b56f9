/* SPDX-License-Identifier: Apache-2.0 */
/* src/explain: names, parameters and arguments of kernels in a user's file, and what it includes.
 */
#include "base/memory.h"
#include "base/text_stream.h"
#include "explain/entry_point.h"
#include "explain/kernel_argument.h"
#include "folder.h"
#include "kernel/compile_worker.h"
#include "kernel/nvrtc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

static void test_plain_names(void **state)
{
    static const struct {
        const char *mangled, *plain;
    } cases[] = {
        {"sum", "sum"},
        {"_Z5saxpyifPKfPf", "saxpy"},
        {"_ZN1a1b1gEPx", "a::b::g"},
        {"_ZL1sPi", "s"},
        {"_Z1tIfEvPT_", "t<float>"},
        {"_ZN6lesson5scaleIfLi32EEEvPT_", "lesson::scale<float, 32>"},
        {"_Z1tILb1ELin4E6__halfEvPT1_", "t<true, -4, __half>"},
        {"_Z1tIPfEvT_", "t<...>"},
        {"_Z", "_Z"},
        {"_Z9f", "_Z9f"},
        {"_ZN1a", "_ZN1a"},
        {"_Z1tIL", "t<...>"},
        {"_Z99999999999999999999f", "_Z99999999999999999999f"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *plain = at_plain_name(cases[i].mangled);

        assert_string_equal(plain, cases[i].plain);
        free(plain);
    }
}

/* Bits by IEEE 754: ties to even, the carry into the exponent, subnormal numbers, the largest. */
static void test_elements(void **state)
{
    static const struct {
        const char *type;
        double value;
        uint64_t bits;
    } cases[] = {
        {"half", 1, 0x3c00},
        {"half", -2.5, 0xc100},
        {"half", 1 + 0x1p-11, 0x3c00},
        {"half", 1 + 0x3p-11, 0x3c02},
        {"half", 2 - 0x1p-12, 0x4000},
        {"half", 0x1p-24, 0x0001},
        {"half", 0x1p-25, 0x0000},
        {"half", 0x1p-14 - 0x1p-26, 0x0400},
        {"half", 65504, 0x7bff},
        {"half", 65520, 0x7c00},
        {"half", -INFINITY, 0xfc00},
        {"half", NAN, 0x7fff},
        {"half", -0.0, 0x8000},
        {"bfloat16", 7, 0x40e0},
        {"bfloat16", 1 + 0x1p-8, 0x3f80},
        {"bfloat16", 1 + 0x3p-8, 0x3f82},
        {"__nv_fp8_e4m3", -1000, 0xfe},
        {"__nv_fp8_e5m2", 1.125, 0x3c},
        {"float", 0.1, 0x3dcccccd},
        {"float", 0x1p-149, 1},
        {"float", 1e39, 0x7f800000},
        {"double", 0.1, 0x3fb999999999999a},
        {"double", 0x1p-1074, 1},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_element_type *type =
            at_element_type_find(cases[i].type, strlen(cases[i].type));
        uint64_t bits = 0;

        assert_non_null(type);
        at_element_store(type, &bits, AT_F64, at_bits_of_f64(cases[i].value));
        if (bits != cases[i].bits)
            fail_msg("%s %a: %#jx, not %#jx", cases[i].type, cases[i].value, (uintmax_t)bits,
                     (uintmax_t)cases[i].bits);
    }
}

static void test_ranges(void **state)
{
    static const struct {
        const char *type;
        int64_t value;
        bool holds;
    } cases[] = {
        {"bool", 1, true},
        {"bool", 2, false},
        {"char", -128, true},
        {"char", 128, false},
        {"unsigned   char", 255, true},
        {"uchar", 256, false},
        {"uint", -1, false},
        {"int", INT32_MIN, true},
        {"int", INT64_C(2147483648), false},
        {"long", INT64_MIN, true},
        {"size_t", INT64_MAX, true},
        {"size_t", -1, false},
        {"half", INT64_MAX, true},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_element_type *type =
            at_element_type_find(cases[i].type, strlen(cases[i].type));

        assert_non_null(type);
        assert_int_equal(at_element_holds(type, cases[i].value), cases[i].holds);
    }
    assert_null(at_element_type_find("unsigned", 3));
    assert_null(at_element_type_find("unsignedchar", 12));
}

/* Parameters as NVRTC 12 and 13 write them. */
static void test_entry_points(void **state)
{
    static const char ptx[] =
        ".version 9.0\n.target sm_90\n.address_size 64\n"
        ".visible .entry _Z1fPfih6float4(\n"
        "\t.param .u64 .ptr .global .align 1 f_0,\n\t.param .u32 f_1,\n\t.param .u8 f_2,\n"
        "\t.param .align 16 .b8 f_3[16]\n)\n.maxntid 32, 1, 1\n{\n ret;\n}\n"
        ".entry g\n{\n ret;\n}\n"
        ".weak .entry _Z1hd6__half(.param .f64 h_0, .param .align 2 .b8 h_1[2]){ret;}\n";
    static const char *const expected[] = {"f(buffer or long, int, char, 16 bytes)", "g()",
                                           "h(double, half)"};
    struct at_entry_points points;
    const struct at_entry_point *found;
    struct at_error err;

    (void)state;
    at_entry_points_read(&points, ptx, strlen(ptx));
    assert_int_equal(points.count, AT_COUNT(expected));
    for (size_t i = 0; i < points.count; i++) {
        char *text = at_entry_point_format(&points.items[i]);

        assert_string_equal(text, expected[i]);
        free(text);
    }
    assert_int_equal(at_entry_points_find(&points, "my.cu", "h", &found, &err), AT_OK);
    assert_ptr_equal(found, &points.items[2]);
    assert_int_equal(at_entry_points_find(&points, "my.cu", NULL, &found, &err), AT_USAGE);
    assert_string_equal(err.message,
                        "my.cu has several kernels: name one with --entry; there are f, g, h");
    at_entry_points_clear(&points);
    /* However the text is cut, reading it ends. */
    for (size_t size = 0; size < strlen(ptx); size++) {
        at_entry_points_read(&points, ptx, size);
        at_entry_points_clear(&points);
    }
}

/* A text that ptxas would refuse. */
static void test_huge_parameters(void **state)
{
    static const char ptx[] = ".entry f(.param .b64 f_0[18446744073709551615], .param .b8 f_1[2], "
                              ".param [9] .b8 f_2[0]) {}";
    struct at_entry_points points;
    char *text;

    (void)state;
    at_entry_points_read(&points, ptx, strlen(ptx));
    assert_int_equal(points.count, 1);
    text = at_entry_point_format(&points.items[0]);
    assert_string_equal(text, "f(2147483647 bytes, half)");
    free(text);
    at_entry_points_clear(&points);
}

/* ---- what a file includes ---- */

/* Text that names a secret file beside the folder, in forms that NVRTC takes. */
static const char *const reaching_out[] = {
    "#include \"../secret.h\"\n",
    "#include <../secret.h>",
    "#include \"%s\"\n",
    "int x;\n  # \t include_next <%s>\n",
    "%%:include \"%s\"\n",
    "#inc\\\nlude \\\r\n\"%s\"",
    "/* a\n */ # /* b\n */ include /* c\n */ \"%s\"",
    "// /*\n#include \"%s\"\n// */",
    "const char *s = \"/*\";\n#include \"%s\"\nconst char *t = \"*/\";",
    "const char *s = R\"(\n/*)\";\n#include \"%s\"\n/* */",
    "#if 0\n0'0\"'/*\n#endif\n#include \"%s\"\n#if 0\n*/\n#endif",
    "#include <a/*>\n#include \"%s\"\n/* */",
    "#define H \"%s\"\n#include H\n",
    "#include \"link.h\"\n",
    "#include \"near.h\"\n", /* which includes ../secret.h */
};
static const char *const staying_inside[] = {
    "#include \"plain.h\"\n#include <plain.h>\n#include \"sub/../plain.h\"\n",
    "#include \"nowhere.h\"\n#include <cuda_fp16.h>\n",
    "/* \n#include \"%s\"\n*/\n// #include \"%s\"\n",
    "#included \"%s\"\n#define include \"%s\"\n#include\n",
};

/* Is the text accepted, of a file in the folder `inside` of *state? */
static bool may_include(void *state, const char *text, bool alone, struct at_error *err)
{
    char *inside = at_format("%s/inside", (char *)state);
    char *secret = at_format("%s/secret.h", (char *)state);
    const char *const own[] = {inside};
    const struct at_include_folders folders = {own, 1, NULL, 0};
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *whole;
    bool accepted;

    for (const char *c = text; *c; c++)
        if (c[0] == '%' && c[1] == 's' && c++)
            fputs(secret, out);
        else
            putc(*c == '%' && c[1] == '%' ? *c++ : *c, out);
    whole = at_text_close(&stream, NULL);
    accepted = at_included_files_check("my.cu", whole, &folders, alone, err) == AT_OK;
    free(whole);
    free(secret);
    free(inside);
    return accepted;
}

static void put_file(const char *folder, const char *name, const char *text)
{
    char *path = at_format("%s/%s", folder, name);

    write_text(path, text);
    free(path);
}

static int make_files(void **state)
{
    char *inside, *sub, *link;

    if (make_folder(state) != 0)
        return -1;
    inside = at_format("%s/inside", (char *)*state);
    sub = at_format("%s/sub", inside);
    link = at_format("%s/link.h", inside);
    if (mkdir(inside, 0700) != 0 || mkdir(sub, 0700) != 0 || symlink("../secret.h", link) != 0)
        return -1;
    put_file(*state, "secret.h", "secret");
    put_file(inside, "plain.h", "#include \"plain.h\"\n");
    put_file(inside, "near.h", "\n#include \"../secret.h\"\n");
    free(link);
    free(sub);
    free(inside);
    return 0;
}

static void test_includes_outside(void **state)
{
    struct at_error err;

    for (size_t i = 0; i < AT_COUNT(reaching_out); i++) {
        if (may_include(*state, reaching_out[i], true, &err))
            fail_msg("accepted: %s", reaching_out[i]);
        if (!strstr(err.message, AT_INCLUDE_FOLDERS))
            fail_msg("%s: %s", reaching_out[i], err.message);
        assert_true(may_include(*state, reaching_out[i], false, &err)); /* the system refuses it */
    }
    for (size_t i = 0; i < AT_COUNT(staying_inside); i++)
        if (!may_include(*state, staying_inside[i], true, &err))
            fail_msg("refused: %s: %s", staying_inside[i], err.message);
    assert_false(may_include(*state, "\\\n/*\n*/\n#include \"near.h\"\n", true, &err));
    assert_ptr_equal(strstr(err.message, "near.h(2): "), err.message);
    assert_false(may_include(*state, "\\\n/*\n*/\n#include \"../secret.h\"\n", true, &err));
    assert_ptr_equal(strstr(err.message, "my.cu(4): "), err.message);
}

/* Opening a pipe would wait for ever. */
static void test_includes_of_pipes(void **state)
{
    char *pipe = at_format("%s/inside/pipe.h", (char *)*state);
    struct at_error err;

    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_false(may_include(*state, "#if 0\n#include \"pipe.h\"\n#endif\n", false, &err));
    assert_non_null(strstr(err.message, "pipe.h is not a regular file"));
    assert_false(may_include(*state, "#include \"sub\"\n", false, &err));
    free(pipe);
}

/* The elements of a buffer. */
static void test_buffers(void **state)
{
    static const struct {
        const char *text;
        int32_t elements[4];
    } cases[] = {
        {"int[4]", {0, 0, 0, 0}},
        {"int[4]=index*index-count", {-4, -3, 0, 5}},
        {"int[1<<2]=-7", {-7, -7, -7, -7}},
        {"short2[4]=index", {0, 0x10001, 0x20002, 0x30003}},
        {"float[4]=index", {0, 0x3f800000, 0x40000000, 0x40400000}},
    };
    struct at_kernel_argument argument;
    struct at_error err;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_emu_memory *memory = at_emu_memory_new();
        uint64_t words[AT_ARGUMENT_WORDS];

        assert_int_equal(at_kernel_argument_parse(&argument, cases[i].text, &err), AT_OK);
        assert_int_equal(at_kernel_argument_bytes(&argument), 8);
        assert_int_equal(at_kernel_argument_make(&argument, memory, 0, words, &err), AT_OK);
        assert_memory_equal(at_emu_memory_host(memory, words[0], 16), cases[i].elements, 16);
        assert_null(at_emu_memory_host(memory, words[0], 17));
        at_kernel_argument_clear(&argument);
        at_emu_memory_free(memory);
    }
}

static void test_element_texts(void **state)
{
    static const struct {
        const char *type;
        uint64_t bits[2];
        const char *text;
    } cases[] = {
        {"char", {0xff}, "-1"},
        {"uchar", {0xff}, "255"},
        {"long", {UINT64_C(1) << 63}, "-9223372036854775808"},
        {"size_t", {UINT64_MAX}, "18446744073709551615"},
        {"half", {0x3800}, "0.5"},
        {"__nv_fp8_e4m3", {0xfe}, "-448"},
        {"float", {0x3dcccccd}, "0.100000001"},
        {"float", {0xff800000}, "-inf"},
        {"double2", {0, UINT64_C(0xbff0000000000000)}, "0, -1"},
        {"short2", {0x0002ffff}, "-1, 2"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *text = at_element_format(at_element_type_find(cases[i].type, strlen(cases[i].type)),
                                       cases[i].bits);

        assert_string_equal(text, cases[i].text);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain_names),
        cmocka_unit_test(test_element_texts),
        cmocka_unit_test(test_elements),
        cmocka_unit_test(test_ranges),
        cmocka_unit_test(test_entry_points),
        cmocka_unit_test(test_huge_parameters),
        cmocka_unit_test(test_buffers),
        cmocka_unit_test_setup_teardown(test_includes_outside, make_files, remove_folder),
        cmocka_unit_test_setup_teardown(test_includes_of_pipes, make_files, remove_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
