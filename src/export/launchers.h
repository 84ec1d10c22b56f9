/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that launch exported kernels: cu.c defines them, cu_header.c declares them. */
#ifndef AT_EXPORT_LAUNCHERS_H
#define AT_EXPORT_LAUNCHERS_H

#include "export/export.h"

/* Write their prototypes for C and C++. */
void at_export_write_prototypes(const struct at_export *export, FILE *out);

#endif
