/* SPDX-License-Identifier: Apache-2.0 */
/* How a profile was made: by which device and software, when, and by which command. */
#include "base/memory.h"
#include "report/html.h"
#include "report/sections.h"

#include <inttypes.h>
#include <string.h>

/* More problems than this are in a list of their own. */
enum { NAMED = 6 };

static void print_item(FILE *out, const char *name)
{
    fprintf(out, "<dt>%s</dt><dd>", name);
}

static void print_pair(FILE *out, const char *before, const char *text)
{
    if (!text[0])
        return;
    fputs(before, out);
    at_html(out, text);
}

/* The Gregorian date of a day since 1970; years begin in March here, so that the leap day is the
 * last (https://howardhinnant.github.io/date_algorithms.html#civil_from_days). */
static void print_date(FILE *out, int64_t utc_ms)
{
    int64_t minutes = utc_ms / 60000, days = minutes / 1440 + 719468;
    int64_t era = days / 146097, day_of_era = days % 146097;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month = (5 * day_of_year + 2) / 153; /* 0: March */
    int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
    int64_t year = year_of_era + era * 400 + (month >= 10);

    fprintf(out, "%jd-%02jd-%02jd %02jd:%02jd", (intmax_t)year,
            (intmax_t)(month < 10 ? month + 3 : month - 9), (intmax_t)day,
            (intmax_t)(minutes / 60 % 24), (intmax_t)(minutes % 60));
}

static void print_device(const struct at_device_info *device, FILE *out)
{
    print_item(out, "device");
    at_html(out, device->name);
    fprintf(out, ", compute capability %jd.%jd, %jd multiprocessors, %.1f GiB",
            (intmax_t)(device->compute_capability / 10),
            (intmax_t)(device->compute_capability % 10), (intmax_t)device->multiprocessors,
            (double)device->memory_bytes / (1 << 30));
    if (device->peak_bandwidth_MB_per_s > 0) {
        fputs(", memory peak ", out);
        at_html_count(out, (device->peak_bandwidth_MB_per_s + 500) / 1000);
        fputs(" GB/s by clock and width", out);
    }
    fputs("</dd>\n", out);
}

static void print_software(const struct at_environment *software, FILE *out)
{
    print_item(out, "software");
    print_pair(out, "autotune ", software->autotune);
    print_pair(out, ", driver ", software->driver);
    print_pair(out, ", CUDA ", software->cuda_driver);
    print_pair(out, ", NVRTC ", software->nvrtc);
    print_pair(out, ", templates ", software->templates);
    fputs("</dd>\n", out);
}

static void print_policy(const struct at_report_device *device, FILE *out)
{
    const struct at_policy_record *policy = &device->record->policy;

    print_item(out, "policy");
    at_html(out, policy->name);
    if (!device->predicted)
        fprintf(out,
                ": trains of %.0f µs%s, %jd samples a config in the search, %jd a finalist in the "
                "shoot-out",
                (double)policy->train_ns / 1000,
                policy->buffer_bytes ? " through more bytes than the L2 cache holds" : "",
                (intmax_t)policy->search_samples, (intmax_t)policy->shootout_samples);
    fputs("</dd>\n", out);
}

static void print_conditions(const struct at_conditions *seen, FILE *out)
{
    const char *before = "";

    if (!seen->clock_sm_max_khz && !seen->power_max_mW && !seen->temperature_max_c)
        return;
    print_item(out, "conditions");
    if (seen->clock_sm_max_khz) {
        fprintf(out, "SM clock %.0f to %.0f MHz", (double)seen->clock_sm_min_khz / 1000,
                (double)seen->clock_sm_max_khz / 1000);
        before = ", ";
    }
    if (seen->power_max_mW) {
        fprintf(out, "%sat most %.0f W", before, (double)seen->power_max_mW / 1000);
        before = ", ";
    }
    if (seen->temperature_max_c)
        fprintf(out, "%sat most %jd °C", before, (intmax_t)seen->temperature_max_c);
    fputs("</dd>\n", out);
}

static void print_dates(const struct at_report_device *device, FILE *out)
{
    print_item(out, "date");
    if (device->points == 0) {
        fputs("not known: a profile has no dates, and no journal has these problems</dd>\n", out);
        return;
    }
    print_date(out, device->first_ms);
    fputs(" to ", out);
    print_date(out, device->last_ms);
    fputs(" UTC, ", out);
    at_html_count(out, device->points);
    fputs(" evaluations in the journal</dd>\n", out);
}

/* Were all problems searched in the same way? */
static bool is_one_search(const struct at_report_device *device)
{
    const struct at_entry *first = device->rows[0].entry;

    for (size_t i = 1; i < device->count; i++) {
        const struct at_entry *entry = device->rows[i].entry;

        if (strcmp(entry->search, first->search) != 0 || entry->seed != first->seed)
            return false;
    }
    return true;
}

/* The profile does not have the budget, the families and the options of a run. */
static void print_command(const struct at_report_device *device, FILE *out)
{
    const struct at_entry *entry = device->rows[0].entry;
    bool listed = device->count > NAMED;

    print_item(out, "to repeat it");
    fputs("<code>autotune tune --gpu ", out);
    at_html(out, device->predicted ? device->record->device.uuid : "0");
    print_pair(out, " --policy ", device->record->policy.name);
    print_pair(out, " --search ", entry->search);
    fprintf(out, " --seed %jd", (intmax_t)entry->seed);
    for (size_t i = 0; i < device->count && !listed; i++)
        print_pair(out, " --problem ", device->rows[i].entry->problem);
    fprintf(out, "%s --out FILE</code>", listed ? " --problems LIST" : "");
    if (!is_one_search(device))
        fputs(" (the search of the worst problem; others were searched otherwise)", out);
    if (listed) {
        fputs("<details><summary>LIST</summary><pre>schema: 1\nproblems:\n", out);
        for (size_t i = 0; i < device->count; i++)
            print_pair(out, i ? "\n  - " : "  - ", device->rows[i].entry->problem);
        fputs("</pre></details>", out);
    }
    fputs("</dd>\n", out);
}

void at_report_made(const struct at_report_device *device, FILE *out)
{
    fputs("<h3>How it was made</h3>\n<dl>\n", out);
    print_device(&device->record->device, out);
    print_software(&device->record->environment, out);
    if (device->record_count > 1) {
        print_item(out, "records");
        fprintf(out, "%zu in the profile, of several GPUs or versions; above is the first</dd>\n",
                device->record_count);
    }
    print_policy(device, out);
    print_conditions(&device->conditions, out);
    if (device->count > 0) {
        print_dates(device, out);
        print_command(device, out);
    }
    fputs("</dl>\n", out);
}
