/* SPDX-License-Identifier: Apache-2.0 */
#include "base/flow.h"
#include "base/memory.h"
#include "profile/merge.h"
#include "profile/show.h"

#include <math.h>

enum { SUMMARY_INDENT = 2 };

char *at_show_fixed(char cell[AT_SHOW_CELL_CHARS], int64_t value, int64_t unit, int decimals)
{
    int64_t scale = 1, scaled;

    for (int i = 0; i < decimals; i++)
        scale *= 10;
    scaled = value / unit * scale + (value % unit * scale + unit / 2) / unit;
    if (decimals > 0)
        snprintf(cell, AT_SHOW_CELL_CHARS, "%jd.%0*jd", (intmax_t)(scaled / scale), decimals,
                 (intmax_t)(scaled % scale));
    else
        snprintf(cell, AT_SHOW_CELL_CHARS, "%jd", (intmax_t)scaled);
    return cell;
}

/* Of several records, each says of how many problems it is. */
static void show_software(const struct at_device_record *record, bool alone, FILE *out)
{
    const struct at_environment *environment = &record->environment;
    struct at_flow flow = at_flow_begin(out, AT_SHOW_WIDTH, AT_SHOW_LABEL_WIDTH, "  software");

    if (environment->driver[0])
        at_flow_add(&flow, "driver %s,", environment->driver);
    if (environment->cuda_driver[0])
        at_flow_add(&flow, "CUDA %s,", environment->cuda_driver);
    if (environment->nvrtc[0])
        at_flow_add(&flow, "NVRTC %s,", environment->nvrtc);
    at_flow_add(&flow, "autotune %s%s", environment->autotune, alone ? "" : ":");
    if (!alone)
        at_flow_add(&flow, "%zu problem%s", record->problems.count,
                    record->problems.count == 1 ? "" : "s");
    at_flow_end(&flow);
}

static void show_policy(const struct at_policy_record *policy, FILE *out)
{
    struct at_flow flow = at_flow_begin(out, AT_SHOW_WIDTH, AT_SHOW_LABEL_WIDTH, "  policy");
    char cell[AT_SHOW_CELL_CHARS];

    at_flow_add(&flow, "%s: trains of %s us%s", policy->name,
                at_show_fixed(cell, policy->train_ns, 1000, 0), policy->buffer_bytes ? "" : ",");
    if (policy->buffer_bytes)
        at_flow_add(&flow, "through %s MiB,",
                    at_show_fixed(cell, policy->buffer_bytes, 1 << 20, 0));
    at_flow_add(&flow, "%jd samples per config,", (intmax_t)policy->search_samples);
    at_flow_add(&flow, "%jd per finalist", (intmax_t)policy->shootout_samples);
    at_flow_end(&flow);
}

/* Show what disturbed the measurements, with how often or how long. */
static void show_troubles(const struct at_conditions *seen, struct at_flow *flow)
{
    const struct {
        const char *what;
        int64_t amount;
        const char *unit;
    } troubles[] = {
        {"at the power limit", seen->capped_ms, " ms"},
        {"slowed by heat or supply", seen->slowed_ms, " ms"},
        {"samples taken again", seen->discarded_samples, ""},
        {"drifts", seen->drifts, ""},
        {"configs measured again", seen->remeasured, ""},
        {"other processes", seen->other_processes, ""},
    };

    for (size_t i = 0; i < AT_COUNT(troubles); i++)
        if (troubles[i].amount > 0)
            at_flow_add(flow, "%s: %jd%s,", troubles[i].what, (intmax_t)troubles[i].amount,
                        troubles[i].unit);
}

/* Show the device's state while it measured. What is unknown is left out. */
static void show_conditions(const struct at_conditions *seen, FILE *out)
{
    struct at_flow flow = at_flow_begin(out, AT_SHOW_WIDTH, AT_SHOW_LABEL_WIDTH, "  conditions");
    char low[AT_SHOW_CELL_CHARS], high[AT_SHOW_CELL_CHARS];

    if (seen->clock_sm_max_khz)
        at_flow_add(&flow, "SM %s to %s MHz,", at_show_fixed(low, seen->clock_sm_min_khz, 1000, 0),
                    at_show_fixed(high, seen->clock_sm_max_khz, 1000, 0));
    if (seen->clock_memory_khz)
        at_flow_add(&flow, "memory %s MHz,", at_show_fixed(low, seen->clock_memory_khz, 1000, 0));
    if (seen->power_max_mW)
        at_flow_add(&flow, "max %s W,", at_show_fixed(low, seen->power_max_mW, 1000, 0));
    if (seen->temperature_max_c)
        at_flow_add(&flow, "max %jd C,", (intmax_t)seen->temperature_max_c);
    show_troubles(seen, &flow);
    at_flow_add(&flow, "throttling: %s", seen->throttle[0] ? seen->throttle : "not known");
    at_flow_end(&flow);
}

