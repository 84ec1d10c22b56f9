/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a table for people, 100 columns wide where names allow. */
#include "base/memory.h"
#include "measure/outcome.h"
#include "profile/flow.h"
#include "profile/profile.h"

#include <string.h>

enum { WIDTH = 100, LABEL_WIDTH = 15, PROBLEM_WIDTH = 30, DETAIL_INDENT = 4, CELL_CHARS = 192 };

struct style {
    const char *strong, *faint, *plain;
};

static const struct style no_style = {"", "", ""};
static const struct style ansi_style = {"\033[1m", "\033[2m", "\033[0m"};

/* value / unit with so many decimals, rounded; printf's %f would use the locale's decimal point. */
static char *fixed(char cell[CELL_CHARS], int64_t value, int64_t unit, int decimals)
{
    int64_t scale = 1, scaled;

    for (int i = 0; i < decimals; i++)
        scale *= 10;
    scaled = value / unit * scale + (value % unit * scale + unit / 2) / unit;
    if (decimals > 0)
        snprintf(cell, CELL_CHARS, "%jd.%0*jd", (intmax_t)(scaled / scale), decimals,
                 (intmax_t)(scaled % scale));
    else
        snprintf(cell, CELL_CHARS, "%jd", (intmax_t)scaled);
    return cell;
}

static void format_problem(char cell[CELL_CHARS], const struct at_entry *entry)
{
    snprintf(cell, CELL_CHARS, "%s", entry->problem);
}

static void format_kernel(char cell[CELL_CHARS], const struct at_entry *entry)
{
    snprintf(cell, CELL_CHARS, "%s", entry->winner.family);
}

static void format_time(char cell[CELL_CHARS], const struct at_entry *entry)
{
    fixed(cell, entry->winner.time_ns, 1000, 2);
}

static void format_bandwidth(char cell[CELL_CHARS], const struct at_entry *entry)
{
    fixed(cell, entry->winner.bandwidth_mbps, 1000, 0);
}

static void format_of_copy(char cell[CELL_CHARS], const struct at_entry *entry)
{
    fixed(cell, entry->winner.of_copy_permille, 10, 1);
}

static void format_spread(char cell[CELL_CHARS], const struct at_entry *entry)
{
    fixed(cell, entry->winner.spread_permille, 10, 1);
}

static void format_gain(char cell[CELL_CHARS], const struct at_entry *entry)
{
    if (entry->fallback.time_ns)
        strcat(fixed(cell, entry->fallback.time_ns, entry->winner.time_ns, 2), "x");
    else
        strcpy(cell, "-");
}

static const struct {
    const char *title;
    const char *emulated_title; /* of an emulated device */
    void (*format)(char cell[CELL_CHARS], const struct at_entry *entry);
    bool left;
} columns[] = {
    {"problem", "problem", format_problem, true},
    {"kernel", "kernel", format_kernel, true},
    {"time us", "predicted us", format_time, false},
    {"GB/s", "GB/s", format_bandwidth, false},
    {"% of copy", "% of copy", format_of_copy, false},
    {"spread %", "spread %", format_spread, false},
    {"over default", "over default", format_gain, false},
};

/* What deserves a second look, with the mark that the row gets. */
static bool is_from_l2(const struct at_entry *entry)
{
    return entry->from_l2;
}

static bool is_incomplete(const struct at_entry *entry)
{
    return !entry->complete;
}

static const struct {
    char mark;
    bool (*applies)(const struct at_entry *entry);
    const char *text;
} footnotes[] = {
    {'*', is_from_l2, "faster than the device's memory can be: the data stayed in the L2 cache"},
    {'+', is_incomplete, "the search ended before every config was measured: there may be better"},
};

static void show_software(const struct at_environment *environment, FILE *out)
{
    struct at_flow flow = at_flow_begin(out, WIDTH, LABEL_WIDTH, "  software");

    if (environment->driver[0])
        at_flow_add(&flow, "driver %s,", environment->driver);
    if (environment->cuda_driver[0])
        at_flow_add(&flow, "CUDA %s,", environment->cuda_driver);
    if (environment->nvrtc[0])
        at_flow_add(&flow, "NVRTC %s,", environment->nvrtc);
    at_flow_add(&flow, "autotune %s", environment->autotune);
    at_flow_end(&flow);
}

