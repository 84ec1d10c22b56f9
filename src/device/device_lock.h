/* SPDX-License-Identifier: Apache-2.0 */
/* One run at a time on one GPU: two would slow each other down, and each would report the other's
 * load as its own times.
 *
 * The lock is flock(2) on the GPU's special file (device/gpu_node.h). Each user of the GPU can open
 * that file, so the lock holds between users, logins and containers that share the file, and
 * nothing has to be written anywhere. The system unlocks it however the process ends. The instances
 * of a GPU that is split (MIG) share one file: they are tuned one at a time. Emulated devices,
 * whose times are predicted, have no lock. */
#ifndef AT_DEVICE_DEVICE_LOCK_H
#define AT_DEVICE_DEVICE_LOCK_H

#include "base/error.h"
#include "device/info.h"
#include "system/progress.h"

#include <stdbool.h>

struct at_device_lock;

/* Takes the lock. Where another process has it, waits, which it says, or fails with AT_DEVICE; both
 * name the process where the system tells it. A signal ends the waiting with AT_INTERRUPTED. Where
 * the special file cannot be found, opened or locked it warns, and *lock is NULL. */
enum at_status at_device_lock_take(struct at_device_lock **lock, const struct at_device_info *info,
                                   bool wait, struct at_progress *progress, struct at_error *err);

void at_device_lock_release(struct at_device_lock *lock);

#endif
