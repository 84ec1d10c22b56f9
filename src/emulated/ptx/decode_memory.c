/* SPDX-License-Identifier: Apache-2.0 */
/* ld, st, atom and red. */
#include "base/memory.h"
#include "emulated/machine/ops.h"
#include "emulated/ptx/reader.h"

#include <ctype.h>
#include <stdio.h>

/* Asynchronous copies, cp.async and cp.async.bulk, and mbarriers (PTX ISA, "Data Movement and
 * Conversion Instructions: Asynchronous copy", "mbarrier"). */

/* The opcode without its first word, the type, the state space, and the order and scope of its
 * effects on memory, which a block that runs alone keeps in the strictest way. */
static void shorten(const struct at_ptx_opcode *opcode, char name[AT_PTX_OPCODE_MAX])
{
    static const char *const left_out[] = {"b64",     "shared",  "shared::cta", "relaxed",
                                           "acquire", "release", "cta",         "cluster"};
    char *end = name;

    *end = '\0';
    for (int i = 1; i < opcode->part_count; i++)
        if (AT_PTX_INDEX(left_out, opcode->part[i]) < 0)
            end += sprintf(end, "%s%s", end > name ? "." : "", opcode->part[i]);
}

/* Skip ", policy" after an instruction with .L2::cache_hint. */
static bool skip_policy(struct at_ptx_reader *reader, bool hint)
{
    struct at_emu_op ignored = {0};

    return !hint || (at_ptx_expect(reader, ",") && at_ptx_read_source(reader, &ignored, 8));
}

/* cp.async.{ca,cg}.shared.global [to], [from], 16{, bytes of the source}. */
static bool decode_copy(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    bool all_levels = strcmp(opcode->part[2], "ca") == 0, hint = false;
    uint8_t from_bytes;
    uint64_t size;
    uint32_t row;

    for (int i = 5; i < opcode->part_count; i++) {
        hint |= strcmp(opcode->part[i], "L2::cache_hint") == 0;
        if (strncmp(opcode->part[i], "L2::", 4) != 0)
            return at_ptx_unknown(reader, opcode);
    }
    if (!at_ptx_read_address(reader, AT_EMU_SHARED, &op->row[0], &op->address_bytes,
                             &op->immediate) ||
        !at_ptx_expect(reader, ",") ||
        !at_ptx_read_address(reader, AT_EMU_GLOBAL, &op->row[1], &from_bytes, &op->source_offset) ||
        !at_ptx_expect(reader, ",") || !at_ptx_expect_integer(reader, 16, &size))
        return false;
    /* PTX ISA, cp.async: 4, 8 or 16 bytes; past L1 (.cg) only 16. */
    if (from_bytes != 8 || !(size == 16 || (all_levels && (size == 4 || size == 8))))
        return at_ptx_fail(reader, "cp.async with this size or source address");
    op->run = at_emu_run_copy;
    op->past_l1 = !all_levels;
    op->undefined = AT_EMU_USES;
    op->row_count = 2;
    op->unit_bytes = (uint8_t)size;
    op->units = 1;
    if (at_ptx_at(reader, ",") && !hint) {
        at_ptx_next(reader);
        return at_ptx_read_source(reader, op, 4);
    }
    if (!at_ptx_constant_row(reader, 4, size, &row))
        return false;
    at_ptx_add_row(op, row, false);
    return skip_policy(reader, hint);
}

/* The known forms of cp.async.bulk [to], [from], bytes{, [mbarrier]}{, policy}. */
static const struct {
    const char *name;
    bool store;
} bulk_copies[] = {
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", false},
    {"cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes", false},
    {"cp.async.bulk.global.shared::cta.bulk_group", true},
};

