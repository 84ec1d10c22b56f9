/* SPDX-License-Identifier: Apache-2.0 */
/* CMake: variables for a CMakeLists.txt to include. */
#include "export/variables.h"

static void write_variable(FILE *out, const char *name, const char *part, const char *value)
{
    fprintf(out, "set(AUTOTUNE_%s%s%s \"%s\")\n", name, part ? "_" : "", part ? part : "", value);
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
    .summary = "variables for a CMakeLists.txt to include",
    .write = write,
};
