/* SPDX-License-Identifier: Apache-2.0 */
/* How a result is printed: as a table for people, or for programs. */
#ifndef AT_CMD_FORMAT_H
#define AT_CMD_FORMAT_H

#include "base/choice.h"
#include "base/table.h"
#include "schema/print.h"

#include <argp.h>
#include <stdbool.h>

at_choice_fn at_format_choice;

/* Parse the argument of --format. An unknown word ends the program with a usage message. */
enum at_output_format at_parse_format(struct argp_state *state, const char *word);

/* The form of a table; not for JSON. */
enum at_table_form at_table_form(enum at_output_format format);

/* Print a table in a format other than JSON, and clear it. */
void at_print_table(struct at_table *table, enum at_output_format format);

/* May standard output have colours? It must be a terminal that is not dumb, without NO_COLOR
 * (no-color.org). */
bool at_stdout_color(void);

/* Print a record as JSON. A failed write is reported when the program ends, as for all output. */
enum at_status at_print_json(const struct at_schema *schema, const void *record,
                             struct at_error *err);

#endif