static void show_policy(const struct at_policy_record *policy, FILE *out)
{
    struct at_flow flow = at_flow_begin(out, WIDTH, LABEL_WIDTH, "  policy");
    char cell[CELL_CHARS];

    at_flow_add(&flow, "%s: trains of %s us%s", policy->name,
                fixed(cell, policy->train_ns, 1000, 0), policy->buffer_bytes ? "" : ",");
    if (policy->buffer_bytes)
        at_flow_add(&flow, "through %s MiB,", fixed(cell, policy->buffer_bytes, 1 << 20, 0));
    at_flow_add(&flow, "%jd samples a config,", (intmax_t)policy->search_samples);
    at_flow_add(&flow, "%jd a finalist", (intmax_t)policy->shootout_samples);
    at_flow_end(&flow);
}

/* What happened, each with how often or how long; what did not is left out. */
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

/* What was seen of the device while it measured; what is not known is left out. */
static void show_conditions(const struct at_conditions *seen, FILE *out)
{
    struct at_flow flow = at_flow_begin(out, WIDTH, LABEL_WIDTH, "  conditions");
    char low[CELL_CHARS], high[CELL_CHARS];

    if (seen->clock_sm_max_khz)
        at_flow_add(&flow, "SM %s to %s MHz,", fixed(low, seen->clock_sm_min_khz, 1000, 0),
                    fixed(high, seen->clock_sm_max_khz, 1000, 0));
    if (seen->clock_memory_khz)
        at_flow_add(&flow, "memory %s MHz,", fixed(low, seen->clock_memory_khz, 1000, 0));
    if (seen->power_max_mw)
        at_flow_add(&flow, "max %s W,", fixed(low, seen->power_max_mw, 1000, 0));
    if (seen->temperature_max_c)
        at_flow_add(&flow, "max %jd C,", (intmax_t)seen->temperature_max_c);
    show_troubles(seen, &flow);
    at_flow_add(&flow, "throttling: %s", seen->throttle[0] ? seen->throttle : "not known");
    at_flow_end(&flow);
}

static void show_heading(const struct at_device_record *record, const struct style *style,
                         FILE *out)
{
    const struct at_device_info *device = &record->device;
    char cell[CELL_CHARS];

    fprintf(out, "%s%s%s, compute capability %jd.%jd, %jd multiprocessors, %s GiB\n", style->strong,
            device->name, style->plain, (intmax_t)(device->compute_capability / 10),
            (intmax_t)(device->compute_capability % 10), (intmax_t)device->multiprocessors,
            fixed(cell, device->memory_bytes, (int64_t)1 << 30, 1));
    if (at_device_is_emulated(device))
        fprintf(out, "  %semulated: %s%s\n", style->strong, at_emulated_times(device),
                style->plain);
    show_software(&record->environment, out);
    if (at_device_is_emulated(device)) {
        fprintf(out, "  %-*s%s\n", LABEL_WIDTH - 2, "policy", record->policy.name);
    } else {
        show_policy(&record->policy, out);
        show_conditions(&record->conditions, out);
    }
    putc('\n', out);
}

/* "128x128" for {128, 128, 1}. */
static const char *extents(char cell[CELL_CHARS], const struct at_list *list)
{
    const int64_t *values = list->items;
    size_t count = list->count;
    int used = 0;

    while (count > 1 && values[count - 1] == 1)
        count--;
    for (size_t i = 0; i < count; i++)
        used += snprintf(cell + used, CELL_CHARS - (size_t)used, "%s%jd", i ? "x" : "",
                         (intmax_t)values[i]);
    return cell;
}

static void show_details(const struct at_result_record *winner, const struct style *style,
                         FILE *out)
{
    const struct at_named_int *parameters = winner->parameters.items;
    struct at_flow flow;
    char grid[CELL_CHARS], block[CELL_CHARS], spill[CELL_CHARS] = "";

    fputs(style->faint, out);
    flow = at_flow_begin(out, WIDTH, DETAIL_INDENT, "");
    for (size_t i = 0; i < winner->parameters.count; i++)
        at_flow_add(&flow, "%s=%jd", parameters[i].name, (intmax_t)parameters[i].value);
    if (winner->spill_bytes)
        snprintf(spill, sizeof spill, ", %jd B spilled", (intmax_t)winner->spill_bytes);
    at_flow_add(&flow, "(grid %s, block %s, %jd registers, %jd B shared%s)",
                extents(grid, &winner->grid), extents(block, &winner->block),
                (intmax_t)winner->registers, (intmax_t)winner->shared_bytes, spill);
    at_flow_end(&flow);
    fputs(style->plain, out);
}

static const char *title_of(size_t column, const struct at_device_info *device)
{
    return at_device_is_emulated(device) ? columns[column].emulated_title : columns[column].title;
}

