/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores: addresses, checks and data. Memory and host are both little-endian: the low
 * bytes of a register come first. */
#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"
#include "emulated/machine/races.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "as on a GPU");

/* A lane's marks from an address on. */
static uint8_t *local_marks(const struct at_emu_warp *warp, int lane, uint64_t address)
{
    size_t thread = warp->first_thread + (uint32_t)lane;

    return warp->block->local_written + thread * warp->block->kernel->local_bytes + address;
}

static void note_local_store(struct at_emu_warp *warp, uint32_t lanes, uint32_t bytes,
                             const uint64_t address[AT_WARP], uint32_t undefined)
{
    AT_EACH_OF (i, lanes)
        memset(local_marks(warp, i, address[i]), undefined & at_lane_bit[i] ? 0 : warp->block->turn,
               bytes);
}

/* The lanes that read no written byte. A single one is enough, because compilers copy the bytes
 * between the members of a structure with them. */
static uint32_t unwritten_local(const struct at_emu_warp *warp, uint32_t lanes, uint32_t bytes,
                                const uint64_t address[AT_WARP])
{
    uint32_t unwritten = 0;

    AT_EACH_OF (i, lanes)
        if (!memchr(local_marks(warp, i, address[i]), warp->block->turn, bytes))
            unwritten |= at_lane_bit[i];
    return unwritten;
}

/* ---- undefined values: see block.c ---- */

void at_emu_undefined_mark(struct at_emu_warp *warp, uint32_t row, uint32_t lanes,
                           uint32_t undefined, uint32_t origin)
{
    uint32_t *mask = &warp->undefined[row / AT_EMU_ROW_ALIGN];
    uint32_t before = *mask;

    if (row == AT_EMU_SINK_ROW)
        return;
    *mask = (before & ~lanes) | (undefined & lanes);
    if (undefined & lanes)
        warp->origin[row / AT_EMU_ROW_ALIGN] = origin;
    warp->undefined_rows += (*mask != 0);
    warp->undefined_rows -= (before != 0);
}

/* ---- addresses ---- */

void at_emu_access_addresses(const struct at_emu_warp *warp, uint32_t row, int register_bytes,
                             int64_t offset, uint64_t address[AT_WARP])
{
    if (register_bytes == 4)
        AT_EACH_LANE (i)
            address[i] = AT_EMU_ROW(u32, warp, row)[i] + (u32)offset;
    else
        AT_EACH_LANE (i)
            address[i] = AT_EMU_ROW(u64, warp, row)[i] + (u64)offset;
}

int at_emu_access_split(const struct at_emu_op *op, uint32_t lanes, uint64_t address[AT_WARP],
                        struct at_emu_part parts[AT_EMU_PARTS])
{
    static const struct {
        enum at_emu_space space;
        uint64_t start, size;
    } windows[] = {
        {AT_EMU_GLOBAL, 0, AT_EMU_SHARED_WINDOW},
        {AT_EMU_SHARED, AT_EMU_SHARED_WINDOW, AT_EMU_LOCAL_WINDOW - AT_EMU_SHARED_WINDOW},
        {AT_EMU_LOCAL, AT_EMU_LOCAL_WINDOW, AT_EMU_PARAM_WINDOW - AT_EMU_LOCAL_WINDOW},
        {AT_EMU_PARAM, AT_EMU_PARAM_WINDOW, 0 - AT_EMU_PARAM_WINDOW},
    };
    int count = 0;

    if (op->space != AT_EMU_GENERIC) {
        parts[0] = (struct at_emu_part){(enum at_emu_space)op->space, lanes};
        return 1;
    }
    for (int k = 0; k < AT_EMU_PARTS && lanes; k++) {
        uint32_t within = 0;

        AT_EACH_OF (i, lanes)
            if (address[i] - windows[k].start < windows[k].size) {
                within |= at_lane_bit[i];
                address[i] -= windows[k].start;
            }
        if (within)
            parts[count++] = (struct at_emu_part){windows[k].space, within};
        lanes &= ~within;
    }
    return count;
}

