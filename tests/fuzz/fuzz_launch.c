/* SPDX-License-Identifier: Apache-2.0 */
/* Any lines as what --grid, --block, --shared and each --arg say of a small kernel, which is then
 * explained, with its caches and its time: no figure is negative. */
#include "base/memory.h"
#include "explain/kernel_argument.h"
#include "explain/own_kernel.h"

#include "../unit/hopper.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A user's own buffers may take the whole machine; here they may not. */
enum { ARGUMENTS_MAX = 4, ELEMENTS_MAX = 1 << 16, GIVEN = 3 };

static char ptx[] = ".version 9.0\n.target sm_90\n.address_size 64\n"
                    ".visible .entry k(.param .u64 x, .param .u32 n)\n{\n.reg .b64 %d<2>;\n"
                    ".reg .b32 %r<2>;\nld.param.u64 %d0, [x]; ld.param.u32 %r0, [n];\n"
                    "mov.u32 %r1, %ctaid.z; mul.wide.u32 %d1, %r1, 4; add.s64 %d0, %d0, %d1;\n"
                    "st.global.u32 [%d0], %r0;\nret;\n}\n";
static char log_text[] = "Compiling entry function 'k' for 'sm_90'\nUsed 24 registers\n";

static const struct at_device_info h200 = {
    .name = "NVIDIA H200",
    .kind = AT_KIND_EMULATED,
    .multiprocessors = 132,
    .memory_bytes = INT64_C(150000000000),
    .l2_bytes = 62914560,
    HOPPER,
};

/* Would the argument take much memory, or open a file? */
static bool is_large(const char *text)
{
    struct at_kernel_argument argument;
    struct at_error err;
    bool large;

    if (at_kernel_argument_parse(&argument, text, &err) != AT_OK)
        return false;
    large = argument.count > ELEMENTS_MAX || argument.value == AT_VALUE_FILE;
    for (size_t i = 0; i < argument.field_count; i++)
        large |= is_large(argument.fields[i].text);
    at_kernel_argument_clear(&argument);
    return large;
}

static void explain(const struct at_own_launch *launch)
{
    struct at_own_file file = {.path = (char *)(uintptr_t) "my.cu",
                               .compiled = {ptx, sizeof ptx - 1, log_text}};
    struct at_explanation explanation;
    struct at_error err;

    at_entry_points_read(&file.entries, ptx, sizeof ptx - 1);
    if (at_own_kernel_explain(&file, launch, &h200, NULL, 2, NULL, &explanation, &err) == AT_OK) {
        if (explanation.blocks < 1 || explanation.bytes_written < 0 ||
            explanation.caches.l1_to_l2_bytes < 0 || explanation.caches.l2_to_dram_bytes < 0)
            abort();
        at_schema_clear(&at_explanation_schema, &explanation);
    }
    at_entry_points_clear(&file.entries);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = at_strndup((const char *)data, size), *rest = text;
    const char *lines[GIVEN + ARGUMENTS_MAX] = {0};
    size_t count = 0;
    bool large = false;

    while (rest && count < AT_COUNT(lines)) {
        lines[count++] = strsep(&rest, "\n");
        large |= count > GIVEN && is_large(lines[count - 1]);
    }
    if (!large)
        explain(&(struct at_own_launch){.grid = lines[0],
                                        .block = lines[1],
                                        .shared = lines[2],
                                        .arguments = lines + GIVEN,
                                        .argument_count = count > GIVEN ? count - GIVEN : 0});
    free(text);
    return 0;
}