static bool decode_bulk(struct at_ptx_reader *reader, struct at_emu_op *op, bool store, bool hint)
{
    uint32_t to, from;

    op->run = at_emu_run_bulk;
    op->store = store;
    op->undefined = AT_EMU_USES;
    if (!at_ptx_read_address(reader, store ? AT_EMU_GLOBAL : AT_EMU_SHARED, &to, &op->to_bytes,
                             &op->to_offset) ||
        !at_ptx_expect(reader, ",") ||
        !at_ptx_read_address(reader, store ? AT_EMU_SHARED : AT_EMU_GLOBAL, &from, &op->from_bytes,
                             &op->source_offset) ||
        !at_ptx_expect(reader, ","))
        return false;
    if ((store ? op->to_bytes : op->from_bytes) != 8)
        return at_ptx_fail(reader, "a global address must be in a 64-bit register");
    at_ptx_add_row(op, to, false);
    at_ptx_add_row(op, from, false);
    if (!at_ptx_read_source(reader, op, 4))
        return false;
    if (!store) {
        if (!at_ptx_expect(reader, ",") || !at_ptx_read_address(reader, AT_EMU_SHARED, &op->address,
                                                                &op->address_bytes, &op->immediate))
            return false;
        at_ptx_add_row(op, op->address, false);
    }
    return skip_policy(reader, hint);
}

/* The end of a group of copies, and waits for groups. */
static const struct {
    const char *name;
    at_emu_run_op *run;
    bool number; /* it has an operand; else all groups */
    bool bulk;
} groups[] = {
    {"cp.async.commit_group", at_emu_run_commit, false, false},
    {"cp.async.wait_all", at_emu_run_copy_wait, false, false},
    {"cp.async.wait_group", at_emu_run_copy_wait, true, false},
    {"cp.async.bulk.commit_group", at_emu_run_commit, false, true},
    {"cp.async.bulk.wait_group", at_emu_run_bulk_wait, true, true},
    {"cp.async.bulk.wait_group.read", at_emu_run_bulk_wait, true, true},
};

bool at_ptx_decode_copy(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    static const char hinted[] = ".L2::cache_hint";
    const size_t size = strlen(opcode->text), hint_size = sizeof hinted - 1;
    bool single =
        opcode->part_count >= 5 && strcmp(opcode->part[1], "async") == 0 &&
        (strcmp(opcode->part[2], "ca") == 0 || strcmp(opcode->part[2], "cg") == 0) &&
        (strcmp(opcode->part[3], "shared") == 0 || strcmp(opcode->part[3], "shared::cta") == 0) &&
        strcmp(opcode->part[4], "global") == 0;
    int i = AT_PTX_INDEX(groups, opcode->text);
    bool hint = size > hint_size && strcmp(opcode->text + size - hint_size, hinted) == 0;
    int bulk = AT_PTX_INDEX_OF(bulk_copies, opcode->text, size - hint * hint_size);

    if (single)
        return decode_copy(reader, op, opcode);
    if (opcode->part_count > 2 && strcmp(opcode->part[2], "mbarrier") == 0)
        return at_ptx_decode_mbarrier(reader, op, opcode);
    if (bulk >= 0)
        return decode_bulk(reader, op, bulk_copies[bulk].store, hint);
    if (i < 0)
        return at_ptx_unknown(reader, opcode);
    op->run = groups[i].run;
    op->store = groups[i].bulk;
    op->immediate = -1;
    return !groups[i].number || at_ptx_read_integer(reader, &op->immediate);
}

/* mbarrier.init [a], count; mbarrier.inval [a]; mbarrier.expect_tx [a], bytes;
 * mbarrier.arrive{.expect_tx} state, [a]{, count or bytes};
 * mbarrier.{try_wait,test_wait}{.parity} p, [a], state or parity{, time limit};
 * cp.async.mbarrier.arrive{.noinc} [a]. */
static const struct {
    const char *name; /* the opcode, as it is shortened above */
    at_emu_run_op *run;
    int8_t result;    /* bytes of the result's register; -1: none */
    int8_t operand;   /* bytes of the operand after the address; 0: none */
    int8_t otherwise; /* its default; -1: it must be given */
    bool limit;       /* a time limit may follow: a wait ends in time anyway */
    uint8_t flags;    /* at_emu_of_mbarrier */
} mbarriers[] = {
    {"init", at_emu_run_mbarrier_init, -1, 4, -1, false, 0},
    {"inval", at_emu_run_mbarrier_end, -1, 0, -1, false, 0},
    {"async.mbarrier.arrive", at_emu_run_mbarrier_copies, -1, 0, -1, false, 0},
    {"async.mbarrier.arrive.noinc", at_emu_run_mbarrier_copies, -1, 0, -1, false, AT_EMU_ARRIVES},
    {"expect_tx", at_emu_run_mbarrier_change, -1, 4, -1, false, AT_EMU_IN_BYTES},
    {"arrive", at_emu_run_mbarrier_change, 8, 4, 1, false, 0},
    {"arrive.expect_tx", at_emu_run_mbarrier_change, 8, 4, -1, false,
     AT_EMU_IN_BYTES | AT_EMU_ARRIVES},
    {"try_wait", at_emu_run_mbarrier_wait, AT_EMU_PREDICATE, 8, -1, true, 0},
    {"try_wait.parity", at_emu_run_mbarrier_wait, AT_EMU_PREDICATE, 4, -1, true, AT_EMU_PARITY},
    {"test_wait", at_emu_run_mbarrier_wait, AT_EMU_PREDICATE, 8, -1, false, 0},
    {"test_wait.parity", at_emu_run_mbarrier_wait, AT_EMU_PREDICATE, 4, -1, false, AT_EMU_PARITY},
};

