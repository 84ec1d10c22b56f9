/* SPDX-License-Identifier: Apache-2.0 */
/* How the search of a problem went: as plots, and as tables. */
#include "base/memory.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The most points of a problem's search, and in a page of many problems. Times beyond SLOWEST times
 * the best are at the upper edge. FASTEST: rows of that table. NAMES_MAX: families whose names of
 * parameters are written once. */
enum { MANY_POINTS = 1000, FEW_POINTS = 24, SLOWEST = 5, FASTEST = 5, NAMES_MAX = 32 };

/* A row's search, with the points to show: all, or few. */
struct shown {
    const struct at_report *report;
    const struct at_report_device *device;
    const struct at_report_row *row;
    const struct at_report_search *search;
    const struct at_report_point *points, *best;
    const struct at_report_point **sorted; /* the correct points, the fastest first */
    size_t correct;
    bool *chosen; /* per point */
    size_t limit; /* the most that are chosen */
    bool few;
};

/* ---- the points to show ---- */

static int compare_times(const void *a, const void *b)
{
    const struct at_report_point *x = *(const struct at_report_point *const *)a;
    const struct at_report_point *y = *(const struct at_report_point *const *)b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x < y ? -1 : 1;
}

static void sort_points(struct shown *shown)
{
    shown->sorted = at_alloc_array(shown->search->count, sizeof *shown->sorted);
    for (size_t i = 0; i < shown->search->count; i++)
        if (shown->points[i].ns > 0)
            shown->sorted[shown->correct++] = &shown->points[i];
    qsort(shown->sorted, shown->correct, sizeof *shown->sorted, compare_times);
}

/* Of many points half of the few are the fastest, the others are evenly spread over the rest. */
static void choose_points(struct shown *shown)
{
    size_t count = shown->search->count, correct = shown->correct, fastest = shown->limit / 2, rest;

    shown->chosen = at_alloc_array(count, sizeof *shown->chosen);
    if (count <= shown->limit) {
        memset(shown->chosen, 1, count * sizeof *shown->chosen);
        return;
    }
    if (correct < fastest)
        fastest = correct;
    for (size_t i = 0; i < fastest; i++)
        shown->chosen[shown->sorted[i] - shown->points] = true;
    rest = shown->limit - fastest;
    for (size_t i = 0; i < rest && fastest < correct; i++)
        shown->chosen[shown->sorted[fastest + i * (correct - fastest) / rest] - shown->points] =
            true;
}

/* ---- the plots ---- */

/* A plot of times with its levels; `slowest` is the longest to show. */
static struct at_plot make_plot(const struct shown *shown, double slowest)
{
    const struct at_entry *entry = shown->row->entry;
    double best = shown->best->ns, copy = (double)entry->copy.time_ns;

    return (struct at_plot){
        .small = shown->few,
        .y_title = shown->device->unit,
        .y = at_axis_logarithmic(
            (struct at_range){fmin(best, copy), fmin(fmax(slowest, copy), SLOWEST * best)},
            AT_AXIS_US)};
}

static void add_levels(const struct shown *shown, struct at_plot *plot)
{
    const struct {
        const char *class;
        int64_t ns;
    } levels[] = {{"copy", shown->row->entry->copy.time_ns},
                  {"default", shown->row->entry->fallback.time_ns},
                  {"old", shown->row->old ? shown->row->old->winner.time_ns : 0}};

    for (size_t i = 0; i < AT_COUNT(levels); i++)
        if (levels[i].ns > 0)
            at_layer_add(at_plot_add(plot, AT_LAYER_ACROSS, 0, levels[i].class, NULL),
                         plot->x.range.low, (double)levels[i].ns, plot->x.range.high);
}

/* Add a step at each improvement; x is the point's number, or its time. */
static void add_best(const struct shown *shown, struct at_plot *plot, bool over_time)
{
    struct at_layer *layer = at_plot_add(plot, AT_LAYER_STEPS, 0, "best", NULL);
    const struct at_report_point *points = shown->points;
    double best = 0, x = 0;

    for (size_t i = 0; i < shown->search->count; i++) {
        x = over_time ? (double)(points[i].utc_ms - points[0].utc_ms) : (double)i + 1;
        if (points[i].ns <= 0 || (best > 0 && points[i].ns >= best))
            continue;
        best = points[i].ns;
        at_layer_add(layer, x, best, 0);
    }
    at_layer_add(layer, x, best, 0);
}

