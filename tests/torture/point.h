/* SPDX-License-Identifier: Apache-2.0 */
/* A point is one call of a run and the effect applied to it. The call is named by role, name, kind
 * of file and count: in "tune/driver/openat/journal/2/EIO" the driver's second openat of a journal
 * fails.
 */
#ifndef TORTURE_POINT_H
#define TORTURE_POINT_H

#include "base/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum { WORD_CHARS = 24, POINT_CHARS = 160 };

/* How often a role makes a call on a kind of file. */
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
    EFFECT_ERRORS,     /* an error from here on, every time */
    EFFECT_SHORT,      /* half the requested bytes are transferred */
    EFFECT_KILL,       /* SIGKILL instead of the call */
    EFFECT_KILL_AFTER, /* SIGKILL right after it */
};

struct point {
    struct tally call; /* .count: which of these calls, from 1 */
    enum effect effect;
    int error;
};

struct points {
    struct point *items;
    size_t count, capacity;
};

/* Count a call and return its count so far. */
int tallies_add(struct tallies *tallies, const char *role, const char *call, const char *kind);

/* Append all effects on the first, middle and last call of each tally or, if `every`, on all calls.
 * patterns selects tallies by "role/call/kind", separated by blanks; NULL selects all. */
void points_of(struct points *points, const struct tallies *tallies, const char *patterns,
               bool every);

/* Keep at most `most` points, drawn at random. */
void points_draw(struct points *points, size_t most, struct at_rng *rng);

void point_format(char text[POINT_CHARS], const char *scenario, const struct point *point);

/* Parse a point's name without the scenario and its '/'; false if it is no point. */
bool point_parse(struct point *point, const char *text);

#endif
