/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "base/text_stream.h"
#include "recording/parts.h"
#include "system/file.h"

#include <stdlib.h>
#include <string.h>

const struct at_recording_format *const at_recording_formats[] = {
    &at_recording_text, &at_recording_kernel_tuner, &at_recording_t4, NULL};

enum at_status at_recording_format_find(const struct at_recording_format **format, const char *name,
                                        struct at_error *err)
{
    const char *known[8];
    size_t count = 0;
    char *names;

    for (size_t i = 0; at_recording_formats[i]; i++) {
        if (strcmp(at_recording_formats[i]->name, name) == 0) {
            *format = at_recording_formats[i];
            return AT_OK;
        }
        known[count++] = at_recording_formats[i]->name;
    }
    names = at_join(known, count);
    at_fail(err, AT_USAGE, "unknown format \"%s\"; known are %s", name, names);
    free(names);
    return AT_USAGE;
}

enum at_status at_recording_write_as(const struct at_recording *recording,
                                     const struct at_recording_format *format, FILE *out,
                                     struct at_error *err)
{
    if (recording->kernel)
        return at_fail(err, AT_USAGE,
                       "this is a recording of %.200s, not of a transpose: it can be replayed, and "
                       "not written",
                       recording->kernel);
    return format->write(recording, out, err);
}

enum at_status at_recording_read(struct at_recording *recording, const char *path,
                                 struct at_error *err)
{
    char *text = NULL;
    size_t size;
    enum at_status status = at_file_read(&text, &size, path, AT_RECORDING_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    if (text[strspn(text, " \t\r\n")] == '{')
        status = at_recording_read_json(recording, path, text, size, err);
    else
        status = at_recording_read_text(recording, path, text, size, err);
    free(text);
    return status;
}
