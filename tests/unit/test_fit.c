/* SPDX-License-Identifier: Apache-2.0 */
/* src/space/fit.c: for every family, the quick check agrees with the full one, and parameters that
 * the problem determines are changed for it. */
#include "base/memory.h"
#include "model/description.h"
#include "space/fit.h"
#include "space/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "shipped_families.h"
#include "source_tree.h"

enum { CONFIGS_MAX = 1 << 20, SAMPLES = 60 };

static const char *const problems[] = {
    "8192x8192:f32",      "8192x4096:f32",
    "1000x999:f32",       "10007x10009:f32",
    "64x64:f32,batch=65", "3x100000:f32",
    "3x100001:f32",       "5x100000:f32",
    "100000x6:f32",       "512x512:f32,inplace=1",
    "8192x8192:f16",      "999x1001:b1",
    "100000x3:c128",      "64x64:f64",
    "33x17:f16,batch=19", "8x8:f32",
    "1x1000:f32",         "1000x1000:f32,ld_src=1003,ld_dst=1002",
    "100000x3:f64",       "100000x27:b1",
};

static struct at_device_info h200, a100;

static int read_all(void **state)
{
    struct at_error err = {AT_OK, ""};

    (void)state;
    use_source_tree();
    read_shipped_families();
    if (at_description_read(&h200, NULL, "h200", &err) != AT_OK ||
        at_description_read(&a100, NULL, "a100", &err) != AT_OK)
        fail_msg("%s", err.message);
    return 0;
}

static int free_all(void **state)
{
    (void)state;
    free_shipped_families();
    return 0;
}

static struct at_problem problem_of(const char *spec)
{
    struct at_problem problem;
    struct at_error err = {AT_OK, ""};

    if (at_problem_parse(&problem, spec, &err) != AT_OK)
        fail_msg("%s", err.message);
    return problem;
}

static bool same_values(const struct at_config *a, const struct at_config *b)
{
    return memcmp(a->values, b->values, a->family->param_count * sizeof *a->values) == 0;
}

/* A config of the family `narrow` with the parameters that the problem determines. */
static struct at_config with_short_side(const struct at_config *config,
                                        const struct at_problem *problem)
{
    struct at_config changed = *config;
    bool few_rows = problem->rows < problem->cols;

    changed.values[0] = (int32_t)(few_rows ? problem->rows : problem->cols);
    changed.values[1] = few_rows;
    return changed;
}

/* Does the config with this number fit? */
static bool compare(const struct at_fits *fits, struct at_fit_query *query, size_t number,
                    const struct at_problem *problem, const struct at_device_info *device,
                    bool alike)
{
    const struct at_config *asked = at_fits_config(fits, number);
    struct at_config config;
    struct at_launch launch, expected;
    bool legal, fit = at_fit_try(query, number, alike, &config, &launch);

    if (at_config_legal(asked, problem, device, &legal, NULL, NULL) != AT_OK)
        legal = false;
    if (legal && (!fit || !same_values(&config, asked)))
        fail_msg("%s is legal for %jd x %jd", asked->family->name, (intmax_t)problem->rows,
                 (intmax_t)problem->cols);
    if (!fit && !alike && strcmp(asked->family->name, "narrow") == 0) {
        config = with_short_side(asked, problem);
        if (at_config_legal(&config, problem, device, &legal, NULL, NULL) == AT_OK && legal)
            fail_msg("%jd x %jd has a config", (intmax_t)problem->rows, (intmax_t)problem->cols);
    }
    if (!fit)
        return false;
    assert_int_equal(at_config_legal(&config, problem, device, &legal, NULL, NULL), AT_OK);
    if (!legal)
        fail_msg("%s is not legal for %jd x %jd", asked->family->name, (intmax_t)problem->rows,
                 (intmax_t)problem->cols);
    assert_int_equal(at_config_launch(&config, problem, device, &expected, NULL), AT_OK);
    assert_memory_equal(&launch, &expected, sizeof launch);
    return true;
}

