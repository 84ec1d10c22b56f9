/* SPDX-License-Identifier: Apache-2.0 */
/* The next token: expect it, take it or skip it. */
#include "base/memory.h"
#include "ptx/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool at_ptx_fail(struct at_ptx_reader *reader, const char *format, ...)
{
    char message[512];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    at_fail(reader->err, AT_USAGE, "PTX line %d: %s", reader->token.line, message);
    return false;
}

void at_ptx_next(struct at_ptx_reader *reader)
{
    reader->token = at_ptx_lex(&reader->lexer);
}

bool at_ptx_at(const struct at_ptx_reader *reader, const char *text)
{
    return at_ptx_token_is(&reader->token, text);
}

bool at_ptx_take(struct at_ptx_reader *reader, const char *text)
{
    if (!at_ptx_at(reader, text))
        return false;
    at_ptx_next(reader);
    return true;
}

bool at_ptx_unexpected(struct at_ptx_reader *reader, const char *wanted)
{
    const struct at_ptx_token *token = &reader->token;
    int size = token->size < 64 ? (int)token->size : 64;

    if (token->kind == AT_PTX_END)
        return at_ptx_fail(reader, "the text ends where %s is expected", wanted);
    return at_ptx_fail(reader, "\"%.*s\" where %s is expected", size, token->text, wanted);
}

bool at_ptx_expect(struct at_ptx_reader *reader, const char *text)
{
    return at_ptx_take(reader, text) || at_ptx_unexpected(reader, text);
}

bool at_ptx_expect_name(struct at_ptx_reader *reader, struct at_ptx_name *name)
{
    if (reader->token.kind != AT_PTX_WORD || reader->token.text[0] == '.')
        return at_ptx_unexpected(reader, "a name");
    *name = (struct at_ptx_name){reader->token.text, reader->token.size};
    at_ptx_next(reader);
    return true;
}

bool at_ptx_expect_integer(struct at_ptx_reader *reader, uint64_t max, uint64_t *value)
{
    if (reader->token.kind != AT_PTX_INTEGER)
        return at_ptx_unexpected(reader, "an integer");
    if (reader->token.value > max)
        return at_ptx_fail(reader, "%ju is too large here (at most %ju)",
                           (uintmax_t)reader->token.value, (uintmax_t)max);
    *value = reader->token.value;
    at_ptx_next(reader);
    return true;
}

bool at_ptx_same(const struct at_ptx_name *a, const struct at_ptx_name *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

void at_ptx_skip_line(struct at_ptx_reader *reader)
{
    at_ptx_lex_skip_line(&reader->lexer);
    at_ptx_next(reader);
}

bool at_ptx_skip_statement(struct at_ptx_reader *reader)
{
    while (!at_ptx_at(reader, ";")) {
        if (reader->token.kind == AT_PTX_END)
            return at_ptx_unexpected(reader, ";");
        at_ptx_next(reader);
    }
    at_ptx_next(reader);
    return true;
}

bool at_ptx_skip_braces(struct at_ptx_reader *reader)
{
    uint64_t depth = 0;

    do {
        if (reader->token.kind == AT_PTX_END)
            return at_ptx_unexpected(reader, "}");
        depth += at_ptx_at(reader, "{");
        depth -= at_ptx_at(reader, "}") && depth > 0;
        at_ptx_next(reader);
    } while (depth > 0);
    return true;
}

bool at_ptx_skip_parentheses(struct at_ptx_reader *reader)
{
    if (!at_ptx_take(reader, "("))
        return true;
    while (!at_ptx_take(reader, ")")) {
        if (reader->token.kind == AT_PTX_END || reader->token.kind == AT_PTX_BAD)
            return at_ptx_unexpected(reader, ")");
        at_ptx_next(reader);
    }
    return true;
}

/* Find "inlined_at FILE LINE COLUMN" on the line of a .loc (PTX ISA, "Debugging Directives: .loc").
 */
static void read_caller(const char *text, struct at_emu_places *places)
{
    static const char mark[] = "inlined_at ";
    const char *found = memmem(text, strcspn(text, "\n"), mark, sizeof mark - 1);
    int file, line;

    if (!found || sscanf(found + sizeof mark - 1, "%d %d", &file, &line) != 2 || file < 0 ||
        line < 0)
        return;
    places->caller_file = file;
    places->caller_line = line;
}

/* .loc FILE LINE COLUMN and its attributes: the source of the next instructions. */
bool at_ptx_read_location(struct at_ptx_reader *reader)
{
    uint64_t file, line;

    at_ptx_next(reader);
    if (!at_ptx_expect_integer(reader, INT32_MAX, &file))
        return false;
    if (reader->token.kind != AT_PTX_INTEGER || reader->token.value > INT32_MAX)
        return at_ptx_unexpected(reader, "a line");
    line = reader->token.value;
    reader->places = (struct at_emu_places){(int)file, (int)line, (int)file, (int)line};
    read_caller(reader->token.text, &reader->places);
    at_ptx_skip_line(reader);
    return true;
}

/* .file NUMBER "NAME" */
bool at_ptx_read_source_file(struct at_ptx_reader *reader)
{
    struct at_ptx_source_file file;
    uint64_t number;

    at_ptx_next(reader);
    if (!at_ptx_expect_integer(reader, AT_PTX_DECLARATIONS_MAX - 1, &number))
        return false;
    if (reader->token.kind != AT_PTX_STRING)
        return at_ptx_unexpected(reader, "a string");
    file = (struct at_ptx_source_file){(int64_t)number,
                                       {reader->token.text + 1, reader->token.size - 2}};
    AT_PUSH(reader->source_files, reader->source_file_count, reader->source_file_capacity, file);
    at_ptx_skip_line(reader);
    return true;
}

/* .section NAME { ... }: debugging information. */
bool at_ptx_skip_section(struct at_ptx_reader *reader)
{
    while (!at_ptx_at(reader, "{") && reader->token.kind != AT_PTX_END)
        at_ptx_next(reader);
    return at_ptx_skip_braces(reader);
}
