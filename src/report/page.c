/* SPDX-License-Identifier: Apache-2.0 */
/* The page: its sections in order. */
#include "base/memory.h"
#include "report/html.h"
#include "report/plot.h"
#include "report/sections.h"

#include <stdlib.h>

static void (*const sections[])(const struct at_report *report,
                                const struct at_report_device *device, FILE *out) = {
    at_report_device_head, at_report_table,      at_report_maps,
    at_report_problems,    at_report_parameters, at_report_timeline,
};

void at_report_html(const struct at_report *report, FILE *out)
{
    char *title = at_format("%s: autotune report", report->profile_name);

    at_html_begin(out, title);
    free(title);
    fputs("<svg class=\"shapes\" aria-hidden=\"true\">", out);
    at_plot_shapes(out);
    at_plot_symbols(out);
    fputs("</svg>\n", out);
    at_report_head(report, out);
    fputs("<main>\n", out);
    at_report_changes(report, out);
    for (size_t i = 0; i < report->device_count; i++) {
        const struct at_report_device *device = &report->devices[i];

        fprintf(out, "<section id=\"d%zu\">\n", i);
        /* A device without problems has no more than a head. */
        for (size_t j = 0; j < AT_COUNT(sections) && (j == 0 || device->count > 0); j++)
            sections[j](report, device, out);
        fputs("</section>\n", out);
    }
    fputs("</main>\n<footer><p class=\"small\">Made by autotune " PACKAGE_VERSION
          " from a profile and its journals; no request leaves this page. Its data is in the page "
          "as JSON: <code>script#data</code>.</p></footer>\n",
          out);
    at_report_data(report, out);
    at_html_end(out);
}
