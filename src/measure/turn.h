/* SPDX-License-Identifier: Apache-2.0 */
/* Turns on a device that several tuners of a run share. The GPU worker of one of them at a time
 * answers a request, so that none disturbs another's times. They are processes: what they share is
 * a file in memory that a tuner inherits, and that its worker gets as a descriptor.
 *
 * The first that takes a turn has it. While one has it, others wait in line: who gives it gives it
 * to the next that waits. */
#ifndef AT_MEASURE_TURN_H
#define AT_MEASURE_TURN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { AT_TURNS_MAX = 16 };

struct at_turns;

/* Make the turns of a device for at most AT_TURNS_MAX tuners; the caller frees them. Processes that
 * are forked later share them. AT_INTERNAL: the system has no memory or no descriptors left. */
enum at_status at_turns_new(struct at_turns **turns, size_t tuners, struct at_error *err);
void at_turns_free(struct at_turns *turns);

/* The descriptor to give to a worker; -1 without turns (NULL). */
int at_turns_fd(const struct at_turns *turns);

/* Share the turns of a descriptor that this process was given. Frees nothing of the others'. */
enum at_status at_turns_join(struct at_turns **turns, int fd, struct at_error *err);

/* One tuner's place, which is its worker's too. Without turns (NULL) it has the device alone: it
 * always has the turn. */
struct at_turn {
    struct at_turns *turns; /* borrowed */
    size_t place;           /* from 0 */
};

/* Return how many tuners share the device. */
int64_t at_turn_tuners(struct at_turn turn);

/* Wait for the turn, unless this place has it. */
void at_turn_take(struct at_turn turn);

/* Give the turn to the next that waits, if this place has it, and no longer wait in line. */
void at_turn_give(struct at_turn turn);

/* What a place does. */
enum at_turn_state { AT_TURN_IDLE, AT_TURN_WAITS, AT_TURN_HAS };

/* Return it. *since_ns is when it got the turn that it has, on at_now_ns's clock. */
enum at_turn_state at_turn_state(struct at_turn turn, int64_t *since_ns);

/* Count a process of this tuner that opens the device (1), or one that closes it (-1). */
void at_turn_count_open(struct at_turn turn, int64_t more);

/* Return how many processes of the other tuners have the device open. While this tuner has the
 * turn, the number does not grow. */
int64_t at_turn_others_open(struct at_turn turn);

/* The tuner has died: others go on without it, and its place takes no more turns. */
void at_turn_end(struct at_turn turn);

#endif
