/* SPDX-License-Identifier: Apache-2.0 */
#include "device/emulated/emulated.h"
#include "emu/op.h"

struct at_emu_launch at_emu_launch_of(const struct at_emu_device *device,
                                      const struct at_call *call)
{
    const struct at_ptx_kernel *kernel = call->kernel->handle;
    struct at_emu_launch launch = {
        .kernel = kernel,
        .args = call->args,
        .arg_count = kernel->param_count < AT_CALL_ARGS ? kernel->param_count : AT_CALL_ARGS,
        .arg_words = AT_CALL_WORDS,
        .block_limit = AT_EMU_BLOCK_STEPS,
        .threads = device->threads,
        .name = "kernel", /* the entry's name encodes its config, which the caller knows */
        .multiprocessors = (int)device->base.info.multiprocessors,
    };

    at_emu_launch_take(&launch, &call->launch);
    return launch;
}