static bool aligned(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                    uint32_t bytes, const uint64_t address[AT_WARP])
{
    AT_EACH_OF (i, lanes)
        if (address[i] & (bytes - 1)) {
            at_emu_raise(warp, op, AT_EMU_MISALIGNED, i, address[i], "%u bytes", bytes);
            return false;
        }
    return true;
}

static bool resolve_global(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                           uint32_t bytes, const uint64_t address[AT_WARP], char *host[AT_WARP])
{
    const struct at_emu_allocation *in = warp->near;

    AT_EACH_OF (i, lanes) {
        if (!in || address[i] - in->address >= in->size)
            in = at_emu_memory_find(warp->block->memory, address[i]);
        /* The size of an allocation may be no multiple of the access's: check the end too. */
        if (!in || in->size - (address[i] - in->address) < bytes) {
            at_emu_raise(warp, op, AT_EMU_GLOBAL_BOUNDS, i, address[i], "%u bytes", bytes);
            return false;
        }
        host[i] = in->bytes + (address[i] - in->address);
    }
    warp->near = in;
    return true;
}

/* Resolve addresses in shared or local memory: lane i's `size` bytes begin at start + i * pitch. */
static bool resolve_window(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                           enum at_emu_fault_kind kind, char *start, uint32_t size, uint32_t pitch,
                           uint32_t bytes, const uint64_t address[AT_WARP], char *host[AT_WARP])
{
    AT_EACH_OF (i, lanes) {
        if (size < bytes || address[i] > size - bytes) {
            at_emu_raise(warp, op, kind, i, address[i], "%u bytes of %u", bytes, size);
            return false;
        }
        host[i] = start + (size_t)i * pitch + address[i];
    }
    return true;
}

bool at_emu_access_resolve(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                           enum at_emu_space space, uint32_t bytes, const uint64_t address[AT_WARP],
                           char *host[AT_WARP])
{
    struct at_emu_block *block = warp->block;
    uint32_t local = block->kernel->local_bytes, frame = block->kernel->frame_bytes;

    at_emu_spend(block);
    warp->last = op;
    warp->last_lanes = lanes;
    warp->last_waiting = warp->held | warp->gathered;
    if (!aligned(op, warp, lanes, bytes, address))
        return false;
    switch (space) {
    case AT_EMU_SHARED:
        return resolve_window(op, warp, lanes, AT_EMU_SHARED_BOUNDS, block->shared.bytes,
                              block->shared.size, 0, bytes, address, host);
    case AT_EMU_LOCAL:
        return resolve_window(op, warp, lanes, AT_EMU_LOCAL_BOUNDS,
                              block->local + (size_t)warp->first_thread * local, local, local,
                              bytes, address, host);
    case AT_EMU_FRAME:
        return resolve_window(op, warp, lanes, AT_EMU_PARAM_BOUNDS,
                              block->frames + (size_t)warp->first_thread * frame, frame, frame,
                              bytes, address, host);
    case AT_EMU_PARAM:
        return resolve_window(op, warp, lanes, AT_EMU_PARAM_BOUNDS, block->params,
                              block->kernel->param_bytes, 0, bytes, address, host);
    default:
        return resolve_global(op, warp, lanes, bytes, address, host);
    }
}

bool at_emu_access_poll(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        uint32_t bytes, const uint64_t address[AT_WARP], char *const host[AT_WARP])
{
    int lane = __builtin_ctz(lanes);
    struct at_emu_poll poll = {.op = op, .address = address[lane]}, last = warp->polled;

    memcpy(&poll.value, host[lane], bytes < sizeof poll.value ? bytes : sizeof poll.value);
    warp->block->polls++;
    warp->polled = poll;
    return poll.op != last.op || poll.address != last.address || poll.value != last.value;
}

