/* SPDX-License-Identifier: Apache-2.0 */
/* Takes comparable samples: after a warm-up, and none from a moment in which the device's clocks
 * were lower than usual in this run. */
#ifndef AT_MEASURE_SAMPLING_H
#define AT_MEASURE_SAMPLING_H

#include "measure/bench.h"

/* Which samples to take of a train. */
struct at_sampling {
    struct at_train *train;
    int64_t launches; /* timed launches */
    int64_t samples;  /* samples to take */
    int64_t best_ns;  /* launch time of the best so far; 0: unknown */
};

/* Time a train wanted->samples times, or less often if it is slower than the best. samples[i].ns is
 * the time of one of its launches; *taken is how many samples there are.
 *
 * Warm-up: the first sample counts if it is so slow that no second is taken, or if the second
 * agrees with it to 1 %. Otherwise it is dropped, the second becomes the first, and so on, four
 * times at most. A single sample gets no warm-up check.
 *
 * Low clocks: a sample whose mean clock is more than 3 % below the median of the last 64 samples,
 * of any kernel, is discarded and taken again. At most as many are discarded as were requested;
 * then they are kept. The median includes discarded samples. So when a power limit lowers the
 * clocks for good, the low clocks soon become the usual ones. The samples of a kernel that draws
 * more power and always runs at lower clocks are kept in the end, because that is how it runs.
 *
 * bench->discarded counts samples discarded for low clocks. */
enum at_outcome at_sample(struct at_bench *bench, const struct at_sampling *wanted,
                          struct at_train_time *samples, int64_t *taken, struct at_error *err);

/* Take one sample without a warm-up, for rounds in which several trains take turns. *again is how
 * many samples may still be discarded; the caller keeps it. */
enum at_outcome at_sample_once(struct at_bench *bench, struct at_train *train, int64_t launches,
                               int64_t *again, struct at_train_time *sample, struct at_error *err);

#endif
