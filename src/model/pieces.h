/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of sectors of global memory, and which of their bytes were touched. */
#ifndef AT_MODEL_PIECES_H
#define AT_MODEL_PIECES_H

#include <stddef.h>
#include <stdint.h>

struct at_piece {
    uint64_t sector;
    uint32_t bytes; /* a bit for each that was touched */
};

struct at_pieces {
    struct at_piece *items; /* the caller's to free */
    size_t count, capacity;
};

void at_pieces_add(struct at_pieces *pieces, uint64_t sector, uint32_t bytes);

/* Sorts, and makes one of the pieces of each sector. */
void at_pieces_join(struct at_pieces *pieces);

#endif
