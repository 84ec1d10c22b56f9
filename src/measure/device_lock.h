/* SPDX-License-Identifier: Apache-2.0 */
/* One run at a time on one GPU: two would slow each other down, and each would report the other's
 * load as its own times. The lock is a file of the user's, by the device's UUID, that the system
 * unlocks however the process ends; in it is the process that has it. Emulated devices, whose times
 * are predicted, have none. */
#ifndef AT_MEASURE_DEVICE_LOCK_H
#define AT_MEASURE_DEVICE_LOCK_H

#include "base/error.h"
#include "base/progress.h"
#include "device/info.h"

#include <stdbool.h>

struct at_device_lock;

/* Takes it. Where another process has it, waits, which it says, or fails with AT_DEVICE; both name
 * the process. A signal ends the waiting with AT_INTERRUPTED. Where there is no place for the file
 * it warns, and *lock is NULL. */
enum at_status at_device_lock_take(struct at_device_lock **lock, const struct at_device_info *info,
                                   bool wait, struct at_progress *progress, struct at_error *err);

void at_device_lock_release(struct at_device_lock *lock);

#endif
