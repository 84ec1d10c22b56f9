/* SPDX-License-Identifier: Apache-2.0 */
/* A profile for people, as sections with a line per problem, 80 columns wide where names allow; and
 * for programs, as one table. */
#include "base/flow.h"
#include "base/memory.h"
#include "base/outcome.h"
#include "device/kind.h"
#include "profile/internal.h"
#include "profile/means.h"
#include "profile/merge.h"
#include "profile/newest.h"
#include "profile/profile.h"
#include "schema/table.h"
#include "space/space.h"

#include <math.h>
#include <string.h>

enum { WIDTH = 80, LABEL_WIDTH = 15, CELL_CHARS = 192 };
enum { SUMMARY_INDENT = 2, DETAIL_INDENT = 4, MARK_WIDTH = 2 };

enum { NOISY_PERMILLE = 50 }; /* spread of a time that is called noisy */

struct style {
    const char *strong, *faint, *plain;
};

static const struct style no_style = {"", "", ""};
static const struct style ansi_style = {"\033[1m", "\033[2m", "\033[0m"};

/* What is known of one model of device under one policy: all its problems, and the records that
 * they are from, with different software. */
struct section {
    const struct at_device_record **records; /* borrowed; the newest software last */
    size_t count;
    struct at_list problems; /* of struct at_entry, borrowed */
};

/* Return value / unit in units of 10^-decimals, rounded. */
static int64_t scaled(int64_t value, int64_t unit, int decimals)
{
    int64_t scale = 1;

    for (int i = 0; i < decimals; i++)
        scale *= 10;
    return value / unit * scale + (value % unit * scale + unit / 2) / unit;
}

/* Format value / unit, rounded to `decimals`. printf's %f would use the locale's decimal point. */
static char *fixed(char cell[CELL_CHARS], int64_t value, int64_t unit, int decimals)
{
    int64_t number = scaled(value, unit, decimals), scale = scaled(1, 1, decimals);

    if (decimals > 0)
        snprintf(cell, CELL_CHARS, "%jd.%0*jd", (intmax_t)(number / scale), decimals,
                 (intmax_t)(number % scale));
    else
        snprintf(cell, CELL_CHARS, "%jd", (intmax_t)number);
    return cell;
}

/* ---- rows ---- */

/* An entry as a table shows it. All is borrowed; a figure that is not known is -1. */
struct row {
    const char *device, *times, *problem, *kernel;
    struct at_list config;
    int64_t time_10ns, GB_per_s, of_copy_permille, spread_permille, gain_percent, measured;
    int ended;
};

static const char *const ended_names[] = {
    [AT_ENDED_UNKNOWN] = "",
    [AT_ENDED_SETTLED] = "settled",
    [AT_ENDED_BUDGET] = "budget",
    [AT_ENDED_INTERRUPTED] = "interrupted",
    [AT_ENDED_EXHAUSTED] = "exhausted",
};

#define TEXT(member, title) AT_ONLY_COLUMN(row, member, AT_FIELD_TEXT, AT_COLUMN(0, title))
#define FIGURE(member, ...)                                                                        \
    AT_ONLY_COLUMN(row, member, AT_FIELD_INT, AT_OPTIONAL, .absent = -1, AT_COLUMN(0, __VA_ARGS__))

static const struct at_field row_fields[] = {
    TEXT(device, "device"),
    TEXT(times, "times"),
    TEXT(problem, "problem"),
    TEXT(kernel, "kernel"),
    AT_ONLY_COLUMN(row, config, AT_FIELD_NAMED_INTS, AT_COLUMN(0, "config")),
    FIGURE(time_10ns, "time us", .per = 100, .digits = 2),
    FIGURE(GB_per_s, "GB/s"),
    FIGURE(of_copy_permille, "% of copy", .per = 10, .digits = 1),
    FIGURE(spread_permille, "spread %", .per = 10, .digits = 1),
    FIGURE(gain_percent, "over default", .per = 100, .digits = 2),
    FIGURE(measured, "configs measured"),
    AT_ONLY_COLUMN(row, ended, AT_FIELD_CHOICE, .words = ended_names, .max = AT_COUNT(ended_names),
                   AT_COLUMN(0, "ended")),
};
static const struct at_schema row_schema = AT_SCHEMA("a row", row, row_fields);

