/* SPDX-License-Identifier: Apache-2.0 */
/* Tunes one problem: copies, search, shoot-out, profile entry. */
#ifndef AT_TUNE_TUNE_H
#define AT_TUNE_TUNE_H

#include "pipeline/session.h"
#include "pipeline/shootout.h"
#include "profile/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A space with more legal configs is refused: it would not fit the main process's memory. */
enum { AT_SPACE_MAX = 500000 };

/* The problem's place in the run. */
struct at_tune_place {
    size_t index, of;    /* for the progress line */
    int64_t run_ends_ns; /* for it too: when the run's budget is spent; 0: never */
    at_meanwhile *ahead; /* work while the GPU times and verifies the finalists */
    void *state;
};

/* Return how long a problem takes, compared with others on the device. */
double at_tune_weight(const struct at_problem *problem, const struct at_device_info *device);

/* Tune one problem. AT_OK: the entry is filled, and the caller clears it with the profile;
 * entry->ended tells if the budget or an interrupt cut the search short. AT_INTERRUPTED: either
 * came before anything was measured. AT_FAILED: the space is empty, no config is correct, or the
 * shoot-out failed; err has the counts. Any other status: the run cannot go on. */
enum at_status at_tune_problem(struct at_session *session, const struct at_problem *problem,
                               const struct at_budget *budget, struct at_tune_place place,
                               struct at_entry *entry, struct at_error *err);

/* Fill a device's record: device, environment, policy and what NVML has reported so far. */
void at_tune_record_device(struct at_device_record *record, const struct at_session *session);

/* Give the builder the configs that the next search, of this problem, asks for before its first
 * result. The compile workers compile them while the GPU runs another problem's shoot-out, or the
 * first problem's copies. evaluations: how many it may make; 0: no limit. */
void at_tune_ahead(struct at_session *session, const struct at_problem *problem,
                   int64_t evaluations);

/* ---- the contestants of a shoot-out, and its winner ---- */

/* First the finalists, with the default config among them, then the copies, the driver's copy
 * last. */
struct at_finals {
    struct at_contestant contestants[AT_CONTESTANTS_MAX];
    size_t count, finalists;
    size_t fallback;  /* index of the default config; SIZE_MAX: it has no time */
    size_t incumbent; /* index of the config that the profile has; SIZE_MAX: none takes part */
};

/* Remove the contestants that have no chance by their present times. The fastest few finalists, the
 * default, the incumbent, the fastest copy and the driver's copy stay. */
void at_finals_keep(struct at_finals *finals);

/* Configs whose times cannot be told apart are equal. The simplest of them wins, so that noise does
 * not choose, and another run names the same one. */

/* Return the winner among the timed finalists (kernels with `samples` samples each) that are not
 * refused; SIZE_MAX if all are. It is not slower than the default and the incumbent.
 *
 * A contestant is equal to the fastest as at_samples_equal says: it is at most half a percent
 * slower, and the 95 % interval of the median of their paired ratios, round by round, contains 1.
 * The simplest is, in this order: the default config; the preferred family; the fewest parameters
 * off the family's defaults; the fewest registers; the least shared memory; the faster. */
size_t at_finals_winner(const struct at_finals *finals, size_t samples, const bool *refused);

#endif
