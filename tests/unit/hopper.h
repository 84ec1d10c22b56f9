/* SPDX-License-Identifier: Apache-2.0 */
/* What a device of compute capability 9.0 offers to a block and a multiprocessor. */
#ifndef AT_TESTS_HOPPER_H
#define AT_TESTS_HOPPER_H

#include "device/info.h"

/* Members of struct at_device_info. */
#define HOPPER                                                                                     \
    .compute_capability = 90, .warp_size = 32, .max_threads_per_block = 1024,                      \
    .max_threads_per_multiprocessor = 2048, .registers_per_multiprocessor = 65536,                 \
    .shared_bytes_per_block = 49152, .shared_bytes_per_block_optin = 232448,                       \
    .shared_bytes_per_multiprocessor = 233472

#endif
