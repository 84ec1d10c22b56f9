/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_OPTIONS_FORMAT_H
#define AT_OPTIONS_FORMAT_H

#include "base/choice.h"
#include "schema/schema.h"

#include <argp.h>
#include <stdbool.h>

/* How a result is printed: for people or for programs. */
enum at_output_format { AT_FORMAT_TABLE, AT_FORMAT_JSON };
at_choice_fn at_format_choice;

/* Parse the argument of --format. An unknown word ends the program with a usage message. */
enum at_output_format at_parse_format(struct argp_state *state, const char *word);

/* May standard output have colours? It must be a terminal, without NO_COLOR (no-color.org). */
bool at_stdout_color(void);

/* Print a record as JSON. A failed write is reported when the program ends, as for all output. */
enum at_status at_print_json(const struct at_schema *schema, const void *record,
                             struct at_error *err);

#endif
