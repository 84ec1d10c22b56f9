/* SPDX-License-Identifier: Apache-2.0 */
/* Puts together what a report shows. */
#include "base/hash.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/stats.h"
#include "device/kind.h"
#include "emulated/time/description.h"
#include "journal/journal.h"
#include "kernel/render.h"
#include "profile/newest.h"
#include "report/page.h"
#include "space/named.h"

#include <stdlib.h>
#include <string.h>

/* KERNELS_MAX: as many families as a profile may have. BLOCKS of the grid that are counted, as by
 * `autotune explain`. */
enum { KERNELS_MAX = 64, BLOCKS = 256 };

/* Texts, each once: a journal has few families and many configs more than once. */
struct texts {
    char **slots;
    size_t capacity, count; /* the capacity is a power of two */
};

/* A measurement's home: problem, device and policy. */
struct home {
    const char *gpu, *policy, *problem; /* borrowed from the profile */
    struct at_report_search search;
};

struct at_report_searches {
    struct texts texts;
    struct home *homes; /* sorted */
    size_t count;
    size_t taken; /* measurements of the journal that is read */
};

/* ---- the texts of journals ---- */

static char **find_slot(struct texts *texts, const char *text)
{
    size_t i = at_hash64(text, strlen(text), 0) & (texts->capacity - 1);

    while (texts->slots[i] && strcmp(texts->slots[i], text) != 0)
        i = (i + 1) & (texts->capacity - 1);
    return &texts->slots[i];
}

static void make_room(struct texts *texts)
{
    struct texts larger = {.capacity = texts->capacity ? 2 * texts->capacity : 1024,
                           .count = texts->count};

    larger.slots = at_alloc_array(larger.capacity, sizeof *larger.slots);
    for (size_t i = 0; i < texts->capacity; i++)
        if (texts->slots[i])
            *find_slot(&larger, texts->slots[i]) = texts->slots[i];
    free(texts->slots);
    *texts = larger;
}

static const char *keep(struct texts *texts, const char *text)
{
    char **slot;

    if (2 * texts->count >= texts->capacity)
        make_room(texts);
    slot = find_slot(texts, text);
    if (!*slot) {
        *slot = at_strdup(text);
        texts->count++;
    }
    return *slot;
}

/* ---- homes ---- */

static int compare_homes(const void *a, const void *b)
{
    const struct home *x = a, *y = b;
    int order = strcmp(x->problem, y->problem);

    if (order == 0)
        order = strcmp(x->gpu, y->gpu);
    return order ? order : strcmp(x->policy, y->policy);
}

static const char *gpu_of(const struct at_device_record *record, const struct at_entry *entry)
{
    return entry->gpu[0] ? entry->gpu : record->device.uuid;
}

const char *at_report_gpu(const struct at_report_row *row)
{
    return gpu_of(row->record, row->entry);
}

static struct home home_of(const struct at_device_record *record, const struct at_entry *entry)
{
    return (struct home){
        .gpu = gpu_of(record, entry), .policy = record->policy.name, .problem = entry->problem};
}

static struct home *find_home(const struct at_report_searches *searches, const struct home *key)
{
    return bsearch(key, searches->homes, searches->count, sizeof *searches->homes, compare_homes);
}

static struct at_report_searches *make_searches(const struct at_profile *profile)
{
    struct at_report_searches *searches = at_alloc(sizeof *searches);
    size_t capacity = 0;

    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);)
        AT_PUSH(searches->homes, searches->count, capacity, home_of(at.record, at.entry));
    if (searches->count > 0)
        qsort(searches->homes, searches->count, sizeof *searches->homes, compare_homes);
    return searches;
}

static void clear_finals(struct at_report_search *search)
{
    for (size_t i = 0; i < search->final_count; i++)
        free(search->finals[i].samples_ns);
    search->final_count = 0;
}

static void free_searches(struct at_report_searches *searches)
{
    for (size_t i = 0; i < searches->count; i++) {
        clear_finals(&searches->homes[i].search);
        free(searches->homes[i].search.points);
    }
    for (size_t i = 0; i < searches->texts.capacity; i++)
        free(searches->texts.slots[i]);
    free(searches->texts.slots);
    free(searches->homes);
    free(searches);
}

/* The search of a problem; NULL: no journal has it. */
static const struct at_report_search *find_search(const struct at_report_searches *searches,
                                                  const struct at_device_record *record,
                                                  const struct at_entry *entry)
{
    struct home key = home_of(record, entry), *home = find_home(searches, &key);

    return home->search.count > 0 ? &home->search : NULL;
}

/* ---- reading ---- */

/* Where the rows of a journal go. */
struct reading {
    struct at_report *report;
    size_t journal;
};

