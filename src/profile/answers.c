/* SPDX-License-Identifier: Apache-2.0 */
/* Entries without measurements: in memory they are entries like others, or groups for lookups. In a
 * file, too, each config is there once, with the problems that it answers. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- as groups ---- */

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

enum at_status at_answers_group(struct at_profile *profile, const char *file, struct at_error *err)
{
    struct at_device_record *records = profile->devices.items;
    struct place place = {file, NULL, err};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < profile->devices.count && status == AT_OK; i++)
        status = group_record(&records[i], &place);
    return status;
}

static void clear_groups(struct at_list *list)
{
    struct at_answer_group *groups = list->items;

    for (size_t i = 0; i < list->count; i++) {
        struct at_answered *problems = groups[i].problems.items;

        for (size_t j = 0; j < groups[i].problems.count; j++)
            at_free(problems[j].problem);
        at_free(problems);
        at_free(groups[i].parameters.items);
        at_free(groups[i].origin_of);
    }
    at_free(groups);
    *list = (struct at_list){0};
}

void at_groups_clear(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++)
        clear_groups(&records[i].groups);
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

size_t at_groups_problems(const struct at_list *list)
{
    const struct at_answer_group *groups = list->items;
    size_t count = 0;

    for (size_t i = 0; i < list->count; i++)
        count += groups[i].problems.count;
    return count;
}

static void list_pairs(const struct at_list *list, struct pair *pairs)
{
    const struct at_answer_group *groups = list->items;

    for (size_t i = 0; i < list->count; i++)
        for (size_t j = 0; j < groups[i].problems.count; j++)
            *pairs++ =
                (struct pair){(struct at_answered *)groups[i].problems.items + j, &groups[i]};
}

/* Append an entry, which takes over the problem's text. */
static void add_entry(struct at_list *entries, const struct pair *pair)
{
    struct at_entry *entry = (struct at_entry *)entries->items + entries->count++;

    entry->problem = pair->answered->problem;
    pair->answered->problem = NULL;
    entry->origin = pair->group->origin;
    entry->origin_of = pair->group->origin_of ? at_strdup(pair->group->origin_of) : NULL;
    strcpy(entry->winner.family, pair->group->family);
    entry->winner.of_copy_permille = pair->answered->of_copy_permille;
    entry->winner.parameters =
        at_named_ints_copy(pair->group->parameters.items, pair->group->parameters.count);
}

static void spread_record(struct at_device_record *record)
{
    size_t count = at_groups_problems(&record->groups);
    struct pair *pairs = at_alloc_array(count, sizeof *pairs);

    list_pairs(&record->groups, pairs);
    if (count > 0) {
        qsort(pairs, count, sizeof *pairs, by_text);
        make_room(&record->problems, count);
    }
    for (size_t i = 0; i < count; i++)
        add_entry(&record->problems, &pairs[i]);
    at_free(pairs);
    clear_groups(&record->groups);
}

void at_groups_spread(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++)
        spread_record(&records[i]);
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

static void gather_record(struct at_device_record *record)
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

void at_answers_gather(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++)
        gather_record(&records[i]);
}

/* ---- without measurements ---- */

void at_profile_drop_measurements(struct at_profile *profile)
{
    struct at_device_record *records = profile->devices.items;

    for (size_t i = 0; i < profile->devices.count; i++) {
        struct at_entry *entries = records[i].problems.items;

        for (size_t j = 0; j < records[i].problems.count; j++) {
            struct at_entry *entry = &entries[j], answer = {0};

            answer.problem = at_strdup(entry->problem);
            answer.origin = entry->origin;
            answer.origin_of = entry->origin_of ? at_strdup(entry->origin_of) : NULL;
            strcpy(answer.winner.family, entry->winner.family);
            answer.winner.of_copy_permille = entry->winner.of_copy_permille;
            answer.winner.parameters =
                at_named_ints_copy(entry->winner.parameters.items, entry->winner.parameters.count);
            at_schema_clear(&at_entry_schema, entry);
            *entry = answer;
        }
    }
}
