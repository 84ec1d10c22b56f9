/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up the problems of an export, gives each a key, and writes what the formats have in common.
 */
#include "export/export.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "kernel/render.h"
#include "problem/group_arguments.h"

#include <stdlib.h>
#include <string.h>

/* ---- the problems, with a key for each ---- */

/* Append a number to the key, unless it has the value of a dense matrix. */
static int add_number(char *key, int used, const char *letter, int64_t value, int64_t dense)
{
    if (value == dense)
        return used;
    return used + snprintf(key + used, (size_t)(AT_EXPORT_KEY_CHARS - used), "_%s%jd", letter,
                           (intmax_t)value);
}

/* The longest key of a tensor or of many matrices, but for its step. */
enum { LONG_KEY_CHARS = 160 };

/* Take a key, or if it is too long, a hash that stands for it. */
static void take_key(char key[AT_EXPORT_KEY_CHARS], const char *text, size_t size)
{
    char hash[AT_HASH_CHARS];

    if (size < LONG_KEY_CHARS) {
        memcpy(key, text, size + 1);
        return;
    }
    at_hash(hash, text, size);
    snprintf(key, LONG_KEY_CHARS, "%c_%s", *text, hash);
}

/* "6x5x8:f32,perm=021,strides_src=..." becomes "T6_5_8_B4_P021_SS...". Nothing but digits stays, so
 * the key is as unique as the specification. If it is too long, a hash stands for it. */
static void make_tensor_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem,
                            const char *spec)
{
    static const struct {
        const char *name, *in_key;
    } parts[] = {{",perm=", "_P"}, {",strides_src=", "_SS"}, {",strides_dst=", "_SD"}};
    const char *at = strchr(spec, ':');
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text;
    size_t size;

    fputc('T', out);
    for (const char *c = spec; c < at; c++)
        fputc(*c == 'x' ? '_' : *c, out);
    fprintf(out, "_B%jd", (intmax_t)problem->elem_size);
    for (at += strcspn(at, ","); *at; at++) {
        for (size_t i = 0; i < AT_COUNT(parts); i++)
            if (strncmp(at, parts[i].name, strlen(parts[i].name)) == 0) {
                fputs(parts[i].in_key, out);
                at += strlen(parts[i].name);
            }
        fputc(*at >= '0' && *at <= '9' ? *at : '_', out);
    }
    text = at_text_close(&stream, &size);
    take_key(key, text, size);
    free(text);
}

static void to_capitals(char *text)
{
    for (; *text; text++)
        if (*text >= 'a' && *text <= 'z')
            *text = (char)(*text - 'a' + 'A');
}

/* "group=64,total=98304,cols=2880,law=zipf:bf16" becomes "G64_T98304_C2880_ZIPF_B2". */
static void make_group_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem,
                           const char *spec)
{
    static const struct {
        const char *name, *in_key;
    } parts[] = {{"group=", "G"},  {",rows=", "_R"},     {",total=", "_T"}, {",cols=", "_C"},
                 {",law=", "_"},   {",multiple=", "_M"}, {",pad=", "_P"},   {",stack=1", "_ST"},
                 {",draw=", "_D"}, {"..", "_"},          {"+", "_AND"}};
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *text;
    size_t size;

    for (const char *at = spec; *at != ':';) {
        size_t i = 0;

        while (i < AT_COUNT(parts) && strncmp(at, parts[i].name, strlen(parts[i].name)) != 0)
            i++;
        if (i < AT_COUNT(parts)) {
            fputs(parts[i].in_key, out);
            at += strlen(parts[i].name);
            continue;
        }
        fputc(*at, out);
        at++;
    }
    fprintf(out, "_B%jd", (intmax_t)problem->elem_size);
    text = at_text_close(&stream, &size);
    to_capitals(text);
    take_key(key, text, size);
    free(text);
}

static void make_matrix_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem)
{
    int used = snprintf(key, AT_EXPORT_KEY_CHARS, "R%jd_C%jd_B%jd", (intmax_t)problem->rows,
                        (intmax_t)problem->cols, (intmax_t)problem->elem_size);

    used = add_number(key, used, "LS", problem->ld_src, problem->cols);
    used = add_number(key, used, "LD", problem->ld_dst, problem->rows);
    used = add_number(key, used, "N", problem->batch, 1);
    used = add_number(key, used, "SS", problem->stride_src, problem->rows * problem->ld_src);
    used = add_number(key, used, "SD", problem->stride_dst, problem->cols * problem->ld_dst);
    if (problem->in_place)
        snprintf(key + used, (size_t)(AT_EXPORT_KEY_CHARS - used), "_IP");
}

