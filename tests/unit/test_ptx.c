/* SPDX-License-Identifier: Apache-2.0 */
/* The PTX reader and each instruction: results for edge values, worked out by hand, and for random
 * values, compared with the pseudocode of the PTX ISA. And the reader's messages for text that it
 * refuses. */
#include "base/memory.h"
#include "base/rng.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD      ".version 9.0\n.target sm_90\n.address_size 64\n"
#define UNTOUCHED UINT64_C(0xa5a5a5a5a5a5a5a5)

/* The text before an instruction under test. Its up to four values are in h1 to h4 (16 bits), w1 to
 * w4 (32 bits), l1 to l4 (64 bits) and p1 to p4 (not 0). The result goes to h0, w0, l0 or p0. Odd
 * lanes do not take part: their results must not change. */
static const char before[] =
    HEAD ".visible .entry k(.param .u64 k_out, .param .u64 k_in)\n{\n"
         ".reg .pred %p<6>; .reg .b16 %h<6>; .reg .b32 %w<6>; .reg .b64 %l<6>;\n"
         ".reg .b64 %a<6>; .reg .pred %g<2>; .reg .b32 %t<4>;\n"
         "ld.param.u64 %a0, [k_out]; ld.param.u64 %a1, [k_in];\n"
         "mov.u32 %t0, %tid.x; mul.wide.u32 %a2, %t0, 8; add.s64 %a3, %a0, %a2;\n"
         "ld.global.b64 %l1, [%a1]; ld.global.b64 %l2, [%a1+8];\n"
         "ld.global.b64 %l3, [%a1+16]; ld.global.b64 %l4, [%a1+24];\n"
         "ld.global.b32 %w1, [%a1]; ld.global.b32 %w2, [%a1+8];\n"
         "ld.global.b32 %w3, [%a1+16]; ld.global.b32 %w4, [%a1+24];\n"
         "ld.global.b16 %h1, [%a1]; ld.global.b16 %h2, [%a1+8];\n"
         "ld.global.b16 %h3, [%a1+16]; ld.global.b16 %h4, [%a1+24];\n"
         "setp.ne.s64 %p1, %l1, 0; setp.ne.s64 %p2, %l2, 0;\n"
         "setp.ne.s64 %p3, %l3, 0; setp.ne.s64 %p4, %l4, 0;\n"
         "mov.b64 %l0, 0xa5a5a5a5a5a5a5a5; mov.b32 %w0, 0xa5a5a5a5; mov.b16 %h0, 0xa5a5;\n"
         "mov.pred %p0, 0; mov.pred %p5, 0;\n"
         "and.b32 %t1, %t0, 1; setp.eq.s32 %g0, %t1, 0;\n@%g0 ";

/* How each kind of result is stored. */
static const struct {
    char kind;
    const char *store;
    uint64_t untouched;
} results[] = {
    {'h', "st.global.b16 [%a3], %h0;", UNTOUCHED & 0xffff},
    {'w', "st.global.b32 [%a3], %w0;", UNTOUCHED & 0xffffffff},
    {'l', "st.global.b64 [%a3], %l0;", UNTOUCHED},
    {'p', "selp.b32 %t2, 1, 0, %p0; st.global.b32 [%a3], %t2;", 0},
    {'q', "selp.b32 %t2, 1, 0, %p5; st.global.b32 [%a3], %t2;", 0},
};

static uint64_t run_instruction(const char *instruction, char kind, const uint64_t inputs[4])
{
    struct at_ptx_module *module;
    const struct at_ptx_kernel *kernel = NULL;
    struct at_emu_memory *memory = at_emu_memory_new();
    struct at_emu_fault fault;
    struct at_error err = {AT_OK, ""};
    uint64_t args[2] = {at_emu_memory_allocate(memory, 256), at_emu_memory_allocate(memory, 32)};
    const struct at_emu_launch launch = {
        .grid = {1, 1, 1}, .block = {32, 1, 1}, .args = args, .arg_count = 2, .threads = 1};
    struct at_emu_launch with_kernel = launch;
    uint64_t *out = at_emu_memory_host(memory, args[0], 256), result;
    size_t k = 0;
    char *text;

    while (results[k].kind != kind)
        k++;
    text = at_format("%s%s\n%s\nret;\n}\n", before, instruction, results[k].store);
    if (at_ptx_read(&module, text, strlen(text), &err) != AT_OK ||
        at_ptx_find(module, "k", &kernel, &err) != AT_OK)
        fail_msg("%s: %s", instruction, err.message);
    memcpy(at_emu_memory_host(memory, args[1], 32), inputs, 32);
    with_kernel.kernel = kernel;
    if (at_emu_run(memory, &with_kernel, &fault, &err) != AT_OK)
        fail_msg("%s: %s", instruction, err.message);
    if (fault.kind != AT_EMU_NO_FAULT)
        fail_msg("%s: %s", instruction, fault.message);
    for (int lane = 1; lane < 32; lane++) {
        uint64_t right = lane % 2 ? results[k].untouched : out[0];

        if (out[lane] != right)
            fail_msg("%s: lane %d has %#" PRIx64 ", not %#" PRIx64, instruction, lane, out[lane],
                     right);
    }
    result = out[0];
    at_emu_memory_free(memory);
    at_ptx_free(module);
    free(text);
    return result;
}

#define M64     UINT64_MAX
#define MIN32   UINT64_C(0x80000000)
#define MIN64   UINT64_C(0x8000000000000000)
#define F32_1   UINT64_C(0x3f800000)
#define F32_2   UINT64_C(0x40000000)
#define F32_3   UINT64_C(0x40400000)
#define F32_NAN UINT64_C(0x7fc00000)
#define F64_1   UINT64_C(0x3ff0000000000000)
#define F64_2   UINT64_C(0x4000000000000000)
#define F64_3   UINT64_C(0x4008000000000000)

