/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "profile/internal.h"
#include "profile/newest.h"
#include "system/file.h"

#include <stdlib.h>
#include <string.h>

/* Find a line that starts with the key, without indentation, and return what follows; NULL: none.
 */
static const char *find_key(const char *text, const char *key)
{
    size_t length = strlen(key);

    while (text && strncmp(text, key, length) != 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text ? text + length : NULL;
}

int64_t at_profile_schema_of(const char *text)
{
    const char *number = find_key(text, "schema:");
    int64_t schema = number ? strtoll(number, NULL, 10) : 0;

    /* Other files of this program have a schema 1, too. */
    return schema == 1 && !find_key(text, "devices:") ? 0 : schema;
}

/* Check the version before parsing: another version has keys unknown to us, and "unknown key" would
 * be a useless message. Every version has a line `schema: N` without indentation. The parser
 * refuses a file without it. */
static enum at_status check_version(const char *name, const char *text, struct at_error *err)
{
    int64_t found = at_profile_schema_of(text);

    if (found == 0 || found == AT_PROFILE_SCHEMA)
        return AT_OK;
    return at_fail(
        err, AT_USAGE,
        "%s: schema is %jd, and this program knows version %d: tune again, or use the autotune "
        "that wrote the file",
        name, (intmax_t)found, AT_PROFILE_SCHEMA);
}

typedef enum at_status parse_fn(struct at_profile *profile, const char *name, const char *text,
                                size_t size, struct at_error *err);

static enum at_status read_profile(struct at_profile *profile, const char *path, parse_fn *parse,
                                   struct at_error *err)
{
    struct at_profile read = {0};
    char *text = NULL;
    size_t size = 0;
    enum at_status status = at_file_read_text(&text, &size, path, AT_SCHEMA_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    status = check_version(path, text, err);
    if (status == AT_OK)
        status = parse(&read, path, text, size, err);
    if (status != AT_OK && text[0] > ' ' && !find_key(text, "devices:"))
        at_fail_within(err, "%s is no profile", path);
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

static enum at_status parse_groups(struct at_profile *profile, const char *name, const char *text,
                                   size_t size, struct at_error *err)
{
    enum at_status status = at_schema_read(&at_profile_schema, profile, name, text, size, err);

    if (status != AT_OK)
        return status;
    at_defaults_spread(profile);
    status = at_answers_group(profile, name, err);
    if (status == AT_OK)
        status = at_profile_check_counts(profile, err);
    if (status != AT_OK)
        at_profile_clear(profile);
    return status;
}

static enum at_status parse(struct at_profile *profile, const char *name, const char *text,
                            size_t size, struct at_error *err)
{
    enum at_status status = parse_groups(profile, name, text, size, err);

    if (status == AT_OK)
        at_groups_spread(profile);
    return status;
}

enum at_status at_profile_read(struct at_profile *profile, const char *path, struct at_error *err)
{
    enum at_status status = at_profile_read_whole(profile, path, err);

    if (status == AT_OK)
        at_profile_keep_newest(profile);
    return status;
}

enum at_status at_profile_read_whole(struct at_profile *profile, const char *path,
                                     struct at_error *err)
{
    return read_profile(profile, path, parse, err);
}

enum at_status at_profile_read_groups(struct at_profile *profile, const char *path,
                                      struct at_error *err)
{
    return read_profile(profile, path, parse_groups, err);
}

void at_profile_clear(struct at_profile *profile)
{
    at_groups_clear(profile);
    at_schema_clear(&at_profile_schema, profile);
}
