/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a subcommand. The only place that prints errors and chooses exit codes. */
#include "base/choice.h"
#include "base/error.h"
#include "base/memory.h"
#include "cmd/command_line.h"
#include "roles.h"
#include "system/progress.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *argp_program_version = "autotune " PACKAGE_VERSION;

static void print_overview(void)
{
    puts("Usage: autotune [COMMAND] [OPTION...]\n"
         "Finds the fastest matrix transpose for this GPU and writes it to a profile.\n");
    for (size_t i = 0; at_commands[i]; i++)
        printf("  autotune %-8s %s%s\n", at_commands[i]->name, at_commands[i]->summary,
               i == 0 ? " (the default)" : "");
    puts(
        "\nautotune COMMAND --help lists the options of a command. Exit codes: 0 done; 1 no "
        "config\nfound, or a check failed; 2 usage or a bad file; 3 no device, driver or compiler; "
        "4 profile\nof another device; 5 internal; 130 interrupted, with the best so far written.");
}

static enum at_status unknown_command(const char *word, struct at_error *err)
{
    const char *dot = strrchr(word, '.');
    const char **known = NULL;
    char nearest[128];
    size_t count = 0, capacity = 0;

    if (access(word, F_OK) == 0 || (dot && strcmp(dot, ".yaml") == 0))
        return at_fail(err, AT_USAGE,
                       "\"%s\" is no command; autotune show %s prints a profile, autotune check, "
                       "report and others take one too. See autotune --help",
                       word, word);
    for (size_t i = 0; at_commands[i]; i++)
        AT_PUSH(known, count, capacity, at_commands[i]->name);
    at_suggest(nearest, sizeof nearest, word, known, count);
    free(known);
    return at_fail(err, AT_USAGE, "unknown command \"%s\"; did you mean %s? See autotune --help",
                   word, nearest);
}

static bool is_one_of(const char *word, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(word, *words) == 0)
            return true;
    return false;
}

/* Return the first argument that is not --quiet or --verbose; NULL: there is none. */
static const char *first_argument(char **argv)
{
    static const char *const common[] = {"-q", "--quiet", "-v", "--verbose", NULL};

    do
        argv++;
    while (*argv && is_one_of(*argv, common));
    return *argv;
}

/* Options of a command may come before its name: move the name to the front. Return the command;
 * NULL: none is named. A name after options that its command lacks is one too: the command refuses
 * them. */
static const struct at_command *take_command(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const struct at_command *command = at_command_find(at_commands, argv[i]);
        char *name = argv[i];

        if (!command || (at_command_first_argument(command, argc, argv) != i &&
                         at_command_first_argument(at_commands[0], argc, argv) != i))
            continue;
        memmove(&argv[2], &argv[1], (size_t)(i - 1) * sizeof *argv);
        argv[1] = name;
        return command;
    }
    return NULL;
}

static bool has_one_of(int argc, char **argv, const char *const *words)
{
    for (int i = 1; i < argc; i++)
        if (is_one_of(argv[i], words))
            return true;
    return false;
}

/* --version --verbose: what a bug report needs. Its findings are no failure of this option. */
static enum at_status print_details(struct at_error *err)
{
    char *arguments[] = {(char[]){"autotune doctor"}, NULL};
    enum at_status status =
        at_command_run(at_command_find(at_commands, "doctor"), 1, arguments, err);

    return status == AT_DEVICE ? AT_OK : status;
}

/* Refuse the name of a command behind it, unless a file is called so. */
static enum at_status check_second(const struct at_command *command, int argc, char **argv,
                                   struct at_error *err)
{
    int at = at_command_first_argument(command, argc, argv);

    if (at == argc || strcmp(argv[at], command->name) != 0 || access(argv[at], F_OK) == 0)
        return AT_OK;
    return at_fail(err, AT_USAGE, "the command %s stands there twice: once is enough", argv[at]);
}

/* Options and problems without a command belong to the default one. */
static enum at_status dispatch(int argc, char **argv, struct at_error *err)
{
    static const char *const helps[] = {"--help", "-?", "-h", NULL};
    static const char *const versions[] = {"--version", "-V", NULL};
    static const char *const details[] = {"--verbose", "-v", NULL};
    const struct at_command *command;
    const char *first = first_argument(argv);
    char *name;
    bool help = first && strcmp(first, "help") == 0;
    int at;
    enum at_status status;

    if (!first || is_one_of(first, helps) || (help && argc == 2)) {
        print_overview();
        return AT_OK;
    }
    if (is_one_of(first, versions) && has_one_of(argc, argv, details))
        return print_details(err);
    if (help) { /* help COMMAND: COMMAND --help */
        argv[1] = argv[argc - 1];
        argv[2] = "--help";
        argc = 3;
    }
    command = take_command(argc, argv);
    if (command) {
        argc--;
        argv++;
        status = check_second(command, argc, argv, err);
        if (status != AT_OK)
            return status;
    } else {
        command = at_commands[0];
        at = at_command_first_argument(command, argc, argv);
        if (at < argc && argv[at][0] != '-' && !isdigit((unsigned char)argv[at][0]))
            return unknown_command(argv[at], err);
    }
    name = at_format("autotune %s", command->name);
    argv[0] = name;
    status = at_command_run(command, argc, argv, err);
    free(name);
    return status;
}

/* Flush stdout at every kind of exit: a full disk is a failure. A reader that closed its end of a
 * pipe (head, say) is none. */
static void deliver_stdout(void)
{
    if ((fflush(stdout) == 0 && !ferror(stdout)) || at_streams_reader_is_gone(STDOUT_FILENO))
        return;
    fprintf(stderr, "autotune: cannot write to standard output: %s\n", strerror(errno));
    _exit(AT_USAGE);
}

/* Refuse control characters: messages quote arguments, and getopt prints them unescaped. */
static enum at_status check_arguments(int argc, char **argv, struct at_error *err)
{
    for (int i = 1; i < argc; i++)
        for (const char *c = argv[i]; *c; c++)
            if ((unsigned char)*c < ' ' || *c == 0x7f)
                return at_fail(err, AT_USAGE, "argument %d has a control character in it: \"%s\"",
                               i, argv[i]);
    return AT_OK;
}

static void print_error(enum at_status status, const struct at_error *err)
{
    if (status != AT_OK && err->message[0])
        at_print_message("", err->message);
}

int main(int argc, char **argv)
{
    struct at_error err = {AT_OK, ""};
    enum at_status status;
    int exit_code;

    if (!at_streams_prepare()) {
        fprintf(stderr, "autotune: cannot open /dev/null: %s\n", strerror(errno));
        return AT_INTERNAL;
    }
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    signal(SIGXFSZ, SIG_IGN); /* at the file size limit, write fails as on a full disk */
    atexit(deliver_stdout);
    argp_err_exit_status = AT_USAGE;
    at_all_commands = at_commands;
    status = check_arguments(argc, argv, &err);
    if (status == AT_OK)
        status = dispatch(argc, argv, &err);
    print_error(status, &err);
    return status;
}
