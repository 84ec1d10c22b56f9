/* SPDX-License-Identifier: Apache-2.0 */
/* autotune list: the devices that can be tuned. */
#include "base/flow.h"
#include "base/integer.h"
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/run_options.h"
#include "device/kind.h"
#include "device/relation.h"
#include "device/schema.h"
#include "emulated/time/description.h"
#include "measure/gpu.h"
#include "measure/select.h"
#include "profile/newest.h"
#include "schema/table.h"
#include "system/file.h"
#include "system/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list_options {
    struct at_run_options run; /* for its families */
    enum at_output_format format;
    bool emulated, families;
};

static const struct at_option options_table[] = {
    {"emulated", 'e', NULL, 0, "List the devices that can be emulated, for --gpu emu:NAME",
     AT_SETS_FLAG(list_options, emulated)},
    {"families", 0, NULL, 0,
     "List the families of kernels, for --family and explain FAMILY --params",
     AT_SETS_FLAG(list_options, families)},
    AT_FORMAT(0, list_options, format),
    {0},
};

/* A device with the copy limit that the shipped profiles have for its model. */
struct listed_device {
    struct at_device_info device;
    int64_t copy_limit_MB_per_s; /* 0: unknown */
    /* For tables. */
    char ordinal[16], compute_capability[16];
    int64_t memory_GiB, l2_MiB;
};

#define COLUMN(member, kind, ...)                                                                  \
    AT_ONLY_COLUMN(listed_device, member, kind, AT_COLUMN(0, __VA_ARGS__))
#define JSON_FIELDS                                                                                \
    AT_WRITTEN(listed_device, copy_limit_MB_per_s, AT_FIELD_INT, AT_OPTIONAL),                     \
        AT_OBJECT(listed_device, "device", device, at_device_schema)

static const struct at_field gpu_fields[] = {
    JSON_FIELDS,
    COLUMN(ordinal, AT_FIELD_CHARS, "GPU"),
    COLUMN(device.name, AT_FIELD_CHARS, "name"),
    COLUMN(compute_capability, AT_FIELD_CHARS, "cc"),
    COLUMN(memory_GiB, AT_FIELD_INT, "memory", .unit = " GiB"),
    COLUMN(l2_MiB, AT_FIELD_INT, "L2", .unit = " MiB"),
    AT_ONLY_COLUMN(listed_device, copy_limit_MB_per_s, AT_FIELD_INT, AT_OPTIONAL,
                   AT_COLUMN(0, "copy limit", .per = 1000, .unit = " GB/s", .missing = "unknown")),
    COLUMN(device.pci_bus_id, AT_FIELD_CHARS, "PCI"),
    COLUMN(device.uuid, AT_FIELD_CHARS, "UUID"),
};
static const struct at_field emulated_fields[] = {
    JSON_FIELDS,
    COLUMN(device.uuid, AT_FIELD_CHARS, "GPU"),
    COLUMN(device.name, AT_FIELD_CHARS, "name"),
    COLUMN(compute_capability, AT_FIELD_CHARS, "cc"),
    COLUMN(device.multiprocessors, AT_FIELD_INT, "SMs"),
    COLUMN(memory_GiB, AT_FIELD_INT, "memory", .unit = " GiB"),
    COLUMN(l2_MiB, AT_FIELD_INT, "L2", .unit = " MiB"),
    COLUMN(device.peak_bandwidth_MB_per_s, AT_FIELD_INT, "DRAM", .per = 1000, .unit = " GB/s"),
    COLUMN(device.predictions, AT_FIELD_CHARS, "predictions"),
};
static const struct at_schema gpu_schema = AT_SCHEMA("a GPU", listed_device, gpu_fields);
static const struct at_schema emulated_schema =
    AT_SCHEMA("an emulated device", listed_device, emulated_fields);

/* Return the bandwidth of the profile's best copy on this model from DRAM; 0: none. */
static int64_t copy_limit_in(const struct at_profile *profile, const struct at_device_info *device)
{
    int64_t best = 0;

    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);) {
        const struct at_device_info *measured = &at.record->device;
        int64_t limit = at.entry->copy.bandwidth_MB_per_s;

        if (limit > best && limit <= device->peak_bandwidth_MB_per_s &&
            strcmp(at.record->policy.name, "cold") == 0 &&
            at_device_kind(measured)->predicted == at_device_kind(device)->predicted &&
            at_device_relation(measured, device) == AT_SAME_DEVICE)
            best = limit;
    }
    return best;
}

