/* SPDX-License-Identifier: Apache-2.0 */
/* A search strategy decides which config of a space to evaluate next, given the results so far.
 * Each is one const struct, listed in strategies.c. It works on indices into the space
 * and does not know how a config is evaluated. */
#ifndef AT_SEARCH_STRATEGY_H
#define AT_SEARCH_STRATEGY_H

#include "base/choice.h"
#include "base/outcome.h"
#include "search/numbers.h"
#include "space/space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Tells which configs are already compiled. */
struct at_compiled {
    bool (*has)(void *state, size_t index); /* NULL: all are */
    void *state;
};

/* The configs to try before the first result: the initial design and the warm start. */
struct at_start {
    uint64_t seed;
    const size_t *likely; /* probably good, best first; borrowed until create returns */
    size_t likely_count;
    bool searched_before; /* a search of this very problem, on this device and in this space, was
                             won by `winner` */
    size_t winner;        /* its index; valid if searched_before */
    double winner_ns;     /* its time then, if nothing that it depends on has changed; else 0 */
    double copy_ns;       /* time of the copy of as many bytes, which no transpose beats by much; 0:
                             unknown */
    const struct at_numbers
        *numbers; /* of guided; borrowed until create returns; NULL: the chosen ones */
    struct at_compiled compiled; /* configs that are already compiled */
};

struct at_strategy {
    const char *name;
    const char *summary; /* for the manual page; plain text */
    bool ignores_seed;   /* all its searches of a space are the same */
    void *(*create)(const struct at_space *space, const struct at_start *start);

    /* Ask for the next config to evaluate, each at most once. Earlier results may still be missing.
     * False: it wants no more, or none until more results are told. */
    bool (*ask)(void *state, size_t *index);

    /* Return the time per launch in ns that its model predicted for `index`, the config of the last
     * ask; 0: it predicted none. It changes nothing. NULL: the strategy has no model. */
    double (*expect)(const void *state, size_t index);

    /* Predict the configs that it will request after more results, likeliest first, at most `most`;
     * returns how many. NULL: the strategy cannot predict. */
    size_t (*likely_next)(const void *state, size_t *indices, size_t most);

    /* Take the result of a config, requested or not: its time per launch in ns if the outcome is
     * AT_CORRECT. */
    void (*tell)(void *state, size_t index, enum at_outcome outcome, double time_ns);

    /* After a false ask: why it stopped before the end of the space, whatever results are still
     * missing. NULL: it has not stopped. Without this member the strategy goes on to the end. */
    const char *(*reason)(const void *state);
    void (*destroy)(void *state);
};

enum { AT_NEXT_MAX = 8 }; /* most indices per call of likely_next */

extern const struct at_strategy *const at_strategies[]; /* NULL-ended; the first is the default */
extern const struct at_strategy at_strategy_exhaustive, at_strategy_guided, at_strategy_random;
at_choice_fn at_strategy_choice;

#endif
