/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/time/description.h"

#include "base/choice.h"
#include "base/integer.h"
#include "base/memory.h"
#include "device/kind.h"
#include "device/relation.h"
#include "device/schema.h"
#include "schema/table.h"
#include "system/paths.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ALIASES_MAX = 32 };

struct description {
    struct at_list aliases; /* of struct at_located */
    int64_t schema;
    struct at_device_info device;
    struct at_rates rates;
};

/* At least 1: the model divides by them. */
#define RATE(name) AT_INT(at_rates, name, 1, 1000000000, AT_OPTIONAL),
static const struct at_field rate_fields[] = {AT_RATES(RATE)};
static const struct at_schema rates_schema = AT_SCHEMA("rates", at_rates, rate_fields);

static const struct at_field fields[] = {
    AT_LIST(description, aliases, AT_FIELD_LOCATEDS, 0, ALIASES_MAX, AT_OPTIONAL),
    AT_OBJECT(description, "device", device, at_device_schema),
    AT_OBJECT(description, "rates", rates, rates_schema),
    AT_INT(description, schema, 1, 1),
};
static const struct at_schema schema = AT_SCHEMA("a device description", description, fields);

static const char devices[] = "tuning/devices", suffix[] = ".yaml";

void at_description_files(struct at_folder *files)
{
    char *path = at_path_data_file(devices);

    *files = (struct at_folder){0};
    (void)at_folder_list(files, path, suffix); /* an error leaves the list empty */
    at_free(path);
}

/* Devices that people ask for, and for which NVRTC of CUDA 13 compiles no more. */
static const struct {
    const char *words, *capability;
} too_old[] = {
    {"V100", "7.0"}, {"TITAN V", "7.0"}, {"P100", "6.0"}, {"P40", "6.1"}, {"GTX 10", "6.1"}};

static enum at_status fail_unknown(const char *name, struct at_error *err)
{
    struct at_folder files;
    enum at_status status;

    for (size_t i = 0; i < AT_COUNT(too_old); i++)
        if (strcasestr(name, too_old[i].words))
            return at_fail(err, AT_USAGE,
                           "no description of a device \"%s\": it has compute capability %s, and "
                           "NVRTC of CUDA 13 compiles for 7.5 and newer",
                           name, too_old[i].capability);
    at_description_files(&files);
    for (size_t i = 0; i < files.count; i++)
        files.names[i][strlen(files.names[i]) - (sizeof suffix - 1)] = '\0';
    status = at_fail_unknown(err, AT_USAGE, "no description of a device", name,
                             (const char *const *)files.names, files.count);
    at_folder_clear(&files);
    return status;
}

/* The name becomes part of a path: letters, digits and '-' only. */
static bool is_name(const char *name)
{
    return *name && strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(name);
}

static enum at_status check(const struct description *description, const char *path,
                            struct at_error *err)
{
    const char *predictions = description->device.predictions;

    if (!at_device_kind(&description->device)->predicted)
        return at_fail(err, AT_USAGE,
                       "%s: a description's device must be of kind " AT_KIND_EMULATED, path);
    if (strcmp(predictions, AT_CALIBRATED) != 0 && strcmp(predictions, AT_UNCALIBRATED) != 0)
        return at_fail(err, AT_USAGE,
                       "%s: predictions must be " AT_CALIBRATED " or " AT_UNCALIBRATED
                       ", not \"%s\"",
                       path, predictions);
    return AT_OK;
}

/* ---- rates that a description leaves out ---- */

/* The device whose rates were fitted to its times. Its description has all of them. */
static const char fitted[] = "tuning/devices/h200.yaml";

/* How a rate of another device follows from the fitted one. All that are not here are the same. */
enum carried {
    AS_MANY_CLOCKS,
    BY_L2_LATENCY, /* as many clocks, times what is known of the generations' latencies */
    BY_DRAM_LATENCY,
    PER_CLOCK,
    PER_CLOCK_AND_MULTIPROCESSOR,
};

static const struct {
    size_t offset;
    enum carried how;
} carried[] = {
    {offsetof(struct at_rates, block_ns), AS_MANY_CLOCKS},
    {offsetof(struct at_rates, dram_latency_ns), BY_DRAM_LATENCY},
    {offsetof(struct at_rates, l2_latency_ns), BY_L2_LATENCY},
    {offsetof(struct at_rates, later_warp_ns), AS_MANY_CLOCKS},
    {offsetof(struct at_rates, request_ns), AS_MANY_CLOCKS},
    {offsetof(struct at_rates, warp_ns), AS_MANY_CLOCKS},
    {offsetof(struct at_rates, blocks_per_us), PER_CLOCK},
    {offsetof(struct at_rates, l2_load_MB_per_s), PER_CLOCK_AND_MULTIPROCESSOR},
    {offsetof(struct at_rates, l2_store_MB_per_s), PER_CLOCK_AND_MULTIPROCESSOR},
};

