/* SPDX-License-Identifier: Apache-2.0 */
/* The types of CUDA that an argument of a kernel can have, by their names in C++. */
#ifndef AT_EXPLAIN_ELEMENT_H
#define AT_EXPLAIN_ELEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct at_element_type {
    const char *name;
    int bytes; /* of one lane */
    int lanes; /* of a vector; else 1 */
    /* An integer has no exponent. */
    bool is_signed;
    int exponent_bits, fraction_bits;
};

/* Find a type by its first `size` characters of name, in which blanks count once. NULL: none. */
const struct at_element_type *at_element_type_find(const char *name, size_t size);

/* All names, as "bool, char, ..."; the caller frees it. */
char *at_element_type_names(void);

static inline bool at_element_is_float(const struct at_element_type *type)
{
    return type->exponent_bits > 0;
}

/* Can it be the type's without loss? A number of a floating-point type is rounded. */
bool at_element_holds(const struct at_element_type *type, int64_t value);

/* Store one lane, as C converts a number to the type. */
void at_element_store(const struct at_element_type *type, void *to, int64_t value);
void at_element_store_real(const struct at_element_type *type, void *to, double value);

#endif
