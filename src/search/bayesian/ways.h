/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a guided search (guided.c), and the ways in which it chooses a config (ways.c). */
#ifndef AT_SEARCH_BAYESIAN_WAYS_H
#define AT_SEARCH_BAYESIAN_WAYS_H

#include "search/bayesian/acquisition.h"
#include "search/bayesian/calibration.h"
#include "search/bayesian/compiled.h"
#include "search/bayesian/coverage.h"
#include "search/bayesian/design.h"
#include "search/bayesian/patience.h"
#include "search/bayesian/turns.h"
#include "search/starts.h"

/* Why a config is asked for: by the initial design, which knows no prediction; for what is expected
 * of it; or by a rule, whatever is expected. */
enum at_basis { AT_BASIS_DESIGN, AT_BASIS_EXPECTATION, AT_BASIS_RULE };

/* What is kept of a config that was asked for. */
struct at_request {
    enum at_basis basis;
    enum at_way way;               /* if it is not of the initial design */
    struct at_prediction held_out; /* its prediction, if that is a test */
};

struct at_guided {
    struct at_numbers numbers;
    struct at_landscape land;
    struct at_starts starts;
    struct at_acquisition *acquisition;
    struct at_patience patience;
    size_t winner;    /* the winner of an earlier search of this problem */
    double winner_ns; /* its time, if it still holds; 0: it may not */
    struct at_compiled compiled;
    struct at_design design;
    bool *uncovered; /* by config: it is asked for; updated when needed */
    struct at_value_turns value_turns;
    size_t centre;          /* the config whose neighbours are candidates; SIZE_MAX: none yet */
    bool stale;             /* results have come in since the last update */
    struct at_request last; /* the config that was asked for last */
    struct at_request *requests; /* by config */
    struct at_calibration calibration;
    struct at_turns turns;
    const char *reason;
};

/* List the configs with the greatest expected improvement, among the wanted ones (NULL: all). */
size_t at_guided_promising(struct at_guided *guided, const bool *wanted,
                           struct at_improvement improvements[AT_COMPILED_CHOICE]);

/* Take the config with the greatest expected improvement among those that coverage asks for; false:
 * there is none. */
bool at_guided_take_uncovered(struct at_guided *guided, size_t *index);

/* Is it a turn of coverage? */
bool at_guided_is_coverage_due(const struct at_guided *guided);

/* Take a neighbour of the best config, unless that is near the copy limit. So a search ends with a
 * config that is better than all that differ in one parameter. */
bool at_guided_take_neighbour(struct at_guided *guided, size_t *index);

/* Take the neighbour of the fastest configs with the greatest expected improvement, if it is their
 * turn. */
bool at_guided_take_surroundings(struct at_guided *guided, size_t *index);

/* Predict what is taken next, likeliest first, at most `most`: by turns of the greatest expected
 * improvement, coverage, and the surroundings of the fastest configs. Returns how many. */
size_t at_guided_next(const struct at_guided *guided, size_t *indices, size_t most);

#endif
