/* SPDX-License-Identifier: Apache-2.0 */
/* The machine that runs PTX: it finds planted bugs of each kind at the right line, block and
 * thread, and no bugs in kernels without any. Lanes diverge and meet; blocks run on several host
 * threads; an observer sees every access. */
#include "base/memory.h"
#include "emulated/machine/op.h"
#include "emulated/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Every kernel here gets a buffer of BUFFER bytes: d0 is its address, r0 to r3 the thread's, the
 * block's and the lane's number and the threads per block, d1 the address of the thread's own 4
 * bytes in the buffer, counted over the whole grid. */
#define HEAD                                                                                       \
    ".version 9.0\n.target sm_90\n.address_size 64\n"                                              \
    ".extern .shared .align 16 .b8 dynamic[];\n"                                                   \
    ".visible .entry k(.param .u64 buffer)\n{\n"                                                   \
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<32>; .reg .b64 %d<32>;\n"                     \
    ".shared .align 16 .b8 s[256];\n.local .align 8 .b8 local[16];\n"                              \
    "ld.param.u64 %d0, [buffer]; cvta.to.global.u64 %d0, %d0;\n"                                   \
    "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %laneid; mov.u32 %r3, %ntid.x;\n"    \
    "mad.lo.s32 %r4, %r1, %r3, %r0; mul.wide.u32 %d1, %r4, 4; add.s64 %d1, %d0, %d1;\n"            \
    "shl.b32 %r5, %r0, 2; cvt.u64.u32 %d2, %r5; mov.u64 %d3, s; add.s64 %d3, %d3, %d2;\n"
#define TAIL "\nret;\n}\n"

/* An mbarrier that all know, with p1 for the first thread, which begins a bulk copy of the block's
 * 4 bytes a thread from the buffer to s; and the wait for it. */
#define MBARRIER                                                                                   \
    ".shared .align 8 .b64 full;\nsetp.eq.s32 %p1, %r0, 0;\n"                                      \
    "@%p1 mbarrier.init.shared::cta.b64 [full], 1;\nfence.proxy.async; bar.sync 0;\n"              \
    "shl.b32 %r20, %r3, 2;\n"
#define EXPECT "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], %r20;\n"
#define BULK_LOAD                                                                                  \
    "@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [s], [%d1], %r20, "    \
    "[full];"
#define WAIT(name, parity)                                                                         \
    name ": mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], " parity "; @!%p2 bra " name ";"
/* And a bulk copy from there to the buffer. */
#define BULK_STORE "@%p1 cp.async.bulk.global.shared::cta.bulk_group [%d1], [s], %r20;"
#define COMMIT     "\ncp.async.bulk.commit_group;\n"

enum { BUFFER = 4096 + 2 }; /* no multiple of an access: the last one may reach beyond it */

/* A launch that is set up and taken down in one place. */
struct machine {
    struct at_ptx_module *module;
    struct at_emu_memory *memory;
    struct at_emu_launch launch;
    uint64_t args[1];
    uint32_t *buffer;
    struct at_emu_fault fault;
    char *text;
};

static void start(struct machine *m, const char *body, uint32_t blocks, uint32_t threads)
{
    struct at_error err = {AT_OK, ""};

    *m = (struct machine){.memory = at_emu_memory_new()};
    m->text = at_format("%s%s%s", HEAD, body, TAIL);
    if (at_ptx_read(&m->module, m->text, strlen(m->text), &err) != AT_OK ||
        at_ptx_find(m->module, "k", &m->launch.kernel, &err) != AT_OK)
        fail_msg("%s", err.message);
    m->args[0] = at_emu_memory_allocate(m->memory, BUFFER);
    m->buffer = at_emu_memory_host(m->memory, m->args[0], BUFFER);
    assert_non_null(m->buffer);
    m->launch.args = m->args;
    m->launch.arg_count = 1;
    m->launch.threads = 1;
    m->launch.grid[0] = blocks;
    m->launch.block[0] = threads;
    for (int i = 1; i < 3; i++)
        m->launch.grid[i] = m->launch.block[i] = 1;
}

static void run(struct machine *m)
{
    struct at_error err = {AT_OK, ""};

    if (at_emu_run(m->memory, &m->launch, &m->fault, &err) != AT_OK)
        fail_msg("%s", err.message);
}

static void stop(struct machine *m)
{
    at_emu_memory_free(m->memory);
    at_ptx_free(m->module);
    free(m->text);
}

/* The line that ends in "//!": the planted bug. */
static int marked_line(const char *text)
{
    const char *mark = strstr(text, "//!");
    int line = 1;

    assert_non_null(mark);
    for (const char *c = text; c < mark; c++)
        line += *c == '\n';
    return line;
}

