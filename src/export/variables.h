/* SPDX-License-Identifier: Apache-2.0 */
/* The variables that the formats make and cmake share; only their syntax differs. */
#ifndef AT_EXPORT_VARIABLES_H
#define AT_EXPORT_VARIABLES_H

#include "export/export.h"

/* Write the variable AUTOTUNE_NAME, or AUTOTUNE_NAME_PART unless part is NULL. The value is words
 * with blanks between them, which need no quoting. */
typedef void at_variable_writer(FILE *out, const char *name, const char *part, const char *value);

/* Write all variables:
 *   DEVICE, ARCH (sm_90), PROBLEMS (the keys), and for each key
 *   KEY_FAMILY, KEY_DEFINES, KEY_GRID, KEY_BLOCK, KEY_SHARED_BYTES, KEY_CARVEOUT. */
void at_export_variables(const struct at_export *export, at_variable_writer *writer, FILE *out);

#endif
