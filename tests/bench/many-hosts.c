/* SPDX-License-Identifier: Apache-2.0 */
/* Simulates an array of shares (`autotune tune --shard I/N`) on many GPUs, from the time that each
 * problem takes. Shares are dealt as autotune deals them, and start in their order, each on the GPU
 * that is free first. Some tasks die at a random moment and are queued again. On the same GPU such
 * a task goes on from its journal, and loses its start alone. On another GPU it starts over.
 *
 *     many-hosts [--gpus N] [--task-gpus N] [--deaths PERMILLE] [--start S] [--delay S] [--runs N]
 *                DURATIONS SHARES...
 *
 * DURATIONS has a line "PROBLEM SECONDS" for each problem. --task-gpus is how many GPUs of one host
 * a task has (default: 1); its problems go to the one that is free first. --start is what a task
 * takes besides its problems (default: 2 s), --delay how long the launcher holds a task back that
 * is queued again (default: 121 s, as Slurm does). For each number of shares it prints the median
 * and the worst of the runs, as multiples of the ideal: the sum of all durations over the number of
 * GPUs. */
#include "base/integer.h"
#include "base/memory.h"
#include "base/rng.h"
#include "base/stats.h"
#include "problem/share.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_GPUS = 0x200, KEY_TASK_GPUS, KEY_DEATHS, KEY_START, KEY_DELAY, KEY_RUNS };

struct timed {
    struct at_problem problem;
    double seconds;
};

struct simulation {
    const char *path;
    struct timed *list;
    size_t count, capacity;
    char **shares;
    int share_counts;
    int64_t gpus, task_gpus, deaths_permille, start_s, delay_s, runs;
};

/* A share that waits from `ready_s` on, with this much still to do. */
struct task {
    double ready_s, left_s;
    bool died;
};

