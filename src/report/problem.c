/* SPDX-License-Identifier: Apache-2.0 */
/* The details of each problem. */
#include "base/memory.h"
#include "report/costs.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/sections.h"
#include "schema/schema.h"

#include <stdlib.h>
#include <string.h>

/* ---- times ---- */

static void print_time(const char *what, int64_t ns, int64_t low_ns, int64_t high_ns,
                       int64_t MB_per_s, const char *note, FILE *out)
{
    fprintf(out, "<tr><th scope=\"row\">%s<td>", what);
    at_html_us(out, (double)ns);
    fputs("<td>", out);
    if (low_ns > 0 && high_ns > 0) {
        at_html_us(out, (double)low_ns);
        fputs(" – ", out);
        at_html_us(out, (double)high_ns);
    }
    fprintf(out, "<td>%jd<td class=\"words\">", (intmax_t)((MB_per_s + 500) / 1000));
    at_html(out, note);
    putc('\n', out);
}

static void print_result(const char *what, const struct at_result_record *result, FILE *out)
{
    print_time(what, result->time_ns, result->time_low_ns, result->time_high_ns,
               result->bandwidth_MB_per_s, result->family, out);
}

/* The same as one line. */
static void print_few_times(const struct at_report_device *device, const struct at_report_row *row,
                            FILE *out)
{
    const struct at_entry *entry = row->entry;

    fprintf(out, "<p>%s: winner <b>", at_report_unit(device));
    at_html_us(out, (double)entry->winner.time_ns);
    fputs("</b>, copy limit ", out);
    at_html_us(out, (double)entry->copy.time_ns);
    if (entry->fallback.time_ns > 0) {
        fputs(", default config ", out);
        at_html_us(out, (double)entry->fallback.time_ns);
    }
    if (row->old) {
        fputs(", old winner ", out);
        at_html_us(out, (double)row->old->winner.time_ns);
    }
    fputs("</p>\n", out);
}

static void print_times(const struct at_report_device *device, const struct at_report_row *row,
                        FILE *out)
{
    const struct at_entry *entry = row->entry;

    fprintf(out,
            "<div class=\"scroll\"><table><thead><tr><th></th><th>%s</th><th>95 %% interval</th>"
            "<th>GB/s</th><th class=\"name\">kernel</th></tr></thead><tbody>\n",
            at_report_unit(device));
    print_result("winner", &entry->winner, out);
    print_time("copy limit", entry->copy.time_ns, 0, 0, entry->copy.bandwidth_MB_per_s,
               entry->copy.method, out);
    if (entry->fallback.time_ns > 0)
        print_result("default config", &entry->fallback, out);
    if (row->old)
        print_result("old winner", &row->old->winner, out);
    fputs("</tbody></table></div>\n", out);
}

/* ---- outcomes ---- */

static void print_outcomes(const struct at_entry *entry, bool bar, FILE *out)
{
    const struct at_evaluations *e = &entry->evaluations;
    int64_t total = at_evaluations_total(e);

    if (total > 0 && bar) {
        fputs("<div class=\"outcomes\" aria-hidden=\"true\">", out);
        for (int i = 0; i < AT_OUTCOMES; i++)
            if (e->counts[i] > 0)
                fprintf(out, "<i class=\"%s\" style=\"flex-grow:%jd\"></i>", at_outcome_names[i],
                        (intmax_t)e->counts[i]);
        fputs("</div>", out);
    }
    fputs("<p>", out);
    for (int i = 0; i < AT_OUTCOMES; i++)
        if (i == AT_CORRECT || e->counts[i] > 0) {
            at_html_count(out, e->counts[i]);
            fprintf(out, " %s, ", at_outcome_names[i]);
        }
    at_html_count(out, e->configs - total);
    fputs(" legal configs not tried, of ", out);
    at_html_count(out, e->points);
    fputs(" points. Search: ", out);
    at_html(out, entry->search);
    fprintf(out, ", seed %jd.</p>\n", (intmax_t)entry->seed);
}

/* ---- the winner ---- */

static void print_extents(const struct at_list *list, FILE *out)
{
    const int64_t *values = list->items;

    for (size_t i = 0; i < list->count; i++)
        fprintf(out, "%s%jd", i ? " × " : "", (intmax_t)values[i]);
}

static void print_launch(const struct at_result_record *winner, FILE *out)
{
    fputs("<p>Grid ", out);
    print_extents(&winner->grid, out);
    fputs(", block ", out);
    print_extents(&winner->block, out);
    fprintf(out, ", %jd registers a thread, %jd bytes of shared memory a block",
            (intmax_t)winner->registers, (intmax_t)winner->shared_bytes);
    if (winner->clock_sm_khz > 0)
        fprintf(out, ", at %.0f MHz", (double)winner->clock_sm_khz / 1000);
    fputs(".</p>\n", out);
}

