/* SPDX-License-Identifier: Apache-2.0 */
/* src/export: keys, text that is safe everywhere, shared kernels, and the exported .cu under NVRTC.
 * tests/cli/export.bats uses the formats with compilers and build tools. */
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
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_export export = export_of(&cases[i][0], 1);

        assert_string_equal(export.items[0].key, cases[i][1]);
        free(export.items);
    }
}

static void test_items(void **state)
{
    static const char *const specs[] = {"8192x8192:f32", "8192x8192:i32", "7001x7013:f64",
                                        "7003x7013:f64"};
    struct at_export export = export_of(specs, AT_COUNT(specs));

    (void)state;
    assert_int_equal(export.count, 3); /* the second spells the first differently */
    assert_true(at_export_is_kernel(&export, 0));
    assert_true(at_export_is_kernel(&export, 1));
    assert_false(at_export_is_kernel(&export, 2));
    assert_int_equal(export.items[2].kernel, 1);
    free(export.items);
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
    static const char *const specs[] = {"8192x8192:f32", "1024x1024:b1", "4194304x8:f32",
                                        "5003x5009:c128", "512x512:f16,batch=512"};
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
    free(export.items);
    at_nvrtc_close(nvrtc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_cu_under_nvrtc),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
