/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes profiles. In memory each entry has its own default config; a file has each
 * family's once. Entries without measurements are entries like others in memory, or groups for
 * lookups; a file has each config once, with the problems that it answers. */
#include "system/file.h"
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "profile/internal.h"
#include "system/output.h"

#include <stdlib.h>
#include <string.h>

/* ---- entries without measurements, as groups ---- */

/* A text of the file, for messages. */
struct place {
    const char *file;
    const struct at_located *text;
    struct at_error *err;
};

static enum at_status fail(const struct place *place, const char *expected)
{
    return at_fail_at(place->err,
                      (struct at_source){place->file, place->text->line, place->text->column},
                      "expected %s, found \"%.100s\"", expected, place->text->text);
}

/* Split "NAME=VALUE" in place. */
static bool read_parameter(char *word, struct at_named_int *parameter)
{
    char *sign = strchr(word, '=');

    if (!sign || !at_integer_parse(sign + 1, strlen(sign + 1), &parameter->value))
        return false;
    *sign = '\0';
    parameter->name = word;
    return at_text_is_word(word, (size_t)(sign - word));
}

/* End the word at the next blank. Returns what follows; NULL: nothing. */
static char *cut(char *word)
{
    char *blank = strchr(word, ' ');

    if (!blank)
        return NULL;
    *blank = '\0';
    return blank + 1;
}

/* Read the words of a config, in place. Names in ascending order are there once. */
static bool read_config(char *text, struct at_answer_group *group)
{
    struct at_named_int parameters[AT_PARAMETERS_MAX];
    char *word, *rest = cut(text);
    size_t count = 0;

    if (!at_text_is_word(text, strlen(text)))
        return false;
    strcpy(group->family, text);
    while ((word = rest)) {
        rest = cut(word);
        if (count == AT_COUNT(parameters) || !read_parameter(word, &parameters[count]) ||
            (count > 0 && strcmp(parameters[count - 1].name, parameters[count].name) >= 0))
            return false;
        count++;
    }
    group->parameters = at_named_ints_copy(parameters, count);
    return true;
}

static enum at_status take_config(const struct place *place, struct at_answer_group *group)
{
    char *text = at_strdup(place->text->text);
    bool good = read_config(text, group);

    at_free(text);
    return good ? AT_OK
                : fail(place, "a family and its parameters in the order of their names, as "
                              "\"tile PAD=1 TILE=32\"");
}

/* Move a text like "8192x8192:f32 978" into the group. */
static enum at_status take_problem(const struct place *place, struct at_located *text,
                                   struct at_answered *answered)
{
    char *blank = strrchr(text->text, ' ');
    int64_t *share = &answered->of_copy_permille;

    if (!blank || blank - text->text > AT_PROBLEM_BYTES_MAX ||
        !at_integer_parse(blank + 1, strlen(blank + 1), share) || *share < 0 ||
        *share > AT_PERMILLE_MAX)
        return fail(place, "a problem and its share of the copy limit in thousandths, as "
                           "\"8192x8192:f32 978\"");
    *blank = '\0';
    answered->problem = text->text;
    text->text = NULL;
    return AT_OK;
}

static enum at_status take_answers(struct place *place, struct at_answers_record *answers,
                                   struct at_answer_group *group)
{
    struct at_located *texts = answers->problems.items;
    struct at_answered *problems = at_alloc_array(answers->problems.count, sizeof *problems);
    enum at_status status;

    group->problems = (struct at_list){problems, answers->problems.count};
    group->origin = answers->origin;
    group->origin_of = answers->origin_of;
    answers->origin_of = NULL;
    place->text = &answers->config;
    status = take_config(place, group);
    for (size_t i = 0; i < answers->problems.count && status == AT_OK; i++) {
        place->text = &texts[i];
        status = take_problem(place, &texts[i], &problems[i]);
    }
    return status;
}

static void clear_answers(struct at_list *list)
{
    struct at_answers_record *answers = list->items;

    for (size_t i = 0; i < list->count; i++)
        at_schema_clear(&at_answers_schema, &answers[i]);
    at_free(answers);
    *list = (struct at_list){0};
}

