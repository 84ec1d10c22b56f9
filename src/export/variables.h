/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of a build: what make and CMake get, which differ in how a variable is written. */
#ifndef AT_EXPORT_VARIABLES_H
#define AT_EXPORT_VARIABLES_H

#include "export/export.h"

/* Writes one variable: AUTOTUNE_ and the name, which may end in _ and a second part (or NULL). The
 * value is text without anything to be quoted: words with blanks between them. */
typedef void at_variable_writer(FILE *out, const char *name, const char *part, const char *value);

/* Writes all variables:
 *   DEVICE, ARCH (sm_90), PROBLEMS (the keys), and for each key
 *   KEY_FAMILY, KEY_DEFINES, KEY_GRID, KEY_BLOCK, KEY_SHARED_BYTES, KEY_CARVEOUT. */
void at_export_variables(const struct at_export *export, at_variable_writer *writer, FILE *out);

#endif
