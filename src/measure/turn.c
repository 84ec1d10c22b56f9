/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/turn.h"

#include "base/clock.h"
#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Who has the turn and who waits, in one word: a process may be killed at any instruction, and a
 * lock would die with it. The lowest bits hold the place that has the turn, plus one; 0: none has.
 * Above them, each place that waits has a bit. */
enum { HOLDER_BITS = 8, HOLDER_MASK = (1 << HOLDER_BITS) - 1 };

struct shared {
    _Atomic uint32_t line;
    _Atomic uint32_t ended; /* a bit for each place whose tuner has died */
    size_t tuners;
    _Atomic int64_t since_ns[AT_TURNS_MAX]; /* by place: set before it gets the turn */
    _Atomic int64_t open[AT_TURNS_MAX];     /* by place: processes with the device open */
};

struct at_turns {
    struct shared *shared;
    int fd;
};

static uint32_t holder_of(size_t place)
{
    return (uint32_t)place + 1;
}

static uint32_t waits_bit(size_t place)
{
    return UINT32_C(1) << (HOLDER_BITS + place);
}

enum at_status at_turns_join(struct at_turns **turns, int fd, struct at_error *err)
{
    struct at_turns *made = at_alloc(sizeof *made);

    made->fd = fd;
    made->shared = mmap(NULL, sizeof *made->shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (made->shared != MAP_FAILED) {
        *turns = made;
        return AT_OK;
    }
    at_free(made);
    return at_fail(err, AT_INTERNAL, "cannot share a device: %s", strerror(errno));
}

enum at_status at_turns_new(struct at_turns **turns, size_t tuners, struct at_error *err)
{
    int fd = memfd_create("turns", MFD_CLOEXEC);
    enum at_status status = AT_OK;

    if (fd < 0 || ftruncate(fd, sizeof(struct shared)) != 0)
        status = at_fail(err, AT_INTERNAL, "cannot share a device: %s", strerror(errno));
    if (status == AT_OK)
        status = at_turns_join(turns, fd, err);
    if (status == AT_OK)
        (*turns)->shared->tuners = tuners;
    else if (fd >= 0)
        close(fd);
    return status;
}

void at_turns_free(struct at_turns *turns)
{
    if (!turns)
        return;
    munmap(turns->shared, sizeof *turns->shared);
    close(turns->fd);
    at_free(turns);
}

int at_turns_fd(const struct at_turns *turns)
{
    return turns ? turns->fd : -1;
}

int64_t at_turn_tuners(struct at_turn turn)
{
    return turn.turns ? (int64_t)turn.turns->shared->tuners : 1;
}

/* Sleep while the line is this one, and wake up all that do. */
static void sleep_while(struct shared *shared, uint32_t line)
{
    syscall(SYS_futex, &shared->line, FUTEX_WAIT, line, NULL, NULL, 0);
}

static void wake_all(struct shared *shared)
{
    syscall(SYS_futex, &shared->line, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void at_turn_take(struct at_turn turn)
{
    uint32_t me = holder_of(turn.place), line, next;
    struct shared *shared;

    if (!turn.turns)
        return;
    shared = turn.turns->shared;
    line = atomic_load(&shared->line);
    while ((line & HOLDER_MASK) != me) {
        next = (line & HOLDER_MASK) == 0 ? line | me : line | waits_bit(turn.place);
        if ((next & HOLDER_MASK) == me)
            atomic_store(&shared->since_ns[turn.place], at_now_ns());
        if (!atomic_compare_exchange_weak(&shared->line, &line, next))
            continue;
        if ((next & HOLDER_MASK) != me)
            sleep_while(shared, next);
        line = atomic_load(&shared->line);
    }
}

/* The first that waits behind this place; the number of tuners if none does. */
static size_t next_in_line(const struct shared *shared, uint32_t line, size_t place)
{
    uint32_t ended = atomic_load(&shared->ended);

    for (size_t i = 1; i < shared->tuners; i++) {
        size_t next = (place + i) % shared->tuners;

        if (line & waits_bit(next) && !(ended >> next & 1))
            return next;
    }
    return shared->tuners;
}

void at_turn_give(struct at_turn turn)
{
    struct shared *shared = turn.turns ? turn.turns->shared : NULL;
    uint32_t line, rest;
    size_t heir;

    if (!shared)
        return;
    line = atomic_load(&shared->line);
    do {
        heir = shared->tuners;
        rest = line & ~waits_bit(turn.place);
        if ((line & HOLDER_MASK) == holder_of(turn.place)) {
            heir = next_in_line(shared, line, turn.place);
            rest &= ~(uint32_t)HOLDER_MASK;
            if (heir < shared->tuners) {
                rest = (rest & ~waits_bit(heir)) | holder_of(heir);
                atomic_store(&shared->since_ns[heir], at_now_ns());
            }
        }
    } while (!atomic_compare_exchange_weak(&shared->line, &line, rest));
    if (heir < shared->tuners)
        wake_all(shared);
}

enum at_turn_state at_turn_state(struct at_turn turn, int64_t *since_ns)
{
    uint32_t line = turn.turns ? atomic_load(&turn.turns->shared->line) : 0;

    if (line & waits_bit(turn.place))
        return AT_TURN_WAITS;
    if ((line & HOLDER_MASK) != holder_of(turn.place))
        return AT_TURN_IDLE;
    *since_ns = atomic_load(&turn.turns->shared->since_ns[turn.place]);
    return AT_TURN_HAS;
}

void at_turn_count_open(struct at_turn turn, int64_t more)
{
    if (turn.turns)
        atomic_fetch_add(&turn.turns->shared->open[turn.place], more);
}

int64_t at_turn_others_open(struct at_turn turn)
{
    int64_t open = 0;

    for (size_t i = 0; turn.turns && i < turn.turns->shared->tuners; i++)
        if (i != turn.place)
            open += atomic_load(&turn.turns->shared->open[i]);
    return open;
}

/* A worker of the place may wait in line for a moment longer than its tuner lives. */
void at_turn_end(struct at_turn turn)
{
    if (!turn.turns)
        return;
    atomic_fetch_or(&turn.turns->shared->ended, UINT32_C(1) << turn.place);
    atomic_store(&turn.turns->shared->open[turn.place], 0);
    at_turn_give(turn);
}
