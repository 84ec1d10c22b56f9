/* SPDX-License-Identifier: Apache-2.0 */
/* Prints an explanation as a table: the lines of the source that access memory, and their cost. */
#ifndef AT_EXPLAIN_TABLE_H
#define AT_EXPLAIN_TABLE_H

#include "explain/explain.h"
#include "space/family.h"

void at_explanation_print(const struct at_explanation *explanation, const struct at_family *family);

#endif
