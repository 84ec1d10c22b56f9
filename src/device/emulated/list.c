/* SPDX-License-Identifier: Apache-2.0 */
/* Lists and opens emulated devices: one per description. */
#include "base/memory.h"
#include "device/emulated/emulated.h"
#include "model/description.h"
#include "system/cpus.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Read a description, and add the fields that the file lacks: the ordinal, and the uuid, which is
 * also the selector of --gpu. */
static enum at_status describe(struct at_device_info *info, struct at_rates *rates,
                               const char *file, size_t ordinal, struct at_error *err)
{
    char *name = at_strndup(file, strlen(file) - strlen(".yaml"));
    enum at_status status = at_description_read(info, rates, name, err);

    if (status == AT_OK) {
        info->ordinal = (int64_t)ordinal;
        snprintf(info->uuid, sizeof info->uuid, AT_EMULATED_PREFIX "%s", name);
    }
    free(name);
    return status;
}

enum at_status at_emu_list(struct at_device_info **infos, size_t *count, struct at_error *err)
{
    struct at_device_info *found;
    struct at_rates rates;
    enum at_status status = AT_OK;
    struct at_folder files;

    at_description_files(&files);
    found = at_alloc_array(files.count, sizeof *found);
    for (size_t i = 0; i < files.count && status == AT_OK; i++)
        status = describe(&found[i], &rates, files.names[i], i, err);
    if (status == AT_OK) {
        *infos = found;
        *count = files.count;
    } else {
        free(found);
    }
    at_folder_clear(&files);
    return status;
}

/* Keep freed memory: each launch allocates and frees the state of its blocks. By default the C
 * library returns the pages to the system each time, which took a quarter of the time of a run. */
static void keep_memory(void)
{
    mallopt(M_TRIM_THRESHOLD, 256 << 20);
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

enum at_status at_emu_open(struct at_device **device, int64_t ordinal, struct at_error *err)
{
    struct at_emu_device *opened = at_alloc(sizeof *opened);
    enum at_status status;
    struct at_folder files;

    at_description_files(&files);
    if (ordinal < 0 || (uint64_t)ordinal >= files.count)
        status = at_fail(err, AT_DEVICE, "there is no emulated device %" PRId64, ordinal);
    else
        status = describe(&opened->base.info, &opened->rates, files.names[ordinal], (size_t)ordinal,
                          err);
    at_folder_clear(&files);
    if (status != AT_OK) {
        free(opened);
        return status;
    }
    opened->memory = at_emu_memory_new();
    opened->threads = at_usable_cpus();
    keep_memory();
    *device = (struct at_device *)opened;
    return AT_OK;
}
