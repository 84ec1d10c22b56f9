/* SPDX-License-Identifier: Apache-2.0 */
/* The problems: a table of all, the details of each, and what changed since the baseline. */
#include "base/memory.h"
#include "explain/explain.h"
#include "explain/lines.h"
#include "explain/request.h"
#include "report/page.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The height of a row: what a browser reserves for a table that it has not laid out. */
enum { ROW_PIXELS = 29 };

/* ---- the table ---- */

/* As a share of a whole bar, which is 1.2 times the limit. */
static double width_of(int64_t permille)
{
    return (double)(permille > 1200 ? 1200 : permille) / 1200;
}

/* A cell with a bar before the number. */
static void print_bar(FILE *out, int64_t permille, const char *class)
{
    at_put(out, "<td class=\"bar%s\"><i style=\"--v:%.3f\"></i>%.1f", class, width_of(permille),
           (double)permille / 10);
}

static void print_old(const struct at_report_row *row, FILE *out)
{
    static const struct {
        const char *class, *mark;
    } verdicts[] = {[AT_REPORT_SLOWER] = {" class=\"worse\"", " ■"},
                    [AT_REPORT_FASTER] = {" class=\"better\"", " ▲"},
                    [AT_REPORT_ALIKE] = {"", ""}};
    const struct at_report_change *change = &row->change;

    if (row->old)
        at_put(out, "<td data-v=\"%.0f\"%p>%+.1f%%%s", change->permille,
               verdicts[change->verdict].class, change->permille / 10,
               verdicts[change->verdict].mark);
    else
        at_put(out, "<td data-v=\"0\">new");
}

static void print_row(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *row, FILE *out)
{
    static const char *const ended[] = {
        [AT_ENDED_UNKNOWN] = "–",           [AT_ENDED_SETTLED] = "settled",
        [AT_ENDED_BUDGET] = "budget",       [AT_ENDED_INTERRUPTED] = "interrupted",
        [AT_ENDED_EXHAUSTED] = "all tried",
    };
    const struct at_entry *entry = row->entry;
    const struct at_result_record *winner = &entry->winner;
    int64_t peak = device->record->device.peak_bandwidth_MB_per_s;
    bool open = row < device->rows + device->open;

    at_put(
        out,
        "<tr><th scope=\"row\"><a %p%s\">%s</a><td class=\"wide name\">%s<td data-v=\"%jd\">%a<td "
        "class=\"wide\">%jd",
        open ? "href=\"#" : "data-p=\"", row->anchor, entry->problem, winner->family,
        (intmax_t)winner->time_ns, (double)winner->time_ns,
        (intmax_t)((winner->bandwidth_MB_per_s + 500) / 1000));
    print_bar(out, winner->of_copy_permille, " share");
    if (entry->fallback.time_ns > 0)
        at_put(out, "<u style=\"--v:%.3f\"></u>", width_of(entry->fallback.of_copy_permille));
    if (peak > 0)
        print_bar(out, winner->bandwidth_MB_per_s * 1000 / peak, " peak wider");
    else
        at_put(out, "<td class=\"wider\">–");
    at_put(out, "<td class=\"wider\">%.1f", (double)winner->spread_permille / 10);
    at_put(out, report->baseline ? "<td class=\"wide\">" : "<td>");
    at_put(out, entry->fallback.time_ns > 0 ? "%.2f×" : "–",
           (double)entry->fallback.time_ns / (double)winner->time_ns);
    if (report->baseline)
        print_old(row, out);
    at_put(out, "<td class=\"wide\">%jd<td class=\"name wider\">%s\n",
           (intmax_t)at_evaluations_total(&entry->evaluations), ended[entry->ended]);
}

