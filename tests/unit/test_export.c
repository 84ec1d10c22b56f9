/* SPDX-License-Identifier: Apache-2.0 */
/* src/export: keys, text that is safe everywhere, shared kernels, and the exported .cu under NVRTC.
 * tests/cli/export.bats uses the formats with compilers and build tools. */
#include "base/hash.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "export/export.h"
#include "kernel/nvrtc.h"
#include "space/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shipped_families.h"
#include "source_tree.h"

static struct at_profiles profiles;
static struct at_lookup *lookup;
static const struct at_environment nothing_known;

static int set_up(void **state)
{
    char *profile = path_of("results/nvidia-h200.yaml");
    struct at_error err = {AT_OK, ""};

    (void)state;
    use_source_tree();
    read_shipped_families();
    if (at_profiles_add(&profiles, profile, &err) != AT_OK)
        fail_msg("%s", err.message);
    lookup = at_lookup_open(&profiles, families, family_count);
    free(profile);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    at_lookup_close(lookup);
    at_profiles_clear(&profiles);
    free_shipped_families();
    return 0;
}

/* The caller frees its items. */
static struct at_export export_of(const char *const *specs, size_t count)
{
    const struct at_device_record *record = profiles.files[0].profile.devices.items;
    struct at_export export = {
        .device = &record->device, .environment = &nothing_known, .policy = "cold"};
    struct at_problem problems[8];
    struct at_error err = {AT_OK, ""};

    assert_true(count <= AT_COUNT(problems));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(at_problem_parse(&problems[i], specs[i], &err), AT_OK);
    assert_int_equal(at_export_set_prefix(&export, NULL, &err), AT_OK);
    if (at_export_make(&export, lookup, problems, count, &err) != AT_OK)
        fail_msg("%s", err.message);
    return export;
}

