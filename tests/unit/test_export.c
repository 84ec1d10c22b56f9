/* SPDX-License-Identifier: Apache-2.0 */
/* src/export: keys, text that is safe everywhere, shared kernels, and the exported .cu under NVRTC
 * and on the emulated device. tests/cli/export.bats uses the formats with compilers and build
 * tools. */
#include "base/hash.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "emulated/machine/machine.h"
#include "emulated/ptx/ptx.h"
#include "export/export.h"
#include "kernel/nvrtc.h"
#include "problem/group_arguments.h"
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

static int set_up(void **state)
{
    char *profile = path_of("results/nvidia-h200.yaml");
    struct at_error err = {AT_OK, ""};

    use_source_tree();
    read_shipped_families(state);
    if (at_profiles_add(&profiles, profile, &err) != AT_OK)
        fail_msg("%s", err.message);
    lookup = open_lookup(&profiles);
    free(profile);
    return 0;
}

static int tear_down(void **state)
{
    at_lookup_close(lookup);
    at_profiles_clear(&profiles);
    free_shipped_families(state);
    return 0;
}

/* The caller frees its items. */
static struct at_export export_for(const char *const *specs, size_t count, bool any_address)
{
    const struct at_device_record *record = profiles.files[0].profile.devices.items;
    static struct at_target target;
    struct at_export export = {.targets = &target,
                               .target_count = 1,
                               .policy = "cold",
                               .any_address = any_address,
                               .families = families,
                               .family_count = family_count};
    struct at_problem problems[12];
    struct at_error err = {AT_OK, ""};

    target.device = record->device;
    assert_true(count <= AT_COUNT(problems));
    for (size_t i = 0; i < count; i++)
        assert_int_equal(at_problem_parse(&problems[i], specs[i], &err), AT_OK);
    assert_int_equal(at_export_set_prefix(&export, NULL, &err), AT_OK);
    if (at_export_make(&export, lookup, problems, count, &err) != AT_OK)
        fail_msg("%s", err.message);
    return export;
}

static struct at_export export_of(const char *const *specs, size_t count)
{
    return export_for(specs, count, false);
}

/* Return the export as CUDA source. The caller frees it. */
static char *cu_of(const struct at_export *export)
{
    size_t format;
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    assert_int_equal(at_choose(&format, "format", "cu", at_export_choice, NULL), AT_OK);
    assert_int_equal(at_export_formats[format]->write(export, out, NULL), AT_OK);
    return at_text_close(&stream, NULL);
}