/* Clocks of a load that waits for the one before, from L2 and from DRAM. One program measured them
 * on an RTX A2000, RTX 4090, GH200, B200 and RTX 5090: markdewing/AI_kernels on GitHub,
 * latency/README.md. */
static const struct latency {
    int64_t capability;
    double l2, dram;
} latencies[] = {{86, 214, 570}, {89, 296, 636}, {90, 281, 690}, {100, 295, 860}, {120, 360, 936}};

static const struct latency *latency_of(const struct description *description)
{
    for (size_t i = 0; i < AT_COUNT(latencies); i++)
        if (latencies[i].capability == description->device.compute_capability)
            return &latencies[i];
    return NULL;
}

/* Bandwidths are rounded to this. */
enum { BANDWIDTH_STEP = 10000 };

static int64_t *rate_at(struct at_rates *rates, size_t offset)
{
    return (int64_t *)((char *)rates + offset);
}

/* Carry a rate over from one device to the other. Of the same generation, or of one whose latencies
 * are not known, DRAM takes as long, and L2 as many clocks. */
static int64_t carry(int64_t rate, enum carried how, const struct description *from,
                     const struct description *to)
{
    const struct latency *known = latency_of(from), *own = latency_of(to);
    bool differ = known && own && known != own;
    double clocks = (double)to->rates.clock_khz / (double)from->rates.clock_khz;
    double size = (double)to->device.multiprocessors / (double)from->device.multiprocessors;
    double times = 1;

    switch (how) {
    case BY_DRAM_LATENCY:
        times = differ ? own->dram / known->dram / clocks : 1;
        break;
    case BY_L2_LATENCY:
        times = (differ ? own->l2 / known->l2 : 1) / clocks;
        break;
    case AS_MANY_CLOCKS:
        times = 1 / clocks;
        break;
    case PER_CLOCK:
        times = clocks;
        break;
    case PER_CLOCK_AND_MULTIPROCESSOR:
        return at_max(1, llround((double)rate * clocks * size / BANDWIDTH_STEP)) * BANDWIDTH_STEP;
    }
    return at_max(1, llround((double)rate * times));
}

static void carry_over(struct description *to, const struct description *from)
{
    struct at_rates rates = from->rates;

    rates.clock_khz = to->rates.clock_khz;
    rates.dram_MB_per_s = to->device.peak_bandwidth_MB_per_s;
    for (size_t i = 0; i < AT_COUNT(carried); i++) {
        int64_t *rate = rate_at(&rates, carried[i].offset);

        *rate = carry(*rate, carried[i].how, from, to);
    }
    for (size_t i = 0; i < AT_COUNT(rate_fields); i++) {
        int64_t *rate = rate_at(&to->rates, rate_fields[i].offset);

        if (*rate == 0)
            *rate = *rate_at(&rates, rate_fields[i].offset);
    }
}

static enum at_status fail_missing(const struct at_rates *rates, const char *path,
                                   struct at_error *err)
{
    struct at_rates found = *rates;

    for (size_t i = 0; i < AT_COUNT(rate_fields); i++)
        if (*rate_at(&found, rate_fields[i].offset) == 0)
            return at_fail(err, AT_USAGE, "%s: rates: %s is missing", path, rate_fields[i].key);
    return AT_OK;
}

/* Read a description that has to have all rates. */
static enum at_status read_whole(struct description *description, const char *path,
                                 struct at_error *err)
{
    enum at_status status = at_schema_read_file(&schema, description, path, err);

    if (status == AT_OK)
        status = fail_missing(&description->rates, path, err);
    if (status != AT_OK)
        at_schema_clear(&schema, description);
    return status;
}

/* Fill in the rates that are missing. A clock has to be there. */
static enum at_status complete(struct description *description, const char *path,
                               struct at_error *err)
{
    struct description from = {0};
    enum at_status status;
    char *other;

    if (strcmp(description->device.predictions, AT_CALIBRATED) == 0)
        return fail_missing(&description->rates, path, err);
    if (description->rates.clock_khz == 0)
        return at_fail(err, AT_USAGE, "%s: rates: clock_khz is missing", path);
    other = at_path_data_file(fitted);
    status = read_whole(&from, other, err);
    if (status == AT_OK) {
        carry_over(description, &from);
        at_schema_clear(&schema, &from);
    }
    at_free(other);
    return status;
}

static enum at_status read_file(struct description *description, const char *path,
                                struct at_error *err)
{
    struct description read = {0};
    enum at_status status = at_schema_read_file(&schema, &read, path, err);