static const struct {
    const char *name, *body;
    enum at_emu_fault_kind kind;
    uint32_t blocks, threads;
    uint32_t block, thread; /* at fault */
    const char *message;    /* a part of it */
} bugs[] = {
    {"global load beyond the end", "ld.global.u32 %r6, [%d1+3968]; //!", AT_EMU_GLOBAL_BOUNDS, 2,
     32, 1, 0, "global access outside every allocation at 0x100001000: 4 bytes"},
    {"global store before the start", "sub.s64 %d4, %d0, %d2; st.global.u32 [%d4], %r0; //!",
     AT_EMU_GLOBAL_BOUNDS, 1, 64, 0, 1, "thread (1, 0, 0)"},
    {"global vector that ends outside", "ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d0+4096]; //!",
     AT_EMU_GLOBAL_BOUNDS, 1, 32, 0, 0, "16 bytes"},
    {"global atomic at nothing", "red.global.add.u32 [%d2+8], 1; //!", AT_EMU_GLOBAL_BOUNDS, 1, 1,
     0, 0, "at 0x8"},
    {"shared load beyond the end", "ld.shared.u32 %r6, [%d3+132]; //!", AT_EMU_SHARED_BOUNDS, 1, 64,
     0, 31, "at 0x100: 4 bytes of 256"},
    {"shared store beyond the end", "st.shared.u32 [%d3], %r0; //!", AT_EMU_SHARED_BOUNDS, 1, 96, 0,
     64, "thread (64, 0, 0)"},
    {"dynamic shared that was not asked for", "mov.u64 %d4, dynamic; st.shared.u8 [%d4], 1; //!",
     AT_EMU_SHARED_BOUNDS, 1, 1, 0, 0, ""},
    {"local beyond the end", "mov.u64 %d4, local; st.local.u32 [%d4+16], 1; //!",
     AT_EMU_LOCAL_BOUNDS, 1, 1, 0, 0, "4 bytes of 16"},
    {"beyond the parameters", "mov.b64 %d4, buffer; ld.param.u64 %d5, [%d4+8]; //!",
     AT_EMU_PARAM_BOUNDS, 1, 1, 0, 0, "8 bytes of 8"},
    {"misaligned vector", "ld.global.v2.u32 {%r6, %r7}, [%d1]; //!", AT_EMU_MISALIGNED, 1, 32, 0, 1,
     "misaligned access at 0x100000004: 8 bytes"},
    {"misaligned shared", "add.s64 %d4, %d3, 2; st.shared.u32 [%d4], 1; //!", AT_EMU_MISALIGNED, 1,
     32, 0, 0, ""},
    {"unwritten shared, stored",
     "ld.shared.u32 %r6, [%d3]; //!\nadd.s32 %r7, %r6, 1;\n"
     "st.global.u32 [%d1], %r7;",
     AT_EMU_SHARED_UNWRITTEN, 1, 32, 0, 0, "the value is used at line 16"},
    {"unwritten shared, one lane of a guarded store",
     "setp.ne.s32 %p1, %r0, 5;\n@%p1 st.shared.u32 [%d3], %r0;\nld.shared.u32 %r6, [%d3]; //!\n"
     "st.global.u32 [%d1], %r6;",
     AT_EMU_SHARED_UNWRITTEN, 1, 32, 0, 5, ""},
    {"unwritten shared, as a condition",
     "ld.shared.u32 %r6, [s]; //!\nsetp.eq.s32 %p1, %r6, 0;\n@%p1 bra L;\nL:",
     AT_EMU_SHARED_UNWRITTEN, 1, 1, 0, 0, ""},
    {"unwritten shared, as an address", "ld.shared.u64 %d4, [s]; //!\nld.global.u32 %r6, [%d4];",
     AT_EMU_SHARED_UNWRITTEN, 1, 1, 0, 0, ""},
    {"unwritten shared, selected",
     "ld.shared.u32 %r6, [%d3]; //!\nsetp.eq.s32 %p1, %r0, 3;\nselp.b32 %r7, %r6, 7, %p1;\n"
     "st.global.u32 [%d1], %r7;",
     AT_EMU_SHARED_UNWRITTEN, 1, 32, 0, 3, ""},
    {"unwritten shared, atomic", "atom.shared.add.u32 %r6, [s], 1; //!", AT_EMU_SHARED_UNWRITTEN, 1,
     1, 0, 0, "an atomic operation reads it"},
    {"unwritten shared, of the block before",
     "setp.eq.s32 %p1, %r1, 0;\n@%p1 st.shared.u32 [s], 1;\nld.shared.u32 %r6, [s]; //!\n"
     "st.global.u32 [%d1], %r6;",
     AT_EMU_SHARED_UNWRITTEN, 2, 1, 1, 0, ""},
    {"race of two writes in one instruction", "st.shared.u32 [s], %r0; //!", AT_EMU_SHARED_RACE, 1,
     32, 0, 1, "at 0: 4 bytes, with thread 0 of the block"},
    {"race of a write and a read, no barrier",
     "st.shared.u32 [%d3], %r0;\nxor.b32 %r6, %r5, 4; cvt.u64.u32 %d4, %r6;\n"
     "ld.shared.u32 %r7, [%d4]; //!",
     AT_EMU_SHARED_RACE, 1, 32, 0, 0, "with thread 1"},
    {"race of a read and a later write of another warp",
     "setp.eq.s32 %p1, %r0, 32;\n@!%p1 bra L;\nst.shared.u32 [s], 1;\nL: bar.sync 0;\n"
     "ld.shared.u32 %r6, [s];\nsetp.eq.s32 %p2, %r0, 40;\n@%p2 st.shared.u8 [s+1], 7; //!",
     AT_EMU_SHARED_RACE, 1, 64, 0, 40, "1 bytes, with thread"},
    {"race with a reader of another warp that was not the last one",
     "setp.eq.s32 %p1, %r0, 0;\n@%p1 st.shared.u32 [s], 1;\nbar.sync 0;\n"
     "setp.eq.s32 %p2, %r0, 33; setp.eq.or.s32 %p3, %r0, 5, %p2;\n@%p3 ld.shared.u32 %r6, [s];\n"
     "@%p2 st.shared.u32 [s], 7; //!",
     AT_EMU_SHARED_RACE, 1, 64, 0, 33, ""},
    {"race with a reader of the same warp that was not the last one",
     "setp.eq.s32 %p1, %r0, 0;\n@%p1 st.shared.u32 [s], 1;\nbar.sync 0;\n"
     "setp.eq.s32 %p2, %r0, 5; setp.eq.or.s32 %p3, %r0, 3, %p2;\n@%p3 ld.shared.u32 %r6, [s];\n"
     "@%p2 st.shared.u32 [s], 7; //!",
     AT_EMU_SHARED_RACE, 1, 32, 0, 5, ""},
    {"race of warps that bar.warp.sync does not order",
     "setp.eq.s32 %p1, %r0, 0;\n@%p1 st.shared.u32 [s], 1;\nbar.warp.sync -1;\n"
     "setp.eq.s32 %p2, %r0, 33;\n@%p2 ld.shared.u32 %r6, [s]; //!",
     AT_EMU_SHARED_RACE, 1, 64, 0, 33, "with thread 0"},
    {"race of an atomic and a load",
     "setp.eq.s32 %p1, %r0, 0;\n@%p1 st.shared.u32 [s], 0;\nbar.sync 0;\n"
     "red.shared.add.u32 [s], 1;\nld.shared.u32 %r6, [s]; //!",
     AT_EMU_SHARED_RACE, 1, 2, 0, 0, "with thread 1"},
    {"barrier that a warp runs past",
     "setp.ge.u32 %p1, %r0, 32;\n@%p1 bra L;\nbar.sync 0; //!\nL: st.global.u32 [%d1], %r0;",
     AT_EMU_BARRIER, 1, 64, 0, 0, "other threads of the block have run past it"},
    {"barrier in one branch",
     "setp.lt.u32 %p1, %r0, 3;\n@%p1 bra L;\nbar.sync 0; //!\nL: st.global.u32 [%d1], %r0;",
     AT_EMU_BARRIER, 1, 32, 0, 3, "run past"},
    {"barriers of two numbers",
     "setp.lt.u32 %p1, %r0, 32;\n@%p1 bra L;\nbar.sync 1;\nret;\nL:\nbar.sync 2; //!",
     AT_EMU_BARRIER, 1, 64, 0, 0, "wait at another one"},
    {"guarded barrier", "setp.lt.u32 %p1, %r0, 3;\n@%p1 bar.sync 0; //!\nst.global.u32 [%d1], %r0;",
     AT_EMU_BARRIER, 1, 32, 0, 0, "run past"},
    {"shuffle without all lanes",
     "setp.lt.u32 %p1, %r0, 3;\n@%p1 shfl.sync.idx.b32 %r6, %r0, 0, 31, -1; //!\n"
     "st.global.u32 [%d1], %r0;",
     AT_EMU_BARRIER, 1, 32, 0, 0,
     "the mask 0xffffffff names lanes 0xfffffff8, which have run past it"},
    {"a matrix turned by a part of a warp",
     "setp.lt.u32 %p1, %r0, 3;\n@%p1 movmatrix.sync.aligned.m8n8.trans.b16 %r6, %r0; //!",
     AT_EMU_BARRIER, 1, 32, 0, 0, "movmatrix takes all"},
    {"bulk copy to shared memory, not waited for",
     "st.global.u32 [%d1], %r4;\n" MBARRIER EXPECT BULK_LOAD "\nld.shared.u32 %r6, [%d3]; //!\n"
     "st.global.u32 [%d1], %r6;",
     AT_EMU_SHARED_UNWRITTEN, 1, 64, 0, 0, ""},
    {"bulk copy, the phase after it waited for", MBARRIER EXPECT BULK_LOAD WAIT("L", "1") " //!",
     AT_EMU_BARRIER, 1, 64, 0, 0, "never completes"},
    {"bulk copy, waited for by another warp alone",
     MBARRIER EXPECT BULK_LOAD "\nsetp.gt.u32 %p3, %r0, 31;\n@%p3 bra M;\n" WAIT(
         "L", "0") "\nM: ld.shared.u32 %r6, [%d3]; //!",
     AT_EMU_SHARED_RACE, 1, 64, 0, 32, "with thread 0"},
    {"bulk copy to where a thread writes meanwhile",
     MBARRIER EXPECT BULK_LOAD " //!\nsetp.eq.s32 %p3, %r0, 40;\n@%p3 st.shared.u32 [s], 1;\n"
                               "bar.sync 0;\n" WAIT("L", "0"),
     AT_EMU_SHARED_RACE, 1, 64, 0, 0, "with thread 40 of the block, which wrote there meanwhile"},
    {"bulk copy to where others still read",
     MBARRIER "st.shared.u32 [%d3], %r0;\nfence.proxy.async; bar.sync 0;\n"
              "ld.shared.u32 %r6, [s+8];\n" EXPECT BULK_LOAD " //!",
     AT_EMU_SHARED_RACE, 1, 64, 0, 0, ""},
    {"bulk copy to an mbarrier that is none",
     ".shared .align 8 .b64 full; setp.eq.s32 %p1, %r0, 0; mov.u32 %r20, 16;\n" BULK_LOAD " //!",
     AT_EMU_SHARED_UNWRITTEN, 1, 32, 0, 0, "no mbarrier"},
    {"mbarrier used before a barrier shows it",
     ".shared .align 8 .b64 full; setp.eq.s32 %p1, %r0, 0;\n"
     "@%p1 mbarrier.init.shared::cta.b64 [full], 1;\n"
     "@%p1 bra M;\n" WAIT("L", "1") " //!\nM:",
     AT_EMU_SHARED_RACE, 1, 32, 0, 1, "with thread 0"},
    {"mbarrier that waits for more bytes than come",
     MBARRIER "add.s32 %r20, %r20, 16;\n" EXPECT "sub.s32 %r20, %r20, 16;\n" BULK_LOAD
              "\n" WAIT("L", "0") " //!",
     AT_EMU_BARRIER, 1, 64, 0, 0, "never completes"},
    {"a write after others have waited for an mbarrier",
     ".shared .align 8 .b64 full;\nsetp.eq.s32 %p1, %r0, 0;\n"
     "@%p1 mbarrier.init.shared.b64 [full], 64;\nbar.sync 0;\n"
     "mbarrier.arrive.shared.b64 %d5, [full];\n"
     "L: mbarrier.test_wait.shared.b64 %p2, [full], %d5; @!%p2 bra L;\n"
     "setp.eq.s32 %p3, %r0, 40; setp.eq.s32 %p4, %r0, 0;\n"
     "@%p3 ld.shared.u32 %r6, [s];\n@%p4 st.shared.u32 [s], 1; //!",
     AT_EMU_SHARED_RACE, 1, 64, 0, 0, "with thread 40"},
    {"mbarrier that was ended",
     MBARRIER
     "@%p1 mbarrier.inval.shared.b64 [full];\n@%p1 mbarrier.arrive.shared.b64 _, [full]; //!",
     AT_EMU_SHARED_UNWRITTEN, 1, 32, 0, 0, "no mbarrier"},
    {"mbarrier that too many arrive at",
     MBARRIER "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 16;\n"
              "@%p1 mbarrier.arrive.shared::cta.b64 _, [full]; //!",
     AT_EMU_BARRIER, 1, 32, 0, 0, "more arrivals"},
    {"mbarrier for no arrivals", MBARRIER "@%p1 mbarrier.init.shared::cta.b64 [full], 0; //!",
     AT_EMU_BARRIER, 1, 32, 0, 0, "for 0 arrivals"},
    {"mbarrier that expects too many bytes",
     MBARRIER "@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [full], 1048576; //!",
     AT_EMU_BARRIER, 1, 32, 0, 0, "overflows"},
    {"bulk copy of half a unit", MBARRIER "mov.u32 %r20, 24;\n" EXPECT BULK_LOAD " //!",
     AT_EMU_MISALIGNED, 1, 32, 0, 0, "a bulk copy of 24 bytes"},
    {"bulk copy from between two units",
     MBARRIER "mov.u32 %r20, 16; add.s64 %d1, %d1, 4;\n" EXPECT BULK_LOAD " //!", AT_EMU_MISALIGNED,
     1, 32, 0, 0, "at 0x100000004"},
    {"bulk copy that ends outside of the buffer",
     MBARRIER "mov.u32 %r20, 32; add.s64 %d1, %d0, 4080;\n" EXPECT BULK_LOAD " //!",
     AT_EMU_GLOBAL_BOUNDS, 1, 32, 0, 0, "at 0x100001000"},
    {"bulk copy that ends outside of shared memory",
     MBARRIER "mov.u32 %r20, 8192;\n" EXPECT BULK_LOAD " //!", AT_EMU_SHARED_BOUNDS, 1, 32, 0, 0,
     "16 bytes of"},
    {"bulk copy from one shared array into the next",
     MBARRIER "mov.u32 %r20, 512;\n" EXPECT BULK_LOAD " //!", AT_EMU_SHARED_BOUNDS, 1, 32, 0, 0,
     "512 bytes between two shared arrays"},
    {"bulk copy of what was written without a fence",
     MBARRIER "st.shared.u32 [%d3], %r0; bar.sync 0;\n" BULK_STORE " //!", AT_EMU_SHARED_RACE, 1,
     64, 0, 0, "made no fence.proxy.async"},
    {"bulk copy of what was written without a barrier",
     MBARRIER "st.shared.u32 [%d3], %r0; fence.proxy.async;\n" BULK_STORE " //!",
     AT_EMU_SHARED_RACE, 1, 32, 0, 0, "with thread 1"},
    {"bulk copy of unwritten bytes", MBARRIER BULK_STORE " //!", AT_EMU_SHARED_UNWRITTEN, 1, 32, 0,
     0, ""},
    {"bulk copy of what is written again before it is waited for",
     MBARRIER "st.shared.u32 [%d3], %r0; fence.proxy.async.shared::cta; bar.sync 0;\n" BULK_STORE
              " //!" COMMIT
              "bar.sync 0;\nst.shared.u32 [%d3], %r0;\ncp.async.bulk.wait_group.read 0;",
     AT_EMU_SHARED_RACE, 1, 32, 0, 0, "before the copy was made"},
    {"endless loop", "L: add.s32 %r6, %r6, 1; bra.uni L; //!", AT_EMU_LIMIT, 1, 32, 0, 0,
     "more than 1001 a thread"},
    {"endless loop of one lane", "L: setp.eq.s32 %p1, %r0, 9; @%p1 bra L; //!", AT_EMU_LIMIT, 1, 32,
     0, 9, ""},
    {"trap", "setp.eq.s32 %p1, %r4, 70;\n@%p1 trap; //!", AT_EMU_TRAP, 2, 64, 1, 6, "trap"},
    {"division by zero",
     "sub.s32 %r6, %r0, 4; div.s32 %r7, 100, %r6; //!\nst.global.u32 [%d1], %r7;", AT_EMU_DIVISION,
     1, 32, 0, 4, "division by zero"},
    {"remainder by zero",
     "cvt.u64.u32 %d4, %r0; rem.u64 %d5, %d1, %d4; //!\nst.global.u64 [%d0], %d5;", AT_EMU_DIVISION,
     1, 32, 0, 0, ""},
};

