/* SPDX-License-Identifier: Apache-2.0 */
/* Compares strategies: many seeded replays of each on each recording, in figures. */
#ifndef AT_REPLAY_COMPARE_H
#define AT_REPLAY_COMPARE_H

#include "replay/replay.h"
#include "schema/schema.h"
#include "system/progress.h"

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
    bool winners_known; /* each search starts from the best configs of the other recordings */
    struct at_progress *progress; /* NULL: show none */
};

/* How long it took to come within a percentage of the optimum. 0: more than half (median) or 5 %
 * (p95) of the runs never did. Times are 0 too if the recording does not tell what an evaluation
 * took. */
struct at_reach_record {
    int64_t within_percent;
    int64_t median_evaluations, p95_evaluations;
    int64_t median_ms, p95_ms;
};

/* The best after some evaluations: how much slower than the optimum, in millionths, in the mean of
 * the searches. A search without a correct result counts as the slowest correct config. */
struct at_curve_record {
    int64_t evaluations, ms, behind_ppm;
};

struct at_strategy_record {
    char name[32];
    int64_t runs;
    struct at_list reaches; /* 5, 1 and 0 percent */
    struct at_list curve;   /* of struct at_curve_record, as asked for */
    int64_t score_permille;
    int64_t stopped;             /* runs that the strategy itself ended */
    int64_t stopped_evaluations; /* median evaluations of those runs */
    int64_t stopped_mean;        /* the mean */
    int64_t ended_within_1_percent;
};

struct at_compared_recording {
    char *problem, *device;
    int64_t configs, optimum_ns;
    struct at_list strategies; /* of struct at_strategy_record */
};

struct at_comparison {
    struct at_list recordings; /* of struct at_compared_recording */
    struct at_list all;        /* of struct at_strategy_record: medians over the recordings, means
                                  of scores, curves and mean stops, sums of runs */
};

extern const struct at_schema at_comparison_schema;

/* Run the comparison. AT_USAGE if a family's parameters differ between recordings. */
enum at_status at_compare(struct at_comparison *comparison, const struct at_recording *recordings,
                          char *const *names, size_t count,
                          const struct at_comparison_options *options, struct at_error *err);

#endif
