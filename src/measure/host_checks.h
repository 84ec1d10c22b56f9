/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of templates/harness.cu as functions, for a device whose memory is the host's. An
 * emulated device runs a kernel a hundred times slower, and checks were most of what it did. */
#ifndef AT_MEASURE_HOST_CHECKS_H
#define AT_MEASURE_HOST_CHECKS_H

#include "device/device.h"

/* Each takes the words of the kernel's arguments and finds its buffers by the device's `view`,
 * whose failure it returns. */
typedef enum at_outcome at_host_check(struct at_device *device, const uint64_t *args,
                                      struct at_error *err);

at_host_check at_host_poison, at_host_fill_source, at_host_check_matrix, at_host_check_tensor,
    at_host_check_source;

#endif
