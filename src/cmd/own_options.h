/* SPDX-License-Identifier: Apache-2.0 */
/* The options that say how to launch a kernel in a CUDA file of the user. */
#ifndef AT_CMD_OWN_OPTIONS_H
#define AT_CMD_OWN_OPTIONS_H

#include "cmd/command_line.h"
#include "explain/own_kernel.h"

#include <stdbool.h>

/* A launch, with its own list of arguments. */
struct at_own_options_row {
    struct at_own_launch launch;
    const char **arguments; /* owned array of borrowed text */
    size_t capacity;
};

/* Rows: one for each --entry, with the options after it. The options before the first --entry are
 * in rows[0], which has no entry. */
struct at_own_options {
    struct at_own_options_row *rows;
    size_t count, capacity;
    struct at_source_options source;
};

/* The options of a zeroed struct at_own_options, which is to be cleared. */
extern const struct at_option at_own_table[];
void at_own_options_clear(struct at_own_options *options);

/* When all are parsed: let the rows inherit what was said before the first --entry. */
void at_own_options_settle(struct at_own_options *options);

/* AT_USAGE if any of these options was given: there is no CUDA file for the command. */
enum at_status at_own_options_refuse(const struct at_own_options *options, const char *command,
                                     struct at_error *err);

/* Add a macro as --define has it: its name is a word of C, and its value does not go on in the
 * file.
 */
#define AT_ADDS_DEFINE(of, member) AT_SETS(of, member, struct at_texts), AT_CALLS(at_take_define)
enum at_status at_take_define(void *options, const struct at_option *option, const char *text,
                              struct at_error *err);

/* Is it the name of a CUDA file: does it end in .cu, or is it - for standard input? */
bool at_is_own_file(const char *name);

#endif
