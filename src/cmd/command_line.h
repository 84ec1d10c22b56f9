/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the command line of any command: its own options, and --quiet and --verbose. */
#ifndef AT_CMD_COMMAND_LINE_H
#define AT_CMD_COMMAND_LINE_H

#include "system/progress.h"

#include <argp.h>
#include <stdint.h>

/* argp_parse, with the flags that argp_parse takes. `options` is the input of the command's argp.
 * Sets *progress up as --quiet and --verbose want it; the last of them counts. */
void at_command_line(const struct argp *command, unsigned flags, int argc, char **argv,
                     void *options, struct at_progress *progress);

/* Parse a whole number from least to most. Another text ends the program with a usage message. */
int64_t at_parse_integer(struct argp_state *state, const char *option, const char *text,
                         int64_t least, int64_t most);

/* Parse a time of up to 1000 h: a whole number with its unit, ms, s, m or h. Return nanoseconds. */
int64_t at_parse_duration(struct argp_state *state, const char *option, const char *text);

/* A number of something, or else a time in nanoseconds. The other is 0. */
struct at_amount {
    int64_t count, ns;
};

/* Parse a whole number from 1 to most, or a time as at_parse_duration does. */
struct at_amount at_parse_amount(struct argp_state *state, const char *option, const char *text,
                                 int64_t most);

/* Parse a share of up to 1000 %, like 5, 5% or 0.5%; return thousandths. */
int64_t at_parse_percent(struct argp_state *state, const char *option, const char *text);

/* Take a command's only argument. A second one ends the program with a usage message; `what` is its
 * name there. */
void at_parse_only(struct argp_state *state, const char **argument, const char *text,
                   const char *what);

/* The path of a file that is read: standard input for "-". */
const char *at_given_file(const char *argument);

/* For an argp's help_filter. If an option's text ends with " {policies}" or another placeholder of
 * argument.c, it is replaced by ": " and the words of that table. */
char *at_help_filter(int key, const char *text, void *input);

#endif
