/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_OPTIONS_FORMAT_H
#define AT_OPTIONS_FORMAT_H

#include "base/error.h"
#include "schema/schema.h"

#include <argp.h>
#include <stdbool.h>

/* Output for people or for programs. */
enum at_output_format { AT_FORMAT_TABLE, AT_FORMAT_JSON };

/* For a parser's --format: ends the program with a usage message for another word. */
enum at_output_format at_parse_format(struct argp_state *state, const char *word);

/* May stdout have colours? A terminal, and no NO_COLOR (no-color.org). */
bool at_stdout_color(void);

/* Prints a record as JSON. A failure to write shows when the program ends, as for all output. */
enum at_status at_print_json(const struct at_schema *schema, const void *record,
                             struct at_error *err);

#endif
