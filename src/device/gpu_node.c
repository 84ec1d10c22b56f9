/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gpu_node.h"

#include "base/memory.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* Reads the number from the line "Device Minor: 	 0"; -1 where there is none. */
static int device_minor(const char *root, const char *pci_bus_id)
{
    char *path = at_format("%s/proc/driver/nvidia/gpus/%s/information", root, pci_bus_id);
    FILE *file = fopen(path, "re");
    char line[256];
    int minor = -1;

    free(path);
    while (file && minor < 0 && fgets(line, sizeof line, file))
        if (sscanf(line, "Device Minor: %d", &minor) != 1)
            minor = -1;
    if (file)
        fclose(file);
    return minor;
}

/* Finds the only special file of a GPU; NULL where there are several, or none. The caller frees it.
 */
static char *only_node(const char *root)
{
    char *numbered = at_format("%s/dev/nvidia[0-9]*", root);
    char *of_windows = at_format("%s/dev/dxg", root), *found = NULL;
    glob_t nodes = {0};

    if (glob(numbered, 0, NULL, &nodes) == GLOB_NOMATCH)
        glob(of_windows, 0, NULL, &nodes);
    if (nodes.gl_pathc == 1)
        found = at_strdup(nodes.gl_pathv[0]);
    globfree(&nodes);
    free(numbered);
    free(of_windows);
    return found;
}

enum at_status at_gpu_node(char **path, const char *root, const char *pci_bus_id,
                           struct at_error *err)
{
    int minor = device_minor(root, pci_bus_id);
    char *found = minor < 0 ? only_node(root) : at_format("%s/dev/nvidia%d", root, minor);

    if (!found)
        return at_fail(err, AT_DEVICE, "its special file in /dev cannot be told");
    *path = found;
    return AT_OK;
}