bool at_ptx_decode_mbarrier(struct at_ptx_reader *reader, struct at_emu_op *op,
                            const struct at_ptx_opcode *opcode)
{
    char name[AT_PTX_OPCODE_MAX];
    uint32_t row;
    int k;

    shorten(opcode, name);
    k = AT_PTX_INDEX(mbarriers, name);
    if (k < 0)
        return at_ptx_unknown(reader, opcode);
    op->run = mbarriers[k].run;
    op->mbarrier = mbarriers[k].flags;
    op->undefined = AT_EMU_USES;
    if (mbarriers[k].result >= 0 &&
        (!at_ptx_read_result(reader, op, mbarriers[k].result) || !at_ptx_expect(reader, ",")))
        return false;
    if (!at_ptx_read_address(reader, AT_EMU_SHARED, &op->address, &op->address_bytes,
                             &op->immediate))
        return false;
    at_ptx_add_row(op, op->address, false);
    if (mbarriers[k].operand == 0)
        return true;
    if (mbarriers[k].otherwise >= 0 && !at_ptx_at(reader, ",")) {
        if (!at_ptx_constant_row(reader, mbarriers[k].operand, (uint64_t)mbarriers[k].otherwise,
                                 &row))
            return false;
        at_ptx_add_row(op, row, false);
        return true;
    }
    if (!at_ptx_expect(reader, ",") || !at_ptx_read_source(reader, op, mbarriers[k].operand))
        return false;
    return !mbarriers[k].limit || !at_ptx_take(reader, ",") || at_ptx_read_source(reader, op, 4);
}

static const struct {
    const char *name;
    enum at_emu_space space;
} spaces[] = {
    {"global", AT_EMU_GLOBAL}, {"shared", AT_EMU_SHARED},     {"shared::cta", AT_EMU_SHARED},
    {"local", AT_EMU_LOCAL},   {"param", AT_EMU_PARAM},       {"param::entry", AT_EMU_PARAM},
    {"const", AT_EMU_CONST},   {"param::func", AT_EMU_PARAM},
};

/* Qualifiers for caches and for the order in which other threads see accesses (PTX ISA, "Cache
 * Operators", "Cache Eviction Priority Hints", "Memory Consistency Model"). They change nothing
 * here: memory has no caches, and accesses happen at once. */
static const char *const qualifiers[] = {"weak",
                                         "relaxed",
                                         "acquire",
                                         "release",
                                         "acq_rel",
                                         "volatile",
                                         "cta",
                                         "cluster",
                                         "gpu",
                                         "sys",
                                         "ca",
                                         "cg",
                                         "cs",
                                         "lu",
                                         "cv",
                                         "wb",
                                         "wt",
                                         "nc",
                                         "mmio",
                                         "noftz",
                                         "unified",
                                         "L1::evict_normal",
                                         "L1::evict_unchanged",
                                         "L1::evict_first",
                                         "L1::evict_last",
                                         "L1::no_allocate",
                                         "L2::evict_normal",
                                         "L2::evict_first",
                                         "L2::evict_last",
                                         "L2::64B",
                                         "L2::128B",
                                         "L2::256B"};

/* Those of strong accesses (PTX ISA, "Memory Consistency Model: Strong and Weak Operations"), and
 * .cv, which "fetches again". */
static const char *const strong[] = {"relaxed",  "acquire", "release", "acq_rel",
                                     "volatile", "mmio",    "cv"};

