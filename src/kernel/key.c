/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/key.h"

#include "base/memory.h"
#include "kernel/includes.h"

#include <stdio.h>
#include <string.h>

void at_kernel_key(char key[AT_HASH_CHARS], const struct at_compiler *compiler, const char *header,
                   const struct at_config *config, struct at_problem_kind kind)
{
    char *macros = at_render_macros(config, kind);
    /* Only where they are used: other kernels keep their key wherever CUDA's headers are. */
    const char *headers = at_source_includes(config->family->source) ? compiler->headers : "";
    char *text = at_format("%s\n%s\n%s\n%s\n%s\n%s\n%s%s", compiler->identity, compiler->version,
                           compiler->options, compiler->ptx ? "ptx" : "cubin", header, macros,
                           config->family->source, headers);

    at_hash(key, text, strlen(text));
    at_free(text);
    at_free(macros);
}

void at_kernel_entry(char entry[AT_ENTRY_NAME_CHARS], const char *key)
{
    snprintf(entry, AT_ENTRY_NAME_CHARS, "k_%.24s", key);
}
