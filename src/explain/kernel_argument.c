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

/* ---- arguments ---- */

/* Names in the expression of an element. */
enum { INDEX, COUNT, NAMES };
static const char *const names[NAMES] = {"index", "count"};

static const char grammar[] = "an argument is TYPE=VALUE or TYPE[COUNT]=VALUE";

/* ---- parsing ---- */

/* Evaluate an expression without names, such as "1<<20". `what` begins the message. */
static enum at_status number_parse(int64_t *value, const char *text, const char *what,
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
    enum at_status status = number_parse(&argument->count, count, argument->text, err);

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

enum at_status at_kernel_argument_parse(struct at_kernel_argument *argument, const char *text,
                                        struct at_error *err)
{
    struct at_kernel_argument parsed = {.text = text, .count = 1};
    size_t type = strcspn(text, "[=");
    const char *rest = text + type, *end = rest;
    enum at_status status = AT_OK;

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
    at_expr_free(argument->expression);
    argument->expression = NULL;
}

/* ---- making ---- */

static int64_t element_bytes(const struct at_kernel_argument *argument)
{
    return (int64_t)lane_bytes(argument->type) * argument->type->lanes;
}

int64_t at_kernel_argument_bytes(const struct at_kernel_argument *argument)
{
    return argument->buffer ? (int64_t)sizeof(uint64_t) : element_bytes(argument);
}

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
    int64_t bytes = element_bytes(argument);
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

enum at_status at_kernel_argument_make(const struct at_kernel_argument *argument,
                                       struct at_emu_memory *memory, uint64_t seed,
                                       uint64_t words[AT_ARGUMENT_WORDS], struct at_error *err)
{
    int64_t bytes = argument->count * element_bytes(argument);

    memset(words, 0, AT_ARGUMENT_WORDS * sizeof *words);
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

enum { FILE_BYTES_MAX = 4 << 20 };

/* ---- the file ---- */

enum at_status at_own_file_read(struct at_own_file *file, const char *path,
                                const struct at_source_options *options,
                                const struct at_device_info *device, struct at_error *err)
{
    size_t size;
    enum at_status status = at_file_read_text(&file->text, &size, path, FILE_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    file->path = at_strdup(path);
    status = at_compile_source(&file->compiled, path, file->text, options,
                               device->compute_capability, err);
    if (status == AT_OK)
        at_entry_points_read(&file->entries, file->compiled.ptx, file->compiled.ptx_size);
    return status;
}

void at_own_file_clear(struct at_own_file *file)
{
    at_entry_points_clear(&file->entries);
    at_compiled_source_clear(&file->compiled);
    free(file->text);
    free(file->path);
    *file = (struct at_own_file){0};
}

/* ---- the launch ---- */

/* Bounds of CUDA, as of a family's launch (doc/space-format.md). */
static const struct extent {
    const char *option, *of;
    enum at_launch_field first;
    int64_t max[3];
} grid_extent = {"--grid", "blocks", AT_GRID_X, {INT32_MAX, 65535, 65535}},
  block_extent = {"--block", "threads", AT_BLOCK_X, {1024, 1024, 64}};

/* The length of the text up to a comma that is in no parentheses. */
static size_t part_length(const char *text)
{
    size_t length = 0;
    int depth = 0;

    for (; text[length] && (text[length] != ',' || depth > 0); length++)
        depth += (text[length] == '(') - (text[length] == ')');
    return length;
}

static enum at_status parse_extent(struct at_launch *launch, const struct extent *extent,
                                   const char *text, struct at_error *err)
{
    const char *rest = text;

    if (!text)
        return at_fail(err, AT_USAGE, "how many %s? %s X, X,Y or X,Y,Z gives their number",
                       extent->of, extent->option);
    for (int i = 0; i < 3; i++) {
        size_t length = rest ? part_length(rest) : 0;
        char *part = rest ? at_strndup(rest, length) : at_strdup("1");
        char *what = at_format("%s %s", extent->option, text);
        int64_t *value = &launch->field[extent->first + i];
        enum at_status status = number_parse(value, part, what, err);

        free(part);
        free(what);
        if (status != AT_OK)
            return status;
        if (*value < 1 || *value > extent->max[i])
            return at_fail(err, AT_USAGE, "%s %s: %c is from 1 to %jd %s, not %jd", extent->option,
                           text, "xyz"[i], (intmax_t)extent -> max[i], extent -> of,
                           (intmax_t)*value);
        if (rest)
            rest = rest[length] ? rest + length + 1 : NULL;
    }
    if (rest)
        return at_fail(err, AT_USAGE, "%s %s: it has more than three numbers", extent->option,
                       text);
    return AT_OK;
}

static enum at_status check_block(const struct at_launch *launch, const char *text,
                                  const struct at_device_info *device, struct at_error *err)
{
    const int64_t *field = launch->field;
    int64_t threads = field[AT_BLOCK_X] * field[AT_BLOCK_Y] * field[AT_BLOCK_Z];

    if (threads > device->max_threads_per_block)
        return at_fail(err, AT_USAGE, "--block %s: %jd threads; a block has at most %jd", text,
                       (intmax_t)threads, (intmax_t)device->max_threads_per_block);
    return AT_OK;
}

static enum at_status parse_shared(struct at_launch *launch, const char *text, int64_t static_bytes,
                                   const struct at_device_info *device, struct at_error *err)
{
    int64_t *bytes = &launch->field[AT_SHARED_BYTES];
    enum at_status status = text ? number_parse(bytes, text, "--shared", err) : AT_OK;

    if (status != AT_OK)
        return status;
    if (*bytes < 0 || *bytes + static_bytes > device->shared_bytes_per_block_optin)
        return at_fail(err, AT_USAGE,
                       "%jd bytes of dynamic shared memory and %jd of static; a block has at most "
                       "%jd",
                       (intmax_t)*bytes, (intmax_t)static_bytes,
                       (intmax_t)device->shared_bytes_per_block_optin);
    return AT_OK;
}

static enum at_status parse_launch(struct at_launch *parsed, const struct at_own_launch *launch,
                                   int64_t static_bytes, const struct at_device_info *device,
                                   struct at_error *err)
{
    enum at_status status = parse_extent(parsed, &grid_extent, launch->grid, err);

    if (status == AT_OK)
        status = parse_extent(parsed, &block_extent, launch->block, err);
    if (status == AT_OK)
        status = check_block(parsed, launch->block, device, err);
    if (status == AT_OK)
        status = parse_shared(parsed, launch->shared, static_bytes, device, err);
    parsed->field[AT_CARVEOUT_PERCENT] = -1;
    return status;
}

/* ---- the arguments ---- */

struct arguments {
    struct at_kernel_argument *items;
    size_t count;
    uint64_t *words; /* of all, one after the other */
    size_t word_count;
};

static void clear_arguments(struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->count; i++)
        at_kernel_argument_clear(&arguments->items[i]);
    free(arguments->items);
    free(arguments->words);
}

static enum at_status check_argument(const struct at_kernel_argument *argument,
                                     const struct at_entry_parameter *parameter, size_t number,
                                     struct at_error *err)
{
    int64_t bytes = at_kernel_argument_bytes(argument);
    bool whole = argument->buffer || !is_float(argument->type);
    char words[AT_PARAMETER_WORDS];

    if (bytes == parameter->bytes && (parameter->is_block || whole != parameter->is_float))
        return AT_OK;
    at_entry_parameter_words(words, parameter);
    return at_fail(err, AT_USAGE, "argument %zu is %s, not --arg \"%s\"", number + 1, words,
                   argument->text);
}

/* Parse all arguments and compare them with the kernel's parameters. */
static enum at_status parse_arguments(struct arguments *arguments,
                                      const struct at_own_launch *launch,
                                      const struct at_entry_point *entry, struct at_error *err)
{
    char *takes = at_entry_point_format(entry);
    enum at_status status = AT_OK;

    arguments->items = at_alloc_array(launch->argument_count, sizeof *arguments->items);
    for (size_t i = 0; i < launch->argument_count && status == AT_OK; i++) {
        status = at_kernel_argument_parse(&arguments->items[i], launch->arguments[i], err);
        arguments->count += status == AT_OK;
    }
    if (status == AT_OK && arguments->count != entry->count)
        status = at_fail(err, AT_USAGE, "%s takes %zu argument%s; --arg gives %zu%s", takes,
                         entry->count, entry->count == 1 ? "" : "s", arguments->count,
                         arguments->count > 0
                             ? ""
                             : ": a buffer like --arg float[1024], a number like --arg int=1024");
    for (size_t i = 0; i < entry->count && status == AT_OK; i++) {
        status = check_argument(&arguments->items[i], &entry->parameters[i], i, err);
        if (status != AT_OK)
            at_fail_within(err, "%s", takes);
    }
    free(takes);
    return status;
}

static enum at_status make_arguments(struct arguments *arguments, struct at_emu_memory *memory,
                                     struct at_error *err)
{
    enum at_status status = AT_OK;

    arguments->words =
        at_alloc_array(AT_ARGUMENT_WORDS * arguments->count, sizeof *arguments->words);
    for (size_t i = 0; i < arguments->count && status == AT_OK; i++) {
        uint64_t words[AT_ARGUMENT_WORDS];
        size_t count =
            ((size_t)at_kernel_argument_bytes(&arguments->items[i]) + sizeof *words - 1) /
            sizeof *words;

        status = at_kernel_argument_make(&arguments->items[i], memory, i, words, err);
        if (status == AT_OK)
            memcpy(arguments->words + arguments->word_count, words, count * sizeof *words);
        arguments->word_count += count;
    }
    return status;
}

/* ---- the whole ---- */

static void name_kernel(struct at_explanation *explanation, const struct at_own_file *file,
                        const struct at_entry_point *entry, const struct at_own_launch *launch)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text;

    fprintf(out, "--grid %s --block %s", launch->grid, launch->block);
    if (launch->shared)
        fprintf(out, " --shared %s", launch->shared);
    for (size_t i = 0; i < launch->argument_count; i++)
        fprintf(out, " --arg '%s'", launch->arguments[i]);
    text = at_text_close(&stream, NULL);
    snprintf(explanation->file, sizeof explanation->file, "%s", at_path_name(file->path));
    snprintf(explanation->entry, sizeof explanation->entry, "%s", entry->plain);
    snprintf(explanation->launch, sizeof explanation->launch, "%s", text);
    free(text);
}

static enum at_status run(const struct at_own_file *file, const struct at_own_launch *launch,
                          const struct at_entry_point *entry, const struct at_device_info *device,
                          const struct at_rates *rates, int64_t max_blocks,
                          struct at_progress *progress, struct at_explanation *explanation,
                          struct at_error *err)
{
    struct at_emu_memory *memory = at_emu_memory_new();
    struct arguments arguments = {0};
    struct at_explained_kernel kernel = {
        .ptx = file->compiled.ptx,
        .ptx_size = file->compiled.ptx_size,
        .entry = entry->name,
        .name = entry->plain,
        .resources = at_ptxas_resources(file->compiled.log, entry->name),
        .memory = memory,
        .progress = progress,
    };
    enum at_status status =
        parse_launch(&kernel.launch, launch, kernel.resources.shared_bytes, device, err);

    if (status == AT_OK)
        status = parse_arguments(&arguments, launch, entry, err);
    if (status == AT_OK)
        status = make_arguments(&arguments, memory, err);
    if (status == AT_OK) {
        at_emu_memory_rewind(memory); /* it is run again to predict the time */
        kernel.args = arguments.words;
        kernel.arg_count = arguments.count;
        kernel.arg_words = arguments.word_count;
        status = at_explain_kernel(&kernel, device, rates, max_blocks, explanation, err);
    }
    clear_arguments(&arguments);
    at_emu_memory_free(memory);
    return status;
}

enum at_status at_own_kernel_explain(const struct at_own_file *file,
                                     const struct at_own_launch *launch,
                                     const struct at_device_info *device,
                                     const struct at_rates *rates, int64_t max_blocks,
                                     struct at_progress *progress,
                                     struct at_explanation *explanation, struct at_error *err)
{
    const struct at_entry_point *entry;
    enum at_status status =
        at_entry_points_find(&file->entries, at_path_name(file->path), launch->entry, &entry, err);

    if (status != AT_OK)
        return status;
    status = run(file, launch, entry, device, rates, max_blocks, progress, explanation, err);
    if (status != AT_OK)
        at_fail_within(err, "%s", at_path_name(file->path));
    else
        name_kernel(explanation, file, entry, launch);
    return status;
}
