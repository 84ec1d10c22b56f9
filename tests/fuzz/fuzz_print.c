/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as the format of a kernel's printf, and any bytes as its arguments: two warps of two
 * blocks print, and what is shown has a bounded size and no control characters. */
#include "base/error.h"
#include "base/memory.h"
#include "base/text_stream.h"
#include "emulated/machine/machine.h"
#include "emulated/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input begins with the arguments. One of POINTER points to the format, for %s. */
enum { ARGUMENT_BYTES = 64, FORMAT_BYTES = 8192, POINTER = 0x70 };

static const char kernel[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".visible .entry k(.param .u64 f, .param .u64 a)\n{\n.reg .b64 %d<2>;\n.reg .b32 %r<1>;\n"
    "ld.param.u64 %d0, [f]; ld.param.u64 %d1, [a];\n"
    "{ .param .b64 p0; st.param.b64 [p0], %d0; .param .b64 p1; st.param.b64 [p1], %d1;\n"
    ".param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r0, [q]; }\nret;\n}\n";

static void check_shown(void *context, const char *text)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    char *shown;

    (void)context;
    if (strlen(text) > AT_EMU_PRINTED_BYTES + 64)
        abort();
    at_print_lines(out, text);
    shown = at_text_close(&stream, NULL);
    for (char *c = shown; *c; c++)
        if (*c == '\n' || *c == '\t')
            *c = ' ';
    if (!at_text_is_printable(shown, strlen(shown)))
        abort();
    free(shown);
}

static uint64_t keep(struct at_emu_memory *memory, const void *bytes, size_t size, size_t capacity)
{
    uint64_t address = at_emu_memory_allocate(memory, (int64_t)capacity);

    memcpy(at_emu_memory_host(memory, address, capacity), bytes, size);
    return address;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct at_emu_printer printer = {NULL, check_shown};
    struct at_ptx_module *module;
    struct at_emu_memory *memory = at_emu_memory_new();
    struct at_emu_fault fault;
    uint64_t arguments[ARGUMENT_BYTES / 8] = {0}, args[2];
    size_t before = size < ARGUMENT_BYTES ? size : ARGUMENT_BYTES;
    struct at_emu_launch launch = {
        .grid = {2, 1, 1},
        .block = {33, 1, 1},
        .args = args,
        .arg_count = 2,
        .block_limit = 1000000,
        .threads = 1,
        .printer = &printer,
    };

    if (size - before >= FORMAT_BYTES)
        size = before + FORMAT_BYTES - 1;
    memcpy(arguments, data, before);
    args[0] = keep(memory, data + before, size - before, FORMAT_BYTES);
    for (size_t i = 0; i < AT_COUNT(arguments); i++)
        if (arguments[i] == POINTER)
            arguments[i] = args[0];
    args[1] = keep(memory, arguments, sizeof arguments, sizeof arguments);
    if (at_ptx_read(&module, kernel, sizeof kernel - 1, NULL) != AT_OK ||
        at_ptx_find(module, "k", &launch.kernel, NULL) != AT_OK ||
        at_emu_run(memory, &launch, &fault, NULL) != AT_OK)
        abort();
    at_emu_memory_free(memory);
    at_ptx_free(module);
    return 0;
}
