/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a scenario at each of its points: the disturbed run and then the next run. */
#include "torture.h"

#include "base/memory.h"
#include "base/text_stream.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Shared by the processes that work on one scenario. */
struct shared {
    atomic_size_t next;    /* the next point to run */
    atomic_size_t reached; /* points whose call was made */
    atomic_size_t broken;
};

struct work {
    const struct options *options;
    const struct scenario *scenario;
    const char *folder; /* holds all files */
    char *before, *sample;
    struct tallies tallies; /* of an undisturbed run */
    struct points points;
};

/* ---- one point ---- */

static void free_aftermath(struct aftermath *a)
{
    free(a->out);
    free(a->err);
    free(a->rows);
    free(a->next_rows);
    free(a->next_err);
}

static char *rows_of(const struct aftermath *a)
{
    return a->scenario->journal ? journal_rows(a->place, a->scenario->journal) : at_strdup("");
}

static char *text_of(const char *place, const char *name)
{
    char *text = content_of(place, name);

    return text ? text : at_strdup("");
}

static void run_command(const struct aftermath *a, const char *arguments, const struct point *point,
                        struct tallies *tallies, struct trace_end *end)
{
    char **words = scenario_words(arguments), *cache = at_format("%s/cache", a->place);

    setenv("XDG_CACHE_HOME", cache, 1);
    trace_run(words, a->place, point, tallies, end);
    free(cache);
    free(words[0]);
    free(words);
}

/* Run the scenario and the next run. Return the broken rule, or NULL. */
static const char *torture_once(struct aftermath *a, struct tallies *tallies)
{
    struct tallies none = {0};
    const char *rule;

    run_command(a, a->scenario->command, a->point, tallies, &a->end);
    a->out = text_of(a->place, "stdout");
    a->err = text_of(a->place, "stderr");
    if (!a->end.possible)
        return NULL;
    a->rows = rows_of(a);
    rule = rules_broken(a, true);
    if (rule)
        return rule;
    run_command(a, a->scenario->next, NULL, &none, &a->next);
    free(none.items);
    a->next_err = text_of(a->place, "stderr");
    a->next_rows = rows_of(a);
    return rules_broken(a, false);
}

/* Print with one write, because other processes print as well. */
static void report(const struct aftermath *a, const char *rule)
{
    char name[POINT_CHARS], *text;
    struct at_text_stream stream;
    size_t size;
    FILE *out = at_text_open(&stream);

    point_format(name, a->scenario->name, a->point);
    fprintf(out, "%s: %s\n", rule ? "broken" : a->end.injected ? "holds" : "not reached", name);
    if (rule)
        fprintf(out, "    rule: %s: %s\n", rule, a->why);
    if (WIFSIGNALED(a->end.status))
        fprintf(out, "    ended by signal %d\n", WTERMSIG(a->end.status));
    else
        fprintf(out, "    exit code %d\n", WEXITSTATUS(a->end.status));
    fprintf(out, "    stderr: %.600s\n    again: tests/torture/torture --keep %s\n", a->err, name);
    text = at_text_close(&stream, &size);
    if (write(STDOUT_FILENO, text, size) < 0)
        exit(EXIT_FAILURE);
    free(text);
}

static void take_point(const struct work *work, const struct point *point, const char *place,
                       struct shared *shared)
{
    struct aftermath a = {.scenario = work->scenario,
                          .point = point,
                          .before = work->before,
                          .sample = work->sample,
                          .place = place};
    struct tallies tallies = {0};
    const char *rule;

    if (!scenario_begin(work->scenario, work->folder, place))
        exit(EXIT_FAILURE);
    rule = torture_once(&a, &tallies);
    shared->reached += a.end.injected;
    shared->broken += rule != NULL;
    if (rule || work->options->verbose)
        report(&a, rule);
    free(tallies.items);
    free_aftermath(&a);
}

/* ---- a scenario ---- */

