/* SPDX-License-Identifier: Apache-2.0 */
/* CMake: variables for a CMakeLists.txt to include. */
#include "export/variables.h"

static void write_variable(FILE *out, const char *prefix, const char *name, const char *part,
                           const char *value, bool is_list)
{
    fprintf(out, "set(%s_%s%s%s \"", prefix, name, part ? "_" : "", part ? part : "");
    for (const char *c = value; *c; c++)
        fputc(is_list && *c == ' ' ? ';' : *c, out);
    fputs("\")\n", out);
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    (void)err;
    at_export_write_origin(export, "# ", out);
    at_export_variables(export, write_variable, out);
    return AT_OK;
}

const struct at_export_format at_export_cmake = {
    .name = "cmake",
    .summary = "variables for a CMakeLists.txt to include, lists as CMake has them",
    .has_names = true,
    .write = write,
};
