/* SPDX-License-Identifier: Apache-2.0 */
/* src/space/space.c: the configs of a space, their order, and errors. The counts of KTT's spaces
 * come from trying its constraints on every point. */
#include "base/memory.h"
#include "space/config.h"
#include "space/space.h"

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

static struct at_device_info device_with(int64_t threads)
{
    return (struct at_device_info){.max_threads_per_block = threads,
                                   .shared_bytes_per_block_optin = 232448};
}

static struct at_family *family_of_file(const char *path)
{
    struct at_family *family;
    struct at_error err = {0};

    if (at_family_read(&family, path, NULL, &err) != AT_OK)
        fail_msg("%s", err.message);
    return family;
}

static struct at_family *family_of_data(const char *name)
{
    char *path = at_format("%s/tests/data/%s.yaml", source_tree(), name);
    struct at_family *family = family_of_file(path);

    free(path);
    return family;
}

/* Return a family with these parameters and rules, in the syntax of a space file, and a trivial
 * launch. */
static struct at_family *family_of(int64_t preference, const char *parameters, const char *rules)
{
    char folder[] = "/tmp/autotune-test-space-XXXXXX", *path, *template;
    struct at_family *family;
    FILE *file;

    assert_non_null(mkdtemp(folder));
    path = at_format("%s/f.yaml", folder);
    template = at_format("%s/f.cu", folder);
    file = fopen(template, "w");
    assert_non_null(file);
    fclose(file);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "schema: 1\nfamily: f%lld\nsummary: s\ntemplate: f.cu\npreference: %lld\n"
            "launch: {grid_x: 1, block_x: 1}\nparameters:\n%s%s",
            (long long)preference, (long long)preference, parameters, rules);
    fclose(file);
    family = family_of_file(path);
    unlink(path);
    unlink(template);
    rmdir(folder);
    free(path);
    free(template);
    return family;
}

#define PARAM(name, values, usual)                                                                 \
    "  - {name: " name ", summary: s, values: [" values "], default: " usual "}\n"

static void counts_known_spaces(void **state)
{
    static const struct {
        const char *name;
        int64_t threads, raw;
        size_t legal;
    } cases[] = {
        {"ktt", 4096, 115248, 1836},
        {"ktt", 1024, 115248, 1784},
        {"ktt-wide", 16384, 15925248, 39744}, /* limited by the largest block */
        {"ktt-wide", 1024, 15925248, 35172},
    };
    struct at_problem problem = problem_of("8192x8192:f32");

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_family *family = family_of_data(cases[i].name);
        struct at_device_info device = device_with(cases[i].threads);
        struct at_space space;
        struct at_error err = {0};

        if (at_space_build(&space, &family, 1, &problem, &device, 100000, &err) != AT_OK)
            fail_msg("%s", err.message);
        assert_true(space.raw == cases[i].raw);
        assert_int_equal(space.count, cases[i].legal);
        at_space_clear(&space);
        at_family_free(family);
    }
}

/* Check every point with at_config_legal, without the shortcuts of at_space_build. */
static void check_every_point(struct at_family *family, const struct at_problem *problem,
                              const struct at_device_info *device)
{
    struct at_space space;
    struct at_config config = {.family = family};
    size_t digits[AT_PARAMS_MAX] = {0}, found = 0;

    assert_int_equal(at_space_build(&space, &family, 1, problem, device, 100000, NULL), AT_OK);
    for (int64_t point = 0; point < space.raw; point++) {
        bool legal;

        for (size_t i = 0; i < family->param_count; i++)
            config.values[i] = (int32_t)family->params[i].values[digits[i]];
        assert_int_equal(at_config_legal(&config, problem, device, &legal, NULL, NULL), AT_OK);
        if (legal) {
            assert_true(found < space.count);
            assert_memory_equal(&space.configs[found], &config, sizeof config);
            found++;
        }
        /* the last parameter fastest */
        for (size_t i = family->param_count; i-- > 0;) {
            if (++digits[i] < family->params[i].value_count)
                break;
            digits[i] = 0;
        }
    }
    assert_int_equal(found, space.count);
    at_space_clear(&space);
}

static void agrees_with_the_check_of_one(void **state)
{
    struct at_family *family = family_of_data("ktt");
    struct at_device_info device = device_with(256);
    struct at_problem problem = problem_of("100000x8192:f32");

    (void)state;
    check_every_point(family, &problem, &device);
    at_family_free(family);
}

static void keeps_the_order_of_the_file(void **state)
{
    struct at_family *family =
        family_of(1, PARAM("B", "5, 4, 3", "4") PARAM("A", "2, 1", "1"), "constraints: [B != 4]\n");
    struct at_device_info device = device_with(1024);
    struct at_problem problem = problem_of("8x8:f32");
    struct at_space space;
    char text[100] = "";

    (void)state;
    assert_int_equal(at_space_build(&space, &family, 1, &problem, &device, 4, NULL), AT_OK);
    assert_int_equal(space.count, 4);
    for (size_t i = 0; i < space.count; i++) {
        char *config = at_config_format(&space.configs[i]);

        strcat(strcat(text, config), ";");
        free(config);
    }
    assert_string_equal(text, "A=2 B=5;A=1 B=5;A=2 B=3;A=1 B=3;");
    at_space_clear(&space);
    at_family_free(family);
}