void at_report_table(const struct at_report *report, const struct at_report_device *device,
                     FILE *out)
{
    at_put(
        out,
        "<h3 id=\"d%zu-table\">All problems</h3>\n<p>The one furthest from the copy limit comes "
        "first. Bars: share of the copy limit, whose 100&#8239;%% is the upright line, and of the "
        "memory's peak. The mark | is the default config.</p>\n<div "
        "class=\"scroll%s\" style=\"contain-intrinsic-size:auto %zupx\">",
        device->index, device->count > AT_PLOT_TEXTS_MAX ? " big" : "", ROW_PIXELS * device->count);
    at_html_table(out, NULL, "sortable",
                  "problem|wide name:kernel|%s|wide:GB/s|%% of copy|wider:%% of peak|wider:spread "
                  "%%|%sover default|%swide:configs|name wider:search",
                  device->unit, report->baseline ? "wide:" : "",
                  report->baseline ? "over old|" : "");
    for (size_t i = 0; i < device->count; i++)
        print_row(report, device, &device->rows[i], out);
    at_html_table_end(out);
    at_put(out,
           "<p class=\"small\">Spread: the middle half of the winner's samples, as a share of its "
           "time. Over default: the default config's time over the winner's.</p>\n");
}

/* ---- what differs from the baseline ---- */

static void print_software(const struct at_report_row *row, FILE *out)
{
    const struct at_environment *old = &row->old_record->environment;
    const struct at_environment *new = &row->record->environment;
    const char *const versions[][3] = {{"driver", old->driver, new->driver},
                                       {"CUDA", old->cuda_driver, new->cuda_driver},
                                       {"NVRTC", old->nvrtc, new->nvrtc},
                                       {"autotune", old->autotune, new->autotune}};
    const char *before = "";

    for (size_t i = 0; i < AT_COUNT(versions); i++) {
        if (strcmp(versions[i][1], versions[i][2]) == 0)
            continue;
        at_put(out, "%s%s %s → %s", before, versions[i][0],
               versions[i][1][0] ? versions[i][1] : "unknown",
               versions[i][2][0] ? versions[i][2] : "unknown");
        before = ", ";
    }
    at_put(out, "%s", before[0] ? "" : "the same software");
}

static bool has_same_config(const struct at_report *report, const struct at_report_row *row)
{
    for (size_t i = 0; i < report->diff.count; i++)
        if (report->diff.items[i].to == row->entry)
            return report->diff.items[i].change != AT_CHANGE_CONFIG;
    return true;
}

/* ---- what stands out: facts of the profile that may hold a problem back ---- */

static void remark_copy(const struct at_report_row *row, FILE *out)
{
    int64_t permille = row->winner->of_copy_permille;

    if (row->small)
        at_put(out, "<li>%s: a copy of as many bytes limits it little</li>\n",
               row->bytes <= row->record->device.l2_bytes || row->entry->from_l2
                   ? "The L2 cache can hold its data"
                   : "The fixed cost of a launch weighs, as even the copy reaches less than half "
                     "of the memory's peak");
    else if (permille > 1000)
        at_put(out, "<li>It is faster than the copy that gives the limit: the limit is too low"
                    "</li>\n");
    else if (permille >= 950)
        at_put(out, "<li>It is within 5 %% of the copy limit: there is little left to gain</li>\n");
    else
        at_put(out, "<li>It takes %.2f times as long as the fastest copy of as many bytes</li>\n",
               1000 / (double)(permille > 0 ? permille : 1));
}

static void remark_change(const struct at_report *report, const struct at_report_row *row,
                          FILE *out)
{
    if (!row->old || row->change.verdict != AT_REPORT_SLOWER)
        return;
    at_put(
        out, "<li>It became %.1f&#8239;%% slower than in %s, with %s: ", row->change.permille / 10,
        report->baseline_name, has_same_config(report, row) ? "the same config" : "another config");
    print_software(row, out);
    at_put(out, "</li>\n");
}

