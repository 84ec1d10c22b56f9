/* SPDX-License-Identifier: Apache-2.0 */
/* The option --shard: I/N, or auto, which asks the environment that a launcher makes. */
#ifndef AT_OPTIONS_SHARE_OPTION_H
#define AT_OPTIONS_SHARE_OPTION_H

#include "problem/share.h"

/* Read the option's text. *launcher is the name of the launcher that said it, NULL for I/N.
 * AT_USAGE for another text; for auto also without a launcher, if a variable is missing or makes no
 * sense, and if both an array and a launcher within its task would deal. */
enum at_status at_share_option(struct at_share *share, const char **launcher, const char *text,
                               struct at_error *err);

#endif
