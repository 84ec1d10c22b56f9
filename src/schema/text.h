/* SPDX-License-Identifier: Apache-2.0 */
/* The words that a file may contain (base/printable.h: other text). Reader and writer use the same
 * tests, so that everything written can be read back. */
#ifndef AT_SCHEMA_TEXT_H
#define AT_SCHEMA_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Is the text 1 to 63 letters, digits, '_', '-', '.' or '+'? text is NUL-terminated. */
bool at_text_is_word(const char *text, size_t size);

#endif
