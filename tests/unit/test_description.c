/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of devices in tuning/devices: facts that hold for every GPU, so that a slip of the
 * pen is found. */
#include "emulated/time/description.h"

#include "base/memory.h"
#include "system/paths.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "source_tree.h"

enum { DEVICES_MAX = 64, GDDR_BUS_BITS_MAX = 512 };

struct described {
    char name[64];
    struct at_device_info info;
    struct at_rates rates;
};

static struct described devices[DEVICES_MAX];
static size_t device_count;

static const struct described *device_of(const char *name)
{
    for (size_t i = 0; i < device_count; i++)
        if (strcmp(devices[i].name, name) == 0)
            return &devices[i];
    fail_msg("%s is not described", name);
    return NULL;
}

/* CUDA C++ Programming Guide, "Technical Specifications per Compute Capability". */
static void test_capability(void **state)
{
    static const struct {
        int64_t capability, threads, shared_kib;
    } known[] = {{75, 1024, 64},   {80, 2048, 164}, {86, 1536, 100},  {87, 1536, 164},
                 {89, 1536, 100},  {90, 2048, 228}, {100, 2048, 228}, {103, 2048, 228},
                 {110, 1536, 228}, {120, 1536, 100}};

    (void)state;
    for (size_t i = 0; i < device_count; i++) {
        const struct at_device_info *info = &devices[i].info;
        size_t k = 0;

        while (k < AT_COUNT(known) && known[k].capability != info->compute_capability)
            k++;
        if (k == AT_COUNT(known))
            fail_msg("%s: a compute capability that this test does not know", devices[i].name);
        assert_int_equal(info->max_threads_per_multiprocessor, known[k].threads);
        assert_int_equal(info->shared_bytes_per_multiprocessor, known[k].shared_kib << 10);
        /* A block leaves a KiB to the system, but on Turing. */
        assert_int_equal(info->shared_bytes_per_block_optin,
                         (known[k].shared_kib - (known[k].capability > 75)) << 10);
        assert_int_equal(info->shared_bytes_per_block, 48 << 10);
        assert_int_equal(info->registers_per_multiprocessor, 65536);
        assert_int_equal(info->max_threads_per_block, 1024);
        assert_int_equal(info->warp_size, 32);
    }
}

static void test_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < device_count; i++) {
        const struct at_device_info *info = &devices[i].info;
        bool lpddr = info->compute_capability == 87 || info->compute_capability == 110;

        /* Both edges of the clock, as for a CUDA device. */
        assert_int_equal(info->peak_bandwidth_MB_per_s,
                         2 * info->memory_clock_khz * (info->memory_bus_bits / 8) / 1000);
        assert_int_equal(devices[i].rates.dram_MB_per_s, info->peak_bandwidth_MB_per_s);
        assert_true(devices[i].rates.l2_load_MB_per_s >= devices[i].rates.dram_MB_per_s);
        assert_true(info->memory_bus_bits % 32 == 0);
        /* GDDR is narrow and fast, HBM wide and slow; LPDDR is narrow and slow. */
        assert_true((info->memory_bus_bits <= GDDR_BUS_BITS_MAX) ==
                    (info->memory_clock_khz > 5000000 || lpddr));
        assert_true(info->memory_bytes >> 30 >= 6 && info->memory_bytes >> 30 <= 288);
        assert_true(info->l2_bytes >> 20 >= 3 && info->l2_bytes >> 20 <= 129);
    }
}

