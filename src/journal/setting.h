/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: a text with all that a time depends on besides problem and config, in parts. A run can
 * resume one with the same setting only; otherwise the message names the first part that differs.
 */
#ifndef AT_JOURNAL_SETTING_H
#define AT_JOURNAL_SETTING_H

#include <stdbool.h>

/* In the order of the text, in which each follows its name. */
enum at_setting_part {
    AT_SETTING_PROGRAM,
    AT_SETTING_DEVICE,
    AT_SETTING_DRIVER,
    AT_SETTING_COMPILER,
    AT_SETTING_OPTIONS, /* of the compiler */
    AT_SETTING_POLICY,
    AT_SETTING_PARTS,
};

/* Join the parts: "program 0.1.0; device ...; driver ..."; the caller frees it. */
char *at_setting_format(const char *const parts[AT_SETTING_PARTS]);

/* A part of a setting, without its name: "cold l2 x3 train 1000000 ns"; the caller frees it. "" if
 * the text has too few parts. */
char *at_setting_part(const char *setting, enum at_setting_part part);

/* Are both settings of the same device? */
bool at_setting_same_device(const char *a, const char *b);

/* Describe the first part that differs: "driver 570, now driver 580"; the caller frees it. */
char *at_setting_difference(const char *then, const char *now);

#endif
