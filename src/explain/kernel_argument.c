/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/kernel_argument.h"

#include "base/integer.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/text_stream.h"
#include "system/file.h"
#include "system/paths.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- types ---- */

static int lane_bytes(const struct at_element_type *type)
{
    return at_number_formats[type->number].bytes;
}

static bool is_float(const struct at_element_type *type)
{
    return !at_number_is_integer(type->number);
}

/* clang-format off */
/* Types with several names stand below each other. Messages list the first row of each. */
static const struct at_element_type types[] = {
    {"bool", AT_U8, 1},
    {"char", AT_I8, 1}, {"signed char", AT_I8, 1}, {"int8_t", AT_I8, 1},
    {"uchar", AT_U8, 1}, {"unsigned char", AT_U8, 1}, {"uint8_t", AT_U8, 1},
    {"short", AT_I16, 1}, {"int16_t", AT_I16, 1},
    {"ushort", AT_U16, 1}, {"unsigned short", AT_U16, 1}, {"uint16_t", AT_U16, 1},
    {"int", AT_I32, 1}, {"int32_t", AT_I32, 1},
    {"uint", AT_U32, 1}, {"unsigned", AT_U32, 1}, {"unsigned int", AT_U32, 1},
    {"uint32_t", AT_U32, 1},
    {"long", AT_I64, 1}, {"long long", AT_I64, 1}, {"int64_t", AT_I64, 1},
    {"ulong", AT_U64, 1}, {"unsigned long", AT_U64, 1},
    {"unsigned long long", AT_U64, 1}, {"uint64_t", AT_U64, 1},
    {"size_t", AT_U64, 1},
    {"__nv_fp8_e4m3", AT_E4M3, 1}, {"__nv_fp8_e5m2", AT_E5M2, 1},
    {"half", AT_F16, 1}, {"__half", AT_F16, 1},
    {"bfloat16", AT_BF16, 1}, {"__nv_bfloat16", AT_BF16, 1},
    {"float", AT_F32, 1},
    {"double", AT_F64, 1},
    {"half2", AT_F16, 2}, {"__half2", AT_F16, 2},
    {"bfloat162", AT_BF16, 2}, {"__nv_bfloat162", AT_BF16, 2},
    {"char2", AT_I8, 2}, {"char4", AT_I8, 4},
    {"uchar2", AT_U8, 2}, {"uchar4", AT_U8, 4},
    {"short2", AT_I16, 2}, {"short4", AT_I16, 4},
    {"ushort2", AT_U16, 2}, {"ushort4", AT_U16, 4},
    {"int2", AT_I32, 2}, {"int3", AT_I32, 3}, {"int4", AT_I32, 4},
    {"uint2", AT_U32, 2}, {"uint3", AT_U32, 3}, {"uint4", AT_U32, 4},
    {"longlong2", AT_I64, 2}, {"ulonglong2", AT_U64, 2},
    {"float2", AT_F32, 2}, {"float3", AT_F32, 3}, {"float4", AT_F32, 4},
    {"double2", AT_F64, 2}, {"double4", AT_F64, 4},
};
/* clang-format on */

/* Compare text of `size` characters with a name; several blanks are as good as one. */
static bool same_name(const char *text, size_t size, const char *name)
{
    const char *end = text + size;

    while (end > text && end[-1] == ' ')
        end--;
    while (text < end && *text == *name) {
        if (*text == ' ')
            while (text + 1 < end && text[1] == ' ')
                text++;
        text++;
        name++;
    }
    return text == end && !*name;
}

const struct at_element_type *at_element_type_find(const char *name, size_t size)
{
    for (size_t i = 0; i < AT_COUNT(types); i++)
        if (same_name(name, size, types[i].name))
            return &types[i];
    return NULL;
}

static bool same_type(const struct at_element_type *a, const struct at_element_type *b)
{
    return a->number == b->number && a->lanes == b->lanes;
}

/* All names, as "bool, char, ..."; the caller frees it. */
static char *element_type_names(void)
{
    const char *names[AT_COUNT(types)];
    size_t count = 0;

    for (size_t i = 0; i < AT_COUNT(types); i++)
        if (i == 0 || !same_type(&types[i], &types[i - 1]))
            names[count++] = types[i].name;
    return at_join(names, count);
}

bool at_element_holds(const struct at_element_type *type, int64_t value)
{
    int bits = 8 * lane_bytes(type);

    if (is_float(type))
        return true;
    if (strcmp(type->name, "bool") == 0)
        return value == 0 || value == 1;
    if (at_number_formats[type->number].kind == AT_NUMBER_UNSIGNED)
        return value >= 0 && (bits == 64 || value >> bits == 0);
    return bits == 64 || (value >= -(INT64_C(1) << (bits - 1)) && value < INT64_C(1) << (bits - 1));
}

