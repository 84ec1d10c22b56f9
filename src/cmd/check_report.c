/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/check_report.h"

#include "base/memory.h"
#include "schema/table.h"

#include <inttypes.h>

struct document {
    struct at_list checks; /* of struct at_check_row */
};

static const struct at_field row_fields[] = {
    AT_WRITTEN(at_check_row, config, AT_FIELD_TEXT, AT_COLUMN(3, "config")),
    AT_WRITTEN(at_check_row, device, AT_FIELD_TEXT, AT_COLUMN(2, "device")),
    AT_WRITTEN(at_check_row, message, AT_FIELD_TEXT, AT_OPTIONAL, AT_COLUMN(7, "reason")),
    AT_WRITTEN(at_check_row, now_ns, AT_FIELD_INT, AT_OPTIONAL, AT_COLUMN(6, "us", 1000, 2)),
    AT_WRITTEN(at_check_row, problem, AT_FIELD_TEXT, AT_COLUMN(1, "problem")),
    AT_WRITTEN(at_check_row, recorded_ns, AT_FIELD_INT, AT_OPTIONAL,
               AT_COLUMN(5, "recorded us", 1000, 2)),
    AT_WRITTEN(at_check_row, verdict, AT_FIELD_TEXT, AT_COLUMN(4, "verdict")),
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

enum at_status at_check_print(struct at_check_report *report, struct at_error *err)
{
    struct document document = {{report->rows, report->count}};
    enum at_status status = AT_OK;

    if (report->format != AT_FORMAT_TABLE)
        status = at_print(&document_schema, &document, report->format, stdout, err);
    at_schema_clear(&document_schema, &document);
    *report = (struct at_check_report){.format = report->format};
    return status;
}
