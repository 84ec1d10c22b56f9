/* SPDX-License-Identifier: Apache-2.0 */
/* Written by tests/bench/choose-numbers. */
#include "search/numbers.h"

#include <stddef.h>

/* clang-format off */
const struct at_held_out at_held_out[] = {
    {"additive", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 0, .centres = 8, .hopeless = 200, .patience = 400}},
    {"b1", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 30, .centres = 8, .hopeless = 200, .patience = 400}},
    {"b16", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 3, .family_turns = 6, .values = 3, .around = 30, .centres = 8, .hopeless = 200, .patience = 400}},
    {"b2", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 30, .centres = 8, .hopeless = 200, .patience = 400}},
    {"b4", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 30, .centres = 8, .hopeless = 200, .patience = 400}},
    {"b8", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 30, .centres = 8, .hopeless = 200, .patience = 400}},
    {"cn_pnpoly", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 0, .centres = 8, .hopeless = 200, .patience = 400}},
    {"convolution_kernel", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 0, .centres = 8, .hopeless = 200, .patience = 400}},
    {"dedispersion_kernel", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 0, .centres = 8, .hopeless = 200, .patience = 400}},
    {"interacting", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 30, .centres = 8, .hopeless = 150, .patience = 400}},
    {"invalid", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 30, .centres = 8, .hopeless = 150, .patience = 400}},
    {"needle", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 0, .centres = 8, .hopeless = 200, .patience = 400}},
    {"noisy", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 0, .centres = 8, .hopeless = 200, .patience = 400}},
    {"plateau", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 0, .centres = 8, .hopeless = 200, .patience = 400}},
    {"valley", {.random = 2, .first = 3, .covered = 12, .draws = 3, .cover = 6, .family_turns = 6, .values = 3, .around = 0, .centres = 8, .hopeless = 200, .patience = 400}},
    {.kind = NULL},
};
