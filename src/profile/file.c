/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes profiles. Their default configs: in memory each entry has its own, in a file
 * each family's is written once. */
#include "system/file.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "profile/internal.h"
#include "system/output.h"

#include <stdlib.h>
#include <string.h>

/* ---- default configs ---- */

bool at_same_parameters(const struct at_list *a, const struct at_list *b)
{
    const struct at_named_int *x = a->items, *y = b->items;

    for (size_t i = 0; i < a->count && i < b->count; i++)
        if (strcmp(x[i].name, y[i].name) != 0 || x[i].value != y[i].value)
            return false;
    return a->count == b->count;
}

static void clear_parameters(struct at_list *list)
{
    at_free(list->items);
    *list = (struct at_list){0};
}

static struct at_list copy_parameters(const struct at_list *list)
{
    return at_named_ints_copy(list->items, list->count);
}

static const struct at_default_record *find(const struct at_device_record *record,
                                            const char *family)
{
    const struct at_default_record *defaults = record->defaults.items;

    for (size_t i = 0; i < record->defaults.count; i++)
        if (strcmp(defaults[i].family, family) == 0)
            return &defaults[i];
    return NULL;
}

static int by_family(const void *left, const void *right)
{
    const struct at_default_record *a = left, *b = right;

    return strcmp(a->family, b->family);
}

/* ---- into the list ---- */

/* Do the defaults of this family have the same parameters in every entry? */
static bool all_agree(const struct at_device_record *record, const struct at_result_record *with)
{
    const struct at_entry *entries = record->problems.items;

    for (size_t i = 0; i < record->problems.count; i++)
        if (strcmp(entries[i].fallback.family, with->family) == 0 &&
            !at_same_parameters(&entries[i].fallback.parameters, &with->parameters))
            return false;
    return true;
}

static void list_defaults(struct at_device_record *record)
{
    struct at_default_record *defaults = NULL;
    size_t capacity = 0;
    const struct at_entry *entries = record->problems.items;

    record->defaults = (struct at_list){0};
    for (size_t i = 0; i < record->problems.count; i++) {
        const struct at_result_record *fallback = &entries[i].fallback;
        struct at_default_record made = {0};

        if (fallback->parameters.count == 0 || find(record, fallback->family) ||
            record->defaults.count == AT_DEFAULTS_MAX || !all_agree(record, fallback))
            continue;
        strcpy(made.family, fallback->family);
        made.parameters = copy_parameters(&fallback->parameters);
        AT_PUSH(defaults, record->defaults.count, capacity, made);
        record->defaults.items = defaults;
    }
    if (record->defaults.count > 1)
        qsort(defaults, record->defaults.count, sizeof *defaults, by_family);
}

/* Move the default configs out of the entries and into the record's list, where all entries of a
 * family agree. */
static void gather_defaults(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct at_entry *entries = records[i].problems.items;

        list_defaults(&records[i]);
        for (size_t j = 0; j < records[i].problems.count; j++)
            if (find(&records[i], entries[j].fallback.family))
                clear_parameters(&entries[j].fallback.parameters);
    }
}

/* ---- into the entries ---- */

static void clear_defaults(struct at_list *list)
{
    struct at_default_record *defaults = list->items;

    for (size_t i = 0; i < list->count; i++)
        clear_parameters(&defaults[i].parameters);
    at_free(defaults);
    *list = (struct at_list){0};
}

/* And back. */
static void spread_defaults(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count; j++) {
            struct at_result_record *fallback = &entries[j].fallback;
            const struct at_default_record *found = find(&records[i], fallback->family);

            if (found && fallback->parameters.count == 0)
                fallback->parameters = copy_parameters(&found->parameters);
        }
        clear_defaults(&records[i].defaults);
    }
}

/* ---- reading ---- */

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
    spread_defaults(profile);
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

/* ---- writing ---- */

static enum at_status write_file(const struct at_profile *profile, struct at_output *output,
                                 struct at_error *err)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    enum at_status status = at_schema_write_yaml(&at_profile_schema, profile, out, err);
    size_t size;
    char *text = at_text_close(&stream, &size);

    if (status == AT_OK && size > AT_SCHEMA_BYTES_MAX)
        status = at_fail(err, AT_USAGE,
                         "the profile has %zu bytes, and at most %d are read: keep its devices in "
                         "separate files",
                         size, AT_SCHEMA_BYTES_MAX);
    if (status == AT_OK)
        status = at_output_write(output, text, size, err);
    at_free(text);
    return status;
}

static void gather(struct at_profile *profile)
{
    gather_defaults(profile);
    at_answers_gather(profile);
}

static void spread(struct at_profile *profile)
{
    spread_defaults(profile);
    (void)at_answers_group(profile, "", NULL); /* they were just made */
    at_groups_spread(profile);
    at_profile_sort(profile);
}

enum at_status at_profile_write(struct at_profile *profile, struct at_output *output,
                                struct at_error *err)
{
    enum at_status status;

    at_profile_sort(profile);
    gather(profile);
    status = output ? write_file(profile, output, err)
                    : at_schema_write_yaml(&at_profile_schema, profile, stdout, err);
    spread(profile);
    return status;
}

enum at_status at_profile_write_json(struct at_profile *profile, FILE *out, struct at_error *err)
{
    enum at_status status;

    gather(profile);
    status = at_schema_write_json(&at_profile_schema, profile, out, err);
    spread(profile);
    return status;
}
