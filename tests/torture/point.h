/* SPDX-License-Identifier: Apache-2.0 */
/* A point: one call of a run, told by who makes it, what it is and what it is about; and what is
 * done to it there. By name: "tune/driver/openat/journal/2/EIO", the second such call of the run.
 */
#ifndef TORTURE_POINT_H
#define TORTURE_POINT_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum { WORD_CHARS = 24, POINT_CHARS = 160 };

/* How often a role makes a call about a kind of file. */
struct tally {
    char role[WORD_CHARS];
    char call[WORD_CHARS];
    char kind[WORD_CHARS];
    int count;
};

struct tallies {
    struct tally *items;
    size_t count, capacity;
};

enum effect {
    EFFECT_ERROR,
    EFFECT_ERRORS,     /* from here on, each time */
    EFFECT_SHORT,      /* half of what was asked for is done */
    EFFECT_KILL,       /* SIGKILL in place of the call */
    EFFECT_KILL_AFTER, /* SIGKILL right after it */
};

struct point {
    struct tally call; /* .count: which of them, from 1 on */
    enum effect effect;
    int error;
};

struct points {
    struct point *items;
    size_t count, capacity;
};

/* Counts one more, and returns the count so far. */
int tallies_add(struct tallies *tallies, const char *role, const char *call, const char *kind);

/* What can be done to the first, middle and last of each, or to every one of them. patterns: of
 * which alone, of "role/call/kind", separated by blanks; NULL: of all. */
void points_of(struct points *points, const struct tallies *tallies, const char *patterns,
               bool every);

/* Keeps so many, drawn. */
void points_draw(struct points *points, size_t most, struct at_rng *rng);

void point_format(char text[POINT_CHARS], const char *scenario, const struct point *point);

/* Reads what follows the scenario's name and '/'; false if it is no point. */
bool point_parse(struct point *point, const char *text);

#endif
