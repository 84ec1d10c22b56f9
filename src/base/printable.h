/* SPDX-License-Identifier: Apache-2.0 */
/* Printable text: UTF-8 without control characters. Messages quote files, compiler logs and names
 * from elsewhere; control characters in them could rewrite the terminal or type input. */
#ifndef AT_BASE_PRINTABLE_H
#define AT_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

bool at_text_is_printable(const char *text, size_t size);

/* Replace each byte of an unprintable character by '?'. */
void at_text_make_printable(char *text);

/* Return the size of text up to the end of its last whole character: a text that was cut after
 * `size` bytes may end within one. */
size_t at_text_whole(const char *text, size_t size);

/* Return how many bytes of text to quote: all, or as many whole characters as `most` bytes hold. */
int at_text_fit(const char *text, size_t length, size_t most);

/* Text to quote, cut after `most` bytes, as two arguments for "%.*s". */
#define AT_QUOTED(text, most) at_text_fit((text), strlen(text), (most)), (text)

/* Print text, with each byte of an unprintable character as \xNN. */
void at_print_safely(FILE *out, const char *text);

/* The same for a text of several lines, which keeps its line ends and tabs. */
void at_print_lines(FILE *out, const char *text);

#endif
