/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/select.h"

#include "base/choice.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "device/relation.h"
#include "emulated/time/description.h"
#include "measure/gpu.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char automatic[] = "auto", uuid_prefix[] = "GPU-";

/* Is it the index, the beginning of the UUID, or the PCI bus id of the device? */
static bool matches(const struct at_device_info *info, const char *name)
{
    size_t length = strlen(name);
    int64_t index;

    if (at_integer_parse(name, length, &index))
        return info->ordinal == index;
    if (length > sizeof uuid_prefix - 1 &&
        strncasecmp(name, uuid_prefix, sizeof uuid_prefix - 1) == 0)
        return strncasecmp(info->uuid, name, length) == 0;
    return strcasecmp(info->pci_bus_id, name) == 0;
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

/* Put behind the message that a device of this name can be emulated, if so. */
static void advise_emulated(const char *name, struct at_error *err)
{
    struct at_device_info info;
    char *advice;

    if (at_description_by_any_name(&info, name, NULL) != AT_OK)
        return;
    advice = at_format("--gpu \"" AT_EMULATED_PREFIX "%s\" emulates an %s", name, info.name);
    at_advise(err, advice);
    free(advice);
}

static enum at_status no_match(const char *name, const struct at_device_info *infos, size_t count,
                               struct at_error *err)
{
    const char *number = name + strcspn(name, "0123456789"); /* of cuda:0, gpu0, /dev/nvidia0 */
    char *devices = list_devices(infos, count), *meant = NULL;

    for (size_t i = 0; i < count && number > name; i++)
        if (matches(&infos[i], number))
            meant = at_format(" (did you mean %s?)", number);
    if (!*name)
        at_fail(err, AT_USAGE,
                "an empty device name; a selector looks like 0, 0,2, h100, all, emu or auto");
    else
        at_fail(err, AT_DEVICE, "there is no device \"%s\"%s; this machine has %s", name,
                meant ? meant : "", devices);
    advise_emulated(name, err);
    free(meant);
    free(devices);
    return *name ? AT_DEVICE : AT_USAGE;
}

/* Choose the only device whose name has these words. */
static enum at_status mark_called(const struct at_device_info *infos, size_t count,
                                  const char *words, bool *chosen, struct at_error *err)
{
    struct at_device_info *called = at_alloc_array(count, sizeof *called);
    size_t found = 0, last = 0;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < count; i++)
        if (at_device_is_called(&infos[i], words)) {
            called[found++] = infos[i];
            last = i;
        }
    if (found == 1) {
        chosen[last] = true;
    } else if (found == 0) {
        status = no_match(words, infos, count, err);
    } else {
        char *devices = list_devices(called, found);

        status = at_fail(err, AT_USAGE, "\"%s\" means %zu devices: name one by its index, of %s",
                         words, found, devices);
        free(devices);
    }
    free(called);
    return status;
}

/* Choose the devices that one name means; a UUID prefix may mean several. */
static enum at_status mark(const struct at_device_info *infos, size_t count, const char *name,
                           bool *chosen, struct at_error *err)
{
    bool found = false;

    for (size_t i = 0; i < count; i++)
        if (matches(&infos[i], name))
            chosen[i] = found = true;
    return found ? AT_OK : mark_called(infos, count, name, chosen, err);
}

static enum at_status mark_all(const char *selector, const struct at_device_info *infos,
                               size_t count, bool *chosen, struct at_error *err)
{
    for (const char *name = selector;; name++) {
        size_t length = strcspn(name, ",");
        char *one = at_strndup(name, length);
        enum at_status status = mark(infos, count, one, chosen, err);

        free(one);
        name += length;
        if (status != AT_OK || !*name)
            return status;
    }
}

/* ---- the emulated devices ---- */

/* What "emu" alone means, and "auto" without a GPU. */
static const char emulated_selector[] = "emu", default_emulated[] = AT_EMULATED_PREFIX "h200";

/* Is this name, of `length` characters, "emu" or "emu:..."? */
static bool is_emulated(const char *name, size_t length)
{
    size_t prefix = sizeof AT_EMULATED_PREFIX - 1;

    return (length == sizeof emulated_selector - 1 &&
            strncasecmp(name, emulated_selector, length) == 0) ||
           (length >= prefix && strncasecmp(name, AT_EMULATED_PREFIX, prefix) == 0);
}

/* Does the selector name emulated devices? AT_USAGE if it names GPUs too. */
static enum at_status check_emulated(const char *selector, bool *emulated, struct at_error *err)
{
    size_t names = 0, found = 0;

    for (const char *name = selector;; name++) {
        size_t length = strcspn(name, ",");

        names++;
        found += is_emulated(name, length);
        name += length;
        if (!*name)
            break;
    }
    if (found > 0 && found < names)
        return at_fail(err, AT_USAGE,
                       "\"%s\" names GPUs and emulated devices: measured and predicted times do "
                       "not go together",
                       selector);
    *emulated = found > 0;
    return AT_OK;
}

