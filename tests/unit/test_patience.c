/* SPDX-License-Identifier: Apache-2.0 */
/* src/search/bayesian: patience, when a search without improvement ends; calibration, how far its
 * predictions are trusted; and turns, which way of choosing configs is next. */
#include "search/bayesian/guided.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const double copy_ns = 100000;

/* A search of this kind that had its best time at the tenth result. */
static struct at_patience told(double time_ns, bool searched_before, bool warm_start)
{
    struct at_patience patience = {.numbers = &at_numbers_chosen,
                                   .copy_ns = copy_ns,
                                   .searched_before = searched_before,
                                   .warm_start = warm_start,
                                   .gained_ns = INFINITY};

    at_patience_tell(&patience, time_ns, 10);
    return patience;
}

static size_t results_until_over(const struct at_patience *patience)
{
    size_t results = patience->gained_at;

    while (!at_patience_is_over(patience, results))
        results++;
    return results - patience->gained_at;
}

/* The less may be gained, and the more is known, the sooner. */
static void test_order(void **state)
{
    const struct at_patience known = told(2 * copy_ns, true, true);
    const struct at_patience near_copy = told(1.03 * copy_ns, false, false);
    const struct at_patience warm_start = told(1.05 * copy_ns, false, true);
    const struct at_patience hoping = told(1.05 * copy_ns, false, false);
    const struct at_patience is_short = told(5000, false, false);
    const struct at_patience short_warm = told(5000, false, true);

    (void)state;
    assert_true(results_until_over(&known) > 0);
    assert_int_equal(results_until_over(&near_copy), results_until_over(&known));
    assert_true(results_until_over(&warm_start) > results_until_over(&near_copy));
    assert_true(results_until_over(&hoping) > results_until_over(&warm_start));
    assert_int_equal(results_until_over(&is_short), results_until_over(&hoping));
    assert_int_equal(results_until_over(&short_warm), results_until_over(&warm_start));
}

/* An improvement within the noise does not restart the count. */
static void test_gain(void **state)
{
    struct at_patience patience = told(copy_ns, false, false);

    (void)state;
    at_patience_tell(&patience, 0.999 * copy_ns, 20);
    assert_int_equal(patience.gained_at, 10);
    at_patience_tell(&patience, 1.5 * copy_ns, 30);
    assert_int_equal(patience.gained_at, 10);
    at_patience_tell(&patience, 0.99 * copy_ns, 40);
    assert_int_equal(patience.gained_at, 40);
    assert_true(patience.gained_ns == 0.99 * copy_ns);
}

static void test_copy(void **state)
{
    const struct at_patience usual = told(copy_ns, false, false);
    const struct at_patience nothing = {.copy_ns = copy_ns, .gained_ns = INFINITY};
    struct at_patience is_short = told(5000, false, false);

    (void)state;
    assert_true(at_patience_reaches_copy(&usual, 1.009 * copy_ns));
    assert_false(at_patience_reaches_copy(&usual, 1.011 * copy_ns));
    assert_true(at_patience_is_near_copy(&usual));
    assert_false(at_patience_is_near_copy(&nothing));
    /* The copy limit does not count for short launches. */
    is_short.copy_ns = 5000;
    assert_true(at_patience_is_short(&is_short));
    assert_false(at_patience_is_near_copy(&is_short));
    assert_false(at_patience_reaches_copy(&is_short, 4000));
}

/* Random draws: only for short launches of a new problem, late, and by turns. */
static void test_chance(void **state)
{
    const struct at_patience usual = told(copy_ns, false, false);
    const struct at_patience is_short = told(5000, false, false);
    const struct at_patience known = told(5000, true, false);
    size_t left = 0, over = results_until_over(&is_short);

    (void)state;
    for (size_t results = 10; results < 10 + over; results++) {
        assert_false(at_patience_leaves_to_chance(&usual, results));
        assert_false(at_patience_leaves_to_chance(&known, results));
        left += at_patience_leaves_to_chance(&is_short, results);
    }
    assert_false(at_patience_leaves_to_chance(&is_short, 10));
    assert_true(left > 0 && left <= over / 2);
}

/* What is expected outlasts patience, but not for ever, where the copy limit tells how much may be
 * gained. */