static void remark_problem(const struct at_problem *problem, FILE *out)
{
    int64_t side = problem->rows < problem->cols ? problem->rows : problem->cols;
    bool src = problem->rows > 1 && problem->ld_src * problem->elem_size % 32 != 0;
    bool dst = problem->cols > 1 && problem->ld_dst * problem->elem_size % 32 != 0;

    if (side < 32)
        at_put(out, "<li>One side has only %jd element%s, less than a warp has lanes</li>\n",
               (intmax_t)side, side == 1 ? "" : "s");
    if (src || dst)
        at_put(out,
               "<li>Rows of the %s begin within a sector of 32 bytes, so accesses share sectors "
               "and cannot always be wide</li>\n",
               src && dst ? "source and of the destination"
               : src      ? "source"
                          : "destination");
}

static void remark_result(const struct at_entry *entry, int64_t multiprocessors, FILE *out)
{
    const int64_t *grid = entry->winner.grid.items;
    int64_t blocks = 1;

    for (size_t i = 0; i < entry->winner.grid.count && blocks < multiprocessors; i++)
        blocks *= grid[i] > 0 && grid[i] < 1000000 ? grid[i] : 1000000;
    if (blocks < multiprocessors)
        at_put(out, "<li>Its grid has %jd blocks for %jd multiprocessors: some have no work</li>\n",
               (intmax_t)blocks, (intmax_t)multiprocessors);
    if (entry->winner.spill_bytes > 0)
        at_put(out, "<li>Each thread spills %jd bytes of registers</li>\n",
               (intmax_t)entry->winner.spill_bytes);
    if (entry->winner.spread_permille > 30)
        at_put(out, "<li>Its samples spread by %.1f&#8239;%%: the time is uncertain</li>\n",
               (double)entry->winner.spread_permille / 10);
    if (entry->ended == AT_ENDED_BUDGET || entry->ended == AT_ENDED_INTERRUPTED)
        at_put(out, "<li>Its search was cut short: a longer one may find a better config</li>\n");
}

void at_report_remarks(const struct at_report *report, const struct at_report_device *device,
                       const struct at_report_row *row, FILE *out)
{
    at_put(out, "<ul>\n");
    remark_change(report, row, out);
    remark_copy(row, out);
    remark_problem(&row->problem, out);
    remark_result(row->entry, device->record->device.multiprocessors, out);
    at_put(out, "</ul>\n");
}

/* ---- times ---- */

static void print_time(const char *what, const struct at_result_record *result, FILE *out)
{
    at_put(out, "<tr><th scope=\"row\">%s: %s<td>%a<td class=\"words\">", what, result->family,
           (double)result->time_ns);
    if (result->time_low_ns > 0 && result->time_high_ns > 0)
        at_put(out, "%a – %a", (double)result->time_low_ns, (double)result->time_high_ns);
    at_put(out, "<td>%jd\n", (intmax_t)((result->bandwidth_MB_per_s + 500) / 1000));
}

static void print_times(const struct at_report_device *device, const struct at_report_row *row,
                        FILE *out)
{
    const struct at_entry *entry = row->entry;
    const char *method = entry->copy.method, *config = strchr(method, ' ');

    at_html_table(out, "scroll", "", "|%s|name:95 %% interval|GB/s", device->unit);
    print_time("winner", &entry->winner, out);
    at_put(out, "<tr><th scope=\"row\">copy limit: %.*s<td>%a<td><td>%jd\n",
           (int)strcspn(method, " "), method, (double)entry->copy.time_ns,
           (intmax_t)((entry->copy.bandwidth_MB_per_s + 500) / 1000));
    if (entry->fallback.time_ns > 0)
        print_time("default", &entry->fallback, out);
    if (row->old)
        print_time("old winner", &row->old->winner, out);
    at_html_table_end(out);
    if (config)
        at_put(out, "<p class=\"small\">The copy limit's kernel: <code>%s</code></p>\n",
               config + 1);
}

