/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/explain.h"

#include "base/flow.h"
#include "base/memory.h"
#include "device/kind.h"
#include "emulated/caches/hierarchy.h"
#include "explain/lines.h"
#include "explain/request.h"
#include "schema/table.h"
#include "system/paths.h"
#include "system/progress.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- how well a line uses the bytes that it moves ---- */

/* Averages of a request. */
struct average {
    double sectors, least;
    double wanted; /* bytes */
    double lane;   /* bytes that a lane wants */
};

/* Figures that differ by less are taken as equal: blocks at the edges differ a little. */
static const double slack = 0.02;

static bool is_one_address(const struct average *a)
{
    return a->wanted < a->lane * (1 + slack) && a->lane < AT_CACHE_SECTOR_BYTES;
}

static bool is_small(const struct average *a)
{
    return a->sectors < a->least * (1 + slack);
}

static bool is_misaligned(const struct average *a)
{
    return a->sectors < a->least + 1 + slack;
}

static bool is_scattered(const struct average *a)
{
    return a->sectors > a->wanted / a->lane * (1 - slack);
}

static bool is_any(const struct average *a)
{
    (void)a;
    return true;
}

/* The first that holds. Between the words stand the bytes that a request wants, and those that it
 * moves. */
static const struct {
    bool (*holds)(const struct average *a);
    const char *begin, *middle;
} reasons[] = {
    {is_one_address, "one address: it wants", "bytes, and a sector has"},
    {is_small, "a request wants", "bytes, and its sectors have"},
    {is_scattered, "an element to a sector: a request wants", "bytes, and its sectors have"},
    {is_misaligned, "it begins within a sector: a request wants", "bytes, and its sectors have"},
    {is_any, "with gaps: a request wants", "bytes, and its sectors have"},
};

/* From 0 to 1. In global memory: the bytes that requests want, each once per request, over the
 * bytes of their sectors. In shared memory: the least possible wavefronts over the actual ones. */
static double good_of(const struct at_explained_line *line)
{
    if (line->wavefronts > 0)
        return (double)line->least_wavefronts / (double)line->wavefronts;
    return (double)line->wanted_bytes / (double)(AT_CACHE_SECTOR_BYTES * line->sectors);
}

/* Why requests to global memory leave a part of their sectors unused. False if they use all, or the
 * line is of shared memory. */
static bool reason_of(char *reason, size_t size, const struct at_explained_line *line)
{
    double requests = (double)line->requests;
    const struct average average = {
        .sectors = (double)line->sectors / requests,
        .least = (double)line->least_sectors / requests,
        .wanted = (double)line->wanted_bytes / requests,
        .lane = (double)line->bytes,
    };
    size_t i = 0;

    if (line->wavefronts > 0 || good_of(line) > 0.9995)
        return false;
    while (!reasons[i].holds(&average))
        i++;
    snprintf(reason, size, "%s %.4g %s %.4g", reasons[i].begin, average.wanted, reasons[i].middle,
             AT_CACHE_SECTOR_BYTES * average.sectors);
    return true;
}

/* ---- for people ---- */

/* Text for people; a table whose lines have SOURCE_WIDTH columns of source beside the figures, or
 * on a narrower terminal beneath them. */
enum { WIDTH = 143, SOURCE_WIDTH = 60, INDENT = 4, SUBJECT_WIDTH = 80 };
enum { AMOUNT = 16, DIAGRAM_WIDTH = 80 };

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
           100 * good_of(line), hits);
    if (!beneath || text[0])
        printf(beneath ? "\n      %.*s" : "  %.*s",
               beneath ? (width > 6 ? width - 6 : 0) : SOURCE_WIDTH, text);
    putchar('\n');
    if (reason_of(reason, sizeof reason, line))
        say("      %.1f%%: %s", 100 * good_of(line), reason);
    free(text);
}

/* What the bytes are of. */
static const char *counted_in(const struct at_explanation *e)
{
    return e->launches.count > 0 ? "all launches" : "whole grid";
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
    say("  %s: reads %.2f MB, of which %.1f%% are used; writes %.2f MB, of which %.1f%% are used",
        counted_in(e), (double)e->bytes_read / 1e6,
        sectors[0] ? 100 * (double)wanted[0] / (32 * (double)sectors[0]) : 100,
        (double)e->bytes_written / 1e6,
        sectors[1] ? 100 * (double)wanted[1] / (32 * (double)sectors[1]) : 100);
}