/* What people see of a row. */
static const struct at_field columns[] = {
    TEXT(problem, "problem"),
    TEXT(kernel, "kernel"),
    FIGURE(time_10ns, "time us", .per = 100, .digits = 2, .missing = "-"),
    FIGURE(GB_per_s, "GB/s", .missing = "-"),
    FIGURE(of_copy_permille, "% of copy", .per = 10, .digits = 1),
    FIGURE(gain_percent, "over default", .per = 100, .digits = 2, .unit = "x", .missing = "-"),
};

static struct row make_row(const struct at_device_record *record, const struct at_entry *entry)
{
    const struct at_device_kind *kind = at_device_kind(&record->device);
    const struct at_result_record *winner = &entry->winner;
    bool known = at_entry_is_measured(entry);

    return (struct row){
        .device = record->device.name,
        .times = kind->predicted ? kind->times : record->policy.name,
        .problem = entry->problem,
        .kernel = winner->family,
        .config = winner->parameters,
        .time_10ns = known ? scaled(winner->time_ns, 1000, 2) : -1,
        .GB_per_s = known ? scaled(winner->bandwidth_MB_per_s, 1000, 0) : -1,
        .of_copy_permille = winner->of_copy_permille,
        .spread_permille = known ? winner->spread_permille : -1,
        .gain_percent =
            entry->fallback.time_ns ? scaled(entry->fallback.time_ns, winner->time_ns, 2) : -1,
        .measured = known ? at_evaluations_total(&entry->evaluations) : -1,
        .ended = entry->ended,
    };
}

/* ---- the heading of a section ---- */

/* Of several records, each says of how many problems it is. */
static void show_software(const struct at_device_record *record, bool alone, FILE *out)
{
    const struct at_environment *environment = &record->environment;
    struct at_flow flow = at_flow_begin(out, WIDTH, LABEL_WIDTH, "  software");

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
    struct at_flow flow = at_flow_begin(out, WIDTH, LABEL_WIDTH, "  policy");
    char cell[CELL_CHARS];

    at_flow_add(&flow, "%s: trains of %s us%s", policy->name,
                fixed(cell, policy->train_ns, 1000, 0), policy->buffer_bytes ? "" : ",");
    if (policy->buffer_bytes)
        at_flow_add(&flow, "through %s MiB,", fixed(cell, policy->buffer_bytes, 1 << 20, 0));
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
    struct at_flow flow = at_flow_begin(out, WIDTH, LABEL_WIDTH, "  conditions");
    char low[CELL_CHARS], high[CELL_CHARS];

    if (seen->clock_sm_max_khz)
        at_flow_add(&flow, "SM %s to %s MHz,", fixed(low, seen->clock_sm_min_khz, 1000, 0),
                    fixed(high, seen->clock_sm_max_khz, 1000, 0));
    if (seen->clock_memory_khz)
        at_flow_add(&flow, "memory %s MHz,", fixed(low, seen->clock_memory_khz, 1000, 0));
    if (seen->power_max_mW)
        at_flow_add(&flow, "max %s W,", fixed(low, seen->power_max_mW, 1000, 0));
    if (seen->temperature_max_c)
        at_flow_add(&flow, "max %jd C,", (intmax_t)seen->temperature_max_c);
    show_troubles(seen, &flow);
    at_flow_add(&flow, "throttling: %s", seen->throttle[0] ? seen->throttle : "not known");
    at_flow_end(&flow);
}

/* The entry with the smallest share of the copy limit. */
static const struct at_entry *find_worst(const struct at_list *problems)
{
    const struct at_entry *entries = problems->items, *worst = entries;

    for (size_t i = 1; i < problems->count; i++)
        if (entries[i].winner.of_copy_permille < worst->winner.of_copy_permille)
            worst = &entries[i];
    return worst;
}

/* Show the answer first: "50 problems: 97.1 % of copy without 12 small at 104.3 %, worst
 * 88.0 % (4095x4097:f32), 2.31x over default". */
