/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/own_kernel.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "explain/kernel_argument.h"
#include "system/file.h"
#include "system/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES_MAX = 4 << 20 };

/* ---- the file ---- */

/* The line in a message "NAME(LINE): ..."; 0: it has none. */
static int64_t line_in(const char *message, const char *name)
{
    size_t length = strlen(name);

    if (strncmp(message, name, length) != 0 || message[length] != '(')
        return 0;
    return strtoll(message + length + 1, NULL, 10);
}

/* A compilation of the file that is tried again without what keeps it from compiling. */
struct attempt {
    char *text;                       /* it keeps its lines */
    bool blanked;                     /* it has no functions of the host any more */
    struct at_source_options options; /* with the instances of templates that the file launches */
    char *missing; /* the message about the first #include or instance left out; NULL: none */
};

static void begin_attempt(struct attempt *attempt, const char *text,
                          const struct at_host_launches *launches,
                          const struct at_source_options *options)
{
    struct at_texts *instances = &attempt->options.instances;

    *attempt = (struct attempt){.text = at_strdup(text), .options = *options};
    *instances = (struct at_texts){0};
    for (size_t i = 0; i < launches->count; i++)
        if (launches->items[i].is_instance)
            AT_PUSH(instances->items, instances->count, instances->capacity,
                    launches->items[i].kernel);
    for (size_t i = 0; i < options->instances.count; i++)
        AT_PUSH(instances->items, instances->count, instances->capacity,
                options->instances.items[i]);
}

static void end_attempt(struct attempt *attempt)
{
    free(attempt->text);
    free(attempt->options.instances.items);
    free(attempt->missing);
}

/* NVRTC has the instances in a file of this name, from this line on. */
static const char instances_file[] = "__nv_name_map";
enum { FIRST_INSTANCE_LINE = 2 };

/* Keep the first message of this kind, which tells why there is no kernel, or why one fails. */
static void note_missing(struct attempt *attempt, char *message)
{
    if (attempt->missing)
        free(message);
    else
        attempt->missing = message;
}

/* Leave out the instance that the message is about: it has no meaning outside the function that
 * launches it, or outside its namespace. False: it is about something else. */
static bool leave_out_instance(struct attempt *attempt, const char *message)
{
    struct at_texts *instances = &attempt->options.instances;
    int64_t number = line_in(message, instances_file) - FIRST_INSTANCE_LINE;
    const char *reason = strstr(message, "error: ");

    if (number < 0 || (size_t)number >= instances->count)
        return false;
    note_missing(attempt, at_format("%s: %s", instances->items[number], reason ? reason : message));
    for (size_t i = (size_t)number; i + 1 < instances->count; i++)
        instances->items[i] = instances->items[i + 1];
    instances->count--;
    return true;
}

/* Leave out what the message is about, if the device does not need it: what is declared at the
 * line, or the last #include if it is about another file. False: there is nothing. */
static bool leave_out(struct attempt *attempt, const char *name, const char *message)
{
    int64_t line = line_in(message, name);

    if (line == 0 || strstr(message, "open source file"))
        note_missing(attempt, at_strdup(message));
    return line > 0 ? at_host_line_blank(attempt->text, line)
                    : at_host_include_blank(attempt->text);
}

/* Declarations that are left out one after another, each for an error: every one takes a second. */
enum { TRIES = 32 };

/* Compile the file as it is. If that fails, leave out the functions of the host, and then what else
 * is not for the device and has an error. */
static enum at_status compile(struct at_compiled_source *compiled, const char *path,
                              struct attempt *attempt, int64_t compute_capability,
                              struct at_error *err)
{
    const char *name = at_path_name(path);
    enum at_status status = AT_FAILED;
    bool changed = true;

    for (int i = 0; i < TRIES && status == AT_FAILED && changed; i++) {
        status = at_compile_source(compiled, path, attempt->text, &attempt->options,
                                   compute_capability, err);
        if (status == AT_FAILED && !leave_out_instance(attempt, err->message)) {
            changed = attempt->blanked ? leave_out(attempt, name, err->message)
                                       : at_host_functions_blank(attempt->text);
            attempt->blanked = true;
        }
    }
    return status;
}

enum at_status at_own_text_compile(char **text, const char *path,
                                   const struct at_source_options *options,
                                   int64_t compute_capability, struct at_error *err)
{
    const struct at_host_launches none = {0};
    struct at_compiled_source compiled = {0};
    struct attempt attempt;
    enum at_status status;

    begin_attempt(&attempt, *text, &none, options);
    attempt.blanked = true;
    status = compile(&compiled, path, &attempt, compute_capability, err);
    at_compiled_source_clear(&compiled);
    if (status == AT_OK) {
        free(*text);
        *text = at_strdup(attempt.text);
    }
    end_attempt(&attempt);
    return status;
}