/* The same, with the bytes that the problem needs. */
static void print_needed(const struct at_explanation *e)
{
    double from = (double)e->bytes_needed;
    double to = e->result_bytes_needed ? (double)e->result_bytes_needed : from;

    say("  %s: reads %.2f MB, %.2f times the %.2f MB needed; writes %.2f MB, %.2f times the %.2f "
        "MB needed",
        counted_in(e), (double)e->bytes_read / 1e6, (double)e->bytes_read / from, from / 1e6,
        (double)e->bytes_written / 1e6, (double)e->bytes_written / to, to / 1e6);
}

static void print_launches(const struct at_explanation *e)
{
    const struct at_explained_launch *launches = e->launches.items;

    for (size_t i = 0; i < e->launches.count; i++)
        say("    launch %zu: reads %.2f MB, writes %.2f MB", i + 1,
            (double)launches[i].bytes_read / 1e6, (double)launches[i].bytes_written / 1e6);
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
    print_launches(e);
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
    if (e->launches.count > 0) {
        say("  no time is predicted: which block does what is decided while they run");
        return;
    }
    if (!e->predicted_ns) {
        printf("  no time is predicted: tuning/devices does not describe this GPU\n");
        return;
    }
    say("  predicted %.1f us, bound by %s (a prediction; %s)", (double)e->predicted_ns / 1e3,
        e->bound, at_predictions_of(e->predictions)->error);
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

/* ---- the caches ---- */

/* "4.19 MB" */
static const char *amount(char text[AMOUNT], int64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 999.995 && unit + 1 < AT_COUNT(units)) {
        value /= 1000;
        unit++;
    }
    snprintf(text, AMOUNT, "%.*f %s", unit ? 2 : 0, value, units[unit]);
    return text;
}

static double percent(int64_t part, int64_t whole)
{
    return whole ? 100 * (double)part / (double)whole : 0;
}

/* The traffic in one direction, above or below the arrows. */
static void draw_amounts(int64_t threads, int64_t l2, int64_t dram)
{
    char a[AMOUNT], b[AMOUNT], c[AMOUNT];

    printf("          %9s  +-----------+ %9s  +-----------+ %9s  +------+\n", amount(a, threads),
           amount(b, l2), amount(c, dram));
}

static void draw_boxes(const struct at_explained_caches *c)
{
    puts("  threads <----------|    L1     |<-----------|    L2     |<-----------|      |");
    printf("          ---------->|%5.1f%% hits|----------->|%5.1f%% hits|----------->| DRAM |\n",
           percent(c->l1_hits, c->l1_sectors), percent(c->l2_hits, c->l2_sectors));
}

static void draw_peaks(const struct at_explained_caches *c)
{
    if (c->l1_peak_permille >= 0)
        printf("  of peak: %8.1f%%  %13s%9.1f%%  %13s%9.1f%%\n", (double)c->l1_peak_permille / 10,
               "", (double)c->l2_peak_permille / 10, "", (double)c->dram_peak_permille / 10);
}

static void tell_rest(const struct at_explanation *e)
{
    const struct at_explained_caches *c = &e->caches;
    char left[AMOUNT], warm[AMOUNT];

    say_within(DIAGRAM_WIDTH,
               "  L1: %jd KiB per multiprocessor, beside %jd KiB of shared memory; L2: %.0f MiB "
               "that all can use; its hits include all stores",
               (intmax_t)(c->l1_bytes >> 10), (intmax_t)(c->carveout_bytes >> 10),
               (double)c->l2_bytes / (1 << 20));
    if (c->left_in_l2_bytes > 0)
        say_within(DIAGRAM_WIDTH,
                   "  at the end%s, %s of what was written are in L2 and not yet in DRAM",
                   e->launches.count > 0 ? " of each launch, together" : "",
                   amount(left, c->left_in_l2_bytes));
    if (c->warm_dram_to_l2_bytes >= 0)
        say_within(DIAGRAM_WIDTH, "  launched again at once, it reads %s from DRAM",
                   amount(warm, c->warm_dram_to_l2_bytes));
    if (c->blocks < e->blocks)
        say_within(DIAGRAM_WIDTH, "  a sample: %jd blocks, scaled to the grid",
                   (intmax_t)c->blocks);
}

static void draw_caches(const struct at_explanation *e)
{
    const struct at_explained_caches *c = &e->caches;

    if (c->blocks == 0) {
        puts("\n  caches: not counted, a wave makes too many requests to keep");
        return;
    }
    printf("\n  what flows, with an empty L2 at the start%s:\n",
           e->launches.count > 0 ? " of each launch" : "");
    draw_amounts(AT_CACHE_SECTOR_BYTES * c->l1_sectors, c->l2_to_l1_bytes, c->dram_to_l2_bytes);
    draw_boxes(c);
    draw_amounts(c->l1_to_l2_bytes, c->l1_to_l2_bytes, c->l2_to_dram_bytes);
    draw_peaks(c);
    tell_rest(e);
}

