/* SPDX-License-Identifier: Apache-2.0 */
#include "explain/own_draft.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "explain/host_code.h"
#include "explain/host_tokens.h"
#include "explain/kernel_argument.h"
#include "explain/own_kernel.h"
#include "system/file.h"
#include "system/paths.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A file may be a stranger's: no more of its names are looked for, and no longer declarations read.
 */
enum {
    FILE_BYTES_MAX = 4 << 20,
    LOOKED_FOR_MAX = 256,
    DECLARATION_WORDS = 8,
    PARAM_LENGTH = 31,
};

/* ---- what the names of macros mean ---- */

/* By parts of names, in lower case; the first that fits. Kernel Tuner: block_size_x, tile_size_x,
 * use_padding, loop_unroll_factor. KTT: WORK_GROUP_SIZE_X, TILE_SIZE_X, VECTOR_TYPE. NVIDIA's
 * samples: TILE_DIM, BLOCK_ROWS. */
static const struct at_draft_convention conventions[] = {
    {"unroll", AT_DRAFT_NO_ROLE, "iterations that are unrolled together", {1, 2, 4, 8}},
    {"pad", AT_DRAFT_NO_ROLE, "elements that pad a row of shared memory", {0, 1}},
    {"use_", AT_DRAFT_NO_ROLE, "whether it is used", {0, 1}},
    {"vec", AT_DRAFT_NO_ROLE, "elements of an access", {1, 2, 4}},
    {"tile_dim", AT_DRAFT_TILE, "columns and rows of a tile", {16, 32, 64}},
    {"tiledim", AT_DRAFT_TILE, "columns and rows of a tile", {16, 32, 64}},
    {"block_rows", AT_DRAFT_ROWS, "rows of a block's threads", {2, 4, 8, 16}},
    {"block", AT_DRAFT_THREADS, "threads of a block", {16, 32, 64, 128}},
    {"group", AT_DRAFT_THREADS, "threads of a block", {16, 32, 64, 128}},
    {"local_size", AT_DRAFT_THREADS, "threads of a block", {16, 32, 64, 128}},
    {"threads", AT_DRAFT_THREADS, "threads of a block", {16, 32, 64, 128}},
    {"tile", AT_DRAFT_FACTOR, "elements of a thread", {1, 2, 4, 8}},
    {"elem", AT_DRAFT_FACTOR, "elements of a thread", {1, 2, 4, 8}},
    {"work_per", AT_DRAFT_FACTOR, "elements of a thread", {1, 2, 4, 8}},
};
static const struct at_draft_convention other = {
    "", AT_DRAFT_NO_ROLE, "a macro of the kernel", {1, 2, 4}};
/* Along y a block has fewer threads. */
static const int threads_y[AT_DRAFT_VALUES] = {1, 2, 4, 8, 16, 32};

