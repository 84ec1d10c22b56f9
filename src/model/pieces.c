/* SPDX-License-Identifier: Apache-2.0 */
#include "model/pieces.h"

#include "base/memory.h"

#include <stdlib.h>

void at_pieces_add(struct at_pieces *pieces, uint64_t sector, uint32_t bytes)
{
    const struct at_piece piece = {sector, bytes};

    AT_PUSH(pieces->items, pieces->count, pieces->capacity, piece);
}

static int by_sector(const void *left, const void *right)
{
    uint64_t a = ((const struct at_piece *)left)->sector;
    uint64_t b = ((const struct at_piece *)right)->sector;

    return (a > b) - (a < b);
}

void at_pieces_join(struct at_pieces *pieces)
{
    size_t kept = 0;

    if (pieces->count > 0)
        qsort(pieces->items, pieces->count, sizeof pieces->items[0], by_sector);
    for (size_t i = 0; i < pieces->count; i++) {
        if (kept > 0 && pieces->items[kept - 1].sector == pieces->items[i].sector)
            pieces->items[kept - 1].bytes |= pieces->items[i].bytes;
        else
            pieces->items[kept++] = pieces->items[i];
    }
    pieces->count = kept;
}
