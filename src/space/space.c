/* SPDX-License-Identifier: Apache-2.0 */
/* The rules for a legal config: the family's own, and the limits of CUDA and of the device on a
 * launch. Enumeration and the check of a single config evaluate them in the same order, so that
 * they agree, also in errors. */
#include "space/space.h"

#include "base/integer.h"
#include "base/memory.h"
#include "problem/arguments.h"
#include "space/config.h"

/* Bounds from the CUDA C++ Programming Guide, "Technical Specifications per Compute Capability";
 * the same for every device that NVRTC still compiles for. */
static const struct {
    const char *name;
    int64_t usual; /* if the family does not give it */
    int64_t min, max;
} fields[AT_LAUNCH_FIELDS] = {
    [AT_GRID_X] = {"grid_x", 1, 1, INT32_MAX},
    [AT_GRID_Y] = {"grid_y", 1, 1, 65535},
    [AT_GRID_Z] = {"grid_z", 1, 1, 65535},
    [AT_BLOCK_X] = {"block_x", 1, 1, 1024},
    [AT_BLOCK_Y] = {"block_y", 1, 1, 1024},
    [AT_BLOCK_Z] = {"block_z", 1, 1, 64},
    [AT_SHARED_BYTES] = {"shared_bytes", 0, 0, INT32_MAX}, /* the device's limit is lower */
    [AT_CARVEOUT_PERCENT] = {"carveout_percent", -1, -1, 100},
    [AT_SIDE_SRC] = {"side_src", 0, 0, AT_SIDE_MAX},
    [AT_SIDE_DST] = {"side_dst", 0, 0, AT_SIDE_MAX},
    [AT_SHARE_AXES] = {"share_axes", 0, 0, 1},
    [AT_VEC_SRC] = {"vec_src", 0, 0, 16},
    [AT_VEC_DST] = {"vec_dst", 0, 0, 16},
    [AT_UNALIGNED_SRC] = {"unaligned_src", 0, 0, 1},
    [AT_UNALIGNED_DST] = {"unaligned_dst", 0, 0, 1},
    [AT_UNIT_WORDS] = {"unit_words", 0, 0, 16},
    [AT_WORD_BYTES] = {"word_bytes", 0, 0, 16},
    [AT_OUTER_ORDER] = {"outer_order", 0, 0, 2},
    [AT_SUM_COLS] = {"sum_cols", 0, 0, 1 << 16},
    [AT_LAUNCHES] = {"launches", 0, 1, AT_LAUNCHES_MAX},
    [AT_SCRATCH_BYTES] = {"scratch_bytes", 0, 0, INT64_MAX},
    [AT_PASS] = {"pass", 0, 0, 0},
};

/* Return the blocks that share a packed family's tiles, at most tiles_per_block each. All
 * multiprocessors get equally many blocks, and a block one tile more than another at most. */
static int64_t blocks_of(int64_t tiles, int64_t tiles_per_block, int64_t multiprocessors)
{
    int64_t fewest = tiles / tiles_per_block + (tiles % tiles_per_block > 0), each;

    if (fewest == tiles || multiprocessors < 1)
        return fewest;
    each = fewest / multiprocessors + (fewest % multiprocessors > 0);
    return each * multiprocessors < tiles ? each * multiprocessors : tiles;
}

static enum at_status launch_field(const struct at_point *point, enum at_launch_field field,
                                   int64_t *value, struct at_error *err);

/* What a kernel that looks for the largest magnitude keeps in static shared memory: a number for
 * each warp of a block (templates/largest.cuh). */
enum { LARGEST_BYTES = 32 * 4 };

static int64_t most(const struct at_point *point, enum at_launch_field field)
{
    int64_t kept = at_step_has(&point->problem->step, AT_AMAX) ? LARGEST_BYTES : 0;

    return field == AT_SHARED_BYTES ? point->device->shared_bytes_per_block_optin - kept
                                    : fields[field].max;
}

static bool field_fits(const struct at_point *point, enum at_launch_field field, int64_t value)
{
    return value >= fields[field].min && value <= most(point, field);
}

