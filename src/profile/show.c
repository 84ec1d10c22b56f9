/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a table for people: a line per problem, 80 columns wide where names allow. */
#include "profile/show.h"
#include "base/flow.h"
#include "base/memory.h"
#include "base/outcome.h"
#include "profile/internal.h"
#include "profile/merge.h"
#include "profile/newest.h"
#include "space/space.h"

#include <string.h>

enum { DETAIL_INDENT = 4, MARK_WIDTH = 2 };

static const struct at_show_style no_style = {"", "", ""};
static const struct at_show_style ansi_style = {"\033[1m", "\033[2m", "\033[0m"};

static void format_problem(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    snprintf(cell, AT_SHOW_CELL_CHARS, "%s", entry->problem);
}

static void format_kernel(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    snprintf(cell, AT_SHOW_CELL_CHARS, "%s", entry->winner.family);
}

static void format_time(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    if (at_entry_is_measured(entry))
        at_show_fixed(cell, entry->winner.time_ns, 1000, 2);
    else
        strcpy(cell, "-");
}

static void format_bandwidth(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    if (at_entry_is_measured(entry))
        at_show_fixed(cell, entry->winner.bandwidth_MB_per_s, 1000, 0);
    else
        strcpy(cell, "-");
}

static void format_of_copy(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    at_show_fixed(cell, entry->winner.of_copy_permille, 10, 1);
}

static void format_gain(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    if (entry->fallback.time_ns)
        strcat(at_show_fixed(cell, entry->fallback.time_ns, entry->winner.time_ns, 2), "x");
    else
        strcpy(cell, "-");
}

static const struct {
    const char *title;
    const char *emulated_title; /* on an emulated device */
    void (*format)(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry);
    bool left;
} columns[] = {
    {"problem", "problem", format_problem, true},
    {"kernel", "kernel", format_kernel, true},
    {"time us", "predicted us", format_time, false},
    {"GB/s", "GB/s", format_bandwidth, false},
    {"% of copy", "% of copy", format_of_copy, false},
    {"over default", "over default", format_gain, false},
};

/* ---- footnotes, with the mark of their rows ---- */
static bool is_from_l2(const struct at_entry *entry)
{
    return entry->from_l2;
}

