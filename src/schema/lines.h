/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the YAML that this program writes and its data files have: block style, in which a key or
 * an item and its text are on one line, or folded below ">-", and brackets with words in them.
 * libyaml takes ten times as many instructions. What is not surely of this
 * kind, and all that is wrong, is left to libyaml: tests/fuzz/fuzz_lines.c checks that both see the
 * same. */
#ifndef AT_SCHEMA_LINES_H
#define AT_SCHEMA_LINES_H

#include <stddef.h>
#include <stdint.h>

enum at_event_kind {
    AT_EVENT_SCALAR,
    AT_EVENT_MAP,  /* its keys and values follow, then END */
    AT_EVENT_LIST, /* its items follow, then END */
    AT_EVENT_END,
    AT_EVENT_EOF,
};

enum at_scalar_style {
    AT_SCALAR_PLAIN,
    AT_SCALAR_QUOTED, /* in single or double quotes */
    AT_SCALAR_FOLDED, /* several lines below ">-" */
};

/* What begins in this place, from 1 on; END and EOF have none. A scalar's place and bytes are
 * without quotes and ">-". A profile has tens of thousands of tokens. */
struct at_token {
    unsigned char kind, style; /* enum at_event_kind, at_scalar_style */
    uint16_t column;
    uint32_t line;
    uint32_t at, size; /* bytes of a SCALAR in the text */
};

/* Split a text of size bytes, with a NUL behind them, into tokens. The last token is EOF. The
 * caller frees them with at_free. Returns NULL if libyaml has to read the text. */
struct at_token *at_lines_split(const char *text, size_t size);

/* A FOLDED scalar with blanks in place of its line breaks. The caller frees it with at_free. */
char *at_lines_join(const char *text, const struct at_token *token);

#endif
