/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the processes of one run, in native byte order: both ends are the same
 * executable on the same machine. Reading past the end, or a length that does not fit, sets `bad`
 * and yields zeroes. So a reader checks once, at the end. */
#ifndef AT_WORKER_WIRE_H
#define AT_WORKER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_wire {
    unsigned char *bytes; /* owned */
    size_t size, capacity;
    size_t position; /* of the next read */
    bool bad;
};

void at_wire_clear(struct at_wire *wire);

void at_wire_put_int(struct at_wire *wire, int64_t value);
void at_wire_put_real(struct at_wire *wire, double value);
void at_wire_put_bytes(struct at_wire *wire, const void *bytes, size_t size);
void at_wire_put_text(struct at_wire *wire, const char *text);

int64_t at_wire_get_int(struct at_wire *wire);
double at_wire_get_real(struct at_wire *wire);

/* Read a count of items of at least item_size encoded bytes each. A count that does not fit the
 * rest of the message is bad. */
size_t at_wire_get_count(struct at_wire *wire, size_t item_size);

/* Returns a view into the wire, valid until it is cleared. */
const void *at_wire_get_bytes(struct at_wire *wire, size_t *size);

/* Copy text into a buffer; text that does not fit is truncated. */
void at_wire_get_text(struct at_wire *wire, char *text, size_t capacity);

/* Copy exactly size bytes; another length is bad. For plain structs without pointers. */
void at_wire_get_struct(struct at_wire *wire, void *record, size_t size);

/* Was everything read, and nothing bad? */
bool at_wire_done(const struct at_wire *wire);

#endif