/* Round figures of the data sheets, written down independently of the descriptions. */
static void test_data_sheets(void **state)
{
    static const struct {
        const char *name, *model;
        int64_t multiprocessors, gib, gbps;
    } sheets[] = {
        {"a10", "NVIDIA A10", 72, 24, 600},
        {"a10g", "NVIDIA A10G", 80, 24, 600},
        {"a100", "NVIDIA A100-SXM4-80GB", 108, 80, 2039},
        {"a100-pcie-40gb", "NVIDIA A100-PCIE-40GB", 108, 40, 1555},
        {"a100-pcie-80gb", "NVIDIA A100 80GB PCIe", 108, 80, 1935},
        {"a100-sxm4-40gb", "NVIDIA A100-SXM4-40GB", 108, 40, 1555},
        {"a30", "NVIDIA A30", 56, 24, 933},
        {"a40", "NVIDIA A40", 84, 48, 696},
        {"b200", "NVIDIA B200", 148, 180, 7672},
        {"b300", "NVIDIA B300 SXM6 AC", 148, 288, 7672},
        {"gb200", "NVIDIA GB200", 152, 186, 7672},
        {"gh200", "NVIDIA GH200 480GB", 132, 96, 4020},
        {"h100", "NVIDIA H100 80GB HBM3", 132, 80, 3350},
        {"h100-nvl", "NVIDIA H100 NVL", 132, 94, 3938},
        {"h100-pcie", "NVIDIA H100 PCIe", 114, 80, 2039},
        {"h200", "NVIDIA H200", 132, 141, 4800},
        {"jetson-orin", "Orin", 16, 64, 205},
        {"jetson-thor", "NVIDIA Thor", 20, 128, 273},
        {"l4", "NVIDIA L4", 58, 24, 300},
        {"l40", "NVIDIA L40", 142, 48, 864},
        {"l40s", "NVIDIA L40S", 142, 48, 864},
        {"rtx-3060", "NVIDIA GeForce RTX 3060", 28, 12, 360},
        {"rtx-3060-ti", "NVIDIA GeForce RTX 3060 Ti", 38, 8, 448},
        {"rtx-3070", "NVIDIA GeForce RTX 3070", 46, 8, 448},
        {"rtx-3070-ti", "NVIDIA GeForce RTX 3070 Ti", 48, 8, 608},
        {"rtx-3080", "NVIDIA GeForce RTX 3080", 68, 10, 760},
        {"rtx-3080-ti", "NVIDIA GeForce RTX 3080 Ti", 80, 12, 912},
        {"rtx-3090", "NVIDIA GeForce RTX 3090", 82, 24, 936},
        {"rtx-3090-ti", "NVIDIA GeForce RTX 3090 Ti", 84, 24, 1008},
        {"rtx-4060", "NVIDIA GeForce RTX 4060", 24, 8, 272},
        {"rtx-4060-ti", "NVIDIA GeForce RTX 4060 Ti", 34, 8, 288},
        {"rtx-4070", "NVIDIA GeForce RTX 4070", 46, 12, 504},
        {"rtx-4070-super", "NVIDIA GeForce RTX 4070 SUPER", 56, 12, 504},
        {"rtx-4070-ti", "NVIDIA GeForce RTX 4070 Ti", 60, 12, 504},
        {"rtx-4080", "NVIDIA GeForce RTX 4080", 76, 16, 717},
        {"rtx-4080-super", "NVIDIA GeForce RTX 4080 SUPER", 80, 16, 736},
        {"rtx-4090", "NVIDIA GeForce RTX 4090", 128, 24, 1008},
        {"rtx-5060", "NVIDIA GeForce RTX 5060", 30, 8, 448},
        {"rtx-5060-ti", "NVIDIA GeForce RTX 5060 Ti", 36, 16, 448},
        {"rtx-5070", "NVIDIA GeForce RTX 5070", 48, 12, 672},
        {"rtx-5070-ti", "NVIDIA GeForce RTX 5070 Ti", 70, 16, 896},
        {"rtx-5080", "NVIDIA GeForce RTX 5080", 84, 16, 960},
        {"rtx-5090", "NVIDIA GeForce RTX 5090", 170, 32, 1792},
        {"rtx-6000-ada", "NVIDIA RTX 6000 Ada Generation", 142, 48, 960},
        {"rtx-a2000", "NVIDIA RTX A2000", 26, 6, 288},
        {"rtx-a4000", "NVIDIA RTX A4000", 48, 16, 448},
        {"rtx-a5000", "NVIDIA RTX A5000", 64, 24, 768},
        {"rtx-a6000", "NVIDIA RTX A6000", 84, 48, 768},
        {"rtx-pro-6000", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition", 188, 96, 1792},
        {"t4", "Tesla T4", 40, 16, 320},
    };

    (void)state;
    assert_int_equal(device_count, AT_COUNT(sheets));
    for (size_t i = 0; i < AT_COUNT(sheets); i++) {
        const struct at_device_info *info = &device_of(sheets[i].name)->info;
        int64_t mib = sheets[i].gib << 10;

        assert_string_equal(info->name, sheets[i].model);
        assert_int_equal(info->multiprocessors, sheets[i].multiprocessors);
        assert_in_range(info->peak_bandwidth_MB_per_s / 100, sheets[i].gbps * 995 / 100,
                        sheets[i].gbps * 1005 / 100);
        /* GB or GiB, less the part for ECC and the driver */
        assert_in_range(info->memory_bytes >> 20, mib * 9 / 10, mib);
    }
}

/* Only the H200 has been measured. Rates carried over to other devices stay near its own. */
static void test_predictions(void **state)
{
    const struct at_rates *h200 = &device_of("h200")->rates;

    (void)state;
    for (size_t i = 0; i < device_count; i++) {
        const struct at_rates *rates = &devices[i].rates;
        bool measured = strcmp(devices[i].name, "h200") == 0;

        assert_string_equal(devices[i].info.predictions,
                            measured ? AT_CALIBRATED : AT_UNCALIBRATED);
        assert_in_range(rates->clock_khz, 1000000, 3000000);
        assert_int_equal(rates->wavefronts_per_clock, h200->wavefronts_per_clock);
        assert_in_range(rates->block_ns * rates->clock_khz / 1000000,
                        h200->block_ns * h200->clock_khz / 1000000 - 2,
                        h200->block_ns * h200->clock_khz / 1000000 + 2);
    }
}

/* Latencies of DRAM and L2 follow the clocks that were measured on a GPU of that generation, where
 * they are known: the H200's 525 and 822 ns, times clocks over clocks, over the ratio of clocks. */
static void test_latencies(void **state)
{
    static const struct {
        const char *name;
        int64_t dram_ns, l2_ns;
    } cases[] = {
        {"h200", 525, 822},     {"h100", 525, 822}, {"h100-pcie", 525, 927}, {"t4", 525, 1024},
        {"rtx-4090", 380, 680}, {"b200", 654, 863}, {"rtx-5090", 531, 785},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        const struct at_rates *rates = &device_of(cases[i].name)->rates;

        assert_int_equal(rates->dram_latency_ns, cases[i].dram_ns);
        assert_int_equal(rates->l2_latency_ns, cases[i].l2_ns);
    }
}

/* ---- malformed descriptions ---- */

static char *good; /* the text of a description */

/* Write the good description to path, with the first occurrence of from replaced. */
static void write_changed(const char *path, const char *from, const char *to)
{
    const char *rest = strstr(good, from);
    FILE *out = fopen(path, "w");

    assert_non_null(rest);
    assert_non_null(out);
    fwrite(good, 1, (size_t)(rest - good), out);
    fprintf(out, "%s%s", to, rest + strlen(from));
    fclose(out);
}

static void test_refused(void **state)
{
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"predictions: calibrated", "predictions: good", "must be calibrated or uncalibrated"},
        {"  predictions: calibrated\n", "", "must be calibrated or uncalibrated"},
        {"kind: emulated", "kind: cuda", "must be of kind emulated"},
        {"  l2_load_MB_per_s: ", "  l2_load_MB_per_s: -", "l2_load_MB_per_s"},
        {"  run_bytes: 256\n", "", "rates: run_bytes is missing"},
        {"  clock_khz: 1980000\n", "", "rates: clock_khz is missing"},
    };
    char directory[] = "/tmp/autotune-description-XXXXXX";
    char *tuning, *devices_directory, *file, *path = path_of("tuning/devices/h200.yaml");
    struct at_device_info changed;
    struct at_error unread;
    size_t size;

    (void)state;
    assert_int_equal(at_file_read(&good, &size, path, 1 << 16, &unread), AT_OK);
    assert_non_null(mkdtemp(directory));
    tuning = at_format("%s/tuning", directory);
    devices_directory = at_format("%s/devices", tuning);
    file = at_format("%s/h200.yaml", devices_directory);
    assert_int_equal(mkdir(tuning, 0700), 0);
    assert_int_equal(mkdir(devices_directory, 0700), 0);
    setenv("AUTOTUNE_DATADIR", directory, 1);
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_device_info info = {.ordinal = 17};
        struct at_error err = {AT_OK, ""};

        write_changed(file, cases[i].from, cases[i].to);
        assert_int_equal(at_description_read(&info, NULL, "h200", &err), AT_USAGE);
        assert_non_null(strstr(err.message, cases[i].message));
        assert_int_equal(info.ordinal, 17);
    }
    /* One that follows from itself is read once. */
    write_changed(file, "predictions: calibrated", "predictions: uncalibrated");
    assert_int_equal(at_description_read(&changed, NULL, "h200", &unread), AT_OK);
    unlink(file);
    rmdir(devices_directory);
    rmdir(tuning);
    rmdir(directory);
    free(path);
    free(good);
    free(file);
    free(devices_directory);
    free(tuning);
}

