/* SPDX-License-Identifier: Apache-2.0 */
/* Tunes one problem: copies, search, shoot-out, profile entry. */
#ifndef AT_TUNE_TUNE_H
#define AT_TUNE_TUNE_H

#include "pipeline/session.h"
#include "pipeline/shootout.h"
#include "profile/profile.h"
#include "profile/profiles.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A space with more legal configs is refused: it would not fit the main process's memory. */
enum { AT_SPACE_MAX = 500000 };

/* The problem's place in the run. */
struct at_tune_place {
    size_t index, of;          /* for the progress line */
    int64_t run_ends_ns;       /* for it too: when the run's budget is spent; 0: never */
    struct at_meanwhile ahead; /* while the GPU times and verifies the finalists */
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

/* What a profile's record of a contestant is made of. */
struct at_timed at_tune_timed(const struct at_contestant *contestant,
                              const struct at_session *session);

/* Fill a device's record: device, environment, policy and what NVML has reported so far. */
void at_tune_record_device(struct at_device_record *record, const struct at_session *session);

/* Give the builder the configs that the next search, of this problem, asks for before its first
 * result. The compile workers compile them while the GPU runs another problem's shoot-out, or the
 * first problem's copies. evaluations: how many it may make; 0: no limit. */
void at_tune_ahead(struct at_session *session, const struct at_problem *problem,
                   int64_t evaluations);

/* The same for the problem's copies, while the device opens. */
void at_copies_ahead(struct at_session *session, const struct at_device_info *device,
                     const struct at_problem *problem, int64_t evaluations);

extern const char at_copy_family[];

/* Find the best copies for a problem, by a search or from the session's memory. progress is the
 * problem's own. A search cut short by the budget or an interrupt gives the best it has. */
enum at_status at_copies_find(struct at_session *session, const struct at_problem *problem,
                              const struct at_budget *budget,
                              const struct at_progress_state *progress, struct at_copies *copies,
                              struct at_error *err);

/* Add the winners on devices of the same architecture, nearest device model first, to the session's
 * warm start, and the fastest copies to that of the copies. `now` is this run's device with its
 * environment and policy. Winners without a config in the session's families are left out. A time
 * is taken over if the device, the software, the policy and the kernel are the same now. Returns
 * how many winners were added. */
size_t at_warm_profiles_read(struct at_session *session, const struct at_profiles *profiles,
                             const struct at_device_record *now);

/* List the winners that a profile has for this model and policy, whatever its software, as the
 * session's incumbents. */
void at_incumbents_read(struct at_session *session, const struct at_profile *profile,
                        const struct at_device_record *now);

/* Add the winners and copies of entries that other devices of this model have just made. Their
 * times are those devices' own, and are not taken over. */
void at_warm_profiles_add(struct at_session *session, const struct at_list *entries);

#endif
