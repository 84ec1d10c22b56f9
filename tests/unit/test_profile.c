/* SPDX-License-Identifier: Apache-2.0 */
/* src/profile. Each file of tests/golden/profile is read, and written again byte for byte. Each
 * case of tests/golden/refused.txt, which is two files in the build tree, is refused with its
 * message. */
#include "base/memory.h"
#include "problem/problem.h"
#include "profile/internal.h"
#include "profile/merge.h"
#include "profile/newest.h"
#include "system/file.h"
#include "system/output.h"

#include <glob.h>
#include <jansson.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "problem_of.h"
#include "source_tree.h"

enum { WIDTH = 100 };

static char golden[PATH_MAX], refused[PATH_MAX];

static int find_folders(void **state)
{
    char *folder = path_of("tests/golden/profile");
    bool found = realpath(folder, golden) && realpath("tests/golden/refused", refused);

    (void)state;
    if (!found)
        print_error("no %s, or no tests/golden/refused, which `make check` makes\n", folder);
    free(folder);
    return found ? chdir(golden) : -1;
}

/* Files are named without their folder, so that messages are the same wherever the tree lies. */
static int enter_golden(void **state)
{
    (void)state;
    return chdir(golden);
}

static int enter_refused(void **state)
{
    (void)state;
    return chdir(refused);
}

static char *read_text(const char *path)
{
    struct at_error err = {0};
    char *text = NULL;
    size_t size;

    if (at_file_read(&text, &size, path, 1 << 20, &err) != AT_OK)
        fail_msg("%s", err.message);
    return text;
}

/* Return path with its ".yaml" replaced. */
static char *sibling(const char *path, const char *extension)
{
    return at_format("%.*s%s", (int)(strlen(path) - strlen(".yaml")), path, extension);
}

static void assert_text_of(const char *path, const char *actual)
{
    char *expected = read_text(path);

    if (strcmp(expected, actual) != 0)
        fail_msg("%s has\n%s\nbut this is\n%s", path, expected, actual);
    free(expected);
}

static struct at_profile read_profile(const char *path)
{
    struct at_profile profile = {0};
    struct at_error err = {0};

    if (at_profile_read(&profile, path, &err) != AT_OK)
        fail_msg("%s", err.message);
    return profile;
}

static enum at_status write_profile(struct at_profile *profile, const char *path,
                                    struct at_error *err)
{
    struct at_output *output = NULL;
    enum at_status status = at_output_open(&output, path, AT_OUTPUT_NO_WAIT, NULL, err);

    if (status == AT_OK)
        status = at_profile_write(profile, output, err);
    at_output_close(output);
    return status;
}

static char *yaml_of(struct at_profile *profile)
{
    char path[] = "/tmp/autotune-test-profile-XXXXXX";
    struct at_error err = {0};
    char *text;
    int fd = mkstemp(path);

    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(write_profile(profile, path, &err), AT_OK);
    text = read_text(path);
    unlink(path);
    return text;
}

static char *shown(struct at_profile *profile, bool color)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    at_profile_print(profile, AT_FORMAT_TABLE, &(struct at_show_options){color, true}, out, NULL);
    assert_int_equal(fclose(out), 0);
    return text;
}

static char *json_of(struct at_profile *profile)
{
    struct at_error err = {0};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_non_null(out);
    assert_int_equal(at_profile_write_json(profile, out, &err), AT_OK);
    assert_int_equal(fclose(out), 0);
    return text;
}

/* Call check for each file that matches the pattern. There must be some. */
static void for_each(const char *pattern, size_t at_least, void (*check)(const char *path))
{
    glob_t found;

    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= at_least);
    for (size_t i = 0; i < found.gl_pathc; i++)
        check(found.gl_pathv[i]);
    globfree(&found);
}

static void check_good(const char *path)
{
    struct at_profile profile = read_profile(path);
    char *yaml = yaml_of(&profile), *json_text = json_of(&profile);
    json_t *json = json_loads(json_text, JSON_REJECT_DUPLICATES, NULL);

    assert_text_of(path, yaml);
    assert_int_equal(json_integer_value(json_object_get(json, "schema")), profile.schema);
    json_decref(json);
    free(json_text);
    free(yaml);
    at_profile_clear(&profile);
    assert_null(profile.devices.items);
}