static const struct {
    const char *instruction;
    char result;
    uint64_t inputs[4];
    uint64_t expected;
} by_hand[] = {
    /* Sums and products wrap. */
    {"add.u16 %h0, %h1, %h2;", 'h', {0xffff, 2}, 1},
    {"add.s16 %h0, %h1, %h2;", 'h', {0x7fff, 1}, 0x8000},
    {"add.u32 %w0, %w1, %w2;", 'w', {0xffffffff, 2}, 1},
    {"add.s32 %w0, %w1, -3;", 'w', {2}, 0xffffffff},
    {"add.u64 %l0, %l1, %l2;", 'l', {M64, 3}, 2},
    {"add.s64 %l0, %l1, %l1;", 'l', {MIN64}, 0},
    {"sub.u16 %h0, %h1, %h2;", 'h', {1, 2}, 0xffff},
    {"sub.s16 %h0, %h1, %h2;", 'h', {5, 2}, 3},
    {"sub.u32 %w0, %w1, %w2;", 'w', {1, 2}, 0xffffffff},
    {"sub.s32 %w0, 7, %w2;", 'w', {0, 2}, 5},
    {"sub.u64 %l0, %l1, %l2;", 'l', {0, 1}, M64},
    {"sub.s64 %l0, %l1, %l2;", 'l', {10, 3}, 7},
    {"mul.lo.u16 %h0, %h1, %h2;", 'h', {0xffff, 0xffff}, 1},
    {"mul.lo.s16 %h0, %h1, %h2;", 'h', {0xffff, 5}, 0xfffb},
    {"mul.lo.u32 %w0, %w1, %w2;", 'w', {0x10000, 0x10001}, 0x10000},
    {"mul.lo.s32 %w0, %w1, %w2;", 'w', {0xfffffffd, 7}, 0xffffffeb},
    {"mul.lo.u64 %l0, %l1, %l2;", 'l', {MIN64, 3}, MIN64},
    {"mul.lo.s64 %l0, %l1, %l2;", 'l', {M64, M64}, 1},
    {"mul.hi.u16 %h0, %h1, %h2;", 'h', {0xffff, 0xffff}, 0xfffe},
    {"mul.hi.s16 %h0, %h1, %h2;", 'h', {0xffff, 2}, 0xffff},
    {"mul.hi.u32 %w0, %w1, %w2;", 'w', {0xffffffff, 0xffffffff}, 0xfffffffe},
    {"mul.hi.s32 %w0, %w1, %w2;", 'w', {MIN32, MIN32}, 0x40000000},
    {"mul.hi.u64 %l0, %l1, %l2;", 'l', {M64, M64}, M64 - 1},
    {"mul.hi.s64 %l0, %l1, %l2;", 'l', {M64, 1}, M64},
    {"mul.wide.u16 %w0, %h1, %h2;", 'w', {0xffff, 0xffff}, 0xfffe0001},
    {"mul.wide.s16 %w0, %h1, %h2;", 'w', {0xffff, 0x7fff}, 0xffff8001},
    {"mul.wide.u32 %l0, %w1, %w2;", 'l', {0xffffffff, 2}, UINT64_C(0x1fffffffe)},
    {"mul.wide.s32 %l0, %w1, %w2;", 'l', {0xffffffff, 2}, M64 - 1},
    {"mad.lo.u16 %h0, %h1, %h2, %h3;", 'h', {3, 4, 5}, 17},
    {"mad.lo.s32 %w0, %w1, %w2, %w3;", 'w', {0xffffffff, 4, 5}, 1},
    {"mad.lo.u32 %w0, %w1, %w2, %w3;", 'w', {MIN32, 2, 9}, 9},
    {"mad.lo.s64 %l0, %l1, %l2, %l3;", 'l', {M64, 6, 1}, M64 - 4},
    {"mad.hi.u32 %w0, %w1, %w2, %w3;", 'w', {MIN32, 4, 0xffffffff}, 1},
    {"mad.hi.s32 %w0, %w1, %w2, %w3;", 'w', {MIN32, 4, 5}, 3},
    {"mad.hi.s64 %l0, %l1, %l2, %l3;", 'l', {MIN64, 2, 5}, 4},
    {"mad.wide.u16 %w0, %h1, %h2, %w3;", 'w', {0xffff, 2, 0x10000}, 0x2fffe},
    {"mad.wide.s16 %w0, %h1, %h2, %w3;", 'w', {0xffff, 2, 5}, 3},
    {"mad.wide.u32 %l0, %w1, %w2, %l3;", 'l', {0xffffffff, 2, 2}, UINT64_C(0x200000000)},
    {"mad.wide.s32 %l0, %w1, %w2, %l3;", 'l', {0xffffffff, 2, 5}, 3},
    {"neg.s16 %h0, %h1;", 'h', {1}, 0xffff},
    {"neg.s32 %w0, %w1;", 'w', {MIN32}, MIN32},
    {"neg.s64 %l0, %l1;", 'l', {7}, M64 - 6},
    {"abs.s16 %h0, %h1;", 'h', {0xfffe}, 2},
    {"abs.s32 %w0, %w1;", 'w', {MIN32}, MIN32},
    {"abs.s64 %l0, %l1;", 'l', {M64}, 1},
    /* Division truncates, and the sign of a remainder is that of the dividend. */
    {"div.u16 %h0, %h1, %h2;", 'h', {0xffff, 0x10}, 0xfff},
    {"div.s16 %h0, %h1, %h2;", 'h', {0xfff9, 2}, 0xfffd},
    {"div.u32 %w0, %w1, %w2;", 'w', {0xffffffff, 10}, 429496729},
    {"div.s32 %w0, %w1, %w2;", 'w', {0xfffffff9, 2}, 0xfffffffd},
    {"div.s32 %w0, %w1, -1;", 'w', {MIN32}, MIN32},
    {"div.u64 %l0, %l1, %l2;", 'l', {M64, 2}, M64 / 2},
    {"div.s64 %l0, %l1, %l2;", 'l', {M64 - 8, 2}, M64 - 3},
    {"div.s64 %l0, %l1, %l2;", 'l', {MIN64, M64}, MIN64},
    {"rem.u16 %h0, %h1, %h2;", 'h', {0xffff, 0x10}, 0xf},
    {"rem.s16 %h0, %h1, %h2;", 'h', {0xfff9, 2}, 0xffff},
    {"rem.u32 %w0, %w1, %w2;", 'w', {0xffffffff, 10}, 5},
    {"rem.s32 %w0, %w1, %w2;", 'w', {0xfffffff9, 4}, 0xfffffffd},
    {"rem.s32 %w0, %w1, -1;", 'w', {MIN32}, 0},
    {"rem.u64 %l0, %l1, %l2;", 'l', {M64, 10}, 5},
    {"rem.s64 %l0, %l1, %l2;", 'l', {M64 - 6, 4}, M64 - 2},
    /* The type decides which number is less. */
    {"min.u16 %h0, %h1, %h2;", 'h', {0xffff, 1}, 1},
    {"min.s16 %h0, %h1, %h2;", 'h', {0xffff, 1}, 0xffff},
    {"min.u32 %w0, %w1, %w2;", 'w', {0xffffffff, 1}, 1},
    {"min.s32 %w0, %w1, %w2;", 'w', {0xffffffff, 1}, 0xffffffff},
    {"min.u64 %l0, %l1, %l2;", 'l', {M64, 1}, 1},
    {"min.s64 %l0, %l1, %l2;", 'l', {M64, 1}, M64},
    {"max.u16 %h0, %h1, %h2;", 'h', {0xffff, 1}, 0xffff},
    {"max.s16 %h0, %h1, %h2;", 'h', {0xffff, 1}, 1},
    {"max.u32 %w0, %w1, %w2;", 'w', {0xffffffff, 1}, 0xffffffff},
    {"max.s32 %w0, %w1, %w2;", 'w', {0xffffffff, 1}, 1},
    {"max.u64 %l0, %l1, %l2;", 'l', {M64, 1}, M64},
    {"max.s64 %l0, %l1, %l2;", 'l', {M64, 1}, 1},
    /* A shift count is at most the width. */
    {"shl.b16 %h0, %h1, %w2;", 'h', {0x8001, 1}, 2},
    {"shl.b16 %h0, %h1, %w2;", 'h', {0xffff, 16}, 0},
    {"shl.b32 %w0, %w1, %w2;", 'w', {3, 31}, MIN32},
    {"shl.b32 %w0, %w1, %w2;", 'w', {3, 32}, 0},
    {"shl.b32 %w0, %w1, %w2;", 'w', {3, 0xffffffff}, 0},
    {"shl.b64 %l0, %l1, %w2;", 'l', {3, 63}, MIN64},
    {"shl.b64 %l0, %l1, %w2;", 'l', {3, 64}, 0},
    {"shr.u16 %h0, %h1, %w2;", 'h', {0x8000, 15}, 1},
    {"shr.b16 %h0, %h1, %w2;", 'h', {0x8000, 16}, 0},
    {"shr.s16 %h0, %h1, %w2;", 'h', {0x8000, 40}, 0xffff},
    {"shr.u32 %w0, %w1, %w2;", 'w', {MIN32, 31}, 1},
    {"shr.b32 %w0, %w1, %w2;", 'w', {MIN32, 32}, 0},
    {"shr.s32 %w0, %w1, %w2;", 'w', {MIN32, 1}, 0xc0000000},
    {"shr.s32 %w0, %w1, %w2;", 'w', {MIN32, 33}, 0xffffffff},
    {"shr.u64 %l0, %l1, %w2;", 'l', {MIN64, 63}, 1},
    {"shr.b64 %l0, %l1, 64;", 'l', {MIN64}, 0},
    {"shr.s64 %l0, %l1, 70;", 'l', {MIN64}, M64},
    /* Bits. */
    {"and.b16 %h0, %h1, %h2;", 'h', {0xf0f0, 0xff00}, 0xf000},
    {"and.b32 %w0, %w1, 0xff;", 'w', {0x12345678}, 0x78},
    {"and.b64 %l0, %l1, %l2;", 'l', {M64, MIN64}, MIN64},
    {"or.b16 %h0, %h1, %h2;", 'h', {0xf0, 0xf}, 0xff},
    {"or.b32 %w0, %w1, %w2;", 'w', {0xf0, 0xf}, 0xff},
    {"or.b64 %l0, %l1, %l2;", 'l', {MIN64, 1}, MIN64 + 1},
    {"xor.b16 %h0, %h1, %h2;", 'h', {0xff, 0xf}, 0xf0},
    {"xor.b32 %w0, %w1, -1;", 'w', {0xff}, 0xffffff00},
    {"xor.b64 %l0, %l1, %l2;", 'l', {M64, 1}, M64 - 1},
    {"not.b16 %h0, %h1;", 'h', {1}, 0xfffe},
    {"not.b32 %w0, %w1;", 'w', {1}, 0xfffffffe},
    {"not.b64 %l0, %l1;", 'l', {1}, M64 - 1},
    {"cnot.b32 %w0, %w1;", 'w', {0}, 1},
    {"cnot.b32 %w0, %w1;", 'w', {9}, 0},
    {"and.pred %p0, %p1, %p2;", 'p', {1, 0}, 0},
    {"and.pred %p0, %p1, %p2;", 'p', {1, 1}, 1},
    {"or.pred %p0, %p1, %p2;", 'p', {0, 1}, 1},
    {"xor.pred %p0, %p1, %p2;", 'p', {1, 1}, 0},
    {"not.pred %p0, %p1;", 'p', {0}, 1},
    {"popc.b32 %w0, %w1;", 'w', {0xf00f}, 8},
    {"popc.b64 %w0, %l1;", 'w', {M64}, 64},
    {"clz.b32 %w0, %w1;", 'w', {0}, 32},
    {"clz.b32 %w0, %w1;", 'w', {1}, 31},
    {"clz.b64 %w0, %l1;", 'w', {0}, 64},
    {"clz.b64 %w0, %l1;", 'w', {MIN64}, 0},
    {"brev.b32 %w0, %w1;", 'w', {0x00000013}, 0xc8000000},
    {"brev.b64 %l0, %l1;", 'l', {0x13}, UINT64_C(0xc800000000000000)},
    {"lop3.b32 %w0, %w1, %w2, %w3, 0x80;", 'w', {0xff, 0x3c, 0xf0}, 0x30},
    {"lop3.b32 %w0, %w1, %w2, %w3, 0x96;", 'w', {0xff, 0x0f, 0x33}, 0xc3},
    {"lop3.b32 %w0, %w1, %w2, %w3, 0x01;", 'w', {0xff, 0, 0}, 0xffffff00},
    {"prmt.b32 %w0, %w1, %w2, 0x7531;", 'w', {0x33221100, 0x77665544}, 0x77553311},
    {"prmt.b32 %w0, %w1, %w2, 0x0008;", 'w', {0x00000080, 0}, 0x808080ff},
    {"prmt.b32.f4e %w0, %w1, %w2, %w3;", 'w', {0x33221100, 0x77665544, 1}, 0x44332211},
    {"prmt.b32.b4e %w0, %w1, %w2, %w3;", 'w', {0x33221100, 0x77665544, 1}, 0x66770011},
    {"prmt.b32.rc8 %w0, %w1, %w2, %w3;", 'w', {0x33221100, 0, 2}, 0x22222222},
    {"prmt.b32.ecl %w0, %w1, %w2, %w3;", 'w', {0x33221100, 0, 1}, 0x33221111},
    {"prmt.b32.ecr %w0, %w1, %w2, %w3;", 'w', {0x33221100, 0, 2}, 0x22221100},
    {"prmt.b32.rc16 %w0, %w1, %w2, %w3;", 'w', {0x33221100, 0, 1}, 0x33223322},
    {"shf.l.wrap.b32 %w0, %w1, %w2, %w3;", 'w', {MIN32, 1, 33}, 3},
    {"shf.l.clamp.b32 %w0, %w1, %w2, %w3;", 'w', {0x1234, 1, 33}, 0x1234},
    {"shf.r.wrap.b32 %w0, %w1, %w2, %w3;", 'w', {2, 1, 33}, 0x80000001},
    {"shf.r.clamp.b32 %w0, %w1, %w2, %w3;", 'w', {2, 0x1234, 99}, 0x1234},
    /* Comparison: signs, the second predicate, combination. */
    {"setp.lt.s32 %p0, %w1, %w2;", 'p', {0xffffffff, 0}, 1},
    {"setp.lt.u32 %p0, %w1, %w2;", 'p', {0xffffffff, 0}, 0},
    {"setp.lo.u32 %p0, %w1, %w2;", 'p', {0, 1}, 1},
    {"setp.ls.u64 %p0, %l1, %l2;", 'p', {1, 1}, 1},
    {"setp.hi.u16 %p0, %h1, %h2;", 'p', {0xffff, 1}, 1},
    {"setp.hs.u32 %p0, %w1, %w2;", 'p', {0, 1}, 0},
    {"setp.le.s16 %p0, %h1, %h2;", 'p', {0x8000, 0x7fff}, 1},
    {"setp.gt.s64 %p0, %l1, %l2;", 'p', {1, M64}, 1},
    {"setp.ge.u64 %p0, %l1, %l2;", 'p', {M64, 1}, 1},
    {"setp.eq.b32 %p0, %w1, %w2;", 'p', {7, 7}, 1},
    {"setp.ne.b64 %p0, %l1, %l2;", 'p', {MIN64, 0}, 1},
    {"setp.eq.s16 %p0, %h1, 5;", 'p', {UINT64_C(0x10005)}, 1},
    {"setp.lt.s32 %p0|%p5, %w1, %w2;", 'q', {1, 2}, 0},
    {"setp.lt.s32 %p0|%p5, %w1, %w2;", 'q', {2, 1}, 1},
    {"setp.lt.and.s32 %p0, %w1, %w2, %p3;", 'p', {1, 2, 0}, 0},
    {"setp.lt.and.s32 %p0, %w1, %w2, !%p3;", 'p', {1, 2, 0}, 1},
    {"setp.lt.or.s32 %p0, %w1, %w2, %p3;", 'p', {2, 1, 1}, 1},
    {"setp.lt.or.s32 %p0|%p5, %w1, %w2, %p3;", 'q', {1, 2, 0}, 0},
    {"setp.lt.xor.s32 %p0, %w1, %w2, %p3;", 'p', {1, 2, 1}, 0},
    {"setp.lt.f32 %p0, %w1, %w2;", 'p', {F32_1, F32_2}, 1},
    {"setp.lt.f32 %p0, %w1, %w2;", 'p', {F32_NAN, F32_2}, 0},
    {"setp.ltu.f32 %p0, %w1, %w2;", 'p', {F32_NAN, F32_2}, 1},
    {"setp.ne.f32 %p0, %w1, %w2;", 'p', {F32_NAN, F32_2}, 0},
    {"setp.neu.f32 %p0, %w1, %w2;", 'p', {F32_NAN, F32_2}, 1},
    {"setp.nan.f32 %p0, %w1, %w2;", 'p', {F32_1, F32_NAN}, 1},
    {"setp.num.f64 %p0, %l1, %l2;", 'p', {F64_1, F64_2}, 1},
    {"setp.ge.f64 %p0, %l1, %l2;", 'p', {F64_1, F64_2}, 0},
    {"set.lt.u32.s32 %w0, %w1, %w2;", 'w', {0xffffffff, 0}, 0xffffffff},
    {"set.gt.s32.u64 %w0, %l1, %l2;", 'w', {1, 2}, 0},
    {"selp.b16 %h0, %h1, %h2, %p3;", 'h', {1, 2, 1}, 1},
    {"selp.b32 %w0, %w1, -1, %p3;", 'w', {1, 0, 0}, 0xffffffff},
    {"selp.u64 %l0, %l1, %l2, %p3;", 'l', {1, 2, 1}, 1},
    {"slct.b32.s32 %w0, %w1, %w2, %w3;", 'w', {1, 2, 0}, 1},
    {"slct.u64.s32 %l0, %l1, %l2, %w3;", 'l', {1, 2, 0xffffffff}, 2},
    /* Conversion truncates, or extends by the source's sign; the result's sign fills the register.
     */
    {"cvt.u8.u32 %h0, %w1;", 'h', {0x12345678}, 0x78},
    {"cvt.s8.s32 %h0, %w1;", 'h', {0x123456f8}, 0xfff8},
    {"cvt.u16.u8 %h0, %h1;", 'h', {0x12f8}, 0xf8},
    {"cvt.s16.s8 %h0, %h1;", 'h', {0x12f8}, 0xfff8},
    {"cvt.u16.u32 %h0, %w1;", 'h', {0x12345678}, 0x5678},
    {"cvt.u32.u16 %w0, %h1;", 'w', {0xffff}, 0xffff},
    {"cvt.s32.s16 %w0, %h1;", 'w', {0xffff}, 0xffffffff},
    {"cvt.u32.s8 %w0, %h1;", 'w', {0x80}, 0xffffff80},
    {"cvt.u32.u64 %w0, %l1;", 'w', {UINT64_C(0x1234567890)}, 0x34567890},
    {"cvt.s64.s32 %l0, %w1;", 'l', {MIN32}, UINT64_C(0xffffffff80000000)},
    {"cvt.u64.u32 %l0, %w1;", 'l', {MIN32}, MIN32},
    {"cvt.u64.s32 %l0, %w1;", 'l', {MIN32}, UINT64_C(0xffffffff80000000)},
    {"cvt.s64.u16 %l0, %h1;", 'l', {0x8000}, 0x8000},
    {"cvt.u32.u8 %w0, %w1;", 'w', {0x12345678}, 0x78},
    {"cvt.s32.s8 %w0, %w1;", 'w', {0x123456f8}, 0xfffffff8},
    {"cvt.s32.s16 %w0, %w1;", 'w', {0x12348000}, 0xffff8000},
    {"cvt.u8.u16 %w0, %h1;", 'w', {0xfff8}, 0xf8},
    {"cvt.s8.u64 %l0, %l1;", 'l', {0x80}, M64 - 0x7f},
    {"cvt.u16.u16 %l0, %w1;", 'l', {0x12345678}, 0x5678},
    /* Moves. */
    {"mov.u16 %h0, %h1;", 'h', {0x1234}, 0x1234},
    {"mov.b16 %h0, -1;", 'h', {0}, 0xffff},
    {"mov.u32 %w0, %w1;", 'w', {0x12345678}, 0x12345678},
    {"mov.f32 %w0, 0f3F800000;", 'w', {0}, F32_1},
    {"mov.b64 %l0, %l1;", 'l', {M64}, M64},
    {"mov.f64 %l0, 0d3FF0000000000000;", 'l', {0}, F64_1},
    {"mov.b32 %w0, 0x80000000U;", 'w', {0}, MIN32},
    {"mov.pred %p0, %p1;", 'p', {1}, 1},
    {"mov.pred %p0, 1;", 'p', {0}, 1},
    {"mov.b32 %w0, {%h1, %h2};", 'w', {0x1111, 0x2222}, 0x22221111},
    {"mov.b64 %l0, {%w1, %w2};", 'l', {1, 2}, UINT64_C(0x200000001)},
    {"mov.b64 %l0, {%h1, %h2, %h3, %h4};", 'l', {1, 2, 3, 4}, UINT64_C(0x4000300020001)},
    {"mov.b32 {%h0, %h5}, %w1;", 'h', {0x22221111}, 0x1111},
    {"mov.b32 {_, %h0}, %w1;", 'h', {0x22221111}, 0x2222},
    {"mov.b64 {%w5, %w0}, %l1;", 'w', {UINT64_C(0x200000001)}, 2},
    /* Floating point. */
    {"add.f32 %w0, %w1, %w2;", 'w', {F32_1, F32_2}, F32_3},
    {"sub.f32 %w0, %w1, %w2;", 'w', {F32_3, F32_2}, F32_1},
    {"mul.rn.f32 %w0, %w1, %w2;", 'w', {F32_1, F32_3}, F32_3},
    {"fma.rn.f32 %w0, %w1, %w2, %w3;", 'w', {F32_1, F32_1, F32_2}, F32_3},
    {"neg.f32 %w0, %w1;", 'w', {F32_1}, F32_1 | MIN32},
    {"abs.f32 %w0, %w1;", 'w', {F32_1 | MIN32}, F32_1},
    {"add.rn.f64 %l0, %l1, %l2;", 'l', {F64_1, F64_2}, F64_3},
    {"sub.f64 %l0, %l1, %l2;", 'l', {F64_3, F64_2}, F64_1},
    {"mul.f64 %l0, %l1, %l2;", 'l', {F64_1, F64_2}, F64_2},
    {"fma.rn.f64 %l0, %l1, %l2, %l3;", 'l', {F64_1, F64_2, F64_1}, F64_3},
    /* Special registers. */
    {"mov.u32 %w0, %ntid.x;", 'w', {0}, 32},
    {"mov.u32 %w0, %nctaid.y;", 'w', {0}, 1},
    {"mov.u32 %w0, %warpid;", 'w', {0}, 0},
    {"activemask.b32 %w0;", 'w', {0}, 0x55555555},
    {"vote.sync.all.pred %p0, %p1, 0x55555555;", 'p', {1}, 1},
    {"vote.sync.any.pred %p0, %p1, 0x55555555;", 'p', {0}, 0},
    {"vote.sync.uni.pred %p0, !%p1, 0x55555555;", 'p', {0}, 1},
    {"vote.sync.ballot.b32 %w0, !%p1, 0x55555555;", 'w', {0}, 0x55555555},
    /* Fences change nothing. */
    {"membar.gl;", 'w', {0}, UNTOUCHED & 0xffffffff},
    {"fence.acq_rel.gpu;", 'w', {0}, UNTOUCHED & 0xffffffff},
    /* Halves, rounded once: ties to even, and what is lost decides the rest. */
    {"add.f16 %h0, %h1, %h2;", 'h', {0x3c00, 0x1000}, 0x3c00},
    {"add.f16 %h0, %h1, %h2;", 'h', {0x3c01, 0x1000}, 0x3c02},
    {"add.rn.f16 %h0, %h1, %h2;", 'h', {0x7bff, 0x7bff}, 0x7c00},
    {"sub.f16 %h0, %h1, %h2;", 'h', {0x0400, 0x0001}, 0x03ff},
    {"mul.ftz.f16 %h0, %h1, %h2;", 'h', {0x0400, 0x3800}, 0},
    {"mul.f16 %h0, %h1, %h2;", 'h', {0x0400, 0x3800}, 0x0200},
    {"fma.rn.f16 %h0, %h1, %h2, %h3;", 'h', {0x3c01, 0x3bff, 0x0007}, 0x3c00},
    {"fma.rn.f16 %h0, %h1, %h2, %h3;", 'h', {0x3c01, 0x3bff, 0x0009}, 0x3c01},
    {"fma.rn.sat.f16 %h0, %h1, %h2, %h3;", 'h', {0x4000, 0x4000, 0x3c00}, 0x3c00},
    {"fma.rn.relu.f16 %h0, %h1, %h2, %h3;", 'h', {0xc000, 0x4000, 0x3c00}, 0},
    {"fma.rn.bf16 %h0, %h1, %h2, %h3;", 'h', {0x40e0, 0x4214, 0x0380}, 0x4382},
    {"fma.rn.bf16 %h0, %h1, %h2, %h3;", 'h', {0x40e0, 0x4214, 0x8380}, 0x4381},
    {"fma.rn.f16x2 %w0, %w1, %w2, %w3;", 'w', {0x3c004000, 0x40004000, 0x3c00bc00}, 0x42004200},
    {"neg.bf16x2 %w0, %w1;", 'w', {0x3f80bf80}, 0xbf803f80},
    {"abs.f16 %h0, %h1;", 'h', {0xbc00}, 0x3c00},
    {"min.f16 %h0, %h1, %h2;", 'h', {0x7e00, 0x3c00}, 0x3c00},
    {"max.NaN.f16x2 %w0, %w1, %w2;", 'w', {0x7e003c00, 0x3c004000}, 0x7fff4000},
    {"max.bf16 %h0, %h1, %h2;", 'h', {0x8000, 0}, 0},
    {"tanh.approx.f16 %h0, %h1;", 'h', {0x7c00}, 0x3c00},
    {"ex2.approx.ftz.bf16x2 %w0, %w1;", 'w', {0x40003f80}, 0x40804000},
    {"set.lt.f16x2.f16x2 %w0, %w1, %w2;", 'w', {0x3c004000, 0x40003c00}, 0x3c000000},
    {"set.eq.u32.f16x2 %w0, %w1, %w2;", 'w', {0x3c004000, 0x3c003c00}, 0xffff0000},
    {"set.gtu.bf16.bf16 %h0, %h1, %h2;", 'h', {0x7fc0, 0x3f80}, 0x3f80},
    {"set.le.f32.f32 %w0, %w1, %w2;", 'w', {F32_1, F32_1}, F32_1},
    {"set.gt.u32.f64 %w0, %l1, %l2;", 'w', {F64_2, F64_1}, 0xffffffff},
    {"setp.lt.f16 %p0, %h1, %h2;", 'p', {0xbc00, 0x3c00}, 1},
    {"setp.neu.bf16 %p0, %h1, %h2;", 'p', {0x7fc0, 0x7fc0}, 1},
    {"setp.eq.ftz.f32 %p0, %w1, %w2;", 'p', {1, 0}, 1},
    {"setp.eq.f32 %p0, %w1, %w2;", 'p', {1, 0}, 0},
    /* Roundings and modifiers of f32 and f64. */
    {"add.rz.f32 %w0, %w1, %w2;", 'w', {F32_1, 0x33ffffff}, F32_1},
    {"add.rp.f32 %w0, %w1, %w2;", 'w', {F32_1, 1}, F32_1 + 1},
    {"add.rm.f32 %w0, %w1, %w2;", 'w', {F32_1, 0x80000001}, F32_1 - 1},
    {"add.ftz.f32 %w0, %w1, %w2;", 'w', {1, 0}, 0},
    {"add.sat.f32 %w0, %w1, %w2;", 'w', {F32_1, F32_1}, F32_1},
    {"mul.sat.f32 %w0, %w1, %w2;", 'w', {F32_NAN, F32_1}, 0},
    {"fma.rz.f64 %l0, %l1, %l2, %l3;", 'l', {F64_1, F64_1, 1}, F64_1},
    {"fma.rp.f64 %l0, %l1, %l2, %l3;", 'l', {F64_1, F64_1, 1}, F64_1 + 1},
    {"div.rn.f32 %w0, %w1, %w2;", 'w', {F32_1, F32_3}, 0x3eaaaaab},
    {"div.rz.f32 %w0, %w1, %w2;", 'w', {F32_1, F32_3}, 0x3eaaaaaa},
    {"div.full.f32 %w0, %w1, %w2;", 'w', {F32_3, F32_2}, 0x3fc00000},
    {"div.approx.f32 %w0, %w1, %w2;", 'w', {F32_1, 0x7f000000}, 0},
    {"rcp.rn.f64 %l0, %l1;", 'l', {F64_2}, UINT64_C(0x3fe0000000000000)},
    {"sqrt.rn.f32 %w0, %w1;", 'w', {0x40800000}, F32_2},
    {"sqrt.rp.f32 %w0, %w1;", 'w', {F32_2}, 0x3fb504f4},
    {"rsqrt.approx.ftz.f32 %w0, %w1;", 'w', {0x40800000}, 0x3f000000},
    {"ex2.approx.f32 %w0, %w1;", 'w', {F32_3}, 0x41000000},
    {"lg2.approx.f32 %w0, %w1;", 'w', {0}, 0xff800000},
    {"sin.approx.f32 %w0, %w1;", 'w', {0x80000000}, 0x80000000},
    {"cos.approx.f32 %w0, %w1;", 'w', {0}, F32_1},
    {"min.f32 %w0, %w1, %w2;", 'w', {F32_NAN, F32_1}, F32_1},
    {"max.f32 %w0, %w1, %w2;", 'w', {F32_NAN, F32_NAN | MIN32}, 0x7fffffff},
    {"add.f32 %w0, %w1, %w2;", 'w', {F32_1, F32_NAN | MIN32}, 0x7fffffff},
    {"mul.rn.f32 %w0, %w1, %w2;", 'w', {0x7f800000, 0}, 0x7fffffff},
    {"fma.rn.f32 %w0, %w1, %w2, %w3;", 'w', {F32_1, F32_1, F32_NAN}, 0x7fffffff},
    {"min.NaN.f32 %w0, %w1, %w2;", 'w', {F32_NAN, F32_1}, 0x7fffffff},
    {"min.f32 %w0, %w1, %w2;", 'w', {0, MIN32}, MIN32},
    {"max.f64 %l0, %l1, %l2;", 'l', {MIN64, 0}, 0},
    {"min.xorsign.abs.f32 %w0, %w1, %w2;", 'w', {F32_1 | MIN32, F32_2}, F32_1 | MIN32},
    {"copysign.f32 %w0, %w1, %w2;", 'w', {F32_1 | MIN32, F32_2}, F32_2 | MIN32},
    {"testp.subnormal.f32 %p0, %w1;", 'p', {1}, 1},
    {"testp.normal.f64 %p0, %l1;", 'p', {1}, 0},
    {"testp.notanumber.f32 %p0, %w1;", 'p', {F32_NAN}, 1},
    /* Conversions round as they say, keep to their range, and know NaN. */
    {"cvt.rni.s32.f32 %w0, %w1;", 'w', {0x40200000}, 2},
    {"cvt.rpi.s32.f32 %w0, %w1;", 'w', {0xc0200000}, 0xfffffffe},
    {"cvt.rmi.s32.f32 %w0, %w1;", 'w', {0xc0200000}, 0xfffffffd},
    {"cvt.rzi.s32.f32 %w0, %w1;", 'w', {0x4f32d05e}, 0x7fffffff},
    {"cvt.rzi.u32.f32 %w0, %w1;", 'w', {0xbf800000}, 0},
    {"cvt.rzi.s32.f32 %w0, %w1;", 'w', {F32_NAN}, 0},
    {"cvt.rzi.s64.f32 %l0, %w1;", 'l', {F32_NAN}, MIN64},
    {"cvt.rzi.s8.f32 %h0, %w1;", 'h', {0xc3800000}, 0xff80},
    {"mov.b32 %w5, %w1; {.reg .b8 b; cvt.rzi.s8.f32 b, %w5; @%g0 mov.b16 %h0, {b, 0};}",
     'h',
     {0xc0400000},
     0xfd},
    {"mov.b16 %h5, %h1; {.reg .b8 b, c; mov.b16 {b, c}, %h5; @%g0 mov.b16 %h0, {c, b};}",
     'h',
     {0x1234},
     0x3412},
    {"cvt.rni.s32.f16 %w0, %h1;", 'w', {0x3e00}, 2},
    {"cvt.rzi.u16.bf16 %h0, %h1;", 'h', {0x4049}, 3},
    {"cvt.rn.f16.f32 %h0, %w1;", 'h', {0x477fefff}, 0x7bff},
    {"cvt.rn.f16.f32 %h0, %w1;", 'h', {0x477ff000}, 0x7c00},
    {"cvt.rz.f16.f32 %h0, %w1;", 'h', {0x477ff000}, 0x7bff},
    {"cvt.rn.f16.f32 %h0, %w1;", 'h', {0x33000001}, 1},
    {"cvt.rn.f16.f64 %h0, %l1;", 'h', {UINT64_C(0x3ff0020000000001)}, 0x3c01},
    {"cvt.rn.bf16.f32 %h0, %w1;", 'h', {0x3f808000}, 0x3f80},
    {"cvt.rn.bf16.f32 %h0, %w1;", 'h', {0x3f818000}, 0x3f82},
    {"cvt.rn.relu.bf16x2.f32 %w0, %w1, %w2;", 'w', {F32_1 | MIN32, F32_2}, 0x4000},
    {"cvt.rn.f16x2.f32 %w0, %w1, %w2;", 'w', {F32_1, F32_2}, 0x3c004000},
    {"cvt.f32.f16 %w0, %h1;", 'w', {1}, 0x33800000},
    {"cvt.f32.bf16 %w0, %h1;", 'w', {0xff80}, 0xff800000},
    {"cvt.f64.f16 %l0, %h1;", 'l', {0x3c00}, F64_1},
    {"cvt.rn.f32.u64 %w0, %l1;", 'w', {UINT64_C(0x8000008000000001)}, 0x5f000001},
    {"cvt.rz.f32.u32 %w0, %w1;", 'w', {0xffffffff}, 0x4f7fffff},
    {"cvt.rp.f32.s32 %w0, %w1;", 'w', {0xfeffffff}, 0xcb800000},
    {"cvt.rm.f64.u64 %l0, %l1;", 'l', {M64}, UINT64_C(0x43efffffffffffff)},
    {"cvt.rn.f16.s64 %h0, %l1;", 'h', {2049}, 0x6800},
    {"cvt.rzi.f32.f32 %w0, %w1;", 'w', {0xbf000000}, MIN32},
    {"cvt.sat.f32.f32 %w0, %w1;", 'w', {F32_NAN}, 0},
    {"cvt.rn.f32.f64 %w0, %l1;", 'w', {F64_1 + 1}, F32_1},
    {"cvt.rp.f32.f64 %w0, %l1;", 'w', {F64_1 + 1}, F32_1 + 1},
    {"cvt.ftz.f32.f32 %w0, %w1;", 'w', {MIN32 | 5}, MIN32},
    {"cvt.rn.f32.f64 %w0, %l1;", 'w', {UINT64_C(0xfff8000000000001)}, 0x7fffffff},
    {"cvt.rni.f64.f64 %l0, %l1;",
     'l',
     {UINT64_C(0xfff8000000000001)},
     UINT64_C(0xfff8000000000001)},
    {"cvt.rn.satfinite.f16.f32 %h0, %w1;", 'h', {0xff800000}, 0xfbff},
    {"cvt.rn.relu.satfinite.bf16.f32 %h0, %w1;", 'h', {0xff800000}, 0},
    {"cvt.rz.satfinite.f16x2.f32 %w0, %w1, %w2;", 'w', {0x7f800000, F32_1}, 0x7bff3c00},
    /* Two numbers in 8 bits each. */
    {"cvt.rn.satfinite.e4m3x2.f32 %h0, %w1, %w2;", 'h', {F32_1, 0xff800000}, 0x38fe},
    {"cvt.rn.satfinite.relu.e4m3x2.f32 %h0, %w1, %w2;", 'h', {F32_1 | MIN32, F32_NAN}, 0x007f},
    {"cvt.rn.satfinite.e5m2x2.f32 %h0, %w1, %w2;", 'h', {F32_1, 0x7f7fffff}, 0x3c7b},
    {"cvt.rn.satfinite.e4m3x2.f16x2 %h0, %w1;", 'h', {0x3c00fc00}, 0x38fe},
    {"cvt.rn.satfinite.e5m2x2.f16x2 %h0, %w1;", 'h', {0xbc007e00}, 0xbc7f},
    {"cvt.rn.relu.satfinite.e5m2x2.f16x2 %h0, %w1;", 'h', {0xbc003c00}, 0x003c},
    {"cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %w1;", 'h', {0x3f80ff80}, 0x38fe},
    {"cvt.rn.satfinite.e5m2x2.bf16x2 %h0, %w1;", 'h', {0x3f80bf80}, 0x3cbc},
    {"cvt.rn.f16x2.e4m3x2 %w0, %h1;", 'w', {0x01ff}, 0x18007fff},
    {"cvt.rn.relu.f16x2.e4m3x2 %w0, %h1;", 'w', {0xb838}, 0x00003c00},
    {"cvt.rn.f16x2.e5m2x2 %w0, %h1;", 'w', {0xfc01}, 0xfc000100},
    {"cvt.rp.ue8m0x2.f32 %h0, %w1, %w2;", 'h', {0x3f800001, F32_NAN}, 0x80ff},
    {"cvt.rz.satfinite.ue8m0x2.f32 %h0, %w1, %w2;", 'h', {0x7f800000, 0}, 0xfe00},
    {"cvt.rz.ue8m0x2.bf16x2 %h0, %w1;", 'h', {0x3fff7f80}, 0x7fff},
    {"cvt.rp.satfinite.ue8m0x2.bf16x2 %h0, %w1;", 'h', {0x3fff7f7f}, 0x80fe},
    {"cvt.rn.bf16x2.ue8m0x2 %w0, %h1;", 'w', {0x00ff}, 0x00407fff},
    {"cvt.sat.u8.s32 %h0, %w1;", 'h', {300}, 255},
    {"cvt.sat.s8.s32 %h0, %w1;", 'h', {0xfffffe00}, 0xff80},
    {"cvt.sat.u32.s64 %w0, %l1;", 'w', {M64}, 0},
    /* Packed and extended integers. */
    {"dp4a.s32.s32 %w0, %w1, %w2, %w3;", 'w', {0xff010203, 0x02020202, 10}, 20},
    {"dp4a.u32.s32 %w0, %w1, %w2, %w3;", 'w', {0xff000000, 0xff000000, 0}, 0xffffff01},
    {"dp2a.hi.s32.u32 %w0, %w1, %w2, %w3;", 'w', {0xffff0003, 0xff020000, 0}, 0xffffff07},
    {"mul24.lo.s32 %w0, %w1, %w2;", 'w', {0xffffff, 5}, 0xfffffffb},
    {"mul24.hi.u32 %w0, %w1, %w2;", 'w', {0xffffff, 0xffffff}, 0xfffffe00},
    {"mad24.lo.u32 %w0, %w1, %w2, %w3;", 'w', {0x1000002, 3, 4}, 10},
    {"sad.s32 %w0, %w1, %w2, %w3;", 'w', {0xffffffff, 5, 1}, 7},
    {"add.sat.s32 %w0, %w1, %w2;", 'w', {0x7fffffff, 1}, 0x7fffffff},
    {"sub.sat.s32 %w0, %w1, %w2;", 'w', {MIN32, 1}, MIN32},
    {"bfind.u32 %w0, %w1;", 'w', {0x00800000}, 23},
    {"bfind.s32 %w0, %w1;", 'w', {0xfffffff0}, 3},
    {"bfind.shiftamt.u64 %w0, %l1;", 'w', {1}, 63},
    {"bfind.u32 %w0, %w1;", 'w', {0}, 0xffffffff},
    {"fns.b32 %w0, %w1, 3, 2;", 'w', {0xf0}, 5},
    {"fns.b32 %w0, %w1, 31, -1;", 'w', {0xf0}, 7},
    {"bmsk.clamp.b32 %w0, %w1, %w2;", 'w', {4, 8}, 0xff0},
    {"max.s16x2 %w0, %w1, %w2;", 'w', {0xffff0001, 0x00010000}, 0x00010001},
    {"vabsdiff4.u32.u32.u32 %w0, %w1, %w2, %w3;", 'w', {0x01ff0302, 0x02010303}, 0x01fe0001},
    {"add.cc.u32 %w5, %w1, %w2; @%g0 addc.u32 %w0, %w3, %w4;", 'w', {M64, 1, 5, 6}, 12},
    {"sub.cc.u32 %w5, %w1, %w2; @%g0 subc.u32 %w0, %w3, %w4;", 'w', {0, 1, 5, 2}, 2},
    {"mad.lo.cc.u32 %w5, %w1, %w2, %w3; @%g0 madc.hi.u32 %w0, %w1, %w2, %w4;",
     'w',
     {0xffffffff, 0xffffffff, 0xffffffff, 1},
     0},
    {"add.cc.u64 %l5, %l1, %l2; @%g0 addc.u64 %l0, 0, 0;", 'l', {M64, 1}, 1},
    /* Spaces of generic addresses; votes of all kinds. */
    {"isspacep.global %p0, %a0;", 'p', {0}, 1},
    {"isspacep.shared %p0, %a0;", 'p', {0}, 0},
    {"isspacep.local %p0, %l1;", 'p', {UINT64_C(1) << 61}, 1},
    {"match.any.sync.b64 %w0, %l1, 0x55555555;", 'w', {7}, 0x55555555},
    {"match.all.sync.b32 %w0|%p0, %t0, 0x55555555;", 'w', {0}, 0},
    {"match.all.sync.b32 %w0|%p0, %w1, 0x55555555;", 'p', {3}, 1},
    {"redux.sync.add.s32 %w0, %w1, 0x55555555;", 'w', {3}, 48},
    {"redux.sync.max.s32 %w0, %t0, 0x55555555;", 'w', {0}, 30},
    {"redux.sync.xor.b32 %w0, %t0, 0x55555555;", 'w', {0}, 0},
};

