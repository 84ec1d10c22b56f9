/* SPDX-License-Identifier: Apache-2.0 */
/* The environment of workers: the variables of the main process that are known to be needed. Others
 * could silently change measurements (CUDA_LAUNCH_BLOCKING, CUDA_FORCE_PTX_JIT) or compilations
 * (NVRTC_*). */
#ifndef AT_WORKER_ENVIRONMENT_H
#define AT_WORKER_ENVIRONMENT_H

/* Returns a NULL-ended list. The caller frees the list, but not the texts in it. */
char **at_worker_environment(void);

#endif
