/* SPDX-License-Identifier: Apache-2.0 */
/* Content hashes (XXH3). They are not cryptographic: collisions can be made on purpose. */
#ifndef AT_BASE_HASH_H
#define AT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* For hash tables. */
uint64_t at_hash64(const void *bytes, size_t size, uint64_t seed);

/* 128 bits in hexadecimal, for cache keys and identities of sources. */
enum { AT_HASH_CHARS = 33 }; /* 32 digits and the NUL */
void at_hash(char hex[AT_HASH_CHARS], const void *bytes, size_t size);

/* For files that have many: the first half of it. */
enum { AT_SHORT_HASH_CHARS = 17 };

#endif
