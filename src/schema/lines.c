/* SPDX-License-Identifier: Apache-2.0 */
#include "schema/lines.h"

#include "base/memory.h"
#include "base/word.h"
#include "schema/schema.h"

#include <stdbool.h>
#include <string.h>

/* Of a key, for which libyaml takes up to 1024. */
enum { NAME_BYTES_MAX = 128 };

/* An open list or mapping in block style. */
struct level {
    enum at_event_kind kind;
    int column; /* of its dashes or keys */
};

struct reader {
    const char *text, *at; /* all of it; the next byte */
    const char *line_start;
    int line;
    struct at_token *tokens;
    size_t count, capacity;
    struct level levels[AT_SCHEMA_DEPTH_MAX];
    int depth;
    bool awaits_value; /* the last key has had none yet */
    bool too_wide;     /* a column does not fit into a token */
};

static int column_of(const struct reader *in, const char *at)
{
    return (int)(at - in->line_start) + 1;
}

static struct at_token *add(struct reader *in, enum at_event_kind kind)
{
    struct at_token token = {.kind = (unsigned char)kind};

    if (kind != AT_EVENT_END && kind != AT_EVENT_EOF) {
        token.line = (uint32_t)in->line;
        token.column = (uint16_t)column_of(in, in->at);
        in->too_wide |= column_of(in, in->at) > UINT16_MAX;
    }
    AT_PUSH(in->tokens, in->count, in->capacity, token);
    return &in->tokens[in->count - 1];
}

/* Add a scalar that ends before `end`, and go there. */
static void add_scalar(struct reader *in, const char *end, enum at_scalar_style style)
{
    struct at_token *token = add(in, AT_EVENT_SCALAR);

    token->style = (unsigned char)style;
    token->at = (uint32_t)(in->at - in->text);
    token->size = (uint32_t)(end - in->at);
    in->at = end;
}

static struct level *innermost(struct reader *in)
{
    return in->depth > 0 ? &in->levels[in->depth - 1] : NULL;
}

/* ---- scalars and brackets ---- */

static const char *end_of_word(const char *at)
{
    while (at_is_word_character(*at))
        at++;
    return at;
}

/* Words and numbers, also negative ones, and what '-', '.' and '+' make of them. NULL: none. */
static const char *end_of_name(const char *at)
{
    at += *at == '-';
    if (!at_is_word_character(*at))
        return NULL;
    while (at_is_word_character(*at) || *at == '-' || *at == '.' || *at == '+')
        at++;
    return at;
}

/* Printable ASCII to the end of the line. It does not begin with a mark of YAML's, nor end with a
 * blank, and what follows "#" or ":" is no comment and no value. NULL: it may mean more. */
static const char *end_of_plain(const char *at)
{
    const char *start = at + (*at == '-');

    if (!at_is_word_character(*start) && *at != '(')
        return NULL;
    for (at = start + 1; *at >= ' ' && *at <= '~'; at++)
        if ((*at == '#' && at[-1] == ' ') || (at[-1] == ':' && *at == ' '))
            return NULL;
    return (*at == '\n' || *at == '\0') && at[-1] != ' ' && at[-1] != ':' ? at : NULL;
}

/* Printable ASCII between quotes, none of them within, and nothing that double quotes escape. */
static bool take_quoted(struct reader *in)
{
    const char quote = *in->at, *end = ++in->at;

    while (*end >= ' ' && *end <= '~' && *end != quote && (quote == '\'' || *end != '\\'))
        end++;
    if (*end != quote)
        return false;
    add_scalar(in, end, AT_SCALAR_QUOTED);
    in->at++;
    return true;
}

static bool take_name(struct reader *in)
{
    const char *end = end_of_name(in->at);

    if (!end || end - in->at > NAME_BYTES_MAX)
        return false;
    add_scalar(in, end, AT_SCALAR_PLAIN);
    return true;
}

/* The value of a key in braces, with the ": " before it. */
static bool take_pair_value(struct reader *in)
{
    if (in->at[0] != ':' || in->at[1] != ' ')
        return false;
    in->at += 2;
    return take_name(in);
}

/* A comma with a blank or a line break behind it. */
static bool take_comma(struct reader *in)
{
    if (in->at[0] != ',' || (in->at[1] != ' ' && in->at[1] != '\n'))
        return false;
    in->at += 2;
    if (in->at[-1] == '\n') {
        in->line_start = in->at;
        in->line++;
        in->at += strspn(in->at, " ");
    }
    return true;
}

/* "[a, b]" or "{a: 1, b: 2}". */
static bool take_brackets(struct reader *in)
{
    bool map = *in->at == '{';
    char close = map ? '}' : ']';

    if (in->depth == AT_SCHEMA_DEPTH_MAX)
        return false;
    add(in, map ? AT_EVENT_MAP : AT_EVENT_LIST);
    in->at++;
    while (*in->at != close) {
        if (!take_name(in) || (map && !take_pair_value(in)))
            return false;
        if (*in->at != close && !take_comma(in))
            return false;
    }
    in->at++;
    add(in, AT_EVENT_END);
    return true;
}

static bool is_at_line_end(const struct reader *in)
{
    return *in->at == '\n' || *in->at == '\0';
}

/* Printable ASCII to the end of a line, which is not empty and does not end with a blank. NULL: it
 * is not so. */