static void test_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(by_hand); i++) {
        uint64_t got =
            run_instruction(by_hand[i].instruction, by_hand[i].result, by_hand[i].inputs);

        if (got != by_hand[i].expected)
            fail_msg("%s: %#" PRIx64 ", not %#" PRIx64, by_hand[i].instruction, got,
                     by_hand[i].expected);
    }
}

/* References, bit by bit like the pseudocode of the PTX ISA. */
static int bit(uint64_t x, int k)
{
    return (int)(x >> k & 1);
}

static uint64_t reference_bfe(const uint64_t in[4], int msb, bool is_signed)
{
    int pos = (int)(in[1] & 0xff), len = (int)(in[2] & 0xff), sign = 0;
    uint64_t d = 0;

    if (is_signed && len > 0)
        sign = bit(in[0], pos + len - 1 < msb ? pos + len - 1 : msb);
    for (int i = 0; i <= msb; i++)
        d |= (uint64_t)(i < len && pos + i <= msb ? bit(in[0], pos + i) : sign) << i;
    return d;
}

static uint64_t bfe_u32(const uint64_t in[4])
{
    return reference_bfe(in, 31, false);
}

static uint64_t bfe_s32(const uint64_t in[4])
{
    return reference_bfe(in, 31, true);
}

static uint64_t bfe_u64(const uint64_t in[4])
{
    return reference_bfe(in, 63, false);
}

