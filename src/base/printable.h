/* SPDX-License-Identifier: Apache-2.0 */
/* Printable text: UTF-8 without control characters. Messages quote files, compiler logs and names
 * from elsewhere; control characters in them could rewrite the terminal or type input. */
#ifndef AT_BASE_PRINTABLE_H
#define AT_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

bool at_text_is_printable(const char *text, size_t size);

/* Replace each byte of an unprintable character by '?'. */
void at_text_make_printable(char *text);

/* Print text, with each byte of an unprintable character as \xNN. */
void at_print_safely(FILE *out, const char *text);

#endif
