/* SPDX-License-Identifier: Apache-2.0 */
/* A stream that collects what is written to it. Unlike open_memstream's, its text is never cut off:
 * memory that runs out is out of memory (base/guard.h). */
#ifndef AT_BASE_TEXT_STREAM_H
#define AT_BASE_TEXT_STREAM_H

#include "base/guard.h"

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

/* Returns stream->out, which at_text_close closes. The struct has to stay where it is. */
FILE *at_text_open(struct at_text_stream *stream);

/* What was written, NUL-terminated and the caller's to free; *size, unless NULL, is its length. */
char *at_text_close(struct at_text_stream *stream, size_t *size);

/* "a, b, c", of count names; the caller frees it. */
char *at_join(const char *const *names, size_t count);

#endif
