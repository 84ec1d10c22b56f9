/* SPDX-License-Identifier: Apache-2.0 */
/* An argument of a kernel, as --arg has it: "TYPE=VALUE", a buffer "TYPE[COUNT]=VALUE", or
 * "struct{TYPE=VALUE,TYPE[COUNT],...}".
 * doc/own-kernels.md describes it for users. */
#ifndef AT_EXPLAIN_KERNEL_ARGUMENT_H
#define AT_EXPLAIN_KERNEL_ARGUMENT_H

#include "base/error.h"
#include "emulated/machine/machine.h"
#include "numbers/numbers.h"
#include "space/expr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A type of CUDA that an argument can have, by its name in C++. */
struct at_element_type {
    const char *name;
    enum at_number number;
    int lanes; /* of a vector; else 1 */
};

/* Find a type by its first `size` characters of name, in which blanks count once. NULL: none. */
const struct at_element_type *at_element_type_find(const char *name, size_t size);

/* Can it be the type's without loss? A number of a floating-point type is rounded. */
bool at_element_holds(const struct at_element_type *type, int64_t value);

/* Store one lane, as CUDA converts a number to the type: floats to the nearest. A float's bits are
 * for a floating-point type only. */
void at_element_store(const struct at_element_type *type, void *to, enum at_number from,
                      uint64_t bits);

/* The type of an element. */
enum at_argument_value {
    AT_VALUE_REAL,       /* the same number for all */
    AT_VALUE_EXPRESSION, /* of its index and the count */
    AT_VALUE_RANDOM,     /* an integer below the count, or a number from 0 to 1 */
    AT_VALUE_FILE,       /* the bytes of a file */
};

struct at_kernel_argument {
    const char *text; /* as given; borrowed */
    /* A struct has fields, each an argument of its own, and no type. */
    struct at_kernel_argument *fields; /* owned, with their texts */
    size_t field_count;
    const struct at_element_type *type;
    bool buffer;
    int64_t count; /* of elements; 1 if it is no buffer */
    enum at_argument_value value;
    double real;
    struct at_expr *expression; /* owned */
    const char *file;           /* borrowed */
};

/* The most words of a single argument, which is a struct. */
enum { AT_ARGUMENT_WORDS = 64 };

/* Parse text, which must live as long as the argument. AT_USAGE names the argument and the
 * fault. */
enum at_status at_kernel_argument_parse(struct at_kernel_argument *argument, const char *text,
                                        struct at_error *err);

void at_kernel_argument_clear(struct at_kernel_argument *argument);

/* Write an element for people: "3", "0.5, 1" of a vector. The caller frees it. */
char *at_element_format(const struct at_element_type *type, const void *element);

size_t at_kernel_argument_element_bytes(const struct at_kernel_argument *argument);

/* The bytes that the kernel takes: of the value, or of a buffer's address. */
int64_t at_kernel_argument_bytes(const struct at_kernel_argument *argument);

/* Make the argument's words; a buffer is allocated in memory and filled. seed: of random values. */
enum at_status at_kernel_argument_make(const struct at_kernel_argument *argument,
                                       struct at_emu_memory *memory, uint64_t seed,
                                       uint64_t words[AT_ARGUMENT_WORDS], struct at_error *err);

/* Parse an expression without names, such as 1<<20. what: for messages. AT_USAGE: it is none. */
enum at_status at_argument_number(int64_t *value, const char *text, const char *what,
                                  struct at_error *err);

#endif
