/* SPDX-License-Identifier: Apache-2.0 */
#include "base/memory.h"
#include "lib/objects.h"

#include <stdlib.h>
#include <string.h>

static const struct at_environment environment = {.autotune = PACKAGE_VERSION};

/* The widest access of a thread. */
enum { VECTOR_BYTES_MAX = 16 };

int64_t autotune_align_bytes(const autotune_problem *problem)
{
    return problem->align_bytes ? problem->align_bytes : VECTOR_BYTES_MAX;
}

static enum at_status check_align(int64_t bytes, struct at_error *err)
{
    if (bytes >= 1 && (bytes & (bytes - 1)) == 0)
        return AT_OK;
    return at_fail(err, AT_USAGE, "align_bytes is %lld, and has to be 0 or a power of two",
                   (long long)bytes);
}

enum at_status autotune_take_problem(struct at_problem *problem, const autotune_problem *given,
                                     struct at_error *err)
{
    *problem = (struct at_problem){
        .elem_size = given->elem_size,
        .rows = given->rows,
        .cols = given->cols,
        .ld_src = given->ld_src,
        .ld_dst = given->ld_dst,
        .batch = given->batch,
        .stride_src = given->stride_src,
        .stride_dst = given->stride_dst,
        .in_place = given->in_place,
    };
    int64_t align_bytes = autotune_align_bytes(given);
    enum at_status status = check_align(align_bytes, err);

    if (status == AT_OK)
        status = at_problem_complete(problem, err);
    /* Of addresses with less alignment, one that has no more. */
    if (status == AT_OK && align_bytes < VECTOR_BYTES_MAX)
        problem->offset_src = problem->offset_dst =
            align_bytes > problem->elem_size ? align_bytes / problem->elem_size : 1;
    return status;
}

static struct at_query query_of(const struct autotune_answer *answer)
{
    return (struct at_query){&answer->problem, &answer->device, &environment, answer->policy};
}

enum at_status autotune_ask(struct autotune_answer *answer, const autotune_profile *profile,
                            struct at_error *err)
{
    const struct at_query query = query_of(answer);

    return at_lookup_find(profile->lookup, &query, &answer->answer, err);
}

autotune_status autotune_lookup(autotune_answer **answer, const autotune_profile *profile,
                                const autotune_device *device, const autotune_problem *problem,
                                const char *policy, autotune_error **error)
{
    struct autotune_answer *made = at_alloc(sizeof *made);
    struct at_error err = {AT_OK, ""};
    enum at_status status = autotune_take_problem(&made->problem, problem, &err);

    made->device = device->info;
    /* The last byte stays 0. snprintf would take a tenth of the whole call's time. */
    (void)memccpy(made->policy, policy ? policy : "cold", '\0', sizeof made->policy - 1);
    if (status == AT_OK)
        status = autotune_ask(made, profile, &err);
    if (status != AT_OK) {
        free(made);
        return autotune_fail(error, &err);
    }
    *answer = made;
    return AUTOTUNE_OK;
}

void autotune_answer_free(autotune_answer *answer)
{
    free(answer);
}

autotune_status autotune_answer_check_device(const autotune_answer *answer, autotune_error **error)
{
    const struct at_query query = query_of(answer);
    struct at_error err = {AT_OK, ""};

    if (at_answer_check_device(&answer->answer, &query, &err) != AT_OK)
        return autotune_fail(error, &err);
    return AUTOTUNE_OK;
}

autotune_tier autotune_answer_tier(const autotune_answer *answer)
{
    return (autotune_tier)answer->answer.tier;
}

double autotune_answer_distance(const autotune_answer *answer)
{
    return answer->answer.distance.total;
}

int autotune_answer_expected_permille(const autotune_answer *answer)
{
    return (int)answer->answer.expected_of_copy_permille;
}

int autotune_answer_is_predicted(const autotune_answer *answer)
{
    return answer->answer.predicted;
}

const char *autotune_answer_path(const autotune_answer *answer)
{
    return answer->answer.path;
}

const char *autotune_answer_tuned_problem(const autotune_answer *answer)
{
    return answer->answer.entry ? answer->answer.entry->problem : NULL;
}

const char *autotune_answer_family(const autotune_answer *answer)
{
    return answer->answer.config.family->name;
}

size_t autotune_answer_parameter_count(const autotune_answer *answer)
{
    return answer->answer.config.family->param_count;
}

const char *autotune_answer_parameter_name(const autotune_answer *answer, size_t index)
{
    return index < autotune_answer_parameter_count(answer)
               ? answer->answer.config.family->params[index].name
               : NULL;
}

int autotune_answer_parameter_value(const autotune_answer *answer, size_t index)
{
    return index < autotune_answer_parameter_count(answer) ? answer->answer.config.values[index]
                                                           : 0;
}

autotune_launch autotune_answer_launch(const autotune_answer *answer)
{
    const int64_t *field = answer->answer.launch.field;

    return (autotune_launch){
        .grid = {(unsigned)field[AT_GRID_X], (unsigned)field[AT_GRID_Y],
                 (unsigned)field[AT_GRID_Z]},
        .block = {(unsigned)field[AT_BLOCK_X], (unsigned)field[AT_BLOCK_Y],
                  (unsigned)field[AT_BLOCK_Z]},
        .shared_bytes = (unsigned)field[AT_SHARED_BYTES],
        .carveout_percent = (int)field[AT_CARVEOUT_PERCENT],
    };
}

size_t autotune_answer_describe(const autotune_answer *answer, char *text, size_t capacity)
{
    const struct at_query query = query_of(answer);
    char *made;
    size_t size;
    FILE *out = at_text_stream(&made, &size);

    at_answer_show(&answer->answer, &query, false, out);
    fclose(out);
    size = autotune_copy_text(made, text, capacity);
    free(made);
    return size;
}

size_t autotune_answer_json(const autotune_answer *answer, char *text, size_t capacity)
{
    const struct at_query query = query_of(answer);
    char *made;
    size_t size;
    FILE *out = at_text_stream(&made, &size);

    (void)at_answer_write_json(&answer->answer, &query, out, NULL);
    fclose(out);
    size = autotune_copy_text(made, text, capacity);
    free(made);
    return size;
}