/* The word that begins the policy's part of a setting; the caller frees it. */
static char *policy_of(const char *setting)
{
    char *part = at_setting_part(setting, AT_SETTING_POLICY);

    part[strcspn(part, " ")] = '\0';
    return part;
}

static struct at_report_point make_point(struct texts *texts, const struct at_journal_entry *entry)
{
    const struct at_measurement *measured = &entry->measurement;
    struct at_report_point point = {.family = keep(texts, entry->key.family),
                                    .config = keep(texts, entry->key.config),
                                    .utc_ms = entry->measured_utc_ms,
                                    .expected_ns = entry->details.expected_ns,
                                    .clock_sm_khz = measured->kernel.clock_sm_khz,
                                    .look = measured->kernel.look,
                                    .outcome = measured->outcome};

    if (measured->outcome == AT_CORRECT) {
        point.ns = at_median(measured->samples_ns, measured->sample_count);
        at_median_interval(measured->samples_ns, measured->sample_count, &point.low_ns,
                           &point.high_ns);
    }
    return point;
}

/* The search that a row of a journal belongs to; NULL: the profile has none. */
static struct at_report_search *search_of(const struct at_report_searches *searches,
                                          const char *gpu, const char *setting, const char *problem)
{
    char *policy = policy_of(setting);
    const struct home key = {.gpu = gpu, .policy = policy, .problem = problem};
    struct home *home = find_home(searches, &key);

    free(policy);
    return home ? &home->search : NULL;
}

/* Of the run that is shown, and of its shoot-outs the last. Those of an earlier journal go. */
static void take_final(void *data, const struct at_journal_entry *entry)
{
    struct at_report_searches *searches = ((struct reading *)data)->report->searches;
    struct at_report_search *search =
        search_of(searches, entry->details.gpu, entry->setting, entry->key.problem);
    const double *samples_ns = entry->measurement.samples_ns;
    size_t count = entry->measurement.sample_count;
    struct at_report_final *kept;

    if (!search || entry->run != search->run)
        return;
    if (entry->place == 0)
        clear_finals(search);
    if (search->final_count == AT_REPORT_FINALS_MAX)
        return;
    kept = &search->finals[search->final_count++];
    *kept = (struct at_report_final){
        .family = keep(&searches->texts, entry->key.family),
        .config = keep(&searches->texts, entry->key.config),
        .samples_ns = at_memdup(samples_ns, count * sizeof *samples_ns),
        .sample_count = count,
        .ns = at_median(samples_ns, count),
        .won = entry->won,
    };
    at_median_interval(samples_ns, count, &kept->low_ns, &kept->high_ns);
}

static void take(void *data, const struct at_journal_entry *entry)
{
    struct at_report_searches *searches = ((struct reading *)data)->report->searches;
    struct at_report_search *search =
        search_of(searches, entry->details.gpu, entry->setting, entry->key.problem);

    if (!search)
        return;
    searches->taken++;
    if (entry->run < search->run)
        return;
    if (entry->run > search->run)
        search->count = search->older;
    search->run = entry->run;
    AT_PUSH(search->points, search->count, search->capacity, make_point(&searches->texts, entry));
}

static void take_phase(void *data, const struct at_journal_entry *entry)
{
    const struct reading *reading = data;
    struct at_report *report = reading->report;
    struct texts *texts = &report->searches->texts;
    char *policy = policy_of(entry->setting);
    const struct at_report_phase phase = {
        .gpu = keep(texts, entry->details.gpu),
        .policy = keep(texts, policy),
        .problem = keep(texts, entry->key.problem),
        .journal = reading->journal,
        .run = entry->run,
        .phase = entry->phase.phase,
        .tuner = entry->phase.tuner,
        .began_ms = entry->ended_utc_ms - entry->phase.took_ms,
        .took_ms = entry->phase.took_ms,
        .gpu_ms = entry->phase.gpu_ms,
    };

    AT_PUSH(report->phases, report->phase_count, report->phase_capacity, phase);
    free(policy);
}

static enum at_status read_journal(struct at_report *report, size_t number, struct at_error *err)
{
    struct at_report_searches *searches = report->searches;
    struct reading reading = {report, number};
    enum at_status status;

    searches->taken = 0;
    for (size_t i = 0; i < searches->count; i++) {
        searches->homes[i].search.older = searches->homes[i].search.count;
        searches->homes[i].search.run = 0;
    }
    status = at_journal_read(report->journals[number], take, take_final, take_phase, &reading, err);
    report->taken[number] = searches->taken;
    return status;
}

/* ---- after reading ---- */

