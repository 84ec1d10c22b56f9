/* SPDX-License-Identifier: Apache-2.0 */
/* Against an old profile: what became slower, faster, or is new, as `autotune diff` judges. */
#include "base/memory.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum verdict { SLOWER, FASTER, ALIKE };

struct change {
    const struct at_report_row *row;
    double permille, low, high; /* the new time over the old one, less 1 */
    enum verdict verdict;
};

/* From the intervals of both medians; from both spreads where a profile has none. */
static struct change make_change(const struct at_report_row *row)
{
    const struct at_result_record *old = &row->old->winner, *new = &row->entry->winner;
    struct change change = {.row = row};
    double ratio = (double)new->time_ns / (double)old->time_ns;
    double spread = (double)(old->spread_permille + new->spread_permille) / 2;

    change.permille = 1000 * (ratio - 1);
    change.low = change.permille - spread;
    change.high = change.permille + spread;
    if (old->time_low_ns > 0 && old->time_high_ns > 0 && new->time_low_ns > 0 &&
        new->time_high_ns > 0) {
        change.low = 1000 * ((double)new->time_low_ns / (double)old->time_high_ns - 1);
        change.high = 1000 * ((double)new->time_high_ns / (double)old->time_low_ns - 1);
    }
    change.verdict = !at_difference_is_clear(&row->difference) ? ALIKE
                     : change.permille > 0                     ? SLOWER
                                                               : FASTER;
    return change;
}

static int compare_changes(const void *a, const void *b)
{
    const struct change *x = a, *y = b;

    if (x->permille != y->permille)
        return x->permille > y->permille ? -1 : 1;
    return strcmp(x->row->entry->problem, y->row->entry->problem);
}

static struct change *make_changes(const struct at_report *report, size_t *count)
{
    struct change *changes = at_alloc_array(report->row_count, sizeof *changes);

    *count = 0;
    for (size_t i = 0; i < report->device_count; i++)
        for (size_t j = 0; j < report->devices[i].count; j++)
            if (report->devices[i].rows[j].old)
                changes[(*count)++] = make_change(&report->devices[i].rows[j]);
    qsort(changes, *count, sizeof *changes, compare_changes);
    return changes;
}

/* ---- the software ---- */

static void print_version(const char *what, const char *old, const char *new, FILE *out)
{
    if (strcmp(old, new) == 0)
        return;
    fprintf(out, "<li>%s: ", what);
    at_html(out, old[0] ? old : "unknown");
    fputs(" → ", out);
    at_html(out, new[0] ? new : "unknown");
    fputs("</li>\n", out);
}

/* Of the first problem that both have. */
static void print_software(const struct change *change, FILE *out)
{
    const struct at_environment *old = &change->row->difference.from_record->environment;
    const struct at_environment *new = &change->row->difference.to_record->environment;

    fputs("<p>What else is different:</p><ul>\n", out);
    print_version("driver", old->driver, new->driver, out);
    print_version("CUDA", old->cuda_driver, new->cuda_driver, out);
    print_version("NVRTC", old->nvrtc, new->nvrtc, out);
    print_version("autotune", old->autotune, new->autotune, out);
    print_version("templates", old->templates, new->templates, out);
    fputs("</ul>\n", out);
}

/* ---- the plot ---- */

static void draw(const struct change *changes, size_t count, FILE *out)
{
    static const size_t series[] = {[SLOWER] = 1, [FASTER] = 2, [ALIKE] = 0};
    struct at_plot plot = {.out = out,
                           .width = 1120,
                           .height = 280,
                           .left = 56,
                           .right = 1096,
                           .top = 22,
                           .bottom = 234,
                           .x_title = "problems, the one that lost most first",
                           .y_title = "change of the time, %"};
    double low = 0, high = 0;

    for (size_t i = 0; i < count; i++) {
        low = fmin(low, changes[i].low);
        high = fmax(high, changes[i].high);
    }
    plot.x = at_axis_linear(0, (double)count + 1, AT_AXIS_PLAIN);
    plot.x.high = (double)count + 1;
    plot.y = at_axis_linear(low, high, AT_AXIS_PERCENT);
    fputs("<figure class=\"long\"><div class=\"scroll\">\n", out);
    at_plot_begin(&plot, "Change of each problem's time, with its interval");
    at_plot_level(&plot, 0, "zero");
    for (size_t i = 0; i < count; i++) {
        char *text =
            at_format("%s: %+.1f %%", changes[i].row->entry->problem, changes[i].permille / 10);

        fprintf(out, "<path class=\"from\" d=\"M%.1f %.1fV%.1f\"/>",
                at_axis_place(&plot.x, (double)i + 1), at_axis_place(&plot.y, changes[i].low),
                at_axis_place(&plot.y, changes[i].high));
        at_plot_mark(&plot, series[changes[i].verdict], (double)i + 1, changes[i].permille, text,
                     NULL);
        free(text);
    }
    at_plot_end(&plot);
    fputs("</div><figcaption>", out);
    at_plot_key_item(out, series[SLOWER], "slower");
    at_plot_key_item(out, series[FASTER], "faster");
    at_plot_key_item(out, series[ALIKE], "within both spreads");
    fputs("</figcaption></figure>\n", out);
}

