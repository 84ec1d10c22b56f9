/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that the formats make and cmake share; only their syntax differs. */
#ifndef AT_EXPORT_VARIABLES_H
#define AT_EXPORT_VARIABLES_H

#include "export/export.h"

/* Write the variable PREFIX_NAME, or PREFIX_NAME_PART unless part is NULL. The value needs no
 * quoting. If it is a list, it has blanks between the words. */
typedef void at_variable_writer(FILE *out, const char *prefix, const char *name, const char *part,
                                const char *value, bool is_list);

/* Write all variables:
 *   DEVICE, ARCH (sm_90), PROBLEMS (the keys), and for each key
 *   KEY_PROBLEM, KEY_FAMILY, KEY_DEFINES, KEY_GRID, KEY_BLOCK, KEY_SHARED_BYTES, KEY_CARVEOUT,
 *   KEY_WORD_COUNTS (of the kernel's arguments after dst and src), KEY_WORDS. */
void at_export_variables(const struct at_export *export, at_variable_writer *writer, FILE *out);

#endif