/* The same as one line. */
static void print_few_times(const struct at_report_device *device, const struct at_report_row *row,
                            FILE *out)
{
    const struct at_entry *entry = row->entry;

    at_put(out, "<p>%s: winner <b>%a</b>, copy limit %a", device->unit,
           (double)entry->winner.time_ns, (double)entry->copy.time_ns);
    if (entry->fallback.time_ns > 0)
        at_put(out, ", default config %a", (double)entry->fallback.time_ns);
    if (row->old)
        at_put(out, ", old winner %a", (double)row->old->winner.time_ns);
    at_put(out, "</p>\n");
}

/* ---- outcomes ---- */

static void print_outcomes(const struct at_entry *entry, FILE *out)
{
    const struct at_evaluations *e = &entry->evaluations;

    at_put(out, "<p>Search: %s, seed %jd. It tried %'jd of %'jd legal configs", entry->search,
           (intmax_t)entry->seed, (intmax_t)at_evaluations_total(e), (intmax_t)e->configs);
    for (int i = 0; i < AT_OUTCOMES; i++)
        if (i == AT_CORRECT || e->counts[i] > 0)
            at_put(out, "%s%'jd %s", i == AT_CORRECT ? ": " : ", ", (intmax_t)e->counts[i],
                   at_outcome_names[i]);
    at_put(out, ".</p>\n");
}

/* ---- the winner ---- */

static void print_extents(const struct at_list *list, FILE *out)
{
    const int64_t *values = list->items;

    for (size_t i = 0; i < list->count; i++)
        at_put(out, "%s%jd", i ? " × " : " ", (intmax_t)values[i]);
}

static void print_launch(const struct at_result_record *winner, FILE *out)
{
    at_put(out, "<p>Grid");
    print_extents(&winner->grid, out);
    at_put(out, ", block");
    print_extents(&winner->block, out);
    at_put(out, ", %jd registers a thread, %jd bytes of shared memory a block",
           (intmax_t)winner->registers, (intmax_t)winner->shared_bytes);
    if (winner->clock_sm_khz > 0)
        at_put(out, ", at %.0f MHz", (double)winner->clock_sm_khz / 1000);
    at_put(out, ".</p>\n");
}

static void print_parameters(const struct at_report *report, const struct at_result_record *winner,
                             FILE *out)
{
    const struct at_named_int *parameters = winner->parameters.items;

    at_put(out, "<dl class=\"words\">\n");
    for (size_t i = 0; i < winner->parameters.count; i++)
        at_put(out, "<dt>%s <b>%jd</b><dd>%s\n", parameters[i].name, (intmax_t)parameters[i].value,
               at_report_words(report, winner->family, parameters[i].name));
    at_put(out, "</dl>\n");
}

/* ---- what its accesses cost ---- */

static void print_cost(const struct at_explained_text *source, const struct at_explained_line *line,
                       FILE *out)
{
    bool shared = line->wavefronts > 0;
    double requests = (double)line->requests;
    double cost = (double)(shared ? line->wavefronts : line->sectors);
    double least = (double)(shared ? line->least_wavefronts : line->least_sectors);
    char *text = at_explained_source(source, line);

    at_put(out,
           "<tr><th scope=\"row\">%s:%jd</th><td class=\"name\">%s</td><td>%.2f</td><td>%.2f</td>"
           "<td>%.1f</td><td class=\"words wide\"><code>%s</code></td></tr>\n",
           line->file, (intmax_t)line->line, line->access, cost / requests, least / requests,
           100 * least / cost, text);
    free(text);
}

/* The costs were counted with this family, so it is there. */
static const struct at_family *family_of(const struct at_report *report,
                                         const struct at_explanation *costs)
{
    size_t i = 0;

    while (strcmp(report->families[i]->name, costs->family) != 0)
        i++;
    return report->families[i];
}

