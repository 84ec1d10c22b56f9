/* SPDX-License-Identifier: Apache-2.0 */
/* A profile as a table for people, 100 columns wide where names allow. */
#include "profile/show.h"
#include "base/memory.h"
#include "base/outcome.h"
#include "profile/flow.h"
#include "space/space.h"

#include <string.h>

enum { PROBLEM_WIDTH = 30, DETAIL_INDENT = 4 };

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
    at_show_fixed(cell, entry->winner.time_ns, 1000, 2);
}

static void format_bandwidth(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    at_show_fixed(cell, entry->winner.bandwidth_MB_per_s, 1000, 0);
}

static void format_of_copy(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    at_show_fixed(cell, entry->winner.of_copy_permille, 10, 1);
}

static void format_spread(char cell[AT_SHOW_CELL_CHARS], const struct at_entry *entry)
{
    at_show_fixed(cell, entry->winner.spread_permille, 10, 1);
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
    {"spread %", "spread %", format_spread, false},
    {"over default", "over default", format_gain, false},
};

/* ---- footnotes, with the mark of their rows ---- */
static bool is_from_l2(const struct at_entry *entry)
{
    return entry->from_l2;
}

static bool is_incomplete(const struct at_entry *entry)
{
    return entry->ended != AT_ENDED_EXHAUSTED;
}

static const struct {
    char mark;
    bool (*applies)(const struct at_entry *entry);
    const char *text;
} footnotes[] = {
    {'*', is_from_l2, "faster than the device's memory can be: the data stayed in the L2 cache"},
    {'+', is_incomplete, "the search ended before every config was measured: there may be better"},
};

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

static void show_details(const struct at_result_record *winner, const struct at_show_style *style,
                         FILE *out)
{
    const struct at_named_int *parameters = winner->parameters.items;
    struct at_flow flow;
    char grid[AT_SHOW_CELL_CHARS], block[AT_SHOW_CELL_CHARS], spill[AT_SHOW_CELL_CHARS] = "";

    fputs(style->faint, out);
    flow = at_flow_begin(out, AT_SHOW_WIDTH, DETAIL_INDENT, "");
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
    char cell[AT_SHOW_CELL_CHARS];

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
                        const struct at_show_style *style, FILE *out)
{
    fputs(style->strong, out);
    for (size_t c = 0; c < AT_COUNT(columns); c++)
        fprintf(out, "%s%*s", c ? "  " : "", columns[c].left ? -widths[c] : widths[c],
                title_of(c, device));
    fprintf(out, "%s\n", style->plain);
}

static void show_entry(const struct at_entry *entry, const int widths[AT_COUNT(columns)],
                       const struct at_show_style *style, FILE *out)
{
    char cell[AT_SHOW_CELL_CHARS];

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

_Static_assert(AT_PROFILE_PROBLEMS_MAX <= INT64_MAX / AT_RAW_MAX, "the sum does not overflow");

/* Show how all evaluations of a device ended; with those not measured they add up to all points. */
static void show_evaluations(const struct at_list *problems, FILE *out)
{
    const struct at_entry *entries = problems->items;
    int64_t counts[AT_OUTCOMES] = {0}, points = 0, rest;
    struct at_flow flow;

    for (size_t i = 0; i < problems->count; i++) {
        const struct at_evaluations *e = &entries[i].evaluations;

        points += e->points;
        counts[AT_CONSTRAINT] += e->points - e->configs;
        for (int outcome = 0; outcome < AT_OUTCOMES; outcome++)
            counts[outcome] += e->counts[outcome];
    }
    rest = points;
    flow = at_flow_begin(out, AT_SHOW_WIDTH, AT_SHOW_LABEL_WIDTH, "  evaluations");
    at_flow_add(&flow, "%jd points:", (intmax_t)points);
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
    const struct at_show_style *style = color ? &ansi_style : &no_style;

    for (size_t i = 0; i < profile->devices.count; i++) {
        const struct at_list *problems = &devices[i].problems;
        const struct at_entry *entries = problems->items;
        int widths[AT_COUNT(columns)];

        if (i > 0)
            putc('\n', out);
        at_show_heading(&devices[i], style, out);
        find_widths(widths, &devices[i].device, problems);
        show_titles(widths, &devices[i].device, style, out);
        for (size_t j = 0; j < problems->count; j++)
            show_entry(&entries[j], widths, style, out);
        putc('\n', out);
        show_footnotes(problems, out);
        show_evaluations(problems, out);
    }
}
