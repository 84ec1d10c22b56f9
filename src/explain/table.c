/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/table.h"
#include "cache/level.h"
#include "explain/counters.h"
#include "explain/diagram.h"
#include "explain/reason.h"

#include "base/flow.h"
#include "base/memory.h"
#include "system/paths.h"
#include "system/streams.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

char *at_explained_source(const struct at_explained_text *source,
                          const struct at_explained_line *line)
{
    const char *text = source->text;

    if (line->line < 1 || strcmp(at_path_name(source->path), line->file) != 0)
        return at_strdup("");
    for (int64_t i = 1; i < line->line && *text; i++) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    text += strspn(text, " ");
    return at_strndup(text, strcspn(text, "\n"));
}

/* Text for people; a table whose lines have SOURCE_WIDTH columns of source beside the figures, or
 * on a narrower terminal beneath them. */
enum { WIDTH = 143, SOURCE_WIDTH = 60, INDENT = 4, SUBJECT_WIDTH = 80 };

/* Print a line, broken into several on a narrow terminal, or where it is wider than `most`. */
static void say_within(int most, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say_within(int most, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = at_vformat(format, args);
    va_end(args);
    at_flow_words(stdout, at_streams_text_width(most), INDENT, text);
    free(text);
}
#define say(...) say_within(INT_MAX, __VA_ARGS__)

static void print_line(const struct at_explained_text *source, const struct at_explained_line *line,
                       int width)
{
    bool shared = line->wavefronts > 0;
    double requests = (double)line->requests;
    double cost = (double)(shared ? line->wavefronts : line->sectors);
    double least = (double)(shared ? line->least_wavefronts : line->least_sectors);
    char *text = at_explained_source(source, line), place[96], hits[16] = "-", reason[160];
    bool beneath = width < WIDTH;

    if (line->l1_sectors > 0)
        snprintf(hits, sizeof hits, "%.1f%%",
                 100 * (double)line->l1_hits / (double)line->l1_sectors);
    snprintf(place, sizeof place, "%s:%jd", line->file, (intmax_t)line->line);
    printf("  %-18s %-13s %3jd B %8jd %7.2f %7.2f %6.1f%% %6s", place, line->access,
           (intmax_t)line->bytes, (intmax_t)line->requests, cost / requests, least / requests,
           100 * at_explained_good(line), hits);
    if (!beneath || text[0])
        printf(beneath ? "\n      %.*s" : "  %.*s",
               beneath ? (width > 6 ? width - 6 : 0) : SOURCE_WIDTH, text);
    putchar('\n');
    if (at_explained_reason(reason, sizeof reason, line))
        say("      %.1f%%: %s", 100 * at_explained_good(line), reason);
    free(text);
}

/* Compare the bytes that the warps want with the bytes of the sectors that bring them. */
static void print_used(const struct at_explanation *e)
{
    const struct at_explained_line *lines = e->lines.items;
    int64_t wanted[2] = {0}, sectors[2] = {0};

    for (size_t i = 0; i < e->lines.count; i++) {
        bool written = strncmp(lines[i].access, "load", 4) != 0;

        wanted[written] += lines[i].wanted_bytes;
        sectors[written] += lines[i].sectors;
    }
    say("  whole grid: reads %.2f MB, of which %.1f%% are used; writes %.2f MB, of which %.1f%% "
        "are "
        "used",
        (double)e->bytes_read / 1e6,
        sectors[0] ? 100 * (double)wanted[0] / (32 * (double)sectors[0]) : 100,
        (double)e->bytes_written / 1e6,
        sectors[1] ? 100 * (double)wanted[1] / (32 * (double)sectors[1]) : 100);
}

/* The same, with the bytes that the problem needs. */
static void print_needed(const struct at_explanation *e)
{
    say("  whole grid: reads %.2f MB, %.2f times the %.2f MB needed; writes %.2f MB, %.2f times "
        "the "
        "%.2f MB needed",
        (double)e->bytes_read / 1e6, (double)e->bytes_read / (double)e->bytes_needed,
        (double)e->bytes_needed / 1e6, (double)e->bytes_written / 1e6,
        (double)e->bytes_written / (double)e->bytes_needed, (double)e->bytes_needed / 1e6);
}

/* Compare the sectors with the least for the same requests, and the grid's bytes with the
 * elements'. */
static void print_traffic(const struct at_explanation *e)
{
    const struct at_explained_line *lines = e->lines.items;
    int64_t sectors = 0, least = 0, wavefronts = 0, least_wavefronts = 0;

    for (size_t i = 0; i < e->lines.count; i++) {
        sectors += lines[i].sectors;
        least += lines[i].least_sectors;
        wavefronts += lines[i].wavefronts;
        least_wavefronts += lines[i].least_wavefronts;
    }
    printf("\n  global: %jd sectors, %.2f times the least\n", (intmax_t)sectors,
           least ? (double)sectors / (double)least : 0);
    if (e->bytes_needed)
        print_needed(e);
    else
        print_used(e);
    if (wavefronts > 0)
        printf("  shared: %jd wavefronts, of which %jd are bank conflicts\n", (intmax_t)wavefronts,
               (intmax_t)(wavefronts - least_wavefronts));
    if (e->local_requests > 0)
        printf("  local: %jd requests, %jd sectors (arrays of the threads' own)\n",
               (intmax_t)e->local_requests, (intmax_t)e->local_sectors);
}

static void print_times(const struct at_explanation *e)
{
    if (e->measured_ns)
        printf("  measured %.2f us, spread %.1f%%\n", (double)e->measured_ns / 1e3,
               (double)e->measured_spread_permille / 10);
    if (!e->predicted_ns) {
        printf("  no time is predicted: tuning/devices does not describe this GPU\n");
        return;
    }
    say("  predicted %.1f us, bound by %s (a prediction, not a measurement%s)",
        (double)e->predicted_ns / 1e3, e->bound,
        strcmp(e->predictions, AT_UNCALIBRATED) == 0
            ? "; uncalibrated: no such GPU has been measured"
            : "");
}

static void print_subject(const struct at_explanation *e)
{
    const char *emulated = strcmp(e->kind, AT_KIND_EMULATED) == 0 ? " (emulated)" : "";

    if (e->entry[0]) {
        say("%s of %s %s", e->entry, e->file, e->launch);
        say("on %s%s", e->device, emulated);
    } else {
        /* As long as its family has parameters, so it is folded everywhere. */
        say_within(SUBJECT_WIDTH, "%s %s", e->family, e->config);
        say("on %s, %s%s", e->problem, e->device, emulated);
    }
}

void at_explanation_print(const struct at_explanation *e, const struct at_explained_text *source)
{
    const struct at_explained_line *lines = e->lines.items;
    int width = at_streams_text_width(WIDTH);

    print_subject(e);
    putchar('\n');
    say("  %jd blocks of %jd threads, %jd registers, %jd B static and %jd B dynamic shared memory",
        (intmax_t)e->blocks, (intmax_t)e->threads, (intmax_t)e->registers,
        (intmax_t)e->static_shared_bytes, (intmax_t)e->dynamic_shared_bytes);
    say("  theoretical occupancy %jd%%: %jd blocks per multiprocessor, limited by %s",
        (intmax_t)e->occupancy_percent, (intmax_t)e->occupancy_blocks, e->occupancy_limiter);
    print_times(e);
    if (e->blocks_counted < e->blocks)
        printf("  counted in %jd of the blocks, evenly spread\n", (intmax_t)e->blocks_counted);
    printf("\n  %-18s %-13s %5s %8s %7s %7s %7s %6s%s\n", "line", "access", "lane", "requests",
           "cost", "least", "good", "in L1", width < WIDTH ? "" : "  source");
    for (size_t i = 0; i < e->lines.count; i++)
        print_line(source, &lines[i], width);
    puts("  cost and least: sectors per request (global), wavefronts per request (shared)");
    puts("  good: bytes used of bytes moved (global), least of cost (shared)\n"
         "  in L1: sectors of a load that were there");
    at_explain_draw(e);
    print_traffic(e);
    at_explain_print_counters(e);
}

static const struct at_table_column columns[] = {
    {"line", true},         {"access", true},      {"bytes per lane", false}, {"requests", false},
    {"unit", true},         {"cost", false},       {"least", false},          {"bytes used", false},
    {"bytes moved", false}, {"L1 sectors", false}, {"L1 hits", false},        {"L2 sectors", false},
    {"L2 hits", false},     {"source", true},
};

void at_explanation_tabulate(const struct at_explanation *e, const struct at_explained_text *source,
                             enum at_table_form form)
{
    const struct at_explained_line *lines = e->lines.items;
    struct at_table table = {columns, AT_COUNT(columns), NULL, 0, 0};

    for (size_t i = 0; i < e->lines.count; i++) {
        bool shared = lines[i].wavefronts > 0;
        char *text = at_explained_source(source, &lines[i]);
        const int64_t flows[] = {lines[i].wanted_bytes, AT_CACHE_SECTOR_BYTES * lines[i].sectors,
                                 lines[i].l1_sectors,   lines[i].l1_hits,
                                 lines[i].l2_sectors,   lines[i].l2_hits};

        at_table_add(&table, "%s:%jd", lines[i].file, (intmax_t)lines[i].line);
        at_table_add(&table, "%s", lines[i].access);
        at_table_add(&table, "%jd", (intmax_t)lines[i].bytes);
        at_table_add(&table, "%jd", (intmax_t)lines[i].requests);
        at_table_add(&table, shared ? "wavefronts" : "sectors");
        at_table_add(&table, "%jd", (intmax_t)(shared ? lines[i].wavefronts : lines[i].sectors));
        at_table_add(&table, "%jd",
                     (intmax_t)(shared ? lines[i].least_wavefronts : lines[i].least_sectors));
        for (size_t j = 0; j < AT_COUNT(flows); j++)
            if (shared)
                at_table_add(&table, "%s", "");
            else
                at_table_add(&table, "%jd", (intmax_t)flows[j]);
        at_table_add(&table, "%s", text);
        free(text);
    }
    at_table_print(&table, form, stdout);
    at_table_clear(&table);
}