static void test_bugs(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(bugs); i++) {
        struct machine m;

        start(&m, bugs[i].body, bugs[i].blocks, bugs[i].threads);
        m.launch.instruction_limit = 1001;
        run(&m);
        if (m.fault.kind != bugs[i].kind)
            fail_msg("%s: %s (%s)", bugs[i].name, at_emu_fault_names[m.fault.kind],
                     m.fault.message);
        if (m.fault.line != marked_line(m.text) || m.fault.block[0] != bugs[i].block ||
            m.fault.thread[0] != bugs[i].thread || !strstr(m.fault.message, bugs[i].message) ||
            m.fault.line != m.launch.kernel->ops[m.fault.instruction].line)
            fail_msg("%s: %s", bugs[i].name, m.fault.message);
        stop(&m);
    }
}

/* Correct kernels, some of which look wrong. Thread t of the grid leaves expected(t) in the buffer.
 */
static uint32_t own_number(uint32_t t)
{
    return t;
}

static uint32_t neighbour(uint32_t t)
{
    return t ^ 1;
}

static uint32_t even_neighbour(uint32_t t)
{
    return t % 2 ? t - 1 : 0;
}

static uint32_t reversed(uint32_t t)
{
    return t / 64 * 64 + (63 - t % 64);
}

static uint32_t sum_below(uint32_t t)
{
    return t % 64 * (t % 64 + 1) / 2;
}

