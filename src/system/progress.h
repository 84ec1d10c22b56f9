/* SPDX-License-Identifier: Apache-2.0 */
/* Messages of a running command on stderr: a progress line that is redrawn, if stderr is a
 * terminal, and notes that stay. */
#ifndef AT_SYSTEM_PROGRESS_H
#define AT_SYSTEM_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct at_progress_state;

struct at_progress {
    bool quiet;                           /* warnings only */
    bool verbose;                         /* details too */
    bool terminal;                        /* stderr is one that can erase a line */
    bool line_shown;                      /* the progress line is on the screen */
    int64_t next_draw_ns;                 /* at most ten times a second */
    int64_t steps_began_ns, steps_end_ns; /* the end: of their budget; 0: none */
    void (*draw)(void *data, const struct at_progress_state *state); /* instead, by another process
                                                                      * on the same terminal */
    void *draw_data;
};

/* Neither quiet nor verbose. */
void at_progress_init(struct at_progress *progress);

/* Room for any problem's text. */
enum { AT_PROGRESS_WHAT = 1024 };

/* The content of the progress line. Unknown numbers are 0, unknown times negative. */
struct at_progress_state {
    const char *what;    /* the problem */
    size_t index, of;    /* problem 3 of 30 */
    size_t done, total;  /* configs */
    bool total_is_known; /* else it is expected */
    double left_s, run_left_s;
    int64_t budget_ends_ns, run_ends_ns; /* on at_now_ns's clock */
    double best_gbps;
    double of_copy; /* fraction of the copy limit: 1 is the limit */
    bool predicted; /* best_gbps is predicted, not measured */
};

/* Return the progress line, at most width columns long, without the least important parts. */
char *at_progress_line(const struct at_progress_state *state, int width, int64_t now_ns);

/* Print "under 5 s", "45 s", "12 min" or "3.5 h". */
void at_print_duration(FILE *out, double seconds);

void at_progress_draw(struct at_progress *progress, const struct at_progress_state *state);

/* Show that `done` of a command's steps are done, and what the next one works on. The steps before
 * it tell how long the rest takes. The caller erases the line after the last step. */
void at_progress_step(struct at_progress *progress, const char *what, size_t done, size_t of);

/* Erase the progress line. */
void at_progress_clear(struct at_progress *progress);

/* Print "autotune: ", what kind of message it is, and the message. A terminal gets it in lines that
 * end between words. */
void at_print_message(const char *kind, const char *text);

/* Print a line that stays. Quiet progress prints warnings but no notes, verbose progress details
 * too. */
enum at_importance { AT_DETAIL, AT_NOTE, AT_WARNING };
void at_say(struct at_progress *progress, enum at_importance importance, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define at_detail(progress, ...) at_say((progress), AT_DETAIL, __VA_ARGS__)
#define at_note(progress, ...)   at_say((progress), AT_NOTE, __VA_ARGS__)
#define at_warn(progress, ...)   at_say((progress), AT_WARNING, __VA_ARGS__)

/* Open any closed descriptor from 0 to 2, so that no file, socket or database gets their
 * numbers. Using them still fails, as on a closed descriptor. Also ignore SIGPIPE: writing to a
 * pipe without a reader fails instead of ending the process. Returns false with errno on failure.
 */
bool at_streams_prepare(void);

/* Is fd a pipe or socket whose other end is closed? */
bool at_streams_reader_is_gone(int fd);

/* The columns of a terminal; 0: fd is none, or does not tell. */
int at_streams_width(int fd);

/* How wide text for people may be that is printed on stdout: `most`, or a narrower terminal. */
int at_streams_text_width(int most);

#endif
