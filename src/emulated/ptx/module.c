/* SPDX-License-Identifier: Apache-2.0 */
/* Questions about a module that has been read. */
#include "base/memory.h"
#include "emulated/ptx/reader.h"

#include <stdlib.h>
#include <string.h>

static void free_kernel(struct at_ptx_kernel *kernel)
{
    for (size_t i = 0; i < kernel->param_count; i++)
        free(kernel->params[i].name);
    free(kernel->params);
    free(kernel->presets);
    free(kernel->targets);
    free(kernel->ops);
    free(kernel->problem);
    free(kernel->name);
    free(kernel);
}

void at_ptx_free(struct at_ptx_module *module)
{
    if (!module)
        return;
    for (size_t i = 0; i < module->kernel_count; i++)
        free_kernel(module->kernels[i]);
    for (size_t i = 0; i < module->source_file_count; i++)
        free(module->source_files[i]);
    for (size_t i = 0; i < module->image.count; i++) {
        free(module->image.variables[i].initial);
        free(module->image.variables[i].pointers);
    }
    free(module->image.variables);
    free(module->kernels);
    free(module->source_files);
    free(module->text);
    free(module);
}

static struct at_ptx_source source_of(const struct at_ptx_module *module, int file, int line)
{
    const char *name = (size_t)file < module->source_file_count ? module->source_files[file] : NULL;

    return (struct at_ptx_source){name ? name : "", line};
}

/* Why a kernel cannot run, and where it says so: in the source, if the compiler told. */
static enum at_status refuse(const struct at_ptx_kernel *kernel, struct at_error *err)
{
    const struct at_emu_places *places = &kernel->problem_places;
    struct at_ptx_source place =
        source_of(kernel->module, places->caller_file, places->caller_line);

    const char *slash = strrchr(place.file, '/');

    if (place.line > 0 && place.file[0])
        return at_fail(err, AT_USAGE, "%s line %d: %s", slash ? slash + 1 : place.file, place.line,
                       kernel->problem);
    return at_fail(err, AT_USAGE, "kernel %s: %s", kernel->name, kernel->problem);
}

enum at_status at_ptx_find(const struct at_ptx_module *module, const char *name,
                           const struct at_ptx_kernel **kernel, struct at_error *err)
{
    for (size_t i = 0; i < module->kernel_count; i++) {
        const struct at_ptx_kernel *found = module->kernels[i];

        if (strcmp(found->name, name) != 0)
            continue;
        if (found->problem)
            return refuse(found, err);
        *kernel = found;
        return AT_OK;
    }
    return at_fail(err, AT_USAGE, "the PTX has no kernel %s", name);
}

int64_t at_ptx_kernel_shared_bytes(const struct at_ptx_kernel *kernel)
{
    return kernel->shared_bytes;
}

size_t at_ptx_kernel_instructions(const struct at_ptx_kernel *kernel)
{
    return kernel->op_count;
}

int at_ptx_instruction_line(const struct at_ptx_kernel *kernel, size_t index)
{
    return kernel->ops[index].line;
}

const char *at_ptx_instruction_text(const struct at_ptx_kernel *kernel, size_t index)
{
    return kernel->ops[index].text;
}

void at_ptx_instruction_source(const struct at_ptx_kernel *kernel, size_t index,
                               struct at_ptx_source *here, struct at_ptx_source *caller)
{
    const struct at_emu_places *places = &kernel->ops[index].places;

    *here = source_of(kernel->module, places->file, places->line);
    *caller = source_of(kernel->module, places->caller_file, places->caller_line);
}
