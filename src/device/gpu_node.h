/* SPDX-License-Identifier: Apache-2.0 */
/* The special file of a GPU, which every process that uses the GPU opens: /dev/nvidia0. */
#ifndef AT_DEVICE_GPU_NODE_H
#define AT_DEVICE_GPU_NODE_H

#include "base/error.h"

/* Finds the special file of the GPU with this PCI bus id ("0000:0f:00.0"). The number in its name
 * comes from /proc/driver/nvidia/gpus. A container may hide that folder, and the Windows Subsystem
 * for Linux has none: there, the only special file that there is will be the one.
 *
 * `root` stands before each path: "" but for tests. The caller frees *path. AT_DEVICE where there
 * is no such file, or no telling which of several it is. */
enum at_status at_gpu_node(char **path, const char *root, const char *pci_bus_id,
                           struct at_error *err);

#endif
