/* SPDX-License-Identifier: Apache-2.0 */
/* src/measure/turn: one tuner at a time has the turn, even if a tuner dies. */
#include "measure/turn.h"

#include "base/clock.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { TUNERS = 3, TURNS = 2000, PATIENCE_S = 60 };

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

/* What a place does. */
static enum at_turn_state state_of(size_t tuner)
{
    int64_t since_ns;

    return at_turn_state(place[tuner], &since_ns);
}

/* Wait for it to do that. */
static void await(size_t tuner, enum at_turn_state wanted)
{
    alarm(PATIENCE_S); /* a turn that never comes */
    while (state_of(tuner) != wanted)
        usleep(100);
    alarm(0);
}

/* Start a process that takes the tuner's turn and keeps it, as a worker that shares the turns by
 * their descriptor. */
static pid_t start_taker(size_t tuner)
{
    pid_t child = fork();
    struct at_turn turn = {.place = tuner};

    if (child == 0) {
        alarm(PATIENCE_S); /* if the test fails and ends without it */
        if (at_turns_join(&turn.turns, at_turns_fd(place[0].turns), NULL) != AT_OK)
            _exit(1);
        at_turn_take(turn);
        pause();
        _exit(1);
    }
    return child;
}

static void end_taker(pid_t child)
{
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void test_alone(void **state)
{
    const struct at_turn alone = {0};
    int64_t since_ns;

    (void)state;
    at_turn_take(alone);
    at_turn_take(alone);
    assert_int_equal(at_turn_state(alone, &since_ns), AT_TURN_IDLE);
    at_turn_give(alone);
    at_turn_count_open(alone, 1);
    assert_int_equal(at_turns_fd(NULL), -1);
    assert_int_equal(at_turn_tuners(alone), 1);
    assert_int_equal(at_turn_others_open(alone), 0);
    at_turns_free(NULL);
}

/* Who waits gets the turn in the order of places, from the one behind who gives it. */
static void test_line(void **state)
{
    int64_t before_ns = at_now_ns(), since_ns = 0;
    pid_t takers[TUNERS];

    (void)state;
    at_turn_take(place[0]);
    at_turn_take(place[0]); /* it keeps it */
    assert_int_equal(at_turn_state(place[0], &since_ns), AT_TURN_HAS);
    assert_true(since_ns >= before_ns && since_ns <= at_now_ns());
    for (size_t i = 2; i > 0; i--) {
        takers[i] = start_taker(i);
        await(i, AT_TURN_WAITS);
    }
    at_turn_give(place[0]);
    assert_int_equal(state_of(0), AT_TURN_IDLE);
    assert_int_equal(state_of(1), AT_TURN_HAS);
    assert_int_equal(state_of(2), AT_TURN_WAITS);
    end_taker(takers[1]); /* on a slow machine it would take the turn again */
    at_turn_give(place[1]);
    assert_int_equal(at_turn_state(place[2], &since_ns), AT_TURN_HAS);
    assert_true(since_ns > before_ns);
    end_taker(takers[2]);
    at_turn_give(place[2]);
    at_turn_take(place[1]); /* it was free */
    assert_int_equal(state_of(1), AT_TURN_HAS);
    at_turn_give(place[1]);
}

/* Who no longer wants the turn does not get it; or, if it has it already, passes it on. */
static void test_leaving(void **state)
{
    pid_t takers[TUNERS];

    (void)state;
    at_turn_take(place[0]);
    for (size_t i = 1; i < TUNERS; i++) {
        takers[i] = start_taker(i);
        await(i, AT_TURN_WAITS);
    }
    end_taker(takers[1]);
    at_turn_give(place[1]);
    assert_int_equal(state_of(1), AT_TURN_IDLE);
    at_turn_give(place[0]);
    assert_int_equal(state_of(2), AT_TURN_HAS);
    end_taker(takers[2]);
    at_turn_give(place[2]);
    assert_int_equal(state_of(2), AT_TURN_IDLE);
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

static void work(struct work *shared, struct at_turn turn)
{
    for (int i = 0; i < TURNS; i++) {
        at_turn_take(turn);
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

/* A tuner is killed in its turn, and another one while it waits. Who reaps them lets the next one
 * have it. */
static void test_death(void **state)
{
    pid_t takers[TUNERS];

    (void)state;
    for (size_t i = 0; i < TUNERS; i++) {
        at_turn_count_open(place[i], 1);
        takers[i] = start_taker(i);
        await(i, i == 0 ? AT_TURN_HAS : AT_TURN_WAITS);
    }
    assert_int_equal(at_turn_others_open(place[2]), 2);
    end_taker(takers[1]);
    at_turn_end(place[1]);
    takers[1] = start_taker(1); /* a worker that outlives its tuner for a moment */
    await(1, AT_TURN_WAITS);
    end_taker(takers[1]);
    end_taker(takers[0]);
    assert_int_equal(state_of(2), AT_TURN_WAITS);
    at_turn_end(place[0]);
    assert_int_equal(state_of(2), AT_TURN_HAS);
    assert_int_equal(at_turn_others_open(place[2]), 0);
    end_taker(takers[2]);
    at_turn_give(place[2]);
    assert_int_equal(state_of(1), AT_TURN_WAITS);
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