static void show_summary(const struct at_list *problems, const struct at_device_info *device,
                         const struct style *style, FILE *out)
{
    const struct at_entry *worst = find_worst(problems), *entries = problems->items;
    struct at_means means = {0};
    char cell[CELL_CHARS], small[CELL_CHARS];
    bool several = problems->count > 1;
    struct at_flow flow;

    for (size_t i = 0; i < problems->count; i++)
        at_means_add(&means, &entries[i], device);
    fputs(style->strong, out);
    flow = at_flow_begin(out, WIDTH, SUMMARY_INDENT, "");
    at_flow_add(&flow, "%zu problem%s: %s %% of copy%s", problems->count, several ? "s" : "",
                fixed(cell, llround(1000 * at_means_of_copy(&means)), 10, 1),
                at_means_left_out(&means) > 0   ? ""
                : several || means.defaults > 0 ? ","
                                                : "");
    if (at_means_left_out(&means) > 0)
        at_flow_add(&flow, "without %zu small at %s %%,", means.small,
                    fixed(small, llround(1000 * at_means_of_small(&means)), 10, 1));
    if (several)
        at_flow_add(&flow, "worst %s %% (%s)%s", fixed(cell, worst->winner.of_copy_permille, 10, 1),
                    worst->problem, means.defaults > 0 ? "," : "");
    if (means.defaults > 0)
        at_flow_add(&flow, "%sx over default",
                    fixed(cell, llround(1000 * at_means_over_default(&means)), 1000, 2));
    at_flow_end(&flow);
    fputs(style->plain, out);
}

static void show_heading(const struct section *section, const struct style *style, FILE *out)
{
    const struct at_device_record *record = section->records[section->count - 1];
    const struct at_device_info *device = &record->device;
    struct at_conditions seen = record->conditions;
    char cell[CELL_CHARS];

    fprintf(out, "%s%s%s, compute capability %jd.%jd, %jd multiprocessors, %s GiB\n", style->strong,
            device->name, style->plain, (intmax_t)(device->compute_capability / 10),
            (intmax_t)(device->compute_capability % 10), (intmax_t)device->multiprocessors,
            fixed(cell, device->memory_bytes, (int64_t)1 << 30, 1));
    if (at_device_kind(device)->predicted)
        fprintf(out, "  %semulated: %s%s\n", style->strong, at_emulated_times(device),
                style->plain);
    if (section->problems.count > 0)
        show_summary(&section->problems, device, style, out);
    for (size_t i = section->count; i-- > 0;)
        show_software(section->records[i], section->count == 1, out);
    for (size_t i = 0; i + 1 < section->count; i++)
        at_conditions_join(&seen, &section->records[i]->conditions);
    if (at_device_kind(device)->predicted) {
        fprintf(out, "  %-*s%s\n", LABEL_WIDTH - 2, "policy", record->policy.name);
    } else {
        show_policy(&record->policy, out);
        show_conditions(&seen, out);
    }
    putc('\n', out);
}

/* ---- footnotes, with the mark of their rows ---- */
static bool is_from_l2(const struct at_entry *entry)
{
    return entry->from_l2;
}

static bool is_noisy(const struct at_entry *entry)
{
    return entry->winner.spread_permille >= NOISY_PERMILLE;
}

static bool is_cut_short(const struct at_entry *entry)
{
    return at_entry_is_measured(entry) &&
           (entry->ended == AT_ENDED_BUDGET || entry->ended == AT_ENDED_INTERRUPTED ||
            entry->ended == AT_ENDED_UNKNOWN);
}

static bool is_answer(const struct at_entry *entry)
{
    return !at_entry_is_measured(entry);
}

static const struct {
    char mark;
    bool (*applies)(const struct at_entry *entry);
    const char *text;
} footnotes[] = {
    {'*', is_from_l2, "faster than the device's memory can be: the data stayed in the L2 cache"},
    {'~', is_noisy, "repeated times differ: their spread is 5 % or more"},
    {'+', is_cut_short, "the search was cut short: there may be better"},
    {'-', is_answer, "an answer for lookups: its measurements are not in this file"},
};

/* What all of several problems have is said once, without marks. */
static bool applies_to_all(size_t footnote, const struct at_list *problems)
{
    const struct at_entry *entries = problems->items;

    for (size_t i = 0; i < problems->count; i++)
        if (!footnotes[footnote].applies(&entries[i]))
            return false;
    return problems->count > 1;
}

static bool all_answers(const struct at_list *problems)
{
    const struct at_entry *entries = problems->items;
    size_t answers = 0;

    for (size_t i = 0; i < problems->count; i++)
        answers += is_answer(&entries[i]);
    return problems->count > 0 && answers == problems->count;
}

/* Format {128, 128, 1} as "128x128". */
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