static void test_good(void **state)
{
    (void)state;
    for_each("*.yaml", 3, check_good);
}

static void check_refused(const char *path)
{
    struct at_profile profile = {0};
    struct at_error err = {0};
    char *expected = sibling(path, ".err"), *message;

    assert_int_equal(at_profile_read(&profile, path, &err), AT_USAGE);
    assert_int_equal(err.status, AT_USAGE);
    assert_null(profile.devices.items); /* outputs are set on success only */
    assert_memory_equal(err.message, path, strlen(path));
    message = at_format("%s\n", err.message);
    assert_text_of(expected, message);
    free(message);
    free(expected);
}

static void test_refused(void **state)
{
    (void)state;
    for_each("*.yaml", 30, check_refused);
}

/* A profile cut off anywhere is refused: it neither crashes the reader nor counts as whole. */
static void test_cut(void **state)
{
    char *whole = read_text("two-devices.yaml");
    char path[] = "/tmp/autotune-test-profile-XXXXXX";
    int fd = mkstemp(path);
    size_t size = strlen(whole);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t length = 0; length + 2 < size; length += 97) {
        struct at_profile profile = {0};
        struct at_error err = {0};

        assert_int_equal(at_output_replace(path, whole, length, &err), AT_OK);
        assert_int_equal(at_profile_read(&profile, path, &err), AT_USAGE);
    }
    unlink(path);
    free(whole);
}

static void test_missing_and_large(void **state)
{
    struct at_profile profile = {0};
    struct at_error err = {0};
    char path[] = "/tmp/autotune-test-profile-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_int_equal(at_profile_read(&profile, "no-such.yaml", &err), AT_USAGE);
    assert_string_equal(err.message, "cannot open no-such.yaml: No such file or directory");
    assert_int_equal(at_profile_read(&profile, ".", &err), AT_USAGE);
    assert_true(fd >= 0);
    assert_int_equal(ftruncate(fd, AT_SCHEMA_BYTES_MAX + 1), 0);
    close(fd);
    assert_int_equal(at_profile_read(&profile, path, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "at most 4194304"));
    unlink(path);
}

static void swap(void *left, void *right, size_t size)
{
    void *kept = at_memdup(left, size);

    memcpy(left, right, size);
    memcpy(right, kept, size);
    free(kept);
}

/* The file is the same whatever the order of its parts. */
static void test_write_sorts(void **state)
{
    struct at_profile profile = read_profile("two-devices.yaml");
    struct at_device_record *devices = profile.devices.items;
    struct at_entry *entries = devices[0].problems.items;
    struct at_named_int *parameters = entries[1].winner.parameters.items;
    struct at_named_int *of_default = entries[2].fallback.parameters.items;
    char *text;

    (void)state;
    swap(&parameters[0], &parameters[3], sizeof *parameters);
    swap(&of_default[0], &of_default[1], sizeof *of_default);
    swap(&entries[0], &entries[3], sizeof *entries);
    swap(&devices[0], &devices[1], sizeof *devices);
    text = yaml_of(&profile);
    assert_text_of("two-devices.yaml", text);
    free(text);
    at_profile_clear(&profile);
}

static void test_write_fails(void **state)
{
    struct at_profile profile = read_profile("least.yaml");
    struct at_error err = {0};

    (void)state;
    assert_int_equal(write_profile(&profile, "/nonexistent/best.yaml", &err), AT_USAGE);
    assert_non_null(strstr(err.message, "/nonexistent"));
    at_profile_clear(&profile);
}

