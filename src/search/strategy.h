/* SPDX-License-Identifier: Apache-2.0 */
/* A search strategy: which config of a space to evaluate next, given what is known. One file and
 * one const struct a strategy, listed in strategies.c. It works on indices into the space and knows
 * nothing of how an evaluation is made. */
#ifndef AT_SEARCH_STRATEGY_H
#define AT_SEARCH_STRATEGY_H

#include "base/choice.h"
#include "base/outcome.h"
#include "space/space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Which configs need not be compiled. */
struct at_compiled {
    bool (*has)(void *state, size_t index); /* NULL: all are at hand */
    void *state;
};

/* What is known before the first result. */
struct at_start {
    uint64_t seed;
    const size_t *likely; /* configs that may well be good, likeliest first; borrowed until create
                             returns */
    size_t likely_count;
    bool known;       /* one of these won a search of this very problem, here and in this space */
    size_t winner;    /* that one, and */
    double winner_ns; /* its time then, if nothing that it depends on has changed; 0: it has */
    double copy_ns;   /* a copy of as many bytes, which no transpose beats by much; 0: not known */
    struct at_compiled compiled; /* what needs not be compiled */
};

struct at_strategy {
    const char *name;
    const char *summary; /* for the manual page; plain text */
    void *(*create)(const struct at_space *space, const struct at_start *start);

    /* The next config to evaluate, none twice, before the results of earlier ones are known if need
     * be; false when it wants no more, or none until more results are told. */
    bool (*ask)(void *state, size_t *index);

    /* What it is likely to ask for when more results are told, likeliest first, at most so many;
     * returns how many. A strategy without this member cannot tell. */
    size_t (*likely_next)(const void *state, size_t *indices, size_t most);

    /* The result of one, asked for or not: its time in ns a launch if the outcome is AT_CORRECT. */
    void (*tell)(void *state, size_t index, enum at_outcome outcome, double time_ns);

    /* After an ask that was false: why it has stopped before the end of the space, which results
     * that are not told yet will not change; NULL if it has not. A strategy without this member
     * goes on to the end. */
    const char *(*reason)(const void *state);
    void (*destroy)(void *state);
};

enum { AT_NEXT_MAX = 8 }; /* asked of a strategy at a time */

extern const struct at_strategy *const at_strategies[]; /* NULL-ended; the first is the default */
extern const struct at_strategy at_strategy_exhaustive, at_strategy_guided, at_strategy_random;
at_choice_fn at_strategy_choice;

/* AT_USAGE for an unknown name, with those that are known. */
enum at_status at_strategy_find(const struct at_strategy **strategy, const char *name,
                                struct at_error *err);

#endif