static uint64_t bfe_s64(const uint64_t in[4])
{
    return reference_bfe(in, 63, true);
}

static uint64_t reference_bfi(const uint64_t in[4], int msb)
{
    int pos = (int)(in[2] & 0xff), len = (int)(in[3] & 0xff);
    uint64_t f = in[1];

    for (int i = 0; i < len && pos + i <= msb; i++)
        f = (f & ~(UINT64_C(1) << (pos + i))) | (uint64_t)bit(in[0], i) << (pos + i);
    return f;
}

static uint64_t bfi_b32(const uint64_t in[4])
{
    return reference_bfi(in, 31) & 0xffffffff;
}

static uint64_t bfi_b64(const uint64_t in[4])
{
    return reference_bfi(in, 63);
}

static uint64_t prmt(const uint64_t in[4])
{
    uint64_t bytes = (in[1] & 0xffffffff) << 32 | (in[0] & 0xffffffff), d = 0;

    for (int i = 0; i < 4; i++) {
        int select = (int)(in[2] >> 4 * i & 15), byte = (int)(bytes >> 8 * (select % 8) & 255);

        d |= (uint64_t)(select < 8 ? byte : byte >= 128 ? 255 : 0) << 8 * i;
    }
    return d;
}

static uint64_t shf_l(const uint64_t in[4])
{
    uint64_t d = 0;
    int count = (int)(in[2] % 32);

    for (int i = 0; i < 32; i++)
        d |= (uint64_t)(i >= count ? bit(in[1], i - count) : bit(in[0], 32 + i - count)) << i;
    return d;
}

