/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/select.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "measure/gpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char automatic[] = "auto", uuid_prefix[] = "GPU-";

static bool matches(const struct at_device_info *info, const char *name, size_t length)
{
    int64_t index;

    if (at_integer_parse(name, length, &index))
        return info->ordinal == index;
    if (length > sizeof uuid_prefix - 1 &&
        strncasecmp(name, uuid_prefix, sizeof uuid_prefix - 1) == 0)
        return strncasecmp(info->uuid, name, length) == 0;
    return length == strlen(info->pci_bus_id) && strncasecmp(info->pci_bus_id, name, length) == 0;
}

/* "0 (NVIDIA H200), 1 (NVIDIA H200)" */
static char *list_devices(const struct at_device_info *infos, size_t count)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%d (%s)", i ? ", " : "", (int)infos[i].ordinal, infos[i].name);
    return at_text_close(&stream, NULL);
}

static enum at_status no_match(const char *name, size_t length, const struct at_device_info *infos,
                               size_t count, struct at_error *err)
{
    char *devices = list_devices(infos, count);

    if (length == 0)
        at_fail(err, AT_USAGE,
                "an empty device name; a selector looks like 0, 0,2, all, emu or auto");
    else
        at_fail(err, AT_DEVICE, "there is no device \"%.*s\"; this machine has %s", (int)length,
                name, devices);
    free(devices);
    return length == 0 ? AT_USAGE : AT_DEVICE;
}

/* Mark the devices that one name means; a UUID prefix may mean several. */
static bool mark(const struct at_device_info *infos, size_t count, const char *name, size_t length,
                 bool *chosen)
{
    bool found = false;

    for (size_t i = 0; i < count; i++) {
        if (!matches(&infos[i], name, length))
            continue;
        chosen[i] = found = true;
    }
    return found;
}

static enum at_status mark_all(const char *selector, const struct at_device_info *infos,
                               size_t count, bool *chosen, struct at_error *err)
{
    for (const char *name = selector;; name++) {
        size_t length = strcspn(name, ",");

        if (!mark(infos, count, name, length, chosen))
            return no_match(name, length, infos, count, err);
        name += length;
        if (!*name)
            return AT_OK;
    }
}

/* ---- the emulated devices ---- */

/* What "emu" alone means, and "auto" without a GPU. */
static const char emulated_selector[] = "emu", default_emulated[] = AT_EMULATED_PREFIX "h200";

static bool names_emulated(const char *selector)
{
    return strcmp(selector, emulated_selector) == 0 ||
           strncmp(selector, AT_EMULATED_PREFIX, sizeof AT_EMULATED_PREFIX - 1) == 0;
}

/* "emu:a100, emu:h200" */
static enum at_status no_emulated(const char *name, const struct at_device_info *infos,
                                  size_t count, struct at_error *err)
{
    const char **names = at_alloc_array(count, sizeof *names);
    char *known;

    for (size_t i = 0; i < count; i++)
        names[i] = infos[i].uuid;
    known = at_join(names, count);
    at_fail(err, AT_DEVICE, "there is no device \"%s\"; known are %s", name, known);
    free(known);
    free(names);
    return AT_DEVICE;
}

static enum at_status select_emulated(const char *name, struct at_device_info **infos,
                                      size_t *count, struct at_error *err)
{
    struct at_device_info *all;
    size_t all_count, i = 0;
    enum at_status status = at_gpu_list(AT_KIND_EMULATED, &all, &all_count, err);

    if (status != AT_OK)
        return status;
    while (i < all_count && strcmp(all[i].uuid, name) != 0)
        i++;
    if (i == all_count) {
        status = no_emulated(name, all, all_count, err);
        free(all);
        return status;
    }
    all[0] = all[i];
    *infos = all;
    *count = 1;
    return AT_OK;
}

/* ---- selecting ---- */

static enum at_status select_cuda(const char *selector, struct at_device_info **infos,
                                  size_t *count, struct at_error *err)
{
    struct at_device_info *all;
    size_t all_count, kept = 0;
    bool *chosen;
    enum at_status status = at_gpu_list("cuda", &all, &all_count, err);

    if (status != AT_OK)
        return status;
    if (all_count == 0) {
        free(all);
        return at_fail(err, AT_DEVICE,
                       "no usable GPU: the driver shows none; CUDA_VISIBLE_DEVICES may hide them");
    }
    chosen = at_alloc_array(all_count, sizeof *chosen);
    if (strcmp(selector, "all") == 0)
        memset(chosen, true, all_count);
    else
        status = mark_all(strcmp(selector, automatic) == 0 ? "0" : selector, all, all_count, chosen,
                          err);
    for (size_t i = 0; i < all_count; i++)
        if (chosen[i])
            all[kept++] = all[i];
    free(chosen);
    if (status != AT_OK) {
        free(all);
        return status;
    }
    *infos = all;
    *count = kept;
    return AT_OK;
}

enum at_status at_select_devices(const char *selector, struct at_device_info **infos, size_t *count,
                                 struct at_error *err)
{
    enum at_status status;

    if (names_emulated(selector))
        return select_emulated(strcmp(selector, emulated_selector) == 0 ? default_emulated
                                                                        : selector,
                               infos, count, err);
    status = select_cuda(selector, infos, count, err);
    if (status == AT_DEVICE && strcmp(selector, automatic) == 0)
        return select_emulated(default_emulated, infos, count, err);
    return status;
}
