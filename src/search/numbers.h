/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of the guided search that were chosen by replay: tests/bench/choose-numbers compares
 * settings of them on recorded spaces. A result on a space on which they were chosen flatters them,
 * so for each kind of space there are also those that were chosen without it. */
#ifndef AT_SEARCH_NUMBERS_H
#define AT_SEARCH_NUMBERS_H

#include "base/error.h"

struct at_numbers {
    /* Without a warm start, random configs: of the initial design, and of a family at first, if
     * there are several families; among the first of a family that coverage takes; and of how many
     * draws such a config has the rarest values. */
    int random, first, covered, draws;
    /* In a space of several families, without a warm start: how many of six configs coverage
     * chooses, one in how many of these is for a family, not for a value, and how many configs must
     * have each value. */
    int cover, family_turns, values;
    /* Where nothing tells how much may be gained: after so many results without gain, neighbours
     * have half of the turns; so many fastest configs have neighbours; results without gain after
     * which the search ends if nothing is hoped for; and whatever is hoped for. */
    int around, centres, hopeless, patience;
};

extern const struct at_numbers at_numbers_chosen;

/* Numbers chosen without the spaces of a kind (at_recording_kind). */
struct at_held_out {
    const char *kind;
    struct at_numbers numbers;
};
extern const struct at_held_out at_held_out[]; /* ended by a NULL kind */

/* Return the numbers that were chosen without spaces of this kind; NULL: it was not among those on
 * which they were chosen. */
const struct at_numbers *at_numbers_without(const char *kind);

/* Change numbers by "NAME=VALUE,...", names as above. AT_USAGE; the numbers are then unchanged. */
enum at_status at_numbers_parse(struct at_numbers *numbers, const char *text, struct at_error *err);

#endif