static uint64_t shf_r(const uint64_t in[4])
{
    uint64_t d = 0;
    int count = (int)(in[2] % 32);

    for (int i = 0; i < 32; i++)
        d |= (uint64_t)(i + count < 32 ? bit(in[0], i + count) : bit(in[1], i + count - 32)) << i;
    return d;
}

static uint64_t lop3(const uint64_t in[4])
{
    uint64_t d = 0;

    for (int i = 0; i < 32; i++)
        d |= (uint64_t)bit(0x6a, bit(in[0], i) * 4 + bit(in[1], i) * 2 + bit(in[2], i)) << i;
    return d;
}

/* The upper half of a product by long multiplication. */
static uint64_t mul_hi_u64(const uint64_t in[4])
{
    uint64_t a = in[0], b = in[1], high = 0, low = 0;

    for (int i = 63; i >= 0; i--) {
        high = high << 1 | low >> 63;
        low <<= 1;
        if (bit(b, i)) {
            high += low + a < low;
            low += a;
        }
    }
    return high;
}

static uint64_t mul_hi_s64(const uint64_t in[4])
{
    return mul_hi_u64(in) - (in[0] >> 63 ? in[1] : 0) - (in[1] >> 63 ? in[0] : 0);
}

static const struct {
    const char *instruction;
    char result;
    uint64_t (*reference)(const uint64_t in[4]);
} at_random[] = {
    {"bfe.u32 %w0, %w1, %w2, %w3;", 'w', bfe_u32},
    {"bfe.s32 %w0, %w1, %w2, %w3;", 'w', bfe_s32},
    {"bfe.u64 %l0, %l1, %w2, %w3;", 'l', bfe_u64},
    {"bfe.s64 %l0, %l1, %w2, %w3;", 'l', bfe_s64},
    {"bfi.b32 %w0, %w1, %w2, %w3, %w4;", 'w', bfi_b32},
    {"bfi.b64 %l0, %l1, %l2, %w3, %w4;", 'l', bfi_b64},
    {"prmt.b32 %w0, %w1, %w2, %w3;", 'w', prmt},
    {"shf.l.wrap.b32 %w0, %w1, %w2, %w3;", 'w', shf_l},
    {"shf.r.wrap.b32 %w0, %w1, %w2, %w3;", 'w', shf_r},
    {"lop3.b32 %w0, %w1, %w2, %w3, 0x6a;", 'w', lop3},
    {"mul.hi.u64 %l0, %l1, %l2;", 'l', mul_hi_u64},
    {"mul.hi.s64 %l0, %l1, %l2;", 'l', mul_hi_s64},
};