/* The blocks of a packed family. grid_x says how many tiles a block has at most. */
static enum at_status packed_blocks(const struct at_point *point, int64_t *value,
                                    struct at_error *err)
{
    struct at_launch launch = {{0}};
    int64_t tiles, tiles_per_block;
    enum at_status status =
        at_expr_eval(point->family->launch[AT_GRID_X], point->values, &tiles_per_block, err);

    for (int i = 0; status == AT_OK && i < AT_LAUNCH_FIELDS; i++) {
        if (!at_launch_decides_tiles((enum at_launch_field)i))
            continue;
        status = launch_field(point, (enum at_launch_field)i, &launch.field[i], err);
        if (status == AT_OK && !field_fits(point, (enum at_launch_field)i, launch.field[i]))
            return *value = 0, AT_OK; /* no legal config */
    }
    if (status != AT_OK)
        return status;
    if (launch.field[AT_WORD_BYTES] < point->problem->elem_size ||
        launch.field[AT_WORD_BYTES] % point->problem->elem_size != 0)
        return *value = 0, AT_OK;
    tiles = at_problem_packed_tiles(point->problem, &launch);
    *value =
        tiles_per_block < 1 ? 0 : blocks_of(tiles, tiles_per_block, point->device->multiprocessors);
    return AT_OK;
}

/* Evaluate a launch field. */
static enum at_status launch_field(const struct at_point *point, enum at_launch_field field,
                                   int64_t *value, struct at_error *err)
{
    const struct at_expr *expr = point->family->launch[field];

    if (field == AT_GRID_X && point->family->tensors == AT_TENSORS_PACKED)
        return packed_blocks(point, value, err);
    if (field == AT_SUM_COLS && !point->values[AT_NAME_SUMS])
        return *value = 0, AT_OK;
    if (expr)
        return at_expr_eval(expr, point->values, value, err);
    *value = fields[field].usual;
    return AT_OK;
}

static enum at_status count_threads(const struct at_point *point, int64_t *threads,
                                    struct at_error *err)
{
    int64_t product = 1, size;

    for (int i = AT_BLOCK_X; i <= AT_BLOCK_Z; i++) {
        enum at_status status = launch_field(point, (enum at_launch_field)i, &size, err);

        if (status != AT_OK)
            return status;
        product *= size;
    }
    *threads = product;
    return AT_OK;
}

/* How much scratch memory its launch needs. */
static enum at_status count_scratch(const struct at_point *point, int64_t *bytes,
                                    struct at_error *err)
{
    struct at_launch launch = {{0}};
    enum at_status status = launch_field(point, AT_GRID_X, &launch.field[AT_GRID_X], err);

    if (status == AT_OK)
        status = launch_field(point, AT_SUM_COLS, &launch.field[AT_SUM_COLS], err);
    if (status == AT_OK)
        status = launch_field(point, AT_SCRATCH_BYTES, &launch.field[AT_SCRATCH_BYTES], err);
    if (status == AT_OK)
        *bytes = at_problem_scratch_bytes(point->problem, &launch);
    return status;
}

/* The least `steps` of a family that takes a problem's step. */
static int64_t steps_wanted(const struct at_step *step)
{
    return !step->given ? 0 : at_step_has_outputs(step) ? 3 : at_step_needs_place(step) ? 2 : 1;
}

