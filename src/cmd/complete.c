/* SPDX-License-Identifier: Apache-2.0 */
/* autotune complete: what may be typed next. The completions of all shells ask it. */
#include "base/memory.h"
#include "cmd/command_line.h"
#include "cmd/own_options.h"
#include "cmd/run_options.h"
#include "emulated/time/description.h"
#include "profile/newest.h"
#include "profile/profile.h"
#include "system/paths.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct complete_options {
    struct at_run_options run; /* for its families */
    struct at_texts words;
};

static const struct at_option options_table[] = {
    AT_ARGUMENT("word", NULL, AT_ADDS_TEXT(complete_options, words)),
    {0},
};

/* A command line, without the program's name, up to the word that is typed. */
struct typed {
    struct at_run_options *run;
    const struct at_command *command; /* NULL: none is named yet */
    const struct at_option *option;   /* whose value the word is; NULL: none */
    const char *profile;              /* that is named; NULL: none */
    const char *family;               /* the first argument; NULL: none */
    const char *word;
    size_t before; /* characters of the word that stay: of --gpu= */
};

/* Offer a word if it begins with what is typed. Shells take what is behind the tab for a summary.
 */
static void offer(const struct typed *typed, const char *start, const char *word,
                  const char *summary)
{
    char *whole = at_format("%.*s%s%s", (int)typed->before, typed->word, start, word);

    if (strncmp(whole, typed->word, strlen(typed->word)) == 0)
        printf("%s%s%.*s\n", whole, summary ? "\t" : "",
               summary ? (int)strcspn(summary, ";:,.(") : 0, summary ? summary : "");
    free(whole);
}

/* Names of files that end so may stand here. The shell has them. */
static void offer_files(const char *end)
{
    printf("@%s\n", end);
}

static void offer_names(const struct typed *typed, const char *start, struct at_folder *files)
{
    for (size_t i = 0; i < files->count; i++) {
        *strrchr(files->names[i], '.') = '\0';
        offer(typed, start, files->names[i], NULL);
    }
    at_folder_clear(files);
}

static void offer_devices(const struct typed *typed, const char *start)
{
    struct at_folder files;

    at_description_files(&files);
    offer_names(typed, start, &files);
}

static void offer_families(const struct typed *typed)
{
    for (size_t i = 0; i < typed->run->session.family_count; i++)
        offer(typed, "", typed->run->families[i]->name, typed->run->families[i]->summary);
}

static void offer_problems(const struct typed *typed)
{
    struct at_profile profile = {0};

    if (!typed->profile || at_profile_read(&profile, typed->profile, NULL) != AT_OK)
        return;
    for (struct at_placed_entry at = {0}; at_profile_next(&profile, &at);)
        offer(typed, "", at.entry->problem, NULL);
    at_profile_clear(&profile);
}

/* PAD=, or its values behind it. */
static void offer_parameters(const struct typed *typed)
{
    const struct at_family *family;

    if (at_run_family(&family, &typed->run->session, typed->family, NULL) != AT_OK)
        return;
    for (size_t i = 0; i < family->param_count; i++) {
        const struct at_param *param = &family->params[i];
        char *start = at_format("%s=", param->name);
        bool named = strncmp(typed->word, start, strlen(start)) == 0;

        if (!named)
            offer(typed, start, "", param->summary);
        for (size_t j = 0; named && j < param->value_count; j++) {
            char *value = at_format("%jd", (intmax_t)param->values[j]);

            offer(typed, start, value, NULL);
            free(value);
        }
        free(start);
    }
}

static void offer_values(const struct typed *typed)
{
    static const char *const selectors[] = {"auto", "all", "emu", "0"};
    const struct at_option *option = typed->option;
    const char *name = option->name ? option->name : "";

    for (size_t i = 0; option->words && option->words(i).name; i++)
        offer(typed, "", option->words(i).name, option->words(i).note);
    if (strcmp(name, "gpu") == 0) {
        for (size_t i = 0; i < AT_COUNT(selectors); i++)
            offer(typed, "", selectors[i], NULL);
        offer_devices(typed, "emu:");
    } else if (strcmp(name, "device") == 0) {
        offer_devices(typed, "");
    } else if (strcmp(name, "family") == 0) {
        offer_families(typed);
    } else if (strcmp(name, "problem") == 0) {
        offer_problems(typed);
    } else if (strcmp(option->argument, "FILE") == 0 || strcmp(option->argument, "DIR") == 0) {
        offer_files("");
    }
}