/* Returns the number of configs that fit. */
static size_t compare_all(const struct at_fits *fits, size_t count, const char *spec,
                          const struct at_device_info *device, bool alike)
{
    struct at_problem problem = problem_of(spec);
    struct at_fit_query *query = at_fit_query_new(fits, &problem, device);
    size_t fitting = 0;

    for (size_t i = 0; i < count; i++)
        fitting += compare(fits, query, i, &problem, device, alike);
    at_fit_query_free(query);
    return fitting;
}

static void test_answers_are_those_of_the_rules(void **state)
{
    size_t fitting = 0, asked = 0;

    (void)state;
    for (size_t i = 0; i < AT_COUNT(problems); i++) {
        struct at_problem home = problem_of(problems[i]);
        struct at_space space;
        struct at_fits *fits;
        struct at_launch launch;
        size_t count = 0, number;
        struct at_error err = {AT_OK, ""};

        if (at_space_build(&space, families, family_count, &home, &h200, CONFIGS_MAX, &err) !=
            AT_OK)
            fail_msg("%s", err.message);
        fits = at_fits_new();
        for (size_t j = 0; j < space.count; j += space.count / SAMPLES + 1, count++) {
            assert_int_equal(
                at_fits_add(fits, &space.configs[j], &home, &h200, &number, &launch, &err), AT_OK);
            assert_int_equal(number, count);
        }
        for (size_t k = 0; k < AT_COUNT(problems); k++, asked += 2 * count) {
            fitting += compare_all(fits, count, problems[k], &h200, true);
            fitting += compare_all(fits, count, problems[k], &a100, false);
        }
        at_fits_free(fits);
        at_space_clear(&space);
    }
    assert_true(fitting > asked / 20 && fitting < asked);
}

/* The config for a short side of 5 is adapted to 6, and vice versa. */
static void test_follows_the_short_side(void **state)
{
    static const char *const specs[][2] = {
        {"5x100000:f32", "6x100000:f32"},
        {"100000x6:f32", "100000x11:f32"},
        {"3x100000:f32", "100000x2:f32"},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(specs); i++) {
        struct at_problem home = problem_of(specs[i][0]), other = problem_of(specs[i][1]);
        struct at_config config, usual, expected;
        struct at_launch launch;
        struct at_fits *fits = at_fits_new();
        struct at_fit_query *query;
        struct at_error err = {AT_OK, ""};
        size_t narrow = 0, number;

        while (strcmp(families[narrow]->name, "narrow") != 0)
            narrow++;
        expected = at_family_default(families[narrow]);
        usual = with_short_side(&expected, &home);
        expected = with_short_side(&expected, &other);
        assert_int_equal(at_fits_add(fits, &usual, &home, &h200, &number, &launch, &err), AT_OK);
        query = at_fit_query_new(fits, &other, &h200);
        assert_true(at_fit_try(query, number, true, &config, &launch));
        assert_true(same_values(&config, &expected));
        at_fit_query_free(query);
        at_fits_free(fits);
    }
}

/* The same config is stored once, unless the devices have different limits: then other rules hold.
 */
static void test_each_config_once(void **state)
{
    struct at_problem home = problem_of("8192x8192:f32"), other = problem_of("100x200:f16");
    struct at_fits *fits = at_fits_new();
    struct at_config config, changed;
    struct at_device_info elsewhere = h200;
    struct at_launch launch;
    size_t number, again;

    (void)state;
    assert_int_equal(at_space_default(&config, families, family_count, &home, &h200, NULL), AT_OK);
    changed = config;
    changed.values[0] /= 2;
    elsewhere.ordinal = 1;
    assert_int_equal(at_fits_add(fits, &config, &home, &h200, &number, &launch, NULL), AT_OK);
    assert_int_equal(at_fits_add(fits, &config, &other, &elsewhere, &again, &launch, NULL), AT_OK);
    assert_int_equal(again, number);
    assert_int_equal(at_fits_add(fits, &changed, &home, &h200, &again, &launch, NULL), AT_OK);
    assert_int_not_equal(again, number);
    assert_int_equal(at_fits_add(fits, &config, &home, &a100, &again, &launch, NULL), AT_OK);
    assert_int_equal(again, 2);
    at_fits_free(fits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_those_of_the_rules),
        cmocka_unit_test(test_follows_the_short_side),
        cmocka_unit_test(test_each_config_once),
    };

    return cmocka_run_group_tests(tests, read_all, free_all);
}
