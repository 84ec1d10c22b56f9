/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels that lookup chooses for a device: what export writes, and cache --fill compiles. */
#ifndef AT_CMD_CHOSEN_H
#define AT_CMD_CHOSEN_H

#include "cmd/run_options.h"
#include "export/export.h"

struct at_chosen {
    struct at_profiles profiles;
    struct at_target *targets;
    size_t target_count;
    struct at_lookup *lookup;
    struct at_export export; /* borrows from the rest */
};

/* Choose kernels for the devices that the options name, or else for the one that their file is
 * about: those of their problems, or else of all that were tuned on one of them. AT_USAGE: two
 * devices have one compute capability, by which programs tell them apart. The export has its
 * prefix. The caller clears what a failure leaves, too. */
enum at_status at_chosen_find(struct at_chosen *chosen, struct at_lookup_options *options,
                              struct at_error *err);
void at_chosen_clear(struct at_chosen *chosen);

#endif
