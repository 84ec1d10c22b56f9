/* SPDX-License-Identifier: Apache-2.0 */
/* Text within HTML, SVG, JSON and Markdown: names from files are hostile. */
#ifndef AT_REPORT_HTML_H
#define AT_REPORT_HTML_H

#include <stdint.h>
#include <stdio.h>

/* Print text as HTML or XML, also within double quotes. */
void at_html(FILE *out, const char *text);

/* Print text as a JSON string, with its quotes, that cannot end a script element. */
void at_html_json(FILE *out, const char *text);

/* Print text as a cell of a Markdown table. */
void at_markdown(FILE *out, const char *text);

/* Print text as code within such a cell, with ? for what would end it. */
void at_markdown_code(FILE *out, const char *text);

/* Print a whole number with commas between thousands. */
void at_html_count(FILE *out, int64_t count);

/* Print a time in microseconds with three digits or two decimals, without its unit. */
void at_html_us(FILE *out, double ns);

/* Begin a page: its head with style, and the open body. End it, with the script. */
void at_html_begin(FILE *out, const char *title);
void at_html_end(FILE *out);

/* The same, with a heading below a smaller line that names the command; the program that made it
 * stands at the end. */
void at_html_begin_page(FILE *out, const char *command, const char *title);
void at_html_end_page(FILE *out);

/* The style of pictures, for those outside of a page. */
void at_html_picture_style(FILE *out);

#endif