static void joins_families(void **state)
{
    struct at_family *families[] = {
        family_of(1, PARAM("A", "1, 2", "1"), ""), family_of(2, "  []\n", ""),
        family_of(3, PARAM("A", "1, 2, 3", "1"), "needs: [rows > 8]\n")};
    struct at_device_info device = device_with(1024);
    struct at_problem problem = problem_of("8x8:f32");
    struct at_space space;

    (void)state;
    assert_int_equal(at_space_build(&space, families, 3, &problem, &device, 9, NULL), AT_OK);
    assert_int_equal(space.raw, 2 + 1 + 3);
    assert_int_equal(space.count, 3);
    assert_ptr_equal(space.configs[1].family, families[0]);
    assert_ptr_equal(space.configs[2].family, families[1]);
    at_space_clear(&space);
    for (size_t i = 0; i < AT_COUNT(families); i++)
        at_family_free(families[i]);
}

#define TEN "1, 2, 3, 4, 5, 6, 7, 8, 9, 10"
#define LARGE                                                                                      \
    PARAM("A", TEN, "1")                                                                           \
    PARAM("B", TEN, "1")                                                                           \
    PARAM("C", TEN, "1")                                                                           \
    PARAM("D", TEN, "1")                                                                           \
    PARAM("E", TEN, "1") PARAM("F", TEN, "1") PARAM("G", TEN, "1") PARAM("H", TEN, "1")
/* 10^24 points */
#define HUGE                                                                                       \
    LARGE PARAM("I", TEN, "1") PARAM("J", TEN, "1") PARAM("K", TEN, "1") PARAM("L", TEN, "1")      \
        PARAM("M", TEN, "1") PARAM("N", TEN, "1") PARAM("O", TEN, "1") PARAM("P", TEN, "1")        \
            PARAM("Q", TEN, "1") PARAM("R", TEN, "1") PARAM("S", TEN, "1") PARAM("T", TEN, "1")    \
                PARAM("U", TEN, "1") PARAM("V", TEN, "1") PARAM("W", TEN, "1")                     \
                    PARAM("X", TEN, "1")

static void fails(void **state)
{
    static const struct {
        const char *parameters, *rules, *message; /* the message after the path */
    } cases[] = {
        {PARAM("A", "1, 2", "1"), "",
         ": more than 1 legal configs; remove values or add "
         "constraints"},
        {PARAM("A", "1, 0", "1"), "constraints: [8 % A == 0]\n",
         ":9:17: division by zero in \"8 % A == 0\""},
        {PARAM("A", "1", "1"), "needs: [rows / 0 == 1]\n",
         ":9:14: division by zero in \"rows / 0 == 1\""},
        {LARGE, "constraints: [H > 10]\n",
         ": too many points to go through; put the parameters that constraints share next to each "
         "other, or remove values"},
    };
    struct at_device_info device = device_with(1024);
    struct at_problem problem = problem_of("8x8:f32");

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_family *family = family_of(1, cases[i].parameters, cases[i].rules);
        struct at_space space = {.count = 77};
        struct at_error err = {0};

        assert_int_equal(at_space_build(&space, &family, 1, &problem, &device, 1, &err), AT_USAGE);
        assert_memory_equal(err.message, family->path, strlen(family->path));
        if (!strstr(err.message, cases[i].message))
            assert_string_equal(err.message, cases[i].message);
        assert_int_equal(space.count, 77);
        at_family_free(family);
    }
}

static void skips_what_a_rule_excludes(void **state)
{
    struct at_family *family = family_of(1, HUGE, "constraints: [1 > 1 || A > 10]\n");
    struct at_device_info device = device_with(1024);
    struct at_problem problem = problem_of("8x8:f32");
    struct at_space space;

    (void)state;
    assert_int_equal(at_space_build(&space, &family, 1, &problem, &device, 1, NULL), AT_OK);
    assert_int_equal(space.count, 0);
    assert_true(space.raw == AT_RAW_MAX); /* clamped */
    at_space_clear(&space);
    at_family_free(family);
}

/* Rules that need the same parameters are tried in the order of the file. */
static void lets_a_rule_guard_the_next(void **state)
{
    struct at_family *family = family_of(1, PARAM("A", "0, 4, 3", "4"),
                                         "constraints: [A != 0, 8 % A == 0]\nneeds: [8 / A > 0]\n");
    struct at_device_info device = device_with(1024);
    struct at_problem problem = problem_of("8x8:f32");

    (void)state;
    check_every_point(family, &problem, &device);
    at_family_free(family);
}

