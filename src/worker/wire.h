/* SPDX-License-Identifier: Apache-2.0 */
/* Messages between the processes of one run, as bytes in native order: both ends are the same
 * executable on the same machine. Reading past the end or a length that does not fit sets `bad` and
 * yields zeroes, so that a reader checks once, at its end. */
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

/* A count of items of at least item_size encoded bytes each; more than can follow is bad. */
size_t at_wire_get_count(struct at_wire *wire, size_t item_size);

/* A view into the wire, valid until it is cleared. */
const void *at_wire_get_bytes(struct at_wire *wire, size_t *size);

/* Copies text into a buffer, cutting what does not fit. */
void at_wire_get_text(struct at_wire *wire, char *text, size_t capacity);

/* Copies exactly size bytes; another length is bad. For plain structs without pointers. */
void at_wire_get_struct(struct at_wire *wire, void *record, size_t size);

/* Everything was read, and nothing was bad. */
bool at_wire_done(const struct at_wire *wire);

#endif