/* Draw the request that costs most of all. */
static void draw_costliest(const struct at_explanation *costs, FILE *out)
{
    const struct at_explained_line *lines = costs->lines.items, *costliest = lines;
    char *picture;

    for (size_t i = 1; i < costs->lines.count; i++)
        if (lines[i].share_permille > costliest->share_permille)
            costliest = &lines[i];
    picture = costs->lines.count > 0 ? at_request_draw(costliest, INT_MAX) : NULL;
    if (!picture)
        return;
    at_put(out,
           "<p class=\"small\">The costliest line is %s:%jd, with a share of %.0f&#8239;%%. This "
           "is one of its requests; %s.</p>\n"
           "<pre class=\"request\">%s</pre>\n",
           costliest->file, (intmax_t)costliest->line, (double)costliest->share_permille / 10,
           at_request_legend, picture);
    free(picture);
}

static void print_costs(const struct at_report *report, const struct at_explanation *costs,
                        FILE *out)
{
    const struct at_explained_line *lines = costs->lines.items;
    const struct at_family *family = family_of(report, costs);
    const struct at_explained_text source = {family->template_path, family->source};

    at_put(out, "<h5>What its accesses cost</h5>\n");
    at_html_table(out, "scroll", "", "line|name:access|cost|least|good %%|wide name:source");
    for (size_t i = 0; i < costs->lines.count; i++)
        print_cost(&source, &lines[i], out);
    at_html_table_end(out);
    at_put(out,
           "<p class=\"small\">Sectors a request in global memory, wavefronts a request in shared "
           "memory, counted on the emulated device in %jd of %jd blocks. Occupancy "
           "%jd&#8239;%%, limited by %s",
           (intmax_t)costs->blocks_counted, (intmax_t)costs->blocks,
           (intmax_t)costs->occupancy_percent, costs->occupancy_limiter);
    if (costs->predicted_ns > 0)
        at_put(out,
               ". Predicted, not measured: %a µs, bound by %s, with an achieved occupancy of "
               "%jd&#8239;%%",
               (double)costs->predicted_ns, costs->bound, (intmax_t)costs->achieved_percent);
    at_put(out, ".</p>\n");
    draw_costliest(costs, out);
}

/* ---- all details of a problem ---- */

/* `whole`: as the page shows it without scripts. The others have less of everything. */
static void print_result(const struct at_report *report, const struct at_report_device *device,
                         const struct at_report_row *row, bool whole, FILE *out)
{
    const struct at_entry *entry = row->entry;

    at_put(out, "<div class=\"columns\"><div>\n<h5>What stands out</h5>\n");
    at_report_remarks(report, device, row, out);
    (whole ? print_times : print_few_times)(device, row, out);
    print_outcomes(entry, out);
    at_put(out, "</div><div>\n<h5>The winner: %s</h5>\n", entry->winner.family);
    if (whole)
        print_parameters(report, &entry->winner, out);
    else /* the script has it from the data */
        at_put(out, "<p><code class=\"config\"></code></p>\n");
    print_launch(&entry->winner, out);
    if (whole && !row->costs)
        at_report_explain(row, "What each line of this kernel costs in memory transactions", out);
    at_put(out, "</div></div>\n");
}

/* The worst is open from the start. */
static void print_problem(const struct at_report *report, const struct at_report_device *device,
                          const struct at_report_row *row, bool whole, FILE *out)
{
    at_put(out,
           "<details class=\"problem\" id=\"%s\"%s><summary><span>%s</span> <b>%.1f&#8239;%%</b> "
           "%s</summary>\n",
           row->anchor, row == device->rows ? " open" : "", row->entry->problem, row->percent,
           row->winner->family);
    print_result(report, device, row, whole, out);
    if (row->costs)
        print_costs(report, row->costs, out);
    at_report_search(report, device, row, out);
    at_put(out, "</details>\n");
}

/* The lines of all plots of searches. */
static void print_key(const struct at_report *report, FILE *out)
{
    at_put(out, "<p class=\"small\">In the plots of searches: ");
    at_key_line(out, "best", "best so far");
    at_key_line(out, "copy", "copy limit");
    at_key_line(out, "default", "default config");
    if (report->baseline)
        at_key_line(out, "old", "old winner");
    at_key_line(out, "expected", "what the search expected, a prediction");
    at_put(out, "</p>\n");
}

