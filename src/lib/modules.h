/* SPDX-License-Identifier: Apache-2.0 */
/* Loaded kernels. The plans of a context share them, and the latest that no plan uses any more stay
 * loaded for later plans: see autotune_keep_unused. */
#ifndef AT_LIB_MODULES_H
#define AT_LIB_MODULES_H

#include "base/hash.h"
#include "device/device.h"
#include "kernel/render.h"
#include "lib/context.h"

/* A kernel that is loaded in a context. Name and handle never change while somebody holds it. */
struct autotune_module {
    struct autotune_module *next;
    char key[AT_HASH_CHARS];
    char entry[AT_ENTRY_NAME_CHARS]; /* its name */
    struct at_kernel kernel;         /* its handle */
    struct autotune_context context;
    CUmodule module;
    int64_t shared_bytes; /* the most that a launch may have */
    size_t holders;
    bool captured; /* a graph may run it as long as the context exists */
};

/* A kernel that is wanted for a launch. */
struct autotune_want {
    const struct at_config *config; /* borrowed */
    struct at_problem_kind kind;
    const struct at_launch *launch;  /* borrowed */
    struct autotune_module **module; /* what the caller then holds; NULL at first */
};

/* Hold kernels of the context, which is current. Those that are not loaded come from the cache or
 * are compiled, and a kernel that another thread is about to load is waited for. If this fails, the
 * caller drops what is not NULL. */
enum at_status autotune_modules_hold(const struct autotune_want *wants, size_t count,
                                     const struct autotune_context *context,
                                     int64_t compute_capability, struct at_error *err);

/* Hold a kernel no longer; NULL is none. `captured` tells whether it was launched into a graph. Not
 * for forked children. */
void autotune_module_drop(struct autotune_module *module, bool captured);

#endif