static void test_at_random(void **state)
{
    struct at_rng rng = {5};

    (void)state;
    for (size_t i = 0; i < AT_COUNT(at_random); i++)
        for (int k = 0; k < 200; k++) {
            uint64_t in[4], got, right;

            /* Small numbers too: sensible positions and lengths. */
            for (int j = 0; j < 4; j++)
                in[j] = at_rng_next(&rng) >> (at_rng_below(&rng, 2) ? 57 : 0);
            got = run_instruction(at_random[i].instruction, at_random[i].result, in);
            right = at_random[i].reference(in);
            if (got != right)
                fail_msg("%s of %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ", %#" PRIx64 ": %#" PRIx64
                         ", not %#" PRIx64,
                         at_random[i].instruction, in[0], in[1], in[2], in[3], got, right);
        }
}

/* Loads and stores of every width, through shared memory. */
static const struct {
    const char *instruction;
    char result;
    uint64_t input, expected;
} through_memory[] = {
    {"ld.global.u8 %h0, [%a1];", 'h', 0x12f8, 0xf8},
    {"ld.global.s8 %h0, [%a1];", 'h', 0x12f8, 0xfff8},
    {"ld.global.u8 %w0, [%a1];", 'w', 0xf8, 0xf8},
    {"ld.global.s8 %w0, [%a1];", 'w', 0xf8, 0xfffffff8},
    {"ld.global.s8 %l0, [%a1+1];", 'l', 0x8000, M64 - 0x7f},
    {"ld.global.u16 %w0, [%a1];", 'w', 0xffff8000, 0x8000},
    {"ld.global.s16 %w0, [%a1];", 'w', 0x8000, 0xffff8000},
    {"ld.global.u32 %l0, [%a1];", 'l', M64, 0xffffffff},
    {"ld.global.s32 %l0, [%a1];", 'l', MIN32, UINT64_C(0xffffffff80000000)},
    {"ld.global.nc.v2.u32 {%w5, %w0}, [%a1];", 'w', UINT64_C(0x200000001), 2},
    {"ld.global.v4.u16 {%h5, _, %h0, _}, [%a1];", 'h', UINT64_C(0x4000300020001), 3},
    {"ld.global.L1::no_allocate.L2::128B.v2.b8 {%h5, %h0}, [%a1];", 'h', 0x2211, 0x22},
    /* PTX ISA, "ld.global.nc" and "ld": cache operators and eviction priorities with a prefetch. */
    {"ld.global.nc.L1::no_allocate.L2::256B.v2.u32 {%w5, %w0}, [%a1];", 'w', UINT64_C(0x200000001),
     2},
    {"ld.global.cs.L2::64B.v2.u32 {%w0, %w5}, [%a1];", 'w', UINT64_C(0x200000001), 1},
    {"ld.global.nc.L2::128B.u32 %w0, [%a1];", 'w', 0x12345678, 0x12345678},
    {"ld.volatile.global.b64 %l0, [%a1+-0];", 'l', 77, 77},
    {"ld.b64 %l0, [%a1];", 'l', 78, 78},
    {"ld.relaxed.gpu.global.u32 %w0, [%a1];", 'w', 79, 79},
};