static uint32_t collatz_steps(uint32_t t)
{
    uint32_t n = t % 64 + 1, steps = 0;

    for (; n != 1; steps++)
        n = n % 2 ? 3 * n + 1 : n / 2;
    return steps;
}

static uint32_t branches(uint32_t t)
{
    uint32_t n = t % 64, value = n < 10 ? n % 2 ? 100 : 200 : 300;

    return value + (n % 3 == 0 ? 1 : 0);
}

static uint32_t lane_plus_one(uint32_t t)
{
    return t % 64 / 32 * 32 + (t % 32 + 1) % 32;
}

/* Lane 4 * r + c holds columns 2 * c and 2 * c + 1 of row r: its number, and that plus 100. It gets
 * rows 2 * c and 2 * c + 1 of column r. */
static uint32_t turned(uint32_t t)
{
    uint32_t row = t % 32 / 4, first = t % 4 * 2, of_half = row % 2 * 100;

    return (4 * first + row / 2 + of_half) | (4 * (first + 1) + row / 2 + of_half) << 16;
}

static uint32_t zero_or_copy(uint32_t t)
{
    return t % 64 < 32 ? t : 0;
}

static uint32_t mirrored(uint32_t t)
{
    return t / 64 * 64 + 63 - t % 64;
}

static uint32_t sixty_four(uint32_t t)
{
    (void)t;
    return 64;
}

#define STORE "\nst.global.u32 [%d1], %r6;"

