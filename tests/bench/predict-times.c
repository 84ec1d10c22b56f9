/* SPDX-License-Identifier: Apache-2.0 */
/* Predicts the times of configs on a described device, for tests/bench/predicted-choices.
 *
 *     predict-times DEVICE <PAIRS >TIMES
 *
 * A line of PAIRS is a problem, a tab and a config; configs of one problem follow each other. TIMES
 * has a line for each: nanoseconds, or "-" and why there is no prediction. */
#include "predicting.h"

#include "base/memory.h"
#include "emulated/time/description.h"
#include "roles.h"
#include "space/named.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reading {
    struct tree tree;
    struct at_device_info device;
    struct at_rates rates;
};

/* The configs of a problem. */
struct asked {
    char *problem;
    struct predicted *configs;
    size_t count, capacity;
};

static void add_config(const struct reading *reading, struct asked *asked,
                       const struct at_problem *problem, const char *text)
{
    struct predicted added = {.error = {AT_OK, ""}};

    added.error.status = at_config_parse(&added.config, reading->tree.families,
                                         reading->tree.family_count, text, &added.error);
    if (added.error.status == AT_OK)
        added.error.status =
            at_config_require(&added.config, problem, &reading->device, NULL, &added.error);
    AT_PUSH(asked->configs, asked->count, asked->capacity, added);
}

/* Predict the legal configs, and print a line for each of all. */
static enum at_status answer(const struct reading *reading, struct asked *asked,
                             const struct at_problem *problem, struct at_error *err)
{
    const struct predicting by = {&reading->device, &reading->rates, reading->tree.header};
    struct predicted *legal = at_alloc_array(asked->count, sizeof *legal);
    size_t count = 0, next = 0;
    enum at_status status;

    for (size_t i = 0; i < asked->count; i++)
        if (asked->configs[i].error.status == AT_OK)
            legal[count++] = asked->configs[i];
    status = predict_configs(&by, problem, legal, count, err);
    for (size_t i = 0; i < asked->count && status == AT_OK; i++) {
        const struct predicted *one =
            asked->configs[i].error.status == AT_OK ? &legal[next++] : &asked->configs[i];

        if (one->error.status == AT_OK)
            printf("%.0f\n", one->prediction.ns);
        else
            printf("-\t%s\n", one->error.message);
    }
    fflush(stdout);
    free(legal);
    return status;
}

static enum at_status answer_all(const struct reading *reading, struct at_error *err)
{
    struct asked asked = {0};
    struct at_problem problem;
    char *line = NULL;
    size_t size = 0;
    enum at_status status = AT_OK;

    while (status == AT_OK && getline(&line, &size, stdin) > 0) {
        char *config = line, *name = strsep(&config, "\t");

        if (!config)
            status = at_fail(err, AT_USAGE, "a line has a problem, a tab and a config");
        else
            config[strcspn(config, "\n")] = '\0';
        if (status == AT_OK && (!asked.problem || strcmp(asked.problem, name) != 0)) {
            if (asked.problem)
                status = answer(reading, &asked, &problem, err);
            free(asked.problem);
            asked.problem = at_strdup(name);
            asked.count = 0;
            if (status == AT_OK)
                status = at_problem_parse(&problem, name, err);
        }
        if (status == AT_OK)
            add_config(reading, &asked, &problem, config);
    }
    if (status == AT_OK && asked.problem)
        status = answer(reading, &asked, &problem, err);
    free(line);
    free(asked.problem);
    free(asked.configs);
    return status;
}

int main(int argc, char **argv)
{
    struct reading reading = {0};
    struct at_error err = {AT_USAGE, "usage: predict-times DEVICE <PAIRS >TIMES"};
    enum at_status status = AT_USAGE;
    int exit_code;

    /* The builder starts its workers from this program. */
    if (at_worker_serve(at_worker_roles, argc, argv, &exit_code))
        return exit_code;
    if (argc == 2)
        status = read_tree(&reading.tree, &err);
    if (status == AT_OK)
        status = at_description_read(&reading.device, &reading.rates, argv[1], &err);
    if (status == AT_OK)
        status = answer_all(&reading, &err);
    if (status != AT_OK)
        fprintf(stderr, "%s\n", err.message);
    clear_tree(&reading.tree);
    return status == AT_OK ? 0 : 1;
}
