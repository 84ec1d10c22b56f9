/* SPDX-License-Identifier: Apache-2.0 */
#include "emulated/ptx/lex.h"

#include "base/memory.h"
#include "emulated/ptx/reader.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not by <ctype.h>: PTX is ASCII in every locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c != '\0' && strchr("_$%.", c));
}

static bool is_word_part(char c)
{
    return is_word_start(c) || is_digit(c);
}

static bool starts(const struct at_ptx_lexer *lexer, const char *text)
{
    size_t size = strlen(text);

    return (size_t)(lexer->end - lexer->next) >= size && memcmp(lexer->next, text, size) == 0;
}

static void advance(struct at_ptx_lexer *lexer)
{
    if (*lexer->next++ == '\n')
        lexer->line++;
}

void at_ptx_lex_skip_line(struct at_ptx_lexer *lexer)
{
    while (lexer->next < lexer->end && *lexer->next != '\n')
        lexer->next++;
}

/* Skip blanks and comments. False at a comment without an end. */
static bool skip_blanks(struct at_ptx_lexer *lexer)
{
    while (lexer->next < lexer->end) {
        if (starts(lexer, "//")) {
            at_ptx_lex_skip_line(lexer);
        } else if (starts(lexer, "/*")) {
            lexer->next += 2;
            while (lexer->next < lexer->end && !starts(lexer, "*/"))
                advance(lexer);
            if (lexer->next == lexer->end)
                return false;
            lexer->next += 2;
        } else if (*lexer->next != '\0' && strchr(" \t\r\n\f\v", *lexer->next)) {
            advance(lexer);
        } else {
            break;
        }
    }
    return true;
}

static int digit_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return 16;
}

/* Read digits up to the end of the token. False at a digit that is too large for the base, or a
 * number of more than 64 bits. */
static bool read_digits(struct at_ptx_token *token, const char *digit, int base)
{
    const char *end = token->text + token->size;

    if (digit == end)
        return false;
    for (; digit < end; digit++) {
        if (digit_value(*digit) >= base ||
            __builtin_mul_overflow(token->value, (uint64_t)base, &token->value) ||
            __builtin_add_overflow(token->value, (uint64_t)digit_value(*digit), &token->value))
            return false;
    }
    return true;
}

/* PTX ISA, "Integer Constants" and "Floating-Point Constants"; the latter in hexadecimal only, as
 * compilers write them. */
static enum at_ptx_token_kind read_number(struct at_ptx_token *token)
{
    static const struct {
        const char *prefix;
        int base;
        size_t size; /* of the token; 0: any */
        enum at_ptx_token_kind kind;
    } forms[] = {
        {"0f", 16, 10, AT_PTX_F32},   {"0F", 16, 10, AT_PTX_F32},    {"0d", 16, 18, AT_PTX_F64},
        {"0D", 16, 18, AT_PTX_F64},   {"0x", 16, 0, AT_PTX_INTEGER}, {"0X", 16, 0, AT_PTX_INTEGER},
        {"0b", 2, 0, AT_PTX_INTEGER}, {"0B", 2, 0, AT_PTX_INTEGER},
    };

    for (size_t i = 0; i < AT_COUNT(forms); i++)
        if (token->size > 2 && memcmp(token->text, forms[i].prefix, 2) == 0) {
            if (forms[i].size != 0 && token->size != forms[i].size)
                return AT_PTX_BAD;
            if (!read_digits(token, token->text + 2, forms[i].base))
                return AT_PTX_BAD;
            return forms[i].kind;
        }
    if (!read_digits(token, token->text, token->text[0] == '0' ? 8 : 10))
        return AT_PTX_BAD;
    return AT_PTX_INTEGER;
}

static void lex_number(struct at_ptx_lexer *lexer, struct at_ptx_token *token)
{
    bool is_unsigned;

    while (lexer->next < lexer->end && is_word_part(*lexer->next))
        lexer->next++;
    token->size = (size_t)(lexer->next - token->text);
    is_unsigned = token->text[token->size - 1] == 'U';
    token->size -= is_unsigned;
    token->kind = read_number(token);
    token->size += is_unsigned;
}

/* A word continues over "::", as in .L2::128B. A single colon ends it: the word may be a label. */
static void lex_word(struct at_ptx_lexer *lexer, struct at_ptx_token *token)
{
    while (lexer->next < lexer->end) {
        if (starts(lexer, "::"))
            lexer->next += 2;
        else if (is_word_part(*lexer->next))
            lexer->next++;
        else
            break;
    }
    token->kind = AT_PTX_WORD;
    token->size = (size_t)(lexer->next - token->text);
}

