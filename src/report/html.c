/* SPDX-License-Identifier: Apache-2.0 */
#include "report/page.h"

#include "base/memory.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* ---- printing ---- */

/* XML has no U+FFFE and U+FFFF. at_text_is_printable has refused control characters. */
static bool is_no_character(const char *text, size_t length)
{
    return length >= 3 &&
           (memcmp(text, "\xef\xbf\xbe", 3) == 0 || memcmp(text, "\xef\xbf\xbf", 3) == 0);
}

static void put_text(FILE *out, const char *text, size_t length)
{
    static const char *const escapes[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;"};

    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];

        if (c < AT_COUNT(escapes) && escapes[c]) {
            fputs(escapes[c], out);
        } else if (is_no_character(text + i, length - i)) {
            putc('?', out);
            i += 2;
        } else {
            putc(c, out);
        }
    }
}

static void put_thousands(FILE *out, intmax_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%jd", count);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            putc(',', out);
        putc(digits[i], out);
    }
}

static void put_us(FILE *out, double ns)
{
    double us = ns / 1000;

    if (us > 0)
        fprintf(out, "%.*f", us < 1000 ? 2 : us < 10000 ? 1 : 0, us);
    else
        fputs("–", out);
}

/* Print a conversion that printf has, too, and go on to the next argument. Whoever calls at_put has
 * a format that the compiler has checked. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
static void put_number(FILE *out, const char *conversion, va_list *args)
{
    size_t last = strlen(conversion) - 1;
    va_list copy;

    va_copy(copy, *args);
    vfprintf(out, conversion, copy);
    va_end(copy);
    if (conversion[last] == 'f' || conversion[last] == 'g')
        (void)va_arg(*args, double);
    else if (conversion[last - 1] == 'z')
        (void)va_arg(*args, size_t);
    else if (conversion[last - 1] == 'j')
        (void)va_arg(*args, intmax_t);
    else if (conversion[last] != '%')
        (void)va_arg(*args, int);
}
#pragma GCC diagnostic pop

static void put_conversion(FILE *out, const char *conversion, va_list *args)
{
    if (strcmp(conversion, "%s") == 0) {
        const char *text = va_arg(*args, const char *);

        put_text(out, text, strlen(text));
    } else if (strcmp(conversion, "%.*s") == 0) {
        size_t length = (size_t)va_arg(*args, int);

        put_text(out, va_arg(*args, const char *), length);
    } else if (strcmp(conversion, "%p") == 0) {
        fputs(va_arg(*args, const char *), out);
    } else if (strcmp(conversion, "%'jd") == 0) {
        put_thousands(out, va_arg(*args, intmax_t));
    } else if (strcmp(conversion, "%a") == 0) {
        put_us(out, va_arg(*args, double));
    } else {
        put_number(out, conversion, args);
    }
}

/* Print what is before the next conversion, which is returned. */
static const char *put_plain(FILE *out, const char *format)
{
    size_t length = strcspn(format, "%");

    fwrite(format, 1, length, out);
    return format + length;
}

void at_put(FILE *out, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    for (format = put_plain(out, format); *format; format = put_plain(out, format)) {
        size_t length = strcspn(format + 1, "acdfgpsux%") + 2;
        char conversion[16] = "";

        memcpy(conversion, format, length);
        put_conversion(out, conversion, &args);
        format += length;
    }
    va_end(args);
}

/* ---- tables ---- */

static void print_head(FILE *out, const char *head, size_t length)
{
    const char *colon = memchr(head, ':', length);
    size_t class = colon ? (size_t)(colon - head) : 0;

    if (colon)
        at_put(out, "<th class=\"%.*s\">%.*s</th>", (int)class, head, (int)(length - class - 1),
               colon + 1);
    else
        at_put(out, "<th>%.*s</th>", (int)length, head);
}

void at_html_table(FILE *out, const char *box, const char *table, const char *heads, ...)
{
    va_list args;
    char *text;

    va_start(args, heads);
    text = at_vformat(heads, args);
    va_end(args);
    if (box)
        at_put(out, "<div class=\"%s\">", box);
    at_put(out, table[0] ? "<table class=\"%s\"><thead><tr>" : "<table%s><thead><tr>", table);
    for (const char *head = text, *end = head; *end; head = end + 1) {
        end = head + strcspn(head, "|");
        print_head(out, head, (size_t)(end - head));
    }
    at_put(out, "</tr></thead><tbody>\n");
    free(text);
}

void at_html_table_end(FILE *out)
{
    at_put(out, "</tbody></table></div>\n");
}

/* ---- pages ---- */

/* The policy lets the page itself run, and forbids every request. The empty icon keeps browsers
 * from asking for one. */
void at_html_begin(FILE *out, const char *title)
{
    at_put(out,
           "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
           "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
           "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; "
           "form-action 'none'\">\n"
           "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
           "<meta name=\"color-scheme\" content=\"light dark\">\n"
           "<meta name=\"generator\" content=\"autotune " PACKAGE_VERSION "\">\n"
           "<link rel=\"icon\" href=\"data:,\">\n<title>%s</title>\n<style>\n%p%p</style>\n"
           "</head>\n<body>\n",
           title, at_asset_report_css, at_asset_picture_css);
}

void at_html_end(FILE *out)
{
    at_put(out, "<script>\n%p</script>\n</body>\n</html>\n", at_asset_report_js);
}
