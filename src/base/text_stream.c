/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text_stream.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* Called by stdio. at_out_of_memory must not jump out of stdio, so at_text_close reports
 * failures. */
static ssize_t take(void *cookie, const char *bytes, size_t size)
{
    struct at_text_stream *stream = cookie;
    size_t wanted = stream->size + size + 1, larger = 2 * wanted;

    if (wanted > stream->capacity) {
        char *text = stream->failed ? NULL : realloc(stream->text, larger);

        stream->failed = !text;
        if (!text)
            return 0;
        stream->text = text;
        stream->capacity = larger;
    }
    memcpy(stream->text + stream->size, bytes, size);
    stream->size += size;
    stream->text[stream->size] = '\0';
    return (ssize_t)size;
}

static void release(void *data)
{
    struct at_text_stream *stream = data;

    fclose(stream->out);
    free(stream->text);
}

FILE *at_text_open(struct at_text_stream *stream)
{
    *stream = (struct at_text_stream){0};
    stream->out = fopencookie(stream, "w", (cookie_io_functions_t){.write = take});
    if (!stream->out)
        at_out_of_memory();
    at_cleanup_push(&stream->cleanup, release, stream);
    return stream->out;
}

char *at_text_close(struct at_text_stream *stream, size_t *size)
{
    bool failed = ferror(stream->out) != 0;

    at_cleanup_pop(&stream->cleanup);
    failed |= fclose(stream->out) != 0 || stream->failed;
    if (failed) {
        free(stream->text);
        at_out_of_memory();
    }
    if (size)
        *size = stream->size;
    return stream->text ? at_guard_note(stream->text) : at_strdup("");
}

char *at_join(const char *const *names, size_t count)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%s", i ? ", " : "", names[i]);
    return at_text_close(&stream, NULL);
}