static const char *end_of_line(const char *at)
{
    const char *start = at;

    while (*at >= ' ' && *at <= '~')
        at++;
    return (*at == '\n' || *at == '\0') && at > start && at[-1] != ' ' ? at : NULL;
}

/* The lines below ">-": all with one indentation, more than that of what they are in. */
static bool take_folded(struct reader *in)
{
    const int column = innermost(in)->column;
    size_t indent = strspn(in->at + 3, " "), next = indent;
    const char *end = in->at + 2;
    int lines = 0;

    if ((int)indent < column)
        return false;
    while (*end == '\n' && next == indent) {
        end = end_of_line(end + 1 + indent);
        if (!end)
            return false;
        next = *end == '\n' ? strspn(end + 1, " ") : 0;
        if (next > indent || (*end == '\n' && end[1 + next] == '\n'))
            return false;
        lines++;
    }
    in->line_start = in->at + 3;
    in->at = in->line_start + indent;
    in->line++;
    add_scalar(in, end, AT_SCALAR_FOLDED);
    in->line += lines - 1;
    return lines > 0;
}

/* All that stands behind a dash or a key. */
static bool take_value(struct reader *in)
{
    const char *end;

    if (strncmp(in->at, ">-\n", 3) == 0)
        return take_folded(in);
    if (*in->at == '\'' || *in->at == '"')
        return take_quoted(in) && is_at_line_end(in);
    if (*in->at == '[' || *in->at == '{')
        return take_brackets(in) && is_at_line_end(in);
    end = end_of_plain(in->at);
    if (!end)
        return false;
    add_scalar(in, end, AT_SCALAR_PLAIN);
    return true;
}

/* ---- lists and mappings ---- */

/* Is there a list or mapping with this column, or may one begin? Not below a value: that would go
 * on there. `within` a line, behind a dash, one always begins. */
static bool enter(struct reader *in, enum at_event_kind kind, bool within)
{
    struct level *level = innermost(in);
    int column = column_of(in, in->at);

    if (!within && !in->awaits_value && level)
        return level->kind == kind && level->column == column;
    if (in->depth == AT_SCHEMA_DEPTH_MAX)
        return false;
    in->levels[in->depth++] = (struct level){kind, column};
    in->awaits_value = false;
    add(in, kind);
    return true;
}

/* Close what ends before a line that begins in this column. */
static bool leave(struct reader *in, int column, bool dash)
{
    struct level *level = innermost(in);

    /* The dashes of a list may stand below its key. */
    if (in->awaits_value)
        return column > level->column || (dash && column == level->column);
    while (level && (level->column > column ||
                     (level->column == column && level->kind == AT_EVENT_LIST && !dash))) {
        in->depth--;
        add(in, AT_EVENT_END);
        level = innermost(in);
    }
    return level || in->count == 0;
}

/* A key, or what is an item by itself. */
static bool take_key_or_item(struct reader *in, bool behind_dash)
{
    const char *end = end_of_word(in->at);

    if (end == in->at || *end != ':' || (end[1] != ' ' && end[1] != '\n'))
        return behind_dash && take_value(in);
    if (end - in->at > NAME_BYTES_MAX || !enter(in, AT_EVENT_MAP, behind_dash))
        return false;
    add_scalar(in, end, AT_SCALAR_PLAIN);
    if (end[1] == '\n') {
        in->at = end + 1;
        in->awaits_value = true;
        return true;
    }
    in->at = end + 2;
    return take_value(in);
}

static bool is_dash(const char *at)
{
    return at[0] == '-' && at[1] == ' ';
}

static bool take_line(struct reader *in)
{
    bool behind_dash = false;

    if (!leave(in, column_of(in, in->at), is_dash(in->at)))
        return false;
    while (is_dash(in->at)) {
        if (!enter(in, AT_EVENT_LIST, behind_dash))
            return false;
        in->at += 2;
        behind_dash = true;
    }
    return take_key_or_item(in, behind_dash);
}

/* Its text is ASCII here, like everything else. */
static bool skip_comment(struct reader *in)
{
    const char *end = end_of_line(in->at);

    in->at = end ? end : in->at;
    return end;
}

static bool take_text(struct reader *in)
{
    bool good = true;

    while (good && *in->at != '\0') {
        in->line_start = in->at;
        in->line++;
        while (*in->at == ' ')
            in->at++;
        if (*in->at == '#')
            good = skip_comment(in);
        else if (!is_at_line_end(in))
            good = take_line(in);
        good = good && is_at_line_end(in);
        in->at += good && *in->at == '\n';
    }
    return good && in->count > 0 && !in->awaits_value && !in->too_wide;
}

struct at_token *at_lines_split(const char *text, size_t size)
{
    struct reader in = {.text = text, .at = text};

    if (!take_text(&in) || in.at != text + size) {
        at_free(in.tokens);
        return NULL;
    }
    for (; in.depth > 0; in.depth--)
        add(&in, AT_EVENT_END);
    add(&in, AT_EVENT_EOF);
    return in.tokens;
}

char *at_lines_join(const char *text, const struct at_token *token)
{
    const char *from = text + token->at, *end = from + token->size;
    char *joined = at_alloc_raw(token->size + 1), *to = joined;

    while (from < end) {
        bool broken = *from == '\n';

        *to++ = broken ? ' ' : *from;
        from += broken ? 1 + strspn(from + 1, " ") : 1;
    }
    *to = '\0';
    return joined;
}