static bool read_space(const char *part, struct at_emu_op *op)
{
    int i = AT_PTX_INDEX(spaces, part);

    if (i >= 0)
        op->space = (uint8_t)spaces[i].space;
    return i >= 0;
}

/* The parts of an opcode between its name and its type. */
struct access_parts {
    bool hint;        /* .L2::cache_hint: one more operand, a policy */
    const char *rest; /* the one unknown part; NULL: none */
    bool too_many;
};

static struct access_parts read_parts(const struct at_ptx_opcode *opcode, struct at_emu_op *op)
{
    struct access_parts parts = {0};

    op->units = 1;
    for (int i = 1; i < opcode->part_count - 1; i++) {
        const char *part = opcode->part[i];

        if (AT_PTX_INDEX(strong, part) >= 0)
            op->order |= AT_EMU_STRONG;
        if (strcmp(part, "release") == 0 || strcmp(part, "acq_rel") == 0)
            op->order |= AT_EMU_RELEASES;
        if (strcmp(part, "cta") == 0)
            op->order |= AT_EMU_OF_BLOCK;
        if (strcmp(part, "nc") == 0)
            op->order |= AT_EMU_READ_ONLY_LOAD;
        if (AT_PTX_INDEX(qualifiers, part) >= 0 || read_space(part, op))
            continue;
        if (strcmp(part, "L2::cache_hint") == 0) {
            parts.hint = true;
        } else if (strcmp(part, "v2") == 0 || strcmp(part, "v4") == 0 || strcmp(part, "v8") == 0) {
            op->units = (uint8_t)(part[1] - '0');
        } else {
            parts.too_many |= parts.rest != NULL;
            parts.rest = part;
        }
    }
    return parts;
}

/* Read the type, which is the last part. */
static bool read_unit(const struct at_ptx_opcode *opcode, struct at_emu_op *op)
{
    const char *type = opcode->part[opcode->part_count - 1];
    int bytes = opcode->part_count > 1 ? at_ptx_type_bytes(type) : -1;

    bool half = strstr(type, "f16") != NULL; /* loads and stores have them as b16 */

    if (bytes <= 0 || (half && !op->atomic))
        return false;
    op->unit_bytes = (uint8_t)bytes;
    op->sign_extended = type[0] == 's';
    /* PTX ISA, "Vectors": at most 128 bits. */
    return bytes * op->units <= 16;
}

/* Read one register, or a vector of registers in braces. All have the same width, at least the
 * type's (PTX ISA, "Operand Size Exceeding Instruction-Type Size"). "_" skips an element. */
static bool read_elements(struct at_ptx_reader *reader, struct at_emu_op *op, bool results)
{
    bool vector = op->units > 1;
    int natural = op->unit_bytes < 2 ? 2 : op->unit_bytes;

    if (vector && !at_ptx_expect(reader, "{"))
        return false;
    for (int k = 0; k < op->units; k++) {
        int bytes = natural;

        if (k > 0 && !at_ptx_expect(reader, ","))
            return false;
        if (!results && reader->token.kind != AT_PTX_WORD) {
            if (!at_ptx_read_source(reader, op, natural))
                return false;
        } else if (!at_ptx_read_wide(reader, op, natural, results, &bytes)) {
            return false;
        } else if (op->row[op->row_count - 1] == AT_EMU_SINK_ROW) {
            continue; /* the sink has any width */
        }
        if (op->value_bytes && op->value_bytes != bytes)
            return at_ptx_fail(reader, "elements in registers of different widths");
        op->value_bytes = (uint8_t)bytes;
    }
    if (!op->value_bytes)
        op->value_bytes = (uint8_t)natural;
    return !vector || at_ptx_expect(reader, "}");
}

/* Is the parameter at the address one of a function: in the frame? The next token is "[". */
static bool is_in_frame(struct at_ptx_reader *reader)
{
    struct at_ptx_lexer ahead = reader->lexer;
    struct at_ptx_token token = at_ptx_lex(&ahead);
    const struct at_ptx_name name = {token.text, token.size};

    for (size_t i = reader->variable_count; i-- > reader->base.variables;)
        if (at_ptx_same(&reader->variables[i].name, &name))
            return reader->variables[i].space == AT_EMU_FRAME;
    return reader->call_depth > 0;
}

