/* SPDX-License-Identifier: Apache-2.0 */
/* Turns on a device that several tuners of a run share. One of them at a time has requests on it,
 * so that none disturbs another's times. The tuners are processes: what they share is in memory
 * that they inherit.
 *
 * The first tuner that takes a turn has it. While one has it, others wait in line: who gives it
 * gives it to the next that waits. */
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

/* One tuner's place. Without turns (NULL) it has the device alone: it always has the turn. */
struct at_turn {
    struct at_turns *turns; /* borrowed */
    size_t place;           /* from 0 */
};

/* Take the turn, or keep it. Returns false if another tuner has it: this one waits in line now. */
bool at_turn_take(struct at_turn turn);

/* A descriptor that can be read when the turn has come to a tuner that waits; -1 without turns. */
int at_turn_fd(struct at_turn turn);

/* Give the turn to the next that waits, if this tuner has it, and no longer wait in line. */
void at_turn_give(struct at_turn turn);

/* Count a process of this tuner that opens the device (1), or one that closes it (-1). */
void at_turn_count_open(struct at_turn turn, int64_t more);

/* Return how many processes of the other tuners have the device open. While this tuner has the
 * turn, the number does not grow. */
int64_t at_turn_others_open(struct at_turn turn);

/* The tuner has died: others go on without it. */
void at_turn_end(struct at_turn turn);

#endif
