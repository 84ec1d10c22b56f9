/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a CUDA file, as far as its host code has to be read. */
#ifndef AT_EXPLAIN_HOST_TOKENS_H
#define AT_EXPLAIN_HOST_TOKENS_H

#include <stdbool.h>
#include <stddef.h>

enum at_host_token_kind {
    AT_HOST_END,
    AT_HOST_WORD,
    AT_HOST_NUMBER,
    AT_HOST_TEXT,      /* a string or a character */
    AT_HOST_SIGN,      /* one character, or <<<, >>>, <<, >>, ::, ->, ==, !=, <=, >=, &&, || */
    AT_HOST_DIRECTIVE, /* a line of the preprocessor, with those that continue it */
};

struct at_host_token {
    enum at_host_token_kind kind;
    const char *text;
    size_t size;
};

/* Return the token after blanks and comments, and move behind it. */
struct at_host_token at_host_token_next(const char **at);

bool at_host_token_is(const struct at_host_token *token, const char *text);

/* Return the first word of a directive, such as define, and move *at behind it, in a copy of the
 * line that the caller frees. Another token has no word and no copy. */
struct at_host_token at_host_directive(const struct at_host_token *token, char **copy,
                                       const char **at);

/* Skip what is in brackets. The opening one was just read. */
void at_host_skip_brackets(const char **at, char open, char close);

#endif
