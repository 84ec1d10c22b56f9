/* SPDX-License-Identifier: Apache-2.0 */
/* Tuning one problem from beginning to end: copies, search, shoot-out, and the record of it. */
#ifndef AT_TUNE_TUNE_H
#define AT_TUNE_TUNE_H

#include "pipeline/session.h"
#include "profile/profile.h"

/* More legal configs than this in one space are refused: they would not fit the driver's memory. */
enum { AT_SPACE_MAX = 500000 };

/* The problem's place in the run. */
struct at_tune_place {
    size_t index, of;              /* for the progress line */
    const struct at_problem *next; /* whose first configs are compiled ahead; NULL: there is none */
};

/* AT_OK: the entry is filled, and the caller clears it with the profile; entry->complete is 0 if
 * the search was cut short by the budget or an interrupt. AT_INTERRUPTED: either came before
 * anything was measured. AT_FAILED: the space is empty, no config of it is correct, or the
 * shoot-out failed; err says how they ended. Anything else: the run cannot go on. */
enum at_status at_tune_problem(struct at_session *session, const struct at_problem *problem,
                               const struct at_budget *budget, struct at_tune_place place,
                               struct at_entry *entry, struct at_error *err);

/* Fills the record's device, environment, policy and what NVML has seen so far. */
void at_tune_describe(struct at_session *session, struct at_device_record *record);

#endif