/* ---- the GPU's own counters beside the model's figures ---- */

/* The model's counts of the full grid. */
struct modelled {
    double load_requests, load_sectors, store_requests, store_sectors;
    double load_conflicts, store_conflicts;
};

static void add_line(struct modelled *sums, const struct at_explained_line *line, double scale)
{
    double conflicts = scale * (double)(line->wavefronts - line->least_wavefronts);

    if (strcmp(line->access, "load global") == 0) {
        sums->load_requests += scale * (double)line->requests;
        sums->load_sectors += scale * (double)line->tag_sectors;
    } else if (strcmp(line->access, "store global") == 0) {
        sums->store_requests += scale * (double)line->requests;
        sums->store_sectors += scale * (double)line->tag_sectors;
    } else if (strcmp(line->access, "load shared") == 0) {
        sums->load_conflicts += conflicts;
    } else if (strcmp(line->access, "store shared") == 0) {
        sums->store_conflicts += conflicts;
    }
}

static void print_counts(const char *what, double model, int64_t gpu)
{
    printf("  %-32s %16.0f %16jd\n", what, model, (intmax_t)gpu);
}

static void print_share(const char *what, int64_t part, int64_t whole, int64_t gpu_part,
                        int64_t gpu_whole)
{
    printf("  %-32s %15.1f%% %15.1f%%\n", what, whole > 0 ? 100 * (double)part / (double)whole : 0,
           gpu_whole > 0 ? 100 * (double)gpu_part / (double)gpu_whole : 0);
}

static void print_megabytes(const char *what, int64_t model, int64_t gpu)
{
    printf("  %-32s %13.2f MB %13.2f MB\n", what, (double)model / 1e6, (double)gpu / 1e6);
}

static void print_caches(const struct at_explained_caches *model, const struct at_counters *gpu)
{
    print_share("L1: sectors of loads found there", model->l1_hits, model->l1_sectors, gpu->l1_hits,
                gpu->load_sectors);
    print_share("L2: sectors found there", model->l2_hits, model->l2_sectors, gpu->l2_hits,
                gpu->l2_hits + gpu->l2_misses);
    print_megabytes("L2 to L1", model->l2_to_l1_bytes,
                    AT_CACHE_SECTOR_BYTES * gpu->l2_to_l1_sectors);
    print_megabytes("L1 to L2", model->l1_to_l2_bytes,
                    AT_CACHE_SECTOR_BYTES * gpu->l1_to_l2_sectors);
    print_megabytes("DRAM to L2", model->dram_to_l2_bytes, gpu->dram_to_l2_bytes);
    print_megabytes("L2 to DRAM", model->l2_to_dram_bytes, gpu->l2_to_dram_bytes);
}

static void print_counters(const struct at_explanation *e)
{
    const struct at_explained_line *lines = e->lines.items;
    const struct at_counters *gpu = &e->counters;
    struct modelled sums = {0};
    char predicted[32] = "-";

    if (gpu->launches == 0)
        return;
    for (size_t i = 0; i < e->lines.count; i++)
        add_line(&sums, &lines[i], (double)e->blocks / (double)e->blocks_counted);
    printf("\n  %-32s %16s %16s\n", "counters of the whole grid", "model", "GPU");
    print_counts("global loads: requests", sums.load_requests, gpu->load_requests);
    print_counts("global loads: sectors", sums.load_sectors, gpu->load_sectors);
    print_counts("global stores: requests", sums.store_requests, gpu->store_requests);
    print_counts("global stores: sectors", sums.store_sectors, gpu->store_sectors);
    print_counts("shared loads: bank conflicts", sums.load_conflicts, gpu->load_conflicts);
    print_counts("shared stores: bank conflicts", sums.store_conflicts, gpu->store_conflicts);
    print_caches(&e->caches, gpu);
    if (e->predicted_ns > 0)
        snprintf(predicted, sizeof predicted, "%.2f us", (double)e->predicted_ns / 1e3);
    printf("  %-32s %15jd%% %15jd%%\n", "achieved occupancy", (intmax_t)e->achieved_percent,
           (intmax_t)gpu->achieved_percent);
    printf("  %-32s %16s %13.2f us\n", "duration", predicted, (double)gpu->duration_ns / 1e3);
    printf(
        "  the GPU's: of %jd launches, each after a kernel has read so much that L1 and L2 held\n"
        "    none of their data; its bank conflicts include some that addresses do not cause\n",
        (intmax_t)gpu->launches);
    if (e->blocks_counted < e->blocks)
        puts("  the model's requests, sectors and conflicts are scaled from the blocks counted;\n"
             "    --blocks 1000000 counts all");
}

