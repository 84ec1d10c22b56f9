/* SPDX-License-Identifier: Apache-2.0 */
/* src/base: errors, choices, memory, files, hashes, order statistics, random numbers. */
#include "base/choice.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/stats.h"
#include "folder.h"
#include "kernel/cache.h"
#include "system/file.h"
#include "system/paths.h"

#include <fcntl.h>
#include <math.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Let an allocation that is too large return NULL under AddressSanitizer too. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static void test_error_fail(void **state)
{
    struct at_error err = {0};

    (void)state;
    assert_int_equal(at_fail(&err, AT_DEVICE, "no device %d", 7), AT_DEVICE);
    assert_int_equal(err.status, AT_DEVICE);
    assert_string_equal(err.message, "no device 7");
    assert_int_equal(at_fail_within(&err, "gpu %s", "all"), AT_DEVICE);
    assert_string_equal(err.message, "gpu all: no device 7");
    assert_int_equal(at_fail(NULL, AT_USAGE, "nobody listens"), AT_USAGE);
}

static struct at_choice color(size_t index)
{
    static const struct at_choice colors[] = {
        {.name = "red"}, {.name = "green", .note = "as grass"}, {0}};

    return colors[index];
}

static void test_choice(void **state)
{
    struct at_error err = {0};
    size_t index = 7;
    char *list = at_choices_list("A color", color);

    (void)state;
    assert_string_equal(list, "A color: red, green (as grass)");
    free(list);
    assert_int_equal(at_choose(&index, "color", "green", color, &err), AT_OK);
    assert_int_equal(index, 1);
    assert_int_equal(at_choose(&index, "color", "gree", color, &err), AT_USAGE);
    assert_string_equal(err.message,
                        "unknown color \"gree\" (did you mean green, red?); known are red, green");
    assert_int_equal(index, 1);
    assert_int_equal(at_choose(&index, "color", "", color, NULL), AT_USAGE);
}

static void test_error_long(void **state)
{
    struct at_error err = {0};
    char cause[2000];

    (void)state;
    memset(cause, 'x', sizeof cause - 1);
    cause[sizeof cause - 1] = '\0';
    at_fail(&err, AT_FAILED, "%s", cause);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_int_equal(at_fail_within(&err, "context"), AT_FAILED);
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
    assert_memory_equal(err.message, "context: xxx", 12);
    at_fail_within(&err, "%s", cause); /* leaves little room for the cause */
    assert_int_equal(strlen(err.message), sizeof err.message - 1);
}

/* However long a message is, it ends after a whole character, and so does what it quotes. */
static void test_error_whole(void **state)
{
    static const char *const characters[] = {"x", "µ", "核", "𝄞"};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(characters); i++)
        for (int before = 0; before < 4; before++) {
            char text[1600] = "";
            struct at_error err;

            memset(text, '-', (size_t)before);
            while (strlen(text) < 1500)
                strcat(text, characters[i]);
            at_fail(&err, AT_FAILED, "%s", text);
            assert_true(at_text_is_printable(err.message, strlen(err.message)));
            assert_in_range(strlen(err.message), sizeof err.message - 4, sizeof err.message - 1);
            at_fail_within(&err, "%s", "context");
            assert_true(at_text_is_printable(err.message, strlen(err.message)));
            at_fail_at(&err, (struct at_source){"file", 1, 1}, "\"%.*s\"", AT_QUOTED(text, 60));
            assert_true(at_text_is_printable(err.message, strlen(err.message)));
            assert_in_range(strlen(err.message), strlen("file:1:1: \"\"") + 57,
                            strlen("file:1:1: \"\"") + 60);
        }
    assert_int_equal(at_text_fit("caf\xe9", 4, 60), 4); /* not cut: as it is */
}

static void test_memory(void **state)
{
    size_t count = 0, capacity = 0;
    int *items = NULL;
    char *zeroed = at_alloc(100), *text = at_format("%d-%s", 3, "x");
    char *prefix = at_strndup("abcdef", 3), *empty = at_memdup(NULL, 0);

    (void)state;
    for (int i = 0; i < 100; i++)
        assert_int_equal(zeroed[i], 0);
    assert_string_equal(text, "3-x");
    assert_string_equal(prefix, "abc");
    assert_non_null(empty);
    for (int i = 0; i < 1000; i++)
        AT_PUSH(items, count, capacity, i);
    assert_int_equal(count, 1000);
    assert_true(capacity >= 1000);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(items[i], i);
    free(zeroed);
    free(text);
    free(prefix);
    free(empty);
    free(items);
}

