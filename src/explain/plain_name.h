/* SPDX-License-Identifier: Apache-2.0 */
/* Names of kernels as their source has them. */
#ifndef AT_EXPLAIN_PLAIN_NAME_H
#define AT_EXPLAIN_PLAIN_NAME_H

/* Read a mangled name (Itanium C++ ABI, "Mangling"): "scale", "ns::scale", "scale<float, 32>",
 * without the function's parameters. Of template arguments it knows built-in and named types and
 * whole numbers; others are "...". A name that is not mangled is its own. The caller frees it. */
char *at_plain_name(const char *mangled);

#endif
