/* SPDX-License-Identifier: Apache-2.0 */
/* Times and numbers that options take. A refused time is answered with the one that was meant. */
#ifndef AT_CMD_AMOUNT_H
#define AT_CMD_AMOUNT_H

#include "base/error.h"

#include <stdint.h>

/* A number of something, or else a time in nanoseconds. The other is 0. */
struct at_amount {
    int64_t count, ns;
};

/* Read a time up to 1000 h, like 50ms or 2s; a time or a number of seconds, up to an hour; or a
 * whole number from 1 to most, or a time. The message names the option. */
enum at_status at_time_parse(int64_t *ns, const char *option, const char *text,
                             struct at_error *err);
enum at_status at_seconds_parse(int64_t *ns, const char *option, const char *text,
                                struct at_error *err);
enum at_status at_amount_parse(struct at_amount *amount, const char *option, const char *text,
                               int64_t most, struct at_error *err);

/* Write a time of whole milliseconds as options take it: in the longest unit that needs no
 * fraction, such as 90m for an hour and a half. The caller frees it. */
char *at_time_format(int64_t ns);

#endif