/* By config, then by age. Addresses stand for texts: any order will do. */
static int compare_configs(const void *a, const void *b)
{
    const struct at_report_point *x = *(const struct at_report_point *const *)a;
    const struct at_report_point *y = *(const struct at_report_point *const *)b;

    if (x->config != y->config)
        return x->config < y->config ? -1 : 1;
    if (x->family != y->family)
        return x->family < y->family ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Drop all but the last measurement of each config. */
static void drop_older(struct at_report_search *search)
{
    const struct at_report_point **sorted = at_alloc_array(search->count, sizeof *sorted);
    bool *dropped = at_alloc_array(search->count, sizeof *dropped);
    size_t kept = 0;

    for (size_t i = 0; i < search->count; i++)
        sorted[i] = &search->points[i];
    qsort(sorted, search->count, sizeof *sorted, compare_configs);
    for (size_t i = 0; i + 1 < search->count; i++)
        dropped[sorted[i] - search->points] = sorted[i]->config == sorted[i + 1]->config &&
                                              sorted[i]->family == sorted[i + 1]->family;
    for (size_t i = 0; i < search->count; i++)
        if (!dropped[i])
            search->points[kept++] = search->points[i];
    search->count = kept;
    free(sorted);
    free(dropped);
}

static int compare_finals(const void *a, const void *b)
{
    const struct at_report_final *x = a, *y = b;
    int order;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    order = strcmp(x->family, y->family);
    return order ? order : strcmp(x->config, y->config);
}

static void order_finals(struct at_report_search *search)
{
    const struct at_report_final *fastest = search->finals;

    if (search->final_count > 0)
        qsort(search->finals, search->final_count, sizeof *search->finals, compare_finals);
    for (size_t i = 0; i < search->final_count; i++) {
        struct at_report_final *final = &search->finals[i];

        final->tied = i == 0 || (final->sample_count == fastest->sample_count &&
                                 at_samples_equal(final->samples_ns, fastest->samples_ns,
                                                  final->sample_count));
    }
}

static void finish_search(struct at_report_search *search)
{
    if (search->count > 0)
        drop_older(search);
    order_finals(search);
    search->best_index = search->count;
    for (size_t i = 0; i < search->count; i++)
        if (search->points[i].ns > 0 &&
            (search->best_index == search->count ||
             search->points[i].ns < search->points[search->best_index].ns))
            search->best_index = i;
}

/* Every measurement of the searches that made the profile. */
static enum at_status read_journals(struct at_report *report, struct at_error *err)
{
    struct at_report_searches *searches = make_searches(report->profile);
    enum at_status status = AT_OK;

    report->searches = searches;
    report->taken = at_alloc_array(report->journal_count, sizeof *report->taken);
    for (size_t i = 0; i < report->journal_count && status == AT_OK; i++)
        status = read_journal(report, i, err);
    for (size_t i = 0; i < searches->count; i++)
        finish_search(&searches->homes[i].search);
    return status;
}

/* ---- rows ---- */

static int64_t share(const struct at_report_row *row)
{
    return row->winner->of_copy_permille;
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

/* From the intervals of both medians; from both spreads where a profile has none. */
static struct at_report_change compare_results(const struct at_result_record *old,
                                               const struct at_result_record *new, bool clear)
{
    double permille = 1000 * ((double)new->time_ns / (double)old->time_ns - 1);
    double spread = (double)(old->spread_permille + new->spread_permille) / 2;
    struct at_report_change change = {permille, permille - spread, permille + spread,
                                      !clear         ? AT_REPORT_ALIKE
                                      : permille > 0 ? AT_REPORT_SLOWER
                                                     : AT_REPORT_FASTER};

    if (old->time_low_ns > 0 && old->time_high_ns > 0 && new->time_low_ns > 0 &&
        new->time_high_ns > 0) {
        change.low = 1000 * ((double)new->time_low_ns / (double)old->time_high_ns - 1);
        change.high = 1000 * ((double)new->time_high_ns / (double)old->time_low_ns - 1);
    }
    return change;
}

static void find_old(struct at_report *report, struct at_report_row *row)
{
    struct at_difference difference = {.to_record = row->record, .to = row->entry};

    if (report->baseline)
        row->old = at_diff_counterpart(report->baseline, row->record, row->entry, &row->old_record);
    if (!row->old)
        return;
    difference.from_record = row->old_record;
    difference.from = row->old;
    row->change =
        compare_results(&row->old->winner, row->winner, at_difference_is_clear(&difference));
    report->verdicts[row->change.verdict]++;
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
                               const struct at_device_record *record, const struct at_entry *entry,
                               struct at_error *err)
{
    struct at_report_row row = {.record = record,
                                .entry = entry,
                                .winner = &entry->winner,
                                .percent = (double)entry->winner.of_copy_permille / 10};
    enum at_status status = at_problem_parse(&row.problem, entry->problem, err);

    if (status != AT_OK)
        return status;
    row.bytes = at_problem_bytes(&row.problem);
    row.small = at_entry_is_small(entry, &record->device);
    row.search = find_search(report->searches, record, entry);
    snprintf(row.anchor, sizeof row.anchor, "p%zu-%zu", device->index, device->count);
    find_old(report, &row);
    add_kernel(report, entry->winner.family);
    add_search(report, device, row.search);
    AT_PUSH(device->rows, device->count, device->capacity, row);
    return AT_OK;
}

/* Throttling is unknown if one record does not know it, else the first reason that one knows. */
static void add_conditions(struct at_report_device *device, const struct at_conditions *seen)
{
    struct at_conditions *all = &device->conditions;

    if (device->record_count == 1) {
        *all = *seen;
        return;
    }
    all->clock_sm_min_khz = at_min_known(all->clock_sm_min_khz, seen->clock_sm_min_khz);
    all->clock_sm_max_khz = at_max(all->clock_sm_max_khz, seen->clock_sm_max_khz);
    all->power_max_mW = at_max(all->power_max_mW, seen->power_max_mW);
    all->temperature_max_c = at_max(all->temperature_max_c, seen->temperature_max_c);
    all->other_processes = at_max(all->other_processes, seen->other_processes);
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
    device->predicted = at_device_kind(&record->device)->predicted;
    device->unit = device->predicted ? "predicted µs" : "µs";
    return device;
}

static enum at_status add_record(struct at_report *report, const struct at_device_record *record,
                                 struct at_error *err)
{
    struct at_report_device *device = device_of(report, record);
    const struct at_entry *entries = record->problems.items;
    enum at_status status = AT_OK;

    device->record_count++;
    add_conditions(device, &record->conditions);
    for (size_t i = 0; i < record->problems.count && status == AT_OK; i++)
        status = make_row(report, device, record, &entries[i], err);
    return status;
}

/* ---- costs ---- */

static enum at_status count_row(const struct at_report *report, struct at_report_row *row,
                                const char *header, struct at_error *err)
{
    const struct at_result_record *winner = row->winner;
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
                            BLOCKS, NULL, costs, err);
    return status == AT_OK ? AT_OK : at_fail_within(err, "%s", row->entry->problem);
}

static enum at_status count_costs(struct at_report *report, size_t most, struct at_error *err)
{
    char *header = NULL;
    size_t done = 0, all = 0;
    enum at_status status = most > 0 ? at_template_header_read(&header, err) : AT_OK;

    for (size_t i = 0; i < report->device_count; i++)
        all += report->devices[i].count < most ? report->devices[i].count : most;
    for (size_t i = 0; i < report->device_count; i++)
        for (size_t j = 0; j < report->devices[i].count && j < most && status == AT_OK; j++) {
            struct at_report_row *row = &report->devices[i].rows[j];

            at_progress_step(report->progress, row->entry->problem, done++, all);
            status = count_row(report, row, header, err);
        }
    at_progress_clear(report->progress);
    free(header);
    return status;
}

/* ---- all of it ---- */

enum at_status at_report_make(struct at_report *report, size_t explained, struct at_error *err)
{
    const struct at_device_record *records = report->profile->devices.items;
    enum at_status status = read_journals(report, err);

    report->devices = at_alloc_array(report->profile->devices.count, sizeof *report->devices);
    for (size_t i = 0; i < report->profile->devices.count && status == AT_OK; i++)
        status = add_record(report, &records[i], err);
    for (size_t i = 0; i < report->device_count; i++)
        report->row_count += report->devices[i].count;
    for (size_t i = 0; i < report->device_count; i++) {
        struct at_report_device *device = &report->devices[i];
        size_t share = AT_REPORT_OPEN_MAX / report->device_count;

        if (device->count > 0)
            qsort(device->rows, device->count, sizeof *device->rows, compare_rows);
        for (size_t j = 0; j < device->count; j++)
            at_means_add(&device->means, device->rows[j].entry, &device->rows[j].record->device);
        device->open =
            report->row_count > AT_REPORT_OPEN_MAX && device->count > share ? share : device->count;
    }
    if (report->baseline)
        report->diff = at_diff_make(report->baseline, report->profile, false);
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
    free(report->taken);
    free(report->phases);
    if (report->searches)
        free_searches(report->searches);
    at_diff_clear(&report->diff);
}

/* ---- the words of options ---- */

struct at_choice at_report_form_choice(size_t index)
{
    static const struct at_choice forms[] = {
        [AT_REPORT_HTML] = {.name = "html"},
        [AT_REPORT_MARKDOWN] = {.name = "markdown", .note = "a table for pull requests"},
        {0},
    };

    return forms[index];
}
