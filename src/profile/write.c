/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/output.h"
#include "profile/internal.h"

#include <errno.h>
#include <stdlib.h>

static enum at_status write_file(const struct at_profile *profile, struct at_output *output,
                                 struct at_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    enum at_status status;

    if (!memory)
        return at_fail(err, AT_INTERNAL, "cannot format the profile: %s", strerror(errno));
    status = at_schema_write_yaml(&at_profile_schema, profile, memory, err);
    if (fclose(memory) != 0 && status == AT_OK)
        status = at_fail(err, AT_INTERNAL, "cannot format the profile: %s", strerror(errno));
    if (status == AT_OK && size > AT_SCHEMA_BYTES_MAX)
        status = at_fail(err, AT_USAGE,
                         "the profile has %zu bytes, and at most %d are read: keep its devices in "
                         "separate files",
                         size, AT_SCHEMA_BYTES_MAX);
    if (status == AT_OK)
        status = at_output_write(output, text, size, err);
    free(text);
    return status;
}

enum at_status at_profile_write(struct at_profile *profile, struct at_output *output,
                                struct at_error *err)
{
    at_profile_sort(profile);
    return output ? write_file(profile, output, err)
                  : at_schema_write_yaml(&at_profile_schema, profile, stdout, err);
}
