/* SPDX-License-Identifier: Apache-2.0 */
/* Templates as the text of an exported file, which is as short as the compiler lets it be: without
 * comments, and with one text for kernels that differ in the values of macros alone. */
#ifndef AT_EXPORT_KERNELS_H
#define AT_EXPORT_KERNELS_H

#include "export/export.h"
#include "kernel/render.h"

/* Name a kernel by the number of the first item that uses it. */
void at_export_name_kernel(char name[AT_ENTRY_NAME_CHARS], size_t kernel);

/* Write the header that templates share, as far as the kernels need it. AT_USAGE: it is missing. */
enum at_status at_export_write_header(const struct at_export *export, FILE *out,
                                      struct at_error *err);

/* Write each kernel into a namespace of its own, as name_source::name. */
void at_export_write_kernels(const struct at_export *export, FILE *out);

#endif
