/* SPDX-License-Identifier: Apache-2.0 */
/* The finalists of a problem's shoot-out: the spread of their samples, and which are tied. */
#include "base/memory.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What a finalist came to. Each has a shape, circle, diamond or cross, and the table is the key to
 * them. */
enum verdict { WINNER, TIE, SLOWER };
static const struct {
    size_t series;
    const char *shape, *word;
} verdicts[] = {
    {0, "●", "winner"},
    {3, "◆", "tie"},
    {4, "×", "slower"},
};

static enum verdict verdict_of(const struct at_report_final *final)
{
    return final->won ? WINNER : final->tied ? TIE : SLOWER;
}

/* ---- the plot: a line for each finalist, the fastest on top ---- */

enum { LINE = 34, TOP = 22, BELOW = 46 };

static void draw_final(struct at_plot *plot, const struct at_report_final *final, size_t line)
{
    double y = plot->top + LINE * ((double)line + 0.5);
    double median = at_axis_place(&plot->x, final->ns);

    fprintf(plot->out, "<g class=\"y\"><text x=\"%g\" y=\"%g\">%zu</text></g>\n", plot->left - 8,
            y + 4, line + 1);
    fprintf(plot->out, "<path class=\"from\" d=\"M%.0f %gH%.0f\"/>\n",
            at_axis_place(&plot->x, final->low_ns), y, at_axis_place(&plot->x, final->high_ns));
    at_plot_marks(plot, verdicts[verdict_of(final)].series, NULL);
    for (size_t i = 0; i < final->sample_count; i++)
        at_plot_along(plot, final->samples_ns[i], y);
    at_plot_points_end(plot);
    fprintf(plot->out, "<path class=\"best\" d=\"M%.0f %gv%d\"/>\n", median, y - 11, 22);
}

static void draw(const struct at_report_shown *shown, FILE *out)
{
    const struct at_report_search *search = shown->search;
    double low = search->finals[0].ns, high = low;
    struct at_plot plot = {.out = out,
                           .width = 560,
                           .left = 30,
                           .right = 540,
                           .top = TOP,
                           .bottom = TOP + LINE * (double)search->final_count,
                           .small = true,
                           .x_title = at_report_unit(shown->device),
                           .y_title = "finalist"};

    plot.height = plot.bottom + BELOW;
    for (size_t i = 0; i < search->final_count; i++)
        for (size_t j = 0; j < search->finals[i].sample_count; j++) {
            low = fmin(low, search->finals[i].samples_ns[j]);
            high = fmax(high, search->finals[i].samples_ns[j]);
        }
    /* Equal ones are the emulated device's; they get a little room. */
    plot.x = at_axis_linear(low, fmax(high, low * 1.001), AT_AXIS_US);
    plot.y = (struct at_plot_axis){.low = 0, .high = 1}; /* its lines have numbers of their own */
    fputs("<figure class=\"finals\"><div class=\"scroll\">\n", out);
    at_plot_begin_lines(&plot, "Samples of each finalist of the shoot-out");
    for (size_t i = 0; i < search->final_count; i++)
        draw_final(&plot, &search->finals[i], i);
    at_plot_end(&plot);
    fputs("</div></figure>\n", out);
}

/* ---- the table ---- */

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
            char *part = at_strndup(mine, length);

            fputs(before, out);
            at_html(out, part);
            free(part);
            before = " ";
        }
        mine += length;
        other += length_of_other;
    }
    fputs(*mine && *before ? " " : "", out);
    at_html(out, mine);
}

static void print_final(const struct at_report_search *search, size_t index, FILE *out)
{
    const struct at_report_final *final = &search->finals[index], *winner = NULL;
    enum verdict verdict = verdict_of(final);

    for (size_t i = 0; i < search->final_count && !winner; i++)
        if (search->finals[i].won)
            winner = &search->finals[i];
    fprintf(out, "<tr><td>%zu<td class=\"name\">%s %s<td class=\"name\">", index + 1,
            verdicts[verdict].shape, verdicts[verdict].word);
    at_html(out, final->family);
    fputs("<td>", out);
    at_html_us(out, final->ns);
    fputs("<td>", out);
    at_html_us(out, final->low_ns);
    fputs(" – ", out);
    at_html_us(out, final->high_ns);
    fprintf(out, "<td>%.2f<td class=\"words\">%s<code>",
            100 * (final->ns / search->finals[0].ns - 1), final->won ? "" : "but ");
    print_config(final, winner, out);
    fputs("</code>\n", out);
}

void at_report_finals(const struct at_report_shown *shown, FILE *out)
{
    const struct at_report_search *search = shown->search;

    fputs("<h5>The finalists of the shoot-out</h5>\n", out);
    draw(shown, out);
    fprintf(out,
            "<div class=\"scroll\"><table><thead><tr><th>#</th><th class=\"name\">verdict</th>"
            "<th class=\"name\">kernel</th><th>%s</th><th>interval</th><th>slower, %%</th>"
            "<th class=\"name\">config</th></tr></thead><tbody>\n",
            at_report_unit(shown->device));
    for (size_t i = 0; i < search->final_count; i++)
        print_final(search, i, out);
    fprintf(out, "</tbody></table></div>\n<p class=\"small\">%s</p>\n",
            shown->device->predicted
                ? "Predicted times have no spread: equal ones are a tie."
                : "Timed in turn after the search. Upright: the median. A tie is not told apart "
                  "from the fastest; of tied ones the simplest wins.");
}