static enum at_status no_emulated(const char *name, size_t length,
                                  const struct at_device_info *infos, size_t count,
                                  struct at_error *err)
{
    const char **names = at_alloc_array(count, sizeof *names);
    char *unknown = at_strndup(name, length);

    for (size_t i = 0; i < count; i++)
        names[i] = infos[i].uuid;
    at_fail_unknown(err, AT_DEVICE, "there is no device", unknown, names, count);
    free(unknown);
    free(names);
    return AT_DEVICE;
}

/* Find the device that a name means: its selector, or after "emu:" any name that --device takes.
 * NULL: none. */
static const struct at_device_info *find_emulated(const struct at_device_info *infos, size_t count,
                                                  const char *name, size_t length)
{
    const size_t prefix = sizeof AT_EMULATED_PREFIX - 1;
    struct at_device_info info;
    char *called;
    bool known;

    if (length == sizeof emulated_selector - 1) {
        name = default_emulated;
        length = sizeof default_emulated - 1;
    }
    for (size_t i = 0; i < count; i++)
        if (strlen(infos[i].uuid) == length && strncmp(infos[i].uuid, name, length) == 0)
            return &infos[i];
    called = at_strndup(name + prefix, length - prefix);
    known = at_description_by_any_name(&info, called, NULL) == AT_OK;
    free(called);
    for (size_t i = 0; i < count && known; i++)
        if (strcmp(infos[i].name, info.name) == 0)
            return &infos[i];
    return NULL;
}

/* Each name is a device of its own: emu:a100,emu:a100 are two. */
static enum at_status select_emulated(const char *selector, struct at_device_info **infos,
                                      size_t *count, struct at_error *err)
{
    struct at_device_info *all, *chosen = NULL;
    size_t all_count, chosen_count = 0, capacity = 0;
    enum at_status status = at_gpu_list(AT_KIND_EMULATED, &all, &all_count, err);

    if (status != AT_OK)
        return status;
    for (const char *name = selector; status == AT_OK; name++) {
        size_t length = strcspn(name, ",");
        const struct at_device_info *found = find_emulated(all, all_count, name, length);

        if (found)
            AT_PUSH(chosen, chosen_count, capacity, *found);
        else
            status = no_emulated(name, length, all, all_count, err);
        name += length;
        if (!*name)
            break;
    }
    free(all);
    if (status == AT_OK) {
        *infos = chosen;
        *count = chosen_count;
    } else {
        free(chosen);
    }
    return status;
}

/* ---- selecting ---- */

static enum at_status select_cuda(const char *selector, struct at_device_info **infos,
                                  size_t *count, struct at_error *err)
{
    struct at_device_info *all;
    size_t all_count, kept = 0;
    bool *chosen;
    enum at_status status = at_gpu_list("cuda", &all, &all_count, err);

    if (status != AT_OK) {
        advise_emulated(selector, err);
        return status;
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

/* Tell behind the message what would work: 0 for gpu0 and cuda:0, emu:h100 for emu-h100. */
static enum at_status advise(const char *selector, struct at_error *err)
{
    static const char *const words[][2] = {{"gpu", ""},
                                           {"cuda", ""},
                                           {"device", ""},
                                           {"nvidia", ""},
                                           {"emulated", AT_EMULATED_PREFIX},
                                           {"emulate", AT_EMULATED_PREFIX},
                                           {"emu", AT_EMULATED_PREFIX}};
    char *advice = NULL;
    struct at_device_info info;

    for (size_t i = 0; i < AT_COUNT(words) && !advice; i++) {
        const char *rest = selector + strlen(words[i][0]);

        if (strncasecmp(selector, words[i][0], strlen(words[i][0])) != 0)
            continue;
        rest += strspn(rest, ":=-_/ ");
        if (words[i][1][0] ? at_description_by_any_name(&info, rest, NULL) == AT_OK
                           : *rest && !rest[strspn(rest, "0123456789")])
            advice = at_format("did you mean %s%s?", words[i][1], rest);
    }
    at_advise(err, advice ? advice : "GPUs are called 0, 1 and so on; --gpu emu needs none");
    free(advice);
    return err->status;
}

enum at_status at_select_devices(const char *selector, struct at_device_info **infos, size_t *count,
                                 struct at_error *err)
{
    bool emulated = false;
    enum at_status status = check_emulated(selector, &emulated, err);

    if (status != AT_OK)
        return status;
    if (emulated)
        return select_emulated(selector, infos, count, err);
    status = select_cuda(selector, infos, count, err);
    if (status == AT_DEVICE && strcmp(selector, automatic) == 0)
        return select_emulated(default_emulated, infos, count, err);
    return status == AT_DEVICE && err ? advise(selector, err) : status;
}
