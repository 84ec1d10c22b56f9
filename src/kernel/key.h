/* SPDX-License-Identifier: Apache-2.0 */
/* What a compiled kernel is kept under. Whoever compiles for the cache takes it from here: the
 * builder in processes of their own, and the library in its caller's. */
#ifndef AT_KERNEL_KEY_H
#define AT_KERNEL_KEY_H

#include "base/hash.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"

/* The hash of everything that the kernel's meaning depends on. */
void at_kernel_key(char key[AT_HASH_CHARS], const struct at_compiler *compiler, const char *header,
                   const struct at_config *config, int64_t elem_size);

/* What the kernel of this key is called in its program. */
void at_kernel_entry(char entry[AT_ENTRY_NAME_CHARS], const char *key);

#endif
