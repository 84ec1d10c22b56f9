/* SPDX-License-Identifier: Apache-2.0 */
/* The library's lock, turns, and what it does about forks. */
#ifndef AT_LIB_PROCESS_H
#define AT_LIB_PROCESS_H

#include "base/error.h"
#include "base/memory.h"

/* Take the lock, which protects what the process has once: the handles of libcuda, NVML and NVRTC,
 * what plans have measured, and turns. It is held for short changes only, never while a kernel is
 * compiled or measured. It is released if memory runs out. Fails as autotune_check_process does. */
enum at_status autotune_lock(struct at_cleanup *lock, struct at_error *err);

/* The same without that check, for what needs no CUDA. */
void autotune_lock_anyway(struct at_cleanup *lock);
void autotune_unlock(struct at_cleanup *lock);

/* What only one thread at a time may do for long, such as measuring on one device. */
struct autotune_turn {
    char of[48]; /* a device's UUID, or a hash of what is asked or loaded */
    struct autotune_turn *next;
    struct at_cleanup cleanup;
};

/* Take the turn of this name, and wait while another thread has it. The caller does not hold the
 * lock, and has found a device, so that no forked child comes here. The turn ends if memory runs
 * out. */
void autotune_turn_take(struct autotune_turn *turn, const char *of);
void autotune_turn_end(struct autotune_turn *turn);

/* AT_DEVICE in a forked child whose parent had used CUDA, or in which another thread was about to:
 * CUDA does not survive a fork. */
enum at_status autotune_check_process(struct at_error *err);

#endif
