/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the winners of earlier runs from profiles into the warm start. */
#ifndef AT_TUNE_WARM_PROFILES_H
#define AT_TUNE_WARM_PROFILES_H

#include "pipeline/session.h"
#include "profile/profiles.h"

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
