/* SPDX-License-Identifier: Apache-2.0 */
/* Profiles and the answers that they give. */
#include "base/hash.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "lib/log.h"
#include "lib/objects.h"
#include "lookup/rivals.h"
#include "space/space.h"
#include "system/paths.h"

#include <jansson.h>
#include <stdatomic.h>
#include <string.h>

/* ---- what a profile remembers ---- */

/* Programs ask for the same problems again, and where no entry is near, finding an answer takes a
 * hundred times as long as remembering it. Several threads may do so at once. */

/* An answer takes 1.7 KB. What is in a slot stays, so readers need no lock. */
enum { SLOTS = 1024, PROBES = 32 };

struct autotune_memo {
    _Atomic(struct autotune_answer *) slots[SLOTS];
};

static void free_memo(struct autotune_memo *memo)
{
    if (!memo)
        return;
    for (size_t i = 0; i < SLOTS; i++)
        at_free(memo->slots[i]);
    at_free(memo);
}

static size_t first_slot(const struct at_problem *problem)
{
    const int64_t told[] = {problem->rows,
                            problem->cols,
                            problem->batch,
                            problem->ld_src,
                            problem->ld_dst,
                            problem->elem_size,
                            at_step_code(&problem->step),
                            problem->step.channels.run};

    return at_hash64(told, sizeof told, 0);
}

/* Bytes between the members of a device may differ for no reason; then an answer is found anew. */
static bool is_same(const struct autotune_answer *a, const struct autotune_answer *b)
{
    return at_problem_equal(&a->problem, &b->problem) && strcmp(a->policy, b->policy) == 0 &&
           memcmp(&a->device, &b->device, sizeof a->device) == 0;
}

/* Find the answer's problem, device and policy. NULL: not remembered; *free is the slot for it, or
 * SLOTS if its places are taken. */
static const struct autotune_answer *find_remembered(const struct autotune_memo *memo,
                                                     const struct autotune_answer *answer,
                                                     size_t *free)
{
    size_t slot = first_slot(&answer->problem);

    for (size_t i = 0; i < PROBES; i++, slot++) {
        const struct autotune_answer *kept = atomic_load(&memo->slots[slot % SLOTS]);

        *free = slot % SLOTS;
        if (!kept || is_same(kept, answer))
            return kept;
    }
    *free = SLOTS;
    return NULL;
}

void autotune_remember(const autotune_profile *profile, const struct autotune_answer *answer)
{
    struct autotune_answer *none = NULL, *copy;
    size_t slot;

    if (find_remembered(profile->memo, answer, &slot) || slot == SLOTS)
        return;
    copy = at_memdup(answer, sizeof *answer);
    if (!atomic_compare_exchange_strong(&profile->memo->slots[slot], &none, copy))
        at_free(copy); /* another thread was faster */
}

/* ---- profiles ---- */

static enum at_status read_families(autotune_profile *profile, struct at_error *err)
{
    char *tuning = at_path_data_file("tuning"), *templates = at_path_data_file("templates");
    enum at_status status =
        at_families_read(&profile->families, &profile->family_count, tuning, templates, err);

    at_free(templates);
    at_free(tuning);
    return status;
}

struct opening {
    const char *path;
    autotune_profile *opened;
};

static enum at_status open_profile(void *data, struct at_error *err)
{
    struct opening *opening = data;
    autotune_profile *opened = at_alloc(sizeof *opened);
    enum at_status status;

    opened->profiles.for_lookup = true;
    status = opening->path ? at_profiles_add(&opened->profiles, opening->path, err)
                           : at_profiles_add_path(&opened->profiles, err);
    if (status == AT_OK)
        status = read_families(opened, err);
    if (status == AT_OK)
        status = at_lookup_open(&opened->lookup, &opened->profiles, opened->families,
                                opened->family_count, err);
    if (status != AT_OK) {
        autotune_profile_free(opened);
        return status;
    }
    opened->memo = at_alloc(sizeof *opened->memo);
    for (size_t i = 0; i < opened->profiles.skipped_count; i++)
        autotune_log(AUTOTUNE_LOG_WARNING, "skipped %s", opened->profiles.skipped[i]);
    opening->opened = opened;
    return AT_OK;
}

autotune_status autotune_profile_open(autotune_profile **profile, const char *path,
                                      autotune_error **error)
{
    struct opening opening = {.path = path};
    autotune_status status;

    if (!profile)
        return autotune_fail_null(error, "profile");
    status = autotune_call(open_profile, &opening, error);
    if (status == AUTOTUNE_OK)
        *profile = opening.opened;
    return status;
}