static enum at_status rule_holds(const struct at_rule *rule, const struct at_point *point,
                                 bool *holds, struct at_error *err)
{
    int64_t value = 0;
    enum at_status status = AT_OK;

    switch (rule->kind) {
    case AT_RULE_IN_PLACE:
        *holds = point->problem->in_place == point->family->in_place;
        break;
    case AT_RULE_STEP:
        *holds = at_step_has(&point->problem->step, AT_BLOCKS) == (point->family->scales == 1) &&
                 (point->family->scales ||
                  point->family->steps >= steps_wanted(&point->problem->step)) &&
                 (!point->values[AT_NAME_SUMS] || point->family->launch[AT_SUM_COLS]);
        break;
    case AT_RULE_GROUPS:
        *holds = point->problem->groups.count == 0 || point->family->groups;
        break;
    case AT_RULE_VIEWS:
        *holds = !point->problem->is_view || point->family->views;
        break;
    case AT_RULE_TENSORS:
        /* Divisors have 31 bits (problem/arguments.c). In place they are not used. */
        *holds = !at_problem_is_tensor(point->problem) ||
                 (point->family->tensors != AT_TENSORS_NONE &&
                  (point->family->in_place || point->values[AT_NAME_BATCH] <= INT32_MAX));
        break;
    case AT_RULE_CONSTRAINT:
    case AT_RULE_NEED:
        status = at_expr_eval(rule->expr, point->values, &value, err);
        *holds = value != 0;
        break;
    case AT_RULE_LAUNCH:
        status = launch_field(point, rule->field, &value, err);
        *holds = field_fits(point, rule->field, value);
        break;
    case AT_RULE_THREADS:
        status = count_threads(point, &value, err);
        *holds = value <= point->device->max_threads_per_block;
        break;
    case AT_RULE_SCRATCH:
        status = count_scratch(point, &value, err);
        *holds = value <= at_problem_scratch_most(point->problem);
        break;
    }
    return status;
}

/* Find the first rule that does not hold at the point; NULL: all hold. */
static enum at_status find_broken(const struct at_point *point, const struct at_rule **broken,
                                  struct at_error *err)
{
    const struct at_family *family = point->family;

    *broken = NULL;
    for (size_t i = 0; i < family->rule_count && !*broken; i++) {
        bool holds;
        enum at_status status = rule_holds(&family->rules[i], point, &holds, err);

        if (status != AT_OK)
            return status;
        if (!holds)
            *broken = &family->rules[i];
    }
    return AT_OK;
}

/* Tell a rule's expression, between words, and what its names are at this point; the caller frees
 * the text. */
static char *tell_expr(const char *words, const char *after, const struct at_rule *rule,
                       const struct at_point *point)
{
    const struct at_family *family = point->family;
    const char *names[AT_NAMES_MAX];
    size_t count = at_point_names(names, family->params, family->param_count);
    char *text = at_format("%s %s%s", words, at_expr_text(rule->expr), after);
    const char *before = "; here ";

    for (size_t i = 0; i < count; i++)
        if (at_expr_uses(rule->expr, i, i + 1)) {
            char *longer =
                at_format("%s%s%s=%lld", text, before, names[i], (long long)point->values[i]);

            at_free(text);
            text = longer;
            before = ", ";
        }
    return text;
}

/* Say why the rule does not hold at this point; the caller frees the text. */
static char *explain(const struct at_rule *rule, const struct at_point *point)
{
    int64_t value = 0;

    switch (rule->kind) {
    case AT_RULE_IN_PLACE:
        return at_strdup(point->problem->in_place
                             ? "the family does not transpose in place"
                             : "the family transposes in place, and this problem has two buffers");
    case AT_RULE_STEP:
        return at_strdup(
            point->family->scales ? "the family is for problems with blocks"
            : at_step_has(&point->problem->step, AT_BLOCKS) ? "the family has no block scales"
            : !point->family->steps
                ? "the family moves elements as they are, and this problem has a step"
            : point->family->scales || point->family->steps >= 3 ? "the family has no sums"
            : at_step_has_outputs(&point->problem->step)         ? "the family has one output"
                                                                 : "the family does not take beta");
    case AT_RULE_GROUPS:
        return at_strdup("the family does not take many matrices in one launch");
    case AT_RULE_VIEWS:
        return at_strdup("the family does not take sources whose elements overlap, or that have "
                         "strides below 1");
    case AT_RULE_TENSORS:
        return at_strdup("the family does not take tensors, or not with that many axes");
    case AT_RULE_CONSTRAINT:
        return tell_expr("the constraint", " does not hold", rule, point);
    case AT_RULE_NEED:
        return tell_expr("needs", "", rule, point);
    case AT_RULE_LAUNCH:
        launch_field(point, rule->field, &value, NULL);
        return at_format("%s is %lld; it has to be %lld to %lld", fields[rule->field].name,
                         (long long)value, (long long)fields[rule->field].min,
                         (long long)most(point, rule->field));
    case AT_RULE_THREADS:
        count_threads(point, &value, NULL);
        return at_format("a block of %lld threads; the device allows %lld", (long long)value,
                         (long long)point->device->max_threads_per_block);
    case AT_RULE_SCRATCH:
        count_scratch(point, &value, NULL);
        return at_format("it needs %lld bytes of scratch memory; at most %lld are given",
                         (long long)value, (long long)at_problem_scratch_most(point->problem));
    }
    return at_strdup("an unknown rule");
}