void at_report_problems(const struct at_report *report, const struct at_report_device *device,
                        FILE *out)
{
    at_put(out, "<h3 id=\"d%zu-problems\">Each problem</h3>\n<p>%s</p>\n", device->index,
           device->count > device->open
               ? "Those that are furthest from the copy limit, and those that you open in the "
                 "table, which takes scripts."
               : "The one furthest from the copy limit comes first.");
    if (device->points > 0)
        print_key(report, out);
    at_put(out, "<div class=\"problems\">\n");
    for (size_t i = 0; i < device->open; i++)
        print_problem(report, device, &device->rows[i], true, out);
    at_put(out, "</div>\n");
    /* The text of a script element is kept, but costs nothing until it is asked for. */
    for (size_t i = device->open; i < device->count; i++) {
        at_put(out, "<script type=\"text/html\" id=\"t-%s\">", device->rows[i].anchor);
        print_problem(report, device, &device->rows[i], false, out);
        at_put(out, "</script>\n");
    }
}

/* ---- what changed since the baseline, as `autotune diff` judges ---- */

/* Slower ones come first, those of the largest change before the others. */
static int compare_changes(const void *a, const void *b)
{
    const struct at_report_row *x = *(const struct at_report_row *const *)a;
    const struct at_report_row *y = *(const struct at_report_row *const *)b;
    double p = fabs(x->change.permille), q = fabs(y->change.permille);

    if (x->change.verdict != y->change.verdict)
        return x->change.verdict < y->change.verdict ? -1 : 1;
    return p != q ? p > q ? -1 : 1 : strcmp(x->entry->problem, y->entry->problem);
}

/* The rows that are in the baseline; the caller frees them. */
static const struct at_report_row **find_changes(const struct at_report *report, size_t *count)
{
    const struct at_report_row **rows = at_alloc_array(report->row_count, sizeof *rows);

    *count = 0;
    for (size_t i = 0; i < report->device_count; i++)
        for (size_t j = 0; j < report->devices[i].count; j++)
            if (report->devices[i].rows[j].old)
                rows[(*count)++] = &report->devices[i].rows[j];
    if (*count > 0)
        qsort(rows, *count, sizeof *rows, compare_changes);
    return rows;
}

/* A bar from the middle, to the right for what became slower; half of the cell is `most`. */
static void print_change(const struct at_report_change *change, double most, FILE *out)
{
    static const char *const marks[AT_REPORT_VERDICTS] = {
        [AT_REPORT_SLOWER] = "■", [AT_REPORT_FASTER] = "▲", [AT_REPORT_ALIKE] = ""};

    at_put(out, "<td class=\"bar change %s\" data-v=\"%.0f\"><i style=\"--v:%.3f\"></i>%s %+.1f",
           change->permille < 0 ? "better" : "worse", change->permille,
           fmin(1, fabs(change->permille) / most) / 2, marks[change->verdict],
           change->permille / 10);
}

static void print_changes(const struct at_report *report, const struct at_report_row *const *rows,
                          size_t count, FILE *out)
{
    double most = 1;

    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(rows[i]->change.permille));
    at_html_table(
        out, "scroll tall", "sortable",
        "problem|change of the time, %%|wide:interval|wide:old µs|wide:new µs|wide name:");
    for (size_t i = 0; i < count; i++) {
        const struct at_report_change *change = &rows[i]->change;

        at_put(out, "<tr><th scope=\"row\"><a href=\"#%s\">%s</a>", rows[i]->anchor,
               rows[i]->entry->problem);
        print_change(change, most, out);
        at_put(out,
               "<td class=\"wide\">%+.1f … %+.1f<td class=\"wide\">%a<td class=\"wide\">%a<td "
               "class=\"wide name\">%s\n",
               change->low / 10, change->high / 10, (double)rows[i]->old->winner.time_ns,
               (double)rows[i]->winner->time_ns,
               has_same_config(report, rows[i]) ? "" : "another winner");
    }
    at_html_table_end(out);
}