const char *autotune_profile_skipped(const autotune_profile *profile, size_t index)
{
    return profile && index < profile->profiles.skipped_count ? profile->profiles.skipped[index]
                                                              : NULL;
}

void autotune_profile_free(autotune_profile *profile)
{
    if (!profile)
        return;
    free_memo(profile->memo);
    at_lookup_close(profile->lookup);
    for (size_t i = 0; i < profile->family_count; i++)
        at_family_free(profile->families[i]);
    at_free(profile->families);
    at_profiles_clear(&profile->profiles);
    at_free(profile);
}

/* ---- lookup ---- */

static const struct at_environment environment = {.autotune = PACKAGE_VERSION};

static struct at_query query_of(const struct autotune_answer *answer)
{
    return (struct at_query){.problem = &answer->problem,
                             .device = &answer->device,
                             .environment = &environment,
                             .policy = answer->policy};
}

/* Fill answer->answer as an earlier lookup did. False if there was none, or none was kept. */
static bool recall(struct autotune_answer *answer, const autotune_profile *profile)
{
    size_t slot;
    const struct autotune_answer *kept = find_remembered(profile->memo, answer, &slot);

    if (kept)
        answer->answer = kept->answer;
    return kept != NULL;
}

static enum at_status find_anew(struct autotune_answer *answer, const autotune_profile *profile,
                                struct at_error *err)
{
    const struct at_query query = query_of(answer);

    return at_lookup_find(profile->lookup, &query, &answer->answer, err);
}

enum at_status autotune_ask(struct autotune_answer *answer, const autotune_profile *profile,
                            struct at_error *err)
{
    return recall(answer, profile) ? AT_OK : find_anew(answer, profile, err);
}

bool autotune_is_settled(const struct autotune_answer *answer)
{
    const struct at_query query = query_of(answer);

    return at_answer_is_settled(&answer->answer, &query);
}

size_t autotune_rivals(const struct autotune_answer *answer, const autotune_profile *profile,
                       struct at_answer *rivals)
{
    const struct at_query query = query_of(answer);

    return at_rivals_find(profile->lookup, &query, &answer->answer, rivals);
}

struct looking_up {
    const autotune_profile *profile;
    const autotune_device *device;
    struct autotune_asked asked;
    const char *policy;
    struct autotune_answer *made;
};

static enum at_status look_up(void *data, struct at_error *err)
{
    struct looking_up *looking_up = data;
    struct autotune_answer *made = at_alloc(sizeof *made);
    enum at_status status = autotune_take_problem(&made->problem, NULL, &looking_up->asked, err);

    if (status == AT_OK && autotune_is_empty(&made->problem))
        status = at_fail(err, AT_USAGE, "there are no elements, so there is no config to look up");
    made->device = looking_up->device->info;
    strcpy(made->policy, looking_up->policy); /* one of two */
    if (status == AT_OK && !recall(made, looking_up->profile)) {
        status = find_anew(made, looking_up->profile, err);
        if (status == AT_OK)
            autotune_remember(looking_up->profile, made);
    }
    if (status != AT_OK) {
        at_free(made);
        return status;
    }
    looking_up->made = made;
    return AT_OK;
}

static autotune_status fail_policy(autotune_error **error, const char *policy)
{
    struct at_error err;

    at_fail(&err, AT_USAGE, "the policy \"%.60s\" is unknown; it has to be \"cold\" or \"warm\"",
            policy);
    return autotune_fail(error, &err);
}

static autotune_status look_up_asked(autotune_answer **answer, struct looking_up *looking_up,
                                     autotune_error **error)
{
    const char *policy = looking_up->policy;
    const struct autotune_asked *asked = &looking_up->asked;
    autotune_status status;

    if (!answer || !looking_up->profile || !looking_up->device ||
        (!asked->problem && !asked->tensor && !asked->groups))
        return autotune_fail_null(error, !answer                ? "answer"
                                         : !looking_up->profile ? "profile"
                                         : !looking_up->device  ? "device"
                                                                : "problem");
    if (!policy)
        looking_up->policy = "cold";
    else if (strcmp(policy, "cold") != 0 && strcmp(policy, "warm") != 0)
        return fail_policy(error, policy);
    status = autotune_call(look_up, looking_up, error);
    if (status == AUTOTUNE_OK)
        *answer = looking_up->made;
    return status;
}

autotune_status autotune_lookup(autotune_answer **answer, const autotune_profile *profile,
                                const autotune_device *device, const autotune_problem *problem,
                                const char *policy, autotune_error **error)
{
    struct looking_up looking_up = {profile, device, {problem, NULL, NULL}, policy, NULL};

    return look_up_asked(answer, &looking_up, error);
}

