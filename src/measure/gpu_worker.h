/* SPDX-License-Identifier: Apache-2.0 */
/* The process that holds a device: the only one that loads the driver's library, and the one that a
 * bad kernel kills. */
#ifndef AT_MEASURE_GPU_WORKER_H
#define AT_MEASURE_GPU_WORKER_H

#include "worker/worker.h"

extern const struct at_worker_role at_gpu_worker;

#endif