/* A profile that could not be read back is not written. */
static void test_write_too_large(void **state)
{
    enum { DEVICES = 3200 };
    struct at_profile profile = read_profile("least.yaml");
    struct at_device_record *devices = at_alloc_array(DEVICES, sizeof *devices);
    struct at_profile large = {.schema = AT_PROFILE_SCHEMA, .devices = {devices, DEVICES}};
    struct at_error err = {0};

    (void)state;
    for (size_t i = 0; i < DEVICES; i++)
        memcpy(&devices[i], profile.devices.items, sizeof *devices);
    assert_int_equal(write_profile(&large, "/tmp/autotune-test-too-large", &err), AT_USAGE);
    assert_non_null(strstr(err.message, "at most 4194304"));
    assert_int_equal(access("/tmp/autotune-test-too-large", F_OK), -1);
    free(devices);
    at_profile_clear(&profile);
}

static bool has_other_seed(struct at_placed_entry old, struct at_placed_entry fresh,
                           const void *state)
{
    (void)state;
    assert_int_equal(at_software_compare(&old.record->environment, &fresh.record->environment), 0);
    return fresh.entry->seed != old.entry->seed;
}

static bool is_other_entry(const struct at_device_record *record, const struct at_entry *entry,
                           const void *state)
{
    (void)record;
    return strcmp(entry->problem, state) != 0;
}

/* A run of the same software: one entry is new, one replaces another, the others do not. */
static void test_accumulate(void **state)
{
    struct at_profile profile = read_profile("two-devices.yaml"),
                      run = read_profile("two-devices.yaml");
    struct at_device_record *of_run = run.devices.items, *joined;
    struct at_entry *fresh = of_run->problems.items;
    struct at_conditions *seen = &of_run->conditions, before;
    struct at_accumulation counts;
    struct at_error err = {0};
    size_t entries, found = 0;

    (void)state;
    at_profile_filter(&profile, is_other_entry, fresh[1].problem);
    entries = at_profile_entries(&profile);
    before = ((struct at_device_record *)profile.devices.items)->conditions;
    seen->drifts = before.drifts + 3;
    seen->capped_ms = before.capped_ms + 5;
    seen->temperature_max_c = before.temperature_max_c + 1;
    seen->clock_sm_min_khz = before.clock_sm_min_khz - 1;
    fresh[0].seed++;
    assert_int_equal(at_profile_accumulate(&profile, &run, has_other_seed, NULL, &counts, &err),
                     AT_OK);
    assert_null(run.devices.items);
    assert_int_equal(counts.added, 1);
    assert_int_equal(counts.replaced, 1);
    assert_int_equal(counts.kept, entries - 1);
    assert_int_equal(at_profile_entries(&profile), entries + 1);
    assert_int_equal(at_profile_models(&profile), profile.devices.count);
    joined = profile.devices.items;
    for (size_t i = 0; i < profile.devices.count; i++)
        if (joined[i].conditions.drifts == 2 * before.drifts + 3) {
            assert_int_equal(joined[i].conditions.capped_ms, 2 * before.capped_ms + 5);
            assert_int_equal(joined[i].conditions.temperature_max_c, before.temperature_max_c + 1);
            assert_int_equal(joined[i].conditions.clock_sm_min_khz, before.clock_sm_min_khz - 1);
            found++;
        }
    assert_int_equal(found, 1);
    at_profile_clear(&profile);
}

/* Coloured text without its attributes is the plain text, and every line fits. */
static void test_show_color(void **state)
{
    struct at_profile profile = read_profile("two-devices.yaml");
    char *plain = shown(&profile, false), *color = shown(&profile, true), *end = color;

    (void)state;
    assert_null(strchr(plain, '\033'));
    assert_non_null(strchr(color, '\033'));
    for (const char *in = color; *in; in++) {
        if (*in == '\033')
            in = strchr(in, 'm');
        else
            *end++ = *in;
    }
    *end = '\0';
    assert_string_equal(plain, color);
    for (const char *line = plain; *line; line += strcspn(line, "\n") + 1)
        assert_true(strcspn(line, "\n") <= WIDTH);
    free(plain);
    free(color);
    at_profile_clear(&profile);
}

/* Figures that are right to the nanosecond are accepted however they were rounded. Others are
 * not. */
