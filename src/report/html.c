/* SPDX-License-Identifier: Apache-2.0 */
#include "report/html.h"

#include "report/assets.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

/* XML has no U+FFFE and U+FFFF. at_text_is_printable has refused control characters. */
static bool is_no_character(const char *c)
{
    return memcmp(c, "\xef\xbf\xbe", 3) == 0 || memcmp(c, "\xef\xbf\xbf", 3) == 0;
}

void at_html(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++)
        switch (*c) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\'':
            fputs("&#39;", out);
            break;
        case '\xef':
            if (strlen(c) >= 3 && is_no_character(c)) {
                putc('?', out);
                c += 2;
                break;
            }
            /* fallthrough */
        default:
            putc(*c, out);
        }
}

void at_html_json(FILE *out, const char *text)
{
    putc('"', out);
    for (const char *c = text; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c == '<' || *c == '>' || *c == '&' || (unsigned char)*c < ' ' || *c == 0x7f)
            fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
        else
            putc(*c, out);
    putc('"', out);
}

void at_markdown(FILE *out, const char *text)
{
    for (const char *c = text; *c; c++)
        if (strchr("\\`*_{}[]<>#|~!&@", *c))
            fprintf(out, "&#%d;", *c);
        else
            putc(*c, out);
}

void at_markdown_code(FILE *out, const char *text)
{
    putc('`', out);
    for (const char *c = text; *c; c++)
        putc(*c == '`' || *c == '|' ? '?' : *c, out);
    putc('`', out);
}

void at_html_count(FILE *out, int64_t count)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRId64, count);

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0 && digits[i - 1] != '-')
            putc(',', out);
        putc(digits[i], out);
    }
}

void at_html_us(FILE *out, double ns)
{
    double us = ns / 1000;

    fprintf(out, "%.*f", us < 1000 ? 2 : us < 10000 ? 1 : 0, us);
}

void at_html_picture_style(FILE *out)
{
    fwrite(at_asset_picture, 1, at_asset_picture_size, out);
}

/* The policy lets the page itself run, and forbids every request. The empty icon keeps browsers
 * from asking for one. */
void at_html_begin(FILE *out, const char *title)
{
    fputs(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
        "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action "
        "'none'\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n"
        "<meta name=\"generator\" content=\"autotune " PACKAGE_VERSION "\">\n"
        "<link rel=\"icon\" href=\"data:,\">\n<title>",
        out);
    at_html(out, title);
    fputs("</title>\n<style>\n", out);
    fwrite(at_asset_style, 1, at_asset_style_size, out);
    at_html_picture_style(out);
    fputs("</style>\n</head>\n<body>\n", out);
}

void at_html_end(FILE *out)
{
    fputs("<script>\n", out);
    fwrite(at_asset_script, 1, at_asset_script_size, out);
    fputs("</script>\n</body>\n</html>\n", out);
}

void at_html_begin_page(FILE *out, const char *command, const char *title)
{
    at_html_begin(out, title);
    fprintf(out, "<header><p class=\"kicker\">%s</p><h1>", command);
    at_html(out, title);
    fputs("</h1></header>\n<main>\n", out);
}

void at_html_end_page(FILE *out)
{
    fputs("</main>\n<footer><p class=\"small\">Made by autotune " PACKAGE_VERSION
          "; no request leaves this page.</p></footer>\n",
          out);
    at_html_end(out);
}
