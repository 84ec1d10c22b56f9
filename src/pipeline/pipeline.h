/* SPDX-License-Identifier: Apache-2.0 */
/* The pipeline passes a strategy's configs through journal, builder and GPU worker, which all work
 * at the same time. It ends when the strategy has no more, the budget is spent or the user
 * interrupts. */
#ifndef AT_PIPELINE_PIPELINE_H
#define AT_PIPELINE_PIPELINE_H

#include "pipeline/session.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The search's result for one config of the space. */
struct at_config_result {
    bool started, done;
    enum at_outcome outcome;
    double time_ns;     /* median of the search's samples, if correct */
    double expected_ns; /* what the strategy predicted when it asked for it; 0: nothing */
};

struct at_search {
    struct at_session *session;
    struct at_problem problem;
    struct at_space space;
    const struct at_strategy *strategy;
    struct at_start start;
    struct at_budget budget;
    struct at_progress_state progress; /* the caller sets what, index, of, and of_copy's base */
    bool for_copies;                   /* it searches the problem's copies */
    double copy_ns;                    /* the fastest copy so far; 0: unknown */
    double limit_ns;                   /* the driver's copy included; 0: unknown */
    const struct at_config *canary;    /* its kernel is timed repeatedly; NULL: none; borrowed */
    struct at_problem canary_problem;
    struct at_recorded *recorded; /* by config, for a recording; NULL: none is made */
    int64_t recorded_ns;          /* when the last of them came */
    struct at_meanwhile ahead;    /* while the GPU times and verifies the finalists */

    /* Results. */
    struct at_config_result *results; /* one per config of the space, in its order */
    size_t counts[AT_OUTCOMES];
    size_t best;           /* index; valid if counts[AT_CORRECT] > 0 */
    size_t measured_twice; /* suspiciously fast results, which were measured twice */
    bool complete;         /* every config of the space has been evaluated */
    const char *reason;    /* why the strategy stopped early; NULL: it did not */
    struct at_phase_time took;
};

/* Run the search over search->space; `first` is evaluated first (an index; SIZE_MAX: none). Fails
 * only if the run cannot go on: the device or the journal is lost. An interrupt is no failure;
 * at_interrupt_seen tells. */
enum at_status at_pipeline_run(struct at_search *search, size_t first, struct at_error *err);

/* Return the place of a config in the space; SIZE_MAX: it is not in it. */
size_t at_search_find(const struct at_search *search, const struct at_config *config);

/* Has this search measured the config at this place (SIZE_MAX: outside the space), and was it
 * correct? */
bool at_search_found_correct(const struct at_search *search, size_t index);

/* File that a correct config has failed a later verification. It is no longer correct. */
void at_search_refuse(struct at_search *search, size_t index, const struct at_measurement *failure);

/* File the times of a shoot-out's finalist; `place` is 0 for the first that is filed. */
void at_search_file_final(const struct at_search *search, const struct at_config *config,
                          const double *samples_ns, int64_t place, bool won);

/* Free results and space. */
void at_search_clear(struct at_search *search);

/* List the indices of the fastest correct configs, fastest first, at most `most`. Equal times keep
 * the space's order. Returns how many. */
size_t at_rank_best(const struct at_search *search, size_t *best, size_t most);

/* ---- recordings ---- */

/* Make the folder if needed, and check that files can be written there. */
enum at_status at_recorder_prepare(const char *dir, struct at_error *err);

/* Make the search keep every config's samples. */
void at_recorder_begin(struct at_search *search);

/* Write DIR/DEVICE-PROBLEM.recording of the search, which took duration_ns. If it is not complete,
 * warn instead. */
enum at_status at_recorder_write(const struct at_search *search, const char *dir,
                                 int64_t duration_ns, struct at_error *err);

/* ---- drift of the device, and times that are too good ---- */

/* A config that is timed again and again: if its time changes, the device has changed. */
struct at_canary {
    double reference_ns; /* its time; 0: unknown */
    size_t *touched;     /* configs measured since then */
    size_t count, capacity;
};

/* Note that a config was measured. */
void at_canary_touch(struct at_canary *canary, size_t index);

/* Compare the canary's time with the time before. True: they differ by more than 3 %, and the
 * touched configs must be measured again; the caller takes their list, *touched, and frees it. The
 * new time is the reference from now on, so a lasting change is reported once. */
bool at_canary_drifted(struct at_canary *canary, double now_ns, size_t **touched, size_t *count);

void at_canary_clear(struct at_canary *canary);

/* Is a time too good to be believed? It is if it would be the best one (best_ns: the best of the
 * others; 0: none) and is more than 5 % below the copy limit (copy_ns; 0: unknown), where no
 * transpose of data from DRAM should be, or more than 20 % below best_ns. */
bool at_is_suspicious(double time_ns, double copy_ns, double best_ns);

#endif