static void test_unknown_name(void **state)
{
    static const char *const names[] = {"nothing", "../devices/h200", "", "H200"};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(names); i++) {
        struct at_device_info info;
        struct at_error err = {AT_OK, ""};

        assert_int_equal(at_description_read(&info, NULL, names[i], &err), AT_USAGE);
        assert_non_null(strstr(err.message, "known are a10, a100-pcie-40gb"));
    }
}

static void test_names(void **state)
{
    static const char *const names[][2] = {
        {"h200", "NVIDIA H200"},
        {"NVIDIA H200", "NVIDIA H200"},
        {"nvidia-h200", "NVIDIA H200"},
        {"H200 SXM5 141GB", "NVIDIA H200"},
        {"a100_sxm4_80gb", "NVIDIA A100-SXM4-80GB"},
        {"GeForce RTX 4090", "NVIDIA GeForce RTX 4090"},
        {"RTX 3090", "NVIDIA GeForce RTX 3090"},
        {"3090", "NVIDIA GeForce RTX 3090"},
        {"RTX 3060 Ti", "NVIDIA GeForce RTX 3060 Ti"},
        {"A10", "NVIDIA A10"},
        {"A100 40GB PCIe", "NVIDIA A100-PCIE-40GB"},
        {"L4", "NVIDIA L4"},
        {"T4", "Tesla T4"},
        {"H100 PCIe", "NVIDIA H100 PCIe"},
        {"GH200", "NVIDIA GH200 480GB"},
        {"RTX 6000 Ada", "NVIDIA RTX 6000 Ada Generation"},
        {"RTX PRO 6000", "NVIDIA RTX PRO 6000 Blackwell Workstation Edition"},
        {"Jetson AGX Orin", "Orin"},
        {"Jetson AGX Thor", "NVIDIA Thor"},
    };
    static const char *const strangers[] = {"H20", "H2000", "", "nvidia", "-"};
    struct at_device_info info;
    struct at_error err = {AT_OK, ""};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(names); i++) {
        if (at_description_by_any_name(&info, names[i][0], &err) != AT_OK)
            fail_msg("%s", err.message);
        assert_string_equal(info.name, names[i][1]);
    }
    for (size_t i = 0; i < AT_COUNT(strangers); i++) {
        assert_int_equal(at_description_by_any_name(&info, strangers[i], &err), AT_USAGE);
        assert_non_null(strstr(err.message, "known are a10, a100-pcie-40gb"));
    }
}