static void show_launch(const struct at_result_record *winner, struct at_flow *flow)
{
    char grid[CELL_CHARS], block[CELL_CHARS], spill[CELL_CHARS] = "";
    char spread[CELL_CHARS];

    if (winner->spill_bytes)
        snprintf(spill, sizeof spill, ", %jd B spilled", (intmax_t)winner->spill_bytes);
    at_flow_add(flow, "(grid %s, block %s, %jd registers, %jd B shared%s,",
                extents(grid, &winner->grid), extents(block, &winner->block),
                (intmax_t)winner->registers, (intmax_t)winner->shared_bytes, spill);
    at_flow_add(flow, "spread %s %%)", fixed(spread, winner->spread_permille, 10, 1));
}

static void show_details(const struct at_result_record *winner, const struct style *style,
                         FILE *out)
{
    const struct at_named_int *parameters = winner->parameters.items;
    struct at_flow flow;

    fputs(style->faint, out);
    flow = at_flow_begin(out, WIDTH, DETAIL_INDENT, "");
    for (size_t i = 0; i < winner->parameters.count; i++)
        at_flow_add(&flow, "%s=%jd", parameters[i].name, (intmax_t)parameters[i].value);
    if (winner->time_ns > 0)
        show_launch(winner, &flow);
    at_flow_end(&flow);
    fputs(style->plain, out);
}

static const char *title_of(size_t column, const struct at_device_info *device)
{
    const char *title = columns[column].column.title;

    return at_device_kind(device)->predicted && strcmp(title, "time us") == 0 ? "predicted us"
                                                                              : title;
}

static bool is_left(size_t column)
{
    return columns[column].kind == AT_FIELD_TEXT;
}

/* The problems' column gets what the others leave. */
static void find_widths(int widths[AT_COUNT(columns)], const struct at_device_info *device,
                        const struct row *rows, size_t count)
{
    int problem_width = WIDTH - MARK_WIDTH;

    for (size_t c = AT_COUNT(columns); c-- > 0;) {
        widths[c] = (int)strlen(title_of(c, device));
        for (size_t i = 0; i < count; i++) {
            char *cell = at_print_cell(&columns[c], &rows[i]);

            if ((int)strlen(cell) > widths[c] && (c > 0 || (int)strlen(cell) <= problem_width))
                widths[c] = (int)strlen(cell);
            at_free(cell);
        }
        problem_width -= widths[c] + 2;
    }
}

static void show_titles(const int widths[AT_COUNT(columns)], const struct at_device_info *device,
                        const struct style *style, FILE *out)
{
    fputs(style->strong, out);
    for (size_t c = 0; c < AT_COUNT(columns); c++)
        fprintf(out, "%s%*s", c ? "  " : "", is_left(c) ? -widths[c] : widths[c],
                title_of(c, device));
    fprintf(out, "%s\n", style->plain);
}

static void show_entry(const struct at_entry *entry, const struct row *row,
                       const int widths[AT_COUNT(columns)],
                       const bool unmarked[AT_COUNT(footnotes)], FILE *out)
{
    int marks = 0;

    for (size_t c = 0; c < AT_COUNT(columns); c++) {
        char *cell = at_print_cell(&columns[c], row);

        /* A long problem gets its own line, so that the other columns stay aligned. */
        if (c == 0 && (int)strlen(cell) > widths[c]) {
            fprintf(out, "%s\n", cell);
            cell[0] = '\0';
        }
        fprintf(out, "%s%*s", c ? "  " : "", is_left(c) ? -widths[c] : widths[c], cell);
        at_free(cell);
    }
    for (size_t i = 0; i < AT_COUNT(footnotes); i++)
        if (!unmarked[i] && footnotes[i].applies(entry))
            fprintf(out, "%s%c", marks++ == 0 ? " " : "", footnotes[i].mark);
    putc('\n', out);
}

static void show_footnotes(const struct at_list *problems, const bool unmarked[AT_COUNT(footnotes)],
                           FILE *out)
{
    const struct at_entry *entries = problems->items;

    for (size_t f = 0; f < AT_COUNT(footnotes); f++) {
        size_t i = 0;

        while (i < problems->count && !footnotes[f].applies(&entries[i]))
            i++;
        if (i < problems->count && unmarked[f])
            fprintf(out, "of all: %s\n", footnotes[f].text);
        else if (i < problems->count)
            fprintf(out, "%c %s\n", footnotes[f].mark, footnotes[f].text);
    }
}

_Static_assert(AT_PROFILE_PROBLEMS_MAX <= INT64_MAX / AT_RAW_MAX, "the sum does not overflow");

