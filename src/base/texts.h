/* SPDX-License-Identifier: Apache-2.0 */
#ifndef AT_BASE_TEXTS_H
#define AT_BASE_TEXTS_H

#include <stddef.h>

/* An owned array of borrowed texts. */
struct at_texts {
    const char **items;
    size_t count, capacity;
};

#endif