void at_element_store(const struct at_element_type *type, void *to, enum at_number from,
                      uint64_t bits)
{
    bool saturate = is_float(type) && at_number_formats[type->number].saturates;

    bits = at_number_convert(type->number, from, bits, AT_NEAREST, saturate);
    memcpy(to, &bits, (size_t)lane_bytes(type)); /* little-endian, as GPUs are */
}

char *at_element_format(const struct at_element_type *type, const void *element)
{
    const struct at_number_format *format = &at_number_formats[type->number];
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (int i = 0; i < type->lanes; i++) {
        uint64_t bits = 0;

        memcpy(&bits, (const char *)element + i * format->bytes, (size_t)format->bytes);
        fputs(i > 0 ? ", " : "", out);
        if (is_float(type))
            fprintf(out, "%.9g",
                    at_f64_of(at_number_convert(AT_F64, type->number, bits, AT_NEAREST, false)));
        else if (format->kind == AT_NUMBER_SIGNED)
            fprintf(out, "%jd",
                    (intmax_t)at_number_convert(AT_I64, type->number, bits, AT_NEAREST, false));
        else
            fprintf(out, "%ju", (uintmax_t)bits);
    }
    return at_text_close(&stream, NULL);
}

/* ---- arguments ---- */

/* Names in the expression of an element. */
enum { INDEX, COUNT, NAMES };
static const char *const names[NAMES] = {"index", "count"};

static const char grammar[] =
    "an argument is TYPE=VALUE, TYPE[COUNT]=VALUE or struct{TYPE=VALUE,...}";

/* ---- parsing ---- */

/* Evaluate an expression without names, such as "1<<20". `what` begins the message. */
enum at_status at_argument_number(int64_t *value, const char *text, const char *what,
                                  struct at_error *err)
{
    struct at_expr *expression;
    enum at_status status =
        at_expr_parse(&expression, text, (struct at_source){what, 1, 1}, NULL, 0, err);

    if (status != AT_OK)
        return status;
    status = at_expr_eval(expression, NULL, value, err);
    at_expr_free(expression);
    return status;
}

static enum at_status refuse(const struct at_kernel_argument *argument, struct at_error *err,
                             const char *why)
{
    return at_fail(err, AT_USAGE, "--arg \"%s\": %s", argument->text, why);
}

static enum at_status refuse_type(const char *text, size_t size, struct at_error *err)
{
    char *known = element_type_names();

    at_fail(err, AT_USAGE, "--arg \"%s\": there is no type \"%.*s\"; %s, where TYPE is one of %s",
            text, (int)size, text, grammar, known);
    free(known);
    return AT_USAGE;
}

static enum at_status parse_count(struct at_kernel_argument *argument, const char *text,
                                  size_t size, struct at_error *err)
{
    char *count = at_strndup(text, size);
    enum at_status status = at_argument_number(&argument->count, count, argument->text, err);

    free(count);
    if (status != AT_OK)
        return status;
    if (argument->count < 1 || argument->count > INT64_MAX / (1 << 10))
        return refuse(argument, err, "a buffer has from 1 to 2^53 elements");
    argument->buffer = true;
    return AT_OK;
}

/* Is all of the text a number, in whatever locale the user has? */
static bool parse_real(const char *text, double *value)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0), usual = uselocale(plain);
    char *end;

    *value = strtod(text, &end);
    uselocale(usual);
    freelocale(plain);
    return end != text && !*end;
}

static enum at_status parse_expression(struct at_kernel_argument *argument, const char *text,
                                       struct at_error *err)
{
    int64_t value, none[NAMES] = {0, 1};
    enum at_status status =
        at_expr_parse(&argument->expression, text,
                      (struct at_source){argument->text, 1, 1 + (int)(text - argument->text)},
                      argument->buffer ? names : NULL, argument->buffer ? NAMES : 0, err);

    argument->value = AT_VALUE_EXPRESSION;
    if (status != AT_OK || argument->buffer)
        return status;
    status = at_expr_eval(argument->expression, none, &value, err);
    if (status == AT_OK && !at_element_holds(argument->type, value))
        status = refuse(argument, err, "the value is out of the type's range");
    return status;
}

static enum at_status parse_value(struct at_kernel_argument *argument, const char *text,
                                  struct at_error *err)
{
    int64_t whole;

    if (strcmp(text, "random") == 0) {
        argument->value = AT_VALUE_RANDOM;
        return argument->buffer ? AT_OK : refuse(argument, err, "only a buffer can be random");
    }
    if (*text == '@') {
        argument->value = AT_VALUE_FILE;
        argument->file = text + 1;
        return argument->buffer ? AT_OK : refuse(argument, err, "only a buffer comes from a file");
    }
    if (!at_integer_parse(text, strlen(text), &whole) && parse_real(text, &argument->real)) {
        argument->value = AT_VALUE_REAL;
        return is_float(argument->type) ? AT_OK
                                        : refuse(argument, err, "the type has only whole numbers");
    }
    return parse_expression(argument, text, err);
}