static const struct {
    const char *name, *body;
    uint32_t (*expected)(uint32_t t);
} clean[] = {
    {"own", "mov.u32 %r6, %r4;" STORE, own_number},
    {"exchange by shared memory",
     "st.shared.u32 [%d3], %r4;\nbar.sync 0;\nxor.b32 %r7, %r5, 4; cvt.u64.u32 %d4, %r7;\n"
     "ld.shared.u32 %r6, [%d4];" STORE,
     neighbour},
    {"exchange within the warp",
     "st.shared.u32 [%d3], %r4;\nbar.warp.sync 0xffffffff;\nxor.b32 %r7, %r5, 4; cvt.u64.u32 %d4, "
     "%r7;\nld.shared.u32 %r6, [%d4];\nbar.warp.sync -1;\nst.shared.u32 [%d4], %r6;" STORE,
     neighbour},
    {"reversal, with generic addresses and bytes of one word from several threads",
     "cvta.shared.u64 %d4, %d3; cvt.u64.u32 %d5, %r0; mov.u64 %d6, s; cvta.shared.u64 %d6, %d6;\n"
     "add.s64 %d7, %d6, %d5; st.u8 [%d7], %r0;\nbar.sync 0;\nbar.sync 0;\n"
     "sub.s64 %d7, %d6, %d5; ld.u8 %r6, [%d7+63];\nmad.lo.s32 %r6, %r1, 64, %r6;" STORE,
     reversed},
    {"a loop of as many rounds as the thread's number",
     "mov.u32 %r6, 0; mov.u32 %r7, 0;\nL: setp.gt.u32 %p1, %r7, %r0;\n@%p1 bra M;\n"
     "add.s32 %r6, %r6, %r7; add.s32 %r7, %r7, 1;\nbra.uni L;\nM:\nbar.sync 0;" STORE,
     sum_below},
    {"branches within a loop",
     "mov.u32 %r6, 0; add.s32 %r7, %r0, 1;\nL: setp.eq.s32 %p1, %r7, 1;\n@%p1 bra M;\n"
     "add.s32 %r6, %r6, 1; and.b32 %r8, %r7, 1; setp.eq.s32 %p2, %r8, 0;\n@%p2 bra E;\n"
     "mad.lo.s32 %r7, %r7, 3, 1;\nbra L;\nE: shr.u32 %r7, %r7, 1;\nbra L;\nM:" STORE,
     collatz_steps},
    {"nested branches that meet again",
     "and.b32 %r7, %r0, 1; setp.ne.s32 %p2, %r7, 0; setp.lt.u32 %p1, %r0, 10;\n@%p1 bra A;\n"
     "mov.u32 %r6, 300;\nbra C;\nA: @%p2 bra B;\nmov.u32 %r6, 200;\nbra C;\nB: mov.u32 %r6, 100;\n"
     "C: rem.u32 %r8, %r0, 3; setp.eq.s32 %p3, %r8, 0;\n@%p3 add.s32 %r6, %r6, 1;\n"
     "bar.warp.sync -1;" STORE,
     branches},
    {"a shuffle", "add.s32 %r7, %r2, 1; shfl.sync.idx.b32 %r6|%p1, %r0, %r7, 31, -1;" STORE,
     lane_plus_one},
    {"a matrix turned by a warp",
     "mad.lo.s32 %r7, %r2, 65537, 6553600;\nmovmatrix.sync.aligned.m8n8.trans.b16 %r6, %r7;" STORE,
     turned},
    {"unwritten shared memory that is read and not used",
     "mov.u32 %r6, 0; setp.lt.u32 %p1, %r0, 32;\n@%p1 st.shared.u32 [%d3], %r4;\n"
     "ld.shared.u32 %r7, [%d3]; add.s32 %r8, %r7, 0; selp.b32 %r6, %r8, 0, %p1;" STORE,
     zero_or_copy},
    {"unwritten shared memory that is shuffled and not used",
     "and.b32 %r7, %r0, 1; setp.eq.s32 %p1, %r7, 0; mov.u32 %r6, 0;\n"
     "@%p1 st.shared.u32 [%d3], %r4;\nld.shared.u32 %r7, [%d3];\n"
     "shfl.sync.bfly.b32 %r8, %r7, 1, 31, -1;\n@!%p1 mov.u32 %r6, %r8;" STORE,
     even_neighbour},
    {"barriers after threads and warps have exited",
     "mov.u32 %r6, %r4; st.global.u32 [%d1], %r6;\nsetp.eq.s32 %p1, %r0, 7;\n@%p1 ret;\n"
     "bar.sync 0;\nsetp.ge.u32 %p1, %r0, 32;\n@%p1 ret;\nbar.sync 0;\nbar.sync 0;",
     own_number},
    {"an early return of whole blocks",
     "mov.u32 %r6, %r4; st.global.u32 [%d1], %r6;\nsetp.eq.s32 %p1, %r1, 1;\n@%p1 ret;\n"
     "bar.sync 0;",
     own_number},
    {"atomics in shared memory",
     "setp.eq.s32 %p1, %r0, 5;\n@%p1 st.shared.u32 [s], 0;\nbar.sync 0;\n"
     "atom.shared.add.u32 %r7, [s], 1;\nbar.sync 0;\nld.shared.u32 %r6, [s];" STORE,
     sixty_four},
    {"local memory",
     "mov.u64 %d4, local; cvta.local.u64 %d5, %d4; st.u32 [%d5+4], %r4;\n"
     "ld.local.u32 %r6, [%d4+4];" STORE,
     own_number},
    {"cp.async, waited for",
     "st.global.u32 [%d1], %r4;\ncp.async.ca.shared.global [%d3], [%d1], 4;\n"
     "cp.async.commit_group;\ncp.async.wait_group 0;\nld.shared.u32 %r6, [%d3];" STORE,
     own_number},
    {"cp.async, partly zeros",
     "st.global.u32 [%d1], %r4;\nsetp.lt.u32 %p1, %r0, 32; selp.b32 %r7, 4, 0, %p1;\n"
     "cp.async.ca.shared.global.L2::128B [%d3], [%d1], 4, %r7;\n"
     "cp.async.wait_all;\nld.shared.u32 %r6, [%d3];" STORE,
     zero_or_copy},
    {"the first of two groups of cp.async",
     "st.global.u32 [%d1], %r4;\ncp.async.ca.shared.global [%d3], [%d1], 4;\n"
     "cp.async.commit_group;\ncp.async.commit_group;\ncp.async.wait_group 1;\n"
     "ld.shared.u32 %r6, [%d3];" STORE,
     own_number},
    {"a bulk copy to shared memory",
     "st.global.u32 [%d1], %r4;\n" MBARRIER EXPECT BULK_LOAD WAIT(
         "L", "0") "\nld.shared.u32 %r6, [%d3];\nadd.s64 %d1, %d1, 0;" STORE,
     own_number},
    {"two of them, one after the other, in two phases, seen by those who did not wait",
     "st.global.u32 [%d1], 7;\n" MBARRIER EXPECT BULK_LOAD WAIT(
         "L", "0") "\nld.shared.u32 %r7, [%d3];\nst.global.u32 [%d1], %r4;\nbar.sync 0;\n" EXPECT
         BULK_LOAD "\nsetp.gt.u32 %p3, %r0, 31;\n@%p3 bra N;\n" WAIT(
             "M", "1") "\nN: bar.sync 0;\nld.shared.u32 %r6, [%d3];\nsub.s32 %r7, %r7, 7; add.s32 "
                       "%r6, %r6, %r7;" STORE,
     own_number},
    {"an mbarrier as a barrier of the block, two phases",
     ".shared .align 8 .b64 full;\nsetp.eq.s32 %p1, %r0, 0;\n"
     "@%p1 mbarrier.init.shared.b64 [full], 64;\nbar.sync 0;\n"
     "xor.b32 %r8, %r5, 252; cvt.u64.u32 %d2, %r8; mov.u64 %d4, s; add.s64 %d4, %d4, %d2;\n"
     "st.shared.u32 [%d3], %r4;\nmbarrier.arrive.release.cta.shared::cta.b64 %d5, [full], 1;\n"
     "L: mbarrier.try_wait.acquire.cta.shared::cta.b64 %p2, [full], %d5; @!%p2 bra L;\n"
     "ld.shared.u32 %r6, [%d4];\nmbarrier.arrive.shared.b64 %d5, [full];\n"
     "M: mbarrier.test_wait.shared.b64 %p2, [full], %d5; @!%p2 bra M;\n"
     "st.shared.u32 [%d3], %r6;\nbar.sync 0;\nld.shared.u32 %r6, [%d4];" STORE,
     own_number},
    {"an mbarrier that copies arrive at, and one that expects them",
     ".shared .align 8 .b64 full;\nsetp.eq.s32 %p1, %r0, 0;\n"
     "@%p1 mbarrier.init.shared.b64 [full], 128;\nbar.sync 0;\n"
     "xor.b32 %r8, %r5, 252; cvt.u64.u32 %d2, %r8; mov.u64 %d4, s; add.s64 %d4, %d4, %d2;\n"
     "st.global.u32 [%d1], %r4;\ncp.async.ca.shared.global [%d3], [%d1], 4;\n"
     "cp.async.mbarrier.arrive.shared.b64 [full];\n"
     "cp.async.mbarrier.arrive.noinc.shared.b64 [full];\nmbarrier.arrive.shared.b64 %d5, [full];\n"
     "L: mbarrier.try_wait.shared.b64 %p2, [full], %d5, 1000; @!%p2 bra L;\n"
     "ld.shared.u32 %r6, [%d4];" STORE,
     mirrored},
    {"a bulk copy that another warp begins later",
     ".shared .align 8 .b64 full;\nsetp.eq.s32 %p1, %r0, 63; st.global.u32 [%d1], %r4;\n"
     "@%p1 mbarrier.init.shared::cta.b64 [full], 1;\nbar.sync 0;\n"
     "shl.b32 %r20, %r3, 2; sub.s64 %d4, %d1, 252;\n" EXPECT
     "@%p1 cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes.L2::cache_hint [s], "
     "[%d4], %r20, [full], %d4;\n" WAIT("L", "0") "\nld.shared.u32 %r6, [%d3];" STORE,
     own_number},
    {"cache policies of all forms",
     "createpolicy.fractional.L2::evict_last.b64 %d4;\n"
     "createpolicy.fractional.L2::evict_first.L2::evict_unchanged.b64 %d4, 0.5;\n"
     "createpolicy.fractional.L2::evict_normal.b64 %d4, 0f3F000000;\n"
     "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %d4, [%d1], 0x100, %r4;\n"
     "createpolicy.cvt.L2.b64 %d4, %d4;\n"
     "st.global.L2::cache_hint.u32 [%d1], %r4, %d4;\n"
     "ld.global.L2::cache_hint.u32 %r6, [%d1], %d4;" STORE,
     own_number},
    {"a bulk copy to global memory",
     MBARRIER "st.shared.u32 [%d3], %r4; fence.proxy.async; bar.sync 0;\n" BULK_STORE COMMIT
              "cp.async.bulk.wait_group 0;",
     own_number},
    {"the first of two of them",
     MBARRIER
     "st.shared.u32 [%d3], %r4; fence.proxy.async; bar.sync 0;\n"
     "createpolicy.fractional.L2::evict_first.b64 %d4;\n"
     "@%p1 cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint [%d1], [s], %r20, %d4;" COMMIT
     "bar.sync 0; setp.eq.s32 %p3, %r0, 0; mov.u32 %r7, 5;\n" COMMIT
     "cp.async.bulk.wait_group.read 1; bar.sync 0;\nst.shared.u32 [%d3], %r7;",
     own_number},
};

