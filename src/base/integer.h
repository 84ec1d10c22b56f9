/* SPDX-License-Identifier: Apache-2.0 */
/* Integers as people write them, read the same way wherever they stand: in a file, a problem, an
 * expression. strtoll is not used: it skips blanks, takes '+', and obeys the locale. */
#ifndef AT_BASE_INTEGER_H
#define AT_BASE_INTEGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Reads all `length` bytes of text as a decimal integer with an optional '-'. False, with *value
 * untouched, for anything else: '+', blanks, a zero in front (octal to some readers), no digits, or
 * a value that does not fit 64 bits. */
bool at_integer_parse(const char *text, size_t length, int64_t *value);

#endif
