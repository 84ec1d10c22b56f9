/* SPDX-License-Identifier: Apache-2.0 */
/* What became slower, faster, or is new since the baseline, as `autotune diff` judges. */
#include "base/memory.h"
#include "report/page.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
               at_report_same_config(report, rows[i]) ? "" : "another winner");
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
        at_report_software(rows[0], out);
        at_put(out, ".</p>\n");
        print_all_changes(report, rows, count, out);
    }
    print_only(report, AT_CHANGE_ADDED, "Only in this profile", out);
    print_only(report, AT_CHANGE_REMOVED, "Only in the old profile", out);
    at_put(out, "</section>\n");
    free(rows);
}
