/* SPDX-License-Identifier: Apache-2.0 */
/* Writes HTML and SVG. Names from files are hostile, so all text is escaped on its way. */
#ifndef AT_REPORT_HTML_H
#define AT_REPORT_HTML_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Print as printf does, but for these:
 * %s    text, escaped for HTML and XML, also within double quotes
 * %p    a char *: markup, as it is
 * %'jd  a whole number with commas between thousands
 * %a    a time in nanoseconds as microseconds, with three digits or two decimals; 0: unknown */
void at_put(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Begin a table within a box of these classes; NULL: within a <div> that the caller has begun.
 * `heads`, formatted as by printf, are separated by '|', and a class may stand before each:
 * "problem|name:kernel". */
void at_html_table(FILE *out, const char *box, const char *table, const char *heads, ...)
    __attribute__((format(printf, 4, 5)));
void at_html_table_end(FILE *out);

/* Begin a page: its head with style, and the open body. End it, with the script. */
void at_html_begin(FILE *out, const char *title);
void at_html_end(FILE *out);

/* report.css, picture.css and report.js, embedded when the program is built: see assets.awk. */
extern const char at_asset_report_css[], at_asset_picture_css[], at_asset_report_js[];

#endif
