/* SPDX-License-Identifier: Apache-2.0 */
/* Which words a file may hold; and of other text, what base/printable.h says. The same tests serve
 * reader and writer, so that what is written can be read. */
#ifndef AT_SCHEMA_TEXT_H
#define AT_SCHEMA_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Letters, digits, '_', '-', '.', '+', from 1 to 63 of them? */
bool at_text_is_word(const char *text, size_t size);

#endif
