/* SPDX-License-Identifier: Apache-2.0 */
/* What libautotune has of its process: one lock, and what a fork leaves of it. */
#ifndef AT_LIB_PROCESS_H
#define AT_LIB_PROCESS_H

#include "base/error.h"
#include "base/guard.h"

/* Held while libcuda, NVML and NVRTC are opened, and while NVRTC compiles; also released when
 * memory runs out. AT_DEVICE where autotune_check_process says so. */
enum at_status autotune_lock(struct at_cleanup *lock, struct at_error *err);
void autotune_unlock(struct at_cleanup *lock);

/* CUDA does not survive a fork, and neither does what another thread was about to do with it:
 * AT_DEVICE in a child whose parent had either. */
enum at_status autotune_check_process(struct at_error *err);

#endif
