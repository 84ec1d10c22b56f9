/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/turn.h"

#include "base/memory.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

/* Who has the turn and who waits, in one word: a tuner may be killed at any instruction, and a lock
 * would die with it. The lowest bits hold the place of the tuner that has the turn, plus
 * one. 0 means that nobody has it. */
enum { HOLDER_BITS = 8, HOLDER_MASK = (1 << HOLDER_BITS) - 1 };

struct shared {
    _Atomic uint32_t line;
    _Atomic int64_t open[AT_TURNS_MAX]; /* by place: processes with the device open */
};

struct at_turns {
    struct shared *shared;
    size_t tuners;
    int wake[AT_TURNS_MAX]; /* by place: an event when the turn comes to who waits */
};

static uint32_t holder_of(size_t place)
{
    return (uint32_t)place + 1;
}

static uint32_t waits_bit(size_t place)
{
    return UINT32_C(1) << (HOLDER_BITS + place);
}

enum at_status at_turns_new(struct at_turns **turns, size_t tuners, struct at_error *err)
{
    struct at_turns *made = at_alloc(sizeof *made);
    bool good;

    made->tuners = tuners;
    made->shared =
        mmap(NULL, sizeof *made->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    good = made->shared != MAP_FAILED;
    for (size_t i = 0; i < tuners; i++) {
        made->wake[i] = good ? eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) : -1;
        good = made->wake[i] >= 0;
    }
    if (good) {
        *turns = made;
        return AT_OK;
    }
    at_fail(err, AT_INTERNAL, "cannot share a device: %s", strerror(errno));
    at_turns_free(made);
    return AT_INTERNAL;
}

void at_turns_free(struct at_turns *turns)
{
    if (!turns)
        return;
    for (size_t i = 0; i < turns->tuners; i++)
        if (turns->wake[i] >= 0)
            close(turns->wake[i]);
    if (turns->shared != MAP_FAILED)
        munmap(turns->shared, sizeof *turns->shared);
    at_free(turns);
}

/* Forget an event that has been noticed. */
static void drain(struct at_turn turn)
{
    eventfd_t count;

    eventfd_read(turn.turns->wake[turn.place], &count);
}

bool at_turn_take(struct at_turn turn)
{
    uint32_t me = holder_of(turn.place), line, next;

    if (!turn.turns)
        return true;
    line = atomic_load(&turn.turns->shared->line);
    do {
        uint32_t holder = line & HOLDER_MASK;

        next = holder == 0 ? line | me : holder == me ? line : line | waits_bit(turn.place);
    } while (!atomic_compare_exchange_weak(&turn.turns->shared->line, &line, next));
    if ((next & HOLDER_MASK) != me)
        return false;
    drain(turn);
    return true;
}

int at_turn_fd(struct at_turn turn)
{
    return turn.turns ? turn.turns->wake[turn.place] : -1;
}

/* The first that waits behind this place; the number of tuners if none does. */
static size_t next_in_line(const struct at_turns *turns, uint32_t line, size_t place)
{
    for (size_t i = 1; i < turns->tuners; i++) {
        size_t next = (place + i) % turns->tuners;

        if (line & waits_bit(next))
            return next;
    }
    return turns->tuners;
}

void at_turn_give(struct at_turn turn)
{
    struct at_turns *turns = turn.turns;
    uint32_t line, rest;
    size_t heir;

    if (!turns)
        return;
    line = atomic_load(&turns->shared->line);
    do {
        heir = turns->tuners;
        rest = line & ~waits_bit(turn.place);
        if ((line & HOLDER_MASK) == holder_of(turn.place)) {
            heir = next_in_line(turns, line, turn.place);
            rest &= ~(uint32_t)HOLDER_MASK;
            if (heir < turns->tuners)
                rest = (rest & ~waits_bit(heir)) | holder_of(heir);
        }
    } while (!atomic_compare_exchange_weak(&turns->shared->line, &line, rest));
    drain(turn);
    if (heir < turns->tuners)
        eventfd_write(turns->wake[heir], 1);
}

void at_turn_count_open(struct at_turn turn, int64_t more)
{
    if (turn.turns)
        atomic_fetch_add(&turn.turns->shared->open[turn.place], more);
}

int64_t at_turn_others_open(struct at_turn turn)
{
    int64_t open = 0;

    for (size_t i = 0; turn.turns && i < turn.turns->tuners; i++)
        if (i != turn.place)
            open += atomic_load(&turn.turns->shared->open[i]);
    return open;
}

void at_turn_end(struct at_turn turn)
{
    if (turn.turns)
        atomic_store(&turn.turns->shared->open[turn.place], 0);
    at_turn_give(turn);
}
