/* SPDX-License-Identifier: Apache-2.0 */
/* How the search of a problem went, as tables. */
#include "base/memory.h"
#include "report/html.h"
#include "report/shown.h"

#include <stdlib.h>
#include <string.h>

/* FINALISTS: rows of that table. NAMES_MAX: families whose names of parameters are written once. */
enum { FINALISTS = 5, NAMES_MAX = 32 };

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

/* "A=1 B=2" as its names or its values: "A B", "1 2". */
static void print_half(const char *config, bool names, FILE *out)
{
    const char *before = "";

    while (*config) {
        size_t length = strcspn(config, " "), name = strcspn(config, "=");
        char *half = name >= length ? at_strndup(config, length)
                     : names        ? at_strndup(config, name)
                                    : at_strndup(config + name + 1, length - name - 1);

        fputs(before, out);
        at_html(out, half);
        free(half);
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

static void print_names(const struct at_report_shown *shown, struct names *names, FILE *out)
{
    fputs("<ul class=\"names\">", out);
    for (size_t i = 0; i < shown->search->count; i++) {
        const struct at_report_point *point = &shown->search->points[i];

        if (first_of(names, point) != point)
            continue;
        fputs("<li data-f=\"", out);
        at_html(out, point->family);
        fputs("\">", out);
        at_html(out, point->family);
        fputs(": <code>", out);
        print_half(point->config, true, out);
        fputs("</code></li>", out);
    }
    fputs("</ul>\n", out);
}

static void print_point(const struct at_report_point *point, size_t number, struct names *names,
                        FILE *out)
{
    const struct at_report_point *first = first_of(names, point);

    fprintf(out, "%zu\t", number);
    at_html(out, point->family);
    putc('\t', out);
    if (point->ns > 0)
        at_html_us(out, point->ns);
    else
        fputs(at_outcome_names[point->outcome], out);
    putc('\t', out);
    if (point->expected_ns > 0)
        at_html_us(out, point->expected_ns);
    putc('\t', out);
    if (first && same_names(first->config, point->config))
        print_half(point->config, false, out);
    else
        at_html(out, point->config);
    putc('\n', out);
}

/* Lines with tabs: as a table they would be a tenth of a page larger. The script makes one of them.
 */
static void print_table(const struct at_report_shown *shown, FILE *out)
{
    struct names names = {.count = 0};

    if (shown->search->count > shown->limit)
        fputs("<details><summary>These evaluations</summary>\n", out);
    else
        fprintf(out, "<details><summary>All %zu evaluations</summary>\n", shown->search->count);
    print_names(shown, &names, out);
    fprintf(out, "<pre class=\"points\">#\tkernel\t%s\texpected\tvalues\n",
            at_report_unit(shown->device));
    for (size_t i = 0; i < shown->search->count; i++)
        if (shown->chosen[i])
            print_point(&shown->search->points[i], i + 1, &names, out);
    fputs("</pre></details>\n", out);
}

static void print_few(const struct at_report_shown *shown, FILE *out)
{
    fprintf(out, "<details><summary>These points: evaluation, kernel, %s</summary><pre>",
            at_report_unit(shown->device));
    for (size_t i = 0; i < shown->search->count; i++) {
        const struct at_report_point *point = &shown->search->points[i];

        if (!shown->chosen[i] || point->ns <= 0)
            continue;
        fprintf(out, "%zu ", i + 1);
        at_html(out, point->family);
        putc(' ', out);
        at_html_us(out, point->ns);
        putc('\n', out);
    }
    fputs("</pre></details>\n", out);
}

/* The fastest of the search, where the journal has no shoot-out. */
static void print_fastest(const struct at_report_shown *shown, FILE *out)
{
    const struct at_report_point *best = at_report_best_point(shown);
    struct at_report_by_time *sorted;
    size_t count = at_report_sort_points(shown->search, &sorted);

    fprintf(
        out,
        "<h5>The fastest of the search</h5>\n<table><thead><tr><th>#</th><th class=\"name\">kernel"
        "</th><th>%s</th><th>interval</th></tr></thead><tbody>\n",
        at_report_unit(shown->device));
    for (size_t i = 0; i < count && i < FINALISTS; i++) {
        const struct at_report_point *point = &shown->search->points[sorted[i].index];

        fprintf(out, "<tr><td>%zu<td class=\"name\">", sorted[i].index + 1);
        at_html(out, point->family);
        fputs("<td>", out);
        at_html_us(out, point->ns);
        fputs("<td>", out);
        at_html_us(out, point->low_ns);
        fputs(" – ", out);
        at_html_us(out, point->high_ns);
        fputs(i > 0 && point->low_ns <= best->high_ns ? "<td class=\"name\">tie\n" : "\n", out);
    }
    fprintf(out,
            "</tbody></table>\n<p class=\"small\">%s A tie is not told apart from the fastest "
            "here.</p>\n",
            shown->device->predicted
                ? "Predicted times have no spread."
                : "These are the search's few samples; the shoot-out timed the finalists anew, and "
                  "the profile has its winner.");
    free(sorted);
}

/* The best of each kernel family. */
static void print_kernels(const struct at_report_shown *shown, FILE *out)
{
    const struct at_report *report = shown->report;
    double best = at_report_best_point(shown)->ns;

    fprintf(out, "<h5>The best of each kernel, %s</h5>\n<ul class=\"inline\">",
            at_report_unit(shown->device));
    for (size_t i = 0; i < report->kernel_count; i++) {
        double fastest = 0;
        size_t count = 0;

        for (size_t j = 0; j < shown->search->count; j++) {
            const struct at_report_point *point = &shown->search->points[j];

            if (strcmp(point->family, report->kernels[i]) != 0)
                continue;
            count++;
            if (point->ns > 0 && (fastest == 0 || point->ns < fastest))
                fastest = point->ns;
        }
        if (count == 0)
            continue;
        fputs("<li>", out);
        at_html(out, report->kernels[i]);
        fputs(" <b>", out);
        if (fastest > 0)
            at_html_us(out, fastest);
        else
            fputs("–", out);
        fprintf(out, "</b>%s", fastest == best ? ", the fastest" : "");
        if (fastest > best)
            fprintf(out, ", +%.1f&#8239;%%", 100 * (fastest / best - 1));
        fprintf(out, ", of %zu</li>", count);
    }
    fputs("</ul>\n", out);
}

void at_report_search_tables(const struct at_report_shown *shown, FILE *out)
{
    print_kernels(shown, out);
    if (shown->few) {
        print_few(shown, out);
    } else {
        if (shown->search->final_count > 0)
            at_report_finals(shown, out);
        else
            print_fastest(shown, out);
        print_table(shown, out);
    }
}