static void test_keys(void **state)
{
    static const char *const cases[][2] = {
        {"8192x8192:f32", "R8192_C8192_B4"},
        {"8000x8000:f32,ld_src=8192,ld_dst=8100", "R8000_C8000_B4_LS8192_LD8100"},
        {"512x256:f16,batch=7", "R512_C256_B2_N7"},
        {"512x256:f16,batch=7,stride_src=262144", "R512_C256_B2_N7_SS262144"},
        {"512x256:f16,batch=7,stride_dst=262144", "R512_C256_B2_N7_SD262144"},
        {"6x5x8x32:f16,perm=0213", "T6_5_8_32_B2_P0213"},
        {"33x9:b12", "T33_9_3_B4_P102"},
        {"2x3x4x5:f32,perm=3210,strides_src=1000x100x10x1", "T2_3_4_5_B4_P3210_SS1000_100_10_1"},
        {"2x3x4x5:f32,perm=3210,strides_dst=1000x100x10x2", "T2_3_4_5_B4_P3210_SD1000_100_10_2"},
        {"3x3x3x3x3x3x3x3x3x3x3:b1,perm=10.9.8.7.6.5.4.3.2.1.0",
         "T3_3_3_3_3_3_3_3_3_3_3_B1_P10_9_8_7_6_5_4_3_2_1_0"},
        /* Too long: a hash. */
        {"3x3x3x3x3x3x3x3x3x3x3:b1,perm=10.9.8.7.6.5.4.3.2.1.0,strides_src=100000000000000000x"
         "10000000000000000x1000000000000000x100000000000000x10000000000000x1000000000000x"
         "100000000000x10000000000x1000000000x100000000x10000000",
         "T_HASH"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_export export = export_of(&cases[i][0], 1);

        if (strcmp(cases[i][1], "T_HASH") == 0)
            assert_int_equal(strlen(export.items[0].key), 2 + AT_HASH_CHARS - 1);
        else
            assert_string_equal(export.items[0].key, cases[i][1]);
        at_export_clear(&export);
    }
}

static void test_items(void **state)
{
    static const char *const specs[] = {"8192x8192:f32", "8192x8192:i32", "7001x7013:f64",
                                        "7003x7013:f64"};
    static const char *const tensors[] = {"2x3x4x512:f32,perm=2103", "2x2x3x4x512:f32,perm=30214",
                                          "4x5x6x512:f32,perm=2103"};
    struct at_export export = export_of(specs, AT_COUNT(specs));

    (void)state;
    assert_int_equal(export.count, 3); /* the second spells the first differently */
    assert_true(at_export_is_kernel(&export, 0));
    assert_true(at_export_is_kernel(&export, 1));
    assert_false(at_export_is_kernel(&export, 2));
    assert_int_equal(export.items[2].kernel, 1);
    at_export_clear(&export);
    export = export_of(tensors, AT_COUNT(tensors));
    assert_string_equal(export.items[0].answer.config.family->name, "rows");
    assert_true(at_config_equal(&export.items[0].answer.config, &export.items[1].answer.config));
    assert_true(at_export_is_kernel(&export, 1)); /* for another number of axes */
    assert_false(at_export_is_kernel(&export, 2));
    at_export_clear(&export);
}

/* They are what at_problem_args gives, without dst and src. */
static void test_arguments(void **state)
{
    static const struct {
        const char *spec, *words;
        int count, word_counts[7];
    } cases[] = {
        {"8x16:f32,batch=3", "0x8 0x10 0x10 0x8 0x3 0x80 0x80", 7, {1, 1, 1, 1, 1, 1, 1}},
        /* Runs of 1024 in 2 x 3 x 4. */
        {"2x3x4x1024:f32,perm=2103",
         "0x1 0x400 0x400 0x1 0x18 0x8000000000000002 0x20 0xaaaaaaab00000003 0x21 "
         "0x3000 0x1000 0x400 0x400 0x800 0x1800",
         7,
         {1, 1, 1, 1, 5, 3, 3}},
        /* Its struct is not this test's matter. */
        {"3x3x3x3x3x3:f64,perm=543210", NULL, 1, {0}},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_export export = export_of(&cases[i].spec, 1);
        struct at_export_arguments arguments = at_export_arguments(&export.items[0]);
        uint64_t word[AT_CALL_WORDS];
        uint8_t words[AT_CALL_ARGS];
        char *text = at_export_words(&arguments, " ");
        size_t count = at_problem_args(&export.items[0].problem, &export.items[0].answer.launch, 7,
                                       8, word, words);

        assert_int_equal(arguments.count, cases[i].count);
        assert_int_equal(arguments.count, count - 2);
        assert_memory_equal(arguments.words, word + 2, arguments.word_count * sizeof *word);
        if (cases[i].words)
            assert_string_equal(text, cases[i].words);
        else
            assert_int_equal(arguments.word_count, words[2]);
        for (int j = 0; j < cases[i].count && cases[i].words; j++)
            assert_int_equal(arguments.word_counts[j], cases[i].word_counts[j]);
        free(text);
        at_export_clear(&export);
    }
}

static void test_prefixes(void **state)
{
    static const struct {
        const char *prefix, *in_capitals; /* NULL: refused */
    } cases[] = {
        {NULL, "AUTOTUNE"},
        {"a", "A"},
        {"fft_rows2", "FFT_ROWS2"},
        {"a1234567890123456789012345678901", "A1234567890123456789012345678901"},
        {"a12345678901234567890123456789012", NULL}, /* 33 characters */
        {"", NULL},
        {"2d", NULL},
        {"_a", NULL},
        {"a_", NULL},
        {"a__b", NULL},
        {"Fft", NULL},
        {"a-b", NULL},
        {"a;b", NULL},
        {"\xc3\xa4", NULL},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_export export = {0};
        struct at_error err = {AT_OK, ""};
        enum at_status status = at_export_set_prefix(&export, cases[i].prefix, &err);

        assert_int_equal(status, cases[i].in_capitals ? AT_OK : AT_USAGE);
        assert_string_equal(export.macro_prefix, cases[i].in_capitals ? cases[i].in_capitals : "");
        if (status == AT_OK && cases[i].prefix)
            assert_string_equal(export.prefix, cases[i].prefix);
    }
}

static void test_plain(void **state)
{
    static const char *const cases[][2] = {
        {"NVIDIA H200 (80GB) PCIe-x.1_2+3", "NVIDIA H200 (80GB) PCIe-x.1_2+3"},
        {"a*/b//\"c\\d$e#f%g?h'i`j\nk;l&m|n<o>p{q}r,s", "a__b___c_d_e_f_g_h_i_j_k_l_m_n_o_p_q_r_s"},
        {"\xc3\xa4", "__"},
        {"", ""},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        char *plain = at_export_plain(cases[i][0]);

        assert_string_equal(plain, cases[i][1]);
        free(plain);
    }
}

/* NVRTC compiles all kernels of the shipped profile in one file. */
static void test_cu_under_nvrtc(void **state)
{
    static const char *const specs[] = {"8192x8192:f32",
                                        "1024x1024:b1",
                                        "4194304x8:f32",
                                        "5003x5009:c128",
                                        "512x512:f16,batch=512",
                                        "6x5x8x32:f16,perm=0213",
                                        "3x3x3x3x3x3:f64,perm=543210"};
    const struct at_export_format *format;
    struct at_nvrtc *nvrtc;
    struct at_export export;
    struct at_error err = {AT_OK, ""};
    struct at_text_stream stream;
    char *text, *log;
    void *image;
    size_t size;
    FILE *out;

    (void)state;
    if (at_nvrtc_open(&nvrtc, 90, AT_IMAGE_CUBIN, &err) != AT_OK)
        skip();
    export = export_of(specs, AT_COUNT(specs));
    assert_int_equal(at_export_format_find(&format, "cu", &err), AT_OK);
    out = at_text_open(&stream);
    assert_int_equal(format->write(&export, out, &err), AT_OK);
    text = at_text_close(&stream, &size);
    assert_null(strstr(text, "#include \"transpose.cuh\""));
    assert_null(strstr(text, "extern \"C\" __global__")); /* global under nvcc */
    /* The file must contain the header: this one cannot be included. */
    assert_int_equal(at_nvrtc_compile(nvrtc, text, "#error", false, &image, &size, &log, &err),
                     AT_OK);
    if (!image)
        fail_msg("%s", log);
    for (size_t i = 0; i < export.count; i++) {
        char name[32];

        snprintf(name, sizeof name, "autotune_kernel_%zu", export.items[i].kernel);
        assert_non_null(memmem(image, size, name, strlen(name)));
    }
    free(image);
    free(log);
    free(text);
    at_export_clear(&export);
    at_nvrtc_close(nvrtc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),      cmocka_unit_test(test_items),
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_plain),     cmocka_unit_test(test_cu_under_nvrtc),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
