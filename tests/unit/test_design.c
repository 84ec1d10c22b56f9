/* SPDX-License-Identifier: Apache-2.0 */
/* src/search/bayesian: what the numbers random, first, covered and cover change. */
#include "base/memory.h"
#include "search/bayesian/coverage.h"
#include "search/bayesian/guided.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void test_random(void **state)
{
    static const struct {
        int random;
        size_t families;
        bool warm_start, confirms;
        size_t wanted;
    } rows[] = {
        {2, 5, false, false, 2}, {7, 5, false, false, 7}, {0, 5, false, false, 0},
        {7, 1, false, false, 4}, /* one family has its own */
        {7, 5, true, false, 5},  /* one of each family */
        {7, 5, true, true, 0},   {7, 5, false, true, 0},  {7, 0, false, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(rows); i++) {
        const struct at_numbers numbers = {.random = rows[i].random, .first = 9, .draws = 1};
        struct at_design design;
        size_t taken = 0;

        at_design_init(&design, &numbers, rows[i].families, rows[i].warm_start, rows[i].confirms);
        for (; at_design_has_random(&design); design.taken++)
            taken++;
        assert_int_equal(taken, rows[i].wanted);
    }
}

static void test_first(void **state)
{
    static const struct {
        int first;
        size_t families, wanted;
    } rows[] = {{3, 5, 3}, {8, 2, 8}, {0, 2, 0}, {8, 1, 4}};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(rows); i++) {
        const struct at_numbers numbers = {.random = 9, .first = rows[i].first};

        assert_int_equal(at_design_first(&numbers, rows[i].families), rows[i].wanted);
    }
}

enum { CONFIGS = 12 };

/* A random config stands in until `first` configs of the family were taken, and each config is
 * taken once. */
static void test_instead(void **state)
{
    static const struct {
        size_t first;
        bool warm_start;
        size_t taken;
    } rows[] = {{0, false, 0}, {1, false, 1}, {5, false, 5}, {5, true, 0}};
    static char names[][2] = {"A", "f"};
    static int64_t values[CONFIGS];
    static struct at_param params[] = {
        {.name = names[0], .values = values, .value_count = CONFIGS}};
    static const struct at_family family = {.name = names[1], .params = params, .param_count = 1};
    struct at_config configs[CONFIGS];
    const struct at_space space = {.configs = configs, .count = CONFIGS};

    (void)state;
    for (int i = 0; i < CONFIGS; i++) {
        values[i] = i;
        configs[i] = (struct at_config){&family, {i}};
    }
    for (size_t i = 0; i < AT_COUNT(rows); i++) {
        const struct at_design design = {.warm_start = rows[i].warm_start, .draws = 100};
        struct at_landscape land;
        struct at_rng rng = {1};
        size_t taken = 0, index = 0;

        at_landscape_init(&land, &space);
        while (taken <= CONFIGS &&
               at_design_take_instead(&design, &land, &rng, rows[i].first, &index))
            taken++;
        assert_int_equal(taken, rows[i].taken);
        assert_int_equal(land.asked_count, rows[i].taken);
        at_landscape_clear(&land);
    }
}

/* Of six requests in a row, so many are turns of coverage. */
static void test_cover(void **state)
{
    static const struct {
        int cover;
        size_t families, told;
        bool warm_start;
        size_t turns;
    } rows[] = {
        {0, 2, 20, false, 0}, {3, 2, 20, false, 3}, {4, 2, 20, false, 4},
        {6, 2, 20, false, 6}, {4, 2, 19, false, 0}, /* too few results */
        {4, 1, 20, false, 3}, {4, 2, 20, true, 3},  /* half of them */
    };

    (void)state;
    for (size_t i = 0; i < AT_COUNT(rows); i++) {
        struct at_guided guided = {
            .numbers = {.cover = rows[i].cover},
            .land = {.region_count = rows[i].families, .told_count = rows[i].told},
            .patience = {.warm_start = rows[i].warm_start, .gained_ns = 1e6}};
        size_t turns = 0;

        for (guided.land.asked_count = 25; guided.land.asked_count < 31; guided.land.asked_count++)
            turns += at_guided_is_coverage_due(&guided);
        assert_int_equal(turns, rows[i].turns);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_first),
        cmocka_unit_test(test_instead),
        cmocka_unit_test(test_cover),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
