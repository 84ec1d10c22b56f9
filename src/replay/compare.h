/* SPDX-License-Identifier: Apache-2.0 */
/* Compares strategies: many seeded replays of each on each recording, in figures. */
#ifndef AT_REPLAY_COMPARE_H
#define AT_REPLAY_COMPARE_H

#include "replay/replay.h"
#include "system/progress.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_comparison_options {
    const struct at_strategy *const *strategies;
    size_t strategy_count;
    size_t runs;
    uint64_t seed; /* of the first run; each next run adds one */
    size_t ahead;
    size_t budget;
    int threads;
    const size_t *curve; /* evaluations after which the best is told */
    size_t curve_count;
    const int64_t *times_ns; /* times after which it is told */
    size_t time_count;
    bool draw;                        /* make the points of pictures too */
    const struct at_numbers *numbers; /* of guided; NULL: the chosen ones */
    bool winners_known; /* each search starts from the best configs of the other recordings */
    struct at_progress *progress; /* NULL: show none */
};

/* How long it took to come within a percentage of the optimum. 0: more than half (median) or 5 %
 * (p95) of the runs never did. Times are 0 too if the recording has no times of evaluations. */
struct at_reach_record {
    int64_t within_percent;
    int64_t median_evaluations, p95_evaluations;
    int64_t median_ms, p95_ms;
};

struct at_strategy_record {
    char name[32]; /* or "held out": guided with the numbers chosen without this kind of space */
    int64_t runs;
    struct at_list reaches; /* 5, 1 and 0 percent */
    /* The requested points: items are of struct at_curve_record. */
    struct at_list curve, curve_of_time;
    struct at_list drawn, drawn_of_time; /* of a picture */
    int64_t score_permille;
    int64_t stopped;             /* runs that the strategy itself ended */
    int64_t stopped_evaluations; /* median evaluations of those runs */
    int64_t stopped_mean;        /* the mean */
    int64_t wasted_permille;     /* of these, after the best was found; mean of those runs */
    int64_t ended_within_1_percent;
};

struct at_compared_recording {
    char *problem, *device, *kind;              /* at_recording_kind */
    int64_t configs, optimum_ns, evaluation_ns; /* evaluation_ns: the mean; 0: unknown */
    struct at_list strategies;                  /* of struct at_strategy_record */
};

struct at_comparison {
    struct at_list recordings; /* of struct at_compared_recording */
    struct at_list all;        /* of struct at_strategy_record: medians over the recordings, means
                                  of scores, curves, mean stops and waste, sums of runs */
};

extern const struct at_schema at_comparison_schema;

/* Run the comparison. If the numbers of guided were chosen on spaces of the same kind as one of the
 * recordings, its line is followed by another one, with those chosen without that kind. AT_USAGE if
 * a family's parameters differ between recordings. */
enum at_status at_compare(struct at_comparison *comparison, const struct at_recording *recordings,
                          char *const *names, size_t count,
                          const struct at_comparison_options *options, struct at_error *err);

#endif