static const char struct_begin[] = "struct{";

static bool is_struct(const char *text)
{
    return strncmp(text, struct_begin, strlen(struct_begin)) == 0;
}

/* The length of a field's text: up to a comma or the struct's end. */
static size_t field_length(const char *text)
{
    size_t length = 0;

    for (int depth = 0; text[length] && (depth > 0 || !strchr(",}", text[length])); length++)
        depth += (strchr("({[", text[length]) != NULL) - (strchr(")}]", text[length]) != NULL);
    return length;
}

static enum at_status parse_struct(struct at_kernel_argument *argument, struct at_error *err)
{
    const char *rest = argument->text + strlen(struct_begin) - 1;
    size_t capacity = 0;

    do {
        const size_t length = field_length(rest + 1);
        char *text = at_strndup(rest + 1, length);
        struct at_kernel_argument field = {0};
        enum at_status status = at_kernel_argument_parse(&field, text, err);

        if (status != AT_OK) {
            free(text);
            return at_fail_within(err, "--arg \"%s\"", argument->text);
        }
        AT_PUSH(argument->fields, argument->field_count, capacity, field);
        rest += 1 + length;
    } while (*rest == ',');
    if (strcmp(rest, "}") != 0)
        return refuse(argument, err, grammar);
    if (at_kernel_argument_bytes(argument) > AT_ARGUMENT_WORDS * (int64_t)sizeof(uint64_t))
        return refuse(argument, err, "a struct has at most 512 bytes");
    return AT_OK;
}

enum at_status at_kernel_argument_parse(struct at_kernel_argument *argument, const char *text,
                                        struct at_error *err)
{
    struct at_kernel_argument parsed = {.text = text, .count = 1};
    size_t type = strcspn(text, "[=");
    const char *rest = text + type, *end = rest;
    enum at_status status = AT_OK;

    if (is_struct(text)) {
        status = parse_struct(&parsed, err);
        if (status == AT_OK)
            *argument = parsed;
        else
            at_kernel_argument_clear(&parsed);
        return status;
    }
    parsed.type = at_element_type_find(text, type);
    if (!parsed.type)
        return refuse_type(text, type, err);
    if (*rest == '[') {
        end = strchr(rest, ']');
        if (!end || (end[1] && end[1] != '='))
            return refuse(&parsed, err, grammar);
        status = parse_count(&parsed, rest + 1, (size_t)(end - rest - 1), err);
        end++;
    } else if (!*rest) {
        return at_fail(err, AT_USAGE, "--arg \"%s\": it has no value; %s", text, grammar);
    }
    if (status == AT_OK)
        status = parse_value(&parsed, *end ? end + 1 : "0", err);
    if (status == AT_OK)
        *argument = parsed;
    else
        at_kernel_argument_clear(&parsed);
    return status;
}

void at_kernel_argument_clear(struct at_kernel_argument *argument)
{
    for (size_t i = 0; i < argument->field_count; i++) {
        char *text = (char *)argument->fields[i].text; /* a field has its own copy */

        at_kernel_argument_clear(&argument->fields[i]);
        free(text);
    }
    free(argument->fields);
    at_expr_free(argument->expression);
    *argument = (struct at_kernel_argument){0};
}

/* ---- the layout ---- */

/* The alignment in a struct: of a vector as CUDA's vector_types.h declares it. */
static int64_t alignment_of(const struct at_kernel_argument *argument)
{
    int64_t most = 1;

    if (argument->buffer)
        return (int64_t)sizeof(uint64_t);
    if (argument->type && argument->type->lanes == 3)
        return lane_bytes(argument->type);
    if (argument->type)
        return at_kernel_argument_bytes(argument) < 16 ? at_kernel_argument_bytes(argument) : 16;
    for (size_t i = 0; i < argument->field_count; i++) {
        const int64_t own = alignment_of(&argument->fields[i]);

        most = own > most ? own : most;
    }
    return most;
}

static int64_t aligned(int64_t offset, const struct at_kernel_argument *argument)
{
    const int64_t alignment = alignment_of(argument);

    return (offset + alignment - 1) / alignment * alignment;
}

size_t at_kernel_argument_element_bytes(const struct at_kernel_argument *argument)
{
    return (size_t)(lane_bytes(argument->type) * argument->type->lanes);
}

int64_t at_kernel_argument_bytes(const struct at_kernel_argument *argument)
{
    int64_t end = 0;

    for (size_t i = 0; i < argument->field_count; i++)
        end = aligned(end, &argument->fields[i]) + at_kernel_argument_bytes(&argument->fields[i]);
    if (argument->field_count > 0)
        return aligned(end, argument);
    return argument->buffer ? (int64_t)sizeof(uint64_t)
                            : (int64_t)at_kernel_argument_element_bytes(argument);
}

