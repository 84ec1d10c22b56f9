/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a recording, a Kernel Tuner cache or T4 results: refused with a message, or written
 * in each of these formats and read back, which has to give the same recording. */
#include "base/text_stream.h"
#include "fuzz_file.h"
#include "recording/recording.h"

#include <string.h>

/* NULL where the format refuses it. */
static char *write_as(const struct at_recording *recording,
                      const struct at_recording_format *format, size_t *size)
{
    struct at_error err;
    struct at_text_stream stream;
    char *text;
    FILE *out = at_text_open(&stream);
    enum at_status status = at_recording_write_as(recording, format, out, &err);

    text = at_text_close(&stream, size);
    if (status == AT_OK)
        return text;
    free(text);
    return NULL;
}

static void check(const struct at_recording *recording, const char *text,
                  const struct at_recording_format *format)
{
    struct at_recording again;
    struct at_error err;
    size_t size;
    char *written = write_as(recording, format, &size), *back;

    if (!written)
        return;
    if (at_recording_read(&again, fuzz_file((const uint8_t *)written, size), &err) != AT_OK)
        abort();
    back = write_as(&again, at_recording_formats[0], &size);
    if (!back || strcmp(back, text) != 0)
        abort();
    free(back);
    free(written);
    at_recording_clear(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct at_recording recording;
    struct at_error err;
    char *text;

    if (at_recording_read(&recording, fuzz_file(data, size), &err) != AT_OK)
        return 0;
    free(at_recording_title(&recording));
    text = write_as(&recording, at_recording_formats[0], &size);
    for (size_t i = 0; at_recording_formats[i] && text; i++)
        check(&recording, text, at_recording_formats[i]);
    free(text);
    at_recording_clear(&recording);
    return 0;
}
