/* SPDX-License-Identifier: Apache-2.0 */
/* Study files: errors have a place, and the shipped studies are correct, with every row legal on
 * every device. */
#include "base/memory.h"
#include "space/space.h"
#include "study/study_run.h"

#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "source_tree.h"

/* ---- reading ---- */

#define TOP     "schema: 1\ntitle: t\nproblem: 8x8:f32\ncolumns: [load_sectors]\n"
#define ROW     "  - {label: a, family: naive, parameters: {}}\n"
#define READING "reading: r\n"

static const struct {
    const char *text, *error; /* the message after the path */
} bad_files[] = {
    {"", ":1:1: a study: expected keys and values, found nothing"},
    {TOP READING, ":1:1: a study lacks the key \"rows\""},
    {TOP "rows: []\n" READING, ":5:7: rows: expected"},
    {TOP "rows:\n  - {label: a, family: naive}\n" READING, ":6:5: a row lacks the key"},
    {TOP "rows:\n  - {label: a, family: naive, parameters: {}, colour: red}\n" READING,
     ":6:47: unknown key \"colour\""},
    {TOP "rows:\n" ROW, ":1:1: a study lacks the key \"reading\""},
    {TOP "rows:\n" ROW ROW READING, ": two rows on 8x8:f32 have the label \"a\""},
    {TOP "rows:\n  - {label: a, family: naive, parameters: {}, problem: 8x8}\n" READING, ":6:56: "},
    {"schema: 2\n", ":1:9: schema: expected 1"},
    {"schema: 1\ntitle: t\nproblem: 0x8:f32\ncolumns: []\nrows:\n" ROW READING, ":3:10: "},
    {"schema: 1\ntitle: t\nproblem: 8x8:f32\ncolumns: [loads]\nrows:\n" ROW READING,
     ":4:11: unknown column \"loads\"; known are load_sectors, load_used, store_sectors, "
     "store_used, shared_load, shared_store, conflicts"},
    {"schema: 1\ntitle: t\nproblem: 8x8:f32\ncolumns: [conflicts, conflicts]\nrows:\n" ROW READING,
     ":4:22: column conflicts is named twice"},
};

/* Write a file with this text. The caller removes it and frees its name. */
static char *write_file(const char *text)
{
    char *path = at_format("%s/study-XXXXXX", getenv("TMPDIR") ? getenv("TMPDIR") : "/tmp");
    int file = mkstemp(path);

    assert_true(file >= 0);
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    return path;
}

static void test_bad_files(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(bad_files); i++) {
        char *path = write_file(bad_files[i].text);
        struct at_study study = {0};
        struct at_error err = {AT_OK, ""};
        enum at_status status = at_study_read(&study, path, &err);

        unlink(path);
        if (status != AT_USAGE || strncmp(err.message, path, strlen(path)) != 0 ||
            strncmp(err.message + strlen(path), bad_files[i].error, strlen(bad_files[i].error)) !=
                0)
            fail_msg("expected %s, got %d: %s", bad_files[i].error, status, err.message);
        assert_null(study.rows.items);
        free(path);
    }
}

static void test_good_file(void **state)
{
    char *path =
        write_file(TOP "rows:\n" ROW "  - {label: a, family: tile, parameters: {PAD: 0}, problem: "
                       "16x16:f64}\n" READING);
    struct at_study study = {0};
    struct at_error err = {AT_OK, ""};
    const struct at_study_row *rows;

    (void)state;
    if (at_study_read(&study, path, &err) != AT_OK)
        fail_msg("%s", err.message);
    rows = study.rows.items;
    assert_int_equal(study.rows.count, 2);
    assert_string_equal(rows[1].kernel.family, "tile");
    assert_int_equal(rows[1].kernel.parameters.count, 1);
    assert_int_equal(at_study_problem(&study, 0).rows, 8);
    assert_int_equal(at_study_problem(&study, 1).elem_size, 8);
    at_study_clear(&study);
    unlink(path);
    free(path);
}

