/* SPDX-License-Identifier: Apache-2.0 */
/* The order in a profile: the same results always give the same bytes. */
#include "base/integer.h"
#include "base/memory.h"
#include "device/relation.h"
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- lists of models of devices, as at_device_relation tells them apart ---- */

bool at_models_have(const struct at_list *models, const struct at_device_info *device)
{
    const struct at_device_info *items = models->items;

    for (size_t i = 0; i < models->count; i++)
        if (at_device_relation(&items[i], device) == AT_SAME_DEVICE)
            return true;
    return false;
}

void at_models_add(struct at_list *models, const struct at_device_info *device)
{
    struct at_device_info *items;

    if (at_models_have(models, device))
        return;
    items = at_alloc_array(models->count + 1, sizeof *items);
    if (models->count > 0)
        memcpy(items, models->items, models->count * sizeof *items);
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

static int models_compare(const struct at_list *a, const struct at_list *b)
{
    const struct at_device_info *x = a->items, *y = b->items;
    int order = at_integer_compare((int64_t)a->count, (int64_t)b->count);

    for (size_t i = 0; i < a->count && order == 0; i++)
        order = by_model(&x[i], &y[i]);
    return order;
}

/* ---- order ---- */

/* GPUs of one model are not told apart: their entries share a record, and each says which GPU
 * measured it. */
int at_model_compare(const struct at_device_info *a, const struct at_device_info *b)
{
    const int64_t numbers[][2] = {
        {a->compute_capability, b->compute_capability},
        {a->multiprocessors, b->multiprocessors},
    };
    int order = strcmp(a->name, b->name);

    if (order == 0)
        order = strcmp(a->kind, b->kind);
    return order ? order : at_integers_compare(numbers, AT_COUNT(numbers));
}

int at_place_compare(const struct at_device_record *a, const struct at_device_record *b)
{
    int order = at_model_compare(&a->device, &b->device);

    return order ? order : strcmp(a->policy.name, b->policy.name);
}

int at_software_compare(const struct at_environment *a, const struct at_environment *b)
{
    const char *const versions[][2] = {{a->driver, b->driver},
                                       {a->cuda_driver, b->cuda_driver},
                                       {a->nvrtc, b->nvrtc},
                                       {a->autotune, b->autotune}};
    int order = 0;

    for (size_t i = 0; i < AT_COUNT(versions) && order == 0; i++)
        order = strverscmp(versions[i][0], versions[i][1]);
    return order;
}

static int by_environment(const struct at_environment *a, const struct at_environment *b)
{
    const char *const texts[][2] = {
        {a->driver, b->driver},     {a->cuda_driver, b->cuda_driver},
        {a->nvrtc, b->nvrtc},       {a->nvrtc_identity, b->nvrtc_identity},
        {a->autotune, b->autotune},
    };
    int order = 0;

    for (size_t i = 0; i < AT_COUNT(texts) && order == 0; i++)
        order = strverscmp(texts[i][0], texts[i][1]);
    return order;
}

static int by_policy(const struct at_policy_record *a, const struct at_policy_record *b)
{
    const int64_t numbers[][2] = {
        {a->buffer_bytes, b->buffer_bytes},
        {a->train_ns, b->train_ns},
        {a->search_samples, b->search_samples},
        {a->shootout_samples, b->shootout_samples},
    };

    return at_integers_compare(numbers, AT_COUNT(numbers));
}

int at_measured_compare(const struct at_device_record *a, const struct at_device_record *b)
{
    int order = strcmp(a->policy.name, b->policy.name);

    if (order == 0)
        order = by_environment(&a->environment, &b->environment);
    if (order == 0)
        order = by_policy(&a->policy, &b->policy);
    return order ? order : models_compare(&a->also_correct_on, &b->also_correct_on);
}

int at_device_record_compare(const struct at_device_record *a, const struct at_device_record *b)
{
    int order = strcmp(a->device.name, b->device.name);

    if (order == 0)
        order = strcmp(a->device.uuid, b->device.uuid);
    return order ? order : at_measured_compare(a, b);
}

static int by_identity(const void *left, const void *right)
{
    return at_device_record_compare(left, right);
}

/* 2048x2048 comes before 16384x16384, as people expect: strverscmp compares numbers by value. */
static int by_problem(const void *left, const void *right)
{
    const struct at_entry *a = left, *b = right;

    return strverscmp(a->problem, b->problem);
}

static int by_name(const void *left, const void *right)
{
    const struct at_named_int *a = left, *b = right;

    return strcmp(a->name, b->name);
}

/* Most lists are in order: that is how they are written. */
static bool is_sorted(const struct at_list *list, size_t size,
                      int (*compare)(const void *, const void *))
{
    const char *items = list->items;
    size_t i = 1;

    while (i < list->count && compare(items + (i - 1) * size, items + i * size) <= 0)
        i++;
    return i >= list->count;
}

static void sort_list(struct at_list *list, size_t size, int (*compare)(const void *, const void *))
{
    if (list->count > 1 && !is_sorted(list, size, compare))
        qsort(list->items, list->count, size, compare);
}

void at_entries_sort(struct at_list *entries)
{
    sort_list(entries, sizeof(struct at_entry), by_problem);
}

void at_profile_sort(struct at_profile *profile)
{
    struct at_device_record *devices = profile->devices.items;

    sort_list(&profile->devices, sizeof *devices, by_identity);
    for (size_t i = 0; i < profile->devices.count; i++) {
        struct at_list *problems = &devices[i].problems;
        struct at_entry *entries = problems->items;

        at_entries_sort(problems);
        for (size_t j = 0; j < problems->count; j++) {
            sort_list(&entries[j].winner.parameters, sizeof(struct at_named_int), by_name);
            sort_list(&entries[j].fallback.parameters, sizeof(struct at_named_int), by_name);
        }
    }
}
