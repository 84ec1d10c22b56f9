/* SPDX-License-Identifier: Apache-2.0 */
#include "device/emulated/emulated.h"
#include "emu/op.h"

/* Instructions per thread. One thread that transposes a matrix alone stays below this up to about a
 * million elements. An endless loop is stopped within a second. */
static const uint64_t instruction_limit = 16000000;

struct at_emu_launch at_emu_launch_of(const struct at_emu_device *device,
                                      const struct at_call *call)
{
    const struct at_ptx_kernel *kernel = call->kernel->handle;
    struct at_emu_launch launch = {
        .kernel = kernel,
        .args = call->args,
        .arg_count = kernel->param_count < AT_CALL_ARGS ? kernel->param_count : AT_CALL_ARGS,
        .arg_words = AT_CALL_WORDS,
        .instruction_limit = instruction_limit,
        .threads = device->threads,
    };

    at_emu_launch_take(&launch, &call->launch);
    return launch;
}