/* The command that tunes again what became slower, for each device. */
static void print_retunes(const struct at_report *report, const struct at_report_row *const *slower,
                          size_t count, FILE *out)
{
    const struct at_report_row **own = at_alloc_array(count, sizeof *own);

    for (size_t i = 0; i < report->device_count; i++) {
        const struct at_report_device *device = &report->devices[i];
        size_t used = 0;

        for (size_t j = 0; j < count; j++)
            if (slower[j] >= device->rows && slower[j] < device->rows + device->count)
                own[used++] = slower[j];
        if (used > 0)
            at_report_retune(report, device, own, used, false, "What became slower, tuned again",
                             out);
    }
    free(own);
}

/* What changed, and folded what did not. */
static void print_all_changes(const struct at_report *report,
                              const struct at_report_row *const *rows, size_t count, FILE *out)
{
    size_t slower = report->verdicts[AT_REPORT_SLOWER];
    size_t changed = slower + report->verdicts[AT_REPORT_FASTER];

    if (slower > 0)
        print_retunes(report, rows, slower, out);
    if (changed > 0)
        print_changes(report, rows, changed, out);
    if (changed < count) {
        at_put(out, "<details><summary>Alike: %zu problems</summary>\n", count - changed);
        print_changes(report, rows + changed, count - changed, out);
        at_put(out, "</details>\n");
    }
    at_put(out, "<p class=\"small\">As <code>autotune diff</code> judges: slower and faster are by "
                "more than both spreads. Bars to the right are slower.</p>\n");
}

static void print_only(const struct at_report *report, enum at_change kind, const char *title,
                       FILE *out)
{
    const struct at_diff *diff = &report->diff;
    size_t count = 0;

    for (size_t i = 0; i < diff->count; i++)
        count += diff->items[i].change == kind;
    if (count == 0)
        return;
    at_put(out, "<details><summary>%s: %zu</summary><ul class=\"inline\">", title, count);
    for (size_t i = 0; i < diff->count; i++)
        if (diff->items[i].change == kind)
            at_put(out, "<li>%s</li>",
                   diff->items[i].from ? diff->items[i].from->problem : diff->items[i].to->problem);
    at_put(out, "</ul></details>\n");
}

void at_report_changes(const struct at_report *report, FILE *out)
{
    const size_t *counts = report->verdicts;
    const struct at_report_row **rows;
    size_t count;

    if (!report->baseline)
        return;
    rows = find_changes(report, &count);
    at_put(out,
           "<section id=\"changes\"><h2>Is anything slower than in %s?</h2>\n<p "
           "class=\"lead\"><b>%s:</b> of %zu problems that both profiles have for the same device "
           "and policy, <b>%zu became slower</b>, <b>%zu faster</b>, and %zu differ by no more "
           "than both spreads.</p>\n",
           report->baseline_name,
           count == 0                     ? "Not known"
           : counts[AT_REPORT_SLOWER] > 0 ? "Yes"
                                          : "No",
           count, counts[AT_REPORT_SLOWER], counts[AT_REPORT_FASTER], counts[AT_REPORT_ALIKE]);
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].predicted)
            at_put(out,
                   "<p class=\"banner\"><b>Emulated:</b> %s, whose times are predicted, not "
                   "measured.</p>\n",
                   report->devices[i].record->device.name);
    if (count > 0) {
        at_put(out, "<p>From the old profile to this one: ");
        print_software(rows[0], out);
        at_put(out, ".</p>\n");
        print_all_changes(report, rows, count, out);
    }
    print_only(report, AT_CHANGE_ADDED, "Only in this profile", out);
    print_only(report, AT_CHANGE_REMOVED, "Only in the old profile", out);
    at_put(out, "</section>\n");
    free(rows);
}
