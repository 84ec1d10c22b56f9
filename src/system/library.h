/* SPDX-License-Identifier: Apache-2.0 */
/* Shared libraries that a machine may lack: opened at run time, so that the program starts without
 * them and can say what it looked for. */
#ifndef AT_SYSTEM_LIBRARY_H
#define AT_SYSTEM_LIBRARY_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

/* Opens the first of names (NULL-ended) that the loader finds, or that lies in folder (may be
 * NULL). AT_DEVICE when there is none, with `mend` and what was looked for; or when one is there
 * and cannot be loaded, with the reason. Handles stay open until the process ends. */
enum at_status at_library_open(void **library, const char *const *names, const char *folder,
                               const char *mend, struct at_error *err);

/* A symbol to look up: where its address goes, and whether the program can do without. */
struct at_symbol {
    const char *name;
    void **address;
    int optional;
};

/* Fills all addresses; AT_DEVICE names the first required symbol that is missing. */
enum at_status at_library_symbols(void *library, const struct at_symbol *symbols, size_t count,
                                  struct at_error *err);

/* Has somebody opened one of names already? */
bool at_library_is_loaded(const char *const *names);

/* The file of the library that holds address, as the loader names it; "" where there is none. */
const char *at_library_path(const void *address);

/* The GNU build id of the library that holds address, in hexadecimal; "" when it has none. It tells
 * apart builds that share a version number. */
void at_library_build_id(const void *address, char *hex, size_t capacity);

#endif
