/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/text_stream.h"
#include "profile/internal.h"
#include "system/output.h"

#include <string.h>

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
    at_defaults_gather(profile);
    at_answers_gather(profile);
}

static void spread(struct at_profile *profile)
{
    at_defaults_spread(profile);
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
