/* SPDX-License-Identifier: Apache-2.0 */
/* Make: variables for a Makefile to include. */
#include "export/variables.h"

static void write_variable(FILE *out, const char *prefix, const char *name, const char *part,
                           const char *value, bool is_list)
{
    (void)is_list;
    fprintf(out, "%s_%s%s%s := %s\n", prefix, name, part ? "_" : "", part ? part : "", value);
}

static enum at_status write(const struct at_export *export, FILE *out, struct at_error *err)
{
    (void)err;
    at_export_write_origin(export, "# ", out);
    at_export_variables(export, write_variable, out);
    return AT_OK;
}

const struct at_export_format at_export_make_file = {
    .name = "make",
    .summary = "variables for a Makefile to include",
    .has_names = true,
    .write = write,
};
