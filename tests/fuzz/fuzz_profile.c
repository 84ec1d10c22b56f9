/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a profile: refused with a message, or read, shown and written as JSON. */
#include "base/text_stream.h"
#include "fuzz_file.h"
#include "profile/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct at_profile profile = {0};
    struct at_error err;
    struct at_text_stream stream;
    const char *path = fuzz_file(data, size);
    char *text;
    size_t length;
    FILE *out;

    if (at_profile_read(&profile, path, &err) != AT_OK)
        return 0;
    out = at_text_open(&stream);
    at_profile_print(&profile, AT_FORMAT_TABLE, &(struct at_show_options){true, true}, out, NULL);
    at_profile_write_json(&profile, out, NULL);
    text = at_text_close(&stream, &length);
    free(text);
    at_profile_clear(&profile);
    return 0;
}