static void add_word(char key[AT_EXPORT_KEY_CHARS], const char *word)
{
    size_t used = strlen(key);

    snprintf(key + used, AT_EXPORT_KEY_CHARS - used, "_%s", word);
    to_capitals(key + used);
}

/* Sizes and strides, and of a step its types and operations: "R512_C512_B2_BF16_E4M3_SCALE". */
static void make_key(char key[AT_EXPORT_KEY_CHARS], const struct at_problem *problem)
{
    struct at_problem moved = at_problem_as_given(problem);
    const struct at_step step = moved.step;
    char *spec;

    moved.step = (struct at_step){0};
    spec = at_problem_format(&moved);
    if (moved.groups.count > 0)
        make_group_key(key, &moved, spec);
    else if (moved.outer_count > 0)
        make_tensor_key(key, &moved, spec);
    else
        make_matrix_key(key, &moved);
    free(spec);
    if (!step.given)
        return;
    add_word(key, at_number_formats[step.from].name);
    add_word(key, at_number_formats[step.to].name);
    for (int i = 0; i < AT_OPERATIONS; i++)
        if (at_step_has(&step, (enum at_operation)i))
            add_word(key, i == AT_AMAX_NAN ? "nan" : at_operation_names[i]);
    if (at_step_has(&step, AT_BLOCKS)) {
        char blocks[64];

        snprintf(blocks, sizeof blocks, "%d_%d_%s_%s", (int)step.blocks.rows, (int)step.blocks.cols,
                 at_block_rules[step.blocks.rule].name, at_scale_layout_names[step.blocks.layout]);
        for (char *c = blocks; *c; c++)
            *c = *c == '-' ? '_' : *c;
        add_word(key, blocks);
    }
    if (at_step_has(&step, AT_BOTH))
        add_word(key, at_number_formats[step.kept].name);
    if (at_step_has(&step, AT_AFFINE) && problem->groups.count > 0) {
        if (at_problem_mixes_channels(problem))
            add_word(key, "rows");
    } else if (at_step_has(&step, AT_AFFINE)) {
        char channels[48]; /* their number, and how many results each has in a row */

        snprintf(channels, sizeof channels, "%jd_%jd", (intmax_t)step.channels.count,
                 (intmax_t)(step.channels.count == 1 ? 1 : step.channels.run));
        add_word(key, channels);
    }
}

/* Configs that differ only in parameters of the host share a kernel. */
static bool same_kernel(const struct at_export_item *a, const struct at_export_item *b)
{
    return a->answer.config.family == b->answer.config.family &&
           strcmp(a->defines, b->defines) == 0;
}

static size_t find_kernel(const struct at_export *export, size_t item)
{
    size_t i = 0;

    while (!same_kernel(&export->items[i], &export->items[item]))
        i++;
    return i; /* ends at the item itself at the latest */
}

static bool has_key(const struct at_export *export, const char *key)
{
    for (size_t i = 0; i < export->count; i++)
        if (strcmp(export->items[i].key, key) == 0)
            return true;
    return false;
}

enum at_status at_export_check(const struct at_problem *problem, struct at_error *err)
{
    if (problem->offset_src || problem->offset_dst)
        return at_fail(err, AT_USAGE,
                       "a transpose at an offset cannot be exported; the library runs it");
    return AT_OK;
}

static enum at_status add_item(struct at_export *export, const struct at_lookup *lookup,
                               const struct at_problem *problem, struct at_error *err)
{
    struct at_export_item *item = &export->items[export->count];
    struct at_query query = {.problem = problem,
                             .device = export->device,
                             .environment = export->environment,
                             .policy = export->policy};
    char key[AT_EXPORT_KEY_CHARS];
    enum at_status status;

    status = at_export_check(problem, err);
    if (status != AT_OK)
        return status;
    make_key(key, problem);
    if (has_key(export, key))
        return AT_OK;
    status = at_lookup_find(lookup, &query, &item->answer, err);
    if (status != AT_OK)
        return status;
    if (item->answer.launch.field[AT_LAUNCHES] > 0)
        return at_fail(err, AT_USAGE,
                       "%s in place is several launches that share scratch memory, which cannot be "
                       "exported yet; the library runs it",
                       item->answer.config.family->name);
    item->problem = *problem;
    item->spec = at_problem_format(problem);
    item->defines = at_render_options(&item->answer.config, at_problem_kind(problem));
    memcpy(item->key, key, sizeof key);
    item->kernel = find_kernel(export, export->count);
    export->count++;
    return AT_OK;
}

