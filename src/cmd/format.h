/* SPDX-License-Identifier: Apache-2.0 */
/* How a result is printed: as a table for people, or for programs. */
#ifndef AT_CMD_FORMAT_H
#define AT_CMD_FORMAT_H

#include "base/choice.h"
#include "schema/print.h"

#include <stdbool.h>

at_choice_fn at_format_choice;

/* May standard output have colours? It must be a terminal that is not dumb, without NO_COLOR
 * (no-color.org). */
bool at_stdout_color(void);

#endif
