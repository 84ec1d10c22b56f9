/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that are tortured. */
#ifndef TORTURE_SCENARIO_H
#define TORTURE_SCENARIO_H

#include <stdbool.h>
#include <stddef.h>

/* Each begins in a folder of its own, with a cache of compiled kernels. */
struct scenario {
    const char *name;
    const char *only;    /* patterns of the calls that another scenario does not have; NULL: all */
    const char *before;  /* shell commands that make the folder; $AUTOTUNE, $srcdir */
    const char *command; /* the arguments, separated by blanks */
    const char *next;    /* of the next run, which must do well whatever came before */
    const char *journal; /* the file's name; NULL: keeps none */
    const char *outputs; /* what it writes, a pattern; NULL: nothing but its messages */
    bool needs_nvrtc;
    bool varies; /* the output is a profile, which is not the same twice */
    bool clears; /* the outputs are to be gone */
};

extern const struct scenario scenarios[];
extern const size_t scenario_count;

/* Makes in the folder the data and the cache. What is wrong is said on stderr. */
bool scenarios_prepare(const char *folder, bool can_tune);

/* Makes what a scenario begins with. */
bool scenario_prepare(const struct scenario *scenario, const char *folder);

/* Is there an NVRTC? */
bool scenarios_can_tune(void);

/* The command's words; the array and the first word are the caller's to free. */
char **scenario_words(const char *arguments);

/* Makes `place` what the scenario begins with. */
bool scenario_begin(const struct scenario *scenario, const char *folder, const char *place);

#endif