enum at_status at_export_make(struct at_export *export, const struct at_lookup *lookup,
                              const struct at_problem *problems, size_t count, struct at_error *err)
{
    struct at_export made = *export;
    enum at_status status = AT_OK;

    made.items = at_alloc_array(count, sizeof *made.items);
    made.count = 0;
    for (size_t i = 0; i < count && status == AT_OK; i++)
        status = add_item(&made, lookup, &problems[i], err);
    if (status == AT_OK)
        *export = made;
    else
        at_export_clear(&made);
    return status;
}

void at_export_clear(struct at_export *export)
{
    for (size_t i = 0; i < export->count; i++) {
        free(export->items[i].spec);
        free(export->items[i].defines);
    }
    free(export->items);
    export->items = NULL;
    export->count = 0;
}

/* No second source, which would have to be somewhere. */
static const struct at_step_numbers one = {.number.value = {1, 0}};

/* What is known of drawn groups. The list, offsets and results are somewhere else in each launch.
 */
static size_t put_groups(const struct at_problem *problem, uint64_t word[AT_CALL_WORDS],
                         uint8_t words[AT_CALL_ARGS])
{
    const struct at_groups *groups = &problem->groups;
    struct at_group *all = at_groups_draw(groups, at_problem_least_bytes(problem));
    const struct at_group_list list = {.count = groups->count};
    const struct at_ragged_groups rows = at_ragged_groups_of(groups, all);

    at_free(all);
    return at_groups_kind(groups) == AT_GROUP_LIST
               ? at_group_args(problem, 0, 0, &list, sizeof list, &one, word, words)
               : at_group_args(problem, 0, 0, &rows, sizeof rows, &one, word, words);
}

struct at_export_arguments at_export_arguments(const struct at_export_item *item)
{
    enum { POINTERS = 2 }; /* dst and src, a word each */

    struct at_export_arguments arguments;
    uint64_t word[AT_CALL_WORDS];
    uint8_t words[AT_CALL_ARGS];

    memset(&arguments, 0, sizeof arguments);
    arguments.count = at_export_groups(item) ? put_groups(&item->problem, word, words)
                                             : at_problem_args(&item->problem, &item->answer.launch,
                                                               0, 0, &one, word, words);
    arguments.count -= POINTERS;
    for (size_t i = 0; i < arguments.count; i++) {
        arguments.word_counts[i] = words[POINTERS + i] ? words[POINTERS + i] : 1;
        arguments.word_count += arguments.word_counts[i];
    }
    memcpy(arguments.words, word + POINTERS, arguments.word_count * sizeof *word);
    return arguments;
}

enum at_groups_kind at_export_groups(const struct at_export_item *item)
{
    return at_groups_kind(&item->problem.groups);
}

bool at_export_takes_numbers(const struct at_export_item *item)
{
    return at_step_takes_numbers(&item->problem.step);
}

static bool is_prefix(const char *text)
{
    size_t length = strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789_");

    return *text >= 'a' && *text <= 'z' && !text[length] && length < AT_EXPORT_PREFIX_CHARS &&
           !strstr(text, "__") && text[length - 1] != '_';
}

enum at_status at_export_set_prefix(struct at_export *export, const char *prefix,
                                    struct at_error *err)
{
    if (!prefix)
        prefix = "autotune";
    if (!is_prefix(prefix))
        return at_fail(
            err, AT_USAGE,
            "the prefix \"%.40s\" is not a name of at most %d lower-case letters, digits "
            "and single underscores that begins with a letter, such as \"fft_rows\"",
            prefix, AT_EXPORT_PREFIX_CHARS - 1);
    for (size_t i = 0; i <= strlen(prefix); i++) {
        char c = prefix[i];

        export->prefix[i] = c;
        export->macro_prefix[i] = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
    }
    return AT_OK;
}

/* ---- text that is safe in any language ---- */

