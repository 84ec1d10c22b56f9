/* SPDX-License-Identifier: Apache-2.0 */
#include "study/study_file.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "schema/table.h"
#include "space/named.h"
#include "system/paths.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { READING_MAX = 2000 };

const char *const at_study_column_names[AT_STUDY_COLUMNS] = {
    [AT_STUDY_LOAD_SECTORS] = "load_sectors",
    [AT_STUDY_LOAD_USED] = "load_used",
    [AT_STUDY_STORE_SECTORS] = "store_sectors",
    [AT_STUDY_STORE_USED] = "store_used",
    [AT_STUDY_SHARED_LOAD] = "shared_load",
    [AT_STUDY_SHARED_STORE] = "shared_store",
    [AT_STUDY_CONFLICTS] = "conflicts",
    [AT_STUDY_OCCUPANCY] = "occupancy",
    [AT_STUDY_L1_SIZE] = "l1_size",
    [AT_STUDY_L1_HITS] = "l1_hits",
    [AT_STUDY_L2_HITS] = "l2_hits",
    [AT_STUDY_L2_READ] = "l2_read",
    [AT_STUDY_L2_WRITTEN] = "l2_written",
    [AT_STUDY_DRAM_READ] = "dram_read",
    [AT_STUDY_DRAM_WRITTEN] = "dram_written",
    [AT_STUDY_WARM_READ] = "warm_read",
};

/* The fields of a kernel row at this offset of a record, for the record's table. */
#define KERNEL_ROW_FIELDS(at)                                                                      \
    {.key = "family",                                                                              \
     .kind = AT_FIELD_CHARS,                                                                       \
     .offset = (at) + offsetof(struct at_kernel_row, family),                                      \
     .max = 64},                                                                                   \
        {.key = "label",                                                                           \
         .kind = AT_FIELD_CHARS,                                                                   \
         .offset = (at) + offsetof(struct at_kernel_row, label),                                   \
         .max = 64},                                                                               \
    {                                                                                              \
        .key = "parameters", .kind = AT_FIELD_NAMED_INTS,                                          \
        .offset = (at) + offsetof(struct at_kernel_row, parameters), .max = AT_PARAMS_MAX          \
    }

static const struct at_field row_fields[] = {
    KERNEL_ROW_FIELDS(offsetof(struct at_study_row, kernel)),
    AT_FIELD(at_study_row, "problem", problem, .kind = AT_FIELD_LOCATED, AT_OPTIONAL),
};
static const struct at_schema row_schema = AT_SCHEMA("a row", at_study_row, row_fields);
static const struct at_field study_fields[] = {
    AT_LIST(at_study, columns, AT_FIELD_LOCATEDS, 0, AT_STUDY_COLUMNS),
    AT_FIELD(at_study, "problem", problem, .kind = AT_FIELD_LOCATED),
    AT_TEXT(at_study, reading, READING_MAX),
    AT_OBJECTS(at_study, rows, 1, AT_STUDY_ROWS_MAX, row_schema),
    AT_INT(at_study, schema, 1, 1),
    AT_CHARS(at_study, title),
};
static const struct at_schema study_schema = AT_SCHEMA("a study", at_study, study_fields);

static bool is_column(const char *word)
{
    for (int i = 0; i < AT_STUDY_COLUMNS; i++)
        if (strcmp(at_study_column_names[i], word) == 0)
            return true;
    return false;
}

static enum at_status check_columns(const struct at_study *study, const char *path,
                                    struct at_error *err)
{
    const struct at_located *columns = study->columns.items;
    char *known;

    for (size_t i = 0; i < study->columns.count; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(columns[i].text, columns[j].text) == 0)
                return at_fail(err, AT_USAGE, "%s:%d:%d: column %s is named twice", path,
                               columns[i].line, columns[i].column, columns[i].text);
        if (is_column(columns[i].text))
            continue;
        known = at_join(at_study_column_names, AT_STUDY_COLUMNS);
        at_fail(err, AT_USAGE, "%s:%d:%d: unknown column \"%s\"; known are %s", path,
                columns[i].line, columns[i].column, columns[i].text, known);
        free(known);
        return AT_USAGE;
    }
    return AT_OK;
}