static void test_through_memory(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(through_memory); i++) {
        const uint64_t in[4] = {through_memory[i].input};
        uint64_t got = run_instruction(through_memory[i].instruction, through_memory[i].result, in);

        if (got != through_memory[i].expected)
            fail_msg("%s: %#" PRIx64 ", not %#" PRIx64, through_memory[i].instruction, got,
                     through_memory[i].expected);
    }
}

/* Text that is refused as a whole. */
static const struct {
    const char *text;
    const char *message; /* part of the message */
} malformed[] = {
    {"hello", "PTX line 1: \"hello\" where a known directive is expected"},
    {HEAD "\n.entry", "PTX line 5: the text ends where a name is expected"},
    {HEAD ".entry k(.param .u64 a", "the text ends where ) is expected"},
    {HEAD ".entry k() { ret;", "the text ends"},
    {HEAD ".entry k() .maxntid 1,2,3,4 { ret; }", "line 4"},
    {HEAD ".entry k() { .reg .b32 %r<2000000>; }", "2000000 is too large"},
    {HEAD ".entry k() { .shared .b8 s[2000000]; }", "more than 1048576 bytes"},
    {HEAD ".entry k() { .shared .align 3 .b8 s[2]; }", "not a power of 2"},
    {HEAD ".entry k() { add.s32 $$$ !!", "the text ends where } is expected"},
    {HEAD "/* no end", "line 4"},
    {".version 9.0\n.address_size 32\n", "PTX line 2: addresses must have 64 bits"},
    {HEAD ".global .b7 x;", "a type"},
    {HEAD "}", "a known directive"},
    {HEAD ".func f { { }", "the text ends"},
};

static void test_malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(malformed); i++) {
        struct at_ptx_module *module;
        struct at_error err = {AT_OK, ""};

        if (at_ptx_read(&module, malformed[i].text, strlen(malformed[i].text), &err) != AT_USAGE)
            fail_msg("read without an error: %s", malformed[i].text);
        if (!strstr(err.message, malformed[i].message))
            fail_msg("\"%s\" does not say \"%s\"", err.message, malformed[i].message);
    }
}

