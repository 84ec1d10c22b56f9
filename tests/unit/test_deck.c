/* SPDX-License-Identifier: Apache-2.0 */
/* src/fleet/deck: who tunes which problem. */
#include "fleet/deck.h"

#include "base/memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static const char *const list[] = {
    "512x512:f32",  "8192x8192:f32", "1024x1024:f32", "4096x4096:f64",
    "1024x512:f64", "16x16:f32",     "8192x4096:f64", "2048x2048:f64",
};

enum { COUNT = AT_COUNT(list), TUNERS_MAX = 4 };

static struct at_problem problems[COUNT];

static int parse_list(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT; i++)
        if (at_problem_parse(&problems[i], list[i], NULL) != AT_OK)
            return -1;
    return 0;
}

static void test_one_tuner_keeps_the_order(void **state)
{
    struct at_deck *deck = at_deck_new(problems, COUNT, 1);

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(at_deck_deal(deck, 0), i);
        at_deck_finish(deck, i);
    }
    assert_int_equal(at_deck_deal(deck, 0), AT_DECK_NONE);
    assert_int_equal(at_deck_open(deck), 0);
    at_deck_free(deck);
}

/* Whoever asks, each problem is dealt once. */
static void test_each_problem_once(void **state)
{
    (void)state;
    for (size_t tuners = 1; tuners <= TUNERS_MAX; tuners++) {
        struct at_deck *deck = at_deck_new(problems, COUNT, tuners);
        int dealt[COUNT] = {0};
        size_t problem;

        for (size_t turn = 0; (problem = at_deck_deal(deck, turn % tuners)) != AT_DECK_NONE; turn++)
            dealt[problem]++;
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(dealt[i], 1);
        assert_false(at_deck_waits(deck, 0));
        assert_int_equal(at_deck_open(deck), COUNT);
        at_deck_free(deck);
    }
}

/* Of two tuners, each takes up a size of its own and stays with it. */
static void test_sizes_stay_together(void **state)
{
    struct at_deck *deck = at_deck_new(problems, COUNT, 2);
    size_t first = at_deck_deal(deck, 0), second = at_deck_deal(deck, 1);

    (void)state;
    assert_true(at_problem_bytes(&problems[first]) == INT64_C(2) * 8192 * 8192 * 4);
    assert_true(at_problem_bytes(&problems[second]) != at_problem_bytes(&problems[first]));
    assert_int_equal(at_problem_bytes(&problems[at_deck_deal(deck, 0)]),
                     at_problem_bytes(&problems[first]));
    at_deck_free(deck);
}

/* A problem waits for those that know most of it, until all of them are gone. */
static void test_who_knows_most_goes_on(void **state)
{
    enum { SMALL = 5 };
    struct at_deck *deck = at_deck_new(problems, COUNT, 4);

    (void)state;
    at_deck_know(deck, SMALL, 0, 7);
    at_deck_know(deck, SMALL, 1, 9);
    at_deck_know(deck, SMALL, 2, 9);
    while (at_deck_deal(deck, 0) != AT_DECK_NONE)
        ;
    assert_true(at_deck_waits(deck, 2));
    assert_int_equal(at_deck_deal(deck, 1), SMALL);
    at_deck_release(deck, 1);
    assert_true(at_deck_return(deck, SMALL));
    assert_false(at_deck_waits(deck, 0));
    assert_true(at_deck_waits(deck, 2));
    at_deck_release(deck, 2);
    assert_false(at_deck_waits(deck, 3));
    at_deck_release(deck, 0);
    assert_int_equal(at_deck_deal(deck, 3), SMALL);
    at_deck_free(deck);
}

static void test_what_is_known_comes_first(void **state)
{
    enum { SMALL = 5 };
    struct at_deck *deck = at_deck_new(problems, COUNT, 2);

    (void)state;
    at_deck_know(deck, SMALL, 1, 1);
    assert_int_equal(at_deck_deal(deck, 1), SMALL);
    at_deck_free(deck);
}

static void test_a_lost_tuner_returns_its_problems(void **state)
{
    struct at_deck *deck = at_deck_new(problems, COUNT, 2);
    size_t lost = at_deck_deal(deck, 0), kept = at_deck_deal(deck, 1);

    (void)state;
    assert_int_equal(at_deck_in_hand(deck, 0), lost);
    assert_true(at_deck_return(deck, lost));
    assert_int_equal(at_deck_in_hand(deck, 0), AT_DECK_NONE);
    assert_int_equal(at_deck_in_hand(deck, 1), kept);
    while (at_deck_in_hand(deck, 1) != AT_DECK_NONE && at_deck_deal(deck, 1) != lost)
        ;
    assert_false(at_deck_return(deck, lost)); /* the second time it is given up */
    assert_int_equal(at_deck_open(deck), COUNT - 1);
    at_deck_free(deck);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_tuner_keeps_the_order),
        cmocka_unit_test(test_each_problem_once),
        cmocka_unit_test(test_sizes_stay_together),
        cmocka_unit_test(test_who_knows_most_goes_on),
        cmocka_unit_test(test_what_is_known_comes_first),
        cmocka_unit_test(test_a_lost_tuner_returns_its_problems),
    };

    return cmocka_run_group_tests(tests, parse_list, NULL);
}
