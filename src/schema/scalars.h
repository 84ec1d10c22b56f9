/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of single values. The current event is the first of the value when a reader starts, and
 * the last one when it returns. It writes to the field's slot, or to an item of its list. */
#ifndef AT_SCHEMA_SCALARS_H
#define AT_SCHEMA_SCALARS_H

#include "schema/events.h"
#include "schema/schema.h"

typedef enum at_status at_read_fn(struct at_events *in, const struct at_field *field, void *slot);

at_read_fn at_read_int;
at_read_fn at_read_hex;
at_read_fn at_read_flag;
at_read_fn at_read_choice;
at_read_fn at_read_chars;
at_read_fn at_read_text;
at_read_fn at_read_word;
at_read_fn at_read_located;
at_read_fn at_read_integer_item; /* any integer: the field's bounds limit the number of items */

/* Fail with "WHAT: expected EXPECTED, found ...", which describes the current event. */
enum at_status at_fail_expected(const struct at_events *in, const char *what, const char *expected);

#endif
