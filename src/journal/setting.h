/* SPDX-License-Identifier: Apache-2.0 */
/* Settings: the text of everything but problem and config that a time depends on, in parts. A
 * journal's runs are told apart by it, and a run that cannot go on from one says by which part. */
#ifndef AT_JOURNAL_SETTING_H
#define AT_JOURNAL_SETTING_H

#include <stdbool.h>

/* In the order of the text; each stands there after its name. */
enum at_setting_part {
    AT_SETTING_PROGRAM,
    AT_SETTING_DEVICE,
    AT_SETTING_DRIVER,
    AT_SETTING_COMPILER,
    AT_SETTING_OPTIONS, /* of the compiler */
    AT_SETTING_POLICY,
    AT_SETTING_PARTS,
};

/* "program 0.1.0; device ...; driver ..."; the caller frees it. */
char *at_setting_format(const char *const parts[AT_SETTING_PARTS]);

/* Are both of one device? */
bool at_setting_same_device(const char *a, const char *b);

/* "driver 570, now driver 580": the first part by which they differ; the caller frees it. */
char *at_setting_difference(const char *then, const char *now);

#endif
