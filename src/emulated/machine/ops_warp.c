/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that the lanes of a warp run together (PTX ISA, shfl.sync, vote.sync, activemask,
 * bar.warp.sync, movmatrix), and nanosleep. */
#include "base/memory.h"
#include "emulated/machine/lanes.h"
#include "emulated/machine/ops.h"
#include "emulated/machine/races.h"

/* atom and red (PTX ISA, "Parallel Synchronization and Communication Instructions"). Blocks run on
 * several host threads, so operations are atomic on the host too. Lanes go one after the other, the
 * lowest first. */

/* Check the addresses and find them in host memory. Operands: d, address, b, and c for cas. */
static bool locate(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                   enum at_emu_space space, const uint64_t address[AT_WARP], char *host[AT_WARP])
{
    uint32_t unwritten = 0, all_bytes = op->unit_bytes * (op->units ? op->units : 1U);

    if (space == AT_EMU_PARAM) {
        at_emu_raise(warp, op, AT_EMU_PARAM_BOUNDS, __builtin_ctz(lanes), 0, "it is atomic");
        return false;
    }
    if (!at_emu_access_resolve(op, warp, lanes, space, all_bytes, address, host))
        return false;
    if (op->units && (op->row[0] == AT_EMU_SINK_ROW ||
                      at_emu_access_poll(op, warp, lanes, op->unit_bytes, address, host)))
        at_emu_access_report(op, warp, lanes, space, true, all_bytes, address, NULL);
    if (op->order & AT_EMU_RELEASES)
        at_emu_run_fence(op, warp, lanes);
    at_emu_order_acquire(warp, lanes);
    if (space == AT_EMU_GLOBAL && warp->block->races)
        return at_emu_races_note(op, warp, lanes, true, op->unit_bytes, address);
    if (space != AT_EMU_SHARED)
        return true;
    if (!at_emu_shared_note(op, warp, lanes, false, true, op->unit_bytes, address, 0, &unwritten))
        return false;
    if (unwritten)
        at_emu_raise(warp, op, AT_EMU_SHARED_UNWRITTEN, __builtin_ctz(unwritten),
                     address[__builtin_ctz(unwritten)], "an atomic operation reads it");
    return unwritten == 0;
}

static bool locate_all(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes,
                       char *host[AT_WARP])
{
    uint64_t address[AT_WARP];
    struct at_emu_part parts[AT_EMU_PARTS];
    int count;

    at_emu_access_addresses(warp, op->address, op->address_bytes, op->immediate, address);
    count = at_emu_access_split(op, lanes, address, parts);
    for (int k = 0; k < count; k++)
        if (!locate(op, warp, parts[k].lanes, parts[k].space, address, host))
            return false;
    return true;
}