static int64_t number(struct argp_state *state, const char *text, int64_t least)
{
    int64_t value;

    if (!at_integer_parse(text, strlen(text), &value) || value < least || value > AT_SHARES_MAX)
        argp_error(state, "\"%s\" is not a number from %d to %d", text, (int)least, AT_SHARES_MAX);
    return value;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct simulation *sim = state->input;

    switch (key) {
    case KEY_GPUS:
        sim->gpus = number(state, arg, 1);
        return 0;
    case KEY_TASK_GPUS:
        sim->task_gpus = number(state, arg, 1);
        return 0;
    case KEY_DEATHS:
        sim->deaths_permille = number(state, arg, 0);
        return 0;
    case KEY_START:
        sim->start_s = number(state, arg, 0);
        return 0;
    case KEY_DELAY:
        sim->delay_s = number(state, arg, 0);
        return 0;
    case KEY_RUNS:
        sim->runs = number(state, arg, 1);
        return 0;
    case ARGP_KEY_ARGS:
        sim->path = state->argv[state->next];
        sim->shares = &state->argv[state->next + 1];
        sim->share_counts = state->argc - state->next - 1;
        for (int i = 0; i < sim->share_counts; i++)
            number(state, sim->shares[i], 1);
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_usage(state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options_table[] = {
    {"gpus", KEY_GPUS, "N", 0, "GPUs (default: 128)", 0},
    {"task-gpus", KEY_TASK_GPUS, "N", 0, "GPUs of a task (default: 1)", 0},
    {"deaths", KEY_DEATHS, "PERMILLE", 0, "Tasks that die (default: 10)", 0},
    {"start", KEY_START, "S", 0, "Seconds a task takes besides its problems (default: 2)", 0},
    {"delay", KEY_DELAY, "S", 0, "Seconds a task waits that is queued again (default: 121)", 0},
    {"runs", KEY_RUNS, "N", 0, "Simulations, each with other deaths (default: 101)", 0},
    {0},
};
static const struct argp argp = {
    .options = options_table, .parser = parse, .args_doc = "DURATIONS SHARES..."};

static void read_durations(struct simulation *sim)
{
    char spec[1024];
    double seconds;
    FILE *file = fopen(sim->path, "re");

    if (!file) {
        perror(sim->path);
        exit(2);
    }
    while (fscanf(file, "%1023s %lf", spec, &seconds) == 2) {
        struct timed timed = {.seconds = seconds};
        struct at_error err;

        if (at_problem_parse(&timed.problem, spec, &err) != AT_OK) {
            fprintf(stderr, "%s: %s\n", sim->path, err.message);
            exit(2);
        }
        AT_PUSH(sim->list, sim->count, sim->capacity, timed);
    }
    if (!feof(file) || sim->count == 0) {
        fprintf(stderr, "%s: line %zu is not PROBLEM SECONDS\n", sim->path, sim->count + 1);
        exit(2);
    }
    fclose(file);
}

static double seconds_of(const struct simulation *sim, const struct at_problem *problem)
{
    size_t i = 0;

    while (!at_problem_equal(&sim->list[i].problem, problem))
        i++;
    return sim->list[i].seconds;
}

static size_t first_free(const double *free_s, size_t gpus)
{
    size_t first = 0;

    for (size_t i = 1; i < gpus; i++)
        if (free_s[i] < free_s[first])
            first = i;
    return first;
}

/* Return how long a task takes for these problems. */
static double seconds_of_all(const struct simulation *sim, const struct at_problem *problems,
                             size_t count)
{
    size_t gpus = (size_t)sim->task_gpus;
    double *free_s = at_alloc_array(gpus, sizeof *free_s), end_s = 0;

    for (size_t i = 0; i < count; i++)
        free_s[first_free(free_s, gpus)] += seconds_of(sim, &problems[i]);
    for (size_t i = 0; i < gpus; i++)
        end_s = free_s[i] > end_s ? free_s[i] : end_s;
    free(free_s);
    return end_s;
}

/* Return each share's seconds. *dealt counts their problems. */
static double *deal(const struct simulation *sim, int64_t shares, size_t *dealt)
{
    double *seconds = at_alloc_array((size_t)shares, sizeof *seconds);
    struct at_problem *problems = at_alloc_array(sim->count, sizeof *problems);

    for (int64_t i = 0; i < shares; i++) {
        size_t count = sim->count;

        for (size_t j = 0; j < count; j++)
            problems[j] = sim->list[j].problem;
        at_share_deal((struct at_share){i + 1, shares}, problems, &count);
        seconds[i] = seconds_of_all(sim, problems, count);
        *dealt += count;
    }
    free(problems);
    return seconds;
}

/* The task that is ready first; of those ready now, the first in the queue. */
static size_t next_task(const struct task *tasks, size_t count, double now_s)
{
    size_t best = 0;

    for (size_t i = 0; i < count; i++) {
        if (tasks[i].ready_s <= now_s)
            return i;
        if (tasks[i].ready_s < tasks[best].ready_s)
            best = i;
    }
    return best;
}

/* Return when the last share is finished. */
static double simulate(const struct simulation *sim, const double *seconds, size_t shares,
                       bool starts_over, uint64_t seed)
{
    struct at_rng rng = {seed};
    size_t slots = (size_t)(sim->gpus / sim->task_gpus);
    double *free_s = at_alloc_array(slots, sizeof *free_s), end_s = 0;
    struct task *tasks = at_alloc_array(shares, sizeof *tasks);
    size_t waiting = shares;

    for (size_t i = 0; i < shares; i++)
        tasks[i].left_s = seconds[i];
    while (waiting > 0) {
        size_t slot = first_free(free_s, slots);
        size_t at = next_task(tasks, waiting, free_s[slot]);
        struct task task = tasks[at];
        double begins_s = task.ready_s > free_s[slot] ? task.ready_s : free_s[slot];
        double takes_s = (double)sim->start_s + task.left_s;

        memmove(&tasks[at], &tasks[at + 1], (waiting - at - 1) * sizeof *tasks);
        waiting--;
        if (!task.died && at_rng_below(&rng, 1000) < (uint64_t)sim->deaths_permille) {
            double ran_s = takes_s * 1e-6 * (double)at_rng_below(&rng, 1000000);
            double done_s = ran_s - (double)sim->start_s;

            if (!starts_over && done_s > 0)
                task.left_s -= done_s;
            task.died = true;
            task.ready_s = begins_s + ran_s + (double)sim->delay_s;
            tasks[waiting++] = task;
            takes_s = ran_s;
        }
        free_s[slot] = begins_s + takes_s;
        end_s = free_s[slot] > end_s ? free_s[slot] : end_s;
    }
    free(tasks);
    free(free_s);
    return end_s;
}

static void report(const struct simulation *sim, int64_t shares, double ideal_s)
{
    size_t dealt = 0;
    double *seconds = deal(sim, shares, &dealt);
    double *walls = at_alloc_array((size_t)sim->runs, sizeof *walls);

    printf("%8lld %8zu", (long long)shares, sim->count - dealt);
    for (int starts_over = 0; starts_over < 2; starts_over++) {
        double worst = 0;

        for (int64_t i = 0; i < sim->runs; i++) {
            walls[i] = simulate(sim, seconds, (size_t)shares, starts_over, (uint64_t)i + 1);
            worst = walls[i] > worst ? walls[i] : worst;
        }
        printf("  %9.1f %6.3f %6.3f", at_median(walls, (size_t)sim->runs),
               at_median(walls, (size_t)sim->runs) / ideal_s, worst / ideal_s);
    }
    putchar('\n');
    free(walls);
    free(seconds);
}

int main(int argc, char **argv)
{
    struct simulation sim = {.gpus = 128,
                             .task_gpus = 1,
                             .deaths_permille = 10,
                             .start_s = 2,
                             .delay_s = 121,
                             .runs = 101};
    double sum_s = 0, ideal_s;

    argp_parse(&argp, argc, argv, 0, NULL, &sim);
    read_durations(&sim);
    for (size_t i = 0; i < sim.count; i++)
        sum_s += sim.list[i].seconds;
    ideal_s = sum_s / (double)sim.gpus;
    printf("%zu problems, %.0f s in all; ideal on %lld GPUs: %.1f s\n"
           "%lld of 1000 tasks die, wait %lld s, and go on (left) or start over (right)\n"
           "%8s %8s  %9s %6s %6s  %9s %6s %6s\n",
           sim.count, sum_s, (long long)sim.gpus, ideal_s, (long long)sim.deaths_permille,
           (long long)sim.delay_s, "shares", "missing", "wall s", "median", "worst", "wall s",
           "median", "worst");
    for (int i = 0; i < sim.share_counts; i++)
        report(&sim, strtoll(sim.shares[i], NULL, 10), ideal_s);
    free(sim.list);
    return 0;
}