/* Return the geometric mean of the problems' share of the copy limit in permille, and of the
 * default configs' times over the winners' in permille (0: none was measured); *worst is the entry
 * with the smallest share. */
static int64_t find_means(const struct at_list *problems, const struct at_entry **worst,
                          int64_t *over_default_permille)
{
    const struct at_entry *entries = problems->items;
    double copies = 0, gains = 0;
    size_t gain_count = 0;

    *worst = &entries[0];
    for (size_t i = 0; i < problems->count; i++) {
        const struct at_result_record *winner = &entries[i].winner;

        copies += log((double)(winner->of_copy_permille > 0 ? winner->of_copy_permille : 1));
        if (winner->of_copy_permille < (*worst)->winner.of_copy_permille)
            *worst = &entries[i];
        if (entries[i].fallback.time_ns == 0)
            continue;
        gains += log((double)entries[i].fallback.time_ns / (double)winner->time_ns);
        gain_count++;
    }
    *over_default_permille =
        gain_count > 0 ? (int64_t)llround(1000 * exp(gains / (double)gain_count)) : 0;
    return (int64_t)llround(exp(copies / (double)problems->count));
}

/* Show the answer first: "50 problems: 97.1 % of copy, worst 88.0 % (4095x4097:f32), 2.31x over
 * default". */
static void show_summary(const struct at_list *problems, const struct at_show_style *style,
                         FILE *out)
{
    const struct at_entry *worst;
    int64_t over_default_permille;
    int64_t of_copy_permille = find_means(problems, &worst, &over_default_permille);
    char cell[AT_SHOW_CELL_CHARS];
    struct at_flow flow;

    fputs(style->strong, out);
    flow = at_flow_begin(out, AT_SHOW_WIDTH, SUMMARY_INDENT, "");
    at_flow_add(&flow, "%zu problem%s: %s %% of copy%s", problems->count,
                problems->count == 1 ? "" : "s", at_show_fixed(cell, of_copy_permille, 10, 1),
                problems->count > 1 || over_default_permille > 0 ? "," : "");
    if (problems->count > 1)
        at_flow_add(&flow, "worst %s %% (%s)%s",
                    at_show_fixed(cell, worst->winner.of_copy_permille, 10, 1), worst->problem,
                    over_default_permille > 0 ? "," : "");
    if (over_default_permille > 0)
        at_flow_add(&flow, "%sx over default", at_show_fixed(cell, over_default_permille, 1000, 2));
    at_flow_end(&flow);
    fputs(style->plain, out);
}

void at_show_heading(const struct at_show_section *section, const struct at_show_style *style,
                     FILE *out)
{
    const struct at_device_record *record = section->records[section->count - 1];
    const struct at_device_info *device = &record->device;
    struct at_conditions seen = record->conditions;
    char cell[AT_SHOW_CELL_CHARS];

    fprintf(out, "%s%s%s, compute capability %jd.%jd, %jd multiprocessors, %s GiB\n", style->strong,
            device->name, style->plain, (intmax_t)(device->compute_capability / 10),
            (intmax_t)(device->compute_capability % 10), (intmax_t)device->multiprocessors,
            at_show_fixed(cell, device->memory_bytes, (int64_t)1 << 30, 1));
    if (at_device_is_emulated(device))
        fprintf(out, "  %semulated: %s%s\n", style->strong, at_emulated_times(device),
                style->plain);
    if (section->problems.count > 0)
        show_summary(&section->problems, style, out);
    for (size_t i = section->count; i-- > 0;)
        show_software(section->records[i], section->count == 1, out);
    for (size_t i = 0; i + 1 < section->count; i++)
        at_conditions_join(&seen, &section->records[i]->conditions);
    if (at_device_is_emulated(device)) {
        fprintf(out, "  %-*s%s\n", AT_SHOW_LABEL_WIDTH - 2, "policy", record->policy.name);
    } else {
        show_policy(&record->policy, out);
        show_conditions(&seen, out);
    }
    putc('\n', out);
}