/* No quotes, backslashes, '$', '#', '%', '?' (trigraphs) or '/' and '*' (ends of comments). */
static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 ._+()-";

char *at_export_plain(const char *text)
{
    char *copy = at_strdup(text);

    for (char *c = copy; *c; c++)
        if (!strchr(plain, *c))
            *c = '_';
    return copy;
}

char *at_export_words(const struct at_export_arguments *arguments, const char *separator)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    for (size_t i = 0; i < arguments->word_count; i++)
        fprintf(out, "%s0x%jx", i ? separator : "", (uintmax_t)arguments->words[i]);
    return at_text_close(&stream, NULL);
}

struct at_list at_export_word_counts(const struct at_export_arguments *arguments)
{
    int64_t *counts = at_alloc_array(arguments->count, sizeof *counts);

    for (size_t i = 0; i < arguments->count; i++)
        counts[i] = arguments->word_counts[i];
    return (struct at_list){counts, arguments->count};
}

struct at_list at_export_scale_bytes(const struct at_export_item *item)
{
    int64_t *bytes = at_alloc_array(2, sizeof *bytes);

    bytes[0] = at_problem_scale_bytes(&item->problem, AT_DESTINATION);
    bytes[1] = at_problem_scale_bytes(&item->problem, AT_SOURCE);
    return (struct at_list){bytes, 2};
}

int64_t at_export_scratch_bytes(const struct at_export_item *item)
{
    return at_problem_scratch_bytes(&item->problem, &item->answer.launch);
}

void at_export_write_sizes(const struct at_export_item *item, FILE *out)
{
    struct at_problem problem = at_problem_as_given(&item->problem);

    if (problem.outer_count > 0 || problem.step.given ||
        problem.groups.count > 0) /* sizes and strides do not describe it */
        problem = (struct at_problem){0};
    fprintf(out, "%jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %jdLL, %jdLL", (intmax_t)problem.rows,
            (intmax_t)problem.cols, (intmax_t)problem.ld_src, (intmax_t)problem.ld_dst,
            (intmax_t)problem.batch, (intmax_t)problem.stride_src, (intmax_t)problem.stride_dst);
}

void at_export_write_word_counts(const struct at_export_arguments *arguments, FILE *out)
{
    fprintf(out, "%zu, {", arguments->count);
    for (size_t i = 0; i < arguments->count; i++)
        fprintf(out, "%s%d", i ? ", " : "", arguments->word_counts[i]);
    fputc('}', out);
}

/* Write which problem an answer comes from, and where that was tuned. A profile's texts are written
 * anew. */
static void write_source(const struct at_answer *answer, FILE *out)
{
    struct at_problem problem;
    char *device = at_export_plain(answer->record->device.name), *spec;

    if (answer->tier != AT_TIER_EXACT &&
        at_problem_parse(&problem, answer->tuned_problem, NULL) == AT_OK) {
        spec = at_problem_format(&problem);
        fprintf(out, ", from %s", spec);
        free(spec);
    }
    if (answer->tier > AT_TIER_SHAPE)
        fprintf(out, " on %s", device);
    free(device);
}

/* Does a profile have the config as an answer that its device has not measured? */
static bool is_taken_over(const struct at_answer *answer)
{
    return answer->entry && !at_entry_is_measured(answer->entry) &&
           answer->entry->origin != AT_ORIGIN_MEASURED;
}

char *at_export_guess(const struct at_export_item *item)
{
    const struct at_answer *answer = &item->answer;
    struct at_text_stream stream;
    FILE *out;

    if (answer->tier == AT_TIER_EXACT && !answer->predicted && !is_taken_over(answer))
        return NULL;
    out = at_text_open(&stream);
    fprintf(out, "%s: tier %d of %d, %s", item->spec, (int)answer->tier + 1, (int)AT_TIERS,
            at_tier_names[answer->tier]);
    if (answer->record)
        write_source(answer, out);
    fputs(answer->predicted || answer->predicted_of > 0 ? ", predicted"
          : is_taken_over(answer)                       ? ", not measured"
                                                        : "",
          out);
    return at_text_close(&stream, NULL);
}

