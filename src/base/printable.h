/* SPDX-License-Identifier: Apache-2.0 */
/* Text that may be shown: UTF-8 without control characters. A terminal takes those as orders, to
 * rewrite what stands on it or to type for the user, and messages quote files, logs of compilers
 * and names that others have written. */
#ifndef AT_BASE_PRINTABLE_H
#define AT_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

bool at_text_is_printable(const char *text, size_t size);

/* Puts a '?' in place of each byte of what is not printable. */
void at_text_make_printable(char *text);

/* Prints it, with each byte of what is not printable as \xNN. */
void at_print_safely(FILE *out, const char *text);

#endif
