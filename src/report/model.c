/* SPDX-License-Identifier: Apache-2.0 */
/* Puts together what a report shows. */
#include "base/memory.h"
#include "kernel/render.h"
#include "model/description.h"
#include "report/sections.h"
#include "space/named.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* KERNELS_MAX: as many families as a profile may have. BLOCKS of the grid that are counted, as by
 * `autotune explain`. */
enum { KERNELS_MAX = 64, BLOCKS = 256 };

static int64_t share(const struct at_report_row *row)
{
    return row->entry->winner.of_copy_permille;
}

static int compare_rows(const void *a, const void *b)
{
    const struct at_report_row *x = a, *y = b;

    if (share(x) != share(y))
        return share(x) < share(y) ? -1 : 1;
    return strcmp(x->entry->problem, y->entry->problem);
}

/* More than KERNELS_MAX are not ours: those of a hostile journal are left out of the pictures. */
static void add_kernel(struct at_report *report, const char *name)
{
    if (report->kernel_count == KERNELS_MAX)
        return;
    for (size_t i = 0; i < report->kernel_count; i++)
        if (strcmp(report->kernels[i], name) == 0)
            return;
    AT_PUSH(report->kernels, report->kernel_count, report->kernel_capacity, name);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *at_report_words(const struct at_report *report, const char *family, const char *name)
{
    for (size_t i = 0; i < report->family_count; i++) {
        const struct at_family *known = report->families[i];

        for (size_t j = 0; j < known->param_count && strcmp(known->name, family) == 0; j++)
            if (strcmp(known->params[j].name, name) == 0)
                return known->params[j].summary;
    }
    return "";
}

static void find_old(const struct at_report *report, const struct at_device_record *record,
                     struct at_report_row *row)
{
    const struct at_device_record *old_record = NULL;

    if (!report->baseline)
        return;
    row->old = at_diff_counterpart(report->baseline, record, row->entry, &old_record);
    row->difference = (struct at_difference){
        .from_record = old_record, .to_record = record, .from = row->old, .to = row->entry};
}

static void add_look(struct at_report_throttling *seen, const struct at_look *look)
{
    seen->looks += look->throttle_known != 0;
    seen->throttled += look->throttle != 0;
    for (size_t i = 0; i < AT_THROTTLES; i++)
        seen->counts[i] += look->throttle >> i & 1;
}

/* Note the families, the times and the throttling of a row's search. */
static void add_search(struct at_report *report, struct at_report_device *device,
                       const struct at_report_search *search)
{
    const char *last = NULL;

    for (size_t i = 0; search && i < search->count; i++) {
        const struct at_report_point *point = &search->points[i];

        if (point->family != last)
            add_kernel(report, point->family);
        last = point->family;
        if (device->points == 0 || point->utc_ms < device->first_ms)
            device->first_ms = point->utc_ms;
        if (point->utc_ms > device->last_ms)
            device->last_ms = point->utc_ms;
        add_look(&device->throttling, &point->look);
        device->points++;
    }
}

static enum at_status make_row(struct at_report *report, struct at_report_device *device,
                               const struct at_device_record *record,
                               const struct at_report_searches *searches,
                               const struct at_entry *entry, struct at_error *err)
{
    struct at_report_row row = {.record = record, .entry = entry};
    enum at_status status = at_problem_parse(&row.problem, entry->problem, err);

    if (status != AT_OK)
        return status;
    row.bytes = at_problem_bytes(&row.problem);
    row.search = at_report_search_of(searches, record, entry);
    snprintf(row.anchor, sizeof row.anchor, "p%zu-%zu", device->index, device->count);
    find_old(report, record, &row);
    add_kernel(report, entry->winner.family);
    add_search(report, device, row.search);
    AT_PUSH(device->rows, device->count, device->capacity, row);
    return AT_OK;
}

static void find_means(struct at_report_device *device)
{
    double copy = 0, over = 0;
    size_t defaults = 0;

    for (size_t i = 0; i < device->count; i++) {
        const struct at_entry *entry = device->rows[i].entry;

        copy +=
            log((double)(entry->winner.of_copy_permille > 0 ? entry->winner.of_copy_permille : 1) /
                1000);
        if (entry->fallback.time_ns > 0) {
            over += log((double)entry->fallback.time_ns / (double)entry->winner.time_ns);
            defaults++;
        }
    }
    device->of_copy = device->count > 0 ? exp(copy / (double)device->count) : 0;
    device->over_default = defaults > 0 ? exp(over / (double)defaults) : 0;
}

static int64_t least_known(int64_t a, int64_t b)
{
    return a == 0 || (b > 0 && b < a) ? b : a;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Throttling is unknown if one record does not know it, else the first reason that one knows. */
static void add_conditions(struct at_report_device *device, const struct at_conditions *seen)
{
    struct at_conditions *all = &device->conditions;

    if (device->record_count == 1) {
        *all = *seen;
        return;
    }
    all->clock_sm_min_khz = least_known(all->clock_sm_min_khz, seen->clock_sm_min_khz);
    all->clock_sm_max_khz = most(all->clock_sm_max_khz, seen->clock_sm_max_khz);
    all->power_max_mW = most(all->power_max_mW, seen->power_max_mW);
    all->temperature_max_c = most(all->temperature_max_c, seen->temperature_max_c);
    all->other_processes = most(all->other_processes, seen->other_processes);
    all->capped_ms += seen->capped_ms;
    all->slowed_ms += seen->slowed_ms;
    all->discarded_samples += seen->discarded_samples;
    all->drifts += seen->drifts;
    all->remeasured += seen->remeasured;
    if (all->throttle[0] && (!seen->throttle[0] || strcmp(all->throttle, "none") == 0))
        memcpy(all->throttle, seen->throttle, sizeof all->throttle);
}

/* The device that a record belongs to. */
static struct at_report_device *device_of(struct at_report *report,
                                          const struct at_device_record *record)
{
    struct at_report_device *device = report->devices;

    for (; device < report->devices + report->device_count; device++)
        if (strcmp(device->record->device.name, record->device.name) == 0 &&
            strcmp(device->record->device.kind, record->device.kind) == 0 &&
            strcmp(device->record->policy.name, record->policy.name) == 0)
            return device;
    device->index = report->device_count++;
    device->record = record;
    device->predicted = at_device_is_emulated(&record->device);
    device->unit = device->predicted ? "predicted µs" : "µs";
    return device;
}

static enum at_status add_record(struct at_report *report, const struct at_device_record *record,
                                 const struct at_report_searches *searches, struct at_error *err)
{
    struct at_report_device *device = device_of(report, record);
    const struct at_entry *entries = record->problems.items;
    enum at_status status = AT_OK;

    device->record_count++;
    add_conditions(device, &record->conditions);
    for (size_t i = 0; i < record->problems.count && status == AT_OK; i++)
        status = make_row(report, device, record, searches, &entries[i], err);
    return status;
}

/* ---- costs ---- */

static enum at_status count_row(const struct at_report *report, struct at_report_row *row,
                                const char *header, struct at_error *err)
{
    const struct at_result_record *winner = &row->entry->winner;
    const struct at_device_info *device = &row->record->device;
    struct at_explanation *costs = at_alloc(sizeof *costs);
    struct at_device_info description;
    struct at_rates rates;
    struct at_config config;
    bool described;
    enum at_status status;

    row->costs = costs; /* to be freed however this ends */
    status = at_config_from_names(&config, report->families, report->family_count, winner->family,
                                  &winner->parameters, err);
    if (status == AT_OK)
        status = at_description_find(&description, &rates, &described, device, err);
    if (status == AT_OK)
        status = at_config_require(&config, &row->problem, device, NULL, err);
    if (status == AT_OK)
        status = at_explain(&config, &row->problem, device, described ? &rates : NULL, header,
                            BLOCKS, costs, err);
    return status == AT_OK ? AT_OK : at_fail_within(err, "%s", row->entry->problem);
}

static enum at_status count_costs(struct at_report *report, size_t most, struct at_error *err)
{
    char *header = NULL;
    enum at_status status = most > 0 ? at_template_read(&header, AT_TEMPLATE_HEADER, err) : AT_OK;

    for (size_t i = 0; i < report->device_count; i++)
        for (size_t j = 0; j < report->devices[i].count && j < most && status == AT_OK; j++)
            status = count_row(report, &report->devices[i].rows[j], header, err);
    free(header);
    return status;
}

/* ---- all of it ---- */

enum at_status at_report_make(struct at_report *report, const struct at_report_searches *searches,
                              size_t explained, struct at_error *err)
{
    const struct at_device_record *records = report->profile->devices.items;
    enum at_status status = AT_OK;

    report->devices = at_alloc_array(report->profile->devices.count, sizeof *report->devices);
    for (size_t i = 0; i < report->profile->devices.count && status == AT_OK; i++)
        status = add_record(report, &records[i], searches, err);
    for (size_t i = 0; i < report->device_count; i++)
        report->row_count += report->devices[i].count;
    for (size_t i = 0; i < report->device_count; i++) {
        struct at_report_device *device = &report->devices[i];
        size_t share = AT_REPORT_OPEN_MAX / report->device_count;

        if (device->count > 0)
            qsort(device->rows, device->count, sizeof *device->rows, compare_rows);
        find_means(device);
        device->open =
            report->row_count > AT_REPORT_OPEN_MAX && device->count > share ? share : device->count;
    }
    if (report->baseline)
        report->diff = at_diff_make(report->baseline, report->profile);
    if (report->kernel_count > 0)
        qsort(report->kernels, report->kernel_count, sizeof *report->kernels, compare_names);
    return status == AT_OK ? count_costs(report, explained, err) : status;
}

void at_report_clear(struct at_report *report)
{
    for (size_t i = 0; i < report->device_count; i++) {
        struct at_report_device *device = &report->devices[i];

        for (size_t j = 0; j < device->count; j++) {
            if (device->rows[j].costs)
                at_schema_clear(&at_explanation_schema, device->rows[j].costs);
            free(device->rows[j].costs);
        }
        free(device->rows);
    }
    free(report->devices);
    free(report->kernels);
    at_diff_clear(&report->diff);
}

/* ---- the words of options ---- */

struct at_choice at_report_form_choice(size_t index)
{
    static const struct at_choice forms[] = {
        [AT_REPORT_HTML] = {"html", NULL},
        [AT_REPORT_MARKDOWN] = {"markdown", "a table for pull requests"},
        {0},
    };

    return forms[index];
}
