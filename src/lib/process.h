/* SPDX-License-Identifier: Apache-2.0 */
/* The library's lock, and what it does about forks. */
#ifndef AT_LIB_PROCESS_H
#define AT_LIB_PROCESS_H

#include "base/error.h"
#include "base/guard.h"

/* Take the lock, which is held while libcuda, NVML and NVRTC are opened and while NVRTC compiles.
 * It is released if memory runs out. Fails as autotune_check_process does. */
enum at_status autotune_lock(struct at_cleanup *lock, struct at_error *err);

/* The same without that check, for what needs no CUDA. */
void autotune_lock_anyway(struct at_cleanup *lock);
void autotune_unlock(struct at_cleanup *lock);

/* AT_DEVICE in a forked child whose parent had used CUDA, or in which another thread was about to:
 * CUDA does not survive a fork. */
enum at_status autotune_check_process(struct at_error *err);

#endif
