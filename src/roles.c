/* SPDX-License-Identifier: Apache-2.0 */
#include "roles.h"

#include "kernel/compile_worker.h"
#include "measure/gpu_worker.h"

const struct at_worker_role *const at_worker_roles[] = {
    &at_compile_worker,
    &at_gpu_worker,
    NULL,
};
