/* SPDX-License-Identifier: Apache-2.0 */
/* What show.c and show_heading.c share. */
#ifndef AT_PROFILE_SHOW_H
#define AT_PROFILE_SHOW_H

#include "profile/profile.h"

enum { AT_SHOW_WIDTH = 80, AT_SHOW_LABEL_WIDTH = 15, AT_SHOW_CELL_CHARS = 192 };

enum { AT_SHOW_NOISY_PERMILLE = 50 }; /* spread of a time that is called noisy */

struct at_show_style {
    const char *strong, *faint, *plain;
};

/* Format value / unit, rounded to `decimals`. printf's %f would use the locale's decimal point. */
char *at_show_fixed(char cell[AT_SHOW_CELL_CHARS], int64_t value, int64_t unit, int decimals);

/* What is known of one model of device under one policy: all its problems, and the records that
 * they are from, with different software. */
struct at_show_section {
    const struct at_device_record **records; /* borrowed; the newest software last */
    size_t count;
    struct at_list problems; /* of struct at_entry, borrowed */
};

/* Print the device, and what is the same for all its problems. */
void at_show_heading(const struct at_show_section *section, const struct at_show_style *style,
                     FILE *out);

#endif
