/* SPDX-License-Identifier: Apache-2.0 */
/* Options that take one of a table's words. The table is the only place that names the words:
 * --help lists them, and a wrong word is answered with the known ones. */
#ifndef AT_OPTIONS_CHOICES_H
#define AT_OPTIONS_CHOICES_H

/* For an argp's help_filter. If an option's text ends with " {policies}" or another placeholder of
 * choices.c, it is replaced by ": " and the words of that table. */
char *at_help_filter(int key, const char *text, void *input);

#endif