/* ---- legal configs ---- */

/* Find the first parameter with a value outside of its list; NULL if there is none. */
static const struct at_param *find_illegal(const struct at_config *config)
{
    for (size_t i = 0; i < config->family->param_count; i++)
        if (!at_param_has_value(&config->family->params[i], config->values[i]))
            return &config->family->params[i];
    return NULL;
}

enum at_status at_config_legal(const struct at_config *config, const struct at_problem *problem,
                               const struct at_device_info *device, bool *legal, char **why,
                               struct at_error *err)
{
    const struct at_family *family = config->family;
    struct at_point point = at_point_make(family, problem, device);
    const struct at_param *illegal = find_illegal(config);
    const struct at_rule *broken;
    enum at_status status;

    at_point_move(&point, config);
    if (illegal) {
        if (why)
            *why = at_format("%s=%d is none of its values in %s", illegal->name,
                             config->values[illegal - family->params], family->path);
        *legal = false;
        return AT_OK;
    }
    status = find_broken(&point, &broken, err);
    if (status != AT_OK)
        return status;
    if (broken && why)
        *why = explain(broken, &point);
    *legal = !broken;
    return AT_OK;
}

enum at_status at_config_require(const struct at_config *config, const struct at_problem *problem,
                                 const struct at_device_info *device, const char *refusal,
                                 struct at_error *err)
{
    bool legal;
    char *why = NULL;
    enum at_status status = at_config_legal(config, problem, device, &legal, &why, err);

    if (status == AT_OK && !legal)
        status =
            at_fail(err, AT_FAILED, "%s%s%s", refusal ? refusal : "", refusal ? ": " : "", why);
    at_free(why);
    return status;
}

static enum at_status launch_at(const struct at_point *point, struct at_launch *launch,
                                struct at_error *err)
{
    struct at_launch result;

    for (int i = 0; i < AT_LAUNCH_FIELDS; i++) {
        enum at_status status = launch_field(point, (enum at_launch_field)i, &result.field[i], err);

        if (status != AT_OK)
            return status;
    }
    *launch = result;
    return AT_OK;
}

enum at_status at_config_launch(const struct at_config *config, const struct at_problem *problem,
                                const struct at_device_info *device, struct at_launch *launch,
                                struct at_error *err)
{
    struct at_point point = at_point_make(config->family, problem, device);

    at_point_move(&point, config);
    return launch_at(&point, launch, err);
}

/* Give the parameters that the problem determines their values, which makes the rules hold that
 * determine them. False if one is none of its parameter's. *next is the first of the other rules.
 */
static bool follow_problem(struct at_config *config, const struct at_point *point, size_t *next)
{
    const struct at_family *family = config->family;

    for (; *next < family->adapting_count && family->adapting[*next]->determines > 0; ++*next) {
        const struct at_rule *rule = family->adapting[*next];
        size_t param = rule->determines - 1;
        int64_t value;

        if (at_expr_eval_equated(rule->expr, point->values, &value) != AT_OK ||
            !at_param_has_value(&family->params[param], value))
            return false;
        config->values[param] = (int32_t)value;
    }
    return true;
}

enum at_status at_config_require_inherent(const struct at_config *config,
                                          const struct at_problem *problem, struct at_error *err)
{
    const struct at_family *family = config->family;
    struct at_point point = {
        .values = {[AT_NAME_ELEM_SIZE] = problem->elem_size,
                   [AT_NAME_RESULT_SIZE] = at_problem_elem_size(problem, AT_DESTINATION)}};

    at_point_move(&point, config);
    for (size_t i = 0; i < family->rule_count; i++) {
        const struct at_rule *rule = &family->rules[i];
        bool holds = true;
        enum at_status status = rule->inherent ? rule_holds(rule, &point, &holds, err) : AT_OK;

        if (status != AT_OK)
            return status;
        if (!holds)
            return at_fail(err, AT_USAGE, "the constraint %s of family %s does not hold",
                           at_expr_text(rule->expr), family->name);
    }
    return AT_OK;
}

