/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/print.h"

#include "base/flow.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "schema/fields.h"
#include "system/progress.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS_MAX = 64, LEVELS_MAX = 4 };

/* A column, of the record at some level: 0 is the printed record, 1 an item of its list. */
struct column {
    const struct at_field *field;
    size_t offset; /* in the record of the level */
    int level;
    int order; /* among those of the same place */
    int width;
};

struct table {
    struct column columns[COLUMNS_MAX];
    size_t column_count;
    struct column lists[LEVELS_MAX]; /* lists[i]: the list whose items are the records of i + 1 */
    int levels;
    char **cells; /* by row */
    size_t count, capacity;
};

/* ---- cells ---- */

static const char *text_at(const struct at_field *field, const void *slot)
{
    switch (field->kind) {
    case AT_FIELD_FLAG:
        return *(const bool *)slot ? "yes" : "no";
    case AT_FIELD_CHOICE:
        return field->words[*(const int *)slot];
    case AT_FIELD_CHARS:
        return slot;
    case AT_FIELD_LOCATED:
        return ((const struct at_located *)slot)->text;
    default:
        return *(const char *const *)slot;
    }
}

static char *format_number(const struct at_column *column, int64_t value)
{
    const char *unit = column->unit ? column->unit : "";

    if (column->per == 0)
        return at_format("%" PRId64 "%s", value, unit);
    return at_format("%.*f%s", column->digits, (double)value / (double)column->per, unit);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct at_named_int *)a)->name, ((const struct at_named_int *)b)->name);
}

/* Numbers are in their order, named ones by name. */
static char *format_list(const struct at_field *field, const struct at_list *list)
{
    bool named = field->kind == AT_FIELD_NAMED_INTS;
    const int64_t *values = list->items;
    struct at_named_int *sorted =
        named ? at_memdup(list->items, list->count * sizeof *sorted) : NULL;
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    if (named)
        qsort(sorted, list->count, sizeof *sorted, by_name);
    for (size_t i = 0; i < list->count; i++)
        if (named)
            fprintf(out, "%s%s=%" PRId64, i > 0 ? " " : "", sorted[i].name, sorted[i].value);
        else
            fprintf(out, "%s%" PRId64, i > 0 ? " " : "", values[i]);
    at_free(sorted);
    return at_text_close(&stream, NULL);
}

static char *format_slot(const struct at_field *field, const void *slot)
{
    const struct at_column *column = &field->column;
    const char *text = column->missing;

    if (field->optional && at_field_is_absent(field, slot))
        return at_strdup(text ? text : "");
    switch (field->kind) {
    case AT_FIELD_INT:
    case AT_FIELD_HEX:
        return format_number(column, *(const int64_t *)slot);
    case AT_FIELD_REAL:
        return at_format("%.*f", column->digits, *(const double *)slot);
    case AT_FIELD_INTS:
    case AT_FIELD_NAMED_INTS:
        return format_list(field, slot);
    case AT_FIELD_OBJECTS:
        return at_format("%zu", ((const struct at_list *)slot)->count);
    default:
        text = text_at(field, slot);
        return at_strdup(text ? text : "");
    }
}

char *at_print_cell(const struct at_field *field, const void *record)
{
    return format_slot(field, (const char *)record + field->offset);
}

/* Numbers are right-aligned. */
static bool is_left(const struct column *column)
{
    enum at_field_kind kind = column->field->kind;

    return kind != AT_FIELD_INT && kind != AT_FIELD_HEX && kind != AT_FIELD_REAL &&
           kind != AT_FIELD_OBJECTS;
}

/* ---- columns and rows ---- */

/* Add the columns of a record that begins at `offset` of a level's. */
static void add_columns(struct table *table, const struct at_schema *schema, size_t offset,
                        int level)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct at_field *field = &schema->fields[i];
        size_t before = table->column_count;
        const struct column column = {field, offset + field->offset, level, (int)before, 0};

        if (field->column.title && table->column_count < COLUMNS_MAX)
            table->columns[table->column_count++] = column;
        if (field->kind == AT_FIELD_OBJECT)
            add_columns(table, field->object, column.offset, level);
        if (field->kind != AT_FIELD_OBJECTS || field->column.title || level == LEVELS_MAX)
            continue;
        add_columns(table, field->object, 0, level + 1);
        if (table->column_count == before)
            continue;
        table->lists[level] = column;
        table->levels = level + 1 > table->levels ? level + 1 : table->levels;
    }
}

static int by_place(const void *a_column, const void *b_column)
{
    const struct column *a = a_column, *b = b_column;
    int places = a->field->column.place - b->field->column.place;

    return places != 0 ? places : a->order - b->order;
}

/* Add the rows of the records, of which one of each level up to `level` is given. */
static void add_rows(struct table *table, const char *records[LEVELS_MAX + 1], int level)
{
    const struct at_list *list;

    for (size_t c = 0; level == table->levels && c < table->column_count; c++) {
        const struct column *column = &table->columns[c];

        AT_PUSH(table->cells, table->count, table->capacity,
                format_slot(column->field, records[column->level] + column->offset));
    }
    if (level == table->levels)
        return;
    list = (const struct at_list *)(records[level] + table->lists[level].offset);
    for (size_t i = 0; i < list->count; i++) {
        records[level + 1] =
            (const char *)list->items + i * table->lists[level].field->object->size;
        add_rows(table, records, level + 1);
    }
}

static void measure(struct table *table)
{
    for (size_t c = 0; c < table->column_count; c++) {
        struct column *column = &table->columns[c];

        column->width = at_text_columns(column->field->column.title);
        for (size_t i = c; i < table->count; i += table->column_count)
            if (at_text_columns(table->cells[i]) > column->width)
                column->width = at_text_columns(table->cells[i]);
    }
}

