/* SPDX-License-Identifier: Apache-2.0 */
/* The special file of a GPU (such as /dev/nvidia0), which every process that uses the GPU opens. */
#ifndef AT_DEVICE_GPU_NODE_H
#define AT_DEVICE_GPU_NODE_H

#include "base/error.h"

/* Find the special file of the GPU with this PCI bus id ("0000:0f:00.0"). The number in its name
 * comes from /proc/driver/nvidia/gpus. If that folder is missing, as in some containers and in the
 * Windows Subsystem for Linux, the only special file of a GPU is taken.
 *
 * `root` is put before each path: "" except in tests. The caller frees *path. AT_DEVICE if there is
 * no such file, or several without a way to choose. */
enum at_status at_gpu_node(char **path, const char *root, const char *pci_bus_id,
                           struct at_error *err);

#endif
