/* SPDX-License-Identifier: Apache-2.0 */
/* Errors as values. A function that can fail returns an at_status and fills a struct at_error. Its
 * message names the cause and the remedy. Outputs are set on success only. The function that first
 * knows of an error writes the message; only main.c prints it. */
#ifndef AT_BASE_ERROR_H
#define AT_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* The values are the program's exit codes. */
enum at_status {
    AT_OK = 0,
    AT_FAILED = 1,     /* no config found, or a check failed */
    AT_USAGE = 2,      /* a bad command line or file, or one that cannot be read or written */
    AT_DEVICE = 3,     /* no device, driver or NVRTC */
    AT_MISMATCH = 4,   /* a profile for another device */
    AT_INTERNAL = 5,   /* a fault of the program, or no memory or processes */
    AT_NO_MEMORY = 6,  /* library only: the command exits with AT_INTERNAL (base/memory.h) */
    AT_INCOMPLETE = 7, /* a listed problem has no entry in the profile */
    AT_INTERRUPTED = 130,
};

struct at_error {
    enum at_status status;
    char message[1024]; /* one line, no newline at its end */
};

/* Fill err (may be NULL) and return status, for `return at_fail(...)`. */
enum at_status at_fail(struct at_error *err, enum at_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Put context before the message in err: "context: message". Returns err's status. */
enum at_status at_fail_within(struct at_error *err, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Put a remedy behind the message in err: "message; remedy". */
void at_advise(struct at_error *err, const char *remedy);

/* A position in a file, so that messages can name it. */
struct at_source {
    const char *file; /* borrowed */
    int line, column; /* from 1 */
};

/* Fail with AT_USAGE and "file:line:column: message". */
enum at_status at_fail_at(struct at_error *err, struct at_source source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

bool at_text_is_printable(const char *text, size_t size);

/* Replace each byte of an unprintable character by '?'. */
void at_text_make_printable(char *text);

/* Return how many bytes of text to quote: all, or as many whole characters as `most` bytes hold. */
int at_text_fit(const char *text, size_t length, size_t most);

/* Text to quote, cut after `most` bytes, as two arguments for "%.*s". */
#define AT_QUOTED(text, most) at_text_fit((text), strlen(text), (most)), (text)

/* Print text, with each byte of an unprintable character as \xNN. */
void at_print_safely(FILE *out, const char *text);

/* The same for a text of several lines, which keeps its line ends and tabs. */
void at_print_lines(FILE *out, const char *text);

#endif
