/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: the answer of lookup for each problem, and the arguments of its kernel. */
#include "base/memory.h"
#include "export/export.h"
#include "lookup/answer.h"
#include "schema/table.h"

struct arguments_record {
    char *problem, *words;
    struct at_list scale_bytes, word_counts; /* of int64_t */
    int64_t groups, launches, scratch_bytes, takes_numbers;
};

struct document {
    struct at_list answers;   /* of struct at_answer_record */
    struct at_list arguments; /* of struct arguments_record */
    int64_t schema;
};

static const struct at_field arguments_fields[] = {
    AT_WRITTEN(arguments_record, groups, AT_FIELD_INT),
    AT_WRITTEN(arguments_record, launches, AT_FIELD_INT),
    AT_WRITTEN(arguments_record, problem, AT_FIELD_TEXT),
    AT_WRITTEN(arguments_record, scale_bytes, AT_FIELD_INTS),
    AT_WRITTEN(arguments_record, scratch_bytes, AT_FIELD_INT),
    AT_WRITTEN(arguments_record, takes_numbers, AT_FIELD_INT),
    AT_WRITTEN(arguments_record, word_counts, AT_FIELD_INTS),
    AT_WRITTEN(arguments_record, words, AT_FIELD_TEXT),
};
static const struct at_schema arguments_schema =
    AT_SCHEMA("arguments", arguments_record, arguments_fields);

static const struct at_field fields[] = {
    AT_WRITTEN(document, answers, AT_FIELD_OBJECTS, .object = &at_answer_schema),
    AT_WRITTEN(document, arguments, AT_FIELD_OBJECTS, .object = &arguments_schema),
    AT_WRITTEN(document, schema, AT_FIELD_INT),
};
static const struct at_schema document_schema = AT_SCHEMA("an export", document, fields);

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    struct at_answer_record *records = at_alloc_array(export->count, sizeof *records);
    struct arguments_record *arguments = at_alloc_array(export->count, sizeof *arguments);
    struct document document = {
        .answers = {records, export->count}, .arguments = {arguments, export->count}, .schema = 1};
    enum at_status status;

    for (size_t i = 0; i < export->count; i++) {
        const struct at_export_item *item = &export->items[i];
        const struct at_query query = {.problem = &item->problem,
                                       .device = &item->target->device,
                                       .environment = &item->target->environment,
                                       .policy = export->policy};

        const struct at_export_arguments made = at_export_arguments(item);

        records[i] = at_answer_record(&item->answer, &query);
        arguments[i] = (struct arguments_record){
            .problem = at_strdup(item->spec),
            .words = at_export_words(&made, " "),
            .groups = at_export_groups(item),
            .launches = item->answer.launch.field[AT_LAUNCHES],
            .scale_bytes = at_export_scale_bytes(item),
            .scratch_bytes = at_export_scratch_bytes(item),
            .word_counts = at_export_word_counts(&made),
            .takes_numbers = at_export_takes_numbers(item),
        };
    }
    status = at_schema_write_json(&document_schema, &document, out, err);
    at_schema_clear(&document_schema, &document);
    return status;
}

const struct at_export_format at_export_json = {
    .name = "json",
    .summary =
        "what lookup --format=json prints, for each problem, and the arguments of its kernel",
    .write = write,
};
