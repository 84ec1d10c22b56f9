/* SPDX-License-Identifier: Apache-2.0 */
/* A lock that allows one run at a time on a GPU: two runs would slow each other down, and both
 * would measure wrong times.
 *
 * The lock is flock(2) on the GPU's special file (device/gpu_node.h). Every user of the GPU can
 * open that file, so the lock works between users, logins and containers that share it, and no
 * other file is needed. The system unlocks it however the process ends. The instances of a split
 * GPU (MIG) share one file and are tuned one at a time. Emulated devices have no lock: their times
 * are predicted. */
#ifndef AT_DEVICE_DEVICE_LOCK_H
#define AT_DEVICE_DEVICE_LOCK_H

#include "base/error.h"
#include "device/info.h"
#include "system/progress.h"

#include <stdbool.h>

struct at_device_lock;

/* Take the lock. If another process has it, print a note and wait, or fail with AT_DEVICE if not
 * `wait`. Both messages name the process if it is known. A signal ends the waiting with
 * AT_INTERRUPTED. If the special file cannot be found, opened or locked, print a warning, set *lock
 * to NULL and return AT_OK. */
enum at_status at_device_lock_take(struct at_device_lock **lock, const struct at_device_info *info,
                                   bool wait, struct at_progress *progress, struct at_error *err);

void at_device_lock_release(struct at_device_lock *lock); /* legal on NULL */

#endif
