/* SPDX-License-Identifier: Apache-2.0 */
#include "report/costs.h"

#include "base/memory.h"
#include "explain/table.h"
#include "kernel/render.h"
#include "model/description.h"
#include "report/html.h"
#include "space/named.h"

#include <stdlib.h>
#include <string.h>

/* Blocks of the grid that are counted, as by `autotune explain`. */
enum { BLOCKS = 256 };

static enum at_status count_row(const struct at_report *report, struct at_report_row *row,
                                const char *header, struct at_error *err)
{
    const struct at_result_record *winner = &row->entry->winner;
    const struct at_device_info *device = &row->record->device;
    struct at_explanation *costs = at_alloc(sizeof *costs);
    struct at_device_info description;
    struct at_rates rates;
    struct at_config config;
    bool described;
    enum at_status status;

    row->costs = costs; /* to be freed however this ends */
    status = at_config_from_names(&config, report->families, report->family_count, winner->family,
                                  &winner->parameters, err);
    if (status == AT_OK)
        status = at_description_find(&description, &rates, &described, device, err);
    if (status == AT_OK)
        status = at_config_require(&config, &row->problem, device, NULL, err);
    if (status == AT_OK)
        status = at_explain(&config, &row->problem, device, described ? &rates : NULL, header,
                            BLOCKS, costs, err);
    return status == AT_OK ? AT_OK : at_fail_within(err, "%s", row->entry->problem);
}

enum at_status at_report_count_costs(struct at_report *report, size_t most, struct at_error *err)
{
    char *header = NULL;
    enum at_status status = most > 0 ? at_template_read(&header, AT_TEMPLATE_HEADER, err) : AT_OK;

    for (size_t i = 0; i < report->device_count; i++)
        for (size_t j = 0; j < report->devices[i].count && j < most && status == AT_OK; j++)
            status = count_row(report, &report->devices[i].rows[j], header, err);
    free(header);
    return status;
}

static void print_cost(const struct at_explained_text *source, const struct at_explained_line *line,
                       FILE *out)
{
    bool shared = line->wavefronts > 0;
    double requests = (double)line->requests;
    double cost = (double)(shared ? line->wavefronts : line->sectors);
    double least = (double)(shared ? line->least_wavefronts : line->least_sectors);
    char *text = at_explained_source(source, line);

    fputs("<tr><th scope=\"row\">", out);
    at_html(out, line->file);
    fprintf(out,
            ":%jd</th><td class=\"name\">%s</td><td>%.2f</td><td>%.2f</td><td>%.1f</td><td "
            "class=\"words\"><code>",
            (intmax_t)line->line, line->access, cost / requests, least / requests,
            100 * least / cost);
    at_html(out, text);
    fputs("</code></td></tr>\n", out);
    free(text);
}

static const struct at_family *find_family(const struct at_report *report, const char *name)
{
    size_t i = 0;

    while (strcmp(report->families[i]->name, name) != 0)
        i++;
    return report->families[i];
}

/* The costs were counted with this family, so it is there. */
void at_report_costs(const struct at_report *report, const struct at_report_row *row, FILE *out)
{
    const struct at_explanation *costs = row->costs;
    const struct at_explained_line *lines = costs->lines.items;
    const struct at_family *family = find_family(report, costs->family);
    const struct at_explained_text source = {family->template_path, family->source};

    fputs(
        "<h5>What its accesses cost</h5>\n<div class=\"scroll\"><table><thead><tr><th>line</th><th "
        "class=\"name\">access</th><th>cost</th><th>least</th><th>good %</th><th "
        "class=\"name\">source</th></tr></thead><tbody>\n",
        out);
    for (size_t i = 0; i < costs->lines.count; i++)
        print_cost(&source, &lines[i], out);
    fprintf(out,
            "</tbody></table></div>\n<p class=\"small\">Sectors a request in global memory, "
            "wavefronts a request in shared memory, counted on the emulated device in %jd of %jd "
            "blocks. Occupancy %jd&#8239;%%, limited by ",
            (intmax_t)costs->blocks_counted, (intmax_t)costs->blocks,
            (intmax_t)costs->occupancy_percent);
    at_html(out, costs->occupancy_limiter);
    if (costs->predicted_ns > 0) {
        fputs(". Predicted, not measured: ", out);
        at_html_us(out, (double)costs->predicted_ns);
        fputs(" µs, bound by ", out);
        at_html(out, costs->bound);
    }
    fputs(".</p>\n", out);
}
