/* SPDX-License-Identifier: Apache-2.0 */
/* src/queue/queue: who tunes which problem. */
#include "base/memory.h"
#include "queue/parts.h"

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
    struct at_queue *queue = at_queue_new(problems, COUNT, 1);

    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        assert_int_equal(at_queue_take(queue, 0), i);
        at_queue_finish(queue, i);
    }
    assert_int_equal(at_queue_take(queue, 0), AT_NO_JOB);
    assert_int_equal(at_queue_unfinished(queue), 0);
    at_queue_free(queue);
}

/* Whoever asks, each problem is given out once. */
static void test_each_problem_once(void **state)
{
    (void)state;
    for (size_t tuners = 1; tuners <= TUNERS_MAX; tuners++) {
        struct at_queue *queue = at_queue_new(problems, COUNT, tuners);
        int job[COUNT] = {0};
        size_t problem;

        for (size_t turn = 0; (problem = at_queue_take(queue, turn % tuners)) != AT_NO_JOB; turn++)
            job[problem]++;
        for (size_t i = 0; i < COUNT; i++)
            assert_int_equal(job[i], 1);
        assert_false(at_queue_has_job(queue, 0));
        assert_int_equal(at_queue_unfinished(queue), COUNT);
        at_queue_free(queue);
    }
}

/* Of two tuners, each takes up a size of its own and stays with it. */
static void test_sizes_stay_together(void **state)
{
    struct at_queue *queue = at_queue_new(problems, COUNT, 2);
    size_t first = at_queue_take(queue, 0), second = at_queue_take(queue, 1);

    (void)state;
    assert_true(at_problem_bytes(&problems[first]) == INT64_C(2) * 8192 * 8192 * 4);
    assert_true(at_problem_bytes(&problems[second]) != at_problem_bytes(&problems[first]));
    assert_int_equal(at_problem_bytes(&problems[at_queue_take(queue, 0)]),
                     at_problem_bytes(&problems[first]));
    at_queue_free(queue);
}

/* A problem waits for those that know most of it, until all of them are gone. */
static void test_who_knows_most_goes_on(void **state)
{
    enum { SMALL = 5 };
    struct at_queue *queue = at_queue_new(problems, COUNT, 4);

    (void)state;
    at_queue_set_known(queue, SMALL, 0, 7);
    at_queue_set_known(queue, SMALL, 1, 9);
    at_queue_set_known(queue, SMALL, 2, 9);
    while (at_queue_take(queue, 0) != AT_NO_JOB)
        ;
    assert_true(at_queue_has_job(queue, 2));
    assert_int_equal(at_queue_take(queue, 1), SMALL);
    at_queue_forget(queue, 1);
    assert_true(at_queue_return(queue, SMALL));
    assert_false(at_queue_has_job(queue, 0));
    assert_true(at_queue_has_job(queue, 2));
    at_queue_forget(queue, 2);
    assert_false(at_queue_has_job(queue, 3));
    at_queue_forget(queue, 0);
    assert_int_equal(at_queue_take(queue, 3), SMALL);
    at_queue_free(queue);
}

static void test_what_is_known_comes_first(void **state)
{
    enum { SMALL = 5 };
    struct at_queue *queue = at_queue_new(problems, COUNT, 2);

    (void)state;
    at_queue_set_known(queue, SMALL, 1, 1);
    assert_int_equal(at_queue_take(queue, 1), SMALL);
    at_queue_free(queue);
}

static void test_a_lost_tuner_returns_its_problems(void **state)
{
    struct at_queue *queue = at_queue_new(problems, COUNT, 2);
    size_t lost = at_queue_take(queue, 0), kept = at_queue_take(queue, 1);

    (void)state;
    assert_int_equal(at_queue_taken_by(queue, 0), lost);
    assert_true(at_queue_return(queue, lost));
    assert_int_equal(at_queue_taken_by(queue, 0), AT_NO_JOB);
    assert_int_equal(at_queue_taken_by(queue, 1), kept);
    while (at_queue_taken_by(queue, 1) != AT_NO_JOB && at_queue_take(queue, 1) != lost)
        ;
    for (int i = 0; i < 3; i++) { /* that is no loss */
        at_queue_put_back(queue, kept);
        while (at_queue_take(queue, 1) != kept)
            assert_true(at_queue_has_job(queue, 1));
    }
    assert_false(at_queue_return(queue, lost)); /* the second time it is given up */
    assert_int_equal(at_queue_unfinished(queue), COUNT - 1);
    at_queue_free(queue);
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
