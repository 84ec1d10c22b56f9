/* SPDX-License-Identifier: Apache-2.0 */
#include "device/gpu_node.h"

#include "base/memory.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>

/* Read the number in the line "Device Minor: 	 0"; -1 if there is none. */
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

/* Find the only special file of a GPU; NULL if there are several or none. The caller frees it. */
static char *find_only_node(const char *root)
{
    char *numbered = at_format("%s/dev/nvidia[0-9]*", root);
    char *windows = at_format("%s/dev/dxg", root), *found = NULL;
    glob_t nodes = {0};

    if (glob(numbered, 0, NULL, &nodes) == GLOB_NOMATCH)
        glob(windows, 0, NULL, &nodes);
    if (nodes.gl_pathc == 1)
        found = at_strdup(nodes.gl_pathv[0]);
    globfree(&nodes);
    free(numbered);
    free(windows);
    return found;
}

enum at_status at_gpu_node(char **path, const char *root, const char *pci_bus_id,
                           struct at_error *err)
{
    int minor = device_minor(root, pci_bus_id);
    char *found = minor < 0 ? find_only_node(root) : at_format("%s/dev/nvidia%d", root, minor);

    if (!found)
        return at_fail(err, AT_DEVICE, "cannot find its special file in /dev");
    *path = found;
    return AT_OK;
}
