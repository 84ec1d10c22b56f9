/* SPDX-License-Identifier: Apache-2.0 */
#include "worker/wire.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

void at_wire_clear(struct at_wire *wire)
{
    at_free(wire->bytes);
    *wire = (struct at_wire){0};
}

static void append(struct at_wire *wire, const void *bytes, size_t size)
{
    if (wire->capacity - wire->size < size) {
        size_t needed = wire->size + size;
        unsigned char *larger;

        wire->capacity = needed > 2 * wire->capacity ? needed : 2 * wire->capacity;
        larger = at_alloc(wire->capacity);
        if (wire->size)
            memcpy(larger, wire->bytes, wire->size);
        at_free(wire->bytes);
        wire->bytes = larger;
    }
    if (size)
        memcpy(wire->bytes + wire->size, bytes, size);
    wire->size += size;
}

void at_wire_put_int(struct at_wire *wire, int64_t value)
{
    append(wire, &value, sizeof value);
}

void at_wire_put_real(struct at_wire *wire, double value)
{
    append(wire, &value, sizeof value);
}

void at_wire_put_bytes(struct at_wire *wire, const void *bytes, size_t size)
{
    at_wire_put_int(wire, (int64_t)size);
    append(wire, bytes, size);
}

void at_wire_put_text(struct at_wire *wire, const char *text)
{
    at_wire_put_bytes(wire, text, strlen(text));
}

static const void *take(struct at_wire *wire, size_t size)
{
    const unsigned char *here;

    if (wire->bad || wire->size - wire->position < size) {
        wire->bad = true;
        return NULL;
    }
    here = wire->bytes + wire->position;
    wire->position += size;
    return here;
}

int64_t at_wire_get_int(struct at_wire *wire)
{
    const void *here = take(wire, sizeof(int64_t));
    int64_t value = 0;

    if (here)
        memcpy(&value, here, sizeof value);
    return value;
}

double at_wire_get_real(struct at_wire *wire)
{
    const void *here = take(wire, sizeof(double));
    double value = 0;

    if (here)
        memcpy(&value, here, sizeof value);
    return value;
}

size_t at_wire_get_count(struct at_wire *wire, size_t item_size)
{
    int64_t count = at_wire_get_int(wire);

    if (count < 0 || (uint64_t)count > (wire->size - wire->position) / item_size) {
        wire->bad = true;
        return 0;
    }
    return (size_t)count;
}

const void *at_wire_get_bytes(struct at_wire *wire, size_t *size)
{
    *size = at_wire_get_count(wire, 1);
    return take(wire, *size);
}

void at_wire_get_text(struct at_wire *wire, char *text, size_t capacity)
{
    size_t size;
    const void *here = at_wire_get_bytes(wire, &size);

    if (!here)
        size = 0;
    if (size >= capacity)
        size = capacity - 1;
    if (size)
        memcpy(text, here, size);
    text[size] = '\0';
}

void at_wire_get_struct(struct at_wire *wire, void *record, size_t size)
{
    size_t got;
    const void *here = at_wire_get_bytes(wire, &got);

    if (!here || got != size) {
        wire->bad = true;
        memset(record, 0, size);
    } else {
        memcpy(record, here, size);
    }
}

bool at_wire_done(const struct at_wire *wire)
{
    return !wire->bad && wire->position == wire->size;
}