enum at_status at_own_file_read(struct at_own_file *file, const char *path,
                                const struct at_source_options *options,
                                const struct at_device_info *device, struct at_error *err)
{
    struct attempt attempt;
    size_t size;
    enum at_status status = at_file_read_text(&file->text, &size, path, FILE_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    file->path = at_strdup(path);
    at_host_launches_read(&file->launches, file->text);
    begin_attempt(&attempt, file->text, &file->launches, options);
    status = compile(&file->compiled, path, &attempt, device->compute_capability, err);
    if (status == AT_OK)
        at_entry_points_read(&file->entries, file->compiled.ptx, file->compiled.ptx_size);
    if ((status == AT_FAILED || (status == AT_OK && file->entries.count == 0)) && attempt.missing)
        status = at_fail(err, AT_FAILED, "%s", attempt.missing);
    end_attempt(&attempt);
    return status;
}

void at_own_file_clear(struct at_own_file *file)
{
    at_entry_points_clear(&file->entries);
    at_compiled_source_clear(&file->compiled);
    at_host_launches_clear(&file->launches);
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
        enum at_status status = at_argument_number(value, part, what, err);

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
    enum at_status status = text ? at_argument_number(bytes, text, "--shared", err) : AT_OK;

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
    bool whole =
        argument->buffer || (argument->type && at_number_is_integer(argument->type->number));
    bool is_struct = argument->field_count > 0;
    char words[AT_PARAMETER_WORDS];

    if (bytes == parameter->bytes &&
        (parameter->is_block || (!is_struct && whole != parameter->is_float)))
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

/* The words that an argument takes among those of all. */
static size_t words_of(const struct at_kernel_argument *argument)
{
    return ((size_t)at_kernel_argument_bytes(argument) + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

static enum at_status make_arguments(struct arguments *arguments, struct at_emu_memory *memory,
                                     struct at_error *err)
{
    enum at_status status = AT_OK;

    arguments->words =
        at_alloc_array(AT_ARGUMENT_WORDS * arguments->count, sizeof *arguments->words);
    for (size_t i = 0; i < arguments->count && status == AT_OK; i++) {
        uint64_t words[AT_ARGUMENT_WORDS];
        size_t count = words_of(&arguments->items[i]);

        status = at_kernel_argument_make(&arguments->items[i], memory, i, words, err);
        if (status == AT_OK)
            memcpy(arguments->words + arguments->word_count, words, count * sizeof *words);
        arguments->word_count += count;
    }
    return status;
}

/* ---- what the file itself tells of the launch ---- */

/* A launch, with what the user's lacks from the file's. */
struct whole_launch {
    struct at_own_launch launch;
    char **arguments; /* owned, where they come from the file */
    size_t count;
};

static void clear_whole(struct whole_launch *whole)
{
    for (size_t i = 0; i < whole->count; i++)
        free(whole->arguments[i]);
    free(whole->arguments);
}

static enum at_status not_plain(const struct at_host_launch *host, const char *what,
                                const char *text, const char *option, struct at_error *err)
{
    return at_fail(err, AT_FAILED, "line %jd launches %s, but %s is not plain: %s; give %s",
                   (intmax_t)host->line, host->kernel, what, text, option);
}

static enum at_status take_arguments(struct whole_launch *whole, const struct at_host_launch *host,
                                     const struct at_entry_point *entry, struct at_error *err)
{
    enum at_status status = AT_OK;

    whole->arguments = at_alloc_array(host->count, sizeof *whole->arguments);
    for (; whole->count < host->count && whole->count < entry->count && status == AT_OK;
         whole->count++) {
        const struct at_host_argument *argument = &host->arguments[whole->count];
        char *text = at_host_argument_format(argument, &entry->parameters[whole->count]);
        char *what = at_format("argument %zu", whole->count + 1);

        whole->arguments[whole->count] = text;
        if (!text)
            status = not_plain(host, what, argument->text, "all with --arg", err);
        free(what);
    }
    whole->launch.arguments = (const char *const *)whole->arguments;
    whole->launch.argument_count = whole->count;
    return status;
}

/* Complete the launch; the caller clears it, also if this fails. */
static enum at_status complete(struct whole_launch *whole, const struct at_own_file *file,
                               const struct at_entry_point *entry, struct at_error *err)
{
    const struct at_host_launch *host = at_host_launch_find(&file->launches, entry);
    struct at_own_launch *launch = &whole->launch;

    if (!host && file->launches.count > 0 && !launch->grid)
        return at_fail(err, AT_FAILED,
                       "the file does not launch %s by name; give --grid, --block "
                       "and --arg",
                       entry->plain);
    if (!host)
        return AT_OK;
    if (!launch->grid && !host->grid)
        return not_plain(host, "its grid", host->grid_text, "--grid", err);
    if (!launch->block && !host->block)
        return not_plain(host, "its block", host->block_text, "--block", err);
    launch->grid = launch->grid ? launch->grid : host->grid;
    launch->block = launch->block ? launch->block : host->block;
    launch->shared = launch->shared ? launch->shared : host->shared;
    return launch->argument_count > 0 ? AT_OK : take_arguments(whole, host, entry, err);
}

/* The only kernel that the file launches; NULL: there are several, or none. */
static const char *launched_alone(const struct at_own_file *file)
{
    const struct at_host_launches *launches = &file->launches;
    const char *name = NULL;

    for (size_t i = 0; i < file->entries.count; i++) {
        const struct at_entry_point *entry = &file->entries.items[i];

        if (!at_host_launch_find(launches, entry))
            continue;
        if (name)
            return NULL;
        name = entry->name;
    }
    return name;
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

/* A launch that is ready: the kernel, its data and its arguments. */
struct ready {
    const struct at_entry_point *entry;
    struct whole_launch whole;
    struct arguments arguments;
    struct at_explained_kernel kernel;
};

static void clear_ready(struct ready *ready)
{
    clear_arguments(&ready->arguments);
    clear_whole(&ready->whole);
    at_emu_memory_free(ready->kernel.memory);
}

/* Make a zeroed launch ready; the caller clears it, also if this fails. */
static enum at_status make_ready(struct ready *ready, const struct at_own_file *file,
                                 const struct at_own_launch *launch,
                                 const struct at_device_info *device, struct at_error *err)
{
    struct at_explained_kernel *kernel = &ready->kernel;
    const char *name = launch->entry ? launch->entry : launched_alone(file);
    enum at_status status =
        at_entry_points_find(&file->entries, at_path_name(file->path), name, &ready->entry, err);

    kernel->memory = at_emu_memory_new();
    if (status != AT_OK)
        return status;
    kernel->ptx = file->compiled.ptx;
    kernel->ptx_size = file->compiled.ptx_size;
    kernel->entry = ready->entry->name;
    kernel->name = ready->entry->plain;
    kernel->resources = at_ptxas_resources(file->compiled.log, kernel->entry);
    ready->whole.launch = *launch;
    launch = &ready->whole.launch;
    status = complete(&ready->whole, file, ready->entry, err);
    if (status == AT_OK)
        status = parse_launch(&kernel->launch, launch, kernel->resources.shared_bytes, device, err);
    if (status == AT_OK)
        status = parse_arguments(&ready->arguments, launch, ready->entry, err);
    if (status == AT_OK)
        status = make_arguments(&ready->arguments, kernel->memory, err);
    if (status != AT_OK)
        return at_fail_within(err, "%s", at_path_name(file->path));
    at_emu_memory_rewind(kernel->memory); /* it is run again to predict the time */
    kernel->args = ready->arguments.words;
    kernel->arg_count = ready->arguments.count;
    kernel->arg_words = ready->arguments.word_count;
    return AT_OK;
}

enum at_status at_own_kernel_explain(const struct at_own_file *file,
                                     const struct at_own_launch *launch,
                                     const struct at_device_info *device,
                                     const struct at_rates *rates, int64_t max_blocks,
                                     struct at_progress *progress,
                                     struct at_explanation *explanation, struct at_error *err)
{
    struct ready ready = {0};
    enum at_status status = make_ready(&ready, file, launch, device, err);

    ready.kernel.progress = progress;
    if (status == AT_OK) {
        status = at_explain_kernel(&ready.kernel, device, rates, max_blocks, explanation, err);
        if (status != AT_OK)
            at_fail_within(err, "%s", at_path_name(file->path));
    }
    if (status == AT_OK)
        name_kernel(explanation, file, ready.entry, &ready.whole.launch);
    clear_ready(&ready);
    return status;
}

/* ---- comparing ---- */

static size_t buffer_bytes(const struct at_kernel_argument *argument)
{
    return at_kernel_argument_element_bytes(argument) * (size_t)argument->count;
}

/* Where the bytes of argument `number`, a buffer, are on the host. */
static const unsigned char *buffer_of(const struct ready *ready, size_t number)
{
    const struct arguments *arguments = &ready->arguments;
    size_t word = 0;

    for (size_t i = 0; i < number; i++)
        word += words_of(&arguments->items[i]);
    return at_emu_memory_host(ready->kernel.memory, arguments->words[word],
                              buffer_bytes(&arguments->items[number]));
}

/* Compare a buffer with what it should be. The message names the first element that differs. */
static enum at_status compare_buffer(const struct ready *ready, size_t number,
                                     const unsigned char *wanted, const char *whose,
                                     struct at_error *err)
{
    const struct at_kernel_argument *argument = &ready->arguments.items[number];
    const size_t bytes = at_kernel_argument_element_bytes(argument);
    const unsigned char *got = buffer_of(ready, number);
    char *texts[2];
    int64_t first = -1, wrong = 0;

    for (int64_t i = 0; i < argument->count; i++)
        if (memcmp(got + (size_t)i * bytes, wanted + (size_t)i * bytes, bytes) != 0)
            first = wrong++ == 0 ? i : first;
    if (wrong == 0)
        return AT_OK;
    texts[0] = at_element_format(argument->type, got + (size_t)first * bytes);
    texts[1] = at_element_format(argument->type, wanted + (size_t)first * bytes);
    at_fail(err, AT_FAILED,
            "%s leaves wrong results in argument %zu, %s: element %jd is %s, and %s has %s there; "
            "of %jd elements %jd differ",
            ready->entry->plain, number + 1, argument->text, (intmax_t)first, texts[0], whose,
            texts[1], (intmax_t)argument->count, (intmax_t)wrong);
    free(texts[0]);
    free(texts[1]);
    return AT_FAILED;
}

/* Both have buffers of the same types and counts. */
static enum at_status compare_buffers(const struct ready *ready, const struct ready *reference,
                                      struct at_error *err)
{
    const struct arguments *own = &ready->arguments, *others = &reference->arguments;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < own->count && status == AT_OK; i++) {
        const struct at_kernel_argument *argument = &own->items[i];

        if (i >= others->count || others->items[i].buffer != argument->buffer ||
            (argument->buffer && (others->items[i].type != argument->type ||
                                  others->items[i].count != argument->count)))
            return at_fail(err, AT_USAGE,
                           "argument %zu of %s is no buffer like that of %s: --check compares "
                           "kernels with the same buffers",
                           i + 1, ready->entry->plain, reference->entry->plain);
        if (argument->buffer)
            status =
                compare_buffer(ready, i, buffer_of(reference, i), reference->entry->plain, err);
    }
    return status;
}

/* Compare an argument with a file of its bytes: NUMBER@FILE. */
static enum at_status compare_file(const struct ready *ready, const char *check,
                                   struct at_error *err)
{
    char *end;
    const unsigned long number = strtoul(check, &end, 10);
    const struct arguments *arguments = &ready->arguments;
    const struct at_kernel_argument *argument;
    char *text;
    size_t size;
    enum at_status status;

    if (number < 1 || number > arguments->count || !arguments->items[number - 1].buffer)
        return at_fail(err, AT_USAGE, "--check %s: argument %lu of %s is no buffer", check, number,
                       ready->entry->plain);
    argument = &arguments->items[number - 1];
    status = at_file_read(&text, &size, end + 1, SIZE_MAX / 2, err);
    if (status != AT_OK)
        return status;
    if (size != buffer_bytes(argument))
        status =
            at_fail(err, AT_USAGE, "--check %s: the file has %zu bytes, and argument %lu has %zu",
                    check, size, number, buffer_bytes(argument));
    else
        status = compare_buffer(ready, number - 1, (unsigned char *)text, end + 1, err);
    free(text);
    return status;
}

/* Is it NUMBER@FILE? */
static bool names_file(const char *check)
{
    return check[strspn(check, "0123456789")] == '@' && check[0] != '@';
}

enum at_status at_own_kernel_check(const struct at_own_file *file,
                                   const struct at_own_launch *launch,
                                   const struct at_own_launch *reference,
                                   const struct at_device_info *device, struct at_error *err)
{
    struct ready ready = {0}, other = {0};
    struct at_own_launch same = *launch;
    enum at_status status = make_ready(&ready, file, launch, device, err);

    if (status == AT_OK)
        status = at_run_kernel(&ready.kernel, device, err);
    if (status == AT_OK && names_file(launch->check)) {
        status = compare_file(&ready, launch->check, err);
    } else if (status == AT_OK) {
        same.entry = launch->check;
        status = make_ready(&other, file, reference ? reference : &same, device, err);
        if (status == AT_OK)
            status = at_run_kernel(&other.kernel, device, err);
        if (status == AT_OK)
            status = compare_buffers(&ready, &other, err);
        clear_ready(&other);
    }
    clear_ready(&ready);
    return status;
}