/* Run points until there are none. One process per CPU does so, as each waits for its children. */
static void take_points(const struct work *work, int slot, struct shared *shared)
{
    char *place = at_format("%s/slot-%d/place", work->folder, slot);
    size_t i;

    while ((i = shared->next++) < work->points.count)
        take_point(work, &work->points.items[i], place, shared);
    free(place);
}

static bool take_all(const struct work *work, struct shared *shared)
{
    bool done = true;
    int status;

    fflush(stdout);
    for (int slot = 0; slot < work->options->jobs; slot++) {
        pid_t pid = fork();

        if (pid < 0)
            return false;
        if (pid == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            take_points(work, slot, shared);
            exit(EXIT_SUCCESS);
        }
    }
    while (wait(&status) > 0)
        done &= status == 0;
    return done;
}

/* Run the scenario undisturbed: count its calls and check the rules. False if one is broken. */
static bool take_sample(struct work *work, bool *possible)
{
    static const struct point nothing = {.effect = EFFECT_ERROR};
    struct aftermath a = {.scenario = work->scenario,
                          .point = &nothing,
                          .before = work->before,
                          .sample = work->sample,
                          .place = work->sample};
    const char *rule;

    if (!scenario_begin(work->scenario, work->folder, work->sample))
        return false;
    run_command(&a, work->scenario->command, NULL, &work->tallies, &a.end);
    *possible = a.end.possible;
    if (!*possible)
        return true;
    a.out = text_of(work->sample, "stdout");
    a.err = text_of(work->sample, "stderr");
    a.rows = rows_of(&a);
    rule = a.end.status == 0 ? rules_broken(&a, true) : "it succeeds";
    if (rule)
        printf("%s: the undisturbed run breaks a rule: %s: %s\n%s", work->scenario->name, rule,
               a.why, a.err);
    free_aftermath(&a);
    return !rule && work->tallies.count > 0;
}

static void print_tallies(const struct work *work)
{
    for (size_t i = 0; i < work->tallies.count; i++) {
        const struct tally *tally = &work->tallies.items[i];

        printf("%s/%s/%s/%s %d\n", work->scenario->name, tally->role, tally->call, tally->kind,
               tally->count);
    }
}

/* Choose the points: one by name, a sample, or all. */
static bool choose_points(struct work *work, const char *name)
{
    struct at_rng rng = {work->options->seed};
    struct point point;

    if (name) {
        if (!point_parse(&point, name)) {
            fprintf(stderr, "torture: %s is no point\n", name);
            return false;
        }
        AT_PUSH(work->points.items, work->points.count, work->points.capacity, point);
        return true;
    }
    points_of(&work->points, &work->tallies, work->scenario->only, work->options->every);
    points_draw(&work->points, work->options->sample ? work->options->sample : SIZE_MAX, &rng);
    return true;
}

static int calls_in(const struct tallies *tallies)
{
    int sum = 0;

    for (size_t i = 0; i < tallies->count; i++)
        sum += tallies->items[i].count;
    return sum;
}

int torture(const struct options *options, const struct scenario *scenario, const char *folder,
            const char *name)
{
    struct work work = {.options = options, .scenario = scenario, .folder = folder};
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    bool possible = true, done;
    int code = EXIT_SUCCESS;

    work.before = at_format("%s/scenario/%s", folder, scenario->name);
    work.sample = at_format("%s/sample-%s/place", folder, scenario->name);
    done =
        shared != MAP_FAILED && scenario_prepare(scenario, folder) && take_sample(&work, &possible);
    if (!possible) {
        code = EXIT_SKIP;
    } else if (!done) {
        code = EXIT_FAILURE;
    } else if (options->list) {
        print_tallies(&work);
    } else {
        done = choose_points(&work, name) && take_all(&work, shared);
        printf("%-8s %6d %6zu %6zu %6zu %6zu\n", scenario->name, calls_in(&work.tallies),
               work.tallies.count, work.points.count, (size_t)shared->reached,
               (size_t)shared->broken);
        code = done && shared->broken == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
    }
    munmap(shared, sizeof *shared);
    free(work.points.items);
    free(work.tallies.items);
    free(work.sample);
    free(work.before);
    return code;
}