static enum at_status group_record(struct at_device_record *record, struct place *place)
{
    struct at_answers_record *answers = record->answers.items;
    struct at_answer_group *groups = at_alloc_array(record->answers.count, sizeof *groups);
    enum at_status status = AT_OK;

    record->groups = (struct at_list){groups, record->answers.count};
    for (size_t i = 0; i < record->answers.count && status == AT_OK; i++)
        status = take_answers(place, &answers[i], &groups[i]);
    clear_answers(&record->answers);
    return status;
}

static void clear_groups(struct at_device_record *record)
{
    struct at_answer_group *groups = record->groups.items;

    for (size_t i = 0; i < record->groups.count; i++) {
        struct at_answered *problems = groups[i].problems.items;

        for (size_t j = 0; j < groups[i].problems.count; j++)
            at_free(problems[j].problem);
        at_free(problems);
        at_free(groups[i].parameters.items);
        at_free(groups[i].origin_of);
    }
    at_free(groups);
    record->groups = (struct at_list){0};
}

/* ---- as entries ---- */

static void make_room(struct at_list *entries, size_t more)
{
    struct at_entry *larger = at_alloc_array(entries->count + more, sizeof *larger);

    if (entries->count > 0)
        memcpy(larger, entries->items, entries->count * sizeof *larger);
    at_free(entries->items);
    entries->items = larger;
}

/* A problem and its config, to be sorted before they become entries, which are large. */
struct pair {
    struct at_answered *answered;
    const struct at_answer_group *group;
};

static int by_text(const void *left, const void *right)
{
    const struct pair *a = left, *b = right;

    return strverscmp(a->answered->problem, b->answered->problem);
}

static void list_pairs(const struct at_list *list, struct pair *pairs)
{
    const struct at_answer_group *groups = list->items;

    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < groups[i].problems.count; j++)
            *pairs++ =
                (struct pair){(struct at_answered *)groups[i].problems.items + j, &groups[i]};
}

/* Make an entry without measurements, which takes over the problem's text. */
static struct at_entry make_answer(char *problem, int64_t origin, const char *origin_of,
                                   const char *family, int64_t of_copy_permille,
                                   const struct at_list *parameters)
{
    struct at_entry entry = {.problem = problem, .origin = origin};

    entry.origin_of = origin_of ? at_strdup(origin_of) : NULL;
    strcpy(entry.winner.family, family);
    entry.winner.of_copy_permille = of_copy_permille;
    entry.winner.parameters = at_named_ints_copy(parameters->items, parameters->count);
    return entry;
}

/* Move the groups into the entries. */
static void spread_groups(struct at_device_record *record)
{
    size_t count = at_groups_problems(&record->groups);
    struct pair *pairs = at_alloc_array(count, sizeof *pairs);
    struct at_entry *entries;

    list_pairs(&record->groups, pairs);
    if (count > 0) {
        qsort(pairs, count, sizeof *pairs, by_text);
        make_room(&record->problems, count);
    }
    entries = record->problems.items;
    for (size_t i = 0; i < count; i++) {
        const struct at_answer_group *group = pairs[i].group;

        entries[record->problems.count++] =
            make_answer(pairs[i].answered->problem, group->origin, group->origin_of, group->family,
                        pairs[i].answered->of_copy_permille, &group->parameters);
        pairs[i].answered->problem = NULL;
    }
    at_free(pairs);
    clear_groups(record);
}

/* ---- as answers ---- */

/* An entry without measurements, with the text of its config. */
struct answer {
    char *config;
    struct at_entry *entry;
};

char *at_config_text(const struct at_result_record *config)
{
    const struct at_named_int *parameters = config->parameters.items;
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    fputs(config->family, out);
    for (size_t i = 0; i < config->parameters.count; i++)
        fprintf(out, " %s=%jd", parameters[i].name, (intmax_t)parameters[i].value);
    return at_text_close(&stream, NULL);
}

static const char *origin_of(const struct answer *answer)
{
    return answer->entry->origin_of ? answer->entry->origin_of : "";
}