static void test_clean(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(clean); i++) {
        struct machine m;

        start(&m, clean[i].body, 3, 64);
        m.launch.instruction_limit = 100000;
        run(&m);
        if (m.fault.kind != AT_EMU_NO_FAULT)
            fail_msg("%s: %s", clean[i].name, m.fault.message);
        for (uint32_t t = 0; t < 3 * 64; t++)
            if (m.buffer[t] != clean[i].expected(t))
                fail_msg("%s: thread %u has %u, not %u", clean[i].name, t, m.buffer[t],
                         clean[i].expected(t));
        stop(&m);
    }
}

/* To copy an unwritten value is no use of it; to store the copy is. */
static void test_unwritten_copied(void **state)
{
    struct machine m;

    (void)state;
    start(
        &m,
        "ld.shared.u32 %r6, [%d3+128];\nst.shared.u32 [%d3], %r6;\nld.shared.u32 %r7, [%d3]; //!\n"
        "st.global.u32 [%d1], %r7;",
        1, 32);
    run(&m);
    assert_int_equal(m.fault.kind, AT_EMU_SHARED_UNWRITTEN);
    assert_int_equal(m.fault.line, marked_line(m.text));
    stop(&m);
}

/* Without a wait, cp.async has not happened. */
static void test_copy_not_waited_for(void **state)
{
    struct machine m;

    (void)state;
    start(&m,
          "cp.async.ca.shared.global [%d3], [%d1], 4;\ncp.async.commit_group;\n"
          "cp.async.wait_group 1;\nld.shared.u32 %r6, [%d3]; //!" STORE,
          1, 32);
    run(&m);
    assert_int_equal(m.fault.kind, AT_EMU_SHARED_UNWRITTEN);
    assert_int_equal(m.fault.line, marked_line(m.text));
    stop(&m);
}

/* Nor has a bulk copy without a wait. */
static void test_bulk_copy_not_waited_for(void **state)
{
    struct machine m;

    (void)state;
    start(&m,
          MBARRIER "st.shared.u32 [%d3], 5; fence.proxy.async; bar.sync 0;\n" BULK_STORE COMMIT
                   "cp.async.bulk.wait_group 1;",
          1, 32);
    run(&m);
    assert_int_equal(m.fault.kind, AT_EMU_COPY_RACE);
    assert_int_equal(m.buffer[0], 0);
    stop(&m);
}

/* The fault of the first block is reported, on any number of threads. */
static void test_first_fault(void **state)
{
    struct machine m;

    (void)state;
    start(&m, "setp.ge.u32 %p1, %r1, 37;\n@%p1 trap; //!", 1000, 32);
    m.launch.threads = 4;
    for (int i = 0; i < 20; i++) {
        run(&m);
        assert_int_equal(m.fault.kind, AT_EMU_TRAP);
        assert_int_equal(m.fault.block[0], 37);
    }
    stop(&m);
}

static void test_three_dimensions(void **state)
{
    struct machine m;

    (void)state;
    start(
        &m,
        "mov.u32 %r6, %ctaid.y; mov.u32 %r7, %ctaid.z; mov.u32 %r8, %tid.y; mov.u32 %r9, %tid.z;\n"
        "mov.u32 %r10, %ctaid.x; mov.u32 %r11, %tid.x;\n"
        "and.b32 %r12, %r6, %r7; and.b32 %r12, %r12, %r8; and.b32 %r12, %r12, %r9;\n"
        "and.b32 %r12, %r12, %r10; and.b32 %r12, %r12, %r11;\n"
        "setp.eq.s32 %p1, %r12, 1;\n@%p1 trap;",
        2, 2);
    m.launch.grid[1] = m.launch.block[1] = 2;
    m.launch.grid[2] = m.launch.block[2] = 2;
    run(&m);
    assert_int_equal(m.fault.kind, AT_EMU_TRAP);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(m.fault.block[i], 1);
        assert_int_equal(m.fault.thread[i], 1);
    }
    assert_non_null(strstr(m.fault.message, "block (1, 1, 1), thread (1, 1, 1): trap"));
    stop(&m);
}