void at_emu_access_report(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                          enum at_emu_space space, bool store, uint32_t bytes,
                          const uint64_t address[AT_WARP], const uint64_t *fills)
{
    const struct at_emu_observer *observer = warp->block->observer;
    struct at_emu_access access;

    void (*report)(void *, uint64_t, const struct at_emu_access *);

    if (!observer || space >= AT_EMU_PARAM)
        return;
    report = space == AT_EMU_LOCAL ? observer->local : observer->access;
    if (!report)
        return;
    access = (struct at_emu_access){
        .instruction = (size_t)(op - warp->block->kernel->ops),
        .warp = warp->first_thread / AT_WARP,
        .shared = space == AT_EMU_SHARED,
        .store = store,
        .atomic = op->atomic,
        .bytes = (int)bytes,
        .lanes = lanes,
        .fills = fills,
    };
    memcpy(access.address, address, sizeof access.address);
    report(observer->context, warp->block->index, &access);
}

/* An aligned element moves whole, even if a thread of another block accesses it at the same time. A
 * signed element is extended to the width of the register by its sign, an unsigned one by zeros
 * (PTX ISA, "Operand Size Exceeding Instruction-Type Size"). */
#define WIDTHS(memory_bytes, register_bytes, sign)                                                 \
    ((memory_bytes) << 8 | (register_bytes) << 1 | ((sign) && (memory_bytes) < (register_bytes)))
#define LOADS(X)                                                                                   \
    X(u8, u16)                                                                                     \
    X(s8, u16)                                                                                     \
    X(u8, u32)                                                                                     \
    X(s8, u32)                                                                                     \
    X(u8, u64)                                                                                     \
    X(s8, u64)                                                                                     \
    X(u16, u16)                                                                                    \
    X(u16, u32)                                                                                    \
    X(s16, u32)                                                                                    \
    X(u16, u64)                                                                                    \
    X(s16, u64)                                                                                    \
    X(u32, u32)                                                                                    \
    X(u32, u64)                                                                                    \
    X(s32, u64)                                                                                    \
    X(u64, u64)
#define LOAD(MEMORY, REGISTER)                                                                     \
    case WIDTHS(sizeof(MEMORY), sizeof(REGISTER), (MEMORY)-1 < (MEMORY)1):                         \
        AT_EACH_OF (i, lanes) {                                                                    \
            MEMORY value;                                                                          \
                                                                                                   \
            memcpy(&value, host[i] + offset, sizeof value);                                        \
            AT_EMU_ROW(REGISTER, warp, row)[i] = (REGISTER)value;                                  \
        }                                                                                          \
        break;

static void load_unit(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                      uint32_t row, size_t offset, char *const host[AT_WARP])
{
    switch (WIDTHS(op->unit_bytes, op->value_bytes, op->sign_extended)) {
        LOADS(LOAD)
    }
}

#define LOAD_SAME(MEMORY, REGISTER)                                                                \
    case WIDTHS(sizeof(MEMORY), sizeof(REGISTER), (MEMORY)-1 < (MEMORY)1): {                       \
        MEMORY value;                                                                              \
        REGISTER out[AT_WARP];                                                                     \
                                                                                                   \
        memcpy(&value, from, sizeof value);                                                        \
        AT_EACH_LANE (i)                                                                           \
            out[i] = (REGISTER)value;                                                              \
        at_keep_##REGISTER(AT_EMU_ROW(REGISTER, warp, row), out, lanes);                           \
        break;                                                                                     \
    }

/* All lanes load the same. */
static void load_same(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                      uint32_t row, const char *from)
{
    switch (WIDTHS(op->unit_bytes, op->value_bytes, op->sign_extended)) {
        LOADS(LOAD_SAME)
    }
}

/* The lanes of an access whose addresses are in one space. */
typedef void part_fn(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                     enum at_emu_space space, const uint64_t address[AT_WARP]);

/* Run an access, space by space. It is inline so that each part is called directly. */
static inline void run_parts(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                             part_fn *run_part)
{
    uint64_t address[AT_WARP];
    struct at_emu_part parts[AT_EMU_PARTS];
    int count;

    at_emu_access_addresses(warp, op->address, op->address_bytes, op->immediate, address);
    count = at_emu_access_split(op, lanes, address, parts);
    for (int k = 0; k < count && !warp->block->fault.kind; k++)
        run_part(op, warp, parts[k].lanes, parts[k].space, address);
}