static void find_widths(int widths[AT_COUNT(columns)], const struct at_device_info *device,
                        const struct at_list *problems)
{
    const struct at_entry *entries = problems->items;
    char cell[CELL_CHARS];

    for (size_t c = 0; c < AT_COUNT(columns); c++) {
        widths[c] = (int)strlen(title_of(c, device));
        for (size_t i = 0; i < problems->count; i++) {
            columns[c].format(cell, &entries[i]);
            if ((int)strlen(cell) > widths[c] && (c > 0 || strlen(cell) <= PROBLEM_WIDTH))
                widths[c] = (int)strlen(cell);
        }
    }
}

static void show_titles(const int widths[AT_COUNT(columns)], const struct at_device_info *device,
                        const struct style *style, FILE *out)
{
    fputs(style->strong, out);
    for (size_t c = 0; c < AT_COUNT(columns); c++)
        fprintf(out, "%s%*s", c ? "  " : "", columns[c].left ? -widths[c] : widths[c],
                title_of(c, device));
    fprintf(out, "%s\n", style->plain);
}

static void show_entry(const struct at_entry *entry, const int widths[AT_COUNT(columns)],
                       const struct style *style, FILE *out)
{
    char cell[CELL_CHARS];

    for (size_t c = 0; c < AT_COUNT(columns); c++) {
        columns[c].format(cell, entry);
        /* A long problem has a line of its own, so that it does not push the others aside. */
        if (c == 0 && (int)strlen(cell) > widths[c]) {
            fprintf(out, "%s\n", cell);
            cell[0] = '\0';
        }
        fprintf(out, "%s%*s", c ? "  " : "", columns[c].left ? -widths[c] : widths[c], cell);
    }
    for (size_t i = 0; i < AT_COUNT(footnotes); i++)
        if (footnotes[i].applies(entry))
            fprintf(out, " %c", footnotes[i].mark);
    putc('\n', out);
    show_details(&entry->winner, style, out);
}

static void show_footnotes(const struct at_list *problems, FILE *out)
{
    const struct at_entry *entries = problems->items;

    for (size_t f = 0; f < AT_COUNT(footnotes); f++) {
        size_t i = 0;

        while (i < problems->count && !footnotes[f].applies(&entries[i]))
            i++;
        if (i < problems->count)
            fprintf(out, "%c %s\n", footnotes[f].mark, footnotes[f].text);
    }
}

/* How all evaluations of a device ended: the counts add up to the points of all spaces. */
static void show_evaluations(const struct at_list *problems, FILE *out)
{
    const struct at_entry *entries = problems->items;
    int64_t counts[AT_OUTCOMES] = {0}, raw = 0, rest = 0;
    struct at_flow flow;

    for (size_t i = 0; i < problems->count; i++) {
        const struct at_evaluations *e = &entries[i].evaluations;

        raw += e->raw;
        counts[AT_CONSTRAINT] += e->raw - e->space;
        counts[AT_CORRECT] += e->correct;
        counts[AT_COMPILE] += e->compile;
        counts[AT_LAUNCH] += e->launch;
        counts[AT_TIMEOUT] += e->timeout;
        counts[AT_CRASH] += e->crash;
        counts[AT_WRONG] += e->wrong;
        counts[AT_OOM] += e->oom;
    }
    rest = raw;
    flow = at_flow_begin(out, WIDTH, LABEL_WIDTH, "  evaluations");
    at_flow_add(&flow, "%jd points:", (intmax_t)raw);
    for (int i = 0; i < AT_OUTCOMES; i++) {
        at_flow_add(&flow, "%jd %s,", (intmax_t)counts[i], at_outcome_names[i]);
        rest -= counts[i];
    }
    at_flow_add(&flow, "%jd not measured", (intmax_t)rest);
    at_flow_end(&flow);
}

void at_profile_show(const struct at_profile *profile, bool color, FILE *out)
{
    const struct at_device_record *devices = profile->devices.items;
    const struct style *style = color ? &ansi_style : &no_style;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_list *problems = &devices[i].problems;
        const struct at_entry *entries = problems->items;
        int widths[AT_COUNT(columns)];

        if (i > 0)
            putc('\n', out);
        show_heading(&devices[i], style, out);
        find_widths(widths, &devices[i].device, problems);
        show_titles(widths, &devices[i].device, style, out);
        for (size_t j = 0; j < problems->count; j++)
            show_entry(&entries[j], widths, style, out);
        putc('\n', out);
        show_footnotes(problems, out);
        show_evaluations(problems, out);
    }
}
