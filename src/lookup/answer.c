/* SPDX-License-Identifier: Apache-2.0 */
/* The answer of a lookup, as text and as JSON. */
#include "lookup/answer.h"

#include "base/flow.h"
#include "base/memory.h"
#include "profile/entry.h"
#include "schema/table.h"
#include "space/named.h"

#include <math.h>

enum { WIDTH = 100, LABEL_WIDTH = 13 };

/* ---- as JSON ---- */

#define FACT(member) AT_WRITTEN(at_fact, member, AT_FIELD_CHARS, AT_OPTIONAL)

static const struct at_field fact_fields[] = {FACT(here), FACT(name), FACT(state), FACT(tuned)};
static const struct at_schema fact_schema = AT_SCHEMA("a fact", at_fact, fact_fields);

static const struct at_field answer_fields[] = {
    AT_WRITTEN(at_answer_record, block, AT_FIELD_INTS),
    AT_WRITTEN(at_answer_record, carveout_percent, AT_FIELD_INT),
    AT_WRITTEN(at_answer_record, device, AT_FIELD_TEXT, AT_COLUMN(2, "device")),
    AT_FIELD(at_answer_record, "differs", facts, .kind = AT_FIELD_OBJECTS, .object = &fact_schema),
    AT_FIELD(at_answer_record, "distance_terms", terms, .kind = AT_FIELD_NAMED_INTS),
    AT_WRITTEN(at_answer_record, distance_thousandths, AT_FIELD_INT,
               AT_COLUMN(10, "distance", 1000, 3)),
    AT_FIELD(at_answer_record, "dynamic_shared_bytes", shared_bytes, .kind = AT_FIELD_INT),
    AT_WRITTEN(at_answer_record, expected_of_copy_permille, AT_FIELD_INT, AT_OPTIONAL,
               AT_COLUMN(11, "of copy %", 10, 1)),
    AT_WRITTEN(at_answer_record, family, AT_FIELD_TEXT, AT_COLUMN(5, "kernel")),
    AT_WRITTEN(at_answer_record, grid, AT_FIELD_INTS),
    AT_WRITTEN(at_answer_record, measured_configs, AT_FIELD_INT, AT_OPTIONAL),
    AT_WRITTEN(at_answer_record, measured_looked_up_ns, AT_FIELD_INT, AT_OPTIONAL),
    AT_WRITTEN(at_answer_record, measured_ns, AT_FIELD_INT, AT_OPTIONAL),
    AT_WRITTEN(at_answer_record, note, AT_FIELD_TEXT, AT_OPTIONAL),
    AT_WRITTEN(at_answer_record, parameters, AT_FIELD_NAMED_INTS, AT_COLUMN(6, "config")),
    AT_WRITTEN(at_answer_record, policy, AT_FIELD_TEXT, AT_COLUMN(3, "policy")),
    AT_WRITTEN(at_answer_record, predicted, AT_FIELD_FLAG),
    AT_WRITTEN(at_answer_record, predicted_of, AT_FIELD_INT, AT_OPTIONAL),
    AT_WRITTEN(at_answer_record, problem, AT_FIELD_TEXT, AT_COLUMN(1, "problem")),
    AT_WRITTEN(at_answer_record, tier, AT_FIELD_TEXT, AT_COLUMN(4, "tier")),
    AT_WRITTEN(at_answer_record, tuned_device, AT_FIELD_TEXT, AT_OPTIONAL,
               AT_COLUMN(8, "tuned device")),
    AT_WRITTEN(at_answer_record, tuned_path, AT_FIELD_TEXT, AT_OPTIONAL, AT_COLUMN(9, "profile")),
    AT_WRITTEN(at_answer_record, tuned_policy, AT_FIELD_TEXT, AT_OPTIONAL),
    AT_WRITTEN(at_answer_record, tuned_problem, AT_FIELD_TEXT, AT_OPTIONAL,
               AT_COLUMN(7, "tuned problem")),
    AT_WRITTEN(at_answer_record, uncertain, AT_FIELD_FLAG),
};
const struct at_schema at_answer_schema = AT_SCHEMA("an answer", at_answer_record, answer_fields);

static bool is_far(const struct at_answer *answer)
{
    return answer->record &&
           (answer->predicted_of > 0 || answer->distance.total >= at_distance_far);
}

bool at_answer_is_uncertain(const struct at_answer *answer)
{
    const struct at_measured *measured = &answer->measured;
    bool found_out = measured->time_ns > 0 && !measured->predicted;

    return !found_out && (answer->tier > AT_TIER_SHAPE || is_far(answer));
}

static int64_t thousandths(double value)
{
    return llround(1000 * value);
}

static struct at_list terms_of(const struct at_distance *distance)
{
    struct at_named_int named[AT_DISTANCE_TERMS];