/* ---- the tables ---- */

static bool same_config(const struct at_report *report, const struct change *change)
{
    for (size_t i = 0; i < report->diff.count; i++)
        if (report->diff.items[i].to == change->row->entry)
            return report->diff.items[i].change != AT_CHANGE_CONFIG;
    return true;
}

static void print_change(const struct at_report *report, const struct change *change, FILE *out)
{
    static const char *const verdicts[] = {
        [SLOWER] = "■ slower", [FASTER] = "▲ faster", [ALIKE] = "alike"};
    static const char *const classes[] = {
        [SLOWER] = "name worse", [FASTER] = "name better", [ALIKE] = "name"};

    fprintf(out, "<tr><th scope=\"row\"><a href=\"#%s\">", change->row->anchor);
    at_html(out, change->row->entry->problem);
    fputs("</a><td class=\"wide\">", out);
    at_html_us(out, (double)change->row->old->winner.time_ns);
    fputs("<td class=\"wide\">", out);
    at_html_us(out, (double)change->row->entry->winner.time_ns);
    fprintf(out, "<td>%+.1f<td class=\"wide\">%+.1f … %+.1f<td class=\"%s\">%s</td>",
            change->permille / 10, change->low / 10, change->high / 10, classes[change->verdict],
            verdicts[change->verdict]);
    fprintf(out, "<td class=\"name\">%s</td></tr>\n",
            same_config(report, change) ? "" : "another winner");
}

static void print_table(const struct at_report *report, const struct change *changes, size_t count,
                        FILE *out)
{
    fputs("<div class=\"scroll tall\"><table class=\"sortable\"><thead><tr><th>problem</th><th "
          "class=\"wide\">old µs</th><th class=\"wide\">new µs</th><th>change "
          "%</th><th class=\"wide\">interval</th><th "
          "class=\"name\">verdict</th><th></th></tr>"
          "</thead><tbody>\n",
          out);
    for (size_t i = 0; i < count; i++)
        print_change(report, &changes[i], out);
    fputs("</tbody></table></div>\n<p class=\"small\">As <code>autotune diff</code> judges: slower "
          "and faster are by more than both spreads.</p>\n",
          out);
}

static void print_only(const struct at_report *report, enum at_change kind, const char *title,
                       FILE *out)
{
    size_t count = 0;

    for (size_t i = 0; i < report->diff.count; i++)
        count += report->diff.items[i].change == kind;
    if (count == 0)
        return;
    fprintf(out, "<details><summary>%s: %zu</summary><ul class=\"inline\">", title, count);
    for (size_t i = 0; i < report->diff.count; i++) {
        const struct at_difference *difference = &report->diff.items[i];

        if (difference->change != kind)
            continue;
        fputs("<li>", out);
        at_html(out, difference->from ? difference->from->problem : difference->to->problem);
        fputs("</li>", out);
    }
    fputs("</ul></details>\n", out);
}

void at_report_changes(const struct at_report *report, FILE *out)
{
    size_t count, verdicts[ALIKE + 1] = {0};
    struct change *changes;

    if (!report->baseline)
        return;
    changes = make_changes(report, &count);
    for (size_t i = 0; i < count; i++)
        verdicts[changes[i].verdict]++;
    fputs("<section id=\"changes\"><h2>Is anything slower than in ", out);
    at_html(out, report->baseline_name);
    fprintf(
        out,
        "?</h2>\n<p class=\"lead\"><b>%s:</b> of %zu problems that both profiles have for the "
        "same device and policy, <b>%zu became slower</b>, <b>%zu faster</b>, and %zu differ by "
        "no more than both spreads.</p>\n",
        count == 0             ? "Not known"
        : verdicts[SLOWER] > 0 ? "Yes"
                               : "No",
        count, verdicts[SLOWER], verdicts[FASTER], verdicts[ALIKE]);
    for (size_t i = 0; i < report->device_count; i++)
        if (report->devices[i].predicted) {
            fputs("<p class=\"banner\"><b>Emulated:</b> ", out);
            at_html(out, report->devices[i].record->device.name);
            fputs(", whose times are predicted, not measured.</p>\n", out);
        }
    if (count > 0) {
        print_software(&changes[0], out);
        draw(changes, count, out);
        print_table(report, changes, count, out);
    }
    print_only(report, AT_CHANGE_ADDED, "Only in this profile", out);
    print_only(report, AT_CHANGE_REMOVED, "Only in the old profile", out);
    fputs("</section>\n", out);
    free(changes);
}
