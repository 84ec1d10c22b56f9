/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "profile/internal.h"
#include "system/file.h"

#include <stdlib.h>
#include <string.h>

/* Check the version before parsing: another version may have keys unknown to us, and "unknown key"
 * would be a useless message. Every version has a line `schema: N` without indentation. The parser
 * refuses a file without it. */
static enum at_status check_version(const char *name, const char *text, struct at_error *err)
{
    static const char key[] = "schema:";
    const char *line = text;
    size_t digits;

    while (line && strncmp(line, key, sizeof key - 1) != 0) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    if (!line)
        return AT_OK;
    line += sizeof key - 1;
    line += strspn(line, " ");
    digits = strspn(line, "0123456789");
    if (digits == 0 || strtoll(line, NULL, 10) == AT_PROFILE_SCHEMA)
        return AT_OK;
    return at_fail(err, AT_USAGE,
                   "%s: schema is %.*s, and this program knows version %d: tune again, or use the "
                   "autotune that wrote the file",
                   name, (int)(digits < 20 ? digits : 20), line, AT_PROFILE_SCHEMA);
}

enum at_status at_profile_read(struct at_profile *profile, const char *path, struct at_error *err)
{
    struct at_profile read = {0};
    char *text = NULL;
    size_t size = 0;
    enum at_status status = at_file_read(&text, &size, path, AT_SCHEMA_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    status = check_version(path, text, err);
    if (status == AT_OK)
        status = at_schema_read(&at_profile_schema, &read, path, text, size, err);
    at_free(text);
    if (status != AT_OK)
        return status;
    at_profile_sort(&read);
    status = at_profile_check(&read, path, err);
    if (status != AT_OK) {
        at_profile_clear(&read);
        return status;
    }
    *profile = read;
    return AT_OK;
}

void at_profile_clear(struct at_profile *profile)
{
    at_schema_clear(&at_profile_schema, profile);
}
