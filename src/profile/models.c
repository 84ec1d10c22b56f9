/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of models of devices, as at_device_relation tells them apart. */
#include "base/integer.h"
#include "base/memory.h"
#include "device/relation.h"
#include "profile/internal.h"

#include <string.h>

bool at_models_have(const struct at_list *models, const struct at_device_info *device)
{
    const struct at_device_info *items = models->items;

    for (size_t i = 0; i < models->count; i++)
        if (at_device_relation(&items[i], device) == AT_SAME_DEVICE)
            return true;
    return false;
}

/* Copy the items, with room for more. */
static struct at_device_info *copy_items(const struct at_list *models, size_t more)
{
    struct at_device_info *items = at_alloc_array(models->count + more, sizeof *items);

    if (models->count > 0)
        memcpy(items, models->items, models->count * sizeof *items);
    return items;
}

struct at_list at_models_copy(const struct at_list *models)
{
    return (struct at_list){models->count > 0 ? copy_items(models, 0) : NULL, models->count};
}

void at_models_add(struct at_list *models, const struct at_device_info *device)
{
    struct at_device_info *items;

    if (at_models_have(models, device))
        return;
    items = copy_items(models, 1);
    items[models->count] = (struct at_device_info){
        .pci_device_id = device->pci_device_id,
        .compute_capability = device->compute_capability,
        .multiprocessors = device->multiprocessors,
        .memory_bytes = device->memory_bytes,
    };
    strcpy(items[models->count].name, device->name);
    at_free(models->items);
    *models = (struct at_list){items, models->count + 1};
}

static int by_model(const struct at_device_info *a, const struct at_device_info *b)
{
    const int64_t numbers[][2] = {
        {a->compute_capability, b->compute_capability},
        {a->multiprocessors, b->multiprocessors},
        {a->memory_bytes, b->memory_bytes},
        {a->pci_device_id, b->pci_device_id},
    };
    int order = strcmp(a->name, b->name);

    return order ? order : at_integers_compare(numbers, AT_COUNT(numbers));
}

int at_models_compare(const struct at_list *a, const struct at_list *b)
{
    const struct at_device_info *x = a->items, *y = b->items;
    int order = at_integer_compare((int64_t)a->count, (int64_t)b->count);

    for (size_t i = 0; i < a->count && order == 0; i++)
        order = by_model(&x[i], &y[i]);
    return order;
}