static void load_part(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                      enum at_emu_space space, const uint64_t address[AT_WARP])
{
    uint32_t bytes = (uint32_t)op->unit_bytes * op->units, unwritten = 0;
    char *host[AT_WARP];

    if (!at_emu_access_resolve(op, warp, lanes, space, bytes, address, host))
        return;
    if (!(op->order & AT_EMU_STRONG) || at_emu_access_poll(op, warp, lanes, bytes, address, host))
        at_emu_access_report(op, warp, lanes, space, false, bytes, address, NULL);
    if (op->order & AT_EMU_STRONG)
        at_emu_order_acquire(warp, lanes);
    if (space == AT_EMU_GLOBAL && warp->block->races &&
        !at_emu_races_note(op, warp, lanes, false, bytes, address))
        return;
    if (space == AT_EMU_SHARED &&
        !at_emu_shared_note(op, warp, lanes, false, false, bytes, address, 0, &unwritten))
        return;
    if (space == AT_EMU_LOCAL)
        unwritten = unwritten_local(warp, lanes, bytes, address);
    for (uint32_t k = 0; k < op->units; k++) {
        uint32_t own = unwritten;

        load_unit(op, warp, lanes, op->row[k], k * op->unit_bytes, host);
        if (unwritten && space == AT_EMU_SHARED) /* a vector may begin or end between two rows */
            own = at_emu_shared_unwritten(warp, lanes, op->unit_bytes, address, k * op->unit_bytes);
        if (unwritten)
            at_emu_undefined_mark(warp, op->row[k], lanes, own,
                                  at_emu_origin(warp, op) |
                                      (space == AT_EMU_LOCAL ? AT_EMU_ORIGIN_LOCAL : 0));
    }
}

void at_emu_run_load(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    run_parts(op, warp, lanes, load_part);
}

/* The address is a constant that the decoder has checked, or in a register. */
void at_emu_run_load_param(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t bytes = (uint32_t)op->unit_bytes * op->units;
    bool same = op->address == AT_EMU_TRUE_ROW;
    uint64_t address[AT_WARP];
    char *host[AT_WARP];

    if (!same) {
        at_emu_access_addresses(warp, op->address, op->address_bytes, op->immediate, address);
        if (!at_emu_access_resolve(op, warp, lanes, AT_EMU_PARAM, bytes, address, host))
            return;
    }
    for (uint32_t k = 0; k < op->units; k++)
        if (same)
            load_same(op, warp, lanes, op->row[k],
                      warp->block->params + op->immediate + k * op->unit_bytes);
        else
            load_unit(op, warp, lanes, op->row[k], k * op->unit_bytes, host);
}

#define STORE(size)                                                                                \
    case size:                                                                                     \
        AT_EACH_OF (i, lanes)                                                                      \
            memcpy(host[i] + offset, warp->file + row + i * op->value_bytes, size);                \
        break;

static void store_unit(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                       uint32_t row, size_t offset, char *const host[AT_WARP])
{
    switch (op->unit_bytes) {
        STORE(1)
        STORE(2)
        STORE(4)
        STORE(8)
    }
}

/* The operands of a store are its address and then its elements. */
static uint32_t element_row(const struct at_emu_op *op, uint32_t k)
{
    return op->row[1 + k];
}

/* Return the lanes whose elements are all undefined. */
static uint32_t undefined_elements(const struct at_emu_op *op, const struct at_emu_warp *warp)
{
    uint32_t undefined = UINT32_MAX;

    for (uint32_t k = 0; k < op->units; k++)
        undefined &= at_emu_undefined(warp, element_row(op, k));
    return undefined;
}

/* Does a lane's store change the bytes? */
static bool stores(const struct at_emu_op *op, const struct at_emu_warp *warp, int lane,
                   const char *bytes)
{
    for (uint32_t k = 0; k < op->units; k++)
        if (memcmp(bytes + k * op->unit_bytes,
                   warp->file + element_row(op, k) + lane * op->value_bytes, op->unit_bytes) != 0)
            return true;
    return false;
}

