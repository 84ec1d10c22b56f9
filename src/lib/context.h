/* SPDX-License-Identifier: Apache-2.0 */
/* The contexts of the library's callers. */
#ifndef AT_LIB_CONTEXT_H
#define AT_LIB_CONTEXT_H

#include "device/cuda/driver.h"
#include "device/info.h"

#include <stdbool.h>

struct autotune_context {
    CUcontext handle;      /* NULL: none */
    unsigned long long id; /* no other context of the process ever has it; 0: the driver has none */
};

/* AT_DEVICE, with what was done and what CUDA says, unless the result is CUDA_SUCCESS. */
enum at_status autotune_check_cuda(CUresult result, const char *doing, struct at_error *err);

/* Find the current context and its device. If none is current, it is the first device with its
 * primary context, which is made if need be, and stays. It does not become current. `context` may
 * be NULL: then none is made. */
enum at_status autotune_find_current(struct at_device_info *info, struct autotune_context *context,
                                     struct at_error *err);

/* Does the context still exist? Without ids nobody knows, and the answer is yes. */
bool autotune_context_exists(const struct autotune_context *context);

/* Make the context current. *entered tells whether another one was; autotune_leave() then makes
 * that one current again. */
enum at_status autotune_enter(const struct autotune_context *context, bool *entered,
                              struct at_error *err);
void autotune_leave(bool entered);

#endif
