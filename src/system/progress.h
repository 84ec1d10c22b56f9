/* SPDX-License-Identifier: Apache-2.0 */
/* What a run tells on stderr while it goes on: one line that is drawn over, where stderr is a
 * terminal, and notes that stay. */
#ifndef AT_SYSTEM_PROGRESS_H
#define AT_SYSTEM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_progress {
    bool quiet;           /* no line, no notes but warnings */
    bool terminal;        /* stderr is one */
    bool line_shown;      /* there is a line to be drawn over */
    int64_t next_draw_ns; /* not more often than ten times a second */
};

void at_progress_init(struct at_progress *progress, bool quiet);

/* What the line tells. Where a number is not known yet it is 0. */
struct at_progress_state {
    const char *what;   /* the problem */
    size_t index, of;   /* problem 3 of 30 */
    size_t done, total; /* configs */
    int64_t started_ns, budget_ends_ns;
    double best_gbps;
    double of_copy; /* share of the copy limit, 1 = all of it */
    bool predicted; /* best_gbps is no measurement */
};

void at_progress_draw(struct at_progress *progress, const struct at_progress_state *state);

/* Takes the line away. */
void at_progress_clear(struct at_progress *progress);

/* A line that stays: a note is left out when quiet, a warning is not. */
void at_note(struct at_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void at_warn(struct at_progress *progress, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
