/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries that a machine may lack. They are opened at run time, so that the program starts
 * without them and can name the files that it searched. */
#ifndef AT_SYSTEM_LIBRARY_H
#define AT_SYSTEM_LIBRARY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Open the first of names (NULL-ended) that the loader finds, or that is in folder (may be NULL).
 * AT_DEVICE if there is none: the message has what is lacking ("no NVRTC"), the searched files and
 * the remedy. Also AT_DEVICE, with the reason, if a library exists but cannot be loaded. Handles
 * stay open until the process ends. */
enum at_status at_library_open(void **library, const char *const *names, const char *folder,
                               const char *lacking, const char *remedy, struct at_error *err);

/* A symbol to look up, the place for its address, and whether it may be missing. */
struct at_symbol {
    const char *name;
    void **address;
    int optional;
};

/* Fill all addresses. AT_DEVICE if a required symbol is missing. */
enum at_status at_library_symbols(void *library, const struct at_symbol *symbols, size_t count,
                                  struct at_error *err);

/* Does this process have one of names (NULL-ended) loaded already? */
bool at_library_is_loaded(const char *const *names);

/* Return how many libraries this process has loaded so far, also those that it has closed. */
unsigned long long at_libraries_ever(void);

/* The loader's name of the library that contains address; "" if the program does, or none. */
const char *at_library_path(const void *address);

/* Write the GNU build id of the library that contains address, in hexadecimal; "" if it has none.
 * Builds with the same version number have different ids. */
void at_library_build_id(const void *address, char *hex, size_t capacity);

#endif