/* Show how the evaluations on a device ended. */
static void show_evaluations(const struct at_list *problems, FILE *out)
{
    const struct at_entry *entries = problems->items;
    int64_t counts[AT_OUTCOMES] = {0}, configs = 0, measured = 0;
    struct at_flow flow;
    int last = 0;

    for (size_t i = 0; i < problems->count; i++) {
        const struct at_evaluations *e = &entries[i].evaluations;

        configs += e->configs;
        measured += at_evaluations_total(e);
        for (int outcome = 0; outcome < AT_OUTCOMES; outcome++)
            counts[outcome] += e->counts[outcome];
    }
    flow = at_flow_begin(out, WIDTH, LABEL_WIDTH, "  evaluations");
    at_flow_add(&flow, "%jd of %jd legal configs:", (intmax_t)measured, (intmax_t)configs);
    for (int i = 0; i < AT_OUTCOMES; i++)
        last = counts[i] > 0 ? i : last;
    for (int i = 0; i <= last; i++)
        if (counts[i] > 0)
            at_flow_add(&flow, "%jd %s%s", (intmax_t)counts[i], at_outcome_names[i],
                        i < last ? "," : "");
    at_flow_end(&flow);
}

static void show_section(const struct section *section, const struct at_show_options *options,
                         FILE *out)
{
    const struct style *style = options->color ? &ansi_style : &no_style;
    const struct at_device_info *device = &section->records[0]->device;
    const struct at_list *problems = &section->problems;
    const struct at_entry *entries = problems->items;
    struct row *rows = at_alloc_array(problems->count, sizeof *rows);
    int widths[AT_COUNT(columns)];
    bool unmarked[AT_COUNT(footnotes)];

    for (size_t f = 0; f < AT_COUNT(footnotes); f++)
        unmarked[f] = applies_to_all(f, problems);
    for (size_t i = 0; i < problems->count; i++)
        rows[i] = make_row(section->records[0], &entries[i]);
    show_heading(section, style, out);
    find_widths(widths, device, rows, problems->count);
    show_titles(widths, device, style, out);
    for (size_t i = 0; i < problems->count; i++) {
        show_entry(&entries[i], &rows[i], widths, unmarked, out);
        if (options->configs)
            show_details(&entries[i].winner, style, out);
    }
    at_free(rows);
    putc('\n', out);
    show_footnotes(problems, unmarked, out);
    if (!all_answers(problems))
        show_evaluations(problems, out);
}

/* Collect the records of one model and policy, from the one at `first` on. Records of different
 * software are in its order. */
static struct section collect_section(const struct at_profile *profile, size_t first)
{
    const struct at_device_record *records = profile->devices.items;
    struct section section = {.records =
                                  at_alloc_array(profile->devices.count, sizeof *section.records)};
    struct at_entry *all = NULL;
    size_t capacity = 0;

    for (size_t i = first; i < profile->devices.count; i++) {
        const struct at_entry *entries = records[i].problems.items;

        if (!at_same_place(&records[i], &records[first]))
            continue;
        section.records[section.count++] = &records[i];
        for (size_t j = 0; j < records[i].problems.count; j++)
            AT_PUSH(all, section.problems.count, capacity, entries[j]);
    }
    section.problems.items = all;
    at_entries_sort(&section.problems);
    return section;
}

static void show_profile(const struct at_profile *profile, const struct at_show_options *options,
                         FILE *out)
{
    const struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct section section;
        size_t j = 0;

        while (!at_same_place(&records[j], &records[i]))
            j++;
        if (j < i)
            continue; /* it was in an earlier section */
        if (i > 0)
            putc('\n', out);
        section = collect_section(profile, i);
        show_section(&section, options, out);
        at_free(section.records);
        at_free(section.problems.items);
    }
}

enum at_status at_profile_print(struct at_profile *profile, enum at_output_format format,
                                const struct at_show_options *options, FILE *out,
                                struct at_error *err)
{
    struct row *rows = NULL;
    size_t count = 0, capacity = 0;

    if (format == AT_FORMAT_JSON)
        return at_profile_write_json(profile, out, err);
    if (format == AT_FORMAT_TABLE) {
        show_profile(profile, options, out);
        return AT_OK;
    }
    for (struct at_placed_entry at = {0}; at_profile_next(profile, &at);)
        AT_PUSH(rows, count, capacity, make_row(at.record, at.entry));
    (void)at_print_list("rows", &row_schema, rows, count, format, out, err);
    at_free(rows);
    return AT_OK;
}
