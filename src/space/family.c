/* SPDX-License-Identifier: Apache-2.0 */
/* Makes families from space files: checks their names, numbers and expressions. */
#include "base/error.h"
#include "base/integer.h"
#include "base/memory.h"
#include "schema/table.h"
#include "space/config.h"
#include "system/file.h"
#include "system/paths.h"

#include <string.h>
#include <unistd.h>

/* ---- the content of a space file, before its expressions and parameters are checked ---- */

struct at_param_record {
    struct at_located name, neutral;
    char *summary;
    struct at_list values; /* of int64_t */
    int64_t default_value, host, yields;
};

struct at_launch_record {
    struct at_located field[AT_LAUNCH_FIELDS];
};

struct at_family_record {
    int64_t schema;
    struct at_located family, template, tensors;
    char *summary;
    int64_t preference, in_place, scales, steps, groups, views, tall_rows;
    struct at_list parameters;         /* of struct at_param_record */
    struct at_list constraints, needs; /* of struct at_located */
    struct at_launch_record launch;
    struct at_located block_elements, run_bytes[2];
};

enum { RULES_MAX = 64, SUMMARY_MAX = 400 };

#define LOCATED .kind = AT_FIELD_LOCATED

static const struct at_field param_fields[] = {
    AT_FIELD(at_param_record, "default", default_value, .kind = AT_FIELD_INT, .min = INT32_MIN,
             .max = INT32_MAX),
    AT_FIELD(at_param_record, "host", host, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
    AT_FIELD(at_param_record, "name", name, LOCATED),
    AT_FIELD(at_param_record, "neutral", neutral, LOCATED, AT_OPTIONAL),
    AT_TEXT(at_param_record, summary, SUMMARY_MAX),
    AT_LIST(at_param_record, values, AT_FIELD_INTS, 1, AT_PARAM_VALUES_MAX),
    AT_FIELD(at_param_record, "yields", yields, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
};
static const struct at_schema param_schema =
    AT_SCHEMA("a parameter", at_param_record, param_fields);

static const struct at_field launch_fields[] = {
    AT_FIELD(at_launch_record, "block_x", field[AT_BLOCK_X], LOCATED),
    AT_FIELD(at_launch_record, "block_y", field[AT_BLOCK_Y], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "block_z", field[AT_BLOCK_Z], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "carveout_percent", field[AT_CARVEOUT_PERCENT], LOCATED,
             AT_OPTIONAL),
    AT_FIELD(at_launch_record, "grid_x", field[AT_GRID_X], LOCATED),
    AT_FIELD(at_launch_record, "grid_y", field[AT_GRID_Y], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "grid_z", field[AT_GRID_Z], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "launches", field[AT_LAUNCHES], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "outer_order", field[AT_OUTER_ORDER], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "scratch_bytes", field[AT_SCRATCH_BYTES], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "share_axes", field[AT_SHARE_AXES], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "shared_bytes", field[AT_SHARED_BYTES], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "side_dst", field[AT_SIDE_DST], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "side_src", field[AT_SIDE_SRC], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "sum_cols", field[AT_SUM_COLS], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "unaligned_dst", field[AT_UNALIGNED_DST], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "unaligned_src", field[AT_UNALIGNED_SRC], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "unit_words", field[AT_UNIT_WORDS], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "vec_dst", field[AT_VEC_DST], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "vec_src", field[AT_VEC_SRC], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_launch_record, "word_bytes", field[AT_WORD_BYTES], LOCATED, AT_OPTIONAL),
};
static const struct at_schema launch_schema =
    AT_SCHEMA("the launch", at_launch_record, launch_fields);

static const struct at_field family_fields[] = {
    AT_FIELD(at_family_record, "block_elements", block_elements, LOCATED, AT_OPTIONAL),
    AT_LIST(at_family_record, constraints, AT_FIELD_LOCATEDS, 0, RULES_MAX, AT_OPTIONAL),
    AT_FIELD(at_family_record, "dst_run_bytes", run_bytes[1], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_family_record, "family", family, LOCATED),
    AT_FIELD(at_family_record, "groups", groups, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
    AT_FIELD(at_family_record, "inplace", in_place, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
    AT_OBJECT(at_family_record, "launch", launch, launch_schema),
    AT_LIST(at_family_record, needs, AT_FIELD_LOCATEDS, 0, RULES_MAX, AT_OPTIONAL),
    AT_OBJECTS(at_family_record, parameters, 0, AT_PARAMS_MAX, param_schema),
    AT_INT(at_family_record, preference, 0, INT32_MAX),
    AT_FIELD(at_family_record, "scales", scales, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
    AT_INT(at_family_record, schema, 1, 1),
    AT_FIELD(at_family_record, "src_run_bytes", run_bytes[0], LOCATED, AT_OPTIONAL),
    AT_FIELD(at_family_record, "steps", steps, .kind = AT_FIELD_INT, .max = 3, AT_OPTIONAL),
    AT_TEXT(at_family_record, summary, SUMMARY_MAX),
    AT_FIELD(at_family_record, "tall_rows", tall_rows, .kind = AT_FIELD_INT, .min = 1,
             .max = INT64_MAX, AT_OPTIONAL),
    AT_FIELD(at_family_record, "template", template, LOCATED),
    AT_FIELD(at_family_record, "tensors", tensors, LOCATED, AT_OPTIONAL),
    AT_FIELD(at_family_record, "views", views, .kind = AT_FIELD_INT, .max = 1, AT_OPTIONAL),
};
const struct at_schema at_family_schema =
    AT_SCHEMA("a space file", at_family_record, family_fields);

/* ---- from a file ---- */

const char *const at_template_macros[AT_TEMPLATE_MACROS] = {
    "ELEM_SIZE", "AXES",        "TALL",      "RESULT_SIZE",  "STEP",       "STEP_NUMBERS",
    "FROM",      "RULE",        "TO",        "SCALE_LAYOUT", "SCALE_ROWS", "SCALE_COLS",
    "KEPT_TO",   "KEPT_LAYOUT", "KEPT_ROWS", "KEPT_COLS",    "SUMS",       "GROUPED",
};

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SMALL    "abcdefghijklmnopqrstuvwxyz"
#define DIGITS   "0123456789"

enum { PARAM_NAME_MAX = 31, FAMILY_NAME_MAX = 63, TEMPLATE_BYTES_MAX = 1024 * 1024 };

struct reading {
    struct at_family_record record;
    struct at_family *family;
    struct at_error *err;
};

static struct at_source source_of(const struct reading *reading, const struct at_located *located)
{
    return (struct at_source){reading->family->path, located->line, located->column};
}

/* Is text 1 to `most` characters from `any`, of which the first is also in `first`? */
static bool is_name(const char *text, const char *first, const char *any, size_t most)
{
    size_t length = strlen(text);

    return length >= 1 && length <= most && strchr(first, text[0]) && strspn(text, any) == length;
}

static enum at_status check_values(const struct reading *reading,
                                   const struct at_param_record *record)
{
    struct at_source source = source_of(reading, &record->name);
    const int64_t *values = record->values.items;
    bool has_default = false;

    for (size_t i = 0; i < record->values.count; i++) {
        if (values[i] < INT32_MIN || values[i] > INT32_MAX)
            return at_fail_at(reading->err, source, "%s: the value %lld does not fit 32 bits",
                              record->name.text, (long long)values[i]);
        for (size_t j = 0; j < i; j++)
            if (values[j] == values[i])
                return at_fail_at(reading->err, source, "%s: the value %lld is given twice",
                                  record->name.text, (long long)values[i]);
        has_default = has_default || values[i] == record->default_value;
    }
    if (!has_default)
        return at_fail_at(reading->err, source, "%s: the default %lld is none of its values",
                          record->name.text, (long long)record->default_value);
    if (record->yields && values[0] != record->default_value)
        return at_fail_at(reading->err, source,
                          "%s yields, so its default has to be the first value", record->name.text);
    return AT_OK;
}

static enum at_status take_neutral(const struct reading *reading, const struct at_located *given,
                                   struct at_param *param)
{
    if (!given->text)
        return AT_OK;
    param->has_neutral = at_integer_parse(given->text, strlen(given->text), &param->neutral) &&
                         at_param_has_value(param, param->neutral);
    return param->has_neutral
               ? AT_OK
               : at_fail_at(reading->err, source_of(reading, given),
                            "%s: neutral: expected one of its values, found \"%.*s\"", param->name,
                            AT_QUOTED(given->text, 60));
}

static enum at_status take_param(const struct reading *reading, struct at_param_record *record)
{
    struct at_family *family = reading->family;
    struct at_param *param = &family->params[family->param_count];
    struct at_located neutral = record->neutral;
    const char *name = record->name.text;
    enum at_status status;

    if (!is_name(name, CAPITALS, CAPITALS DIGITS "_", PARAM_NAME_MAX))
        return at_fail_at(reading->err, source_of(reading, &record->name),
                          "\"%.*s\" cannot name a parameter: expected a capital, then capitals, "
                          "digits and '_', at most 31 in all",
                          AT_QUOTED(name, 60));
    for (size_t i = 0; i < AT_TEMPLATE_MACROS; i++)
        if (strcmp(name, at_template_macros[i]) == 0)
            return at_fail_at(reading->err, source_of(reading, &record->name),
                              "%s is given to every template and cannot be a parameter", name);
    for (size_t i = 0; i < family->param_count; i++)
        if (strcmp(family->params[i].name, name) == 0)
            return at_fail_at(reading->err, source_of(reading, &record->name),
                              "a second parameter named %s", name);
    status = check_values(reading, record);
    if (status != AT_OK)
        return status;
    /* The family takes over the record's memory; at_schema_clear finds it zeroed. */
    family->param_count++;
    *param = (struct at_param){
        .name = record->name.text,
        .summary = record->summary,
        .values = record->values.items,
        .value_count = record->values.count,
        .default_value = record->default_value,
        .host = record->host == 1,
        .yields = record->yields == 1,
    };
    *record = (struct at_param_record){.neutral = neutral};
    return take_neutral(reading, &neutral, param);
}

static enum at_status take_params(const struct reading *reading)
{
    const struct at_list *list = &reading->record.parameters;
    struct at_param_record *records = list->items;
    enum at_status status = AT_OK;

    reading->family->params = at_alloc_array(list->count, sizeof *reading->family->params);
    for (size_t i = 0; status == AT_OK && i < list->count; i++)
        status = take_param(reading, &records[i]);
    return status;
}

static enum at_status parse(const struct reading *reading, struct at_expr **expr,
                            const struct at_located *located)
{
    const struct at_family *family = reading->family;
    const char *names[AT_NAMES_MAX];
    size_t name_count = at_point_names(names, family->params, family->param_count);

    return at_expr_parse(expr, located->text, source_of(reading, located), names, name_count,
                         reading->err);
}

static enum at_status parse_list(const struct reading *reading, struct at_expr ***exprs,
                                 size_t *count, const struct at_list *list)
{
    const struct at_located *items = list->items;
    enum at_status status = AT_OK;

    *exprs = at_alloc_array(list->count, sizeof **exprs);
    for (size_t i = 0; status == AT_OK && i < list->count; i++) {
        status = parse(reading, &(*exprs)[i], &items[i]);
        *count += status == AT_OK;
    }
    return status;
}

/* ---- rules ---- */

_Static_assert(AT_PARAMS_MAX <= 32, "params_used has a bit per parameter");

/* The parameters that the expression uses, as bits; 0 for NULL. */
static uint32_t params_used(const struct at_family *family, const struct at_expr *expr)
{
    uint32_t used = 0;

    for (size_t i = 0; expr && i < family->param_count; i++) {
        size_t name = AT_NAME_PARAM_FIRST + i;

        used |= (uint32_t)at_expr_uses(expr, name, name + 1) << i;
    }
    return used;
}

/* Does it use more of the problem than the element size? */
static bool uses_shape(const struct at_expr *expr)
{
    return at_expr_uses(expr, AT_NAME_SHAPE_FIRST, AT_NAME_DEVICE_FIRST);
}

/* 1 + the parameter that "parameter == VALUE" determines, if VALUE uses the shape and no parameter;
 * else 0. */
static size_t determined(const struct at_family *family, const struct at_expr *expr)
{
    uint32_t used = params_used(family, expr);
    size_t at = used ? (size_t)__builtin_ctz(used) : 0;

    return __builtin_popcount(used) == 1 && uses_shape(expr) &&
                   at_expr_equates(expr, AT_NAME_PARAM_FIRST + at)
               ? at + 1
               : 0;
}

/* Insert a rule, sorted by params_needed. Equal ones keep their order. */
static void insert_rule(struct at_family *family, struct at_rule rule)
{
    size_t at = family->rule_count++;

    rule.params_needed = rule.params_used ? 32 - (size_t)__builtin_clz(rule.params_used) : 0;
    while (at > 0 && family->rules[at - 1].params_needed > rule.params_needed) {
        family->rules[at] = family->rules[at - 1];
        at--;
    }
    family->rules[at] = rule;
}

/* Mark the rules that are inherent, once all are known. */
static void mark_inherent(struct at_family *family)
{
    uint32_t determined = 0;

    for (size_t i = 0; i < family->rule_count; i++)
        if (family->rules[i].determines > 0)
            determined |= UINT32_C(1) << (family->rules[i].determines - 1);
    for (size_t i = 0; i < family->rule_count; i++) {
        struct at_rule *rule = &family->rules[i];

        rule->inherent = rule->expr && !(rule->params_used & determined) &&
                         !at_expr_uses(rule->expr, AT_NAME_SHAPE_FIRST, AT_NAMES_GIVEN);
    }
}

/* Those of the shape stand before those of the device: they refuse nearly all configs that are
 * refused. */
static void list_adapting(struct at_family *family)
{
    enum { DETERMINING, OF_SHAPE, OF_DEVICE, PARTS };

    family->adapting = at_alloc_array(family->rule_count, sizeof *family->adapting);
    for (int part = 0; part < PARTS; part++)
        for (size_t i = 0; i < family->rule_count; i++) {
            const struct at_rule *rule = &family->rules[i];
            int own = rule->determines > 0                    ? DETERMINING
                      : !rule->expr || uses_shape(rule->expr) ? OF_SHAPE
                                                              : OF_DEVICE;

            if (own == part && rule->kind < AT_RULE_LAUNCH && !rule->inherent)
                family->adapting[family->adapting_count++] = rule;
        }
}

static void insert_expressions(struct at_family *family, enum at_rule_kind kind,
                               struct at_expr *const *exprs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        insert_rule(family, (struct at_rule){.kind = kind,
                                             .expr = exprs[i],
                                             .params_used = params_used(family, exprs[i]),
                                             .determines = determined(family, exprs[i])});
}

/* Fill family->rules, sorted by params_needed, from the family's expressions. Fill
 * family->adapting too: rules that determine a parameter come first there. */
static void make_rules(struct at_family *family)
{
    size_t most = 3 + family->constraint_count + family->need_count + AT_LAUNCH_FIELDS + 2;
    uint32_t block_params = 0;

    family->rules = at_alloc_array(most, sizeof *family->rules);
    /* Every family has this rule, so that space files need not state it. */
    insert_rule(family, (struct at_rule){.kind = AT_RULE_IN_PLACE});
    insert_rule(family, (struct at_rule){.kind = AT_RULE_STEP});
    insert_rule(family, (struct at_rule){.kind = AT_RULE_GROUPS});
    insert_rule(family, (struct at_rule){.kind = AT_RULE_VIEWS});
    insert_rule(family, (struct at_rule){.kind = AT_RULE_TENSORS});
    insert_expressions(family, AT_RULE_CONSTRAINT, family->constraints, family->constraint_count);
    insert_expressions(family, AT_RULE_NEED, family->needs, family->need_count);
    for (int i = 0; i < AT_LAUNCH_FIELDS; i++) {
        bool packed = i == AT_GRID_X && family->tensors == AT_TENSORS_PACKED;
        uint32_t used = params_used(family, family->launch[i]);

        if (!family->launch[i])
            continue;
        for (int field = 0; packed && field < AT_LAUNCH_FIELDS; field++)
            if (at_launch_decides_tiles((enum at_launch_field)field))
                used |= params_used(family, family->launch[field]);
        insert_rule(family, (struct at_rule){.kind = AT_RULE_LAUNCH,
                                             .field = (enum at_launch_field)i,
                                             .params_used = used});
        if (i >= AT_BLOCK_X && i <= AT_BLOCK_Z)
            block_params |= used;
    }
    /* After the rules of the three block sizes, whose bounds prevent overflow of the product. */
    insert_rule(family, (struct at_rule){.kind = AT_RULE_THREADS, .params_used = block_params});
    if (family->launch[AT_SUM_COLS] || family->launch[AT_SCRATCH_BYTES])
        insert_rule(
            family,
            (struct at_rule){.kind = AT_RULE_SCRATCH,
                             .params_used = params_used(family, family->launch[AT_GRID_X]) |
                                            params_used(family, family->launch[AT_SUM_COLS]) |
                                            params_used(family, family->launch[AT_SCRATCH_BYTES])});
    mark_inherent(family);
    list_adapting(family);
}

static enum at_status take_rules(const struct reading *reading)
{
    const struct at_family_record *record = &reading->record;
    struct at_family *family = reading->family;
    enum at_status status =
        parse_list(reading, &family->constraints, &family->constraint_count, &record->constraints);

    if (status == AT_OK)
        status = parse_list(reading, &family->needs, &family->need_count, &record->needs);
    for (int i = 0; status == AT_OK && i < AT_LAUNCH_FIELDS; i++)
        if (record->launch.field[i].text)
            status = parse(reading, &family->launch[i], &record->launch.field[i]);
    if (status == AT_OK && record->block_elements.text)
        status = parse(reading, &family->block_elements, &record->block_elements);
    for (int side = 0; status == AT_OK && side < 2; side++)
        if (record->run_bytes[side].text)
            status = parse(reading, &family->run_bytes[side], &record->run_bytes[side]);
    if (status == AT_OK && family->launch[AT_SIDE_SRC] && family->tensors != AT_TENSORS_PACKED)
        status = at_fail_at(reading->err, source_of(reading, &record->launch.field[AT_SIDE_SRC]),
                            "side_src is for families with tensors: packed");
    if (status == AT_OK)
        make_rules(family);
    return status;
}

static char *beside(const char *path, const char *name)
{
    char *folder = at_path_folder(path), *joined = at_format("%s/%s", folder, name);

    at_free(folder);
    return joined;
}

static enum at_status take_template(const struct reading *reading, const char *template_dir)
{
    const struct at_located *name = &reading->record.template;
    struct at_source source = source_of(reading, name);
    struct at_family *family = reading->family;
    size_t length = strlen(name->text), size;
    enum at_status status;

    if (!is_name(name->text, CAPITALS SMALL DIGITS "_", CAPITALS SMALL DIGITS "_-.", 255) ||
        length < 4 || strcmp(name->text + length - 3, ".cu") != 0)
        return at_fail_at(reading->err, source,
                          "template: expected the plain name of a .cu file, found \"%.*s\"",
                          AT_QUOTED(name->text, 60));
    family->template_path = beside(family->path, name->text);
    if (access(family->template_path, F_OK) != 0 && template_dir) {
        at_free(family->template_path);
        family->template_path = at_format("%s/%s", template_dir, name->text);
    }
    status = at_file_read_text(&family->source, &size, family->template_path, TEMPLATE_BYTES_MAX,
                               reading->err);
    if (status != AT_OK)
        return at_fail_within(reading->err, "%s:%d:%d: template", source.file, source.line,
                              source.column);
    if (strlen(family->source) != size)
        return at_fail_at(reading->err, source, "template: %s is not a text file",
                          family->template_path);
    return AT_OK;
}

static enum at_status take_tensors(const struct reading *reading)
{
    static const char *const words[] = {
        [AT_TENSORS_NONE] = "none", [AT_TENSORS_BATCH] = "batch", [AT_TENSORS_PACKED] = "packed"};
    const struct at_located *given = &reading->record.tensors;

    for (size_t i = 0; given->text && i < AT_COUNT(words); i++)
        if (strcmp(given->text, words[i]) == 0) {
            reading->family->tensors = (enum at_tensors)i;
            return AT_OK;
        }
    return !given->text ? AT_OK
                        : at_fail_at(reading->err, source_of(reading, given),
                                     "tensors: expected none, batch or packed, found \"%.*s\"",
                                     AT_QUOTED(given->text, 60));
}

static enum at_status take_name(const struct reading *reading)
{
    const struct at_located *name = &reading->record.family;

    if (!is_name(name->text, CAPITALS SMALL, CAPITALS SMALL DIGITS "_-", FAMILY_NAME_MAX))
        return at_fail_at(reading->err, source_of(reading, name),
                          "\"%.*s\" cannot name a family: expected a letter, then letters, digits, "
                          "'_' and '-', at most 63 in all",
                          AT_QUOTED(name->text, 60));
    reading->family->name = at_strdup(name->text);
    return AT_OK;
}

enum at_status at_family_read(struct at_family **family, const char *path, const char *template_dir,
                              struct at_error *err)
{
    struct reading reading = {.err = err};
    enum at_status status = at_schema_read_file(&at_family_schema, &reading.record, path, err);

    if (status != AT_OK)
        return status;
    reading.family = at_alloc(sizeof *reading.family);
    reading.family->path = at_strdup(path);
    reading.family->summary = at_strdup(reading.record.summary);
    reading.family->preference = reading.record.preference;
    reading.family->tall_rows = reading.record.tall_rows;
    reading.family->in_place = reading.record.in_place;
    reading.family->scales = reading.record.scales;
    reading.family->groups = reading.record.groups;
    reading.family->steps = reading.record.steps;
    reading.family->views = reading.record.views;
    status = take_name(&reading);
    if (status == AT_OK)
        status = take_tensors(&reading);
    if (status == AT_OK)
        status = take_params(&reading);
    if (status == AT_OK)
        status = take_rules(&reading);
    if (status == AT_OK)
        status = take_template(&reading, template_dir);
    at_schema_clear(&at_family_schema, &reading.record);
    if (status == AT_OK)
        *family = reading.family;
    else
        at_family_free(reading.family);
    return status;
}

static void free_exprs(struct at_expr **exprs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        at_expr_free(exprs[i]);
    at_free(exprs);
}

void at_family_free(struct at_family *family)
{
    if (!family)
        return;
    for (size_t i = 0; i < family->param_count; i++) {
        at_free(family->params[i].name);
        at_free(family->params[i].summary);
        at_free(family->params[i].values);
    }
    free_exprs(family->constraints, family->constraint_count);
    free_exprs(family->needs, family->need_count);
    for (int i = 0; i < AT_LAUNCH_FIELDS; i++)
        at_expr_free(family->launch[i]);
    at_expr_free(family->block_elements);
    for (int i = 0; i < 2; i++)
        at_expr_free(family->run_bytes[i]);
    at_free(family->params);
    at_free(family->rules);
    at_free(family->adapting);
    at_free(family->name);
    at_free(family->path);
    at_free(family->summary);
    at_free(family->template_path);
    at_free(family->source);
    at_free(family);
}

/* ---- the families of a folder ---- */

static const char suffix[] = ".yaml";

/* cycles.yaml and cycles-elements.yaml belong to cycles.cu. */
static bool has_template(const char *space_file, const char *template_dir)
{
    const size_t stems[] = {strlen(space_file) - (sizeof suffix - 1), strcspn(space_file, "-")};
    bool there = false;

    for (size_t i = 0; i < AT_COUNT(stems) && !there; i++) {
        char *path = at_format("%s/%.*s.cu", template_dir, (int)stems[i], space_file);

        there = access(path, F_OK) == 0;
        at_free(path);
    }
    return there;
}

enum at_status at_families_check_unique(struct at_family *const *families, size_t count,
                                        struct at_error *err)
{
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(families[i]->name, families[j]->name) == 0)
                return at_fail(err, AT_USAGE, "%s and %s are both named \"%s\"", families[j]->path,
                               families[i]->path, families[i]->name);
    return AT_OK;
}

enum at_status at_families_read(struct at_family ***families, size_t *count, const char *tuning_dir,
                                const char *template_dir, struct at_error *err)
{
    struct at_folder files;
    struct at_family **read;
    size_t read_count = 0;
    int error = at_folder_list(&files, tuning_dir, suffix);
    enum at_status status = AT_OK;

    if (error != 0)
        return at_fail(err, AT_USAGE, "cannot read the folder %s: %s", tuning_dir, strerror(error));
    read = at_alloc_array(files.count, sizeof *read);
    for (size_t i = 0; status == AT_OK && i < files.count; i++) {
        char *path = at_format("%s/%s", tuning_dir, files.names[i]);

        if (has_template(files.names[i], template_dir)) {
            status = at_family_read(&read[read_count], path, template_dir, err);
            read_count += status == AT_OK;
        }
        at_free(path);
    }
    if (status == AT_OK && read_count == 0)
        status =
            at_fail(err, AT_USAGE, "no family found: expected NAME.yaml in %s and NAME.cu in %s",
                    tuning_dir, template_dir);
    if (status == AT_OK)
        status = at_families_check_unique(read, read_count, err);
    if (status == AT_OK) {
        *families = read;
        *count = read_count;
    } else {
        while (read_count > 0)
            at_family_free(read[--read_count]);
        at_free(read);
    }
    at_folder_clear(&files);
    return status;
}