/* Do the rules hold from this one on? The bounds of the launch are left to launch_fits. */
static bool rules_hold(const struct at_point *point, size_t first)
{
    const struct at_family *family = point->family;

    for (size_t i = first; i < family->adapting_count; i++) {
        bool holds;

        if (rule_holds(family->adapting[i], point, &holds, NULL) != AT_OK || !holds)
            return false;
    }
    return true;
}

/* Is the launch within its bounds? */
static bool launch_fits(const struct at_point *point, const struct at_launch *launch)
{
    for (int i = 0; i < AT_LAUNCH_FIELDS; i++)
        if (point->family->launch[i] &&
            !field_fits(point, (enum at_launch_field)i, launch->field[i]))
            return false;
    return launch->field[AT_BLOCK_X] * launch->field[AT_BLOCK_Y] * launch->field[AT_BLOCK_Z] <=
           point->device->max_threads_per_block;
}

bool at_config_adapt(struct at_config *config, struct at_point *point, struct at_launch *launch)
{
    size_t next = 0;

    if (!follow_problem(config, point, &next))
        return false;
    at_point_move(point, config);
    return rules_hold(point, next) && launch_at(point, launch, NULL) == AT_OK &&
           launch_fits(point, launch);
}

/* ---- the space ---- */

/* Give up on a space whose constraints apply too late to be enumerated in reasonable time. The
 * largest published transpose space, of KTT with every size, needs a hundredth of this. */
enum { VISITS_MAX = 50 * 1000 * 1000 };

struct walk {
    struct at_point point;
    size_t first_rule[AT_PARAMS_MAX + 2]; /* [n]: the first rule that needs n parameters */
    struct at_space *space;
    size_t capacity, max_configs;
    int64_t visits;
    struct at_error *err;
};

static enum at_status add_config(struct walk *walk)
{
    const struct at_family *family = walk->point.family;
    struct at_space *space = walk->space;
    struct at_config config = {.family = family};

    if (space->count == walk->max_configs)
        return at_fail(walk->err, AT_USAGE,
                       "%s: more than %zu legal configs; remove values or add constraints",
                       family->path, walk->max_configs);
    for (size_t i = 0; i < family->param_count; i++)
        config.values[i] = (int32_t)walk->point.values[AT_NAME_PARAM_FIRST + i];
    AT_PUSH(space->configs, space->count, walk->capacity, config);
    return AT_OK;
}

/* Visit all points with the current values of the first `depth` parameters, unless a rule fails. */
static enum at_status visit(struct walk *walk, size_t depth)
{
    const struct at_family *family = walk->point.family;
    const struct at_param *param;
    enum at_status status = AT_OK;

    if (++walk->visits > VISITS_MAX)
        return at_fail(walk->err, AT_USAGE,
                       "%s: too many points to go through; put the parameters that constraints "
                       "share next to each other, or remove values",
                       family->path);
    for (size_t i = walk->first_rule[depth]; i < walk->first_rule[depth + 1]; i++) {
        bool holds;

        status = rule_holds(&family->rules[i], &walk->point, &holds, walk->err);
        if (status != AT_OK || !holds)
            return status;
    }
    if (depth == family->param_count)
        return add_config(walk);
    param = &family->params[depth];
    for (size_t i = 0; status == AT_OK && i < param->value_count; i++) {
        walk->point.values[AT_NAME_PARAM_FIRST + depth] = param->values[i];
        status = visit(walk, depth + 1);
    }
    return status;
}

static void find_first_rules(struct walk *walk)
{
    const struct at_family *family = walk->point.family;
    size_t rule = 0;

    for (size_t depth = 0; depth <= family->param_count; depth++) {
        walk->first_rule[depth] = rule;
        while (rule < family->rule_count && family->rules[rule].params_needed == depth)
            rule++;
    }
    walk->first_rule[family->param_count + 1] = rule;
}

