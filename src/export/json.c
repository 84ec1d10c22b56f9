/* SPDX-License-Identifier: Apache-2.0 */
/* JSON: the answer of lookup for each problem. */
#include "base/memory.h"
#include "export/export.h"
#include "lookup/answer.h"

struct document {
    struct at_list answers; /* of struct at_answer_record */
    int64_t schema;
};

static const struct at_field fields[] = {
    {.key = "answers",
     .kind = AT_FIELD_OBJECTS,
     .offset = offsetof(struct document, answers),
     .object = &at_answer_schema},
    {.key = "schema", .kind = AT_FIELD_INT, .offset = offsetof(struct document, schema)},
};
static const struct at_schema document_schema = {"an export", sizeof(struct document), fields,
                                                 AT_COUNT(fields)};

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    struct at_answer_record *records = at_alloc_array(export->count, sizeof *records);
    struct document document = {.answers = {records, export->count}, .schema = 1};
    enum at_status status;

    for (size_t i = 0; i < export->count; i++) {
        const struct at_export_item *item = &export->items[i];
        const struct at_query query = {&item->problem, export->device, export->environment,
                                       export->policy};

        records[i] = at_answer_record(&item->answer, &query);
    }
    status = at_schema_write_json(&document_schema, &document, out, err);
    at_schema_clear(&document_schema, &document);
    return status;
}

const struct at_export_format at_export_json = {
    .name = "json",
    .summary = "what lookup --format=json prints, for each problem",
    .write = write,
};
