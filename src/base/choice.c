/* SPDX-License-Identifier: Apache-2.0 */
#include "base/choice.h"

#include "base/memory.h"
#include "base/suggest.h"
#include "base/text_stream.h"

#include <string.h>

enum at_status at_choose(size_t *index, const char *what, const char *name, at_choice_fn *entry,
                         struct at_error *err)
{
    const char **known = NULL;
    size_t count = 0, capacity = 0;
    char *unknown;

    for (size_t i = 0; entry(i).name; i++)
        if (strcmp(entry(i).name, name) == 0) {
            *index = i;
            return AT_OK;
        }
    for (size_t i = 0; entry(i).name; i++)
        AT_PUSH(known, count, capacity, entry(i).name);
    unknown = at_format("unknown %s", what);
    at_fail_unknown(err, AT_USAGE, unknown, name, known, count);
    at_free(unknown);
    at_free(known);
    return AT_USAGE;
}

char *at_choices_list(const char *text, at_choice_fn *entry)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    fputs(text, out);
    for (size_t i = 0; entry(i).name; i++) {
        fprintf(out, "%s%s", i > 0 ? ", " : ": ", entry(i).name);
        if (entry(i).note)
            fprintf(out, " (%s)", entry(i).note);
    }
    return at_text_close(&stream, NULL);
}
