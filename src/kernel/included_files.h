/* SPDX-License-Identifier: Apache-2.0 */
/* The files that a user's CUDA file includes. It may come from a stranger, and a compiler's message
 * or the kernel itself could show what they hold. */
#ifndef AT_KERNEL_INCLUDED_FILES_H
#define AT_KERNEL_INCLUDED_FILES_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* What may be included lies in these folders or below. All is borrowed. */
struct at_include_folders {
    const char *const *own; /* absolute: the file's, then those of --include-dir */
    size_t own_count;
    const char *const *cuda; /* of CUDA's headers */
    size_t cuda_count;
};

/* What a message says of a file that may not be included. */
#define AT_INCLUDE_FOLDERS                                                                         \
    "a file includes what lies in its own folder, in those of --include-dir, and CUDA's headers"

/* Look at all #include directives of a text, and of the files in its own folders that these name,
 * be they in #if or in a comment. Each file is only opened if it is a regular one. `alone`: no
 * other guard keeps the compiler from files outside of the folders, so directives that name one are
 * refused, and so are directives with a macro, since its value is not known here. AT_FAILED: a
 * directive is refused; the message has the file, called `name` if it is the text, and the line. */
enum at_status at_included_files_check(const char *name, const char *text,
                                       const struct at_include_folders *folders, bool alone,
                                       struct at_error *err);

#endif