    if (status == AT_OK)
        status = check(&read, path, err);
    if (status == AT_OK)
        status = complete(&read, path, err);
    if (status == AT_OK)
        *description = read;
    else
        at_schema_clear(&schema, &read);
    return status;
}

static enum at_status read_named(struct description *description, const char *name,
                                 struct at_error *err)
{
    char *below = at_format("%s/%s", devices, name), *path = at_path_data_file(below);
    enum at_status status = read_file(description, path, err);

    at_free(path);
    at_free(below);
    return status;
}

enum at_status at_description_read(struct at_device_info *info, struct at_rates *rates,
                                   const char *name, struct at_error *err)
{
    struct description description = {0};
    char *below = at_format("%s/%s%s", devices, is_name(name) ? name : "", suffix);
    char *path = at_path_data_file(below);
    enum at_status status = at_path_require_data(err);

    if (status != AT_OK) {
        /* no device has a description there */
    } else if (!is_name(name) || access(path, F_OK) != 0) {
        status = fail_unknown(name, err);
    } else {
        status = read_file(&description, path, err);
    }
    if (status == AT_OK) {
        *info = description.device;
        if (rates)
            *rates = description.rates;
        at_schema_clear(&schema, &description);
    }
    at_free(path);
    at_free(below);
    return status;
}

/* Compare names without regard to case, blanks, '-' and '_'. */
static bool same_name(const char *a, const char *b)
{
    static const char ignored[] = " -_";

    for (;; a++, b++) {
        a += strspn(a, ignored);
        b += strspn(b, ignored);
        if (!*a || tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return *a == *b;
    }
}

/* How well a name fits a description. */
enum fit { NOT_AT_ALL, BY_WORDS, BY_NAME };

static enum fit fit_of(const struct description *description, const char *file, const char *name)
{
    const struct at_located *aliases = description->aliases.items;
    char *own = at_format("%.*s", (int)(strlen(file) - (sizeof suffix - 1)), file);
    bool named = same_name(description->device.name, name) || same_name(own, name);

    at_free(own);

    for (size_t i = 0; i < description->aliases.count; i++)
        named |= same_name(aliases[i].text, name);
    return named                                             ? BY_NAME
           : at_device_is_called(&description->device, name) ? BY_WORDS
                                                             : NOT_AT_ALL;
}

enum at_status at_description_by_any_name(struct at_device_info *info, const char *name,
                                          struct at_error *err)
{
    enum at_status status = at_description_read(info, NULL, name, err);
    struct at_device_info found;
    enum fit best = NOT_AT_ALL;
    size_t count = 0; /* of those that fit best */
    struct at_folder files;

    if (status == AT_OK)
        return AT_OK;
    at_description_files(&files);
    for (size_t i = 0; i < files.count; i++) {
        struct description description;
        enum fit fit;

        if (read_named(&description, files.names[i], NULL) != AT_OK)
            continue;
        fit = fit_of(&description, files.names[i], name);
        count = fit > best ? 1 : count + (fit == best);
        if (fit > best)
            found = description.device;
        best = fit > best ? fit : best;
        at_schema_clear(&schema, &description);
    }
    at_folder_clear(&files);
    if (best == NOT_AT_ALL || (best == BY_WORDS && count > 1))
        return status;
    *info = found;
    return AT_OK;
}

/* Find the first description that is as close to a device as `farthest`. */
static enum at_status find(struct at_device_info *info, struct at_rates *rates, bool *found,
                           const struct at_device_info *device, enum at_relation farthest,
                           struct at_error *err)
{
    enum at_status status = AT_OK;
    bool is_close = false;
    struct at_folder files;

    at_description_files(&files);
    for (size_t i = 0; i < files.count && !is_close; i++) {
        struct description description;

        status = read_named(&description, files.names[i], err);
        if (status != AT_OK)
            break;
        is_close = at_device_relation(&description.device, device) <= farthest;
        if (is_close) {
            *info = description.device;
            if (rates)
                *rates = description.rates;
        }
        at_schema_clear(&schema, &description);
    }
    at_folder_clear(&files);
    if (status == AT_OK)
        *found = is_close;
    return status;
}

enum at_status at_description_find(struct at_device_info *info, struct at_rates *rates, bool *found,
                                   const struct at_device_info *device, struct at_error *err)
{
    return find(info, rates, found, device, AT_SAME_DEVICE, err);
}

enum at_status at_description_of_architecture(struct at_device_info *info, bool *found,
                                              int64_t compute_capability, struct at_error *err)
{
    const struct at_device_info device = {.compute_capability = compute_capability};

    return find(info, NULL, found, &device, AT_SAME_ARCHITECTURE, err);
}
