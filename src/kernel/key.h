/* SPDX-License-Identifier: Apache-2.0 */
/* The cache's key of a compiled kernel. Both compilers use it: the builder's worker processes, and
 * the library in its caller's process. */
#ifndef AT_KERNEL_KEY_H
#define AT_KERNEL_KEY_H

#include "base/hash.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"

/* Hash everything that the compiled kernel depends on. */
void at_kernel_key(char key[AT_HASH_CHARS], const struct at_compiler *compiler, const char *header,
                   const struct at_config *config, struct at_problem_kind kind);

/* Name the kernel of this key, as its program calls it. */
void at_kernel_entry(char entry[AT_ENTRY_NAME_CHARS], const char *key);

#endif
