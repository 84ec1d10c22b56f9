/* SPDX-License-Identifier: Apache-2.0 */
#include "study/textbook.h"

#include "base/memory.h"
#include "system/paths.h"

#include <stdlib.h>

static const struct at_field row_fields[] = {
    AT_KERNEL_ROW_FIELDS(0),
};
static const struct at_schema row_schema = {"a row", sizeof(struct at_kernel_row), row_fields,
                                            AT_COUNT(row_fields)};
static const struct at_field textbook_fields[] = {
    {.key = "rows",
     .kind = AT_FIELD_OBJECTS,
     .offset = offsetof(struct at_textbook, rows),
     .min = 1,
     .max = AT_TEXTBOOK_ROWS_MAX,
     .object = &row_schema},
    {.key = "schema",
     .kind = AT_FIELD_INT,
     .offset = offsetof(struct at_textbook, schema),
     .min = 1,
     .max = 1},
};
static const struct at_schema textbook_schema = {"the textbook's rows", sizeof(struct at_textbook),
                                                 textbook_fields, AT_COUNT(textbook_fields)};

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
