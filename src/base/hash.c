/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hash.h"

#include <stdint.h>
#include <stdio.h>
#include <xxhash.h>

uint64_t at_hash64(const void *bytes, size_t size, uint64_t seed)
{
    return XXH3_64bits_withSeed(bytes, size, seed);
}

void at_hash(char hex[AT_HASH_CHARS], const void *bytes, size_t size)
{
    XXH128_hash_t hash = XXH3_128bits(bytes, size);

    snprintf(hex, AT_HASH_CHARS, "%016jx%016jx", (uintmax_t)hash.high64, (uintmax_t)hash.low64);
}