/* 200 blocks of 96 threads change the same values, on four host threads. */
static const struct {
    const char *instruction;
    uint64_t before, after;
} atomics[] = {
    {"atom.global.add.u32 %r6, [%d0], 3;", 1, 1 + 3 * 19200},
    {"red.global.add.u64 [%d0], %d4;", UINT64_C(0xffffffff), UINT64_C(0xffffffff) + 19200 * 2},
    {"red.relaxed.gpu.global.min.u32 [%d0], %r4;", 500, 0},
    {"red.global.max.u32 [%d0], %r4;", 500, 19199},
    {"red.global.min.s32 [%d0], -5;", 7, 0xfffffffb},
    {"red.global.max.s32 [%d0], -5;", 7, 7},
    {"red.global.min.s64 [%d0], -5;", 7, UINT64_MAX - 4},
    {"atom.global.max.u64 %d5, [%d0], -5;", 7, UINT64_MAX - 4},
    {"atom.global.min.u64 %d5, [%d0], -5;", 7, 7},
    {"red.global.max.s64 [%d0], -5;", 7, 7},
    {"atom.global.or.b32 %r6, [%d0], 6;", 1, 7},
    {"atom.global.and.b64 %d5, [%d0], 6;", 7, 6},
    {"atom.global.exch.b32 _, [%d0], 9;", 1, 9},
    {"atom.global.cas.b32 %r6, [%d0], 1, 44;", 1, 44},
    {"atom.global.cas.b64 %d5, [%d0], 2, 44;", 1, 1},
    {"atom.global.inc.u32 %r6, [%d0], 9;", 0, 0},
    {"atom.add.u32 %r6, [%d0], 1;", 0, 19200},
    {"L: ld.volatile.global.u32 %r6, [%d0]; add.s32 %r7, %r6, 1;\n"
     "atom.global.cas.b32 %r8, [%d0], %r6, %r7; setp.ne.s32 %p1, %r8, %r6;\n@%p1 bra L;",
     0, 19200},
};

static void test_atomics(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(atomics); i++) {
        struct machine m;
        char *body = at_format("mov.u64 %%d4, 2;\n%s", atomics[i].instruction);

        start(&m, body, 200, 96);
        m.launch.threads = 4;
        memcpy(m.buffer, &atomics[i].before, sizeof atomics[i].before);
        run(&m);
        assert_int_equal(m.fault.kind, AT_EMU_NO_FAULT);
        if (memcmp(m.buffer, &atomics[i].after, sizeof atomics[i].after) != 0)
            fail_msg("%s leaves %u", atomics[i].instruction, m.buffer[0]);
        stop(&m);
        free(body);
    }
}

static void test_only_blocks(void **state)
{
    static const uint64_t wanted[] = {3, 17, 4};
    struct machine m;

    (void)state;
    start(&m, "mov.u32 %r6, 1;" STORE, 20, 32);
    m.launch.only_blocks = wanted;
    m.launch.only_block_count = AT_COUNT(wanted);
    m.launch.threads = 2;
    run(&m);
    for (uint32_t t = 0; t < 20 * 32; t++)
        assert_int_equal(m.buffer[t], t / 32 == 3 || t / 32 == 17 || t / 32 == 4);
    stop(&m);
}

/* An observer that keeps all that it sees. */
struct seen {
    struct at_emu_access accesses[16];
    size_t access_count;
    uint64_t executed, lanes; /* warp instructions, and lanes of them */
};

static void see_access(void *context, uint64_t block, const struct at_emu_access *access)
{
    struct seen *seen = context;

    assert_int_equal(block, 0);
    assert_true(seen->access_count < AT_COUNT(seen->accesses));
    seen->accesses[seen->access_count++] = *access;
}

static void see_executed(void *context, uint64_t block, size_t instruction, uint32_t lanes)
{
    struct seen *seen = context;

    (void)block;
    (void)instruction;
    seen->executed++;
    seen->lanes += (uint64_t)__builtin_popcount(lanes);
}

static const struct {
    const char *body;
    size_t count; /* of accesses; of the first one: */
    bool shared, store, atomic;
    int bytes;
    uint32_t lanes;
    uint64_t offset, stride; /* of lane i: offset + i * stride */
} observed[] = {
    {"ld.global.u32 %r6, [%d1];", 1, false, false, false, 4, UINT32_MAX, 0, 4},
    {"add.s64 %d4, %d1, %d2; st.global.cs.u16 [%d4+2], %r6;", 1, false, true, false, 2, UINT32_MAX,
     2, 8},
    {"shl.b64 %d4, %d2, 2; add.s64 %d4, %d0, %d4; ld.global.v4.u32 {%r6, %r7, %r8, %r9}, [%d4];", 1,
     false, false, false, 16, UINT32_MAX, 0, 16},
    {"setp.gt.u32 %p1, %r0, 15;\n@%p1 st.shared.u32 [%d3+4], %r0;", 1, true, true, false, 4,
     0xffff0000, 4, 4},
    {"red.global.add.u32 [%d0], 1;", 1, false, true, true, 4, UINT32_MAX, 0, 0},
    {"cp.async.ca.shared.global [%d3], [%d1], 4;", 2, false, false, false, 4, UINT32_MAX, 0, 4},
    {MBARRIER EXPECT BULK_LOAD, 1, false, false, false, 16, 0xff, 0, 16},
    {MBARRIER EXPECT BULK_LOAD "mov.u32 %r20, 48;\n" WAIT("L", "0") BULK_STORE COMMIT
     "cp.async.bulk.wait_group 0;",
     2, false, false, false, 16, 0xff, 0, 16},
    {"st.local.u32 [local], 1;", 0, false, false, false, 0, 0, 0, 0},
    {"setp.gt.u32 %p1, %r0, 99;\n@%p1 ld.global.u32 %r6, [%d1];", 0, false, false, false, 0, 0, 0,
     0},
};

static void test_observer(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(observed); i++) {
        struct machine m;
        struct seen seen = {0};
        const struct at_emu_access *first = &seen.accesses[0];
        const struct at_emu_observer observer = {&seen, see_access, see_executed, NULL};

        start(&m, observed[i].body, 1, 32);
        m.launch.observer = &observer;
        run(&m);
        assert_int_equal(m.fault.kind, AT_EMU_NO_FAULT);
        assert_int_equal(seen.executed, m.launch.kernel->op_count);
        assert_int_equal(seen.access_count, observed[i].count);
        if (seen.access_count > 0) {
            uint64_t base = first->shared ? 0 : m.args[0];

            assert_int_equal(first->shared, observed[i].shared);
            assert_int_equal(first->store, observed[i].store);
            assert_int_equal(first->atomic, observed[i].atomic);
            assert_int_equal(first->bytes, observed[i].bytes);
            assert_int_equal(first->lanes, observed[i].lanes);
            for (uint64_t lane = 0; lane < AT_WARP; lane++)
                if (first->lanes >> lane & 1)
                    assert_int_equal(first->address[lane],
                                     base + observed[i].offset + lane * observed[i].stride);
        }
        stop(&m);
    }
}

/* Local memory is told apart, by the offset in each thread's. */
static void test_observed_local(void **state)
{
    struct machine m;
    struct seen seen = {0};
    const struct at_emu_observer observer = {&seen, NULL, NULL, see_access};

    (void)state;
    start(&m, "st.local.u64 [local+8], %d0; ld.global.u32 %r6, [%d1];", 1, 48);
    m.launch.observer = &observer;
    run(&m);
    assert_int_equal(seen.access_count, 2);
    assert_int_equal(seen.accesses[1].warp, 1);
    assert_int_equal(seen.accesses[1].lanes, 0xffff);
    assert_int_equal(seen.accesses[0].bytes, 8);
    assert_true(seen.accesses[0].store);
    assert_int_equal(seen.accesses[0].address[31], 8);
    stop(&m);
}