static void print_parameters(const struct at_report *report, const struct at_result_record *winner,
                             FILE *out)
{
    const struct at_named_int *parameters = winner->parameters.items;

    fputs("<dl class=\"words\">\n", out);
    for (size_t i = 0; i < winner->parameters.count; i++) {
        fputs("<dt>", out);
        at_html(out, parameters[i].name);
        fprintf(out, " <b>%jd</b><dd>", (intmax_t)parameters[i].value);
        at_html(out, at_report_words(report, winner->family, parameters[i].name));
        putc('\n', out);
    }
    fputs("</dl>\n", out);
}

static void print_config(const struct at_result_record *winner, FILE *out)
{
    const struct at_named_int *parameters = winner->parameters.items;

    for (size_t i = 0; i < winner->parameters.count; i++) {
        putc(' ', out);
        at_html(out, parameters[i].name);
        fprintf(out, "=%jd", (intmax_t)parameters[i].value);
    }
}

/* How to count them. */
static void print_explain(const struct at_report_row *row, FILE *out)
{
    fputs("<p class=\"small\">What each line of this kernel costs in memory transactions: "
          "<code>autotune explain --problem ",
          out);
    at_html(out, row->entry->problem);
    putc(' ', out);
    at_html(out, row->entry->winner.family);
    print_config(&row->entry->winner, out);
    fputs("</code></p>\n", out);
}

/* ---- all of it ---- */

static void print_summary(const struct at_report_row *row, FILE *out)
{
    fputs("<summary><span>", out);
    at_html(out, row->entry->problem);
    fprintf(out, "</span> <b>%.1f&#8239;%%</b> ", (double)row->entry->winner.of_copy_permille / 10);
    at_html(out, row->entry->winner.family);
    fputs("</summary>\n", out);
}

static void print_body(const struct at_report *report, const struct at_report_device *device,
                       const struct at_report_row *row, bool few, bool words, FILE *out)
{
    fputs("<div class=\"columns\"><div>\n<h5>What stands out</h5>\n", out);
    at_report_remarks(device, row, out);
    (words ? print_times : print_few_times)(device, row, out);
    if (words)
        fputs("<h5>How the evaluations ended</h5>\n", out);
    print_outcomes(row->entry, words, out);
    fputs("</div><div>\n<h5>The winner: ", out);
    at_html(out, row->entry->winner.family);
    fputs("</h5>\n", out);
    if (words)
        print_parameters(report, &row->entry->winner, out);
    else
        fputs("<p><code class=\"config\"></code></p>\n", out); /* the script has it from the data */
    print_launch(&row->entry->winner, out);
    if (words && !row->costs)
        print_explain(row, out);
    fputs("</div></div>\n", out);
    if (row->costs)
        at_report_costs(report, row, out);
    at_report_search(report, device, row, few, out);
}

static void print_problem(const struct at_report *report, const struct at_report_device *device,
                          const struct at_report_row *row, bool few, bool words, FILE *out)
{
    /* The worst is open from the start. */
    fprintf(out, "<details class=\"problem\" id=\"%s\"%s>", row->anchor,
            row == device->rows ? " open" : "");
    print_summary(row, out);
    print_body(report, device, row, few, words, out);
    fputs("</details>\n", out);
}

/* The lines of all plots of searches. */
static void print_key(const struct at_report *report, FILE *out)
{
    fputs("<p class=\"small\">In the plots of searches: ", out);
    at_plot_key_line(out, "best", "best so far");
    at_plot_key_line(out, "copy", "copy limit");
    at_plot_key_line(out, "default", "default config");
    if (report->baseline)
        at_plot_key_line(out, "old", "old winner");
    at_plot_key_line(out, "dash", "what the search expected, a prediction");
    fputs("</p>\n", out);
}

void at_report_problems(const struct at_report *report, const struct at_report_device *device,
                        FILE *out)
{
    bool many = report->row_count > AT_REPORT_OPEN_MAX;

    fprintf(out, "<h3 id=\"d%zu-problems\">Each problem</h3>\n<p>%s</p>\n",
            (size_t)(device - report->devices),
            device->count > device->open
                ? "Those that are furthest from the copy limit, and those that you open in the "
                  "table, which takes scripts."
                : "The one furthest from the copy limit comes first.");
    if (device->points > 0)
        print_key(report, out);
    fputs("<div class=\"problems\">\n", out);
    for (size_t i = 0; i < device->open; i++)
        print_problem(report, device, &device->rows[i], many, true, out);
    fputs("</div>\n", out);
    /* The text of a script element is kept, but costs nothing until it is asked for. */
    for (size_t i = device->open; i < device->count; i++) {
        fprintf(out, "<script type=\"text/html\" id=\"t-%s\">", device->rows[i].anchor);
        print_problem(report, device, &device->rows[i], true, false, out);
        fputs("</script>\n", out);
    }
}
