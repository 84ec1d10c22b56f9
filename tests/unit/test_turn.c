/* SPDX-License-Identifier: Apache-2.0 */
/* src/measure/turn: one tuner at a time has the turn, even if a tuner dies. */
#include "measure/turn.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TUNERS = 3 };

static struct at_turn place[TUNERS];

static int make_turns(void **state)
{
    struct at_turns *turns;

    (void)state;
    if (at_turns_new(&turns, TUNERS, NULL) != AT_OK)
        return -1;
    for (size_t i = 0; i < TUNERS; i++)
        place[i] = (struct at_turn){turns, i};
    return 0;
}

static int free_turns(void **state)
{
    (void)state;
    at_turns_free(place[0].turns);
    return 0;
}

/* Has the turn come to one that waits? */
static bool is_called(size_t tuner)
{
    struct pollfd fd = {.fd = at_turn_fd(place[tuner]), .events = POLLIN};

    return poll(&fd, 1, 0) == 1;
}

static void test_alone(void **state)
{
    const struct at_turn alone = {0};

    (void)state;
    assert_true(at_turn_take(alone));
    assert_true(at_turn_take(alone));
    at_turn_give(alone);
    at_turn_count_open(alone, 1);
    assert_int_equal(at_turn_fd(alone), -1);
    assert_int_equal(at_turn_others_open(alone), 0);
    at_turns_free(NULL);
}

static void test_line(void **state)
{
    (void)state;
    assert_true(at_turn_take(place[0]));
    assert_true(at_turn_take(place[0])); /* it keeps it */
    assert_false(at_turn_take(place[2]));
    assert_false(at_turn_take(place[1]));
    assert_false(is_called(1) || is_called(2));

    at_turn_give(place[0]);
    assert_true(is_called(1) && !is_called(2));
    assert_false(at_turn_take(place[0])); /* the others waited first */
    assert_true(at_turn_take(place[1]));
    assert_false(is_called(1)); /* noticed */

    at_turn_give(place[1]);
    assert_true(is_called(2));
    assert_true(at_turn_take(place[2]));
    at_turn_give(place[2]);
    assert_true(at_turn_take(place[0]));
    at_turn_give(place[0]);
    assert_true(at_turn_take(place[1])); /* it was free */
    at_turn_give(place[1]);
}

/* Who no longer wants the turn is not called; or, if it was called already, passes it on. */
static void test_leaving(void **state)
{
    (void)state;
    assert_true(at_turn_take(place[0]));
    assert_false(at_turn_take(place[1]));
    assert_false(at_turn_take(place[2]));
    at_turn_give(place[1]);
    at_turn_give(place[0]);
    assert_true(!is_called(1) && is_called(2));
    assert_false(at_turn_take(place[0]));
    at_turn_give(place[2]); /* without having taken what it was called for */
    assert_false(is_called(2));
    assert_true(is_called(0));
    at_turn_give(place[0]);
}

static void test_open(void **state)
{
    (void)state;
    at_turn_count_open(place[0], 1);
    at_turn_count_open(place[1], 1);
    at_turn_count_open(place[1], 1); /* a new worker, while the old one ends */
    assert_int_equal(at_turn_others_open(place[0]), 2);
    assert_int_equal(at_turn_others_open(place[1]), 1);
    at_turn_count_open(place[1], -1);
    assert_int_equal(at_turn_others_open(place[2]), 2);
    at_turn_end(place[1]);
    assert_int_equal(at_turn_others_open(place[2]), 1);
}

/* What processes do in their turns, they do one after the other. */
struct work {
    volatile int inside;
    volatile long done, overlaps;
};

enum { TURNS = 2000, PATIENCE_S = 60 };

static void work(struct work *shared, struct at_turn turn)
{
    for (int i = 0; i < TURNS; i++) {
        struct pollfd fd = {.fd = at_turn_fd(turn), .events = POLLIN};

        while (!at_turn_take(turn))
            poll(&fd, 1, -1);
        shared->overlaps += shared->inside != 0;
        shared->inside = 1;
        shared->done++;
        shared->inside = 0;
        at_turn_give(turn);
    }
}

static void test_processes(void **state)
{
    struct work *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t children[TUNERS];

    (void)state;
    assert_true(shared != MAP_FAILED);
    for (int i = 0; i < TUNERS; i++) {
        children[i] = fork();
        if (children[i] == 0) {
            alarm(PATIENCE_S); /* a turn that never comes */
            work(shared, place[i]);
            _exit(0);
        }
    }
    for (int i = 0; i < TUNERS; i++)
        assert_int_equal(waitpid(children[i], NULL, 0), children[i]);
    assert_int_equal(shared->done, (long)TUNERS * TURNS);
    assert_int_equal(shared->overlaps, 0);
    munmap(shared, sizeof *shared);
}

/* A tuner is killed in its turn. Who reaps it lets the next one have it. */
static void test_death(void **state)
{
    int taken[2];
    pid_t child;
    char byte;

    (void)state;
    assert_int_equal(pipe(taken), 0);
    child = fork();
    if (child == 0) {
        at_turn_count_open(place[1], 1);
        if (at_turn_take(place[1]) && write(taken[1], "", 1) == 1)
            pause();
        _exit(1);
    }
    assert_int_equal(read(taken[0], &byte, 1), 1);
    assert_false(at_turn_take(place[2]));
    assert_int_equal(at_turn_others_open(place[2]), 1);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_false(is_called(2));
    at_turn_end(place[1]);
    assert_true(is_called(2));
    assert_true(at_turn_take(place[2]));
    assert_int_equal(at_turn_others_open(place[2]), 0);
    close(taken[0]);
    close(taken[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),
        cmocka_unit_test_setup_teardown(test_line, make_turns, free_turns),
        cmocka_unit_test_setup_teardown(test_leaving, make_turns, free_turns),
        cmocka_unit_test_setup_teardown(test_open, make_turns, free_turns),
        cmocka_unit_test_setup_teardown(test_processes, make_turns, free_turns),
        cmocka_unit_test_setup_teardown(test_death, make_turns, free_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