/* Out of memory ends the process with AT_INTERNAL, also if count * size would overflow. */
static void test_memory_exhausted(void **state)
{
    pid_t child = fork();
    int status;

    (void)state;
    if (child == 0) {
        volatile size_t half = SIZE_MAX / 2 + 2;

        dup2(open("/dev/null", O_WRONLY), STDERR_FILENO);
        free(at_alloc_array(half, 2));
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), AT_INTERNAL);
}

/* A pipe that holds the text, as a shell passes one: its name. */
static char *fill_pipe(const char *text)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), strlen(text));
    close(ends[1]);
    return at_format("/dev/fd/%d", ends[0]);
}

static void test_file_read(void **state)
{
    const char *folder = *state;
    char *path = at_format("%s/in", folder), *missing = at_format("%s/missing", folder);
    char *text = NULL;
    size_t size = 0;
    struct at_error err = {0};

    write_text(path, "12345678");
    assert_content(path, "12345678");
    assert_int_equal(at_file_read(&text, &size, path, 8, &err), AT_OK);
    free(text);
    text = NULL;
    assert_int_equal(at_file_read(&text, &size, path, 7, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "8 bytes; at most 7"));
    assert_int_equal(at_file_read(&text, &size, missing, 7, &err), AT_USAGE);
    assert_non_null(strstr(err.message, missing));
    assert_int_equal(at_file_read(&text, &size, folder, 1 << 20, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "is a folder"));
    assert_int_equal(mkfifo(missing, 0600), 0); /* must not wait for a writer */
    assert_int_equal(at_file_read(&text, &size, missing, 1 << 20, &err), AT_USAGE);
    assert_null(text);
    write_text(path, "");
    assert_content(path, "");
    free(missing);
    missing = fill_pipe("12345678");
    assert_content(missing, "12345678");
    free(missing);
    missing = fill_pipe("12345678");
    assert_int_equal(at_file_read(&text, &size, missing, 7, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "more than the 7 bytes"));
    assert_int_equal(at_file_read(&text, &size, "/dev/fd/987654", 7, &err), AT_USAGE);
    free(path);
    free(missing);
}

static void assert_path(char *path, const char *expected)
{
    assert_non_null(path);
    assert_string_equal(path, expected);
    free(path);
}

/* Without HOME, the home folder is that of the user database. */
static void test_path_user(void **state)
{
    const char *kept = getenv("HOME");
    char *home = kept ? at_strdup(kept) : NULL;
    struct passwd *user = getpwuid(geteuid());
    char *expected = user ? at_format("%s/.below/autotune", user->pw_dir) : NULL;

    (void)state;
    setenv("AUTOTUNE_TEST_HOME", "/base", 1);
    assert_path(at_path_user("AUTOTUNE_TEST_HOME", ".below"), "/base/autotune");
    setenv("AUTOTUNE_TEST_HOME", "base", 1);
    setenv("HOME", "/somewhere", 1);
    assert_path(at_path_user("AUTOTUNE_TEST_HOME", ".below"), "/somewhere/.below/autotune");
    unsetenv("AUTOTUNE_TEST_HOME");
    assert_path(at_path_user("AUTOTUNE_TEST_HOME", ".below"), "/somewhere/.below/autotune");
    for (int i = 0; i < 2 && expected; i++) {
        if (i == 0)
            setenv("HOME", "", 1);
        else
            unsetenv("HOME");
        assert_path(at_path_user("AUTOTUNE_TEST_HOME", ".below"), expected);
    }
    if (home)
        setenv("HOME", home, 1);
    free(home);
    free(expected);
}