    for (int i = 0; i < AT_DISTANCE_TERMS; i++)
        named[i] =
            (struct at_named_int){(char *)at_distance_name(i), thousandths(distance->terms[i])};
    return at_named_ints_copy(named, AT_DISTANCE_TERMS);
}

static struct at_list facts_of(const struct at_answer *answer, const struct at_query *query)
{
    struct at_fact facts[AT_FACTS_MAX];
    size_t count = answer->record ? at_facts_compare(facts, query, answer->record) : 0;

    return (struct at_list){at_memdup(facts, count * sizeof *facts), count};
}

struct at_answer_record at_answer_record(const struct at_answer *answer,
                                         const struct at_query *query)
{
    struct at_answer_record record = {
        .device = at_strdup(query->device->name),
        .family = at_strdup(answer->config.family->name),
        .note = answer->refused[0] ? at_strdup(answer->refused) : NULL,
        .policy = at_strdup(query->policy),
        .problem = at_problem_format(query->problem),
        .tier = at_strdup(at_tier_names[answer->tier]),
        .carveout_percent = answer->launch.field[AT_CARVEOUT_PERCENT],
        .distance_thousandths = thousandths(answer->distance.total),
        .expected_of_copy_permille = answer->expected_of_copy_permille,
        .measured_configs = answer->measured.configs,
        .measured_looked_up_ns = answer->measured.looked_up_ns,
        .measured_ns = answer->measured.time_ns,
        .predicted = answer->predicted || answer->measured.predicted,
        .predicted_of = (int64_t)answer->predicted_of,
        .uncertain = at_answer_is_uncertain(answer),
        .shared_bytes = answer->launch.field[AT_SHARED_BYTES],
        .block = at_extents_list(&answer->launch.field[AT_BLOCK_X]),
        .grid = at_extents_list(&answer->launch.field[AT_GRID_X]),
        .facts = facts_of(answer, query),
        .parameters = at_config_to_names(&answer->config),
        .terms = terms_of(&answer->distance),
    };

    if (answer->record) {
        record.tuned_device = at_strdup(answer->record->device.name);
        record.tuned_path = at_strdup(answer->path);
        record.tuned_policy = at_strdup(answer->record->policy.name);
        record.tuned_problem = at_strdup(answer->tuned_problem);
    }
    return record;
}

enum at_status at_answer_write_json(const struct at_answer *answer, const struct at_query *query,
                                    FILE *out, struct at_error *err)
{
    struct at_answer_record record = at_answer_record(answer, query);
    enum at_status status = at_schema_write_json(&at_answer_schema, &record, out, err);

    at_schema_clear(&at_answer_schema, &record);
    return status;
}

/* ---- for people ---- */

static struct at_flow line(FILE *out, const char *label)
{
    char indented[LABEL_WIDTH + 1];

    snprintf(indented, sizeof indented, "  %s", label);
    return at_flow_begin(out, WIDTH, LABEL_WIDTH, indented);
}

static void show_config(const struct at_answer *answer, FILE *out)
{
    const struct at_family *family = answer->config.family;
    const int64_t *launch = answer->launch.field;
    int64_t passes = at_launch_passes(&answer->launch);
    struct at_flow flow = line(out, "config");

    at_flow_add(&flow, "%s", family->name);
    for (size_t i = 0; i < family->param_count; i++)
        if (at_param_is_told(&family->params[i], answer->config.values[i]))
            at_flow_add(&flow, "%s=%d", family->params[i].name, (int)answer->config.values[i]);
    at_flow_end(&flow);
    flow = line(out, "launch");
    at_flow_add(&flow, "grid %jd x %jd x %jd, block %jd x %jd x %jd,", (intmax_t)launch[AT_GRID_X],
                (intmax_t)launch[AT_GRID_Y], (intmax_t)launch[AT_GRID_Z],
                (intmax_t)launch[AT_BLOCK_X], (intmax_t)launch[AT_BLOCK_Y],
                (intmax_t)launch[AT_BLOCK_Z]);
    at_flow_add(&flow, "%jd B of dynamic shared memory%s", (intmax_t)launch[AT_SHARED_BYTES],
                passes > 1 ? "," : "");
    if (passes > 1)
        at_flow_add(&flow, "%jd times, with %jd B of scratch memory", (intmax_t)passes,
                    (intmax_t)launch[AT_SCRATCH_BYTES]);
    at_flow_end(&flow);
}

static void show_distance(const struct at_distance *distance, FILE *out)
{
    struct at_flow flow = line(out, "distance");
    int64_t total = thousandths(distance->total);

    at_flow_add(&flow, "%jd.%03jd", (intmax_t)(total / 1000), (intmax_t)(total % 1000));
    for (int i = 0; i < AT_DISTANCE_TERMS; i++) {
        int64_t term = thousandths(distance->terms[i]);

        if (term)
            at_flow_add(&flow, "%s %jd.%03jd", at_distance_name(i), (intmax_t)(term / 1000),
                        (intmax_t)(term % 1000));
    }
    at_flow_end(&flow);
}

