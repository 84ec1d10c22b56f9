/* SPDX-License-Identifier: Apache-2.0 */
/* The roles that a worker process can be started in. */
#ifndef AT_ROLES_H
#define AT_ROLES_H

#include "worker/worker.h"

extern const struct at_worker_role *const at_worker_roles[]; /* NULL-ended */

#endif