/* ---- what to change ---- */

static void print_advice(const struct at_explanation *e)
{
    const struct at_advice *advice = e->advice.items;

    if (e->advice.count > 0)
        puts("\n  what to change, and the predicted time after it:");
    for (size_t i = 0; i < e->advice.count; i++) {
        char place[96] = "";

        if (advice[i].line > 0)
            snprintf(place, sizeof place, "%s:%jd: ", advice[i].file, (intmax_t)advice[i].line);
        say_within(SUBJECT_WIDTH, "  %6.1f us %s%s", (double)advice[i].predicted_ns / 1e3, place,
                   advice[i].text);
    }
}

/* ---- the requests of a line ---- */

static bool is_drawn(const struct at_explained_text *source, const struct at_explained_line *line,
                     int64_t number)
{
    return line->line == number && at_explained_is_of(source, line) && line->request.lanes;
}

static enum at_status check_drawn(const struct at_explanation *e,
                                  const struct at_explained_text *source, int64_t number,
                                  struct at_error *err)
{
    const struct at_explained_line *lines = e->lines.items;

    for (size_t i = 0; i < e->lines.count; i++)
        if (is_drawn(source, &lines[i], number))
            return AT_OK;
    return at_fail(err, AT_USAGE, "no access to memory at line %jd of %s", (intmax_t)number,
                   at_path_name(source->path));
}

static void draw_requests(const struct at_explanation *e, const struct at_explained_text *source,
                          int64_t number)
{
    const struct at_explained_line *lines = e->lines.items;

    for (size_t i = 0; i < e->lines.count; i++) {
        const struct at_explained_line *line = &lines[i];
        char *picture;

        if (!is_drawn(source, line, number))
            continue;
        picture = at_request_draw(line, at_streams_text_width(WIDTH));
        putchar('\n');
        say("  %s at %s:%jd, a request of a block in the middle: which lane wants which word",
            line->access, line->file, (intmax_t)line->line);
        fputs(picture, stdout);
        free(picture);
    }
    say_within(DIAGRAM_WIDTH, "  %s", at_request_legend);
}

/* ---- the whole ---- */

static void print_lines(const struct at_explanation *e, const struct at_explained_text *source)
{
    const struct at_explained_line *lines = e->lines.items;
    int width = at_streams_text_width(WIDTH);

    printf("\n  %-18s %-13s %5s %8s %7s %7s %7s %6s%s\n", "line", "access", "lane", "requests",
           "cost", "least", "good", "in L1", width < WIDTH ? "" : "  source");
    for (size_t i = 0; i < e->lines.count; i++)
        print_line(source, &lines[i], width);
    puts("  cost and least: sectors per request (global), wavefronts per request (shared)");
    puts("  good: bytes used of bytes moved (global), least of cost (shared)\n"
         "  in L1: sectors of a load that were there");
}

static void print_listing(const struct at_explanation *e, const struct at_explained_text *source)
{
    putchar('\n');
    at_explanation_list(e, source, AT_FORMAT_TABLE);
    say_within(DIAGRAM_WIDTH,
               "  share: of the time that all accesses together keep the memory system busy; "
               "excess: sectors beyond the least; conflicts: wavefronts of shared memory beyond "
               "the least; in L1: sectors of loads that were there");
}

static void print_text(const struct at_explanation *e, const struct at_explained_text *source,
                       const struct at_explained_view *view)
{
    print_subject(e);
    putchar('\n');
    say("  %jd blocks of %jd threads, %jd registers, %jd B static and %jd B dynamic shared memory",
        (intmax_t)e->blocks, (intmax_t)e->threads, (intmax_t)e->registers,
        (intmax_t)e->static_shared_bytes, (intmax_t)e->dynamic_shared_bytes);
    say("  theoretical occupancy %jd%%: %jd blocks per multiprocessor, limited by %s",
        (intmax_t)e->occupancy_percent, (intmax_t)e->occupancy_blocks, e->occupancy_limiter);
    if (e->achieved_percent > 0)
        say("  achieved occupancy %jd%%, as predicted: warps that a busy multiprocessor holds in "
            "the mean",
            (intmax_t)e->achieved_percent);
    if (e->wave_blocks > 0)
        say("  %.2f waves of %jd blocks; the last wave, the tail, fills %.0f%% of the device",
            (double)e->blocks / (double)e->wave_blocks, (intmax_t)e->wave_blocks,
            100 * (double)e->tail_blocks / (double)e->wave_blocks);
    if (e->launches.count > 0)
        say("  launched %zu times in a row; costs are of all launches together", e->launches.count);
    print_times(e);
    if (e->blocks_counted < e->blocks)
        printf("  counted in %jd of the blocks, evenly spread\n", (intmax_t)e->blocks_counted);
    (view->listing ? print_listing : print_lines)(e, source);
    if (view->draw > 0)
        draw_requests(e, source, view->draw);
    draw_caches(e);
    print_traffic(e);
    print_counters(e);
    print_advice(e);
}

