/* SPDX-License-Identifier: Apache-2.0 */
/* src/lookup/predict.c with networks that a person can compute, and with files that are none. */
#include "base/hash.h"
#include "base/memory.h"
#include "lookup/predict.h"
#include "system/output.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "shipped_families.h"

static char folder[] = "/tmp/autotune-test-slowdown-XXXXXX";

/* ---- writing a file ---- */

struct file {
    char bytes[1 << 14];
    size_t size;
};

static void put(struct file *file, const void *bytes, size_t size)
{
    assert_true(file->size + size <= sizeof file->bytes);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static void put_count(struct file *file, uint32_t count)
{
    put(file, &count, sizeof count);
}

static void put_layer(struct file *file, uint32_t inputs, uint32_t outputs, const float *scales,
                      const float *biases, const signed char *weights)
{
    put_count(file, inputs);
    put_count(file, outputs);
    put(file, scales, inputs * sizeof *scales);
    put(file, biases, outputs * sizeof *biases);
    put(file, weights, (size_t)inputs * outputs);
    while (file->size % 4)
        put(file, "", 1);
}

/* Of rows x and columns y, both logarithms less 5: unit 0 is x, unit 1 is y - 1, unit 2 is -x - y.
 * Then unit 0 is 2 * (unit 0) + 3 * (unit 1), unit 1 is 10 - (unit 2); and all is their difference.
 */
static void put_network(struct file *file, uint32_t inputs)
{
    static const signed char second[] = {2, 0, 3, 0, 0, -1}, last[] = {1, -10};
    static const float ones[] = {1, 1, 1}, last_scales[] = {1, 0.1F}, none[1];
    float scales[AT_IN_OWN + 1] = {[AT_IN_ROWS] = 0.25F, [AT_IN_COLS] = 0.5F};
    signed char first[AT_IN_OWN + 1][3] = {[AT_IN_ROWS] = {4, 0, -4}, [AT_IN_COLS] = {0, 2, -2}};

    put_count(file, 3);
    put_layer(file, inputs, 3, scales, (const float[]){0, -1, 0}, first[0]);
    put_layer(file, 3, 2, ones, (const float[]){0, 10}, second);
    put_layer(file, 2, 1, last_scales, none, last);
}

static void put_header(struct file *file, uint32_t version)
{
    uint32_t size = (uint32_t)file->size - 24;
    uint64_t hash = at_hash64(file->bytes + 24, size, 0);

    memcpy(file->bytes, "autonets", 8);
    memcpy(file->bytes + 8, &version, sizeof version);
    memcpy(file->bytes + 12, &size, sizeof size);
    memcpy(file->bytes + 16, &hash, sizeof hash);
}

/* A network that estimates, and one that predicts. They know the family naive alone. */
static struct file make_file(void)
{
    const uint32_t inputs = AT_IN_OWN + 1;
    struct file file = {.size = 24};

    put_count(&file, inputs);
    put_count(&file, 2);
    for (uint32_t i = 0; i < inputs; i++) {
        char name[24] = "";
        const float mean = i == AT_IN_ROWS || i == AT_IN_COLS ? 5 : 0, scale = 1;

        strcpy(name, i < AT_IN_OWN ? "own" : "family naive");
        put(&file, name, sizeof name);
        put(&file, &mean, sizeof mean);
        put(&file, &scale, sizeof scale);
    }
    put_network(&file, inputs);
    put_network(&file, inputs);
    put_header(&file, 2);
    return file;
}

static enum at_status open_file(struct at_slowdown **slowdown, const struct file *file,
                                struct at_error *err)
{
    char *path = at_format("%s/results/networks.bin", folder);

    assert_int_equal(at_output_replace(path, file->bytes, file->size, err), AT_OK);
    free(path);
    return at_slowdown_open(slowdown, families, family_count, err);
}

/* ---- numbers ---- */

static const struct at_family *family_named(const char *name)
{
    size_t i = 0;

    while (i < family_count && strcmp(families[i]->name, name) != 0)
        i++;
    assert_true(i < family_count);
    return families[i];
}

static void test_numbers(void **state)
{
    static const struct {
        int x, y;
        float number;
    } cases[] = {
        {0, 0, -10},               /* 0 - 10 */
        {1, 0, -8},                /* 2 - 10 */
        {0, 3, -4},                /* 6 - 10 */
        {1, 3, -2},                /* 2 + 6 - 10 */
        {-5, 0, -5},               /* units below 0 count as 0: 0 - (10 - 5) */
        {-4, -5, -1}, {-1, 3, -4}, /* 6 - 10 */
        {9, 0, 0},                 /* no more than 5: 10 - 10 */
    };
    const struct at_device_info device = {.multiprocessors = 1,
                                          .max_threads_per_multiprocessor = 2048};
    const struct at_launch launch = {.field = {[AT_GRID_X] = 1,
                                               [AT_GRID_Y] = 1,
                                               [AT_GRID_Z] = 1,
                                               [AT_BLOCK_X] = 32,
                                               [AT_BLOCK_Y] = 1,
                                               [AT_BLOCK_Z] = 1}};
    const struct at_config config = {.family = family_named("naive")},
                           unknown = {.family = family_named("tile")};
    const struct at_problem one = {.elem_size = 4}, many = {.elem_size = 4, .groups.count = 2};
    struct file file = make_file();
    struct at_slowdown *slowdown;
    struct at_error err = {AT_OK, ""};

    (void)state;
    if (open_file(&slowdown, &file, &err) != AT_OK)
        fail_msg("%s", err.message);
    assert_true(at_slowdown_knows(slowdown, &one, config.family));
    assert_false(at_slowdown_knows(slowdown, &one, unknown.family));
    assert_false(at_slowdown_knows(slowdown, &many, config.family));
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = {
            .elem_size = 4, .rows = 1 << (5 + cases[i].x), .cols = 1 << (5 + cases[i].y)};
        struct at_slowdown_asked asked;

        assert_int_equal(at_problem_complete(&problem, &err), AT_OK);
        asked = at_slowdown_ask(slowdown, &problem, &device);
        if (fabsf(at_slowdown_predict(slowdown, &asked, &config, &launch) - cases[i].number) >
            1e-5F)
            fail_msg("case %zu", i);
        assert_true(at_slowdown_estimate(slowdown, &asked, &unknown, &launch) == INFINITY);
    }
    at_slowdown_close(slowdown);
    at_slowdown_close(NULL);
}