/* Count all points of a family, up to AT_RAW_MAX. */
static int64_t count_raw(const struct at_family *family)
{
    int64_t raw = 1;

    for (size_t i = 0; i < family->param_count; i++)
        if (__builtin_mul_overflow(raw, (int64_t)family->params[i].value_count, &raw) ||
            raw > AT_RAW_MAX)
            return AT_RAW_MAX;
    return raw;
}

enum at_status at_space_build(struct at_space *space, struct at_family *const *families,
                              size_t family_count, const struct at_problem *problem,
                              const struct at_device_info *device, size_t max_configs,
                              struct at_error *err)
{
    struct at_space built = {0};
    struct walk walk = {.space = &built, .max_configs = max_configs, .err = err};
    enum at_status status = AT_OK;

    for (size_t i = 0; i < family_count && status == AT_OK; i++) {
        built.raw = at_min(built.raw + count_raw(families[i]), AT_RAW_MAX);
        walk.point = at_point_make(families[i], problem, device);
        walk.visits = 0;
        find_first_rules(&walk);
        status = visit(&walk, 0);
    }
    if (status == AT_OK)
        *space = built;
    else
        at_space_clear(&built);
    return status;
}

void at_space_clear(struct at_space *space)
{
    at_free(space->configs);
    *space = (struct at_space){0};
}

/* Fail with the reason why the first family's default is not legal. */
static enum at_status fail_without_default(struct at_family *const *families, size_t family_count,
                                           const struct at_problem *problem,
                                           const struct at_device_info *device,
                                           struct at_error *err)
{
    static const char message[] = "no family's default config is legal for this problem";
    struct at_config usual;
    char *refusal;

    if (family_count == 0)
        return at_fail(err, AT_FAILED, "%s", message);
    usual = at_family_default(families[0]);
    refusal = at_format("%s; %s", message, families[0]->name);
    (void)at_config_require(&usual, problem, device, refusal, err);
    at_free(refusal);
    return AT_FAILED;
}

/* Take the next value of the last parameter that yields, of the first `count`; if it has none,
 * begin anew and go on to the one before. Those behind begin anew too. False: there is none. */
static bool yield_default(struct at_config *config, size_t count)
{
    for (size_t i = config->family->param_count; i-- > 0;) {
        const struct at_param *param = &config->family->params[i];
        size_t next = at_param_level(param, config->values[i]) + 1;

        if (!param->yields)
            continue;
        if (i >= count)
            next = param->value_count;
        config->values[i] = (int32_t)param->values[next < param->value_count ? next : 0];
        if (next < param->value_count)
            return true;
    }
    return false;
}

/* Find the family's default for a problem. A broken rule stays broken until one of the parameters
 * that it needs has another value: there can be thousands of configs between. */
static enum at_status find_default(struct at_config *config, const struct at_family *family,
                                   const struct at_problem *problem,
                                   const struct at_device_info *device, bool *legal,
                                   struct at_error *err)
{
    struct at_point point = at_point_make(family, problem, device);
    const struct at_rule *broken;
    enum at_status status;

    *config = at_family_default(family);
    do {
        at_point_move(&point, config);
        status = find_broken(&point, &broken, err);
    } while (status == AT_OK && broken && yield_default(config, broken->params_needed));
    *legal = status == AT_OK && !broken;
    return status;
}

enum at_status at_space_default(struct at_config *config, struct at_family *const *families,
                                size_t family_count, const struct at_problem *problem,
                                const struct at_device_info *device, struct at_error *err)
{
    const struct at_family *best = NULL;
    struct at_config found;
    enum at_status status = AT_OK;

    for (size_t i = 0; i < family_count && status == AT_OK; i++) {
        struct at_config usual;
        bool legal;

        if (best && best->preference <= families[i]->preference)
            continue;
        status = find_default(&usual, families[i], problem, device, &legal, err);
        if (status == AT_OK && legal) {
            best = families[i];
            found = usual;
        }
    }
    if (status == AT_OK && !best)
        status = fail_without_default(families, family_count, problem, device, err);
    if (status == AT_OK)
        *config = found;
    return status;
}
