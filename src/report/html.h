/* SPDX-License-Identifier: Apache-2.0 */
/* Writes HTML, SVG and Markdown. Names from files are hostile, so each is escaped on its way. */
#ifndef AT_REPORT_HTML_H
#define AT_REPORT_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Texts that a writer keeps at a time. */
enum { AT_HTML_TEXTS = 16 };

/* Begin with {.file = file}; at_html_close frees the rest, but does not close the file. */
struct at_html {
    FILE *file;
    char *texts[AT_HTML_TEXTS];
    size_t made;
};
void at_html_close(struct at_html *out);

/* Print as printf does. Texts are made for it by the functions below, which return them. The writer
 * keeps the last AT_HTML_TEXTS of them. */
void at_put(struct at_html *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Text as HTML or XML, also within double quotes; and its first `length` bytes. */
const char *at_escape(struct at_html *out, const char *text);
const char *at_escape_part(struct at_html *out, const char *text, size_t length);

/* Text as a cell of a Markdown table; and as code there, with ? for what would end it. */
const char *at_markdown(struct at_html *out, const char *text);
const char *at_markdown_code(struct at_html *out, const char *text);

/* A whole number with commas between thousands. */
const char *at_thousands(struct at_html *out, int64_t count);

/* A time in microseconds with three digits or two decimals, without its unit. */
const char *at_us(struct at_html *out, double ns);

/* Begin a table within a box of these classes; NULL: within a <div> that the caller has begun.
 * `heads`, formatted as by printf, are separated by '|', and a class may stand before each:
 * "problem|name:kernel". */
void at_table_begin(struct at_html *out, const char *box, const char *table, const char *heads, ...)
    __attribute__((format(printf, 4, 5)));
void at_table_end(struct at_html *out);

/* Begin a page: its head with style, and the open body. End it, with the script. */
void at_html_begin(struct at_html *out, const char *title);
void at_html_end(struct at_html *out);

/* The same, with a heading below a smaller line that names the command; the program that made it
 * stands at the end. */
void at_html_begin_page(struct at_html *out, const char *command, const char *title);
void at_html_end_page(struct at_html *out);

/* The style of pictures, for those outside of a page. */
void at_html_picture_style(struct at_html *out);

/* report.css, picture.css and report.js, embedded when the program is built: see assets.awk. */
extern const char at_asset_style[], at_asset_picture[], at_asset_script[];
extern const size_t at_asset_style_size, at_asset_picture_size, at_asset_script_size;

#endif