/* A user who is not in the user database has no home, and so no cache (not one in the root). */
static void test_path_without_home(void **state)
{
    pid_t child;
    int status;

    (void)state;
    if (geteuid() != 0 || getpwuid(54321))
        skip();
    child = fork();
    if (child == 0) {
        struct at_cubin_cache *cache;
        struct at_error err = {0};

        unsetenv("HOME");
        unsetenv("XDG_CACHE_HOME");
        if (setuid(54321) != 0 || at_path_user("XDG_CACHE_HOME", ".cache") ||
            at_cubin_cache_open(&cache, NULL, &err) != AT_USAGE)
            _exit(1);
        _exit(strstr(err.message, "set HOME or XDG_CACHE_HOME") ? 0 : 2);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* XXH3-128 with seed 0 in canonical order, high half first, as xxhsum -H2 prints it. A change would
 * make every cache and journal useless. */
static void test_hash(void **state)
{
    char hex[AT_HASH_CHARS], other[AT_HASH_CHARS];

    (void)state;
    at_hash(hex, "", 0);
    assert_string_equal(hex, "99aa06d3014798d86001c324468d497f");
    at_hash(hex, "abc", 3);
    assert_string_equal(hex, "06b05ab6733a618578af5f94892f3950");
    at_hash(other, "abd", 3);
    assert_string_not_equal(hex, other);
}

/* Reference values by the definition of type 7: h = (n - 1) q, linear between neighbours. */
static void test_quantile(void **state)
{
    static const double one[] = {7}, two[] = {3, 1}, five[] = {50, 10, 40, 20, 30};
    static const double six[] = {1.5, 2.25, 0.5, 8, 2.25, 4};
    static const struct {
        const double *values;
        size_t count;
        double q, expected;
    } cases[] = {
        {one, 1, 0, 7},      {one, 1, 0.5, 7},       {one, 1, 1, 7},     {two, 2, 0.5, 2},
        {two, 2, 0.25, 1.5}, {two, 2, 1, 3},         {five, 5, 0.5, 30}, {five, 5, 0.1, 14},
        {five, 5, 0.25, 20}, {five, 5, 0.95, 48},    {six, 6, 0, 0.5},   {six, 6, 0.25, 1.6875},
        {six, 6, 0.5, 2.25}, {six, 6, 0.75, 3.5625}, {six, 6, 0.9, 6},   {six, 6, 1, 8},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++)
        assert_true(fabs(at_quantile(cases[i].values, cases[i].count, cases[i].q) -
                         cases[i].expected) < 1e-12);
    assert_true(five[0] == 50 && five[4] == 30); /* the input is not sorted */
    assert_true(at_median(six, 6) == 2.25);
}

static void test_spread(void **state)
{
    static const double same[] = {5, 5, 5}, five[] = {10, 20, 30, 40, 50}, zero[] = {0, 0, 1};

    (void)state;
    assert_int_equal(at_spread_permille(same, 3), 0);
    assert_int_equal(at_spread_permille(five, 5), 667); /* (40 - 20) / 30 */
    assert_int_equal(at_spread_permille(zero, 3), 0);
}

/* SplitMix64 from seed 1234567: the reference implementation's output, as in Rosetta Code's
 * "Pseudo-random numbers/Splitmix64". */
static void test_rng(void **state)
{
    static const uint64_t expected[] = {
        UINT64_C(6457827717110365317), UINT64_C(3203168211198807973), UINT64_C(9817491932198370423),
        UINT64_C(4593380528125082431), UINT64_C(16408922859458223821)};
    struct at_rng rng = {1234567};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(expected); i++)
        assert_true(at_rng_next(&rng) == expected[i]);
}

static void test_rng_below(void **state)
{
    struct at_rng rng = {1}, again = {1};
    size_t seen[7] = {0};

    (void)state;
    for (int i = 0; i < 70000; i++)
        seen[at_rng_below(&rng, 7)]++;
    for (int i = 0; i < 7; i++)
        assert_in_range(seen[i], 9500, 10500); /* 5 standard deviations; the seed is fixed */
    assert_true(at_rng_below(&rng, 1) == 0);
    for (int i = 0; i < 1000; i++)
        assert_true(at_rng_below(&again, UINT64_C(1) << 63 | 1) <= UINT64_C(1) << 63);
}

/* Ranks from tables of the sign test. Below six samples, no pair of them reaches 95 %. */
static void test_median_interval(void **state)
{
    static const struct {
        size_t count;
        double low, high; /* of the values 1 to count */
    } cases[] = {{1, 1, 1},   {2, 1, 2},   {5, 1, 5},    {6, 1, 6},    {8, 1, 8},
                 {9, 2, 8},   {11, 2, 10}, {12, 3, 10},  {15, 4, 12},  {17, 5, 13},
                 {20, 6, 15}, {25, 8, 18}, {50, 18, 33}, {100, 40, 61}};
    double values[100], low, high;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        for (size_t j = 0; j < cases[i].count; j++) /* in scrambled order */
            values[j] = (double)((j * 7 + 3) % cases[i].count + 1);
        if (cases[i].count % 7 == 0)
            fail_msg("the multiplier divides %zu", cases[i].count);
        at_median_interval(values, cases[i].count, &low, &high);
        assert_true(low == cases[i].low);
        assert_true(high == cases[i].high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_error_fail),
        cmocka_unit_test(test_choice),
        cmocka_unit_test(test_error_long),
        cmocka_unit_test(test_error_whole),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_memory_exhausted),
        cmocka_unit_test_setup_teardown(test_file_read, make_folder, remove_folder),
        cmocka_unit_test(test_path_user),
        cmocka_unit_test(test_path_without_home),
        cmocka_unit_test(test_hash),
        cmocka_unit_test(test_quantile),
        cmocka_unit_test(test_median_interval),
        cmocka_unit_test(test_spread),
        cmocka_unit_test(test_rng),
        cmocka_unit_test(test_rng_below),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
