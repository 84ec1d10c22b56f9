/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of single values. A reader starts with the first event of its value as the current one
 * and leaves the last one so; it writes to the field's slot, or to an item of its list. */
#ifndef AT_SCHEMA_SCALARS_H
#define AT_SCHEMA_SCALARS_H

#include "schema/events.h"
#include "schema/schema.h"

typedef enum at_status at_read_fn(struct at_events *in, const struct at_field *field, void *slot);

at_read_fn at_read_int;
at_read_fn at_read_chars;
at_read_fn at_read_text;
at_read_fn at_read_word;
at_read_fn at_read_located;
at_read_fn at_read_integer_item; /* any integer: a list's bounds are for their number */

/* "WHAT: expected EXPECTED, found what the current event is". */
enum at_status at_fail_expected(const struct at_events *in, const char *what, const char *expected);

#endif