static bool is_noisy(const struct at_entry *entry)
{
    return entry->winner.spread_permille >= AT_SHOW_NOISY_PERMILLE;
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
static const char *extents(char cell[AT_SHOW_CELL_CHARS], const struct at_list *list)
{
    const int64_t *values = list->items;
    size_t count = list->count;
    int used = 0;

    while (count > 1 && values[count - 1] == 1)
        count--;
    for (size_t i = 0; i < count; i++)
        used += snprintf(cell + used, AT_SHOW_CELL_CHARS - (size_t)used, "%s%jd", i ? "x" : "",
                         (intmax_t)values[i]);
    return cell;
}

static void show_launch(const struct at_result_record *winner, struct at_flow *flow)
{
    char grid[AT_SHOW_CELL_CHARS], block[AT_SHOW_CELL_CHARS], spill[AT_SHOW_CELL_CHARS] = "";
    char spread[AT_SHOW_CELL_CHARS];

    if (winner->spill_bytes)
        snprintf(spill, sizeof spill, ", %jd B spilled", (intmax_t)winner->spill_bytes);
    at_flow_add(flow, "(grid %s, block %s, %jd registers, %jd B shared%s,",
                extents(grid, &winner->grid), extents(block, &winner->block),
                (intmax_t)winner->registers, (intmax_t)winner->shared_bytes, spill);
    at_flow_add(flow, "spread %s %%)", at_show_fixed(spread, winner->spread_permille, 10, 1));
}

static void show_details(const struct at_result_record *winner, const struct at_show_style *style,
                         FILE *out)
{
    const struct at_named_int *parameters = winner->parameters.items;
    struct at_flow flow;

    fputs(style->faint, out);
    flow = at_flow_begin(out, AT_SHOW_WIDTH, DETAIL_INDENT, "");
    for (size_t i = 0; i < winner->parameters.count; i++)
        at_flow_add(&flow, "%s=%jd", parameters[i].name, (intmax_t)parameters[i].value);
    if (winner->time_ns > 0)
        show_launch(winner, &flow);
    at_flow_end(&flow);
    fputs(style->plain, out);
}

static const char *title_of(size_t column, const struct at_device_info *device)
{
    return at_device_is_emulated(device) ? columns[column].emulated_title : columns[column].title;
}

/* The problems' column gets what the others leave. */
static void find_widths(int widths[AT_COUNT(columns)], const struct at_device_info *device,
                        const struct at_list *problems)
{
    const struct at_entry *entries = problems->items;
    int problem_width = AT_SHOW_WIDTH - MARK_WIDTH;
    char cell[AT_SHOW_CELL_CHARS];

    for (size_t c = AT_COUNT(columns); c-- > 0;) {
        widths[c] = (int)strlen(title_of(c, device));
        for (size_t i = 0; i < problems->count; i++) {
            columns[c].format(cell, &entries[i]);
            if ((int)strlen(cell) > widths[c] && (c > 0 || (int)strlen(cell) <= problem_width))
                widths[c] = (int)strlen(cell);
        }
        problem_width -= widths[c] + 2;
    }
}

static void show_titles(const int widths[AT_COUNT(columns)], const struct at_device_info *device,
                        const struct at_show_style *style, FILE *out)
{
    fputs(style->strong, out);
    for (size_t c = 0; c < AT_COUNT(columns); c++)
        fprintf(out, "%s%*s", c ? "  " : "", columns[c].left ? -widths[c] : widths[c],
                title_of(c, device));
    fprintf(out, "%s\n", style->plain);
}

static void show_entry(const struct at_entry *entry, const int widths[AT_COUNT(columns)],
                       const bool unmarked[AT_COUNT(footnotes)], FILE *out)
{
    char cell[AT_SHOW_CELL_CHARS];
    int marks = 0;

    for (size_t c = 0; c < AT_COUNT(columns); c++) {
        columns[c].format(cell, entry);
        /* A long problem gets its own line, so that the other columns stay aligned. */
        if (c == 0 && (int)strlen(cell) > widths[c]) {
            fprintf(out, "%s\n", cell);
            cell[0] = '\0';
        }
        fprintf(out, "%s%*s", c ? "  " : "", columns[c].left ? -widths[c] : widths[c], cell);
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
    flow = at_flow_begin(out, AT_SHOW_WIDTH, AT_SHOW_LABEL_WIDTH, "  evaluations");
    at_flow_add(&flow, "%jd of %jd legal configs:", (intmax_t)measured, (intmax_t)configs);
    for (int i = 0; i < AT_OUTCOMES; i++)
        last = counts[i] > 0 ? i : last;
    for (int i = 0; i <= last; i++)
        if (counts[i] > 0)
            at_flow_add(&flow, "%jd %s%s", (intmax_t)counts[i], at_outcome_names[i],
                        i < last ? "," : "");
    at_flow_end(&flow);
}

static void show_section(const struct at_show_section *section,
                         const struct at_show_options *options, FILE *out)
{
    const struct at_show_style *style = options->color ? &ansi_style : &no_style;
    const struct at_device_info *device = &section->records[0]->device;
    const struct at_list *problems = &section->problems;
    const struct at_entry *entries = problems->items;
    int widths[AT_COUNT(columns)];
    bool unmarked[AT_COUNT(footnotes)];

    for (size_t f = 0; f < AT_COUNT(footnotes); f++)
        unmarked[f] = applies_to_all(f, problems);
    at_show_heading(section, style, out);
    find_widths(widths, device, problems);
    show_titles(widths, device, style, out);
    for (size_t i = 0; i < problems->count; i++) {
        show_entry(&entries[i], widths, unmarked, out);
        if (options->configs)
            show_details(&entries[i].winner, style, out);
    }
    putc('\n', out);
    show_footnotes(problems, unmarked, out);
    if (!all_answers(problems))
        show_evaluations(problems, out);
}

/* Collect the records of one model and policy, from the one at `first` on. Records of different
 * software are in its order. */
static struct at_show_section collect_section(const struct at_profile *profile, size_t first)
{
    const struct at_device_record *records = profile->devices.items;
    struct at_show_section section = {
        .records = at_alloc_array(profile->devices.count, sizeof *section.records)};
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

void at_profile_show(const struct at_profile *profile, const struct at_show_options *options,
                     FILE *out)
{
    const struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct at_show_section section;
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
