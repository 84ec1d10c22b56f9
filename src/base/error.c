/* SPDX-License-Identifier: Apache-2.0 */
#include "base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* Decode one UTF-8 character of the `left` bytes at text (RFC 3629). Returns its length; 0 if
 * invalid. */
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

/* C0, DEL and C1 control a terminal. The line and paragraph separators end a line in YAML. Bidi
 * controls show text in another order than it has (Unicode TR 36, 2.5). */
static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

/* The length of the character at text if it is printable, else 0. */
static size_t printable_length(const char *text, size_t left)
{
    uint32_t character;
    size_t length = decode((const unsigned char *)text, left, &character);

    return length > 0 && !is_control(character) ? length : 0;
}

bool at_text_is_printable(const char *text, size_t size)
{
    size_t length;

    for (size_t at = 0; at < size; at += length) {
        /* Most text is ASCII. */
        length = text[at] >= ' ' && text[at] <= '~' ? 1 : printable_length(text + at, size - at);
        if (length == 0)
            return false;
    }
    return true;
}

void at_text_make_printable(char *text)
{
    size_t size = strlen(text);

    for (size_t at = 0; at < size;) {
        size_t length = printable_length(text + at, size - at);

        if (length == 0)
            text[at] = '?';
        at += length ? length : 1;
    }
}

/* Return the size of text up to the end of its last whole character: a text that was cut after
 * `size` bytes may end within one. */
static size_t text_whole(const char *text, size_t size)
{
    size_t begin = size;
    unsigned char lead;

    while (begin > 0 && size - begin < 3 && ((unsigned char)text[begin - 1] & 0xc0) == 0x80)
        begin--;
    if (begin == 0)
        return size;
    lead = (unsigned char)text[begin - 1];
    return size - begin + 1 < (lead >= 0xf0   ? 4U
                               : lead >= 0xe0 ? 3U
                               : lead >= 0xc0 ? 2U
                                              : 1U)
               ? begin - 1
               : size;
}

int at_text_fit(const char *text, size_t length, size_t most)
{
    return (int)(length <= most ? length : text_whole(text, most));
}

/* `kept` are the control characters that are printed as they are. */
static void print(FILE *out, const char *text, const char *kept)
{
    size_t size = strlen(text);

    for (size_t at = 0; at < size;) {
        size_t length = strchr(kept, text[at]) ? 1 : printable_length(text + at, size - at);

        if (length == 0)
            fprintf(out, "\\x%02x", (unsigned char)text[at]);
        else
            fwrite(text + at, 1, length, out);
        at += length ? length : 1;
    }
}

void at_print_safely(FILE *out, const char *text)
{
    print(out, text, "");
}

void at_print_lines(FILE *out, const char *text)
{
    print(out, text, "\n\t");
}

/* Format a text of at most `capacity` bytes; a longer one is cut after a complete character. */
__attribute__((format(printf, 3, 0))) static void put(char *text, size_t capacity,
                                                      const char *format, va_list args)
{
    int length = vsnprintf(text, capacity, format, args);

    if (length >= 0 && (size_t)length >= capacity)
        text[text_whole(text, capacity - 1)] = '\0';
}

enum at_status at_fail(struct at_error *err, enum at_status status, const char *format, ...)
{
    va_list args;

    if (err) {
        err->status = status;
        va_start(args, format);
        put(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return status;
}

enum at_status at_fail_within(struct at_error *err, const char *format, ...)
{
    char cause[sizeof err->message], context[sizeof err->message];
    va_list args;

    if (!err)
        return AT_INTERNAL;
    memcpy(cause, err->message, sizeof cause);
    va_start(args, format);
    put(context, sizeof context, format, args);
    va_end(args);
    return at_fail(err, err->status, "%s: %s", context, cause);
}

void at_advise(struct at_error *err, const char *remedy)
{
    char message[sizeof err->message];

    memcpy(message, err->message, sizeof message);
    at_fail(err, err->status, "%s; %s", message, remedy);
}

enum at_status at_fail_at(struct at_error *err, struct at_source source, const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;

    va_start(args, format);
    put(message, sizeof message, format, args);
    va_end(args);
    return at_fail(err, AT_USAGE, "%s:%d:%d: %s", source.file, source.line, source.column, message);
}
