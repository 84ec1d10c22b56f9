/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_SEARCH_BAYESIAN_GUIDED_H
#define AT_SEARCH_BAYESIAN_GUIDED_H

#include "search/bayesian/acquisition.h"
#include "search/bayesian/coverage.h"
#include "search/landscape.h"
#include "search/numbers.h"

#include <stdbool.h>
#include <stddef.h>

struct at_patience {
    const struct at_numbers *numbers; /* borrowed */
    double copy_ns;                   /* the copy limit */
    bool searched_before;             /* this very problem was searched before */
    bool warm_start;                  /* winners of other problems are known */
    double gained_ns;                 /* the best time at the last improvement; INFINITY: none */
    size_t gained_at;                 /* the number of results then */
};

/* Take a result, of time INFINITY if it is not correct; `results` counts it and all before. True:
 * it is an improvement. */
bool at_patience_tell(struct at_patience *patience, double time_ns, size_t results);

/* Are launches short? Then DRAM does not limit a copy, and a transpose may be faster than it. */
bool at_patience_is_short(const struct at_patience *patience);

/* Is the best close to the copy limit, so that little can be gained? Never for short launches. */
bool at_patience_is_near_copy(const struct at_patience *patience);

/* Is nothing known that tells how much may be gained: no copy limit, or one that is far off? Never
 * if this problem was searched before. */
bool at_patience_is_unbounded(const struct at_patience *patience);

/* Does the best time reach the copy limit? */
bool at_patience_reaches_copy(const struct at_patience *patience, double best_ns);

/* Have enough results in a row brought no improvement, whatever is hoped for? */
bool at_patience_is_over(const struct at_patience *patience, size_t results);

/* Have enough if nothing is hoped for? Never if the copy limit tells how much may be gained. */
bool at_patience_may_end(const struct at_patience *patience, size_t results);

/* Does the search end now, because it has long found no improvement? Then expected gains and
 * coverage do not matter. Never if the possible gain is unknown. */
bool at_patience_is_exhausted(const struct at_patience *patience, size_t results);

/* Should the next config be drawn at random? Yes for every other one, after many results without
 * improvement; only for short launches, and not if the problem was searched before. */
bool at_patience_leaves_to_chance(const struct at_patience *patience, size_t results);

enum at_way { AT_WAY_MODEL, AT_WAY_AROUND, AT_WAYS };

struct at_turns {
    size_t taken[AT_WAYS];  /* configs asked for */
    size_t gained[AT_WAYS]; /* those that were faster than all before */
};

/* Is it the neighbours' turn? */
bool at_turns_go_around(const struct at_turns *turns);

struct at_calibration {
    double squares, weight; /* of the errors so far; the older an error, the less it weighs */
};

/* Take the error of a held-out prediction, in standard deviations that were predicted. */
void at_calibration_tell(struct at_calibration *calibration, double error);

/* Return the factor by which predicted standard deviations must be multiplied to match the observed
 * errors. */
double at_calibration_doubt(const struct at_calibration *calibration);

/* Should the search wait: are many results outstanding, or is one about to arrive? */
bool at_compiled_should_wait(const struct at_compiled *compiled, const struct at_landscape *land);

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

/* Is it a turn of coverage? */
bool at_guided_is_coverage_due(const struct at_guided *guided);

/* Mark in wanted, by config, the neighbours of the `centres` fastest configs that are not asked for
 * yet. False: there are none. */
bool at_surroundings_mark(const struct at_landscape *land, size_t centres, bool *wanted);

#endif
