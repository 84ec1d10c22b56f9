/* SPDX-License-Identifier: Apache-2.0 */
/* Rules that hold whichever call fails or is the last before a kill. */
#ifndef TORTURE_RULES_H
#define TORTURE_RULES_H

#include "scenario.h"
#include "trace.h"

/* A run and the next one, with their results. */
struct aftermath {
    const struct scenario *scenario;
    const struct point *point;
    const char *before, *sample; /* folders: at the start; after an undisturbed run */
    const char *place;           /* the folder of both runs */
    struct trace_end end, next;
    char *out, *err;        /* the texts that the first run printed */
    char *rows, *next_rows; /* of the journal; "" if there is none, NULL if it is not sound */
    char *next_err;
    char why[512];
};

/* Return the name of the first broken rule, with details in `why`; NULL if all hold. Checks the
 * rules of the run itself if `first`, else the ones of the next run. */
const char *rules_broken(struct aftermath *aftermath, bool first);

/* Return all rows of a journal as text, in order; NULL if it is not sound. The caller frees it. */
char *journal_rows(const char *place, const char *name);

/* Return the content of a file in a folder; NULL if there is none. The caller frees it. */
char *content_of(const char *folder, const char *name);

#endif
