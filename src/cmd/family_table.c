/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/family_table.h"

#include "base/flow.h"
#include "base/memory.h"
#include "schema/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, GAP = 2 };

struct param_record {
    char *name, *summary;
    int64_t default_value;
    struct at_list values; /* of int64_t */
};

struct family_record {
    char *name, *summary;
    struct at_list parameters; /* of struct param_record */
};

static const struct at_field param_fields[] = {
    AT_WRITTEN(param_record, name, AT_FIELD_TEXT, AT_COLUMN(1, "parameter")),
    AT_WRITTEN(param_record, summary, AT_FIELD_TEXT, AT_COLUMN(4, "meaning")),
    AT_FIELD(param_record, "default", default_value, .kind = AT_FIELD_INT, AT_COLUMN(2, "default")),
    AT_WRITTEN(param_record, values, AT_FIELD_INTS, AT_COLUMN(3, "values")),
};
static const struct at_schema param_schema = AT_SCHEMA("a parameter", param_record, param_fields);

/* A family in the table of all. */
static const struct at_field listed_fields[] = {
    AT_FIELD(family_record, "family", name, .kind = AT_FIELD_TEXT, AT_COLUMN(1, "family")),
    AT_WRITTEN(family_record, summary, AT_FIELD_TEXT, AT_COLUMN(3, "summary")),
    AT_WRITTEN(family_record, parameters, AT_FIELD_OBJECTS, .object = &param_schema,
               AT_COLUMN(2, "parameters")),
};
static const struct at_schema listed_schema = AT_SCHEMA("a family", family_record, listed_fields);

/* A family whose parameters are the table. */
static const struct at_field family_fields[] = {
    AT_FIELD(family_record, "family", name, .kind = AT_FIELD_TEXT),
    AT_WRITTEN(family_record, summary, AT_FIELD_TEXT),
    AT_WRITTEN(family_record, parameters, AT_FIELD_OBJECTS, .object = &param_schema),
};
static const struct at_schema family_schema = AT_SCHEMA("a family", family_record, family_fields);

/* The names and values are borrowed; the caller frees parameters.items. */
static struct family_record make_record(const struct at_family *family)
{
    struct param_record *params = at_alloc_array(family->param_count, sizeof *params);

    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];

        params[i] = (struct param_record){
            param->name, param->summary, param->default_value, {param->values, param->value_count}};
    }
    return (struct family_record){family->name, family->summary, {params, family->param_count}};
}

enum at_status at_print_families(struct at_family *const *families, size_t count,
                                 enum at_output_format format, struct at_error *err)
{
    struct family_record *records = at_alloc_array(count, sizeof *records);
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        records[i] = make_record(families[i]);
    status = at_print_list("families", &listed_schema, records, count, format, stdout, err);
    if (format == AT_FORMAT_TABLE)
        puts("\nautotune explain FAMILY --params lists a family's parameters.");
    for (size_t i = 0; i < count; i++)
        free(records[i].parameters.items);
    free(records);
    return status;
}

/* Print the parameters for people: the name, beside it the meaning, and below that the values. */
static void print_params(const struct at_family *family)
{
    int width = 0;

    for (size_t i = 0; i < family->param_count; i++)
        if ((int)strlen(family->params[i].name) > width)
            width = (int)strlen(family->params[i].name);
    puts(family->name);
    at_flow_paragraph(stdout, WIDTH, GAP, "", family->summary);
    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];
        char *label = at_format("%*s%s", GAP, "", param->name);
        struct at_flow flow;

        putchar('\n');
        at_flow_paragraph(stdout, WIDTH, width + 2 * GAP, label, param->summary);
        flow = at_flow_begin(stdout, WIDTH, width + 2 * GAP, "");
        for (size_t j = 0; j < param->value_count; j++)
            at_flow_add(&flow, "%jd", (intmax_t)param->values[j]);
        at_flow_add(&flow, "(default");
        at_flow_add(&flow, "%jd)", (intmax_t)param->default_value);
        at_flow_end(&flow);
        free(label);
    }
}

enum at_status at_print_params(const struct at_family *family, enum at_output_format format,
                               struct at_error *err)
{
    struct family_record record = make_record(family);
    enum at_status status = AT_OK;

    if (format == AT_FORMAT_TABLE)
        print_params(family);
    else
        status = at_print(&family_schema, &record, format, stdout, err);
    free(record.parameters.items);
    return status;
}