autotune_status autotune_tensor_lookup(autotune_answer **answer, const autotune_profile *profile,
                                       const autotune_device *device, const autotune_tensor *tensor,
                                       const char *policy, autotune_error **error)
{
    struct looking_up looking_up = {profile, device, {NULL, tensor, NULL}, policy, NULL};

    return look_up_asked(answer, &looking_up, error);
}

autotune_status autotune_groups_lookup(autotune_answer **answer, const autotune_profile *profile,
                                       const autotune_device *device, const autotune_groups *groups,
                                       const char *policy, autotune_error **error)
{
    struct looking_up looking_up = {profile, device, {NULL, NULL, groups}, policy, NULL};

    return look_up_asked(answer, &looking_up, error);
}

void autotune_answer_free(autotune_answer *answer)
{
    if (!answer)
        return;
    at_free(answer->config);
    at_free(answer);
}

/* ---- parts of the answer ---- */

static enum at_status check_device(void *data, struct at_error *err)
{
    const struct autotune_answer *answer = data;
    const struct at_query query = query_of(answer);

    return at_answer_check_device(&answer->answer, &query, err);
}

autotune_status autotune_answer_check_device(const autotune_answer *answer, autotune_error **error)
{
    return answer ? autotune_call(check_device, (void *)answer, error)
                  : autotune_fail_null(error, "answer");
}

size_t autotune_answer_parameter_count(const autotune_answer *answer)
{
    return answer ? answer->answer.config.family->param_count : 0;
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

size_t autotune_put_launches(autotune_launch *launches, size_t capacity,
                             const struct at_launch *launch, const char *kernel)
{
    const int64_t *field = launch->field;
    size_t count = (size_t)at_launch_passes(launch);
    const autotune_launch each = {
        .grid = {(unsigned)field[AT_GRID_X], (unsigned)field[AT_GRID_Y],
                 (unsigned)field[AT_GRID_Z]},
        .block = {(unsigned)field[AT_BLOCK_X], (unsigned)field[AT_BLOCK_Y],
                  (unsigned)field[AT_BLOCK_Z]},
        .shared_bytes = (unsigned)field[AT_SHARED_BYTES],
        .carveout_percent = (int)field[AT_CARVEOUT_PERCENT],
        .kernel = kernel,
    };

    for (size_t i = 0; launches && i < count && i < capacity; i++)
        launches[i] = each;
    return count;
}

size_t autotune_answer_launches(const autotune_answer *answer, autotune_launch *launches,
                                size_t capacity)
{
    return answer ? autotune_put_launches(launches, capacity, &answer->answer.launch, NULL) : 0;
}

/* ---- the answer as text ---- */

/* Jansson seeds its hash tables at the first JSON object. A child forked meanwhile would wait for
 * the seed for ever. So it is made when the library is loaded, which is usually before there are
 * threads. */
__attribute__((constructor)) static void seed_jansson(void)
{
    json_object_seed(0);
}

enum at_status autotune_write_answer(char **text, const struct autotune_answer *answer, bool json,
                                     struct at_error *err)
{
    const struct at_query query = query_of(answer);
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    enum at_status status = AT_OK;
    char *made;

    if (json)
        status = at_answer_write_json(&answer->answer, &query, out, err);
    else
        at_answer_show(&answer->answer, &query, false, out);
    made = at_text_close(&stream, NULL);
    if (status == AT_OK)
        *text = made;
    else
        at_free(made);
    return status;
}

struct writing {
    const autotune_answer *answer;
    bool json;
    char *text;
    size_t capacity, length;
};

static enum at_status write_text(void *data, struct at_error *err)
{
    struct writing *writing = data;
    char *made;
    enum at_status status = autotune_write_answer(&made, writing->answer, writing->json, err);

    if (status == AT_OK) {
        writing->length = autotune_copy_text(made, writing->text, writing->capacity);
        at_free(made);
    }
    return status;
}

/* Write "" if there is no answer, or if memory runs out. */
static size_t write_or_nothing(const autotune_answer *answer, bool json, char *text,
                               size_t capacity)
{
    struct writing writing = {answer, json, text, capacity, 0};

    if (!answer || autotune_call(write_text, &writing, NULL) != AUTOTUNE_OK)
        return autotune_copy_text("", text, capacity);
    return writing.length;
}

size_t autotune_answer_describe(const autotune_answer *answer, char *text, size_t capacity)
{
    return write_or_nothing(answer, false, text, capacity);
}

size_t autotune_answer_json(const autotune_answer *answer, char *text, size_t capacity)
{
    return write_or_nothing(answer, true, text, capacity);
}