/* Add the points of each family, and what the search expected of all. */
static void add_points(const struct shown *shown, struct at_plot *plot)
{
    const struct at_report *report = shown->report;
    struct at_layer *expected = at_plot_add(plot, AT_LAYER_MARKS, 0, "expected", NULL);

    for (size_t i = 0; i < shown->search->count && !shown->few; i++)
        if (shown->chosen[i] && shown->points[i].expected_ns > 0)
            at_layer_add(expected, (double)i + 1, shown->points[i].expected_ns, 0);
    for (size_t i = 0; i < report->kernel_count; i++) {
        struct at_layer *layer = at_plot_add(plot, AT_LAYER_MARKS, i, NULL, report->kernels[i]);

        for (size_t j = 0; j < shown->search->count; j++)
            if (shown->chosen[j] && shown->points[j].ns > 0 &&
                strcmp(shown->points[j].family, report->kernels[i]) == 0)
                at_layer_add(layer, (double)j + 1, shown->points[j].ns, 0);
    }
}

static void draw_configs(const struct shown *shown, FILE *out)
{
    double slowest = shown->sorted[shown->correct - 1]->ns;
    struct at_plot plot = make_plot(shown, slowest);

    plot.name = "Time of each config, in the order of evaluation";
    plot.class = "configs";
    plot.x = at_axis_linear((struct at_range){0, (double)shown->search->count}, AT_AXIS_PLAIN);
    plot.x_title = "evaluation";
    plot.note = slowest > plot.y.range.high ? "Slower ones: at the upper edge." : NULL;
    add_levels(shown, &plot);
    add_points(shown, &plot);
    add_best(shown, &plot, false);
    at_plot_figure(&plot, out);
}

static void draw_seconds(const struct shown *shown, FILE *out)
{
    struct at_plot plot;
    double span = 0, first = 0;

    for (size_t i = 0; i < shown->search->count; i++) {
        span = fmax(span, (double)(shown->points[i].utc_ms - shown->points[0].utc_ms));
        first = first > 0 ? first : shown->points[i].ns;
    }
    if (span <= 0)
        return;
    plot = make_plot(shown, first);
    plot.name = "Best time so far against seconds";
    plot.x = at_axis_linear((struct at_range){0, span}, AT_AXIS_SECONDS);
    plot.x_title = "seconds since the first evaluation";
    add_levels(shown, &plot);
    add_best(shown, &plot, true);
    at_plot_figure(&plot, out);
}

/* ---- the finalists of the shoot-out: the spread of their samples, and which are tied ---- */

/* What a finalist came to. Each has a shape, circle, diamond or cross, and the table is the key to
 * them. */
enum verdict { WINNER, TIE, SLOWER };
static const struct {
    size_t series;
    const char *words;
} verdicts[] = {{0, "● winner"}, {3, "◆ tie"}, {4, "× slower"}};

static enum verdict verdict_of(const struct at_report_final *final)
{
    return final->won ? WINNER : final->tied ? TIE : SLOWER;
}

/* A line for each finalist, the fastest on top. */
static void draw_finals(const struct shown *shown, FILE *out)
{
    static const char *const numbers[AT_REPORT_FINALS_MAX] = {
        "1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14", "15", "16"};
    const struct at_report_search *search = shown->search;
    struct at_plot plot = {.name = "Samples of each finalist of the shoot-out",
                           .class = "finals",
                           .small = true,
                           .x_title = shown->device->unit,
                           .y_title = "finalist"};
    struct at_range range;

    for (size_t i = 0; i < search->final_count; i++) {
        const struct at_report_final *final = &search->finals[i];
        double y = (double)i + 0.5;
        struct at_layer *samples;

        at_layer_add(at_plot_add(&plot, AT_LAYER_ACROSS, 0, "from", NULL), final->low_ns, y,
                     final->high_ns);
        samples =
            at_plot_add(&plot, AT_LAYER_MARKS, verdicts[verdict_of(final)].series, NULL, NULL);
        for (size_t j = 0; j < final->sample_count; j++)
            at_layer_add(samples, final->samples_ns[j], y, 0);
        at_layer_add(at_plot_add(&plot, AT_LAYER_UPRIGHT, 0, "best", NULL), final->ns, y - 0.32,
                     y + 0.32);
    }
    range = at_plot_range(&plot, true, (struct at_range){INFINITY, 0});
    /* Equal samples are the emulated device's; they get a little room. */
    range.high = fmax(range.high, range.low * 1.001);
    plot.x = at_axis_linear(range, AT_AXIS_US);
    plot.y = at_axis_names(numbers, search->final_count);
    plot.key = "● winner ◆ tie × slower: a mark a sample; ";
    plot.note = "│ median, ─ its interval";
    at_plot_figure(&plot, out);
}

