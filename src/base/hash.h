/* SPDX-License-Identifier: Apache-2.0 */
/* 128-bit content hashes (XXH3) in hexadecimal: keys of caches and identities of sources. They tell
 * contents apart; they are no protection against somebody who wants two to collide. */
#ifndef AT_BASE_HASH_H
#define AT_BASE_HASH_H

#include <stddef.h>

enum { AT_HASH_CHARS = 33 }; /* 32 digits and the NUL */

void at_hash(char hex[AT_HASH_CHARS], const void *bytes, size_t size);

#endif
