/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check_report.h"

#include "base/memory.h"
#include "schema/table.h"

#include <inttypes.h>

struct document {
    struct at_list checks; /* of struct at_check_row */
};

static const struct at_field row_fields[] = {
    AT_WRITTEN(at_check_row, config, AT_FIELD_TEXT),
    AT_WRITTEN(at_check_row, device, AT_FIELD_TEXT),
    AT_WRITTEN(at_check_row, message, AT_FIELD_TEXT, AT_OPTIONAL),
    AT_WRITTEN(at_check_row, now_ns, AT_FIELD_INT, AT_OPTIONAL),
    AT_WRITTEN(at_check_row, problem, AT_FIELD_TEXT),
    AT_WRITTEN(at_check_row, recorded_ns, AT_FIELD_INT, AT_OPTIONAL),
    AT_WRITTEN(at_check_row, verdict, AT_FIELD_TEXT),
};
static const struct at_schema row_schema = AT_SCHEMA("a check", at_check_row, row_fields);
static const struct at_field document_fields[] = {
    AT_WRITTEN(document, checks, AT_FIELD_OBJECTS, .object = &row_schema),
};
static const struct at_schema document_schema = AT_SCHEMA("checks", document, document_fields);

void at_check_add(struct at_check_report *report, const struct at_check_row *row)
{
    const struct at_check_row copy = {
        .problem = at_strdup(row->problem),
        .device = at_strdup(row->device),
        .config = at_strdup(row->config),
        .verdict = at_strdup(row->verdict),
        .message = at_strdup(row->message),
        .recorded_ns = row->recorded_ns,
        .now_ns = row->now_ns,
    };

    AT_PUSH(report->rows, report->count, report->capacity, copy);
}

static void add_time(struct at_table *table, int64_t ns)
{
    if (ns > 0)
        at_table_add(table, "%.2f", (double)ns / 1e3);
    else
        at_table_add(table, "%s", "");
}

static void print_table(const struct at_check_report *report)
{
    static const struct at_table_column columns[] = {
        {"problem", true},      {"device", true}, {"config", true}, {"verdict", true},
        {"recorded us", false}, {"us", false},    {"reason", true},
    };
    struct at_table table = {columns, AT_COUNT(columns), NULL, 0, 0};

    for (size_t i = 0; i < report->count; i++) {
        const struct at_check_row *row = &report->rows[i];

        at_table_add(&table, "%s", row->problem);
        at_table_add(&table, "%s", row->device);
        at_table_add(&table, "%s", row->config);
        at_table_add(&table, "%s", row->verdict);
        add_time(&table, row->recorded_ns);
        add_time(&table, row->now_ns);
        at_table_add(&table, "%s", row->message);
    }
    at_print_table(&table, report->format);
}

enum at_status at_check_print(struct at_check_report *report, struct at_error *err)
{
    struct document document = {{report->rows, report->count}};
    enum at_status status = AT_OK;

    if (report->format == AT_FORMAT_JSON)
        status = at_print_json(&document_schema, &document, err);
    else if (report->format != AT_FORMAT_TABLE)
        print_table(report);
    at_schema_clear(&document_schema, &document);
    *report = (struct at_check_report){.format = report->format};
    return status;
}
