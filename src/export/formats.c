/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/text_stream.h"
#include "export/export.h"

#include <stdlib.h>
#include <string.h>

extern const struct at_export_format at_export_cmake, at_export_cu, at_export_cubin,
    at_export_header, at_export_json, at_export_make_file, at_export_t4;

const struct at_export_format *const at_export_formats[] = {
    &at_export_header, &at_export_cu,   &at_export_cubin, &at_export_make_file,
    &at_export_cmake,  &at_export_json, &at_export_t4,    NULL,
};

char *at_export_format_names(void)
{
    const char *names[AT_COUNT(at_export_formats)];
    size_t count = 0;

    for (; at_export_formats[count]; count++)
        names[count] = at_export_formats[count]->name;
    return at_join(names, count);
}

enum at_status at_export_format_find(const struct at_export_format **format, const char *name,
                                     struct at_error *err)
{
    char *names;

    for (size_t i = 0; at_export_formats[i]; i++)
        if (strcmp(at_export_formats[i]->name, name) == 0) {
            *format = at_export_formats[i];
            return AT_OK;
        }
    names = at_export_format_names();
    at_fail(err, AT_USAGE, "unknown format \"%s\"; known are %s", name, names);
    free(names);
    return AT_USAGE;
}