/* Find the copy limits in the shipped profiles. Each profile is read once. */
static void find_copy_limits(struct listed_device *devices, size_t count,
                             struct at_progress *progress)
{
    char *results = at_path_data_file("results");
    struct at_folder folder = {0};

    (void)at_folder_list(&folder, results, ".yaml"); /* without the folder, nothing is known */
    for (size_t i = 0; i < folder.count; i++) {
        struct at_profile profile = {0};
        char *path = at_format("%s/%s", results, folder.names[i]);

        /* An unreadable profile must not prevent the listing. */
        if (at_profile_read(&profile, path, NULL) == AT_OK) {
            at_detail(progress, "read %s", path);
            for (size_t k = 0; k < count; k++)
                devices[k].copy_limit_MB_per_s = at_max(
                    devices[k].copy_limit_MB_per_s, copy_limit_in(&profile, &devices[k].device));
            at_profile_clear(&profile);
        }
        free(path);
    }
    at_folder_clear(&folder);
    free(results);
}

static struct listed_device make_listed(const struct at_device_info *device)
{
    struct listed_device listed = {
        .device = *device,
        .memory_GiB = device->memory_bytes >> 30,
        .l2_MiB = device->l2_bytes >> 20,
    };

    snprintf(listed.ordinal, sizeof listed.ordinal, "%jd", (intmax_t)device->ordinal);
    snprintf(listed.compute_capability, sizeof listed.compute_capability, "%jd.%jd",
             (intmax_t)device->compute_capability / 10, (intmax_t)device->compute_capability % 10);
    return listed;
}

/* ---- the families ---- */

enum { WIDTH = 80, GAP = 2 };

struct param_record {
    char *name, *summary;
    int64_t default_value;
    struct at_list values; /* of int64_t */
};

struct family_record {
    char *name, *summary;
    struct at_list parameters; /* of struct param_record */
};

static const struct at_field param_fields[] = {
    AT_WRITTEN(param_record, name, AT_FIELD_TEXT, AT_COLUMN(1, "parameter")),
    AT_WRITTEN(param_record, summary, AT_FIELD_TEXT, AT_COLUMN(4, "meaning")),
    AT_FIELD(param_record, "default", default_value, .kind = AT_FIELD_INT, AT_COLUMN(2, "default")),
    AT_WRITTEN(param_record, values, AT_FIELD_INTS, AT_COLUMN(3, "values")),
};
static const struct at_schema param_schema = AT_SCHEMA("a parameter", param_record, param_fields);

/* A family in the table of all. */
static const struct at_field listed_fields[] = {
    AT_FIELD(family_record, "family", name, .kind = AT_FIELD_TEXT, AT_COLUMN(1, "family")),
    AT_WRITTEN(family_record, summary, AT_FIELD_TEXT, AT_COLUMN(3, "summary")),
    AT_WRITTEN(family_record, parameters, AT_FIELD_OBJECTS, .object = &param_schema,
               AT_COLUMN(2, "parameters")),
};
static const struct at_schema listed_schema = AT_SCHEMA("a family", family_record, listed_fields);

/* A family whose parameters are the table. */
static const struct at_field family_fields[] = {
    AT_FIELD(family_record, "family", name, .kind = AT_FIELD_TEXT),
    AT_WRITTEN(family_record, summary, AT_FIELD_TEXT),
    AT_WRITTEN(family_record, parameters, AT_FIELD_OBJECTS, .object = &param_schema),
};
static const struct at_schema family_schema = AT_SCHEMA("a family", family_record, family_fields);

/* The names and values are borrowed; the caller frees parameters.items. */
static struct family_record make_record(const struct at_family *family)
{
    struct param_record *params = at_alloc_array(family->param_count, sizeof *params);

    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];

        params[i] = (struct param_record){
            param->name, param->summary, param->default_value, {param->values, param->value_count}};
    }
    return (struct family_record){family->name, family->summary, {params, family->param_count}};
}