/* ---- aligned text ---- */

enum { GAP = 2, FOLDED_INDENT = 4, WORDS_LEAST = 30 };

static void print_padded(const char *text, int width, bool left, FILE *out)
{
    int padding = width - at_text_columns(text);

    fprintf(out, "%*s%s%*s", left || padding < 0 ? 0 : padding, "", text,
            left && padding > 0 ? padding : 0, "");
}

/* Is column c the last, of words that are broken into lines if it begins at `start`? */
static bool is_broken(const struct table *table, size_t c, int start, int most)
{
    return c + 1 == table->column_count && is_left(&table->columns[c]) &&
           start + table->columns[c].width > most && most - start >= WORDS_LEAST;
}

/* Print a row in `most` columns: those that do not fit follow on another line, and so does what a
 * last one of words has too much. */
static void print_text_row(const struct table *table, const char *const *cells, int most, FILE *out)
{
    int start = 0;

    for (size_t c = 0; c < table->column_count; c++) {
        const struct column *column = &table->columns[c];
        int next = start + column->width + GAP;
        bool left = is_left(column), last = c + 1 == table->column_count;
        bool folds = !last && next + column[1].width > most && !is_broken(table, c + 1, next, most);

        if (is_broken(table, c, start, most))
            at_flow_add_words(&(struct at_flow){out, most, start, start, false}, cells[c]);
        else
            print_padded(cells[c], left && (last || folds) ? 0 : column->width, left, out);
        if (last)
            putc('\n', out);
        else
            fprintf(out, "%s%*s", folds ? "\n" : "", folds ? FOLDED_INDENT : GAP, "");
        start = folds ? FOLDED_INDENT : next;
    }
}

/* ---- CSV and Markdown ---- */

/* Would a spreadsheet run this cell as a formula? OWASP's advice on CSV injection names these
 * characters. Numbers may have a sign, and a lone character is no formula. */
static bool is_formula(const char *cell)
{
    char *end;

    if (!cell[0] || !cell[1] || !strchr("=+-@\t\r", cell[0]))
        return false;
    strtod(cell, &end);
    return *end != '\0';
}

static void print_csv_row(const struct table *table, const char *const *cells, int most, FILE *out)
{
    (void)most;
    for (size_t c = 0; c < table->column_count; c++) {
        bool quoted = strpbrk(cells[c], ",\"\r\n") != NULL;

        fputs(quoted ? "\"" : "", out);
        fputs(is_formula(cells[c]) ? "'" : "", out);
        for (const char *text = cells[c]; *text; text++)
            fprintf(out, *text == '"' ? "\"%c" : "%c", *text);
        fputs(quoted ? "\"" : "", out);
        putc(c + 1 < table->column_count ? ',' : '\n', out);
    }
}

static void print_markdown_row(const struct table *table, const char *const *cells, int most,
                               FILE *out)
{
    (void)most;
    for (size_t c = 0; c < table->column_count; c++) {
        fputs(c == 0 ? "| " : " ", out);
        for (const char *text = cells[c]; *text; text++)
            fprintf(out, strchr("\\|`*<[", *text) ? "\\%c" : "%c", *text);
        fputs(" |", out);
    }
    putc('\n', out);
}

/* ---- the whole ---- */

typedef void print_row_fn(const struct table *table, const char *const *cells, int most, FILE *out);

static print_row_fn *const row_printers[] = {
    [AT_FORMAT_TABLE] = print_text_row,
    [AT_FORMAT_CSV] = print_csv_row,
    [AT_FORMAT_MARKDOWN] = print_markdown_row,
};

static void print_table(const struct table *table, enum at_output_format format, int width,
                        FILE *out)
{
    print_row_fn *print_row = row_printers[format];
    int most = width > 0 ? width : INT_MAX / 2;
    const char *titles[COLUMNS_MAX];

    for (size_t c = 0; c < table->column_count; c++)
        titles[c] = table->columns[c].field->column.title;
    print_row(table, titles, most, out);
    for (size_t c = 0; format == AT_FORMAT_MARKDOWN && c < table->column_count; c++)
        fputs(is_left(&table->columns[c]) ? "|---" : "|---:", out);
    fputs(format == AT_FORMAT_MARKDOWN ? "|\n" : "", out);
    for (size_t i = 0; i < table->count; i += table->column_count)
        print_row(table, (const char *const *)table->cells + i, most, out);
}

enum at_status at_print_within(const struct at_schema *schema, const void *record,
                               enum at_output_format format, int width, FILE *out,
                               struct at_error *err)
{
    const char *records[LEVELS_MAX + 1] = {record};
    struct table table = {0};

    if (format == AT_FORMAT_JSON)
        return at_schema_write_json(schema, record, out, err);
    add_columns(&table, schema, 0, 0);
    qsort(table.columns, table.column_count, sizeof *table.columns, by_place);
    add_rows(&table, records, 0);
    measure(&table);
    print_table(&table, format, width, out);
    for (size_t i = 0; i < table.count; i++)
        at_free(table.cells[i]);
    at_free(table.cells);
    return AT_OK;
}

enum at_status at_print(const struct at_schema *schema, const void *record,
                        enum at_output_format format, FILE *out, struct at_error *err)
{
    return at_print_within(schema, record, format, at_streams_width(fileno(out)), out, err);
}

enum at_status at_print_list(const char *key, const struct at_schema *schema, const void *records,
                             size_t count, enum at_output_format format, FILE *out,
                             struct at_error *err)
{
    const struct at_list list = {(void *)records, count};
    const struct at_field field = {.key = key, .kind = AT_FIELD_OBJECTS, .object = schema};
    const struct at_schema document = {key, sizeof list, &field, 1};

    return at_print(&document, &list, format, out, err);
}