static void finds_the_default(void **state)
{
    static const struct {
        const char *spec;
        int64_t preference; /* 0: no default */
    } cases[] = {{"64x64:f32", 1}, {"8x64:f32", 2}, {"4x4:f32", 0}};
    struct at_family *families[] = {
        family_of(3, PARAM("A", "1", "1"), ""),
        family_of(1, PARAM("A", "16, 8", "16"), "needs: [rows >= A]\n"),
        family_of(2, PARAM("A", "4, 8", "8"), "needs: [rows >= A]\n"),
    };
    struct at_device_info device = device_with(1024);

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = problem_of(cases[i].spec);
        struct at_config config = {0};
        struct at_error err = {0};
        /* For cases without a default, leave out the family that takes every problem. */
        size_t first = cases[i].preference ? 0 : 1;
        enum at_status status =
            at_space_default(&config, families + first, 3 - first, &problem, &device, &err);

        if (cases[i].preference) {
            assert_int_equal(status, AT_OK);
            assert_int_equal(config.family->preference, cases[i].preference);
            assert_int_equal(config.values[0], config.family->params[0].default_value);
        } else {
            assert_int_equal(status, AT_FAILED);
            assert_string_equal(err.message,
                                "no family's default config is legal for this problem; f1: needs "
                                "rows >= A; here rows=4, A=16");
        }
    }
    for (size_t i = 0; i < AT_COUNT(families); i++)
        at_family_free(families[i]);
}

/* Of two parameters that yield, the last one changes fastest; a third one does not yield. */
static void defaults_yield(void **state)
{
    static const struct {
        const char *spec;
        int32_t values[2]; /* 0: no default is legal */
    } cases[] = {{"8x8:f32", {8, 4}}, {"8x2:f32", {8, 2}}, {"4x4:f32", {4, 4}}, {"4x3:f32", {4, 1}},
                 {"2x2:f32", {2, 2}}, {"1x8:f32", {0}},    {"16x6:f32", {8, 2}}};
    struct at_family *family =
        family_of(1,
                  "  - {name: A, summary: s, values: [8, 4, 2], default: 8, yields: 1}\n"
                  "  - {name: B, summary: s, values: [4, 2, 1], default: 4, yields: 1}\n" PARAM(
                      "C", "5, 6", "6"),
                  "needs: [rows >= A, cols % B == 0]\n");
    struct at_device_info device = device_with(1024);

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = problem_of(cases[i].spec);
        struct at_config config = {.values = {12345}};
        struct at_error err = {0};

        if (cases[i].values[0] == 0) {
            assert_int_equal(at_space_default(&config, &family, 1, &problem, &device, &err),
                             AT_FAILED);
            assert_int_equal(config.values[0], 12345); /* set on success only */
            continue;
        }
        assert_int_equal(at_space_default(&config, &family, 1, &problem, &device, &err), AT_OK);
        assert_int_equal(config.values[0], cases[i].values[0]);
        assert_int_equal(config.values[1], cases[i].values[1]);
        assert_int_equal(config.values[2], 6);
    }
    at_family_free(family);
}

/* A parameter that the problem determines follows it to another problem; the rules see its new
 * value. */
static void adapts_a_config(void **state)
{
    static const struct {
        const char *spec;
        int32_t short_side; /* 0: not legal */
    } cases[] = {
        {"2x64:f32", 2}, {"64x3:f32", 3}, {"4x64:f32", 4},
        {"4x64:f64", 0}, {"5x64:f32", 0}, {"3x4:f32", 0},
    };
    struct at_family *family =
        family_of(1, PARAM("K", "2, 3, 4", "2") PARAM("WIDTH", "8, 16", "8"),
                  "constraints: ['K == min(rows, cols)', K * elem_size <= 16]\n"
                  "needs: ['max(rows, cols) >= WIDTH']\n");
    struct at_device_info device = device_with(1024);

    (void)state;
    for (size_t i = 0; i < AT_COUNT(cases); i++) {
        struct at_problem problem = problem_of(cases[i].spec);
        struct at_point point = at_point_make(NULL, &problem, &device);
        struct at_config config = at_family_default(family);
        struct at_launch launch, expected;
        bool legal = at_config_adapt(&config, &point, &launch);

        if (legal != (cases[i].short_side > 0))
            fail_msg("%s", cases[i].spec);
        if (!legal)
            continue;
        assert_int_equal(config.values[0], cases[i].short_side);
        assert_int_equal(config.values[1], 8);
        assert_int_equal(at_config_legal(&config, &problem, &device, &legal, NULL, NULL), AT_OK);
        assert_true(legal);
        assert_int_equal(at_config_launch(&config, &problem, &device, &expected, NULL), AT_OK);
        assert_memory_equal(&launch, &expected, sizeof launch);
    }
    at_family_free(family);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_known_spaces),
        cmocka_unit_test(agrees_with_the_check_of_one),
        cmocka_unit_test(keeps_the_order_of_the_file),
        cmocka_unit_test(joins_families),
        cmocka_unit_test(fails),
        cmocka_unit_test(skips_what_a_rule_excludes),
        cmocka_unit_test(lets_a_rule_guard_the_next),
        cmocka_unit_test(finds_the_default),
        cmocka_unit_test(defaults_yield),
        cmocka_unit_test(adapts_a_config),
    };

    return cmocka_run_group_tests_name("space", tests, NULL, NULL);
}