/* Print a config; of another one of the winner's kernel only what differs. */
static void print_config(const struct at_report_final *final, const struct at_report_final *winner,
                         FILE *out)
{
    const char *mine = final->config, *other = winner ? winner->config : "";
    bool same = winner && winner != final && strcmp(winner->family, final->family) == 0;
    const char *before = "";

    for (; same && *mine && *other; mine += strspn(mine, " "), other += strspn(other, " ")) {
        size_t length = strcspn(mine, " "), length_of_other = strcspn(other, " ");

        if (length != length_of_other || strncmp(mine, other, length) != 0) {
            at_put(out, "%s%.*s", before, (int)length, mine);
            before = " ";
        }
        mine += length;
        other += length_of_other;
    }
    at_put(out, "%s%s", *mine && *before ? " " : "", mine);
}

static void print_finals(const struct shown *shown, FILE *out)
{
    const struct at_report_final *finals = shown->search->finals, *winner = NULL;
    size_t count = shown->search->final_count;

    for (size_t i = 0; i < count && !winner; i++)
        winner = finals[i].won ? &finals[i] : NULL;
    at_put(out, "<h5>The finalists of the shoot-out</h5>\n");
    draw_finals(shown, out);
    at_html_table(out, "scroll", "",
                  "#|name:verdict|wide name:kernel|%s|wide:interval|slower, %%|name:config",
                  shown->device->unit);
    for (size_t i = 0; i < count; i++) {
        at_put(out,
               "<tr><td>%zu<td class=\"name\">%s<td class=\"name wide\">%s<td>%a<td "
               "class=\"wide\">%a – %a<td>%.2f<td class=\"words\">%s<code>",
               i + 1, verdicts[verdict_of(&finals[i])].words, finals[i].family, finals[i].ns,
               finals[i].low_ns, finals[i].high_ns, 100 * (finals[i].ns / finals[0].ns - 1),
               winner && !finals[i].won && strcmp(finals[i].family, winner->family) == 0
                   ? "as the winner, with "
                   : "");
        print_config(&finals[i], winner, out);
        at_put(out, "</code>\n");
    }
    at_html_table_end(out);
    at_put(out, "<p class=\"small\">%s</p>\n",
           shown->device->predicted ? "Predicted times have no spread: equal ones are a tie."
                                    : "Timed in turn after the search. A tie is not told apart "
                                      "from the fastest; of tied ones the simplest wins.");
}

/* The fastest of the search, where the journal has no shoot-out. */
static void print_fastest(const struct shown *shown, FILE *out)
{
    at_put(out, "<h5>The fastest of the search</h5>\n");
    at_html_table(out, "scroll", "", "#|name:kernel|%s|interval", shown->device->unit);
    for (size_t i = 0; i < shown->correct && i < FASTEST; i++) {
        const struct at_report_point *point = shown->sorted[i];

        at_put(out, "<tr><td>%zu<td class=\"name\">%s<td>%a<td>%a – %a%p\n",
               (size_t)(point - shown->points) + 1, point->family, point->ns, point->low_ns,
               point->high_ns,
               i > 0 && point->low_ns <= shown->best->high_ns ? "<td class=\"name\">tie" : "");
    }
    at_html_table_end(out);
    at_put(out, "<p class=\"small\">%s A tie is not told apart from the fastest here.</p>\n",
           shown->device->predicted
               ? "Predicted times have no spread."
               : "These are the search's few samples; the shoot-out timed the finalists anew, and "
                 "the profile has its winner.");
}

/* ---- the table of all that is shown ---- */

/* Do two configs name the same parameters in the same order? */
static bool same_names(const char *a, const char *b)
{
    while (*a && *b) {
        size_t name = strcspn(a, "=");

        if (strncmp(a, b, name + 1) != 0)
            return false;
        a += strcspn(a, " ");
        b += strcspn(b, " ");
        a += *a == ' ';
        b += *b == ' ';
    }
    return *a == *b;
}

/* Print "A=1 B=2" as its names or its values: "A B", "1 2". */
static void print_half(const char *config, bool names, FILE *out)
{
    const char *before = "";

    while (*config) {
        size_t length = strcspn(config, " "), name = strcspn(config, "=");
        size_t from = names || name >= length ? 0 : name + 1;
        size_t to = names && name < length ? name : length;

        at_put(out, "%s%.*s", before, (int)(to - from), config + from);
        before = " ";
        config += length;
        config += *config == ' ';
    }
}

/* The first config of each family, whose names stand for the others'. */
struct names {
    const struct at_report_point *first[NAMES_MAX];
    size_t count;
};

static const struct at_report_point *first_of(struct names *names,
                                              const struct at_report_point *point)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->first[i]->family == point->family)
            return names->first[i];
    if (names->count == NAMES_MAX)
        return NULL;
    return names->first[names->count++] = point;
}

