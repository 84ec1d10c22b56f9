/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cupti.h"

#include "base/memory.h"
#include "system/library.h"
#include "system/paths.h"

#include <stdlib.h>
#include <string.h>

struct at_cupti_api at_cupti;

static const char *const library_names[] = {"libcupti.so.13", "libcupti.so.12", NULL};

static const char *const *wanted_names(const char *named[2])
{
    named[0] = getenv("AUTOTUNE_CUPTI");
    named[1] = NULL;
    return named[0] && *named[0] ? named : library_names;
}

/* CUPTI opens this library by its name, but where it lies beside CUPTI only the loader's path is
 * searched. The loader takes one that is open already. A failure shows when CUPTI needs it. */
static void open_companion(void)
{
    const char *own = at_library_path((const void *)(uintptr_t)at_cupti.cuptiProfilerInitialize);
    size_t folder = (size_t)(at_path_name(own) - own);
    char *path = at_format("%.*slibnvperf_host.so", (int)folder, own);
    const char *const names[] = {path, NULL};
    void *opened;

    if (folder > 0)
        (void)at_library_open(&opened, names, NULL, "", NULL);
    at_free(path);
}

/* Open the first library that the loader finds, or that is in one of CUDA's folders. */
static enum at_status open_library(void **opened, struct at_error *err)
{
    static const char remedy[] = "no CUPTI, which reads a GPU's counters: install that of the CUDA "
                                 "Toolkit (12.6 or later), or name its file in AUTOTUNE_CUPTI";
    const char *named[2], *const *names = wanted_names(named);
    char *folder = at_path_from_own_file(AT_CUDA_LIBDIR);
    char *other = folder ? at_format("%s/../extras/CUPTI/lib64", folder) : NULL;
    enum at_status status = at_library_open(opened, names, other, remedy, NULL);

    if (status != AT_OK)
        status = at_library_open(opened, names, folder, remedy, err);
    at_free(other);
    at_free(folder);
    return status;
}

enum at_status at_cupti_load(struct at_error *err)
{
    static void *library;
    const struct at_symbol symbols[] = {
#define SYMBOL(name, params) {#name, (void **)&at_cupti.name, 0},
        AT_CUPTI_FUNCTIONS(SYMBOL)
#undef SYMBOL
            {"cuptiGetResultString", (void **)&at_cupti.cuptiGetResultString, 0},
    };
    void *opened;
    enum at_status status;

    if (library)
        return AT_OK;
    status = open_library(&opened, err);
    if (status != AT_OK)
        return status;
    if (at_library_symbols(opened, symbols, AT_COUNT(symbols), err) != AT_OK)
        return at_fail_within(err, "reading counters needs CUPTI of CUDA 12.6 or later");
    open_companion();
    library = opened; /* only now that no symbol is missing */
    return AT_OK;
}

/* Results that the user or an administrator can mend, by the numbers of CUptiResult. */
static const struct {
    int result;
    const char *remedy;
} remedies[] = {
    {26, "another profiler is using this GPU's counters: end it first"},
    {35, "the driver lets only root read this GPU's counters: run as root, in a container with "
         "--cap-add=SYS_ADMIN, or load the driver with NVreg_RestrictProfilingToAdminUsers=0"},
    {39, "another profiler is attached to this process: run without it"},
    {40, "this virtual GPU's host forbids reading counters: its administrator can allow it"},
    {41, "a GPU in confidential computing mode has no counters to read"},
    {43, "CUPTI reads no counters of this MIG instance: use a whole GPU"},
};

enum at_status at_cupti_check(int result, const char *function, struct at_error *err)
{
    const char *name = NULL;

    if (result == 0)
        return AT_OK;
    at_cupti.cuptiGetResultString(result, &name);
    for (size_t i = 0; i < AT_COUNT(remedies); i++)
        if (remedies[i].result == result)
            return at_fail(err, AT_DEVICE, "%s (%s: %s)", remedies[i].remedy, function,
                           name ? name : "no name");
    return at_fail(err, AT_DEVICE, "cannot read this GPU's counters: %s: %s (%d)", function,
                   name ? name : "unknown error", result);
}