/* Can both be in one record? */
static int by_group(const struct answer *a, const struct answer *b)
{
    int order = strverscmp(a->config, b->config);

    if (order == 0)
        order = at_integer_compare(a->entry->origin, b->entry->origin);
    return order ? order : strverscmp(origin_of(a), origin_of(b));
}

static int by_config(const void *left, const void *right)
{
    const struct answer *a = left, *b = right;
    int order = by_group(a, b);

    return order ? order : strverscmp(a->entry->problem, b->entry->problem);
}

/* Make the records of the sorted answers. */
static struct at_list group(struct answer *answers, size_t count)
{
    struct at_answers_record *records = NULL;
    size_t record_count = 0, record_capacity = 0, capacity = 0;

    for (size_t i = 0; i < count; i++) {
        const struct at_entry *entry = answers[i].entry;
        struct at_located problem = {
            at_format("%s %jd", entry->problem, (intmax_t)entry->winner.of_copy_permille), 0, 0};
        struct at_located *problems;
        struct at_list *list;

        if (i == 0 || by_group(&answers[i - 1], &answers[i]) != 0) {
            struct at_answers_record fresh = {
                .config = {at_strdup(answers[i].config), 0, 0},
                .origin = entry->origin,
                .origin_of = entry->origin_of ? at_strdup(entry->origin_of) : NULL,
            };

            AT_PUSH(records, record_count, record_capacity, fresh);
            capacity = 0;
        }
        list = &records[record_count - 1].problems;
        problems = list->items;
        AT_PUSH(problems, list->count, capacity, problem);
        list->items = problems;
    }
    return (struct at_list){records, record_count};
}

/* Move the entries without measurements out of the entries and into the record's answers. */
static void gather_answers(struct at_device_record *record)
{
    struct at_entry *entries = record->problems.items;
    struct answer *answers = NULL;
    size_t count = 0, capacity = 0, kept = 0;

    for (size_t i = 0; i < record->problems.count; i++)
        if (!at_entry_is_measured(&entries[i])) {
            struct answer answer = {at_config_text(&entries[i].winner), &entries[i]};

            AT_PUSH(answers, count, capacity, answer);
        }
    if (count == 0)
        return;
    qsort(answers, count, sizeof *answers, by_config);
    record->answers = group(answers, count);
    for (size_t i = 0; i < count; i++)
        at_schema_clear(&at_entry_schema, answers[i].entry);
    for (size_t i = 0; i < record->problems.count; i++)
        if (entries[i].problem)
            entries[kept++] = entries[i];
    record->problems.count = kept;
    for (size_t i = 0; i < count; i++)
        at_free(answers[i].config);
    at_free(answers);
}

/* ---- without measurements ---- */

void at_profile_drop_measurements(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count; j++) {
            struct at_entry *entry = &entries[j];
            const struct at_result_record *winner = &entry->winner;
            struct at_entry answer =
                make_answer(at_strdup(entry->problem), entry->origin, entry->origin_of,
                            winner->family, winner->of_copy_permille, &winner->parameters);

            at_schema_clear(&at_entry_schema, entry);
            *entry = answer;
        }
    }
}

/* ---- default configs ---- */

bool at_same_config(const struct at_result_record *a, const struct at_result_record *b)
{
    const struct at_named_int *x = a->parameters.items, *y = b->parameters.items;

    if (strcmp(a->family, b->family) != 0 || a->parameters.count != b->parameters.count)
        return false;
    for (size_t i = 0; i < a->parameters.count; i++)
        if (strcmp(x[i].name, y[i].name) != 0 || x[i].value != y[i].value)
            return false;
    return true;
}

static void clear_parameters(struct at_list *list)
{
    at_free(list->items);
    *list = (struct at_list){0};
}

static struct at_list copy_parameters(const struct at_list *list)
{
    return at_named_ints_copy(list->items, list->count);
}

static const struct at_default_record *find(const struct at_device_record *record,
                                            const char *family)
{
    const struct at_default_record *defaults = record->defaults.items;

    for (size_t i = 0; i < record->defaults.count; i++)
        if (strcmp(defaults[i].family, family) == 0)
            return &defaults[i];
    return NULL;
}

