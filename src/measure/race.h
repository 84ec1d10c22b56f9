/* SPDX-License-Identifier: Apache-2.0 */
/* Times kernels: trains of launches, comparable samples, and races. In a race the kernels take
 * turns in rounds, one sample of each, so that drifting clocks and memory affect all alike. */
#ifndef AT_MEASURE_RACE_H
#define AT_MEASURE_RACE_H

#include "measure/bench.h"
#include "measure/measurement.h"

/* ---- trains ---- */

/* Estimate one launch's time, to a microsecond or two. kernel is NULL for the driver's copy. */
enum at_outcome at_train_estimate(struct at_bench *bench, const struct at_kernel *kernel,
                                  const struct at_gpu_run *run, struct at_train_time *launch,
                                  struct at_error *err);

/* A train, and how many of its launches are timed. */
struct at_launches {
    struct at_train *train;
    int64_t count;
};

/* Make a train of the run's launches over its sets, each taking launch_ns: at least train_ns long,
 * and whole rounds of the sets. */
enum at_outcome at_train_build(struct at_bench *bench, const struct at_kernel *kernel,
                               const struct at_gpu_run *run, double launch_ns, int64_t train_ns,
                               struct at_launches *launches, struct at_error *err);

/* ---- samples ---- */

/* Which samples to take. */
struct at_sampling {
    struct at_launches launches;
    int64_t samples; /* samples to take */
    int64_t best_ns; /* launch time of the best so far; 0: unknown */
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

/* Take one sample without a warm-up. *again is how many samples may still be discarded; the caller
 * keeps it. */
enum at_outcome at_sample_once(struct at_bench *bench, const struct at_launches *launches,
                               int64_t *again, struct at_train_time *sample, struct at_error *err);

/* ---- races ---- */

enum { AT_RACERS_MAX = 64 };

/* One that takes part. The caller sets the first three. */
struct at_racer {
    struct at_gpu_run run;
    const void *what; /* for find */
    bool is_copy;     /* it is not verified; without `what` it is the driver's */

    /* Results. */
    bool tried;
    bool finished;                                  /* it was timed in all rounds */
    enum at_outcome outcome;                        /* if it was tried */
    struct at_kernel kernel;                        /* zeroes for the driver's copy */
    double ns[AT_SAMPLES_MAX], khz[AT_SAMPLES_MAX]; /* of one launch, by round */

    /* The race's own. */
    bool racing;                 /* it has not left */
    struct at_launches launches; /* train NULL: it has left, or others time it */
    int64_t again;               /* samples that may still be discarded */
    struct at_train_time last;   /* sample */
    int64_t sample_ns;           /* what taking that took */
};

struct at_race {
    struct at_bench *bench; /* prepared */
    /* Find a racer's kernel on the bench's device, and fill in racer->kernel. */
    enum at_outcome (*find)(void *owner, struct at_racer *racer, struct at_error *err);
    void *owner;
    int64_t train_ns;        /* least duration of a train */
    struct at_racer *racers; /* at most AT_RACERS_MAX */
    size_t count;

    /* Results. */
    size_t rounds; /* 0: the race was not held to its end */
    size_t winner; /* of at_race_rivals */
    bool lost;     /* the device can no longer be used */
};

/* Hold a race of this many rounds after one to warm up. All take part to the end, and fail if one
 * does. */
enum at_outcome at_race_all(struct at_race *race, size_t rounds, struct at_error *err);

/* With fewer rounds against the clock nothing is known, and more change little. */
enum { AT_RACE_ROUNDS_LEAST = 5, AT_RACE_ROUNDS_MAX = 15 };

/* The places of the incumbent and of the copy; rivals follow. */
enum { AT_RACE_INCUMBENT, AT_RACE_COPY, AT_RACE_RIVALS };

/* Hold a race until deadline_ns, on at_now_ns's clock. The racers are the incumbent, a
 * copy, and rivals, the likeliest winner first. Each kernel is verified
 * before it takes part, and a rival does as long as there is time for it and for the least number
 * of rounds. After each round the slower half of many rivals leaves. A failure makes the results
 * fewer. race->winner is the incumbent, unless a rival is faster as at_race_winner says; it was
 * verified once more. */
void at_race_rivals(struct at_race *race, int64_t deadline_ns, struct at_error *err);

/* Only find and verify the incumbent and the rivals, in their order, while there is time for one
 * more. Of those that are right, last.ns is the time of a launch, to a few percent. */
void at_race_verify(struct at_race *race, int64_t deadline_ns, struct at_error *err);

/* Let the slower half of many rivals go, so that the others are timed more often, and those that
 * are hopeless, by the samples of so many rounds. */
void at_race_thin_out(struct at_race *race, size_t rounds);

/* Free the trains. */
void at_race_end(struct at_race *race);

/* Return the winner of these, by their samples of `rounds` rounds: the fastest. If the first is the
 * incumbent, the fastest must beat it by 0.3 %, beyond the noise. */
size_t at_race_winner(const double *const *samples_ns, size_t count, size_t rounds,
                      bool has_incumbent);

#endif