/* `value` is the new value, from the old one x and the operands y and z, all of type T. */
#define ATOMIC(run, name, U, T, value)                                                             \
    AT_RUN(atomic_##run)                                                                           \
    {                                                                                              \
        AT_SOURCE(U, b, 2);                                                                        \
        AT_SOURCE(U, c, op->row_count - 1);                                                        \
        U *d = AT_EMU_ROW(U, warp, op->row[0]);                                                    \
        char *host[AT_WARP];                                                                       \
                                                                                                   \
        if (!locate_all(op, warp, lanes, host))                                                    \
            return;                                                                                \
        AT_EACH_OF (i, lanes) {                                                                    \
            U *place = (U *)(void *)host[i], old = __atomic_load_n(place, __ATOMIC_RELAXED), next; \
                                                                                                   \
            do {                                                                                   \
                T x = (T)old, y = (T)b[i], z = (T)c[i];                                            \
                                                                                                   \
                (void)x, (void)y, (void)z;                                                         \
                next = (U)(value);                                                                 \
            } while (!__atomic_compare_exchange_n(place, &old, next, false, __ATOMIC_ACQ_REL,      \
                                                  __ATOMIC_RELAXED));                              \
            if (next != old)                                                                       \
                at_emu_access_change(op, warp);                                                    \
            d[i] = old;                                                                            \
        }                                                                                          \
    }

/* Sums of floats, of an element of this format or of both halves of a word. */
static u16 add_small(enum at_number format, u32 x, u32 y)
{
    double sum = at_emu_add_odd(at_emu_widen(format, x & 0xffff), at_emu_widen(format, y & 0xffff));

    return (u16)at_emu_narrow(format, sum, 0);
}

static u32 add_pair(enum at_number format, u32 x, u32 y)
{
    return (u32)add_small(format, x >> 16, y >> 16) << 16 | add_small(format, x, y);
}

/* inc and dec are counters that wrap at a bound (PTX ISA, atom). */
#define ATOMICS(X)                                                                                 \
    X(add_32, "add.{u|s}32", u32, u32, x + y)                                                      \
    X(add_64, "add.{u|s}64", u64, u64, x + y)                                                      \
    X(add_f32, "add.f32", u32, u32, at_result_of_f32(at_f32_of(x) + at_f32_of(y)))                 \
    X(add_f64, "add.f64", u64, u64, at_bits_of_f64(at_f64_of(x) + at_f64_of(y)))                   \
    X(add_f16, "add.f16", u16, u16, add_small(AT_F16, x, y))                                       \
    X(add_bf16, "add.bf16", u16, u16, add_small(AT_BF16, x, y))                                    \
    X(add_f16x2, "add.f16x2", u32, u32, add_pair(AT_F16, x, y))                                    \
    X(add_bf16x2, "add.bf16x2", u32, u32, add_pair(AT_BF16, x, y))                                 \
    X(and_32, "and.b32", u32, u32, x &y)                                                           \
    X(and_64, "and.b64", u64, u64, x &y)                                                           \
    X(or_32, "or.b32", u32, u32, x | y)                                                            \
    X(or_64, "or.b64", u64, u64, x | y)                                                            \
    X(xor_32, "xor.b32", u32, u32, x ^ y)                                                          \
    X(xor_64, "xor.b64", u64, u64, x ^ y)                                                          \
    X(exchange_32, "exch.b32", u32, u32, y)                                                        \
    X(exchange_64, "exch.b64", u64, u64, y)                                                        \
    X(compare_and_swap_16, "cas.b16", u16, u16, x == y ? z : x)                                    \
    X(compare_and_swap_32, "cas.b32", u32, u32, x == y ? z : x)                                    \
    X(compare_and_swap_64, "cas.b64", u64, u64, x == y ? z : x)                                    \
    X(min_u32, "min.u32", u32, u32, x < y ? x : y)                                                 \
    X(min_s32, "min.s32", u32, s32, x < y ? x : y)                                                 \
    X(min_u64, "min.u64", u64, u64, x < y ? x : y)                                                 \
    X(min_s64, "min.s64", u64, s64, x < y ? x : y)                                                 \
    X(max_u32, "max.u32", u32, u32, x > y ? x : y)                                                 \
    X(max_s32, "max.s32", u32, s32, x > y ? x : y)                                                 \
    X(max_u64, "max.u64", u64, u64, x > y ? x : y)                                                 \
    X(max_s64, "max.s64", u64, s64, x > y ? x : y)                                                 \
    X(increment, "inc.u32", u32, u32, x >= y ? 0 : x + 1)                                          \
    X(decrement, "dec.u32", u32, u32, x == 0 || x > y ? y : x - 1)
ATOMICS(ATOMIC)

/* An instruction with a mask runs for the living lanes of one mask, which have come together
 * (flow.c). */

/* All lanes get the same result. */
static void give_all(struct at_emu_warp *warp, uint32_t row, uint32_t lanes, uint32_t value)
{
    AT_EACH_OF (i, lanes)
        AT_EMU_ROW(u32, warp, row)[i] = value;
}

/* Which lanes are here together is a matter of chance: a GPU may bring them one by one (CUDA C++
 * Programming Guide, "Warp Vote Functions": threads that are converged at an __activemask() "are
 * not guaranteed to be converged at subsequent instructions"). */
AT_RUN(activemask)
{
    AT_EACH_OF (i, lanes)
        AT_EMU_ROW(u32, warp, op->row[0])[i] = warp->block->launch->alone ? at_lane_bit[i] : lanes;
}

/* A barrier of all lanes takes a tick. One of a part orders only its lanes (PTX ISA,
 * bar.warp.sync): each then knows of all accesses that one of them knew of (vector clocks). */
static void order_lanes(struct at_emu_warp *warp, uint32_t lanes)
{
    uint32_t tick = at_emu_order_pass_tick(warp->block), latest[AT_WARP] = {0};

    if (lanes == warp->alive) {
        warp->synced = tick;
        return;
    }
    if (!warp->heard)
        warp->heard = at_alloc_array(AT_WARP, sizeof *warp->heard);
    AT_EACH_OF (i, lanes)
        AT_EACH_LANE (j)
            latest[j] = at_emu_later(latest[j], warp->heard[i][j]);
    AT_EACH_OF (i, lanes)
        latest[i] = tick;
    AT_EACH_OF (i, lanes)
        memcpy(warp->heard[i], latest, sizeof latest);
}

AT_RUN(warp_barrier)
{
    (void)op;
    order_lanes(warp, lanes);
}

#define VOTE(name, value)                                                                          \
    AT_RUN(name)                                                                                   \
    {                                                                                              \
        uint32_t yes = (*AT_EMU_ROW(uint32_t, warp, op->row[1]) ^ op->source_flip) & lanes;        \
                                                                                                   \
        at_keep_predicate(warp, op->row[0], (value) ? UINT32_MAX : 0, lanes);                      \
    }
VOTE(vote_all, yes == lanes)
VOTE(vote_any, yes != 0)
VOTE(vote_uni, yes == lanes || yes == 0)

AT_RUN(vote_ballot)
{
    uint32_t yes = (*AT_EMU_ROW(uint32_t, warp, op->row[1]) ^ op->source_flip) & lanes;

    give_all(warp, op->row[0], lanes, yes);
}

/* A value from a lane that takes no part, or that the mask does not name, is undefined (PTX ISA,
 * shfl.sync). Operands: d, p, a, b, c, members. The low bits of c are the last lane of a segment;
 * from bit 8 on, c is the mask of the lane bits that tell segments apart. If the source lane is
 * outside the segment, a lane gets its own value and p is false (PTX ISA, pseudocode of shfl.sync).
 */
#define SHUFFLE(name, from, in_range)                                                              \
    AT_RUN(name)                                                                                   \
    {                                                                                              \
        AT_SOURCE(u32, a, 2);                                                                      \
        AT_SOURCE(u32, b, 3);                                                                      \
        AT_SOURCE(u32, c, 4);                                                                      \
        uint32_t undefined = at_emu_undefined(warp, op->row[2]);                                   \
        uint32_t origin = warp->origin[op->row[2] / AT_EMU_ROW_ALIGN];                             \
        AT_SOURCE(u32, members, 5);                                                                \
        uint32_t predicate = 0, spread = 0, absent = 0;                                            \
        u32 out[AT_WARP];                                                                          \
                                                                                                   \
        AT_EACH_LANE (i) {                                                                         \
            int segment = c[i] >> 8 & 31, by = b[i] & 31, first = i & segment;                     \
            int last = first | (int)(c[i] & 31 & ~(u32)segment);                                   \
            int j = (from);                                                                        \
                                                                                                   \
            (void)first;                                                                           \
            (void)last;                                                                            \
            if (in_range)                                                                          \
                predicate |= at_lane_bit[i];                                                       \
            else                                                                                   \
                j = i;                                                                             \
            out[i] = a[j & 31];                                                                    \
            spread |= undefined >> (j & 31) & 1 ? at_lane_bit[i] : 0;                              \
            absent |= (lanes & members[i]) >> (j & 31) & 1 ? 0 : at_lane_bit[i];                   \
        }                                                                                          \
        absent &= lanes;                                                                           \
        at_keep_u32(AT_EMU_ROW(u32, warp, op->row[0]), out, lanes);                                \
        at_keep_predicate(warp, op->row[1], predicate, lanes);                                     \
        if (warp->undefined_rows || absent)                                                        \
            at_emu_undefined_mark(warp, op->row[0], lanes, spread | absent,                        \
                                  absent ? at_emu_origin(warp, op) : origin);                      \
    }
SHUFFLE(shuffle_up, i - by, j >= last)
SHUFFLE(shuffle_down, i + by, j <= last)
SHUFFLE(shuffle_butterfly, i ^ by, j <= last)
SHUFFLE(shuffle_index, first | (by & ~segment), j <= last)

/* Transpose 8x8 elements of 2 bytes. Lane 4 * r + c holds row r's columns 2 * c, in its lower half,
 * and 2 * c + 1 (PTX ISA, movmatrix, "For .m8n8 matrix ... each thread holds"). "All threads in the
 * warp must execute the same movmatrix instruction". */
AT_RUN(transpose_matrix)
{
    AT_SOURCE(u32, a, 1);
    uint32_t undefined = at_emu_undefined(warp, op->row[1]);
    uint32_t origin = warp->origin[op->row[1] / AT_EMU_ROW_ALIGN];
    uint32_t spread = 0;
    u32 out[AT_WARP];

    if (lanes != UINT32_MAX) {
        at_emu_raise(warp, op, AT_EMU_BARRIER, __builtin_ctz(lanes), 0,
                     "only lanes %#x are here, movmatrix takes all", lanes);
        return;
    }
    AT_EACH_LANE (i) {
        int half = i / 4 % 2, lower = i % 4 * 8 + i / 8, upper = lower + 4;

        out[i] = (a[lower] >> 16 * half & 0xffff) | (a[upper] >> 16 * half & 0xffff) << 16;
        spread |= (undefined >> lower | undefined >> upper) & 1 ? at_lane_bit[i] : 0;
    }
    at_keep_u32(AT_EMU_ROW(u32, warp, op->row[0]), out, lanes);
    if (warp->undefined_rows)
        at_emu_undefined_mark(warp, op->row[0], lanes, spread, origin);
}

/* match.any: the lanes with the same value; match.all: all lanes if they have one value, else none
 * (PTX ISA, match.sync). */
#define MATCH(bits, U)                                                                             \
    AT_RUN(match_any_##bits)                                                                       \
    {                                                                                              \
        AT_SOURCE(U, a, 1);                                                                        \
        u32 out[AT_WARP] = {0};                                                                    \
                                                                                                   \
        AT_EACH_OF (i, lanes)                                                                      \
            AT_EACH_OF (j, lanes)                                                                  \
                out[i] |= a[i] == a[j] ? at_lane_bit[j] : 0;                                       \
        at_keep_u32(AT_EMU_ROW(u32, warp, op->row[0]), out, lanes);                                \
    }                                                                                              \
    AT_RUN(match_all_##bits)                                                                       \
    {                                                                                              \
        AT_SOURCE(U, a, 2);                                                                        \
        U first = a[__builtin_ctz(lanes)];                                                         \
        bool same = true;                                                                          \
                                                                                                   \
        AT_EACH_OF (i, lanes)                                                                      \
            same &= a[i] == first;                                                                 \
        give_all(warp, op->row[0], lanes, same ? lanes : 0);                                       \
        at_keep_predicate(warp, op->row[1], same ? UINT32_MAX : 0, lanes);                         \
    }
MATCH(32, u32)
MATCH(64, u64)

/* redux: all lanes get the result over the lanes' values. */
#define REDUCE(run, name, T, next)                                                                 \
    AT_RUN(reduce_##run)                                                                           \
    {                                                                                              \
        AT_SOURCE(T, a, 1);                                                                        \
        T x = a[__builtin_ctz(lanes)];                                                             \
                                                                                                   \
        AT_EACH_OF (i, lanes & (lanes - 1)) {                                                      \
            T y = a[i];                                                                            \
            x = (T)(next);                                                                         \
        }                                                                                          \
        give_all(warp, op->row[0], lanes, (u32)x);                                                 \
    }
#define REDUCTIONS(X)                                                                              \
    X(add, "add.{u|s}32", u32, x + y)                                                              \
    X(and, "and.b32", u32, x &y)                                                                   \
    X(or, "or.b32", u32, x | y)                                                                    \
    X(xor, "xor.b32", u32, x ^ y)                                                                  \
    X(min_u32, "min.u32", u32, x < y ? x : y)                                                      \
    X(max_u32, "max.u32", u32, x > y ? x : y)                                                      \
    X(min_s32, "min.s32", s32, x < y ? x : y)                                                      \
    X(max_s32, "max.s32", s32, x > y ? x : y)
REDUCTIONS(REDUCE)

/* elect: one lane, here the lowest, is the leader. */
AT_RUN(elect)
{
    int leader = __builtin_ctz(lanes);

    give_all(warp, op->row[0], lanes, (u32)leader);
    at_keep_predicate(warp, op->row[1], at_lane_bit[leader], lanes);
}

/* A cache policy. Memory has no caches here, so any value will do. */
void at_emu_run_policy(const struct at_emu_op *op, struct at_emu_warp *warp, uint32_t lanes)
{
    const u64 out[AT_WARP] = {0};

    at_keep_u64(AT_EMU_ROW(u64, warp, op->row[0]), out, lanes);
}

/* Another decoder reads the operands of atomic operations. */
#define ATOMIC_ROW(run, name, U, T, value) {"atom." name, "", atomic_##run},
#define REDUCE_ROW(run, name, T, next)     {"redux.sync." name, "Wum", reduce_##run},

const struct at_emu_row at_emu_warp_rows[] = {
    ATOMICS(ATOMIC_ROW) REDUCTIONS(REDUCE_ROW){"activemask.b32", "W", activemask},
    {"bar.warp.sync", "m", warp_barrier},
    {"nanosleep.u32", "w", at_emu_run_nothing}, /* takes "[0, 2*t]" (PTX ISA) */
    {"brkpt", "", at_emu_run_nothing},
    {"pmevent", "i", at_emu_run_nothing},
    {"match.any.sync.b32", "Wum", match_any_32},
    {"match.any.sync.b64", "Wvm", match_any_64},
    {"match.all.sync.b32", "WQum", match_all_32},
    {"match.all.sync.b64", "WQvm", match_all_64},
    {"elect.sync", "WQm", elect},
    {"vote.sync.all.pred", "Pnm", vote_all},
    {"vote.sync.any.pred", "Pnm", vote_any},
    {"vote.sync.uni.pred", "Pnm", vote_uni},
    {"vote.sync.ballot.b32", "Wnm", vote_ballot},
    {"shfl.sync.up.b32", "WQxwwm", shuffle_up},
    {"shfl.sync.down.b32", "WQxwwm", shuffle_down},
    {"shfl.sync.bfly.b32", "WQxwwm", shuffle_butterfly},
    {"shfl.sync.idx.b32", "WQxwwm", shuffle_index},
    {"movmatrix.sync.aligned.m8n8.trans.b16", "Wx", transpose_matrix},
    {0},
};
