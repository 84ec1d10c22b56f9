/* SPDX-License-Identifier: Apache-2.0 */
/* The options that say how to launch a kernel in a CUDA file of the user. */
#ifndef AT_CMD_OWN_OPTIONS_H
#define AT_CMD_OWN_OPTIONS_H

#include "explain/own_kernel.h"

#include <argp.h>
#include <stdbool.h>

/* A launch, with its own list of arguments. */
struct at_own_options_row {
    struct at_own_launch launch;
    const char **arguments; /* owned array of borrowed text */
    size_t capacity;
};

/* Rows: one for each --entry, with the options after it. The options before the first --entry are
 * in rows[0], which has no entry. When all are parsed, the other rows inherit them. */
struct at_own_options {
    struct at_own_options_row *rows;
    size_t count, capacity;
    struct at_include_dirs dirs;
    bool given; /* any of the options */
};

/* A child of a command's argp. Its input is a zeroed struct at_own_options, to be cleared. */
extern const struct argp at_own_argp;
void at_own_options_clear(struct at_own_options *options);

/* If any of these options was given, end the program with a usage message: there is no CUDA file.
 */
void at_own_options_refuse(struct argp_state *state, const struct at_own_options *options);

/* Is it the name of a CUDA file: does it end in .cu? */
bool at_is_own_file(const char *name);

#endif