/* ---- bad files ---- */

static void refuse(const struct file *file, const char *words)
{
    struct at_slowdown *slowdown;
    struct at_error err = {AT_OK, ""};

    assert_int_equal(open_file(&slowdown, file, &err), AT_USAGE);
    if (!strstr(err.message, "results/networks.bin: ") || !strstr(err.message, words) ||
        !strstr(err.message, "AUTOTUNE_DATADIR"))
        fail_msg("%s", err.message);
}

static void test_damage(void **state)
{
    const struct file whole = make_file();
    struct file file = whole;

    (void)state;
    for (size_t size = 0; size < whole.size; size += size < 64 ? 1 : 97) {
        file.size = size;
        refuse(&file, size < 24 ? "not a file of networks" : "damaged");
    }
    file = whole;
    file.bytes[whole.size / 2] ^= 1;
    refuse(&file, "damaged");
    put(&file, "more", 4);
    refuse(&file, "damaged");
    file = whole;
    put_header(&file, 3);
    refuse(&file, "its version is 3, and this program knows 2");
}

/* Files whose hash is right, but not their numbers: of inputs, networks, and a network's layers. */
static void test_bad_counts(void **state)
{
    const size_t places[] = {24, 28, 32 + (size_t)(AT_IN_OWN + 1) * 32};
    const uint32_t counts[] = {0, 1, AT_IN_OWN, 1000000, UINT32_MAX};
    const struct file whole = make_file();

    (void)state;
    for (size_t i = 0; i < AT_COUNT(places); i++)
        for (size_t j = 0; j < AT_COUNT(counts); j++) {
            struct file file = whole;

            memcpy(file.bytes + places[i], &counts[j], sizeof counts[j]);
            put_header(&file, 2);
            refuse(&file, "damaged");
        }
}

static void test_missing(void **state)
{
    char *path = at_format("%s/results/networks.bin", folder);
    struct at_slowdown *slowdown;
    struct at_error err = {AT_OK, ""};

    (void)state;
    unlink(path);
    assert_int_equal(at_slowdown_open(&slowdown, families, family_count, &err), AT_USAGE);
    assert_non_null(strstr(err.message, path));
    assert_non_null(strstr(err.message, "No such file"));
    assert_non_null(strstr(err.message, "AUTOTUNE_DATADIR"));
    free(path);
}

static int set_up(void **state)
{
    char *results;

    read_shipped_families(state);
    assert_non_null(mkdtemp(folder));
    results = at_format("%s/results", folder);
    assert_int_equal(mkdir(results, 0700), 0);
    free(results);
    setenv("AUTOTUNE_DATADIR", folder, 1);
    return 0;
}

static int tear_down(void **state)
{
    char *results = at_format("%s/results", folder);

    rmdir(results);
    rmdir(folder);
    free(results);
    free_shipped_families(state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_damage),
        cmocka_unit_test(test_bad_counts),
        cmocka_unit_test(test_missing), /* the last: it removes the file */
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