static void write_guesses(const struct at_export *export, const char *prefix, FILE *out)
{
    bool some = false;

    for (size_t i = 0; i < export->count; i++) {
        char *guess = at_export_guess(&export->items[i]);

        if (guess && !some)
            fprintf(out, "%sGuesses, not measured for their problem on this device:\n", prefix);
        if (guess)
            fprintf(out, "%s  %s\n", prefix, guess);
        some = some || guess;
        free(guess);
    }
}

void at_export_write_origin(const struct at_export *export, const char *prefix, FILE *out)
{
    char *device = at_export_plain(export->device->name);

    fprintf(
        out,
        "%sSPDX-License-Identifier: Apache-2.0\n"
        "%sGenerated by autotune %s: transpose kernels for %s (compute capability %jd.%jd), %s.\n"
        "%sDo not edit: export again.\n",
        prefix, prefix, PACKAGE_VERSION, device,
        (intmax_t)(export->device->compute_capability / 10),
        (intmax_t)(export->device->compute_capability % 10), export->policy, prefix);
    write_guesses(export, prefix, out);
    free(device);
}

/* 32 bits that two exports are unlikely to share: of the problems, and of how they are launched. */
static uint32_t identity_of(const struct at_export *export)
{
    uint64_t hash = (uint64_t) export->device->compute_capability;

    for (size_t i = 0; i < export->count; i++) {
        const struct at_export_item *item = &export->items[i];

        hash = at_hash64(item->key, strlen(item->key), hash);
        hash = at_hash64(item->defines, strlen(item->defines), hash);
        hash = at_hash64(&item->answer.launch, sizeof item->answer.launch, hash);
    }
    return (uint32_t)hash;
}

static void write_words(const struct at_export *export, FILE *out)
{
    for (size_t i = 0; i < export->count; i++) {
        struct at_export_arguments arguments = at_export_arguments(&export->items[i]);
        char *words = at_export_words(&arguments, ", ");

        fprintf(out, "    /* %s */ %s,\n", export->items[i].spec, words);
        free(words);
    }
}

static void write_comment(const struct at_export *export, FILE *out)
{
    at_export_write_origin(export, " * ", out);
}

/* The structs of numbers and groups, if a kernel takes them. */
static void write_structs(const struct at_export *export, FILE *out)
{
    static const struct at_export_lines none[] = {{0}};
    bool numbers = false, groups = false;

    for (size_t i = 0; i < export->count; i++) {
        numbers = numbers || at_export_takes_numbers(&export->items[i]);
        groups = groups || at_export_groups(&export->items[i]);
    }
    if (numbers)
        at_export_write_text(export, at_asset_numbers_h, none, out);
    if (groups)
        at_export_write_text(export, at_asset_groups_h, none, out);
}

static const struct at_export_lines common_lines[] = {
    {'O', write_comment, NULL}, {'S', write_structs, NULL}, {'W', write_words, NULL}, {0}};

/* Write the lines of a mark. False: there are none. */
static bool write_lines(const struct at_export *export, const struct at_export_lines *lines,
                        char mark, FILE *out)
{
    while (lines->mark && lines->mark != mark)
        lines++;
    if (lines->text)
        fputs(lines->text, out);
    else if (lines->write)
        lines->write(export, out);
    return lines->mark;
}

/* Write what a mark within a line stands for. */
static void write_mark(const struct at_export *export, char mark, FILE *out)
{
    char *device;

    switch (mark) {
    case 'p':
        fputs(export->prefix, out);
        break;
    case 'P':
        fputs(export->macro_prefix, out);
        break;
    case 'C':
        fprintf(out, "%jd", (intmax_t) export->device->compute_capability);
        break;
    case 'N':
        fprintf(out, "%zu", export->count);
        break;
    case 'I':
        fprintf(out, "0x%08x", identity_of(export));
        break;
    default:
        device = at_export_plain(export->device->name);
        fputs(device, out);
        free(device);
    }
}

void at_export_write_text(const struct at_export *export, const char *text,
                          const struct at_export_lines *lines, FILE *out)
{
    for (const char *mark; (mark = strchr(text, '@')); text = mark + 2) {
        fwrite(text, 1, (size_t)(mark - text), out);
        if (write_lines(export, lines, mark[1], out) ||
            write_lines(export, common_lines, mark[1], out))
            mark++; /* the line's end */
        else
            write_mark(export, mark[1], out);
    }
    fputs(text, out);
}

bool at_export_is_kernel(const struct at_export *export, size_t item)
{
    return export->items[item].kernel == item;
}