/* ---- for programs ---- */

/* A line as a row; figures that shared memory does not have are -1. */
struct row {
    char *line, *source;
    const char *access, *unit;
    int64_t bytes, requests, cost, least;
    int64_t wanted_bytes, moved_bytes, l1_sectors, l1_hits, l2_sectors, l2_hits;
};

#define TEXT(member, title) AT_ONLY_COLUMN(row, member, AT_FIELD_TEXT, AT_COLUMN(0, title))
#define FIGURE(member, title)                                                                      \
    AT_ONLY_COLUMN(row, member, AT_FIELD_INT, AT_OPTIONAL, .absent = -1, AT_COLUMN(0, title))

static const struct at_field row_fields[] = {
    TEXT(line, "line"),
    TEXT(access, "access"),
    FIGURE(bytes, "bytes per lane"),
    FIGURE(requests, "requests"),
    TEXT(unit, "unit"),
    FIGURE(cost, "cost"),
    FIGURE(least, "least"),
    FIGURE(wanted_bytes, "bytes used"),
    FIGURE(moved_bytes, "bytes moved"),
    FIGURE(l1_sectors, "L1 sectors"),
    FIGURE(l1_hits, "L1 hits"),
    FIGURE(l2_sectors, "L2 sectors"),
    FIGURE(l2_hits, "L2 hits"),
    TEXT(source, "source"),
};
static const struct at_schema row_schema = AT_SCHEMA("a row", row, row_fields);

static struct row make_row(const struct at_explained_line *line,
                           const struct at_explained_text *source)
{
    bool shared = line->wavefronts > 0;

    return (struct row){
        .line = at_format("%s:%jd", line->file, (intmax_t)line->line),
        .source = at_explained_source(source, line),
        .access = line->access,
        .unit = shared ? "wavefronts" : "sectors",
        .bytes = line->bytes,
        .requests = line->requests,
        .cost = shared ? line->wavefronts : line->sectors,
        .least = shared ? line->least_wavefronts : line->least_sectors,
        .wanted_bytes = shared ? -1 : line->wanted_bytes,
        .moved_bytes = shared ? -1 : AT_CACHE_SECTOR_BYTES * line->sectors,
        .l1_sectors = shared ? -1 : line->l1_sectors,
        .l1_hits = shared ? -1 : line->l1_hits,
        .l2_sectors = shared ? -1 : line->l2_sectors,
        .l2_hits = shared ? -1 : line->l2_hits,
    };
}

static void print_plain(const struct at_explanation *e, const struct at_explained_text *source,
                        enum at_output_format format)
{
    const struct at_explained_line *lines = e->lines.items;
    struct row *rows = at_alloc_array(e->lines.count, sizeof *rows);

    for (size_t i = 0; i < e->lines.count; i++)
        rows[i] = make_row(&lines[i], source);
    (void)at_print_list("rows", &row_schema, rows, e->lines.count, format, stdout, NULL);
    for (size_t i = 0; i < e->lines.count; i++) {
        free(rows[i].line);
        free(rows[i].source);
    }
    free(rows);
}

enum at_status at_explanation_print(const struct at_explanation *e,
                                    const struct at_explained_text *source,
                                    const struct at_explained_view *view,
                                    enum at_output_format format, struct at_error *err)
{
    if (format == AT_FORMAT_JSON)
        return at_print(&at_explanation_schema, e, format, stdout, err);
    if (view->draw > 0 && check_drawn(e, source, view->draw, err) != AT_OK)
        return AT_USAGE;
    if (format == AT_FORMAT_TABLE)
        print_text(e, source, view);
    else if (view->listing)
        at_explanation_list(e, source, format);
    else
        print_plain(e, source, format);
    return AT_OK;
}
