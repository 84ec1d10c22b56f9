/* SPDX-License-Identifier: Apache-2.0 */
/* What a mistyped argument was meant to be. Guesses stand in messages only: none is acted on. */
#ifndef AT_CMD_GUESS_H
#define AT_CMD_GUESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Return the problem that was meant, in the form that at_problem_parse takes: 64x64:f32 for 64*64,
 * (64, 64):f32 or f32:64x64. The caller frees it. NULL: there is no guess. */
char *at_guess_problem(const char *spec);

/* Put the guess, which is freed, behind the message. Returns err's status. */
enum at_status at_guess_advise(struct at_error *err, char *guess);

/* Is the argument a problem, right or wrong, rather than the name of a file? A word with a type is
 * one. So is another that looks like one, if there is no such file. */
bool at_guess_is_problem(const char *argument);

#endif