/* Do two lanes store the same? */
static bool store_alike(const struct at_emu_op *op, const struct at_emu_warp *warp, int a, int b)
{
    for (uint32_t k = 0; k < op->units; k++)
        if (memcmp(warp->file + element_row(op, k) + a * op->value_bytes,
                   warp->file + element_row(op, k) + b * op->value_bytes, op->unit_bytes) != 0)
            return false;
    return true;
}

/* Note a store to global memory, by the lanes that change it: a store of the same value is no race
 * with another. */
static bool note_global(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        uint32_t bytes, const uint64_t address[AT_WARP], char *const host[AT_WARP])
{
    uint32_t changing = 0;

    AT_EACH_OF (i, lanes) {
        bool again = !stores(op, warp, i, host[i]);

        for (int j = at_lane_from(changing, 0); j < i && !again; j = at_lane_from(changing, j + 1))
            again = address[j] == address[i] && store_alike(op, warp, j, i);
        if (!again)
            changing |= at_lane_bit[i];
    }
    return !changing || at_emu_races_note(op, warp, changing, true, bytes, address);
}

static void store_units(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                        char *const host[AT_WARP])
{
    at_emu_access_change(op, warp);
    for (uint32_t k = 0; k < op->units; k++)
        store_unit(op, warp, lanes, element_row(op, k), k * op->unit_bytes, host);
}

/* Blocks of several host threads may store one value at a time: the first changes memory, and the
 * next find what they store. */
static void store_global(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                         uint32_t bytes, const uint64_t address[AT_WARP], char *const host[AT_WARP])
{
    struct at_emu_races *races = warp->block->races;

    at_emu_races_hold(races);
    if (!races || note_global(op, warp, lanes, bytes, address, host))
        store_units(op, warp, lanes, host);
    at_emu_races_let_go(races);
}

static void store_part(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                       enum at_emu_space space, const uint64_t address[AT_WARP])
{
    uint32_t bytes = (uint32_t)op->unit_bytes * op->units;
    char *host[AT_WARP];

    if (space == AT_EMU_PARAM) {
        at_emu_raise(warp, op, AT_EMU_PARAM_BOUNDS, __builtin_ctz(lanes), 0, "it is a store");
        return;
    }
    if (!at_emu_access_resolve(op, warp, lanes, space, bytes, address, host))
        return;
    at_emu_access_report(op, warp, lanes, space, true, bytes, address, NULL);
    if (op->order & AT_EMU_RELEASES)
        at_emu_run_fence(op, warp, lanes);
    if (space == AT_EMU_SHARED && !at_emu_shared_note_store(op, warp, lanes, bytes, address))
        return;
    if (space == AT_EMU_LOCAL)
        note_local_store(warp, lanes, bytes, address, undefined_elements(op, warp));
    if (space == AT_EMU_GLOBAL)
        store_global(op, warp, lanes, bytes, address, host);
    else
        store_units(op, warp, lanes, host);
}

void at_emu_run_store(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    run_parts(op, warp, lanes, store_part);
}

/* isspacep: op->space is the one that is asked for. */
void at_emu_run_is_space(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    const struct at_emu_image *image = warp->block->kernel->image;
    AT_SOURCE(u64, a, 1);
    uint32_t within = 0;

    AT_EACH_OF (i, lanes) {
        enum at_emu_space space = a[i] < AT_EMU_SHARED_WINDOW  ? AT_EMU_GLOBAL
                                  : a[i] < AT_EMU_LOCAL_WINDOW ? AT_EMU_SHARED
                                  : a[i] < AT_EMU_PARAM_WINDOW ? AT_EMU_LOCAL
                                                               : AT_EMU_PARAM;

        for (size_t k = 0; warp->block->variables && k < image->count; k++)
            if (image->variables[k].constant &&
                a[i] - warp->block->variables[k] < image->variables[k].bytes)
                space = AT_EMU_CONST;
        if (space == op->space)
            within |= at_lane_bit[i];
    }
    at_keep_predicate(warp, op->row[0], within, lanes);
}
