/* SPDX-License-Identifier: Apache-2.0 */
/* The commands whose calls are made to fail. */
#ifndef TORTURE_SCENARIO_H
#define TORTURE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

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

/* Make the data and the cache in the folder. Prints errors to stderr. */
bool scenarios_prepare(const char *folder, bool can_tune);

/* Prepare the files with which a scenario starts. */
bool scenario_prepare(const struct scenario *scenario, const char *folder);

/* Return whether there is an NVRTC. */
bool scenarios_can_tune(void);

/* Split a command into words. The caller frees the array and the first word. */
char **scenario_words(const char *arguments);

/* Reset `place` to the scenario's start. */
bool scenario_begin(const struct scenario *scenario, const char *folder, const char *place);

#endif