static void test_exhausted(void **state)
{
    const struct at_patience hoping = told(1.05 * copy_ns, false, false);
    const struct at_patience far = told(2 * copy_ns, false, false);
    size_t over = hoping.gained_at + results_until_over(&hoping);

    (void)state;
    assert_false(at_patience_is_exhausted(&hoping, over));
    assert_true(at_patience_is_exhausted(&hoping, 2 * over));
    assert_false(at_patience_is_exhausted(&far, 100 * over));
}

/* Without a copy limit, or far from it, the search goes on longest; but not if the problem was
 * searched before. */
static void test_unbounded(void **state)
{
    static const struct {
        double copy_ns, time_ns;
        bool searched_before, unbounded;
    } cases[] = {
        {0, 100000, false, true},        {0, 5000, false, true},
        {100000, 130000, false, true},   {100000, 120000, false, false},
        {100000, INFINITY, false, true}, {0, 100000, true, false},
        {100000, 130000, true, false},   {5000, 15000, false, false}, /* short */
    };
    const struct at_patience hoping = told(1.05 * copy_ns, false, false);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct at_patience patience = told(cases[i].time_ns, cases[i].searched_before, false);

        patience.copy_ns = cases[i].copy_ns;
        if (at_patience_is_unbounded(&patience) != cases[i].unbounded)
            fail_msg("case %zu", i);
        if (!cases[i].unbounded || isinf(cases[i].time_ns))
            continue;
        assert_true(results_until_over(&patience) > results_until_over(&hoping));
        for (size_t results = 10; results < 100; results++)
            assert_false(at_patience_leaves_to_chance(&patience, results));
        patience.warm_start = true;
        assert_in_range(results_until_over(&patience), results_until_over(&hoping) / 2,
                        2 * results_until_over(&hoping));
    }
}

/* If nothing is hoped for, fewer results are enough, unless the copy limit tells what may be
 * gained.
 */
static void test_hopeless(void **state)
{
    struct at_patience unbounded = told(100000, false, false);
    const struct at_patience bounded = told(1.05 * copy_ns, false, false);
    size_t least, most;

    (void)state;
    unbounded.copy_ns = 0;
    least = results_until_over(&bounded);
    most = results_until_over(&unbounded);
    assert_false(at_patience_may_end(&unbounded, 10 + least));
    assert_true(at_patience_may_end(&unbounded, 10 + most - 1));
    assert_false(at_patience_may_end(&bounded, 10 + least - 1));
}

/* ---- calibration ---- */

/* The doubt follows the errors of late. */
static void test_calibration(void **state)
{
    static const double errors[] = {1, 4, -4, 1};
    struct at_calibration calibration = {0};
    double doubt = at_calibration_doubt(&calibration), first = doubt;

    (void)state;
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        for (int j = 0; j < 300; j++)
            at_calibration_tell(&calibration, errors[i]);
        doubt = at_calibration_doubt(&calibration);
        if (fabs(errors[i]) > 1)
            assert_true(doubt > 3 * first && doubt < 4 * first);
        else
            assert_true(fabs(doubt / first - 1) < 0.05);
    }
}

/* ---- turns ---- */

/* Of a hundred turns, those that go to the neighbours. */
static size_t go_around(size_t model_gained, size_t around_gained)
{
    struct at_turns turns = {
        .gained = {[AT_WAY_MODEL] = model_gained, [AT_WAY_AROUND] = around_gained}};

    for (int i = 0; i < 100; i++)
        turns.taken[at_turns_go_around(&turns) ? AT_WAY_AROUND : AT_WAY_MODEL]++;
    return turns.taken[AT_WAY_AROUND];
}

/* Both ways have turns, and more of them the more they gain. */
static void test_turns(void **state)
{
    (void)state;
    assert_int_equal(go_around(0, 0), 50);
    assert_in_range(go_around(4, 0), 10, 25);
    assert_in_range(go_around(0, 4), 75, 90);
    assert_in_range(go_around(4, 4), 49, 51);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),     cmocka_unit_test(test_gain),
        cmocka_unit_test(test_copy),      cmocka_unit_test(test_chance),
        cmocka_unit_test(test_exhausted), cmocka_unit_test(test_unbounded),
        cmocka_unit_test(test_hopeless),  cmocka_unit_test(test_calibration),
        cmocka_unit_test(test_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
