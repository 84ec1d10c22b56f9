/* SPDX-License-Identifier: Apache-2.0 */
/* The output of a launch. */
#ifndef AT_EMULATED_MACHINE_PRINT_H
#define AT_EMULATED_MACHINE_PRINT_H

#include "emulated/machine/warp.h"

/* The text that a block has printed; only a part of it may be kept: machine.h. */
struct at_emu_output {
    uint64_t turn; /* the block's, in the order of the launch */
    char *text;
};
struct at_emu_prints {
    struct at_emu_output *items;
    size_t count, capacity, bytes;
    size_t left_out; /* lines */
};

/* Take the output of a block. */
void at_emu_print_take(struct at_emu_prints *prints, struct at_emu_block *block, uint64_t turn);

/* Pass all on to the printer, and free it. */
void at_emu_print_all(const struct at_emu_printer *printer, struct at_emu_prints *prints);

#endif
