/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the torture harness share. */
#ifndef AT_TESTS_TORTURE_TORTURE_H
#define AT_TESTS_TORTURE_TORTURE_H

#include "base/rng.h"

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* ---- calls.c ---- */

/* The system calls that are made to fail, and how each can fail. */

/* Where to find the file that a call works on. */
enum about {
    ABOUT_PROCESS,
    ABOUT_SOCKETS,    /* several descriptors, as of poll */
    ABOUT_MEMORY,     /* no file behind it */
    ABOUT_MAPPING,    /* mmap: the file behind the mapping, if any */
    ABOUT_DESCRIPTOR, /* the first argument is a descriptor */
    ABOUT_PATH,       /* the first argument is a path */
    ABOUT_PATH_AT,    /* the arguments are a folder's descriptor and a path */
};

enum { CALL_ERRORS_MAX = 4 };

enum trait {
    PARTIAL = 1, /* may transfer fewer bytes than requested */
    LASTING = 2, /* changes what others see: a kill right after it is a point as well */
    STAYING = 4, /* may keep failing: a full disk, no memory, no descriptors */
};

struct call {
    const char *name;
    int number;
    enum about about;
    int errors[CALL_ERRORS_MAX]; /* ends with 0 */
    unsigned traits;
};

extern const struct call calls[];
extern const size_t call_count;

/* Find a call by number or name; NULL if it is not in the table. */
const struct call *call_find(int number);
const struct call *call_named(const char *name);

/* Convert between EIO and "EIO"; NULL or 0 for errors that the table does not use. */
const char *error_name(int error);
int error_named(const char *name);

/* ---- point.c ---- */

/* A point is one call of a run and the effect applied to it. The call is named by role, name, kind
 * of file and count: in "tune/main/openat/journal/2/EIO" the main process's second openat of a
 * journal fails.
 */

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

/* ---- kinds.c, effects.c ---- */

/* A call that waits for the tracer: its description, and effects on it. */

/* The main process's ends of socket pairs, with the kind of the other end. */
enum { SOCKETS_MAX = 32 };

struct sockets {
    uint64_t pair_at; /* address of the last pair in its memory */
    size_t count;
    struct {
        char link[WORD_CHARS]; /* "socket:[1234]" */
        char kind[WORD_CHARS]; /* "socket-gpu" */
    } items[SOCKETS_MAX];
};

struct stopped {
    int listener;
    pid_t main; /* the main process */
    const struct seccomp_notif *request;
    const struct call *call;
    char role[WORD_CHARS];
    char kind[WORD_CHARS];
};

/* Fill role and kind. */
void stopped_describe(struct stopped *stopped, struct sockets *sockets);

/* Apply the point's effect: answer the call instead of the kernel, or kill the process. False if
 * that is not possible for this call, which should then go on. */
bool stopped_apply(const struct stopped *stopped, const struct point *point,
                   struct seccomp_notif_resp *response);

/* Copy between this and the stopped process; false if not all of it is mapped there. */
bool stopped_peek(pid_t pid, uint64_t address, void *bytes, size_t size);
bool stopped_poke(pid_t pid, uint64_t address, const void *bytes, size_t size);

/* ---- trace.c ---- */

/* Runs a command whose calls for files, processes and memory each wait for the tracer's answer.
 *
 * The kernel does this (seccomp_unotify(2)): in the command and all its processes, a filter stops
 * the calls in calls.c until this process answers. Other calls run at full speed. This reaches the
 * calls inside glibc and SQLite. It needs no ptrace, which would change how processes wait for each
 * other. */

struct trace_end {
    bool possible; /* false: this machine has no such filters, or does not allow them */
    int status;    /* of the command, as waitpid gives it */
    bool injected; /* the effect was applied */
    bool hung;     /* the command had to be killed */
    int left;      /* processes that did not end after it */
};

/* Run argv in the folder `place`, with its output in the files stdout and stderr there. Counts each
 * call in tallies. point may be NULL. */
void trace_run(char *const argv[], const char *place, const struct point *point,
               struct tallies *tallies, struct trace_end *end);

/* ---- scenario.c ---- */

/* The commands whose calls are made to fail. */

/* Each starts in its own folder, with a cache of compiled kernels. */
struct scenario {
    const char *name;
    const char *only;    /* patterns of calls that no other scenario covers; NULL: all calls */
    const char *before;  /* shell commands that prepare the folder; they know $AUTOTUNE, $srcdir */
    const char *command; /* the arguments, separated by blanks */
    const char *next;    /* arguments of the next run, which must succeed whatever came before */
    const char *journal; /* its file name; NULL: no journal */
    const char *outputs; /* a pattern of the files that it writes; NULL: none */
    bool needs_nvrtc;
    bool varies; /* the output is a profile, which differs each time */
    bool clears; /* the outputs must be gone afterwards */
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

/* Make the data in the folder; if it is to be warm, a cache with the kernels of all scenarios, too.
 * Prints errors to stderr. */
bool scenarios_prepare(const char *folder, bool is_warm);

/* Prepare the files with which a scenario starts. */
bool scenario_prepare(const struct scenario *scenario, const char *folder);

/* Return whether there is an NVRTC. */
bool scenarios_can_tune(void);

/* Split a command into words. The caller frees the array and the first word. */
char **scenario_words(const char *arguments);

/* Reset `place` to the scenario's start. */
bool scenario_begin(const struct scenario *scenario, const char *folder, const char *place);

/* ---- rules.c ---- */

/* Rules that hold whichever call fails or is the last before a kill. */

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

/* ---- work.c ---- */

enum { EXIT_SKIP = 77 };

struct options {
    size_t sample; /* points per scenario; 0: all */
    uint64_t seed;
    bool every, list, verbose, keep;
    int jobs;
};

/* Run a scenario at its points, or at the named one, and print its line of the table. Return an
 * exit code. */
int torture(const struct options *options, const struct scenario *scenario, const char *folder,
            const char *name);

#endif
