/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of sectors of global memory, with the bytes touched in each. */
#ifndef AT_MODEL_PIECES_H
#define AT_MODEL_PIECES_H

#include <stddef.h>
#include <stdint.h>

struct at_piece {
    uint64_t sector;
    uint32_t bytes; /* a bit per byte touched */
};

struct at_pieces {
    struct at_piece *items; /* the caller frees them */
    size_t count, capacity;
};

void at_pieces_add(struct at_pieces *pieces, uint64_t sector, uint32_t bytes);

/* Sorts the pieces and joins those of the same sector. */
void at_pieces_join(struct at_pieces *pieces);

#endif