/* Every name of a device finds that device, so no name belongs to two. */
static void test_names_belong_to_one_device(void **state)
{
    (void)state;
    for (size_t i = 0; i < device_count; i++) {
        struct at_device_info info;
        struct at_error err = {AT_OK, ""};

        assert_int_equal(at_description_by_any_name(&info, devices[i].info.name, &err), AT_OK);
        assert_string_equal(info.name, devices[i].info.name);
    }
}

/* ---- main ---- */

static int read_all(void **state)
{
    char *pattern = path_of("tuning/devices/*.yaml");
    struct at_error err = {AT_OK, ""};
    enum at_status status = AT_OK;
    glob_t files = {0};

    (void)state;
    glob(pattern, 0, NULL, &files);
    for (size_t i = 0; i < files.gl_pathc && i < DEVICES_MAX && status == AT_OK; i++) {
        struct described *device = &devices[device_count++];
        const char *base = at_path_name(files.gl_pathv[i]);

        snprintf(device->name, sizeof device->name, "%.*s", (int)strcspn(base, "."), base);
        status = at_description_read(&device->info, &device->rates, device->name, &err);
    }
    if (status != AT_OK)
        fprintf(stderr, "%s\n", err.message);
    globfree(&files);
    free(pattern);
    return status == AT_OK ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capability),  cmocka_unit_test(test_memory),
        cmocka_unit_test(test_data_sheets), cmocka_unit_test(test_predictions),
        cmocka_unit_test(test_latencies),   cmocka_unit_test(test_unknown_name),
        cmocka_unit_test(test_names),       cmocka_unit_test(test_names_belong_to_one_device),
        cmocka_unit_test(test_refused),
    };

    use_source_tree();
    return cmocka_run_group_tests(tests, read_all, NULL);
}
