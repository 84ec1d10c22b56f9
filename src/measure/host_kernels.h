/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of templates/harness.cu as functions, for a device whose memory is the host's. An
 * emulated device runs a kernel a hundred times slower, and checks were most of what it did. */
#ifndef AT_MEASURE_HOST_KERNELS_H
#define AT_MEASURE_HOST_KERNELS_H

#include "device/device.h"

#include <stdint.h>

enum at_harness_kernel {
    AT_POISON,
    AT_FILL_SOURCE,
    AT_FILL_SECOND,
    AT_CHECK,
    AT_CHECK_TENSOR,
    AT_CHECK_SOURCE,
    AT_HARNESS_KERNELS
};

/* Each takes the words of the kernel's arguments and finds its buffers by the device's `view`,
 * whose failure it returns. */
typedef enum at_outcome at_host_kernel(struct at_device *device, const uint64_t *args,
                                       struct at_error *err);

/* Which of AT_STEP_SETS sets of numbers a channel has. */
size_t at_harness_set(int64_t channel);

extern at_host_kernel *const at_host_kernels[AT_HARNESS_KERNELS];

#endif
