/* SPDX-License-Identifier: Apache-2.0 */
/* Which text a file may hold. The same test serves reader and writer, so that what is written can
 * be read. */
#ifndef AT_SCHEMA_TEXT_H
#define AT_SCHEMA_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Is it valid UTF-8, of one line, and without control characters? */
bool at_text_is_printable(const char *text, size_t size);

/* Letters, digits, '_', '-', '.', '+', from 1 to 63 of them? */
bool at_text_is_word(const char *text, size_t size);

#endif
