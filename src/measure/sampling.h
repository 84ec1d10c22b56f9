/* SPDX-License-Identifier: Apache-2.0 */
/* Taking samples that can be compared: after a warm-up, and none from a moment in which the
 * device's clocks were lower than they usually are in this run. */
#ifndef AT_MEASURE_SAMPLING_H
#define AT_MEASURE_SAMPLING_H

#include "measure/bench.h"

/* What is wanted of a train. */
struct at_sampling {
    struct at_train *train;
    int64_t launches; /* that are timed */
    int64_t samples;  /* two or more, or one */
    int64_t best_ns;  /* one launch of the best so far; 0: it is not known */
};

/* Times a train so many times, or less often if it is slower than the best; ns[i] is the time of
 * one of its launches, *taken how many there are.
 *
 * Warm-up: the first sample counts if it is so slow that there is no second, or if the second
 * agrees with it to 1 %; else it is dropped, the second is the first one, and so on, four times at
 * most. Of one sample that is asked for nobody knows if it was warm.
 *
 * Low clocks: a sample whose mean clock is more than 3 % below the median of the last 64 samples,
 * whatever they were samples of, is discarded and taken again; at most as many as were asked for,
 * and then they are kept. The median is one of what was discarded too. So where a power limit holds
 * the clocks down for good, they are soon the usual ones; and of a kernel that draws more power
 * than others, and always runs at lower clocks, the samples are kept in the end, for that is how it
 * runs.
 *
 * bench->discarded counts those of the second kind. */
enum at_outcome at_sample(struct at_bench *bench, const struct at_sampling *wanted, double *ns,
                          int64_t *taken, struct at_error *err);

/* One sample, of a launch, in a round of several trains that take turns: without a warm-up. *again
 * is how many more may be discarded, which is the caller's to keep. */
enum at_outcome at_sample_once(struct at_bench *bench, struct at_train *train, int64_t launches,
                               int64_t *again, struct at_train_time *sample, struct at_error *err);

#endif
