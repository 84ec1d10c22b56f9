/* SPDX-License-Identifier: Apache-2.0 */
#include "search/numbers.h"

#include "base/choice.h"
#include "base/integer.h"
#include "base/memory.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* They were chosen on all spaces. */
const struct at_numbers at_numbers_chosen = {.random = 2,
                                             .first = 3,
                                             .covered = 12,
                                             .draws = 3,
                                             .cover = 6,
                                             .family_turns = 6,
                                             .values = 3,
                                             .around = 30,
                                             .centres = 8,
                                             .hopeless = 200,
                                             .patience = 400};

static const struct {
    const char *name;
    size_t offset;
    int least, most;
} members[] = {
#define MEMBER(name, least, most)                                                                  \
    {                                                                                              \
#name, offsetof(struct at_numbers, name), least, most                                      \
    }
    MEMBER(random, 0, 1000),     MEMBER(first, 0, 1000),        MEMBER(covered, 0, 1000),
    MEMBER(draws, 1, 1000),      MEMBER(family_turns, 1, 1000), MEMBER(cover, 0, 6),
    MEMBER(values, 0, 1000),     MEMBER(around, 0, 100000),     MEMBER(centres, 1, 16),
    MEMBER(hopeless, 1, 100000), MEMBER(patience, 1, 100000),
#undef MEMBER
};

const struct at_numbers *at_numbers_without(const char *kind)
{
    for (const struct at_held_out *held_out = at_held_out; held_out->kind; held_out++)
        if (strcmp(held_out->kind, kind) == 0)
            return &held_out->numbers;
    return NULL;
}

static struct at_choice number_choice(size_t index)
{
    return (struct at_choice){.name = index < AT_COUNT(members) ? members[index].name : NULL};
}

/* Set the number that "NAME=VALUE" names. */
static enum at_status parse_one(struct at_numbers *numbers, char *text, struct at_error *err)
{
    char *equals = strchr(text, '=');
    int64_t value;
    size_t index;
    enum at_status status;

    if (!equals)
        return at_fail(err, AT_USAGE, "\"%s\" is no number of the search: write NAME=VALUE", text);
    *equals = '\0';
    status = at_choose(&index, "number of the search", text, number_choice, err);
    if (status != AT_OK)
        return status;
    if (!at_integer_parse(equals + 1, strlen(equals + 1), &value) || value < members[index].least ||
        value > members[index].most)
        return at_fail(err, AT_USAGE, "%s is not \"%s\", but from %d to %d", text, equals + 1,
                       members[index].least, members[index].most);
    *(int *)((char *)numbers + members[index].offset) = (int)value;
    return AT_OK;
}

enum at_status at_numbers_parse(struct at_numbers *numbers, const char *text, struct at_error *err)
{
    struct at_numbers changed = *numbers;
    enum at_status status = AT_OK;

    while (text && status == AT_OK) {
        size_t length = strcspn(text, ",");
        char *one = at_strndup(text, length);

        status = parse_one(&changed, one, err);
        free(one);
        text = text[length] ? text + length + 1 : NULL;
    }
    if (status == AT_OK)
        *numbers = changed;
    return status;
}
