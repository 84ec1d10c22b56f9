/* SPDX-License-Identifier: Apache-2.0 */
#include "torture.h"

#include "base/error.h"
#include "base/memory.h"
#include "system/file.h"

#include <glob.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 1 << 24 };

char *content_of(const char *folder, const char *name)
{
    char *path = at_format("%s/%s", folder, name), *text = NULL;
    size_t size;

    if (at_file_read(&text, &size, path, FILE_BYTES_MAX, NULL) != AT_OK)
        text = NULL;
    free(path);
    return text;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

__attribute__((format(printf, 2, 3))) static bool broken(struct aftermath *a, const char *format,
                                                         ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(a->why, sizeof a->why, format, args);
    va_end(args);
    return false;
}

/* ---- the run itself ---- */

static bool is_kill(const struct point *point)
{
    return point->effect == EFFECT_KILL || point->effect == EFFECT_KILL_AFTER;
}

static bool was_killed(const struct aftermath *a)
{
    return a->end.injected && strcmp(a->point->call.role, "main") == 0 && is_kill(a->point);
}

static bool exited(const struct aftermath *a, int code)
{
    return WIFEXITED(a->end.status) && WEXITSTATUS(a->end.status) == code;
}

static bool ends(struct aftermath *a)
{
    return !a->end.hung || broken(a, "it had to be killed");
}

static bool leaves_no_process(struct aftermath *a)
{
    return a->end.left == 0 || broken(a, "%d of its processes did not end", a->end.left);
}

static bool has_exit_code(struct aftermath *a)
{
    static const int codes[] = {AT_OK, AT_FAILED, AT_USAGE, AT_DEVICE, AT_INTERNAL, AT_INCOMPLETE};

    if (was_killed(a))
        return (WIFSIGNALED(a->end.status) && WTERMSIG(a->end.status) == SIGKILL) ||
               broken(a, "it was killed, but its status is %#x", a->end.status);
    for (size_t i = 0; i < AT_COUNT(codes); i++)
        if (exited(a, codes[i]))
            return true;
    return WIFSIGNALED(a->end.status) ? broken(a, "signal %d", WTERMSIG(a->end.status))
                                      : broken(a, "exit code %d", WEXITSTATUS(a->end.status));
}

/* A killed worker is replaced, so the run succeeds. */
static bool survives_workers(struct aftermath *a)
{
    return was_killed(a) || !a->end.injected || !is_kill(a->point) || exited(a, AT_OK) ||
           broken(a, "a worker was killed, and the run ended with it");
}

/* If the point makes stderr fail, no message is expected. */
static bool says_why(struct aftermath *a)
{
    if (was_killed(a) || exited(a, AT_OK) ||
        (a->end.injected && !strcmp(a->point->call.kind, "stderr")))
        return true;
    return strstr(a->err, "autotune: ") || broken(a, "it failed without a message");
}

/* Remove all occurrences of a word: a run's folder differs each time. */
static void remove_all(char *text, const char *word)
{
    size_t size = strlen(word);

    while ((text = strstr(text, word)))
        memmove(text, text + size, strlen(text + size) + 1);
}

/* A successful run prints all, or a warning that names what it left out. */
static bool prints_all(struct aftermath *a)
{
    char *whole, *got;
    bool same;

    if (a->scenario->varies || !exited(a, AT_OK) || strstr(a->err, "autotune: warning: "))
        return true;
    whole = content_of(a->sample, "stdout");
    got = at_strdup(a->out);
    remove_all(whole, a->sample);
    remove_all(got, a->place);
    same = strcmp(whole, got) == 0;
    free(got);
    free(whole);
    return same || broken(a, "exit code 0, but it did not print all");
}

static bool is_sound_profile(const struct aftermath *a, const char *name)
{
    char *command = at_format("cd '%s' && \"$AUTOTUNE\" check %s >/dev/null 2>&1", a->place, name);
    int status = system(command);

    free(command);
    return status == 0;
}

/* A file is as before or whole; after exit code 0 it is whole. */
static bool is_whole(struct aftermath *a, const char *name)
{
    char *now = content_of(a->place, name), *before = content_of(a->before, name);
    char *sample = content_of(a->sample, name);
    bool kept = same_text(now, before), holds;

    if (kept)
        holds = !exited(a, AT_OK) || same_text(now, sample);
    else if (a->scenario->varies)
        holds = now && is_sound_profile(a, name);
    else
        holds = same_text(now, sample);
    free(sample);
    free(before);
    free(now);
    return holds || broken(a, "%s is neither as before nor whole", name);
}

/* Call holds for each output in the folder until one returns false. */
static bool for_outputs(struct aftermath *a, const char *folder,
                        bool (*holds)(struct aftermath *, const char *))
{
    char *pattern = at_format("%s/%s", folder, a->scenario->outputs);
    glob_t found;
    bool all = true;

    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc && all; i++)
            all = holds(a, found.gl_pathv[i] + strlen(folder) + 1);
        globfree(&found);
    }
    free(pattern);
    return all;
}

