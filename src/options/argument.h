/* SPDX-License-Identifier: Apache-2.0 */
/* The argument of an option: a whole number, or a word of a table. Only the table names its words:
 * --help lists them, and completion and the manual page follow. */
#ifndef AT_OPTIONS_ARGUMENT_H
#define AT_OPTIONS_ARGUMENT_H

#include <argp.h>
#include <stdint.h>

/* Parse a whole number from least to most. Another text ends the program with a usage message. */
int64_t at_parse_integer(struct argp_state *state, const char *option, const char *text,
                         int64_t least, int64_t most);

/* Parse a time of up to a day, a whole number with its unit, like 50ms or 2s; return nanoseconds.
 */
int64_t at_parse_duration(struct argp_state *state, const char *option, const char *text);

/* Take a command's only argument. A second one ends the program with a usage message; `what` is its
 * name there. */
void at_parse_only(struct argp_state *state, const char **argument, const char *text,
                   const char *what);

/* For an argp's help_filter. If an option's text ends with " {policies}" or another placeholder of
 * argument.c, it is replaced by ": " and the words of that table. */
char *at_help_filter(int key, const char *text, void *input);

#endif