static void offer_options(const struct typed *typed, const struct at_option *options)
{
    for (; options->kind != AT_OPTION_END; options++)
        if (options->kind == AT_OPTION_TABLE)
            offer_options(typed, options->table);
        else if (options->name)
            offer(typed, "--", options->name, options->help);
}

static void offer_arguments(const struct typed *typed)
{
    struct at_folder studies = {0};
    char *folder;

    if (strcmp(typed->command->name, "explain") == 0 && !typed->family && !typed->profile) {
        offer_families(typed);
        offer_files(".cu");
    } else if (strcmp(typed->command->name, "explain") == 0) {
        if (typed->family && !at_is_own_file(typed->family))
            offer_parameters(typed);
        offer_problems(typed);
    } else if (strcmp(typed->command->name, "study") == 0 && !typed->family) {
        folder = at_path_data_file("tuning/study");
        (void)at_folder_list(&studies, folder, ".yaml");
        free(folder);
        offer_names(typed, "", &studies);
        offer_files(".yaml");
        offer_files(".cu");
    } else if (typed->command->arguments) {
        offer_problems(typed);
        offer_files("");
    }
}

/* ---- what is typed already ---- */

static const struct at_option *option_of(const struct typed *typed, const char *word)
{
    const struct at_command *command = typed->command ? typed->command : at_all_commands[0];
    const struct at_option *option = word[0] == '-' ? at_option_find(command->options, word) : NULL;

    if (!option && word[0] == '-')
        option = at_option_find(at_common_options, word);
    return option && option->argument ? option : NULL;
}

static void take_word(struct typed *typed, const char *word)
{
    const char *dot = strrchr(word, '.');
    bool value = typed->option != NULL;

    if ((!value || strcmp(typed->option->argument, "FILE") == 0) && dot &&
        strcmp(dot, ".yaml") == 0)
        typed->profile = word;
    typed->option = value || strchr(word, '=') ? NULL : option_of(typed, word);
    if (value || word[0] == '-')
        return;
    if (!typed->command && (typed->command = at_command_find(at_all_commands, word)))
        return;
    if (!typed->family && word != typed->profile)
        typed->family = word;
}

static enum at_status run_complete(void *given, struct at_error *err)
{
    struct complete_options *options = given;
    struct typed typed = {.run = &options->run, .word = ""};
    enum at_status status = at_run_families(&options->run, err);

    for (size_t i = 0; i + 1 < options->words.count; i++)
        take_word(&typed, options->words.items[i]);
    if (options->words.count > 0)
        typed.word = options->words.items[options->words.count - 1];
    if (!typed.option && strchr(typed.word, '=') && (typed.option = option_of(&typed, typed.word)))
        typed.before = strcspn(typed.word, "=") + 1;
    if (status != AT_OK)
        return status;
    if (typed.option) {
        offer_values(&typed);
        return AT_OK;
    }
    if (!typed.command && typed.word[0] != '-' && !typed.family) {
        for (size_t i = 0; at_all_commands[i]; i++)
            offer(&typed, "", at_all_commands[i]->name, at_all_commands[i]->summary);
        return AT_OK;
    }
    if (!typed.command)
        typed.command = at_all_commands[0];
    if (typed.word[0] != '-') {
        offer_arguments(&typed);
        return AT_OK;
    }
    offer_options(&typed, typed.command->options);
    offer_options(&typed, at_common_options);
    offer_options(&typed, (struct at_option[]){{"help", 0, .kind = AT_OPTION_FLAG},
                                               {"usage", 0, .kind = AT_OPTION_FLAG},
                                               {"version", 0, .kind = AT_OPTION_FLAG},
                                               {0}});
    return AT_OK;
}

const struct at_command at_command_complete = {
    .name = "complete",
    .summary = "what may be typed next, for shells",
    .options = options_table,
    .arguments = "-- [WORD...]",
    .help = "Prints what the last word of a command line may become, a line each, with a summary "
            "behind a tab. @ stands for names of files, and @.cu for those that end so. Nothing is "
            "measured.\vExample:\n  autotune complete -- lookup --gpu=emu:",
    .size = sizeof(struct complete_options),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_complete,
};