static void lex_string(struct at_ptx_lexer *lexer, struct at_ptx_token *token)
{
    lexer->next++;
    while (lexer->next < lexer->end && *lexer->next != '"' && *lexer->next != '\n')
        lexer->next +=
            lexer->next[0] == '\\' && lexer->end - lexer->next > 1 && lexer->next[1] != '\n' ? 2
                                                                                             : 1;
    if (lexer->next == lexer->end || *lexer->next != '"')
        return;
    lexer->next++;
    token->kind = AT_PTX_STRING;
    token->size = (size_t)(lexer->next - token->text);
}

struct at_ptx_token at_ptx_lex(struct at_ptx_lexer *lexer)
{
    bool whole = skip_blanks(lexer);
    struct at_ptx_token token = {
        .kind = AT_PTX_BAD, .text = lexer->next, .size = 1, .line = lexer->line};

    if (!whole) {
        token.size = 0;
    } else if (lexer->next == lexer->end) {
        token.kind = AT_PTX_END;
        token.size = 0;
    } else if (is_digit(*lexer->next)) {
        lex_number(lexer, &token);
    } else if (is_word_start(*lexer->next)) {
        lex_word(lexer, &token);
    } else if (*lexer->next == '"') {
        lex_string(lexer, &token);
    } else if (*lexer->next != '\0' && strchr("{}[](),;:<>=+-@!|~", *lexer->next)) {
        token.kind = AT_PTX_MARK;
        lexer->next++;
    } else {
        lexer->next++;
    }
    return token;
}

bool at_ptx_token_is(const struct at_ptx_token *token, const char *text)
{
    return (token->kind == AT_PTX_WORD || token->kind == AT_PTX_MARK) &&
           token->size == strlen(text) && memcmp(token->text, text, token->size) == 0;
}

int at_ptx_index(const void *items, size_t count, size_t item_size, const char *text, size_t size)
{
    for (size_t i = 0; i < count; i++) {
        const char *name = *(const char *const *)((const char *)items + i * item_size);

        if (strncmp(name, text, size) == 0 && name[size] == '\0')
            return (int)i;
    }
    return -1;
}

/* The next token: expect it, take it or skip it. */

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

int at_ptx_type_bytes(const char *type)
{
    static const struct {
        const char *name;
        int bytes;
    } types[] = {
        {"pred", 0}, {"b8", 1},   {"u8", 1},    {"s8", 1},     {"b16", 2}, {"u16", 2}, {"s16", 2},
        {"f16", 2},  {"bf16", 2}, {"f16x2", 4}, {"bf16x2", 4}, {"b32", 4}, {"u32", 4}, {"s32", 4},
        {"f32", 4},  {"b64", 8},  {"u64", 8},   {"s64", 8},    {"f64", 8},
    };

    int i = AT_PTX_INDEX(types, type);

    return i < 0 ? -1 : types[i].bytes;
}

/* ".u32" */
bool at_ptx_expect_type(struct at_ptx_reader *reader, int *bytes)
{
    char name[8] = "";
    const struct at_ptx_token *token = &reader->token;

    if (token->kind == AT_PTX_WORD && token->text[0] == '.' && token->size - 1 < sizeof name)
        memcpy(name, token->text + 1, token->size - 1);
    *bytes = at_ptx_type_bytes(name);
    if (*bytes < 0)
        return at_ptx_unexpected(reader, "a type");
    at_ptx_next(reader);
    return true;
}

