/* SPDX-License-Identifier: Apache-2.0 */
/* The environment that workers are started with: of the driver's, only what is known to be needed.
 * Much else would change what is measured (CUDA_LAUNCH_BLOCKING, CUDA_FORCE_PTX_JIT) or compiled
 * (NVRTC_*), and no run would tell. */
#ifndef AT_WORKER_ENVIRONMENT_H
#define AT_WORKER_ENVIRONMENT_H

/* NULL-ended. The list is the caller's to free, the text in it is not. */
char **at_worker_environment(void);

#endif
