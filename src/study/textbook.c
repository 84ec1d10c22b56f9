/* SPDX-License-Identifier: Apache-2.0 */
#include "study/textbook.h"

#include "schema/table.h"
#include "system/paths.h"

#include <stdlib.h>

static const struct at_field row_fields[] = {
    AT_KERNEL_ROW_FIELDS(0),
};
static const struct at_schema row_schema = AT_SCHEMA("a row", at_kernel_row, row_fields);
static const struct at_field textbook_fields[] = {
    AT_OBJECTS(at_textbook, rows, 1, AT_TEXTBOOK_ROWS_MAX, row_schema),
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
