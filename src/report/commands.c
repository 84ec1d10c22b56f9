/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that a page recommends, as a shell takes them. */
#include "base/memory.h"
#include "report/page.h"

#include <stdlib.h>
#include <string.h>

/* Problems of a command; more are in a list of their own. */
enum { NAMED = 6 };

/* Print a word as a shell takes it, quoted if it must be. */
static void put_word(const char *word, FILE *out)
{
    bool plain = word[0] && word[0] != '~' && !word[strcspn(word, " \t\n\"'\\$`;&|<>()*?[]{}!#")];

    at_put(out, plain ? "%s" : "'", word);
    for (; !plain && *word; word++)
        at_put(out, *word == '\'' ? "'\\''" : "%.*s", 1, word);
    at_put(out, plain ? "" : "'");
}

/* The options of a command that name the device, the policy and the profile. */
static void put_place(const struct at_report_device *device, FILE *out)
{
    at_put(out, "autotune tune");
    if (device->predicted) {
        at_put(out, " --gpu ");
        put_word(device->record->device.uuid, out);
    }
    at_put(out, " --policy %s", device->record->policy.name);
}

/* End a command with its problems, and with a list of them where they are many. */
static void put_problems(const struct at_report_row *const *rows, size_t count, FILE *out)
{
    for (size_t i = 0; i < count && count <= NAMED; i++) {
        at_put(out, " ");
        put_word(rows[i]->entry->problem, out);
    }
    if (count <= NAMED) {
        at_put(out, "</code>");
        return;
    }
    at_put(out,
           " --problems LIST</code><details><summary>LIST</summary><pre>schema: 1\nproblems:\n");
    for (size_t i = 0; i < count; i++)
        at_put(out, "  - %s\n", rows[i]->entry->problem);
    at_put(out, "</pre></details>");
}

void at_report_retune(const struct at_report *report, const struct at_report_device *device,
                      const struct at_report_row *const *rows, size_t count, bool longer,
                      const char *words, FILE *out)
{
    at_put(out, "<div class=\"do\">%s: <code>", words);
    put_place(device, out);
    at_put(out, "%s --out ", longer && device->predicted ? " --search guided" : "");
    put_word(report->profile_name, out);
    put_problems(rows, count, out);
    at_put(out, "</div>\n");
}

void at_report_explain(const struct at_report_row *row, const char *words, FILE *out)
{
    const struct at_result_record *winner = row->winner;
    const struct at_named_int *parameters = winner->parameters.items;

    at_put(out, "<div class=\"do\">%s: <code>autotune explain --problem %s %s", words,
           row->entry->problem, winner->family);
    for (size_t i = 0; i < winner->parameters.count; i++)
        at_put(out, " %s=%jd", parameters[i].name, (intmax_t)parameters[i].value);
    at_put(out, "</code></div>\n");
}

void at_report_journal(const struct at_report *report, FILE *out)
{
    char *journal = at_format("%s.journal", report->profile_name);

    at_put(out, "<div class=\"do\">Which parameter matters, how each search went, and when: <code>"
                "autotune report ");
    put_word(report->profile_name, out);
    at_put(out, " --journal ");
    put_word(journal, out);
    at_put(out, "</code></div>\n");
    free(journal);
}

/* What limited a search, as options; "": the profile does not have it, or it is not fit to copy. */
static const char *options_of(const struct at_entry *entry)
{
    static const char fit[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 -_.+=";
    const char *options = entry->options ? entry->options : "";

    return options[strspn(options, fit)] ? "" : options;
}

static bool same_search(const struct at_entry *a, const struct at_entry *b)
{
    return strcmp(a->search, b->search) == 0 && a->seed == b->seed &&
           strcmp(options_of(a), options_of(b)) == 0;
}

/* A command for each way in which problems were searched. */
static void print_repeat(const struct at_report_row *const *rows, size_t count,
                         const struct at_report_device *device, FILE *out)
{
    const struct at_entry *entry = rows[0]->entry;
    const char *options = options_of(entry);

    at_put(out, "<div><code>");
    put_place(device, out);
    at_put(out, " --seed %jd", (intmax_t)entry->seed);
    if (!options[0] && entry->search[0])
        at_put(out, " --search %s", entry->search);
    else if (strcmp(options, "default") != 0)
        at_put(out, " %s", options);
    at_put(out, " --out FILE");
    put_problems(rows, count, out);
    at_put(out, "%s</div>\n",
           options[0] ? "" : " (the profile does not have the budget, time limit and families)");
}

void at_report_repeats(const struct at_report_device *device, FILE *out)
{
    const struct at_report_row **alike = at_alloc_array(device->count, sizeof *alike);
    bool *done = at_alloc_array(device->count, sizeof *done);

    at_put(out, "<dt>to repeat it</dt><dd>");
    for (size_t i = 0; i < device->count; i++) {
        size_t count = 0;

        for (size_t j = i; j < device->count && !done[i]; j++)
            if (!done[j] && same_search(device->rows[i].entry, device->rows[j].entry))
                alike[count++] = &device->rows[j];
        for (size_t j = 0; j < count; j++)
            done[alike[j] - device->rows] = true;
        if (count > 0)
            print_repeat(alike, count, device, out);
    }
    at_put(out, "</dd>\n");
    free(done);
    free(alike);
}
