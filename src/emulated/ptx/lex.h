/* SPDX-License-Identifier: Apache-2.0 */
/* PTX as a sequence of tokens (PTX ISA, "Syntax"). */
#ifndef AT_EMULATED_PTX_LEX_H
#define AT_EMULATED_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum at_ptx_token_kind {
    AT_PTX_END,
    AT_PTX_WORD,    /* a name, directive or opcode, with its parts joined by dots */
    AT_PTX_INTEGER, /* without sign */
    AT_PTX_F32,     /* 0f and 8 hexadecimal digits; value is the bits */
    AT_PTX_F64,     /* 0d and 16 digits */
    AT_PTX_STRING,
    AT_PTX_MARK, /* one character of punctuation */
    AT_PTX_BAD,
};

struct at_ptx_token {
    enum at_ptx_token_kind kind;
    const char *text; /* in the source, not terminated */
    size_t size;
    int line; /* from 1 */
    uint64_t value;
};

struct at_ptx_lexer {
    const char *next, *end;
    int line;
};

struct at_ptx_token at_ptx_lex(struct at_ptx_lexer *lexer);

/* Skip to the end of the line. */
void at_ptx_lex_skip_line(struct at_ptx_lexer *lexer);

/* Is it a word or mark with this text? */
bool at_ptx_token_is(const struct at_ptx_token *token, const char *text);

#endif