static void test_rounding(void **state)
{
    static const struct {
        double time_ns, copy_ns;
        int64_t bandwidth_error, share_error;
        enum at_status expected;
    } cases[] = {
        {2000.49, 1900.51, 0, 0, AT_OK},       {2000.49, 1900.51, 600, 0, AT_USAGE},
        {2000.49, 1900.51, -600, 0, AT_USAGE}, {2000.49, 1900.51, 0, 3, AT_USAGE},
        {2000.49, 1900.51, 0, -3, AT_USAGE},   {999999.5, 950000.49, 0, 0, AT_OK},
        {999999.5, 950000.49, 3, 0, AT_USAGE}, {21.5, 20.4, 0, 0, AT_OK},
    };
    char path[] = "/tmp/autotune-test-profile-XXXXXX";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_profile profile = read_profile("least.yaml"), again = {0};
        struct at_device_record *devices = profile.devices.items;
        struct at_entry *entry = devices[0].problems.items;
        double time = cases[i].time_ns, copy = cases[i].copy_ns;
        struct at_problem problem = problem_of("512x512:f32");
        struct at_error err = {0};

        at_free(entry->problem);
        entry->problem = at_strdup("512x512:f32");
        entry->winner.time_ns = (int64_t)(time + 0.5);
        entry->winner.bandwidth_MB_per_s =
            (int64_t)(1000 * (double)at_problem_bytes(&problem) / time + 0.5) +
            cases[i].bandwidth_error;
        entry->winner.of_copy_permille = (int64_t)(1000 * copy / time + 0.5) + cases[i].share_error;
        entry->copy.time_ns = (int64_t)(copy + 0.5);
        entry->copy.bandwidth_MB_per_s =
            (int64_t)(1000 * (double)at_problem_bytes(&problem) / copy + 0.5);
        assert_int_equal(write_profile(&profile, path, &err), AT_OK);
        if (at_profile_read(&again, path, &err) != cases[i].expected)
            fail_msg("case %zu: %s", i, err.message);
        at_profile_clear(&profile);
        at_profile_clear(&again);
    }
    unlink(path);
}

static void check_table(const struct at_schema *schema, const char *documentation)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct at_field *field = &schema->fields[i];
        char *quoted = at_format("`%s`", field->key);

        if (!strstr(documentation, quoted))
            fail_msg("%s of %s is not documented", field->key, schema->what);
        if (field->object)
            check_table(field->object, documentation);
        free(quoted);
    }
}

/* The documentation has every key. */
static void test_tables(void **state)
{
    char *documentation = read_text("../../../doc/profile-format.md");

    (void)state;
    check_table(&at_profile_schema, documentation);
    free(documentation);
}

/* The format has room for a winner of several launches; this program says that it cannot use it. */
static void test_several_launches(void **state)
{
    static const char path[] = "../launches.yaml";
    char *text = read_text(path), *written = NULL;
    size_t size;
    FILE *out = open_memstream(&written, &size);
    struct at_profile profile = {0};
    struct at_error err = {0};

    (void)state;
    assert_int_equal(at_schema_read(&at_profile_schema, &profile, path, text, strlen(text), &err),
                     AT_OK);
    assert_int_equal(at_schema_write_yaml(&at_profile_schema, &profile, out, &err), AT_OK);
    assert_int_equal(fclose(out), 0);
    assert_string_equal(written, text);
    at_profile_clear(&profile);
    assert_int_equal(at_profile_read(&profile, path, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "problem 4096x4096:c128,batch=2 of Example GPU Mini: the "
                                        "winner is 3 launches"));
    free(written);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_good),
        cmocka_unit_test(test_several_launches),
        cmocka_unit_test_setup_teardown(test_refused, enter_refused, enter_golden),
        cmocka_unit_test(test_cut),
        cmocka_unit_test(test_missing_and_large),
        cmocka_unit_test(test_write_sorts),
        cmocka_unit_test(test_write_fails),
        cmocka_unit_test(test_write_too_large),
        cmocka_unit_test(test_accumulate),
        cmocka_unit_test(test_show_color),
        cmocka_unit_test(test_rounding),
        cmocka_unit_test(test_tables),
    };

    return cmocka_run_group_tests(tests, find_folders, NULL);
}