static bool read_access_address(struct at_ptx_reader *reader, struct at_emu_op *op)
{
    if (op->space == AT_EMU_PARAM && is_in_frame(reader))
        op->space = AT_EMU_FRAME;
    if (!at_ptx_read_address(reader, (enum at_emu_space)op->space, &op->address, &op->address_bytes,
                             &op->immediate))
        return false;
    at_ptx_add_row(op, op->address, false);
    return true;
}

/* All threads share the parameters, so a load of them by name is checked now. */
static bool check_param(struct at_ptx_reader *reader, const struct at_emu_op *op)
{
    int64_t bytes = (int64_t)op->unit_bytes * op->units;

    if (op->address != AT_EMU_TRUE_ROW) /* by a register */
        return true;
    if (op->immediate < 0 || op->immediate > (int64_t)reader->kernel->param_bytes - bytes)
        return at_ptx_fail(reader, "the load reads beyond the parameters");
    return true;
}

bool at_ptx_decode_load(struct at_ptx_reader *reader, struct at_emu_op *op,
                        const struct at_ptx_opcode *opcode)
{
    struct access_parts parts = read_parts(opcode, op);

    if (parts.rest || !read_unit(opcode, op))
        return at_ptx_unknown(reader, opcode);
    op->undefined = AT_EMU_LOADS;
    op->address = AT_EMU_TRUE_ROW;
    if (!read_elements(reader, op, true) || !at_ptx_expect(reader, ","))
        return false;
    if (!read_access_address(reader, op) || !skip_policy(reader, parts.hint))
        return false;
    op->run = op->space == AT_EMU_PARAM ? at_emu_run_load_param : at_emu_run_load;
    return op->space != AT_EMU_PARAM || check_param(reader, op);
}

bool at_ptx_decode_store(struct at_ptx_reader *reader, struct at_emu_op *op,
                         const struct at_ptx_opcode *opcode)
{
    struct access_parts parts = read_parts(opcode, op);

    if (parts.rest || !read_unit(opcode, op) || op->space == AT_EMU_CONST)
        return at_ptx_unknown(reader, opcode);
    op->run = at_emu_run_store;
    op->store = true;
    op->undefined =
        op->space == AT_EMU_SHARED || op->space == AT_EMU_LOCAL ? AT_EMU_STORES : AT_EMU_USES;
    if (!read_access_address(reader, op))
        return false;
    if (op->space == AT_EMU_PARAM)
        return at_ptx_unknown(reader, opcode);
    return at_ptx_expect(reader, ",") && read_elements(reader, op, false) &&
           skip_policy(reader, parts.hint);
}

/* A register, or as many as the vector has, in braces. */
static bool read_rows(struct at_ptx_reader *reader, const struct at_emu_op *op, bool result,
                      uint32_t rows[AT_EMU_UNITS_MAX])
{
    if (op->units > 1 && !at_ptx_expect(reader, "{"))
        return false;
    for (int k = 0; k < op->units; k++) {
        struct at_emu_op one = {0};

        if (k > 0 && !at_ptx_expect(reader, ","))
            return false;
        if (!(result ? at_ptx_read_result(reader, &one, op->unit_bytes)
                     : at_ptx_read_source(reader, &one, op->unit_bytes)))
            return false;
        rows[k] = one.row[0];
    }
    return op->units == 1 || at_ptx_expect(reader, "}");
}

/* A vector is an operation for each element (PTX ISA, "atom": each element is atomic by itself).
 * The first one has the count of elements, to be one request. */
static void add_elements(struct at_ptx_reader *reader, struct at_emu_op *op,
                         const uint32_t results[AT_EMU_UNITS_MAX],
                         const uint32_t sources[AT_EMU_UNITS_MAX])
{
    struct at_ptx_kernel *kernel = reader->kernel;
    struct at_emu_op last = *op;

    for (int k = 0; k < op->units; k++) {
        last = *op;
        last.units = k == 0 ? op->units : 0;
        last.immediate += k * op->unit_bytes;
        last.row[0] = results[k];
        last.row[2] = sources[k];
        last.text_bytes = (uint32_t)(reader->token.text - op->text);
        if (k + 1 < op->units)
            AT_PUSH(kernel->ops, kernel->op_count, kernel->op_capacity, last);
    }
    *op = last;
}

