/* SPDX-License-Identifier: Apache-2.0 */
/* What must hold whatever call fails, and whichever is the last. */
#ifndef TORTURE_RULES_H
#define TORTURE_RULES_H

#include "scenario.h"
#include "trace.h"

/* A run and the next one, with what they left. */
struct aftermath {
    const struct scenario *scenario;
    const struct point *point;   /* NULL: nothing was done to it */
    const char *before, *sample; /* folders: what it began with; a run that nothing was done to */
    const char *place;           /* the folder it was in, and the next one is */
    struct trace_end end, next;
    char *out, *err;        /* what it printed */
    char *rows, *next_rows; /* of its journal; "" if there is none, NULL if it is not sound */
    char *next_err;
    char why[512];
};

/* NULL, or the name of the rule that was broken; why says how. first: of the run itself, and else
 * of the next one. */
const char *rules_broken(struct aftermath *aftermath, bool first);

/* All rows of a journal as text, in order. NULL: it is not sound. */
char *journal_rows(const char *place, const char *name);

/* The whole of a file in a folder; NULL: there is none. */
char *content_of(const char *folder, const char *name);

#endif
