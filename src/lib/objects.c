/* SPDX-License-Identifier: Apache-2.0 */
/* The device that a caller names. */
#include "lib/objects.h"

#include "base/memory.h"
#include "emulated/time/description.h"
#include "lib/context.h"

struct asking {
    const char *name; /* of a description; NULL for the current device */
    autotune_device *found;
};

static enum at_status find_device(void *data, struct at_error *err)
{
    struct asking *asking = data;
    struct at_device_info info;
    enum at_status status = asking->name ? at_description_by_any_name(&info, asking->name, err)
                                         : autotune_find_current(&info, NULL, err);

    if (status == AT_OK)
        asking->found = at_memdup(&info, sizeof info);
    return status;
}

static autotune_status ask(autotune_device **device, const char *name, autotune_error **error)
{
    struct asking asking = {.name = name};
    autotune_status status = autotune_call(find_device, &asking, error);

    if (status == AUTOTUNE_OK)
        *device = asking.found;
    return status;
}

autotune_status autotune_device_current(autotune_device **device, autotune_error **error)
{
    return device ? ask(device, NULL, error) : autotune_fail_null(error, "device");
}

autotune_status autotune_device_described(autotune_device **device, const char *name,
                                          autotune_error **error)
{
    if (!device || !name)
        return autotune_fail_null(error, device ? "name" : "device");
    return ask(device, name, error);
}

const char *autotune_device_name(const autotune_device *device)
{
    return device ? device->info.name : NULL;
}

void autotune_device_free(autotune_device *device)
{
    at_free(device);
}
