/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void at_html_close(struct at_html *out)
{
    for (size_t i = 0; i < AT_HTML_TEXTS; i++)
        free(out->texts[i]);
}

void at_put(struct at_html *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vfprintf(out->file, format, args);
    va_end(args);
}

/* The writer frees the text when as many newer ones were made. */
static const char *keep(struct at_html *out, char *text)
{
    char **place = &out->texts[out->made++ % AT_HTML_TEXTS];

    free(*place);
    *place = text;
    return text;
}

/* ---- escapes ---- */

/* What text may have that HTML or XML cannot, as the first byte of it. */
static const char special[] = "&<>\"'\xef";

/* What stands for a character; NULL: itself. */
static const char *escape_of(char character)
{
    switch (character) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

/* XML has no U+FFFE and U+FFFF. at_text_is_printable has refused control characters. */
static bool is_no_character(const char *text, size_t length)
{
    return length >= 3 &&
           (memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0);
}

const char *at_escape_part(struct at_html *out, const char *text, size_t length)
{
    struct at_text_stream stream;
    FILE *escaped;

    if (strcspn(text, special) >= length)
        return keep(out, at_strndup(text, length));
    escaped = at_text_open(&stream);
    for (size_t i = 0; i < length; i++) {
        const char *escape = escape_of(text[i]);

        if (escape) {
            fputs(escape, escaped);
        } else if (is_no_character(text + i, length - i)) {
            putc('?', escaped);
            i += 2;
        } else {
            putc(text[i], escaped);
        }
    }
    return keep(out, at_text_close(&stream, NULL));
}

const char *at_escape(struct at_html *out, const char *text)
{
    return strpbrk(text, special) ? at_escape_part(out, text, strlen(text)) : text;
}

const char *at_markdown(struct at_html *out, const char *text)
{
    struct at_text_stream stream;
    FILE *escaped = at_text_open(&stream);

    for (const char *c = text; *c; c++)
        if (strchr("\\`*_{}[]<>#|~!&@", *c))
            fprintf(escaped, "&#%d;", *c);
        else
            putc(*c, escaped);
    return keep(out, at_text_close(&stream, NULL));
}

const char *at_markdown_code(struct at_html *out, const char *text)
{
    char *code = at_format("`%s`", text);

    for (char *c = code + 1; c[1]; c++)
        *c = *c == '`' || *c == '|' ? '?' : *c;
    return keep(out, code);
}

/* ---- numbers ---- */

const char *at_thousands(struct at_html *out, int64_t count)
{
    char *text = at_format("%" PRId64, count);
    size_t first = count < 0 ? 1 : 0;

    for (size_t length = strlen(text), end = length; end > first + 3; end -= 3) {
        char *longer = at_format("%.*s,%s", (int)end - 3, text, text + end - 3);

        free(text);
        text = longer;
    }
    return keep(out, text);
}

const char *at_us(struct at_html *out, double ns)
{
    double us = ns / 1000;

    return keep(out, at_format("%.*f", us < 1000 ? 2 : us < 10000 ? 1 : 0, us));
}

/* ---- tables ---- */

static void print_head(struct at_html *out, const char *head, size_t length)
{
    const char *colon = memchr(head, ':', length);
    size_t class = colon ? (size_t)(colon - head) : 0;

    if (colon)
        at_put(out, "<th class=\"%.*s\">%.*s</th>", (int)class, head, (int)(length - class - 1),
               colon + 1);
    else
        at_put(out, "<th>%.*s</th>", (int)length, head);
}

void at_table_begin(struct at_html *out, const char *box, const char *table, const char *heads, ...)
{
    va_list args;
    char *text;

    va_start(args, heads);
    text = at_vformat(heads, args);
    va_end(args);
    if (box)
        at_put(out, "<div class=\"%s\">", box);
    at_put(out, "<table%s%s%s><thead><tr>", table[0] ? " class=\"" : "", table,
           table[0] ? "\"" : "");
    for (const char *head = text, *end = head; *end; head = end + 1) {
        end = head + strcspn(head, "|");
        print_head(out, head, (size_t)(end - head));
    }
    at_put(out, "</tr></thead><tbody>\n");
    free(text);
}

void at_table_end(struct at_html *out)
{
    at_put(out, "</tbody></table></div>\n");
}

/* ---- pages ---- */

void at_html_picture_style(struct at_html *out)
{
    fwrite(at_asset_picture, 1, at_asset_picture_size, out->file);
}

/* The policy lets the page itself run, and forbids every request. The empty icon keeps browsers
 * from asking for one. */
void at_html_begin(struct at_html *out, const char *title)
{
    at_put(out,
           "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
           "form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           "<meta name=\"generator\" content=\"autotune " PACKAGE_VERSION "\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>%s</title>\n<style>\n",
           at_escape(out, title));
    fwrite(at_asset_style, 1, at_asset_style_size, out->file);
    at_html_picture_style(out);
    at_put(out, "</style>\n</head>\n<body>\n");
}

void at_html_end(struct at_html *out)
{
    at_put(out, "<script>\n");
    fwrite(at_asset_script, 1, at_asset_script_size, out->file);
    at_put(out, "</script>\n</body>\n</html>\n");
}

void at_html_begin_page(struct at_html *out, const char *command, const char *title)
{
    at_html_begin(out, title);
    at_put(out, "<header><p class=\"kicker\">%s</p><h1>%s</h1></header>\n<main>\n", command,
           at_escape(out, title));
}

void at_html_end_page(struct at_html *out)
{
    at_put(out, "</main>\n<footer><p class=\"small\">Made by autotune " PACKAGE_VERSION
                "; no request leaves this page.</p></footer>\n");
    at_html_end(out);
}
