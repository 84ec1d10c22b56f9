/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/parts.h"

#include "base/printable.h"
#include "system/file.h"

#include <stdlib.h>
#include <string.h>

/* One line per format, in the order in which --help names them. */
/* clang-format off */
#define EACH_FORMAT(each) \
    each(text) \
    each(kernel_tuner) \
    each(t4)
/* clang-format on */

#define DECLARE(name) extern const struct at_recording_format at_recording_##name;
EACH_FORMAT(DECLARE)

#define ADDRESS(name) &at_recording_##name,
const struct at_recording_format *const at_recording_formats[] = {EACH_FORMAT(ADDRESS) NULL};

struct at_choice at_recording_choice(size_t index)
{
    const struct at_recording_format *format = at_recording_formats[index];

    return (struct at_choice){.name = format ? format->name : NULL, .entry = format};
}

enum at_status at_recording_write_as(const struct at_recording *recording,
                                     const struct at_recording_format *format, FILE *out,
                                     struct at_error *err)
{
    if (recording->kernel)
        return at_fail(err, AT_USAGE,
                       "this is a recording of %.*s, not of a transpose: it can be replayed, but "
                       "not converted",
                       AT_QUOTED(recording->kernel, 200));
    return format->write(recording, out, err);
}

enum at_status at_recording_read(struct at_recording *recording, const char *path,
                                 struct at_error *err)
{
    char *text = NULL, first;
    size_t size;
    enum at_status status = at_file_read_text(&text, &size, path, AT_RECORDING_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    first = text[strspn(text, " \t\r\n")];
    if (first == '{' || first == '[')
        status = at_recording_read_json(recording, path, text, size, err);
    else
        status = at_recording_read_text(recording, path, text, size, err);
    free(text);
    return status;
}
