/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a record in the format that the user wants: as JSON, or its columns as a table.
 *
 * A table has the fields with a title, also those of records within the record. A list of records
 * with titles makes the rows: what is outside the list is repeated in each of them. A list that has
 * a title itself is a column, with the number of its records. */
#ifndef AT_SCHEMA_PRINT_H
#define AT_SCHEMA_PRINT_H

#include "schema/schema.h"

enum at_output_format {
    AT_FORMAT_TABLE, /* aligned columns, folded on a narrow terminal */
    AT_FORMAT_JSON,
    AT_FORMAT_CSV,      /* RFC 4180, with line feeds alone */
    AT_FORMAT_MARKDOWN, /* GitHub's tables */
};

/* Fails only for JSON. A failed write is reported when the program ends, as for all output. */
enum at_status at_print(const struct at_schema *schema, const void *record,
                        enum at_output_format format, FILE *out, struct at_error *err);

/* The same of a list of records, which JSON has below `key`. */
enum at_status at_print_list(const char *key, const struct at_schema *schema, const void *records,
                             size_t count, enum at_output_format format, FILE *out,
                             struct at_error *err);

/* The same of a record in at most `width` columns, if the format is a table (0: any). */
enum at_status at_print_within(const struct at_schema *schema, const void *record,
                               enum at_output_format format, int width, FILE *out,
                               struct at_error *err);

/* What a table shows of a record's field; the caller frees it. */
char *at_print_cell(const struct at_field *field, const void *record);

#endif