static void print_names(const struct shown *shown, struct names *names, FILE *out)
{
    at_put(out, "<ul class=\"names\">");
    for (size_t i = 0; i < shown->search->count; i++) {
        const struct at_report_point *point = &shown->points[i];

        if (first_of(names, point) != point)
            continue;
        at_put(out, "<li data-f=\"%s\">%s: <code>", point->family, point->family);
        print_half(point->config, true, out);
        at_put(out, "</code></li>");
    }
    at_put(out, "</ul>\n");
}

static void print_point(const struct at_report_point *point, size_t number, struct names *names,
                        FILE *out)
{
    const struct at_report_point *first = first_of(names, point);

    at_put(out, "%zu\t%s\t", number, point->family);
    if (point->ns > 0)
        at_put(out, "%a", point->ns);
    else
        at_put(out, "%s", at_outcome_names[point->outcome]);
    if (point->expected_ns > 0)
        at_put(out, "\t%a\t", point->expected_ns);
    else
        at_put(out, "\t\t");
    if (first && same_names(first->config, point->config))
        print_half(point->config, false, out);
    else
        at_put(out, "%s", point->config);
    at_put(out, "\n");
}

/* Lines with tabs: as a table they would be a tenth of a page larger. The script makes one of them.
 */
static void print_points(const struct shown *shown, FILE *out)
{
    struct names names = {.count = 0};

    if (shown->search->count > shown->limit)
        at_put(out, "<details><summary>These evaluations</summary>\n");
    else
        at_put(out, "<details><summary>All %zu evaluations</summary>\n", shown->search->count);
    print_names(shown, &names, out);
    at_put(out, "<pre class=\"points\">#\tkernel\t%s\texpected\tvalues\n", shown->device->unit);
    for (size_t i = 0; i < shown->search->count; i++)
        if (shown->chosen[i])
            print_point(&shown->points[i], i + 1, &names, out);
    at_put(out, "</pre></details>\n");
}

static void print_few(const struct shown *shown, FILE *out)
{
    at_put(out, "<details><summary>These points: evaluation, kernel, %s</summary><pre>",
           shown->device->unit);
    for (size_t i = 0; i < shown->search->count; i++)
        if (shown->chosen[i] && shown->points[i].ns > 0)
            at_put(out, "%zu %s %a\n", i + 1, shown->points[i].family, shown->points[i].ns);
    at_put(out, "</pre></details>\n");
}

/* ---- all of it ---- */

/* The best of a kernel family. */
static void print_kernel(const struct shown *shown, const char *kernel, FILE *out)
{
    double fastest = 0, best = shown->best->ns;
    size_t count = 0;

    for (size_t i = 0; i < shown->search->count; i++) {
        const struct at_report_point *point = &shown->points[i];

        if (strcmp(point->family, kernel) != 0)
            continue;
        count++;
        if (point->ns > 0 && (fastest == 0 || point->ns < fastest))
            fastest = point->ns;
    }
    if (count == 0)
        return;
    at_put(out, "<li>%s <b>%a</b>%s", kernel, fastest, fastest == best ? ", the fastest" : "");
    if (fastest > best)
        at_put(out, ", +%.1f&#8239;%%", 100 * (fastest / best - 1));
    at_put(out, ", of %zu</li>", count);
}

static void print_tables(const struct shown *shown, FILE *out)
{
    const struct at_report *report = shown->report;

    at_put(out, "<h5>The best of each kernel, %s</h5>\n<ul class=\"inline\">", shown->device->unit);
    for (size_t i = 0; i < report->kernel_count; i++)
        print_kernel(shown, report->kernels[i], out);
    at_put(out, "</ul>\n");
    if (shown->few) {
        print_few(shown, out);
        return;
    }
    if (shown->search->final_count > 0)
        print_finals(shown, out);
    else
        print_fastest(shown, out);
    print_points(shown, out);
}

void at_report_search(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *row, FILE *out)
{
    const struct at_report_search *search = row->search;
    bool few = report->row_count > AT_REPORT_OPEN_MAX;
    struct shown shown = {.report = report,
                          .device = device,
                          .row = row,
                          .search = search,
                          .limit = few ? FEW_POINTS : MANY_POINTS,
                          .few = few};

    if (!search || search->best_index == search->count)
        return;
    shown.points = search->points;
    shown.best = &search->points[search->best_index];
    sort_points(&shown);
    choose_points(&shown);
    at_put(out, "<h5>The search</h5>\n<div class=\"columns%s\">\n", few ? " one" : "");
    draw_configs(&shown, out);
    if (!few)
        draw_seconds(&shown, out);
    at_put(out, "</div>\n");
    if (search->count > shown.limit)
        at_put(out,
               "<p class=\"small\">%zu of %zu evaluations: the fastest, and others evenly spread."
               "</p>\n",
               shown.limit, search->count);
    print_tables(&shown, out);
    free(shown.sorted);
    free(shown.chosen);
}