/* Unknown or malformed instructions: each is an error of its kernel, with its line. */
static const struct {
    const char *instruction;
    const char *message;
} unknown[] = {
    {"vadd.s32.s32.s32 %r1, %r2, %r3;", "unknown instruction \"vadd.s32.s32.s32\""},
    {"createpolicy.later.L2.b64 %d1;", "unknown instruction \"createpolicy.later.L2.b64\""},
    {"createpolicy.cvt.L2.b64 %d1;", "where , is expected"},
    {"add.s8 %r1, %r2, %r3;", "unknown instruction \"add.s8\""},
    {"add.sat.u32 %r1, %r2, %r3;", "unknown"},
    {"cvt.rn.e4m3x2.f32 %h1, %r2, %r3;", "unknown"}, /* without .satfinite */
    {"cvt.rz.satfinite.e4m3x2.f32 %h1, %r2, %r3;", "unknown"},
    {"cvt.rn.ue8m0x2.f32 %h1, %r2, %r3;", "unknown"},
    {"cvt.rn.ftz.f16x2.f32 %r1, %r2, %r3;", "unknown"},
    {"cvt.rs.f16x2.f32 %r1, %r2, %r3, %r3;", "stochastic rounding, which the emulated device"},
    {"add.s32 %r1, %r2;", "where , is expected"},
    {"add.s32 %r1, %r2, %r3, %r4;", "end of the instruction"},
    {"add.s32 %r1, %r2, %d3;", "has the wrong width"},
    {"add.s32 %r9, %r2, %r3;", "\"%r9\" where a register is expected"},
    {"add.s32 %r1, %r10, %r3;", "\"%r10\" is not a known register"},
    {"add.s32 5, %r1, %r3;", "a register is expected"},
    {"add.s32 %r01, %r1, %r3;", "a register is expected"},
    {"setp.lt.s32 %r1, %r2, %r3;", "has the wrong width"},
    {"setp.zz.s32 %p1, %r2, %r3;", "unknown"},
    {"setp.lt.nand.s32 %p1, %r2, %r3, %p1;", "unknown"},
    {"@%r1 bra L;", "has the wrong width"},
    {"bra L;", "there is no label \"L\""},
    {"L: L: ret;", "defined twice"},
    {"call f;", "a call of the function f, whose body is not in the program"},
    {"call _ZN5outerL4nameEi;", "a call of the function name, whose"},
    {"call _Z99name;", "a call of the function _Z99name, whose"},
    {"call (%r1), f;", "\"%r1\" is not a known register or variable"},
    {"call %d1;", "a function pointer"},
    {"call.uni malloc;", "memory allocation in a kernel (malloc, new)"},
    {"call vprintf;", "a call of vprintf with other arguments"},
    {"mov.u32 %r1, %clock64;", "\"%clock64\" is not a known register or variable"},
    {"mov.u32 %r1, %clusterid.x;", "thread block clusters"},
    {"wgmma.fence.sync.aligned;", "tensor cores (wmma, mma)"},
    {"brx.idx %r1, table;", "there is no label \"table\""},
    {"testp.odd.f32 %p1, %r1;", "unknown"},
    {"fma.rn.e4m3 %r1, %r2, %r3, %r4;", "unknown"},
    {"add.rq.f32 %r1, %r2, %r3;", "unknown"},
    {"add.f16 %r1, %r2, %r3;", "has the wrong width"},
    {"set.eq.u32.f65 %r1, %r2, %r3;", "unknown"},
    {"isspacep.moon %p1, %d1;", "unknown"},
    {"ld.const.u32 %r1, [k];", "\"k\" is not a known register or variable"},
    {"st.const.u32 [%d1], %r1;", "unknown"},
    {"mov.u64 %d1, %tid.x;", "has 32 bits"},
    {"mov.b32 %r1, {%r2, %r3};", "not as wide"},
    {"mov.b64 %d1, {%r2, %d3};", "different widths"},
    {"ld.global.u32 %r1, [%p1];", "has the wrong width"},
    {"ld.global.u64 %r1, [%d1];", "has the wrong width"},
    {"ld.global.v3.u32 {%r1, %r2, %r3}, [%d1];", "unknown"},
    {"ld.global.v4.u64 {%d1, %d2, %d3, %d4}, [%d1];", "unknown"},
    {"ld.global.v2.u32 {%r1}, [%d1];", "where , is expected"},
    {"ld.global.v2.u32 {%r1, %d2}, [%d1];", "registers of different widths"},
    {"st.global.v2.u32 [%d1], {%d1, %r2};", "registers of different widths"},
    {"ld.param.u32 %r1, [k_param_0];", "a parameter is expected"},
    {"st.param.b32 [%d1], %r1;", "unknown"},
    {"ld.surface.u32 %r1, [%d1];", "unknown"},
    {"atom.global.add.f16 %r1, [%d1], %r2;", "has the wrong width"},
    {"red.global.cas.b32 [%d1], %r2, %r3;", "unknown"},
    {"bar.sync %p1;", "wrong width"},
    {"bar.arrive 0;", "a number of threads is expected"},
    {"bar.red.xor.pred %p1, 0, %p1;", "unknown"},
    {"cp.async.cg.shared.global [%d1], [%d2], 8;", "with this size"},
    {"cp.async.bulk.prefetch.L2.global [%d1], %r1;", "unknown"},
    {"cp.async.bulk.global.shared::cta.bulk_group [%r1], [%r2], %r3;", "in a 64-bit register"},
    {"cp.async.bulk.global.shared::cta.bulk_group.noftz [%d1], [%r2], %r3;", "unknown"},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%d1], %r3;",
     "where , is expected"},
    {"cp.async.bulk.wait_group %r1;", "an integer is expected"},
    {"mbarrier.arrive.shared::cluster.b64 %d1, [%r1];", "unknown"},
    {"mbarrier.arrive.shared.b64 %r1, [%r1];", "wrong width"},
    {"fence.proxy.tensormap;", "unknown"},
    {"cvt.rn.f32.s31 %r1, %r2;", "unknown"},
    {"cvta.const.u32 %r1, %r2;", "unknown"},
    {"lop3.b32 %r1, %r2, %r3, %r4, %r5;", "an integer is expected"},
    {".local .b8 big[600000];", "more than 524288 bytes"},
    {"add.s32 %r1, %r2, 0q;", "an integer is expected"},
};

static void test_unknown(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(unknown); i++) {
        struct at_ptx_module *module;
        const struct at_ptx_kernel *kernel;
        struct at_error err = {AT_OK, ""};
        char *text =
            at_format(HEAD ".entry k()\n{\n"
                           ".reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .pred %%p<9>;\n%s\nret;\n}\n"
                           ".entry other()\n{\nret;\n}\n",
                      unknown[i].instruction);
        if (at_ptx_read(&module, text, strlen(text), &err) == AT_OK) {
            if (at_ptx_find(module, "k", &kernel, &err) != AT_USAGE)
                fail_msg("read without an error: %s", unknown[i].instruction);
            assert_int_equal(at_ptx_find(module, "other", &kernel, NULL), AT_OK);
            at_ptx_free(module);
        }
        if (!strstr(err.message, unknown[i].message) || !strstr(err.message, "PTX line 7: "))
            fail_msg("%s: \"%s\" does not say \"%s\"", unknown[i].instruction, err.message,
                     unknown[i].message);
        free(text);
    }
}

static void test_module(void **state)
{
    static const char text[] = HEAD
        "// comment /* of no meaning\n"
        ".file 1 \"a.cu\"\n"
        ".extern .shared .align 16 .b8 dynamic[];\n"
        ".global .align 4 .u32 unused = 5;\n"
        ".visible .entry first(.param .u64 .ptr .global .align 8 p, .param .align 4 .b8 q[4])\n"
        ".maxntid 128, 1, 1\n.minnctapersm 2\n"
        "{\n.reg .b32 %r<3>;\n.shared .align 16 .b8 a[5]; .shared .align 8 .u64 b;\n"
        ".loc 1 42 7\n"
        "{ mov.u32 /* inside */ %r1, %tid.x; }\n"
        "$L_1:\n\t@!%p bra $L_1;\n}\n" /* %p is not declared */
        ".entry second()\n{\nret;\n}\n"
        ".section .debug_str { $x: .b8 1,2 }\n";
    struct at_ptx_module *module;
    const struct at_ptx_kernel *kernel;
    struct at_error err = {AT_OK, ""};
    struct at_ptx_source here, caller;

    (void)state;
    assert_int_equal(at_ptx_read(&module, text, sizeof text, &err), AT_OK);
    assert_int_equal(at_ptx_find(module, "first", &kernel, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "a.cu line 42: PTX line 17: "));
    assert_int_equal(at_ptx_find(module, "third", &kernel, &err), AT_USAGE);
    assert_non_null(strstr(err.message, "no kernel third"));
    assert_int_equal(at_ptx_find(module, "second", &kernel, &err), AT_OK);
    assert_int_equal(kernel->op_count, 1);
    assert_int_equal(kernel->shared_bytes, 0);
    assert_int_equal(kernel->ops[0].line, 21);
    assert_string_equal(kernel->ops[0].text, "ret");
    at_ptx_instruction_source(kernel, 0, &here, &caller);
    assert_int_equal(here.line, 0);
    assert_string_equal(here.file, "");
    at_ptx_free(module);
    at_ptx_free(NULL);
}

static void test_kernel(void **state)
{
    static const char text[] =
        HEAD ".entry k()\n{\n.reg .b32 %r<3>; .reg .pred %p;\n"
             ".shared .align 16 .b8 a[5]; .shared .align 8 .u64 b;\n"
             ".loc 1 42 7, function_name $x, inlined_at 2 50 3\n"
             "{ mov.u32 /* inside */ %r1, b; }\n.loc 1 43 1\n\t@!%p  bra  $L;\n$L:\n}\n"
             ".file 1 \"a.cu\"\n.file 2 \"b.cu\"\n";
    struct at_ptx_module *module;
    const struct at_ptx_kernel *kernel;
    struct at_error err = {AT_OK, ""};
    struct at_ptx_source here, caller;

    (void)state;
    assert_int_equal(at_ptx_read(&module, text, strlen(text), &err), AT_OK);
    assert_int_equal(at_ptx_find(module, "k", &kernel, &err), AT_OK);
    assert_int_equal(kernel->shared_bytes, AT_EMU_SHARED_GAP + 16);
    assert_int_equal(kernel->op_count, 2);
    assert_string_equal(kernel->ops[0].text, "mov.u32 /* inside */ %r1, b");
    assert_string_equal(kernel->ops[1].text, "@!%p  bra  $L");
    assert_int_equal(kernel->ops[1].line, 11);
    at_ptx_instruction_source(kernel, 0, &here, &caller);
    assert_int_equal(here.line, 42);
    assert_string_equal(here.file, "a.cu");
    assert_int_equal(caller.line, 50);
    assert_string_equal(caller.file, "b.cu");
    at_ptx_instruction_source(kernel, 1, &here, &caller);
    assert_int_equal(here.line, 43);
    assert_int_equal(caller.line, 43);
    assert_string_equal(caller.file, "a.cu");
    at_ptx_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),        cmocka_unit_test(test_at_random),
        cmocka_unit_test(test_through_memory), cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_unknown),        cmocka_unit_test(test_module),
        cmocka_unit_test(test_kernel),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