bool at_ptx_same(const struct at_ptx_name *a, const struct at_ptx_name *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

bool at_ptx_skip_line(struct at_ptx_reader *reader)
{
    at_ptx_lex_skip_line(&reader->lexer);
    at_ptx_next(reader);
    return true;
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

/* Find "inlined_at FILE LINE COLUMN" on the line of a .loc (PTX ISA, "Debugging Directives: .loc").
 * If that place was inlined too, an earlier .loc has told where. The caller is the nearest place in
 * the file of the outermost one: the user's line, not one of CUDA's headers. */
static void read_caller(struct at_ptx_reader *reader, const char *text)
{
    static const char mark[] = "inlined_at ";
    struct at_emu_places *places = &reader->places;
    const char *found = memmem(text, strcspn(text, "\n"), mark, sizeof mark - 1);
    struct at_ptx_inlined made = {0};
    long file, line, at;
    char *next;

    if (!found)
        return;
    strtol(text, &next, 10); /* the line */
    made.column = strtol(next, NULL, 10);
    file = strtol(found + sizeof mark - 1, &next, 10);
    line = strtol(next, &next, 10);
    at = strtol(next, NULL, 10);
    if (file < 0 || file > INT32_MAX || line < 0 || line > INT32_MAX)
        return;
    places->caller_file = made.outermost_file = (int)file;
    places->caller_line = (int)line;
    for (size_t i = reader->inlined_count; i-- > 0;) {
        const struct at_ptx_inlined *known = &reader->inlined[i];

        if (known->column != at || known->places.file != file || known->places.line != line)
            continue;
        made.outermost_file = known->outermost_file;
        if (file != made.outermost_file) {
            places->caller_file = known->places.caller_file;
            places->caller_line = known->places.caller_line;
        }
        break;
    }
    made.places = *places;
    if (reader->inlined_count < AT_PTX_DECLARATIONS_MAX)
        AT_PUSH(reader->inlined, reader->inlined_count, reader->inlined_capacity, made);
}

/* .loc FILE LINE COLUMN and its attributes: the source of the next instructions. */
bool at_ptx_read_location(struct at_ptx_reader *reader)
{
    uint64_t file = 0, line;

    at_ptx_next(reader);
    if (!at_ptx_expect_integer(reader, INT32_MAX, &file))
        return false;
    if (reader->token.kind != AT_PTX_INTEGER || reader->token.value > INT32_MAX)
        return at_ptx_unexpected(reader, "a line");
    line = reader->token.value;
    reader->places = (struct at_emu_places){(int)file, (int)line, (int)file, (int)line};
    read_caller(reader, reader->token.text);
    return at_ptx_skip_line(reader);
}

/* .section NAME { ... }: debugging information. */
bool at_ptx_skip_section(struct at_ptx_reader *reader)
{
    while (!at_ptx_at(reader, "{") && reader->token.kind != AT_PTX_END)
        at_ptx_next(reader);
    return at_ptx_skip_braces(reader);
}

/* .file NUMBER "NAME" */
bool at_ptx_read_source_file(struct at_ptx_reader *reader)
{
    struct at_ptx_source_file file;
    uint64_t number = 0;

    at_ptx_next(reader);
    if (!at_ptx_expect_integer(reader, AT_PTX_DECLARATIONS_MAX - 1, &number))
        return false;
    if (reader->token.kind != AT_PTX_STRING)
        return at_ptx_unexpected(reader, "a string");
    file = (struct at_ptx_source_file){(int64_t)number,
                                       {reader->token.text + 1, reader->token.size - 2}};
    AT_PUSH(reader->source_files, reader->source_file_count, reader->source_file_capacity, file);
    return at_ptx_skip_line(reader);
}

/* The features that the machine does not support, by the names that CUDA programmers know. */

/* The beginnings of instructions, special registers and functions of CUDA's. */
static const struct {
    const char *what;
    const char *starts; /* with blanks between them */
} refused[] = {
    {"tensor cores (wmma, mma), which the emulated device has not",
     "wmma. mma. wgmma. tcgen05. ldmatrix. stmatrix."},
    {"textures and surfaces, which the emulated device has not",
     "tex. tld4. txq. suld. sust. sured. suq. istypep."},
    {"thread block clusters, which the emulated device has not",
     "barrier.cluster. mapa getctarank st.async red.async clusterlaunchcontrol. ld.shared::cluster "
     "st.shared::cluster ld.relaxed.cluster.shared::cluster atom.shared::cluster "
     "red.shared::cluster %cluster %ncluster %is_explicit_cluster %aggr_smem_size"},
    {"copies by a tensor map (TMA) or to several blocks, which the emulated device does not run",
     "cp.async.bulk.tensor cp.reduce.async.bulk tensormap. multimem."},
    {"arrays of a size that is known at run time only (alloca), which the emulated device has not",
     "alloca stacksave stackrestore"},
    {"memory allocation in a kernel (malloc, new), which the emulated device does not run",
     "malloc free cudaMalloc cudaFree"},
    {"launches from a kernel (dynamic parallelism), which the emulated device does not run",
     "cudaLaunchDevice cudaGetParameterBuffer __cudaCDP"},
    {"stochastic rounding, which the emulated device does not run", "cvt.rs."},
    {"a barrier of the whole grid (cooperative launch), which the emulated device does not run",
     "cudaCGSynchronizeGrid %envreg"},
};

const char *at_ptx_refused(const char *text, size_t size)
{
    for (size_t i = 0; i < AT_COUNT(refused); i++)
        for (const char *start = refused[i].starts; *start; start += strspn(start, " ")) {
            size_t length = strcspn(start, " ");

            if (size >= length && memcmp(text, start, length) == 0)
                return refused[i].what;
            start += length;
        }
    return NULL;
}
