/* SPDX-License-Identifier: Apache-2.0 */
#include "base/printable.h"

#include <stdint.h>
#include <string.h>

/* Decodes one character of the `left` bytes at text (RFC 3629). Returns its length, 0 if invalid.
 */
static size_t decode(const unsigned char *text, size_t left, uint32_t *character)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t least; /* below this a shorter form exists */
    } forms[] = {{0x80, 0x00, 0}, {0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};
    size_t form = 0;

    while (form < 4 && (text[0] & forms[form].mask) != forms[form].lead)
        form++;
    if (form == 4 || form + 1 > left)
        return 0;
    *character = text[0] & (unsigned char)~forms[form].mask;
    for (size_t i = 1; i <= form; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (text[i] & 0x3f);
    }
    if (*character < forms[form].least || *character > 0x10ffff ||
        (*character >= 0xd800 && *character <= 0xdfff))
        return 0;
    return form + 1;
}

/* C0, DEL and C1 can steer a terminal; the line and paragraph separators end a line for YAML; and
 * what changes the direction of text shows it in another order than it has (Unicode TR 36, 2.5). */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

bool at_text_is_printable(const char *text, size_t size)
{
    size_t length;

    for (size_t at = 0; at < size; at += length) {
        uint32_t character;

        length = decode((const unsigned char *)text + at, size - at, &character);
        if (length == 0 || is_control(character))
            return false;
    }
    return true;
}

void at_text_make_printable(char *text)
{
    size_t size = strlen(text), length;

    for (size_t at = 0; at < size; at += length) {
        uint32_t character;

        length = decode((const unsigned char *)text + at, size - at, &character);
        if (length > 0 && !is_control(character))
            continue;
        length = 1;
        text[at] = '?';
    }
}

void at_print_safely(FILE *out, const char *text)
{
    size_t size = strlen(text), length;

    for (size_t at = 0; at < size; at += length) {
        uint32_t character;

        length = decode((const unsigned char *)text + at, size - at, &character);
        if (length > 0 && !is_control(character)) {
            fwrite(text + at, 1, length, out);
        } else {
            length = 1;
            fprintf(out, "\\x%02x", (unsigned char)text[at]);
        }
    }
}