static int by_family(const void *left, const void *right)
{
    const struct at_default_record *a = left, *b = right;

    return strcmp(a->family, b->family);
}

/* ---- into the list ---- */

/* Do the defaults of this family have the same parameters in every entry? */
static bool all_agree(const struct at_device_record *record, const struct at_result_record *with)
{
    const struct at_entry *entries = record->problems.items;

    for (size_t i = 0; i < record->problems.count; i++)
        if (strcmp(entries[i].fallback.family, with->family) == 0 &&
            !at_same_config(&entries[i].fallback, with))
            return false;
    return true;
}

static void list_defaults(struct at_device_record *record)
{
    struct at_default_record *defaults = NULL;
    size_t capacity = 0;
    const struct at_entry *entries = record->problems.items;

    record->defaults = (struct at_list){0};
    for (size_t i = 0; i < record->problems.count; i++) {
        const struct at_result_record *fallback = &entries[i].fallback;
        struct at_default_record made = {0};

        if (fallback->parameters.count == 0 || find(record, fallback->family) ||
            record->defaults.count == AT_DEFAULTS_MAX || !all_agree(record, fallback))
            continue;
        strcpy(made.family, fallback->family);
        made.parameters = copy_parameters(&fallback->parameters);
        AT_PUSH(defaults, record->defaults.count, capacity, made);
        record->defaults.items = defaults;
    }
    if (record->defaults.count > 1)
        qsort(defaults, record->defaults.count, sizeof *defaults, by_family);
}

/* Move the default configs out of the entries and into the record's list, where all entries of a
 * family agree. */
static void gather_defaults(struct at_device_record *record)
{
    struct at_entry *entries = record->problems.items;

    list_defaults(record);
    for (size_t i = 0; i < record->problems.count; i++)
        if (find(record, entries[i].fallback.family))
            clear_parameters(&entries[i].fallback.parameters);
}

/* ---- into the entries ---- */

/* And back. */
static void spread_defaults(struct at_device_record *record)
{
    struct at_entry *entries = record->problems.items;
    struct at_default_record *defaults = record->defaults.items;

    for (size_t i = 0; i < record->problems.count; i++) {
        struct at_result_record *fallback = &entries[i].fallback;
        const struct at_default_record *found = find(record, fallback->family);

        if (found && fallback->parameters.count == 0)
            fallback->parameters = copy_parameters(&found->parameters);
    }
    for (size_t i = 0; i < record->defaults.count; i++)
        at_free(defaults[i].parameters.items);
    at_free(defaults);
    record->defaults = (struct at_list){0};
}

/* ---- between file and memory ---- */

/* Give the entries their defaults, and read the answers' texts into groups. AT_USAGE if one is no
 * answer; `file` is for messages. */
static enum at_status make_groups(struct at_profile *profile, const char *file,
                                  struct at_error *err)
{
    struct at_device_record *records = profile->devices.items;
    struct place place = {file, NULL, err};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < profile->devices.count && status == AT_OK; i++) {
        spread_defaults(&records[i]);
        status = group_record(&records[i], &place);
    }
    return status;
}

static void each_record(struct at_profile *profile, void (*change)(struct at_device_record *record))
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++)
        change(&records[i]);
}

/* ---- reading ---- */

/* Find a line that starts with the key, without indentation, and return what follows; NULL: none.
 */
static const char *find_key(const char *text, const char *key)
{
    size_t length = strlen(key);

    while (text && strncmp(text, key, length) != 0) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    return text ? text + length : NULL;
}

int64_t at_profile_schema_of(const char *text)
{
    const char *number = find_key(text, "schema:");
    int64_t schema = number ? strtoll(number, NULL, 10) : 0;

    /* Other files of this program have a schema 1, too. */
    return schema == 1 && !find_key(text, "devices:") ? 0 : schema;
}

/* Check the version before parsing: another version has keys unknown to us, and "unknown key" would
 * be a useless message. Every version has a line `schema: N` without indentation. The parser
 * refuses a file without it. */
static enum at_status check_version(const char *name, const char *text, struct at_error *err)
{
    int64_t found = at_profile_schema_of(text);