static enum at_status print_families(struct at_family *const *families, size_t count,
                                     enum at_output_format format, struct at_error *err)
{
    struct family_record *records = at_alloc_array(count, sizeof *records);
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        records[i] = make_record(families[i]);
    status = at_print_list("families", &listed_schema, records, count, format, stdout, err);
    if (format == AT_FORMAT_TABLE)
        puts("\nautotune explain FAMILY --params lists a family's parameters.");
    for (size_t i = 0; i < count; i++)
        free(records[i].parameters.items);
    free(records);
    return status;
}

/* Print the parameters for people: the name, beside it the meaning, and below that the values. */
static void print_params(const struct at_family *family)
{
    int width = 0;

    for (size_t i = 0; i < family->param_count; i++)
        if ((int)strlen(family->params[i].name) > width)
            width = (int)strlen(family->params[i].name);
    puts(family->name);
    at_flow_paragraph(stdout, WIDTH, GAP, "", family->summary);
    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];
        char *label = at_format("%*s%s", GAP, "", param->name);
        struct at_flow flow;

        putchar('\n');
        at_flow_paragraph(stdout, WIDTH, width + 2 * GAP, label, param->summary);
        flow = at_flow_begin(stdout, WIDTH, width + 2 * GAP, "");
        for (size_t j = 0; j < param->value_count; j++)
            at_flow_add(&flow, "%jd", (intmax_t)param->values[j]);
        at_flow_add(&flow, "(default");
        at_flow_add(&flow, "%jd)", (intmax_t)param->default_value);
        at_flow_end(&flow);
        free(label);
    }
}

enum at_status at_print_params(const struct at_family *family, enum at_output_format format,
                               struct at_error *err)
{
    struct family_record record = make_record(family);
    enum at_status status = AT_OK;

    if (format == AT_FORMAT_TABLE)
        print_params(family);
    else
        status = at_print(&family_schema, &record, format, stdout, err);
    free(record.parameters.items);
    return status;
}

static enum at_status list_families(struct list_options *options, struct at_error *err)
{
    const struct at_session_options *known = &options->run.session;
    enum at_status status = at_run_families(&options->run, err);

    return status == AT_OK
               ? print_families(known->families, known->family_count, options->format, err)
               : status;
}

static void advise_emulated(struct at_error *err)
{
    struct at_folder files;
    char *advice;

    at_description_files(&files);
    advice = at_format("autotune list --emulated lists %zu devices that need no GPU", files.count);
    at_advise(err, advice);
    free(advice);
    at_folder_clear(&files);
}

static enum at_status run_list(void *given, struct at_error *err)
{
    struct list_options *options = given;
    struct at_device_info *infos;
    struct listed_device *devices;
    size_t count;
    enum at_status status;

    if (options->families)
        return list_families(options, err);
    if (options->emulated && at_path_require_data(err) != AT_OK)
        return AT_USAGE;
    status = options->emulated ? at_gpu_list(AT_KIND_EMULATED, &infos, &count, err)
                               : at_select_devices("all", &infos, &count, err);
    if (status == AT_DEVICE && !options->emulated)
        advise_emulated(err);
    if (status != AT_OK)
        return status;
    devices = at_alloc_array(count, sizeof *devices);
    for (size_t i = 0; i < count; i++)
        devices[i] = make_listed(&infos[i]);
    find_copy_limits(devices, count, &options->run.progress);
    status = at_print_list("devices", options->emulated ? &emulated_schema : &gpu_schema, devices,
                           count, options->format, stdout, err);
    free(devices);
    free(infos);
    return status;
}

const struct at_command at_command_list = {
    .name = "list",
    .summary = "devices, emulated devices and kernel families",
    .options = options_table,
    .help =
        "Lists the devices that can be tuned, or what else is known.\vThe copy limit comes from "
        "the shipped profile of "
        "the same model, if there is one. Predictions for an emulated device are \"calibrated\" if "
        "they were fitted to times measured on such a GPU. Otherwise they are scaled from another "
        "GPU by data-sheet figures."
        "\n\nExample:\n  autotune list --emulated",
    .size = sizeof(struct list_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_list,
};