/* atom d, [a], b{, c}; red [a], b. */
bool at_ptx_decode_atomic(struct at_ptx_reader *reader, struct at_emu_op *op,
                          const struct at_ptx_opcode *opcode)
{
    struct access_parts parts = read_parts(opcode, op);
    bool reduction = strcmp(opcode->part[0], "red") == 0, compares;
    const struct at_emu_row *row;
    char name[2 * AT_PTX_OPCODE_MAX];
    uint32_t results[AT_EMU_UNITS_MAX], sources[AT_EMU_UNITS_MAX];

    op->atomic = true;
    op->order |= AT_EMU_STRONG;
    if (!parts.rest || parts.too_many || !read_unit(opcode, op) || op->space == AT_EMU_PARAM ||
        op->space == AT_EMU_LOCAL || op->space == AT_EMU_CONST)
        return at_ptx_unknown(reader, opcode);
    snprintf(name, sizeof name, "atom.%s.%s", parts.rest, opcode->part[opcode->part_count - 1]);
    compares = strcmp(parts.rest, "cas") == 0;
    row = at_ptx_find_row(name);
    if (!row || (reduction && (compares || strcmp(parts.rest, "exch") == 0)) ||
        (op->units > 1 && strcmp(parts.rest, "add") != 0))
        return at_ptx_unknown(reader, opcode);
    op->run = row->run;
    op->store = true;
    op->undefined = AT_EMU_USES;
    for (int k = 0; k < op->units; k++)
        results[k] = AT_EMU_SINK_ROW;
    if (!reduction && (!read_rows(reader, op, true, results) || !at_ptx_expect(reader, ",")))
        return false;
    at_ptx_add_row(op, results[0], true);
    if (!read_access_address(reader, op) || !at_ptx_expect(reader, ",") ||
        !read_rows(reader, op, false, sources))
        return false;
    at_ptx_add_row(op, sources[0], false);
    if (compares &&
        (!at_ptx_expect(reader, ",") || !at_ptx_read_source(reader, op, op->unit_bytes)))
        return false;
    if (!skip_policy(reader, parts.hint))
        return false;
    add_elements(reader, op, results, sources);
    return true;
}

/* prefetch and the like change caches only: the address is read, and no more. */
bool at_ptx_decode_prefetch(struct at_ptx_reader *reader, struct at_emu_op *op,
                            const struct at_ptx_opcode *opcode)
{
    struct access_parts parts = read_parts(opcode, op);
    uint64_t size;

    (void)parts;
    op->run = at_emu_run_nothing;
    return read_access_address(reader, op) &&
           (!at_ptx_take(reader, ",") || at_ptx_expect_integer(reader, 128, &size));
}

/* createpolicy.fractional policy{, fraction}, createpolicy.cvt policy, property, and
 * createpolicy.range policy, [a], bytes, bytes. No cache follows a policy here, so the operands are
 * read, and no more. A fraction may be decimal, which no other constant is. */
bool at_ptx_decode_policy(struct at_ptx_reader *reader, struct at_emu_op *op,
                          const struct at_ptx_opcode *opcode)
{
    static const char *const forms[] = {"fractional", "cvt", "range"};
    struct at_emu_op ignored = {.space = AT_EMU_GLOBAL};
    const int form = opcode->part_count > 1 ? AT_PTX_INDEX(forms, opcode->part[1]) : -1;

    if (form < 0 || strcmp(opcode->part[opcode->part_count - 1], "b64") != 0)
        return at_ptx_unknown(reader, opcode);
    op->run = at_emu_run_policy;
    if (!at_ptx_read_result(reader, op, 8))
        return false;
    if (form == 0 && !at_ptx_at(reader, ","))
        return true;
    if (!at_ptx_expect(reader, ","))
        return false;
    if (form == 1)
        return at_ptx_read_source(reader, &ignored, 8);
    if (form == 2)
        return read_access_address(reader, &ignored) && at_ptx_expect(reader, ",") &&
               at_ptx_read_source(reader, &ignored, 4) && at_ptx_expect(reader, ",") &&
               at_ptx_read_source(reader, &ignored, 4);
    if (reader->token.kind != AT_PTX_BAD || !isdigit((unsigned char)reader->token.text[0]))
        return at_ptx_read_source(reader, &ignored, 4);
    at_ptx_next(reader);
    return true;
}