static bool is_there(struct aftermath *a, const char *name)
{
    return broken(a, "%s still exists", name);
}

static bool writes_whole(struct aftermath *a)
{
    if (!a->scenario->outputs)
        return true;
    if (a->scenario->clears)
        return !exited(a, AT_OK) || for_outputs(a, a->place, is_there);
    return for_outputs(a, a->place, is_whole) && for_outputs(a, a->sample, is_whole);
}

static bool journal_is_sound(struct aftermath *a)
{
    return a->rows || broken(a, "SQLite finds it damaged");
}

/* ---- what is left ---- */

static const char *const temporary[] = {".autotune-*", "kernels/.autotune-*",
                                        "cache/autotune/*.aside"};
static const char *const logs[] = {"*.journal-wal", "*.journal-shm", "*.journal-journal"};

static bool has_none(struct aftermath *a, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *pattern = at_format("%s/%s", a->place, names[i]);
        glob_t found;

        if (glob(pattern, 0, NULL, &found) == 0) {
            broken(a, "%s is left", found.gl_pathv[0] + strlen(a->place) + 1);
            globfree(&found);
            free(pattern);
            return false;
        }
        free(pattern);
    }
    return true;
}

static bool leaves_no_temporary(struct aftermath *a)
{
    return has_none(a, temporary, AT_COUNT(temporary)) && has_none(a, logs, AT_COUNT(logs));
}

/* SQLite needs the journal's files, and memory, to merge its log. Without them the log stays for
 * the next run. */
static bool may_leave_logs(const struct aftermath *a)
{
    const char *kind = a->point->call.kind;

    return a->end.injected && (strncmp(kind, "journal", 7) == 0 || strcmp(kind, "memory") == 0);
}

/* A killed run removes nothing, and neither does one whose unlink fails. */
static bool cleans_up(struct aftermath *a)
{
    return was_killed(a) || (a->end.injected && strncmp(a->point->call.call, "unlink", 6) == 0) ||
           (has_none(a, temporary, AT_COUNT(temporary)) &&
            (may_leave_logs(a) || has_none(a, logs, AT_COUNT(logs))));
}

/* ---- the next run ---- */

static bool next_does_well(struct aftermath *a)
{
    if (a->next.status == 0 && !a->next.hung)
        return true;
    return broken(a, "status %#x: %.300s", a->next.status, a->next_err);
}

static bool next_is_whole(struct aftermath *a)
{
    if (!a->scenario->varies)
        return true;
    return is_sound_profile(a, "best.yaml") || broken(a, "the profile is not sound");
}

static bool keeps_rows(struct aftermath *a)
{
    if (!a->next_rows)
        return broken(a, "SQLite finds it damaged");
    return strncmp(a->next_rows, a->rows, strlen(a->rows)) == 0 ||
           broken(a, "a row of the journal is gone or has changed");
}

/* ---- the rules ---- */

struct rule {
    const char *name;
    bool (*holds)(struct aftermath *a);
};

static const struct rule rules_first[] = {
    {"it ends", ends},
    {"no process is left", leaves_no_process},
    {"the exit code is a documented one", has_exit_code},
    {"a run survives the kill of a worker", survives_workers},
    {"a failure has a message", says_why},
    {"exit code 0 means that everything was printed", prints_all},
    {"each output is whole or as before", writes_whole},
    {"the journal is sound", journal_is_sound},
    {"a run that ends by itself leaves no temporary file", cleans_up},
};

static const struct rule rules_next[] = {
    {"the next run succeeds", next_does_well},
    {"the next run's profile is sound", next_is_whole},
    {"rows of the journal stay as they are", keeps_rows},
    {"no temporary file is left after the next run", leaves_no_temporary},
};

const char *rules_broken(struct aftermath *aftermath, bool first)
{
    const struct rule *rules = first ? rules_first : rules_next;
    size_t count = first ? AT_COUNT(rules_first) : AT_COUNT(rules_next);

    for (size_t i = 0; i < count; i++)
        if (!rules[i].holds(aftermath))
            return rules[i].name;
    return NULL;
}
