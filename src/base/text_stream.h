/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that collects text in memory. Unlike with open_memstream, running out of memory never
 * truncates the text: at_text_close ends the call (base/memory.h). */
#ifndef AT_BASE_TEXT_STREAM_H
#define AT_BASE_TEXT_STREAM_H

#include "base/memory.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct at_text_stream {
    FILE *out;
    char *text;
    size_t size, capacity;
    bool failed;
    struct at_cleanup cleanup;
};

/* Open a stream and return stream->out. The struct must not move until at_text_close. */
FILE *at_text_open(struct at_text_stream *stream);

/* Close the stream and return its text, NUL-terminated; the caller frees it. *size (may be NULL) is
 * its length. */
char *at_text_close(struct at_text_stream *stream, size_t *size);

/* Join count names to "a, b, c"; the caller frees it. */
char *at_join(const char *const *names, size_t count);

#endif