    if (found == 0 || found == AT_PROFILE_SCHEMA)
        return AT_OK;
    return at_fail(
        err, AT_USAGE,
        "%s: schema is %jd, and this program knows version %d: tune again, or use the autotune "
        "that wrote the file",
        name, (intmax_t)found, AT_PROFILE_SCHEMA);
}

typedef enum at_status parse_fn(struct at_profile *profile, const char *name, const char *text,
                                size_t size, struct at_error *err);

static enum at_status read_profile(struct at_profile *profile, const char *path, parse_fn *parse,
                                   struct at_error *err)
{
    struct at_profile read = {0};
    char *text = NULL;
    size_t size = 0;
    enum at_status status = at_file_read_text(&text, &size, path, AT_SCHEMA_BYTES_MAX, err);

    if (status != AT_OK)
        return status;
    status = check_version(path, text, err);
    if (status == AT_OK)
        status = parse(&read, path, text, size, err);
    if (status != AT_OK && text[0] > ' ' && !find_key(text, "devices:"))
        at_fail_within(err, "%s is no profile", path);
    at_free(text);
    if (status != AT_OK)
        return status;
    at_profile_sort(&read);
    status = at_profile_check(&read, path, err);
    if (status != AT_OK) {
        at_profile_clear(&read);
        return status;
    }
    *profile = read;
    return AT_OK;
}

static enum at_status parse_groups(struct at_profile *profile, const char *name, const char *text,
                                   size_t size, struct at_error *err)
{
    enum at_status status = at_schema_read(&at_profile_schema, profile, name, text, size, err);

    if (status != AT_OK)
        return status;
    status = make_groups(profile, name, err);
    if (status == AT_OK)
        status = at_profile_check_counts(profile, err);
    if (status != AT_OK)
        at_profile_clear(profile);
    return status;
}

static enum at_status parse(struct at_profile *profile, const char *name, const char *text,
                            size_t size, struct at_error *err)
{
    enum at_status status = parse_groups(profile, name, text, size, err);

    if (status == AT_OK)
        each_record(profile, spread_groups);
    return status;
}

enum at_status at_profile_read_whole(struct at_profile *profile, const char *path,
                                     struct at_error *err)
{
    return read_profile(profile, path, parse, err);
}

enum at_status at_profile_read_groups(struct at_profile *profile, const char *path,
                                      struct at_error *err)
{
    return read_profile(profile, path, parse_groups, err);
}

void at_profile_clear(struct at_profile *profile)
{
    each_record(profile, clear_groups);
    at_schema_clear(&at_profile_schema, profile);
}

/* ---- writing ---- */

static enum at_status write_file(const struct at_profile *profile, struct at_output *output,
                                 struct at_error *err)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    enum at_status status = at_schema_write_yaml(&at_profile_schema, profile, out, err);
    size_t size;
    char *text = at_text_close(&stream, &size);

    if (status == AT_OK && size > AT_SCHEMA_BYTES_MAX)
        status = at_fail(err, AT_USAGE,
                         "the profile has %zu bytes, and at most %d are read: keep its devices in "
                         "separate files",
                         size, AT_SCHEMA_BYTES_MAX);
    if (status == AT_OK)
        status = at_output_write(output, text, size, err);
    at_free(text);
    return status;
}

static void gather(struct at_profile *profile)
{
    each_record(profile, gather_defaults);
    each_record(profile, gather_answers);
}

static void spread(struct at_profile *profile)
{
    (void)make_groups(profile, "", NULL); /* they were just made */
    each_record(profile, spread_groups);
    at_profile_sort(profile);
}

enum at_status at_profile_write(struct at_profile *profile, struct at_output *output,
                                struct at_error *err)
{
    enum at_status status;

    at_profile_sort(profile);
    gather(profile);
    status = output ? write_file(profile, output, err)
                    : at_schema_write_yaml(&at_profile_schema, profile, stdout, err);
    spread(profile);
    return status;
}

enum at_status at_profile_write_json(struct at_profile *profile, FILE *out, struct at_error *err)
{
    enum at_status status;

    gather(profile);
    status = at_schema_write_json(&at_profile_schema, profile, out, err);
    spread(profile);
    return status;
}