/* Diverged lanes are counted in the groups in which they run. */
static void test_observed_divergence(void **state)
{
    struct machine m;
    struct seen seen = {0};
    const struct at_emu_observer observer = {&seen, NULL, see_executed, NULL};
    size_t straight;

    (void)state;
    start(&m,
          "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nmov.u32 %r6, 1;\nbra B;\nA: mov.u32 %r6, 2;\nB:",
          1, 32);
    m.launch.observer = &observer;
    run(&m);
    straight = m.launch.kernel->op_count;
    assert_int_equal(seen.executed, straight);
    /* 24 lanes do not take the guarded branch and go without the one mov, 8 without the other and
     * the branch after it. */
    assert_int_equal(seen.lanes, straight * 32 - 2 * 24 - 2 * 8);
    stop(&m);
}

static void test_limit_is_a_threads(void **state)
{
    struct machine m;
    size_t count;

    (void)state;
    start(&m, "setp.lt.u32 %p1, %r0, 8;\n@%p1 bra A;\nA:", 1, 32);
    count = m.launch.kernel->op_count;
    m.launch.instruction_limit = count;
    run(&m);
    assert_int_equal(m.fault.kind, AT_EMU_NO_FAULT);
    m.launch.instruction_limit = count - 1;
    run(&m);
    assert_int_equal(m.fault.kind, AT_EMU_LIMIT);
    stop(&m);
}

/* Barriers count the time of shared memory. Here are more of them than there are ticks; a byte is
 * written in between, and a race follows. */
static const struct {
    const char *barrier;
    uint32_t threads;
} many_barriers[] = {{"bar.sync 0;", 64}, {"bar.warp.sync -1;", 32}};

static void test_many_barriers(void **state)
{
    (void)state;
    for (size_t i = 0; i < AT_COUNT(many_barriers); i++) {
        const char *barrier = many_barriers[i].barrier;
        char *body = at_format("st.shared.u32 [%%d3], %%r4;\nmov.u32 %%r7, 0;\nL: %s\n"
                               "add.s32 %%r7, %%r7, 1; setp.lt.u32 %%p1, %%r7, 1100000;\n"
                               "@%%p1 bra L;\nld.shared.u32 %%r6, [%%d3];\n"
                               "st.global.u32 [%%d1], %%r6;\n%s\nst.shared.u32 [s], %%r0; //!",
                               barrier, barrier);
        struct machine m;

        start(&m, body, 1, many_barriers[i].threads);
        run(&m);
        assert_int_equal(m.fault.kind, AT_EMU_SHARED_RACE);
        assert_int_equal(m.fault.line, marked_line(m.text));
        for (uint32_t t = 0; t < many_barriers[i].threads; t++)
            assert_int_equal(m.buffer[t], t);
        stop(&m);
        free(body);
    }
}

static void test_refused(void **state)
{
    struct machine m;
    struct at_error err = {AT_OK, ""};
    const uint64_t none[] = {1};

    (void)state;
    start(&m, "", 1, 32);
#define REFUSED(field, value, words)                                                               \
    do {                                                                                           \
        struct at_emu_launch launch = m.launch;                                                    \
                                                                                                   \
        launch.field = (value);                                                                    \
        assert_int_equal(at_emu_run(m.memory, &launch, &m.fault, &err), AT_USAGE);                 \
        assert_non_null(strstr(err.message, words));                                               \
    } while (0)
    REFUSED(block[0], 1025, "threads");
    REFUSED(block[1], 33, "1056 threads per block");
    REFUSED(block[2], 0, "threads");
    REFUSED(grid[1], 65536, "a grid of");
    REFUSED(grid[0], 0, "a grid of");
    REFUSED(dynamic_shared_bytes, 1 << 20, "shared memory");
    REFUSED(dynamic_shared_bytes, -1, "shared memory");
    REFUSED(arg_count, 0, "takes 1 arguments, not 0");
#undef REFUSED
    m.launch.only_blocks = none;
    m.launch.only_block_count = 1;
    assert_int_equal(at_emu_run(m.memory, &m.launch, &m.fault, &err), AT_USAGE);
    stop(&m);
}

static void test_dynamic_shared(void **state)
{
    struct machine m;

    (void)state;
    start(&m,
          "mov.u64 %d4, dynamic; add.s64 %d4, %d4, %d2; st.shared.u32 [%d4], %r4;\n"
          "st.shared.u32 [%d3], 1; ld.shared.u32 %r6, [%d4];" STORE,
          2, 64);
    m.launch.dynamic_shared_bytes = 256;
    run(&m);
    assert_int_equal(m.fault.kind, AT_EMU_NO_FAULT);
    for (uint32_t t = 0; t < 128; t++)
        assert_int_equal(m.buffer[t], t);
    stop(&m);
}

static void test_memory(void **state)
{
    struct at_emu_memory *memory = at_emu_memory_new();
    uint64_t a = at_emu_memory_allocate(memory, 1000), b = at_emu_memory_allocate(memory, 1);
    char *host = at_emu_memory_host(memory, a, 1000);

    (void)state;
    assert_int_equal(a % 512, 0);
    assert_int_equal(b % 512, 0);
    assert_true(b >= a + 1000);
    assert_non_null(host);
    host[999] = 7;
    assert_ptr_equal(at_emu_memory_host(memory, a + 999, 1), host + 999);
    assert_null(at_emu_memory_host(memory, a + 999, 2));
    assert_null(at_emu_memory_host(memory, a, 1001));
    assert_null(at_emu_memory_host(memory, a - 1, 1));
    assert_null(at_emu_memory_host(memory, a + 1000, 1));
    assert_null(at_emu_memory_host(memory, 0, 1));
    assert_int_equal(at_emu_memory_allocate(memory, 0), 0);
    assert_int_equal(at_emu_memory_allocate(memory, -1), 0);
    assert_int_equal(at_emu_memory_allocate(memory, INT64_MAX), 0);
    at_emu_memory_release(memory, a + 1); /* not the address of an allocation */
    assert_non_null(at_emu_memory_host(memory, a, 1000));
    at_emu_memory_release(memory, a);
    assert_null(at_emu_memory_host(memory, a, 1));
    assert_non_null(at_emu_memory_host(memory, b, 1));
    assert_true(at_emu_memory_allocate(memory, 1000) > b);
    at_emu_memory_free(memory);
    at_emu_memory_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_bugs),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_unwritten_copied),
        cmocka_unit_test(test_copy_not_waited_for),
        cmocka_unit_test(test_bulk_copy_not_waited_for),
        cmocka_unit_test(test_first_fault),
        cmocka_unit_test(test_three_dimensions),
        cmocka_unit_test(test_atomics),
        cmocka_unit_test(test_only_blocks),
        cmocka_unit_test(test_observer),
        cmocka_unit_test(test_observed_local),
        cmocka_unit_test(test_observed_divergence),
        cmocka_unit_test(test_limit_is_a_threads),
        cmocka_unit_test(test_many_barriers),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_dynamic_shared),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