static void show_expected(const struct at_answer *answer, FILE *out)
{
    struct at_flow flow = line(out, "expected");
    int64_t share = answer->expected_of_copy_permille;

    if (!answer->record) {
        at_flow_add_words(&flow, "share of the copy limit not known: nothing like it was tuned");
        at_flow_end(&flow);
        return;
    }
    at_flow_add(&flow, "%jd.%jd %% of the copy limit:", (intmax_t)(share / 10),
                (intmax_t)(share % 10));
    at_flow_add(&flow, answer->tier == AT_TIER_EXACT ? "%s" : "%s on the entry's problem",
                answer->predicted ? "predicted, not measured," : "measured");
    at_flow_end(&flow);
}

static void show_facts(const struct at_answer *answer, const struct at_query *query, FILE *out)
{
    struct at_fact facts[AT_FACTS_MAX];
    size_t count = at_facts_compare(facts, query, answer->record), unknown = 0;
    struct at_flow flow;

    for (size_t i = 0; i < count; i++) {
        if (!at_fact_is_conflict(&facts[i])) {
            unknown++;
            continue;
        }
        flow = line(out, "conflict");
        at_flow_add(&flow, "%s:", facts[i].name);
        at_flow_add(&flow, "%s here, %s there", facts[i].here, facts[i].tuned);
        at_flow_end(&flow);
    }
    if (unknown == 0)
        return;
    flow = line(out, "unknown");
    for (size_t i = 0; i < count; i++)
        if (!at_fact_is_conflict(&facts[i]))
            at_flow_add(&flow, "%s%s", facts[i].name, --unknown ? "," : "");
    at_flow_end(&flow);
}

static void show_measured(const struct at_measured *measured, FILE *out)
{
    struct at_flow flow = line(out, measured->predicted ? "predicted" : "measured");

    at_flow_add(&flow, "%.3f us, the best of %jd configs%s", (double)measured->time_ns / 1000,
                (intmax_t)measured->configs,
                measured->looked_up_ns > 0 ? "; the looked-up one took" : "");
    if (measured->looked_up_ns > 0)
        at_flow_add(&flow, "%.3f us", (double)measured->looked_up_ns / 1000);
    at_flow_end(&flow);
}

static void show_choice(const struct at_answer *answer, FILE *out)
{
    struct at_flow flow;

    if (answer->predicted_of == 0)
        return;
    flow = line(out, "chosen");
    at_flow_add(&flow, "predicted to be %s of %zu configs, as no good entry is near",
                answer->record ? "the fastest" : "about as fast as the fastest",
                answer->predicted_of);
    at_flow_end(&flow);
}

static void show_uncertain(const struct at_answer *answer, FILE *out)
{
    struct at_flow flow;

    if (!at_answer_is_uncertain(answer))
        return;
    flow = line(out, "uncertain");
    if (answer->record && answer->tier > AT_TIER_SHAPE)
        at_flow_add(&flow, "from another GPU%s", is_far(answer) ? ", and" : "");
    if (is_far(answer)) {
        at_flow_add(&flow, "far from all good entries:");
        at_flow_add(&flow, "a tenth of such answers lost 6 %% or more");
    }
    if (!answer->record)
        at_flow_add(&flow, "no entry is near");
    if (answer->measured.predicted)
        at_flow_add(&flow, "(the fastest by predictions)");
    else
        at_flow_add(&flow, "(--measure finds out)");
    at_flow_end(&flow);
}

void at_answer_show(const struct at_answer *answer, const struct at_query *query, bool color,
                    FILE *out)
{
    char *problem = at_problem_format(query->problem);
    struct at_flow flow;

    fprintf(out, "%s%s%s on %s, %s\n", color ? "\033[1m" : "", problem, color ? "\033[0m" : "",
            query->device->name, query->policy);
    at_free(problem);
    show_config(answer, out);
    flow = line(out, "tier");
    at_flow_add(&flow, "%d of %d, %s", (int)answer->tier + 1, (int)AT_TIERS,
                at_tier_names[answer->tier]);
    at_flow_end(&flow);
    if (answer->record) {
        flow = line(out, "from");
        at_flow_add(&flow, "%s:", answer->path);
        at_flow_add(&flow, "%s on %s, %s", answer->tuned_problem, answer->record->device.name,
                    answer->record->policy.name);
        at_flow_end(&flow);
        show_distance(&answer->distance, out);
    }
    show_expected(answer, out);
    if (answer->record)
        show_facts(answer, query, out);
    show_choice(answer, out);
    show_uncertain(answer, out);
    if (answer->measured.time_ns > 0)
        show_measured(&answer->measured, out);
    if (answer->refused[0]) {
        flow = line(out, "note");
        at_flow_add(&flow, "%s", answer->refused);
        at_flow_end(&flow);
    }
}