static enum at_status check_problem(const struct at_located *spec, const char *path,
                                    struct at_error *err)
{
    struct at_problem problem;

    if (!spec->text || at_problem_parse(&problem, spec->text, err) == AT_OK)
        return AT_OK;
    return at_fail_within(err, "%s:%d:%d", path, spec->line, spec->column);
}

static const char *problem_text(const struct at_study *study, const struct at_study_row *row)
{
    return row->problem.text ? row->problem.text : study->problem.text;
}

static bool same_label_and_problem(const struct at_study *study, const struct at_study_row *a,
                                   const struct at_study_row *b)
{
    return strcmp(a->kernel.label, b->kernel.label) == 0 &&
           strcmp(problem_text(study, a), problem_text(study, b)) == 0;
}

static enum at_status check_rows(const struct at_study *study, const char *path,
                                 struct at_error *err)
{
    const struct at_study_row *rows = study->rows.items;
    enum at_status status = check_problem(&study->problem, path, err);

    for (size_t i = 0; i < study->rows.count && status == AT_OK; i++) {
        status = check_problem(&rows[i].problem, path, err);
        for (size_t j = 0; j < i && status == AT_OK; j++)
            if (same_label_and_problem(study, &rows[i], &rows[j]))
                status = at_fail(err, AT_USAGE, "%s: two rows on %s have the label \"%s\"", path,
                                 problem_text(study, &rows[i]), rows[i].kernel.label);
    }
    return status;
}

enum at_status at_study_read(struct at_study *study, const char *path, struct at_error *err)
{
    enum at_status status = at_schema_read_file(&study_schema, study, path, err);

    if (status != AT_OK)
        return status;
    status = check_columns(study, path, err);
    if (status == AT_OK)
        status = check_rows(study, path, err);
    if (status != AT_OK)
        at_study_clear(study);
    return status;
}

void at_study_clear(struct at_study *study)
{
    at_schema_clear(&study_schema, study);
}

struct at_problem at_study_problem(const struct at_study *study, size_t index)
{
    const struct at_study_row *rows = study->rows.items;
    struct at_problem problem;

    /* at_study_read has checked that it parses. */
    at_problem_parse(&problem, problem_text(study, &rows[index]), NULL);
    return problem;
}

enum at_status at_kernel_row_config(const struct at_kernel_row *row, const char *path,
                                    struct at_family *const *families, size_t family_count,
                                    struct at_config *config, struct at_error *err)
{
    if (at_config_from_some_names(config, families, family_count, row->family, &row->parameters,
                                  err) == AT_OK)
        return AT_OK;
    return at_fail_within(err, "%s: %s", path, row->label);
}

/* ---- the textbook ---- */

static const struct at_field kernel_fields[] = {
    KERNEL_ROW_FIELDS(0),
};
static const struct at_schema kernel_schema = AT_SCHEMA("a row", at_kernel_row, kernel_fields);
static const struct at_field textbook_fields[] = {
    AT_OBJECTS(at_textbook, rows, 1, AT_TEXTBOOK_ROWS_MAX, kernel_schema),
    AT_INT(at_textbook, schema, 1, 1),
};
static const struct at_schema textbook_schema =
    AT_SCHEMA("the textbook's rows", at_textbook, textbook_fields);

enum at_status at_textbook_read(struct at_textbook *textbook, struct at_error *err)
{
    char *path = at_path_data_file(AT_TEXTBOOK_FILE);
    enum at_status status = at_schema_read_file(&textbook_schema, textbook, path, err);

    free(path);
    return status;
}

void at_textbook_clear(struct at_textbook *textbook)
{
    at_schema_clear(&textbook_schema, textbook);
}
