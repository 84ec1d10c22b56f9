/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/family_table.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "profile/flow.h"
#include "schema/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH = 80, GAP = 2 };

/* ---- as JSON ---- */

struct param_record {
    char *name, *summary;
    int64_t default_value;
    struct at_list values; /* of int64_t */
};

struct family_record {
    char *name, *summary;
    struct at_list parameters; /* of struct param_record */
};

struct families_record {
    struct at_list families; /* of struct family_record */
};

static const struct at_field param_fields[] = {
    AT_WRITTEN(param_record, name, AT_FIELD_TEXT),
    AT_WRITTEN(param_record, summary, AT_FIELD_TEXT),
    AT_FIELD(param_record, "default", default_value, .kind = AT_FIELD_INT),
    AT_WRITTEN(param_record, values, AT_FIELD_INTS),
};
static const struct at_schema param_schema = AT_SCHEMA("a parameter", param_record, param_fields);
static const struct at_field family_fields[] = {
    AT_FIELD(family_record, "family", name, .kind = AT_FIELD_TEXT),
    AT_WRITTEN(family_record, summary, AT_FIELD_TEXT),
    AT_WRITTEN(family_record, parameters, AT_FIELD_OBJECTS, .object = &param_schema),
};
static const struct at_schema family_schema = AT_SCHEMA("a family", family_record, family_fields);
static const struct at_field families_fields[] = {
    AT_WRITTEN(families_record, families, AT_FIELD_OBJECTS, .object = &family_schema),
};
static const struct at_schema families_schema =
    AT_SCHEMA("families", families_record, families_fields);

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

static enum at_status print_families_json(struct at_family *const *families, size_t count,
                                          struct at_error *err)
{
    struct family_record *records = at_alloc_array(count, sizeof *records);
    const struct families_record document = {{records, count}};
    enum at_status status;

    for (size_t i = 0; i < count; i++)
        records[i] = make_record(families[i]);
    status = at_print_json(&families_schema, &document, err);
    for (size_t i = 0; i < count; i++)
        free(records[i].parameters.items);
    free(records);
    return status;
}

/* ---- for people ---- */

static void print_words(const char *label, int indent, const char *text)
{
    struct at_flow flow = at_flow_begin(stdout, WIDTH, indent, label);
    char *words = at_strdup(text), *rest = words, *word;

    while ((word = strsep(&rest, " ")) != NULL)
        at_flow_add(&flow, "%s", word);
    at_flow_end(&flow);
    free(words);
}

/* "16 32 64"; the caller frees it. */
static char *format_values(const struct at_param *param)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (size_t i = 0; i < param->value_count; i++)
        fprintf(out, "%s%jd", i > 0 ? " " : "", (intmax_t)param->values[i]);
    return at_text_close(&stream, NULL);
}

static void print_params(const struct at_family *family)
{
    int width = 0;

    print_words("", GAP, family->summary);
    for (size_t i = 0; i < family->param_count; i++)
        width = (int)strlen(family->params[i].name) > width ? (int)strlen(family->params[i].name)
                                                            : width;
    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];
        char *label = at_format("\n%*s%s", GAP, "", param->name), *values = format_values(param);
        char *text = at_format("%s (default %jd)", values, (intmax_t)param->default_value);

        putchar('\n');
        print_words(label + 1, width + 2 * GAP, param->summary);
        print_words("", width + 2 * GAP, text);
        free(text);
        free(values);
        free(label);
    }
}

/* ---- */

static const struct at_table_column family_columns[] = {
    {"family", true}, {"parameters", false}, {"summary", true}};
static const struct at_table_column param_columns[] = {
    {"parameter", true}, {"default", false}, {"values", true}, {"meaning", true}};

enum at_status at_print_families(struct at_family *const *families, size_t count,
                                 enum at_output_format format, struct at_error *err)
{
    struct at_table table = {family_columns, AT_COUNT(family_columns), NULL, 0, 0};

    if (format == AT_FORMAT_JSON)
        return print_families_json(families, count, err);
    for (size_t i = 0; i < count; i++) {
        at_table_add(&table, "%s", families[i]->name);
        at_table_add(&table, "%zu", families[i]->param_count);
        at_table_add(&table, "%s", families[i]->summary);
    }
    at_print_table(&table, format);
    if (format == AT_FORMAT_TABLE)
        puts("\nautotune explain FAMILY --params lists a family's parameters.");
    return AT_OK;
}

enum at_status at_print_params(const struct at_family *family, enum at_output_format format,
                               struct at_error *err)
{
    struct at_table table = {param_columns, AT_COUNT(param_columns), NULL, 0, 0};

    if (format == AT_FORMAT_JSON) {
        struct family_record record = make_record(family);
        enum at_status status = at_print_json(&family_schema, &record, err);

        free(record.parameters.items);
        return status;
    }
    if (format == AT_FORMAT_TABLE) {
        printf("%s\n", family->name);
        print_params(family);
        return AT_OK;
    }
    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];
        char *values = format_values(param);

        at_table_add(&table, "%s", param->name);
        at_table_add(&table, "%jd", (intmax_t)param->default_value);
        at_table_add(&table, "%s", values);
        at_table_add(&table, "%s", param->summary);
        free(values);
    }
    at_print_table(&table, format);
    return AT_OK;
}
