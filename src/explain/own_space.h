/* SPDX-License-Identifier: Apache-2.0 */
/* A first space file for a transpose of the user's, and the template that goes with it. */
#ifndef AT_EXPLAIN_OWN_SPACE_H
#define AT_EXPLAIN_OWN_SPACE_H

#include "explain/own_draft.h"

#include <stdio.h>

/* Write both files' texts. template_name: how the space file names the template. */
void at_own_space_write(FILE *space, FILE *kernel, const struct at_draft *draft,
                        const struct at_draft_request *request, const char *family,
                        const char *template_name);

#endif