/* ---- making ---- */

static double random_real(struct at_rng *rng)
{
    return (double)(at_rng_next(rng) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Write element `index`, the same in each lane of a vector. */
static enum at_status write_element(const struct at_kernel_argument *argument, int64_t index,
                                    struct at_rng *rng, char *to, struct at_error *err)
{
    const struct at_element_type *type = argument->type;
    int64_t values[NAMES] = {[INDEX] = index, [COUNT] = argument->count}, whole = 0;
    bool is_real = argument->value != AT_VALUE_EXPRESSION && is_float(type);
    double real = argument->real;
    enum at_status status = AT_OK;

    if (argument->value == AT_VALUE_EXPRESSION)
        status = at_expr_eval(argument->expression, values, &whole, err);
    else if (argument->value == AT_VALUE_RANDOM && is_real)
        real = random_real(rng);
    else if (argument->value == AT_VALUE_RANDOM)
        whole = (int64_t)at_rng_below(rng, (uint64_t)argument->count);
    for (int lane = 0; lane < type->lanes && status == AT_OK; lane++)
        if (is_real)
            at_element_store(type, to + lane * lane_bytes(type), AT_F64, at_bits_of_f64(real));
        else
            at_element_store(type, to + lane * lane_bytes(type), AT_I64, (uint64_t)whole);
    return status;
}

static enum at_status fill_from_file(const struct at_kernel_argument *argument, char *to,
                                     size_t bytes, struct at_error *err)
{
    char *text;
    size_t size;
    enum at_status status = at_file_read(&text, &size, argument->file, bytes, err);

    if (status != AT_OK)
        return at_fail_within(err, "--arg \"%s\"", argument->text);
    if (size == bytes)
        memcpy(to, text, bytes);
    else
        status = at_fail(err, AT_USAGE, "--arg \"%s\": the file has %zu bytes, not %zu",
                         argument->text, size, bytes);
    free(text);
    return status;
}

static enum at_status fill(const struct at_kernel_argument *argument, char *to, uint64_t seed,
                           struct at_error *err)
{
    struct at_rng rng = {seed};
    int64_t bytes = at_kernel_argument_element_bytes(argument);
    enum at_status status = AT_OK;

    if (argument->value == AT_VALUE_FILE)
        return fill_from_file(argument, to, (size_t)(argument->count * bytes), err);
    for (int64_t i = 0; i < argument->count && status == AT_OK; i++)
        status = write_element(argument, i, &rng, to + i * bytes, err);
    return status;
}

/* Is it a buffer of zeros, which it is from the start? */
static bool is_zero(const struct at_kernel_argument *argument)
{
    int64_t value;

    return argument->value == AT_VALUE_EXPRESSION &&
           !at_expr_uses(argument->expression, INDEX, INDEX + 1) &&
           at_expr_eval(argument->expression, (int64_t[NAMES]){0, argument->count}, &value, NULL) ==
               AT_OK &&
           value == 0;
}

static enum at_status make_struct(const struct at_kernel_argument *argument,
                                  struct at_emu_memory *memory, uint64_t seed, char *to,
                                  struct at_error *err)
{
    enum at_status status = AT_OK;
    int64_t offset = 0;

    for (size_t i = 0; i < argument->field_count && status == AT_OK; i++) {
        const struct at_kernel_argument *field = &argument->fields[i];
        uint64_t words[AT_ARGUMENT_WORDS];

        offset = aligned(offset, field);
        status = at_kernel_argument_make(field, memory, seed + i, words, err);
        if (status == AT_OK)
            memcpy(to + offset, words, (size_t)at_kernel_argument_bytes(field));
        offset += at_kernel_argument_bytes(field);
    }
    return status;
}

enum at_status at_kernel_argument_make(const struct at_kernel_argument *argument,
                                       struct at_emu_memory *memory, uint64_t seed,
                                       uint64_t words[AT_ARGUMENT_WORDS], struct at_error *err)
{
    int64_t bytes;

    memset(words, 0, AT_ARGUMENT_WORDS * sizeof *words);
    if (argument->field_count > 0)
        return make_struct(argument, memory, seed, (char *)words, err);
    bytes = argument->count * (int64_t)at_kernel_argument_element_bytes(argument);
    if (!argument->buffer)
        return fill(argument, (char *)words, seed, err);
    words[0] = at_emu_memory_allocate(memory, bytes);
    if (!words[0])
        return at_fail(err, AT_FAILED, "--arg \"%s\": this machine has too little memory",
                       argument->text);
    if (is_zero(argument))
        return AT_OK;
    return fill(argument, at_emu_memory_host(memory, words[0], (size_t)bytes), seed, err);
}