/* ---- the shipped studies ---- */

/* From the lowest to the highest supported capability, which decides the shared memory. */
static const struct at_device_info devices[] = {
    {
        .name = "compute capability 7.5",
        .compute_capability = 75,
        .warp_size = 32,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = 1024,
        .shared_bytes_per_block = 49152,
        .shared_bytes_per_block_optin = 65536,
        .shared_bytes_per_multiprocessor = 65536,
    },
    {
        .name = "compute capability 9.0",
        .compute_capability = 90,
        .warp_size = 32,
        .max_threads_per_block = 1024,
        .max_threads_per_multiprocessor = 2048,
        .shared_bytes_per_block = 49152,
        .shared_bytes_per_block_optin = 232448,
        .shared_bytes_per_multiprocessor = 233472,
    },
};

static struct at_family **families; /* families that are tuned, then the ones of studies */
static size_t family_count, tuned_count;

static void check_row(const struct at_study *study, size_t index, const char *path)
{
    const struct at_study_row *row = &((const struct at_study_row *)study->rows.items)[index];
    const struct at_problem problem = at_study_problem(study, index);
    struct at_config config;
    struct at_error err = {AT_OK, ""};

    if (at_kernel_row_config(&row->kernel, path, families, family_count, &config, &err) != AT_OK)
        fail_msg("%s", err.message);
    for (size_t i = 0; i < AT_COUNT(devices); i++) {
        bool legal = false;
        char *why = NULL;

        assert_int_equal(at_config_legal(&config, &problem, &devices[i], &legal, &why, &err),
                         AT_OK);
        if (!legal)
            fail_msg("%s: %s on %s: %s", path, row->kernel.label, devices[i].name, why);
    }
}

static void test_studies(void **state)
{
    char *pattern = path_of("tuning/study/*.yaml");
    glob_t files = {0};

    (void)state;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct at_study study = {0};
        struct at_error err = {AT_OK, ""};

        if (at_study_read(&study, files.gl_pathv[i], &err) != AT_OK)
            fail_msg("%s", err.message);
        for (size_t j = 0; j < study.rows.count; j++)
            check_row(&study, j, files.gl_pathv[i]);
        at_study_clear(&study);
    }
    globfree(&files);
    free(pattern);
}

/* No search uses a study's family, and every template is read. */
static void test_families(void **state)
{
    char *pattern = path_of("templates/study/*.cu");
    glob_t files = {0};
    struct at_error err = {AT_OK, ""};

    (void)state;
    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    assert_int_equal(family_count - tuned_count, files.gl_pathc);
    assert_int_equal(at_families_check_unique(families, family_count, &err), AT_OK);
    globfree(&files);
    free(pattern);
}

static int read_families(void **state)
{
    char *tuning = path_of("tuning"), *templates = path_of("templates");
    char *studies = path_of("templates/study");
    struct at_family **own;
    struct at_error err = {AT_OK, ""};
    size_t count = 0, capacity;

    (void)state;
    if (at_families_read(&families, &tuned_count, tuning, templates, &err) != AT_OK ||
        at_families_read(&own, &count, studies, studies, &err) != AT_OK)
        fail_msg("%s", err.message);
    family_count = capacity = tuned_count;
    for (size_t i = 0; i < count; i++)
        AT_PUSH(families, family_count, capacity, own[i]);
    free(own);
    free(tuning);
    free(templates);
    free(studies);
    return 0;
}

static int free_families(void **state)
{
    (void)state;
    while (family_count > 0)
        at_family_free(families[--family_count]);
    free(families);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bad_files),
        cmocka_unit_test(test_good_file),
        cmocka_unit_test(test_studies),
        cmocka_unit_test(test_families),
    };

    return cmocka_run_group_tests(tests, read_families, free_families);
}
