/* SPDX-License-Identifier: Apache-2.0 */
/* What plans have learnt by measuring: a store of the process, and its file ("wisdom"). */
#ifndef AT_LIB_LEARNT_H
#define AT_LIB_LEARNT_H

#include "lib/objects.h"
#include "profile/entry.h"

/* What a plan of this process has measured: a profile entry. The latest are found first. Several
 * threads may use them at once. An entry that is kept never changes, and lives as long as the store
 * or a plan holds it. */
struct autotune_learnt;

/* Make an entry, of a record without problems; takes what both own. The caller holds it until it
 * drops it. */
struct autotune_learnt *autotune_learnt_new(struct at_device_record record, struct at_entry entry);

/* Hold an entry no longer; NULL is none. The last that does so frees it. */
void autotune_learnt_drop(struct autotune_learnt *learnt);

/* The store too holds the entry, until autotune_wisdom_forget. Allocates nothing, so that it can be
 * the last step of a call: what a call has allocated is freed if memory runs out later in it. */
void autotune_learnt_keep(struct autotune_learnt *learnt);

/* Find what was learnt of the answer's problem, model of device and policy, if its config is legal
 * with the profile's families. Fills answer->answer, which borrows from the entry that is returned.
 * The caller holds it until it drops it. NULL: nothing was learnt. */
struct autotune_learnt *autotune_learnt_find(struct autotune_answer *answer,
                                             const autotune_profile *profile);

#endif