static char *lower_of(const char *text)
{
    char *lower = at_strdup(text);

    for (char *c = lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    return lower;
}

static const struct at_draft_convention *convention_of(const char *name)
{
    char *lower = lower_of(name);
    const struct at_draft_convention *found = &other;

    for (size_t i = 0; i < AT_COUNT(conventions) && found == &other; i++)
        if (strstr(lower, conventions[i].part))
            found = &conventions[i];
    free(lower);
    return found;
}

/* ---- the parameters ---- */

static bool has_macro(const struct at_draft *draft, const char *name, size_t size)
{
    for (size_t i = 0; i < draft->macro_count; i++)
        if (strlen(draft->macros[i].name) == size && memcmp(draft->macros[i].name, name, size) == 0)
            return true;
    return false;
}

static char axis_of(const char *name)
{
    char last = (char)tolower((unsigned char)name[strlen(name) - 1]);
    size_t length = strlen(name);

    return length > 1 && strchr("xyz", last) &&
                   (name[length - 2] == '_' || isupper((unsigned char)name[length - 1]))
               ? last
               : 'x';
}

/* The name of the parameter: in capitals, and it begins with one (doc/space-format.md). */
static char *param_of(const char *name, size_t size)
{
    char *param = at_format("%s%.*s", isalpha((unsigned char)*name) ? "" : "P", (int)size, name);

    for (char *c = param; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return param;
}

static enum at_status check_param(const struct at_draft *draft, const struct at_draft_macro *macro,
                                  struct at_error *err)
{
    if (draft->macro_count == AT_DRAFT_MACROS)
        return at_fail(err, AT_FAILED,
                       "more than %d macros would become parameters: give some with --define",
                       AT_DRAFT_MACROS);
    if (strlen(macro->param) > PARAM_LENGTH)
        return at_fail(err, AT_FAILED,
                       "the name %s is too long for a parameter: give it with --define",
                       macro->name);
    for (size_t i = 0; i < draft->macro_count; i++)
        if (strcmp(draft->macros[i].param, macro->param) == 0)
            return at_fail(err, AT_FAILED,
                           "%s and %s would be the same parameter: give one with --define",
                           draft->macros[i].name, macro->name);
    return AT_OK;
}

static enum at_status add_macro(struct at_draft *draft, const char *name, size_t size,
                                const int64_t *value, struct at_error *err)
{
    struct at_draft_macro macro = {.name = at_strndup(name, size), .param = param_of(name, size)};
    enum at_status status = check_param(draft, &macro, err);

    if (status != AT_OK) {
        free(macro.name);
        free(macro.param);
        return status;
    }
    macro.convention = convention_of(macro.name);
    macro.axis = axis_of(macro.name);
    macro.values = macro.convention->role == AT_DRAFT_THREADS && macro.axis != 'x'
                       ? threads_y
                       : macro.convention->values;
    macro.value = value ? *value : macro.convention->values[0];
    if (!value && macro.convention->role == AT_DRAFT_THREADS)
        macro.value = macro.axis == 'x' ? 32 : macro.axis == 'y' ? 8 : 1;
    draft->macros[draft->macro_count++] = macro;
    return AT_OK;
}

/* ---- macros that the file defines ---- */

static bool is_word(const struct at_host_token *token, const char *name, size_t size)
{
    return token->kind == AT_HOST_WORD && token->size == size &&
           memcmp(token->text, name, size) == 0;
}

/* Does the body of a "#define" have the name? */
static bool body_uses(const struct at_host_token *directive, const char *name, size_t size)
{
    char *line;
    const char *at;
    struct at_host_token token = at_host_directive(directive, &line, &at);
    bool found = false;

    if (at_host_token_is(&token, "define"))
        at_host_token_next(&at);
    else
        token.kind = AT_HOST_END;
    while (token.kind != AT_HOST_END && token.kind != AT_HOST_DIRECTIVE && !found) {
        token = at_host_token_next(&at);
        found = is_word(&token, name, size);
    }
    free(line);
    return found;
}

static bool uses(const char *text, const char *name, size_t size)
{
    bool found = false;
    struct at_host_token token;

    do {
        token = at_host_token_next(&text);
        found = is_word(&token, name, size) ||
                (token.kind == AT_HOST_DIRECTIVE && body_uses(&token, name, size));
    } while (token.kind != AT_HOST_END && !found);
    return found;
}

/* Does the user say what it is? */
static bool is_given(const struct at_texts *given, const char *name, size_t size)
{
    for (size_t i = 0; i < given->count; i++)
        if (strncmp(given->items[i], name, size) == 0 && strchr("=", given->items[i][size]))
            return true;
    return false;
}

/* Is it a whole number from 0 to 4096? Only such a number becomes a parameter. */
static bool read_value(const struct at_host_token *token, int64_t *value)
{
    char *end;

    *value = strtoll(token->text, &end, 0);
    return token->kind == AT_HOST_NUMBER && end == token->text + token->size && *value >= 0 &&
           *value <= 4096;
}

static void blank(struct at_draft *draft, const char *begin, const char *end)
{
    memset(draft->text + (begin - draft->text), ' ', (size_t)(end - begin));
}

/* "#define NAME NUMBER" of a name that code uses: it is blanked, and becomes a parameter. */
static enum at_status take_define(struct at_draft *draft, const struct at_host_token *directive,
                                  const struct at_texts *given, struct at_error *err)
{
    char *line;
    const char *at;
    struct at_host_token word = at_host_directive(directive, &line, &at), name, number;
    int64_t value;
    enum at_status status = AT_OK;

    if (at_host_token_is(&word, "define")) {
        name = at_host_token_next(&at);
        number = *at == '(' ? (struct at_host_token){AT_HOST_END, at, 0} : at_host_token_next(&at);
        if (read_value(&number, &value) && at_host_token_next(&at).kind == AT_HOST_END &&
            !is_given(given, name.text, name.size) && !has_macro(draft, name.text, name.size) &&
            draft->looked_for++ < LOOKED_FOR_MAX && uses(draft->text, name.text, name.size)) {
            status = add_macro(draft, name.text, name.size, &value, err);
            blank(draft, directive->text, directive->text + directive->size);
        }
    }
    free(line);
    return status;
}

/* "const int NAME = NUMBER;", or with constexpr and static, outside of functions: the same. `at` is
 * behind its first word. */
static enum at_status take_constant(struct at_draft *draft, const char *begin, const char **at,
                                    const struct at_texts *given, struct at_error *err)
{
    const char *rest = *at;
    struct at_host_token token = at_host_token_next(&rest), name = token, number;
    enum at_status status = AT_OK;
    int64_t value;

    for (int words = 0; token.kind == AT_HOST_WORD && words < DECLARATION_WORDS; words++) {
        name = token;
        token = at_host_token_next(&rest);
    }
    if (!at_host_token_is(&token, "="))
        return AT_OK;
    number = at_host_token_next(&rest);
    token = at_host_token_next(&rest);
    if (!at_host_token_is(&token, ";") || !read_value(&number, &value) ||
        is_given(given, name.text, name.size) || has_macro(draft, name.text, name.size) ||
        draft->looked_for++ >= LOOKED_FOR_MAX)
        return AT_OK;
    *at = rest;
    if (uses(rest, name.text, name.size))
        status = add_macro(draft, name.text, name.size, &value, err);
    blank(draft, begin, rest);
    return status;
}

static enum at_status take_defines(struct at_draft *draft, const struct at_texts *given,
                                   struct at_error *err)
{
    const char *at = draft->text;
    struct at_host_token token = at_host_token_next(&at);
    enum at_status status = AT_OK;

    for (; token.kind != AT_HOST_END && status == AT_OK; token = at_host_token_next(&at)) {
        if (at_host_token_is(&token, "{"))
            at_host_skip_brackets(&at, '{', '}');
        if (at_host_token_is(&token, "const") || at_host_token_is(&token, "constexpr") ||
            at_host_token_is(&token, "static"))
            status = take_constant(draft, token.text, &at, given, err);
        if (token.kind == AT_HOST_DIRECTIVE)
            status = take_define(draft, &token, given, err);
    }
    return status;
}

/* A macro that only #if asks for: without it, its value is 0. */
static enum at_status take_conditions(struct at_draft *draft, const struct at_texts *given,
                                      struct at_error *err)
{
    const char *at = draft->text;
    struct at_host_token token = at_host_token_next(&at);
    enum at_status status = AT_OK;
    const int64_t off = 0;

    for (; token.kind != AT_HOST_END && status == AT_OK; token = at_host_token_next(&at)) {
        char *line;
        const char *rest;
        struct at_host_token word = at_host_directive(&token, &line, &rest);
        bool condition = at_host_token_is(&word, "if") || at_host_token_is(&word, "elif");

        while (condition && status == AT_OK && word.kind != AT_HOST_END) {
            word = at_host_token_next(&rest);
            if (word.kind == AT_HOST_WORD && word.size < 32 && memcmp(word.text, "__", 2) != 0 &&
                !at_host_token_is(&word, "defined") && !has_macro(draft, word.text, word.size) &&
                !is_given(given, word.text, word.size))
                status = add_macro(draft, word.text, word.size, &off, err);
        }
        free(line);
    }
    return status;
}

/* ---- macros that a tuner defines ---- */

/* A name like tx is more likely a mistake of the file. */
static bool looks_like_macro(const char *name, size_t size)
{
    bool found = memchr(name, '_', size) != NULL;

    for (size_t i = 0; i < size; i++)
        found = found || isupper((unsigned char)name[i]);
    return found && size > 1;
}

/* Compile the file; each name that is undefined becomes a parameter. */
static enum at_status compile(struct at_draft *draft, const struct at_draft_request *request,
                              int64_t compute_capability, struct at_error *err)
{
    static const char before[] = "identifier \"";
    enum at_status status = AT_FAILED;

    for (bool again = true; again;) {
        struct at_source_options options = request->source;
        char *defines[AT_DRAFT_MACROS];
        const char *name;

        options.defines = (struct at_texts){0};
        for (size_t i = 0; i < request->source.defines.count; i++)
            AT_PUSH(options.defines.items, options.defines.count, options.defines.capacity,
                    request->source.defines.items[i]);
        for (size_t i = 0; i < draft->macro_count; i++) {
            defines[i] =
                at_format("%s=%jd", draft->macros[i].name, (intmax_t)draft->macros[i].value);
            AT_PUSH(options.defines.items, options.defines.count, options.defines.capacity,
                    defines[i]);
        }
        status =
            at_own_text_compile(&draft->text, request->path, &options, compute_capability, err);
        free(options.defines.items);
        for (size_t i = 0; i < draft->macro_count; i++)
            free(defines[i]);
        name = status == AT_FAILED ? strstr(err->message, before) : NULL;
        again = false;
        if (name) {
            size_t size = strcspn(name += strlen(before), "\"");

            /* If it can be none, the error tells why. */
            again = looks_like_macro(name, size) && !has_macro(draft, name, size) &&
                    add_macro(draft, name, size, NULL, err) == AT_OK;
        }
    }
    return status;
}

/* ---- the kernel ---- */

static struct at_draft_argument read_parameter(const char *at, const char *end)
{
    struct at_draft_argument argument = {0};
    struct at_text_stream stream;
    FILE *type = at_text_open(&stream);
    struct at_host_token last = {AT_HOST_END, "", 0};

    while (at < end) {
        struct at_host_token token = at_host_token_next(&at);

        if (token.kind == AT_HOST_END || token.text >= end)
            break;
        if (at_host_token_is(&token, "*") || at_host_token_is(&token, "["))
            argument.pointer = true;
        else if (at_host_token_is(&token, "const"))
            argument.constant = true;
        else if (token.kind == AT_HOST_WORD && !at_host_token_is(&token, "__restrict__") &&
                 !at_host_token_is(&token, "__restrict") && !at_host_token_is(&token, "restrict")) {
            if (last.size > 0)
                fprintf(type, "%s%.*s", ftell(type) > 0 ? " " : "", (int)last.size, last.text);
            last = token;
        }
    }
    argument.name = at_strndup(last.text, last.size);
    argument.type = at_text_close(&stream, NULL);
    return argument;
}

/* Read the parameters of a kernel whose opening parenthesis was read; move behind the other. */
static void read_parameters(struct at_draft *draft, const char **at)
{
    const char *begin = *at, *end, *rest = begin;

    at_host_skip_brackets(at, '(', ')');
    end = *at - 1;
    while (rest < end) {
        struct at_host_token token = at_host_token_next(&rest);
        bool ends = token.kind == AT_HOST_END || token.text >= end;

        if (at_host_token_is(&token, "(") && !ends)
            at_host_skip_brackets(&rest, '(', ')');
        if (!ends && !at_host_token_is(&token, ",") && rest < end)
            continue;
        if (draft->argument_count < AT_DRAFT_ARGUMENTS)
            draft->arguments[draft->argument_count++] =
                read_parameter(begin, at_host_token_is(&token, ",") ? token.text : end);
        begin = rest;
    }
}

/* What follows blockIdx.AXIS: a product of macros, numbers and blockDim. NULL: it is something
 * else. `at` is behind the axis. */
static char *read_step(const struct at_draft *draft, const char *at)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    struct at_host_token token = at_host_token_next(&at);
    bool plain = at_host_token_is(&token, "*"), first = true;
    char *text;

    while (plain && at_host_token_is(&token, "*")) {
        token = at_host_token_next(&at);
        if (at_host_token_is(&token, "blockDim")) {
            at_host_token_next(&at);
            token = at_host_token_next(&at);
            fprintf(out, "%s@%.*s", first ? "" : " * ", (int)token.size, token.text);
        } else if (has_macro(draft, token.text, token.size) || token.kind == AT_HOST_NUMBER) {
            char *param = token.kind == AT_HOST_NUMBER ? at_strndup(token.text, token.size)
                                                       : param_of(token.text, token.size);

            fprintf(out, "%s%s", first ? "" : " * ", param);
            free(param);
        } else {
            plain = false;
        }
        first = false;
        token = at_host_token_next(&at);
    }
    text = at_text_close(&stream, NULL);
    if (plain && !at_host_token_is(&token, "("))
        return text;
    free(text);
    return NULL;
}

/* Which axes has the kernel's body, and how far is it from block to block? */
static void read_axes(struct at_draft *draft, const char *at)
{
    const char *end = at, *begin;
    struct at_host_token token, dot;

    do
        token = at_host_token_next(&end);
    while (token.kind != AT_HOST_END && !at_host_token_is(&token, "{"));
    begin = end;
    at_host_skip_brackets(&end, '{', '}');
    for (at = begin; at < end;) {
        token = at_host_token_next(&at);
        draft->guarded =
            draft->guarded || at_host_token_is(&token, "if") || at_host_token_is(&token, "?");
        if (!at_host_token_is(&token, "blockIdx") && !at_host_token_is(&token, "threadIdx"))
            continue;
        dot = at_host_token_next(&at);
        dot = at_host_token_next(&at);
        draft->plane = draft->plane || at_host_token_is(&dot, "y");
        if (at_host_token_is(&token, "blockIdx") && dot.size == 1 && strchr("xy", *dot.text) &&
            !draft->steps[*dot.text - 'x'])
            draft->steps[*dot.text - 'x'] = read_step(draft, at);
    }
}

/* Is it the kernel's name, or that of the template which it is an instance of? */
static bool is_called(const struct at_host_token *token, const char *wanted)
{
    return token->size == strcspn(wanted, "<") && memcmp(token->text, wanted, token->size) == 0;
}

static enum at_status find_kernel(struct at_draft *draft, const char *wanted, const char *path,
                                  struct at_error *err)
{
    const char *at = draft->text, *names[AT_DRAFT_ARGUMENTS];
    size_t count = 0;
    bool is_template = false, lacks_instance = false;
    struct at_host_token token = at_host_token_next(&at), last = token;
    char *all;

    for (; token.kind != AT_HOST_END; token = at_host_token_next(&at)) {
        is_template =
            at_host_token_is(&token, "template") ||
            (is_template && !at_host_token_is(&token, ";") && !at_host_token_is(&token, "{"));
        if (!at_host_token_is(&token, "__global__"))
            continue;
        while (token.kind != AT_HOST_END && !at_host_token_is(&token, "(")) {
            last = token;
            token = at_host_token_next(&at);
            if (at_host_token_is(&last, "__launch_bounds__") && at_host_token_is(&token, "(")) {
                at_host_skip_brackets(&at, '(', ')');
                token = at_host_token_next(&at);
            }
        }
        if (count < AT_DRAFT_ARGUMENTS)
            names[count++] = at_strndup(last.text, last.size);
        if ((wanted && !is_called(&last, wanted)) || draft->kernel)
            continue;
        draft->kernel = wanted ? at_strdup(wanted) : at_strndup(last.text, last.size);
        lacks_instance = is_template && !strchr(draft->kernel, '<');
        read_parameters(draft, &at);
        read_axes(draft, at);
    }
    all = at_join(names, count);
    if (!draft->kernel)
        at_fail(err, AT_USAGE, "%s has no kernel%s%s%s%s", at_path_name(path), wanted ? " " : "",
                wanted ? wanted : "", count > 0 ? "; there is " : "", all);
    else if (!wanted && count > 1)
        at_fail(err, AT_USAGE,
                "%s has several kernels: which one is the transpose? --entry takes %s",
                at_path_name(path), all);
    else if (lacks_instance)
        at_fail(err, AT_USAGE, "%s is a template: --entry names an instance, like '%s<32>'",
                draft->kernel, draft->kernel);
    else
        err = NULL;
    for (size_t i = 0; i < count; i++)
        free((char *)names[i]);
    free(all);
    return err ? AT_USAGE : AT_OK;
}

/* ---- what its parameters mean ---- */

static const struct {
    const char *names; /* of numbers, between blanks, in lower case */
    const char *value;
} meanings[] = {
    {" cols width w nx ncols n_cols columns num_cols x_size size_x dim_x m_cols ", "cols"},
    {" rows height h ny nrows n_rows num_rows y_size size_y dim_y m_rows ", "rows"},
    {" n size dim ", "cols"},
    {" m ", "rows"},
    {" ld_src lda ldi ld_in src_ld pitch_in ", "ld_src"},
    {" ld_dst ldb ldo ld_out dst_ld pitch_out ", "ld_dst"},
    {" batch batches num_batches depth ", "batch"},
    {" nreps reps ", "1"},
};

/* Of pointers, by a part of the name. */
static const struct {
    const char *part, *value;
} sides[] = {
    {"out", "dst"}, {"dst", "dst"},   {"odata", "dst"},
    {"src", "src"}, {"idata", "src"}, {"in", "src"},
};

/* Of two pointers, the constant one is the source; else their names tell, or their order. */
static const char *side_of(const struct at_draft *draft, size_t number, const char *name)
{
    bool any_constant = false;
    size_t pointers = 0, before = 0;

    for (size_t i = 0; i < draft->argument_count; i++) {
        const struct at_draft_argument *argument = &draft->arguments[i];

        any_constant = any_constant || (argument->pointer && argument->constant);
        pointers += argument->pointer;
        before += argument->pointer && i < number;
    }
    if (pointers != 2)
        return NULL;
    if (any_constant)
        return draft->arguments[number].constant ? "src" : "dst";
    for (size_t i = 0; i < AT_COUNT(sides); i++)
        if (strstr(name, sides[i].part))
            return sides[i].value;
    return before == 0 ? "dst" : "src";
}

/* NULL: the name says nothing. */
static const char *meaning_of(const struct at_draft *draft, size_t number)
{
    const struct at_draft_argument *argument = &draft->arguments[number];
    char *word = at_format(" %s ", argument->name), *lower = lower_of(word);
    const char *found = argument->pointer ? side_of(draft, number, lower) : NULL;

    for (size_t i = 0; i < AT_COUNT(meanings) && !found && !argument->pointer; i++)
        if (strstr(meanings[i].names, lower))
            found = meanings[i].value;
    free(word);
    free(lower);
    return found;
}

/* What --arg may say, beside numbers. */
static const char *const words[] = {"dst", "src", "rows", "cols", "ld_src", "ld_dst", "batch"};

static bool is_meaning(const char *text)
{
    for (size_t i = 0; i < AT_COUNT(words); i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static enum at_status find_meanings(struct at_draft *draft, const struct at_draft_request *request,
                                    struct at_error *err)
{
    static const char wanted[] = "dst, src, rows, cols, ld_src, ld_dst, batch or a number";
    size_t given = request->argument_count;

    if (given > 0 && given != draft->argument_count)
        return at_fail(err, AT_USAGE, "%s takes %zu arguments; --arg gives %zu", draft->kernel,
                       draft->argument_count, given);
    for (size_t i = 0; i < draft->argument_count; i++) {
        draft->arguments[i].meaning = given > 0 ? request->arguments[i] : meaning_of(draft, i);
        if (!draft->arguments[i].meaning)
            return at_fail(err, AT_USAGE,
                           "what does %s get as its argument %zu, %s? Give all with --arg, each %s",
                           draft->kernel, i + 1, draft->arguments[i].name, wanted);
        if (!is_meaning(draft->arguments[i].meaning))
            return at_fail(err, AT_USAGE, "--arg %s: in a space file an argument is %s",
                           draft->arguments[i].meaning, wanted);
    }
    return AT_OK;
}

/* The bytes of an element: those of what a pointer points to. */
static enum at_status find_element(struct at_draft *draft, struct at_error *err)
{
    for (size_t i = 0; i < draft->argument_count; i++) {
        const struct at_draft_argument *argument = &draft->arguments[i];
        struct at_kernel_argument one = {.count = 1};

        if (!argument->pointer)
            continue;
        one.type = at_element_type_find(argument->type, strlen(argument->type));
        if (!one.type)
            return at_fail(err, AT_USAGE,
                           "the type of %s, %s, is not known: give it with --define %s=float",
                           argument->name, argument->type, argument->type);
        draft->element_bytes = (int64_t)at_kernel_argument_element_bytes(&one);
        return AT_OK;
    }
    return at_fail(err, AT_USAGE, "%s has no pointer among its arguments: it is no transpose",
                   draft->kernel);
}

enum at_status at_draft_read(struct at_draft *draft, const struct at_draft_request *request,
                             int64_t compute_capability, struct at_error *err)
{
    size_t size;
    enum at_status status =
        at_file_read_text(&draft->text, &size, request->path, FILE_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    at_host_functions_blank(draft->text);
    status = take_defines(draft, &request->source.defines, err);
    if (status == AT_OK)
        status = take_conditions(draft, &request->source.defines, err);
    if (status == AT_OK)
        status = compile(draft, request, compute_capability, err);
    if (status == AT_OK)
        status = find_kernel(draft, request->entry, request->path, err);
    if (status == AT_OK)
        status = find_meanings(draft, request, err);
    if (status == AT_OK)
        status = find_element(draft, err);
    return status;
}

void at_draft_clear(struct at_draft *draft)
{
    for (size_t i = 0; i < draft->macro_count; i++) {
        free(draft->macros[i].name);
        free(draft->macros[i].param);
    }
    for (size_t i = 0; i < draft->argument_count; i++) {
        free(draft->arguments[i].name);
        free(draft->arguments[i].type);
    }
    free(draft->steps[0]);
    free(draft->steps[1]);
    free(draft->kernel);
    free(draft->text);
}