static void test_keys(void **state)
{
    static const char *const cases[][2] = {
        {"8192x8192:f32", "R8192_C8192_B4"},
        {"8000x8000:f32,ld_src=8192,ld_dst=8100", "R8000_C8000_B4_LS8192_LD8100"},
        {"512x256:f16,batch=7", "R512_C256_B2_N7"},
        {"480000x1:f32,batch=3", "R480000_C1_B4_N3"},
        {"512x256:f16,batch=7,stride_src=262144", "R512_C256_B2_N7_SS262144"},
        {"512x256:f16,batch=7,stride_dst=262144", "R512_C256_B2_N7_SD262144"},
        {"6x5x8x32:f16,perm=0213", "T6_5_8_32_B2_P0213"},
        {"512x256:f16,offset_src=3,offset_dst=1", "R512_C256_B2_OS3_OD1"},
        {"6x5x8x32:f16,perm=0213,offset_src=3", "T6_5_8_32_B2_P0213_OS3"},
        {"33x9:b12", "T33_9_3_B4_P102"},
        {"2x3x4x5:f32,perm=3210,strides_src=1000x100x10x1", "T2_3_4_5_B4_P3210_SS1000_100_10_1"},
        {"2x3x4x5:f32,perm=3210,strides_dst=1000x100x10x2", "T2_3_4_5_B4_P3210_SD1000_100_10_2"},
        {"3x3x3x3x3x3x3x3x3x3x3:b1,perm=10.9.8.7.6.5.4.3.2.1.0",
         "T3_3_3_3_3_3_3_3_3_3_3_B1_P10_9_8_7_6_5_4_3_2_1_0"},
        {"group=256,rows=16..512,cols=8:f16", "G256_R16_512_C8_B2"},
        {"group=4,rows=0..8,cols=0..64,multiple=8,draw=3:bf16:e4m3,scale,both",
         "G4_R0_8_C0_64_M8_D3_B2_BF16_E4M3_SCALE_BOTH_E4M3"},
        {"group=64,total=98304,cols=2880,law=zipf,pad=16,stack=1:f32",
         "G64_T98304_C2880_ZIPF_P16_ST_B4"},
        {"group=201x64x64+9x0..8x16:f16", "G9X0_8X16_AND201X64X64_B2"},
        {"group=101x1x1+102x2x2+103x3x3+104x4x4+105x5x5+106x6x6+107x7x7+108x8x8+109x9x9+110x10x10+"
         "111x11x11+112x12x12+113x13x13+114x14x14:f32",
         "G_HASH"},
        /* Too long: a hash. */
        {"3x3x3x3x3x3x3x3x3x3x3:b1,perm=10.9.8.7.6.5.4.3.2.1.0,strides_src=100000000000000000x"
         "10000000000000000x1000000000000000x100000000000000x10000000000000x1000000000000x"
         "100000000000x10000000000x1000000000x100000000x10000000",
         "T_HASH"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_export export = export_of(&cases[i][0], 1);

        if (strcmp(cases[i][1] + 1, "_HASH") == 0) {
            assert_memory_equal(export.items[0].key, cases[i][1], 2);
            assert_int_equal(strlen(export.items[0].key), 2 + AT_HASH_CHARS - 1);
        } else {
            assert_string_equal(export.items[0].key, cases[i][1]);
        }
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
        int count, word_counts[9];
    } cases[] = {
        {"8x16:f32,batch=3", "0x8 0x10 0x10 0x8 0x3 0x80 0x80", 7, {1, 1, 1, 1, 1, 1, 1}},
        {"480000x1:f32,batch=3",
         "0x1 0x15f900 0x15f900 0x1 0x1 0x15f900 0x15f900",
         7,
         {1, 1, 1, 1, 1, 1, 1}}, /* a copy */
        /* Its number is 1, and not on the device. */
        {"8x16:bf16:e4m3,scale",
         "0x8 0x10 0x10 0x8 0x1 0x80 0x80 0x0 0x3ff0000000000000 0x0 0x0 0x0 0x0 0x0 0x0 0x0 "
         "0x0 0x0 0x0 0x0 0x0 0x0 0x0",
         8,
         {1, 1, 1, 1, 1, 1, 1, 16}},
        /* Channels: 3 of 20 results each, and again after 64. */
        {"20x3:u8:f16,batch=2,stride_dst=64,affine",
         "0x14 0x3 0x3 0x14 0x2 0x3c 0x40 0x40 0x8000000000000000 0x6 "
         "0x14 0xcccccccccccccccd 0x5 0x2 0x0 0x3ff0000000000000 0x0 0x0 0x0 0x0 0x0 0x0 0x0 "
         "0x0 0x0 0x0 0x0 0x0 0x0 0x0",
         9,
         {1, 1, 1, 1, 1, 1, 1, 7, 16}},
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
                                       8, NULL, word, words);

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

/* What a launch changes is 0. */
static void test_arguments_of_groups(void **state)
{
    static const struct {
        const char *spec, *words;
        size_t count;
    } cases[] = {
        {"group=9,rows=1..7,cols=1..5:f32", "0x0 0x9 0x0", 1},
        {"group=9,rows=1..7,cols=1..5:u8:f32,scale",
         "0x0 0x9 0x0 0x0 0x3ff0000000000000 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 0x0 "
         "0x0",
         2},
        /* Three groups of 8, 8 and 7 rows, which get 8 each. */
        {"group=3,total=23,cols=5,pad=4:f32", "0x0 0x0 0x0 0x8 0x3 0x5 0x5 0x4 0x18 0x0 0x0 0x0",
         1},
        {"group=3,total=23,cols=5,pad=4,stack=1:f32",
         "0x0 0x0 0x0 0x8 0x3 0x5 0x5 0x4 0x8 0x1 0x0 0x0", 1},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_export export = export_of(&cases[i].spec, 1);
        struct at_export_arguments arguments = at_export_arguments(&export.items[0]);
        char *text = at_export_words(&arguments, " ");

        assert_string_equal(text, cases[i].words);
        assert_int_equal(arguments.count, cases[i].count);
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

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* Kernels of a family share their text. One with a directive that a macro cannot have is written as
 * it is. */
static void test_bodies(void **state)
{
    static const char *const specs[] = {"8192x8192:f32", "8192x8192:f16", "4096x4096:f64",
                                        "8192x8192:bf16:e4m3,scale"};
    struct at_export export = export_of(specs, AT_COUNT(specs));
    const struct at_family *shared = export.items[0].answer.config.family;
    struct at_family own = *shared;
    char *text = cu_of(&export);

    (void)state;
    for (size_t i = 0; i < export.count; i++)
        assert_ptr_equal(export.items[i].answer.config.family, shared);
    assert_true(at_export_is_kernel(&export, 2));
    assert_int_equal(count_of(text, "#define AUTOTUNE_BODY_"), 2); /* one for the step */
    assert_int_equal(count_of(text, "_source { AUTOTUNE_BODY_0("), 3);
    assert_null(strstr(text, "#if STEP"));
    free(text);
    own.source = at_format("%s\n#if ELEM_SIZE == 2\n#error wrong\n#endif\n", shared->source);
    export.items[0].answer.config.family = &own;
    text = cu_of(&export);
    assert_int_equal(count_of(text, "#if ELEM_SIZE == 2"), 1);
    assert_non_null(strstr(text, "#define transpose autotune_kernel_0\n"));
    assert_int_equal(count_of(text, "_source { AUTOTUNE_BODY_1("), 2);
    free(text);
    free(own.source);
    at_export_clear(&export);
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
                                        "3x3x3x3x3x3:f64,perm=543210",
                                        "8192x8192:bf16:e4m3,scale,both",
                                        "512x500:u8:f16,affine"};
    struct at_nvrtc *nvrtc;
    struct at_export export;
    struct at_error err = {AT_OK, ""};
    struct at_compilation compiled;
    char *text;

    (void)state;
    if (at_nvrtc_open(&nvrtc, 90, AT_IMAGE_CUBIN, &err) != AT_OK)
        skip();
    export = export_of(specs, AT_COUNT(specs));
    text = cu_of(&export);
    assert_null(strstr(text, "#include \"transpose.cuh\""));
    assert_null(strstr(text, "extern \"C\" __global__")); /* global under nvcc */
    /* The file must contain the header: this one cannot be included. */
    assert_int_equal(at_nvrtc_compile(&compiled, nvrtc, text, "#error", false, &err), AT_OK);
    if (!compiled.image)
        fail_msg("%s", compiled.log);
    for (size_t i = 0; i < export.count; i++) {
        char name[32];

        snprintf(name, sizeof name, "autotune_kernel_%zu", export.items[i].kernel);
        assert_non_null(memmem(compiled.image, compiled.size, name, strlen(name)));
    }
    free(compiled.image);
    free(compiled.log);
    free(text);
    at_export_clear(&export);
    at_nvrtc_close(nvrtc);
}

/* ---- what is exported runs ---- */

/* The words of a variant of a problem, from its line in the text. Returns how many. */
static size_t words_of(const char *text, const char *spec, size_t variant, uint64_t *words)
{
    char *line = at_format("/* %s */ ", spec);
    const char *at = strstr(text, line);
    size_t count = 0;

    for (; at && variant > 0; variant--)
        at = strstr(at + 1, line);
    assert_non_null(at);
    at += strlen(line);
    free(line);
    for (; strncmp(at, "0x", 2) == 0; at += strspn(at, ", ")) {
        char *end;

        assert_true(count < AT_CALL_WORDS);
        words[count++] = strtoull(at, &end, 16);
        at = end;
    }
    return count;
}

/* A tensor of bytes that differ from their neighbours, and its permutation. */
struct tensor {
    struct at_emu_memory *memory;
    uint64_t src, dst; /* addresses */
    size_t src_bytes, dst_bytes;
    unsigned char *src_host, *dst_host;
};

/* The source begins `shift` bytes behind an aligned address. */
static struct tensor make_tensor(const struct at_problem *p, uint64_t shift)
{
    struct tensor t = {.memory = at_emu_memory_new()};

    t.src_bytes = (size_t)(at_problem_src_extent(p) * p->elem_size);
    t.dst_bytes = (size_t)(at_problem_dst_extent(p) * p->elem_size);
    t.src = at_emu_memory_allocate(t.memory, (int64_t)(t.src_bytes + shift)) + shift;
    t.dst = at_emu_memory_allocate(t.memory, (int64_t)t.dst_bytes);
    t.src_host = at_emu_memory_host(t.memory, t.src, t.src_bytes);
    t.dst_host = at_emu_memory_host(t.memory, t.dst, t.dst_bytes);
    assert_non_null(t.src_host);
    assert_non_null(t.dst_host);
    for (size_t i = 0; i < t.src_bytes; i++)
        t.src_host[i] = (unsigned char)(i * 2654435761u >> 13);
    return t;
}

static void check_permutation(const struct at_problem *p, const struct tensor *t)
{
    const struct at_problem given = at_problem_as_given(p);
    struct at_axis axes[AT_AXES_MAX];
    size_t count = at_problem_axes(&given, axes), size = (size_t)p->elem_size;
    int64_t elements = at_problem_bytes(p) / 2 / p->elem_size;

    for (int64_t i = 0; i < elements; i++) {
        int64_t left = i, from = 0, to = 0;

        for (size_t k = 0; k < count; left /= axes[k++].extent) {
            from += left % axes[k].extent * axes[k].stride_src;
            to += left % axes[k].extent * axes[k].stride_dst;
        }
        assert_memory_equal(t->dst_host + (size_t)to * size, t->src_host + (size_t)from * size,
                            size);
    }
}

/* Put the addresses of a launch into the words of many matrices. */
static void put_groups(const struct at_problem *p, const struct tensor *t, uint64_t *words)
{
    struct at_group *all = at_groups_draw(&p->groups, p->elem_size);
    size_t count = (size_t)p->groups.count;
    struct at_group_list *list = (void *)(words + 2);
    struct at_ragged_groups *rows = (void *)(words + 2);
    uint64_t table =
        at_emu_memory_allocate(t->memory, (int64_t)(count * sizeof(struct at_group_matrix)));
    void *host = at_emu_memory_host(t->memory, table, count * sizeof(struct at_group_matrix));

    assert_non_null(host);
    if (at_groups_kind(&p->groups) == AT_GROUP_LIST) {
        at_group_list_write(p, all, &(struct at_group_sides){t->dst, t->src, 0, 0}, host);
        list->matrices = table;
        words[0] = words[1] = 0;
    } else {
        at_group_offsets_write(&p->groups, all, host);
        rows->offsets = table;
    }
    free(all);
}

static void check_groups(const struct at_problem *p, const struct tensor *t)
{
    struct at_group *all = at_groups_draw(&p->groups, p->elem_size);
    size_t size = (size_t)p->elem_size;

    for (int64_t i = 0; i < p->groups.count; i++)
        for (int64_t r = 0; r < all[i].rows; r++)
            for (int64_t c = 0; c < all[i].cols; c++)
                assert_memory_equal(
                    t->dst_host + (size_t)(all[i].dst + c * all[i].ld_dst + r) * size,
                    t->src_host + (size_t)(all[i].src + r * all[i].ld_src + c) * size, size);
    free(all);
}

static void run_item(const struct at_export_item *item, const struct at_ptx_module *module,
                     const char *text)
{
    const struct at_ptx_kernel *kernel;
    struct at_emu_launch launch = {
        .arg_words = AT_CALL_WORDS, .threads = 1, .instruction_limit = 10000000};
    struct at_emu_fault fault;
    struct tensor tensor =
        make_tensor(&item->problem, item->for_any_address ? (uint64_t)item->problem.elem_size : 0);
    struct at_error err = {AT_OK, ""};
    uint64_t words[2 + AT_CALL_WORDS] = {tensor.dst, tensor.src};
    uint64_t time[2] = {0, 0}; /* scratch, and which launch it is */
    struct at_export_arguments arguments = at_export_arguments(item);
    char *name = at_format("autotune_kernel_%zu", item->kernel);

    if (at_ptx_find(module, name, &kernel, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_int_equal(words_of(text, item->spec, item->for_any_address, words + 2),
                     arguments.word_count);
    if (at_export_groups(item))
        put_groups(&item->problem, &tensor, words);
    if (item->problem.in_place) {
        memcpy(tensor.dst_host, tensor.src_host, tensor.dst_bytes);
        words[1] = tensor.dst;
    }
    if (at_export_is_many(item))
        time[0] = at_emu_memory_allocate(tensor.memory, at_export_scratch_bytes(item));
    launch.kernel = kernel;
    launch.args = words;
    launch.arg_count = 2 + arguments.count;
    at_emu_launch_take(&launch, &item->answer.launch);
    for (; time[1] < (uint64_t)at_launch_passes(&item->answer.launch); time[1]++) {
        if (at_export_is_many(item)) /* the last argument */
            memcpy(words + 2 + arguments.word_count - AT_COUNT(time), time, sizeof time);
        if (at_emu_run(tensor.memory, &launch, &fault, &err) != AT_OK)
            fail_msg("%s: %s", item->spec, err.message);
        if (fault.kind != AT_EMU_NO_FAULT)
            fail_msg("%s: %s", item->spec, fault.message);
    }
    if (at_export_groups(item))
        check_groups(&item->problem, &tensor);
    else
        check_permutation(&item->problem, &tensor);
    at_emu_memory_free(tensor.memory);
    free(name);
}

/* The kernels of a .cu, launched as its launchers do, permute tensors on the emulated device. */
static void test_cu_on_emulated_device(void **state)
{
    static const char *const specs[] = {
        "3x3x3x3x3x3:f64,perm=543210", /* packed */
        "6x5x8x32:f16,perm=0213",      /* rows */
        "4x3x2x40x40:f64,perm=21043",  /* matrices */
        "3x64x4x96:f32,perm=2301",
        "33x9x3:b4,perm=102",
        "37x41:f32,batch=2",
        "500x1:f32,batch=2",
        "37x1:f32,ld_src=3,batch=2",
        "100x130:f32,inplace=1",
        "300x270:f32,inplace=1",
        "group=7,rows=0..90,cols=0..70:f16",
        "group=6,total=90,cols=32,law=zipf,multiple=2,pad=8:f32",
    };
    struct at_nvrtc *nvrtc;
    struct at_ptx_module *module;
    struct at_export export;
    struct at_error err = {AT_OK, ""};
    struct at_compilation compiled;
    char *text;
    size_t packed = 0, rows = 0, many = 0, anywhere = 0;

    (void)state;
    if (at_nvrtc_open(&nvrtc, 90, AT_IMAGE_PTX, &err) != AT_OK)
        skip();
    export = export_for(specs, AT_COUNT(specs), true);
    text = cu_of(&export);
    assert_int_equal(at_nvrtc_compile(&compiled, nvrtc, text, "#error", false, &err), AT_OK);
    if (!compiled.image)
        fail_msg("%s", compiled.log);
    /* A program finds a problem by the sizes that it knows. */
    assert_non_null(strstr(text, "500LL, 1LL, 1LL, 500LL, 2LL, 500LL, 500LL"));
    if (at_ptx_read(&module, compiled.image, strlen(compiled.image), &err) != AT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < export.count; i++) {
        const char *family = export.items[i].answer.config.family->name;

        run_item(&export.items[i], module, text);
        packed += strcmp(family, "packed") == 0;
        rows += strcmp(family, "rows") == 0;
        many += at_export_is_many(&export.items[i]);
        anywhere += export.items[i].for_any_address;
    }
    /* Their arguments differ most from those of matrices. */
    assert_in_range(packed, 1, AT_COUNT(specs) - 1);
    assert_in_range(rows, 1, AT_COUNT(specs) - 1);
    assert_in_range(many, 1, AT_COUNT(specs) - 1);
    assert_in_range(anywhere, 2, AT_COUNT(specs) - 1);
    at_ptx_free(module);
    free(compiled.image);
    free(compiled.log);
    free(text);
    at_export_clear(&export);
    at_nvrtc_close(nvrtc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_arguments),
        cmocka_unit_test(test_arguments_of_groups),
        cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_cu_under_nvrtc),
        cmocka_unit_test(test_cu_on_emulated_device),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
