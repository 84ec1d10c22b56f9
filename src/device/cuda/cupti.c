/* SPDX-License-Identifier: Apache-2.0 */
#include "device/cuda/cupti.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/cuda/cuda_device.h"
#include "system/library.h"
#include "system/paths.h"

#include <cuda.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CUPTI_CALL(function, params, err) cupti_check(at_cupti.function(params), #function, err)

static struct at_cupti_api at_cupti;

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
        (void)at_library_open(&opened, names, NULL, "", "", NULL);
    at_free(path);
}

/* Open the first library that the loader finds, or that is in one of CUDA's folders. */
static enum at_status open_library(void **opened, struct at_error *err)
{
    static const char lacking[] = "no CUPTI, which reads a GPU's counters";
    static const char remedy[] =
        "install that of the CUDA Toolkit (12.6 or later), or name its file "
        "in AUTOTUNE_CUPTI";
    const char *named[2], *const *names = wanted_names(named);
    char *folder = at_path_from_own_file(AT_CUDA_LIBDIR);
    char *other = folder ? at_format("%s/../extras/CUPTI/lib64", folder) : NULL;
    enum at_status status = at_library_open(opened, names, other, lacking, remedy, NULL);

    if (status != AT_OK)
        status = at_library_open(opened, names, folder, lacking, remedy, err);
    at_free(other);
    at_free(folder);
    return status;
}

/* Load the library: the one that AUTOTUNE_CUPTI names, or one of the usual names. On AT_DEVICE the
 * message names the missing file and the remedy. */
static enum at_status cupti_load(struct at_error *err)
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

/* Turn the result of a function into a status. AT_DEVICE: the message names the missing permission,
 * or the function and its result. */
static enum at_status cupti_check(int result, const char *function, struct at_error *err)
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

/* Reads the GPU's own counters of a launch through CUPTI's range profiler. The hardware counts only
 * some at a time, so the launch is repeated, each time with empty caches. */

/* ---- empty caches ---- */

/* Empties L2 before a launch whose caches are counted. A kernel reads a buffer several times as
 * large as L2, so that all that other kernels wrote goes to DRAM and nothing that they read stays.
 * The buffer itself is only read: lines that are left of it cost nothing to give up. Nsight Compute
 * invalidates the caches in the driver, which has no interface for that. */

/* The kernel and buffer that empty the caches. */
struct sweep {
    CUmodule module;
    CUfunction kernel;
    at_address buffer;
    int64_t bytes;
};

enum { TIMES_L2 = 4, BLOCKS_PER_MULTIPROCESSOR = 8, THREADS = 256 };
static const int64_t least_bytes = 64 << 20;

/* volatile: neither removed nor kept in L1. */
static const char sweep_ptx[] = ".version 6.3\n"
                                ".target sm_70\n"
                                ".address_size 64\n"
                                ".visible .entry sweep(.param .u64 from, .param .u64 bytes)\n"
                                "{\n"
                                ".reg .pred %over;\n"
                                ".reg .b32 %x, %size, %block, %blocks, %a, %b, %c, %d;\n"
                                ".reg .b64 %at, %end, %step, %first;\n"
                                "ld.param.u64 %at, [from];\n"
                                "ld.param.u64 %end, [bytes];\n"
                                "add.u64 %end, %at, %end;\n"
                                "mov.u32 %x, %tid.x;\n"
                                "mov.u32 %size, %ntid.x;\n"
                                "mov.u32 %block, %ctaid.x;\n"
                                "mov.u32 %blocks, %nctaid.x;\n"
                                "mad.lo.u32 %x, %block, %size, %x;\n"
                                "mul.wide.u32 %first, %x, 16;\n"
                                "add.u64 %at, %at, %first;\n"
                                "mul.lo.u32 %size, %size, %blocks;\n"
                                "mul.wide.u32 %step, %size, 16;\n"
                                "next:\n"
                                "setp.ge.u64 %over, %at, %end;\n"
                                "@%over bra done;\n"
                                "ld.volatile.global.v4.u32 {%a, %b, %c, %d}, [%at];\n"
                                "add.u64 %at, %at, %step;\n"
                                "bra next;\n"
                                "done:\n"
                                "ret;\n"
                                "}\n";

static const struct at_device_ops *ops_of(const struct at_device *device)
{
    return ((const struct at_device_base *)device)->ops;
}

/* Load the kernel and allocate its buffer; after a failure, close it too. */
static enum at_outcome open_sweep(struct sweep *sweep, struct at_device *device,
                                  struct at_error *err)
{
    int64_t l2_bytes = at_cuda_device_of(device)->base.info.l2_bytes;
    enum at_outcome outcome;

    *sweep = (struct sweep){.bytes = TIMES_L2 * l2_bytes};
    if (sweep->bytes < least_bytes)
        sweep->bytes = least_bytes;
    outcome = at_cuda_outcome(at_cuda.cuModuleLoadData(&sweep->module, sweep_ptx),
                              "loading what empties the caches", err);
    if (outcome == AT_CORRECT)
        outcome =
            at_cuda_outcome(at_cuda.cuModuleGetFunction(&sweep->kernel, sweep->module, "sweep"),
                            "finding what empties the caches", err);
    if (outcome == AT_CORRECT)
        outcome = ops_of(device)->allocate(device, sweep->bytes, &sweep->buffer, err);
    return outcome;
}

static void close_sweep(struct sweep *sweep, struct at_device *device)
{
    if (sweep->buffer)
        ops_of(device)->release(device, sweep->buffer);
    if (sweep->module)
        at_cuda.cuModuleUnload(sweep->module);
}

/* Empty the caches, and wait until they are. */
static enum at_outcome sweep_caches(const struct sweep *sweep, struct at_device *base,
                                    struct at_error *err)
{
    const struct at_cuda_device *device = at_cuda_device_of(base);
    void *args[] = {(void *)&sweep->buffer, (void *)&sweep->bytes};
    unsigned blocks = BLOCKS_PER_MULTIPROCESSOR * (unsigned)device->base.info.multiprocessors;
    CUresult result = at_cuda.cuLaunchKernel(sweep->kernel, blocks, 1, 1, THREADS, 1, 1, 0,
                                             device->stream, args, NULL);

    if (result == CUDA_SUCCESS)
        result = at_cuda.cuStreamSynchronize(device->stream);
    return at_cuda_outcome(result, "emptying the caches", err);
}

/* ---- counters ---- */

/* The metrics, as Nsight Compute names them, and where their values go. */
static const struct {
    const char *name;
    size_t offset;
} metrics[] = {
#define METRIC(name, member)                                                                       \
    {                                                                                              \
        name, offsetof(struct at_counters, member)                                                 \
    }
    METRIC("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", load_requests),
    METRIC("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", load_sectors),
    METRIC("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", store_requests),
    METRIC("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", store_sectors),
    METRIC("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", load_conflicts),
    METRIC("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", store_conflicts),
    METRIC("l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", l1_hits),
    METRIC("lts__t_sectors_srcunit_tex_op_read.sum", l2_to_l1_sectors),
    METRIC("lts__t_sectors_srcunit_tex_op_write.sum", l1_to_l2_sectors),
    METRIC("lts__t_sectors_srcunit_tex_lookup_hit.sum", l2_hits),
    METRIC("lts__t_sectors_srcunit_tex_lookup_miss.sum", l2_misses),
    METRIC("dram__bytes_read.sum", dram_to_l2_bytes),
    METRIC("dram__bytes_write.sum", l2_to_dram_bytes),
    METRIC("gpu__time_duration.sum", duration_ns),
    METRIC("sm__warps_active.avg.pct_of_peak_sustained_active", achieved_percent),
#undef METRIC
};

enum { METRICS = AT_COUNT(metrics), LAUNCHES_MAX = 256 };

/* The resources of a count. */
struct counting {
    const char *names[METRICS];
    void *host, *profiler; /* NULL: not made */
    uint8_t *availability; /* images; NULL: none */
    uint8_t *config, *data;
    size_t config_size, data_size;
    struct sweep sweep;
};

/* ---- the host's side: which counters in which launch ---- */

/* Which counters can be read here. CUPTI knows its chips without, so only a refusal counts. */
static enum at_status ask_available(struct counting *counting, CUcontext context,
                                    struct at_error *err)
{
    struct at_cupti_availability ask = {.size = AT_CUPTI_SIZE(at_cupti_availability, image),
                                        .context = context};
    enum at_status status = CUPTI_CALL(cuptiProfilerGetCounterAvailability, &ask, err);

    if (status != AT_OK)
        return status;
    counting->availability = at_alloc_array(ask.image_size, 1);
    ask.image = counting->availability;
    return CUPTI_CALL(cuptiProfilerGetCounterAvailability, &ask, err);
}

static enum at_status make_config(struct counting *counting, size_t device, struct at_error *err)
{
    struct at_cupti_chip_name chip = {.size = AT_CUPTI_SIZE(at_cupti_chip_name, name),
                                      .device = device};
    struct at_cupti_host host = {.size = AT_CUPTI_SIZE(at_cupti_host, host),
                                 .availability = counting->availability};
    struct at_cupti_metrics wanted = {
        .size = AT_CUPTI_SIZE(at_cupti_metrics, count), .names = counting->names, .count = METRICS};
    struct at_cupti_config_size size = {.size = AT_CUPTI_SIZE(at_cupti_config_size, image_size)};
    struct at_cupti_config config = {.size = AT_CUPTI_SIZE(at_cupti_config, image)};
    enum at_status status = CUPTI_CALL(cuptiDeviceGetChipName, &chip, err);

    host.chip = chip.name;
    if (status == AT_OK)
        status = CUPTI_CALL(cuptiProfilerHostInitialize, &host, err);
    if (status != AT_OK)
        return status;
    counting->host = wanted.host = size.host = config.host = host.host;
    status = CUPTI_CALL(cuptiProfilerHostConfigAddMetrics, &wanted, err);
    if (status == AT_OK)
        status = CUPTI_CALL(cuptiProfilerHostGetConfigImageSize, &size, err);
    if (status != AT_OK)
        return status;
    counting->config_size = config.image_size = size.image_size;
    counting->config = config.image = at_alloc_array(size.image_size, 1);
    return CUPTI_CALL(cuptiProfilerHostGetConfigImage, &config, err);
}

static enum at_status evaluate(const struct counting *counting, struct at_counters *counters,
                               struct at_error *err)
{
    double found[METRICS] = {0};
    struct at_cupti_values values = {
        .size = AT_CUPTI_SIZE(at_cupti_values, values),
        .host = counting->host,
        .data = counting->data,
        .data_size = counting->data_size,
        .names = (const char **)counting->names,
        .count = METRICS,
        .values = found,
    };
    enum at_status status = CUPTI_CALL(cuptiProfilerHostEvaluateToGpuValues, &values, err);

    for (size_t i = 0; i < METRICS && status == AT_OK; i++) {
        if (!(found[i] >= 0 && found[i] < 9e18))
            return at_fail(err, AT_DEVICE, "this GPU's counter %s has no value", metrics[i].name);
        *(int64_t *)((char *)counters + metrics[i].offset) = llround(found[i]);
    }
    return status;
}

/* ---- the device's side ---- */

static enum at_status make_data(struct counting *counting, struct at_error *err)
{
    struct at_cupti_data_size size = {
        .size = AT_CUPTI_SIZE(at_cupti_data_size, data_size),
        .profiler = counting->profiler,
        .names = counting->names,
        .count = METRICS,
        .ranges = 1,
        .nodes = 1,
    };
    struct at_cupti_data data = {.size = AT_CUPTI_SIZE(at_cupti_data, data),
                                 .profiler = counting->profiler};
    enum at_status status = CUPTI_CALL(cuptiRangeProfilerGetCounterDataSize, &size, err);

    if (status != AT_OK)
        return status;
    counting->data_size = data.data_size = size.data_size;
    counting->data = data.data = at_alloc_array(size.data_size, 1);
    return CUPTI_CALL(cuptiRangeProfilerCounterDataImageInitialize, &data, err);
}

static enum at_status enable(struct counting *counting, CUcontext context, struct at_error *err)
{
    struct at_cupti_enable made = {.size = AT_CUPTI_SIZE(at_cupti_enable, profiler),
                                   .context = context};
    struct at_cupti_set_config set = {
        .size = AT_CUPTI_SIZE(at_cupti_set_config, level),
        .config_size = counting->config_size,
        .config = counting->config,
        .range = AT_CUPTI_AUTO_RANGE,
        .replay = AT_CUPTI_USER_REPLAY,
        .ranges = 1,
        .levels = 1,
        .least_level = 1,
        .level = 1,
    };
    enum at_status status = CUPTI_CALL(cuptiRangeProfilerEnable, &made, err);

    if (status != AT_OK)
        return status;
    counting->profiler = set.profiler = made.profiler;
    status = make_data(counting, err);
    set.data = counting->data;
    set.data_size = counting->data_size;
    return status == AT_OK ? CUPTI_CALL(cuptiRangeProfilerSetConfig, &set, err) : status;
}

static enum at_outcome outcome_of(enum at_status status)
{
    return status == AT_OK ? AT_CORRECT : AT_LAUNCH;
}

/* Launch once with empty caches; *all: no counter is left. */
static enum at_outcome count_once(const struct counting *counting, struct at_device *device,
                                  const struct at_call *call, bool *all, struct at_error *err)
{
    struct at_cupti_profiler start = {.size = AT_CUPTI_SIZE(at_cupti_profiler, profiler),
                                      .profiler = counting->profiler};
    struct at_cupti_stop stop = {.size = AT_CUPTI_SIZE(at_cupti_stop, all),
                                 .profiler = counting->profiler};
    enum at_outcome outcome = sweep_caches(&counting->sweep, device, err);

    if (outcome == AT_CORRECT)
        outcome = outcome_of(CUPTI_CALL(cuptiRangeProfilerStart, &start, err));
    if (outcome == AT_CORRECT)
        outcome = ops_of(device)->start(device, call, err);
    if (outcome == AT_CORRECT)
        outcome = ops_of(device)->wait(device, err);
    if (outcome == AT_CORRECT)
        outcome = outcome_of(CUPTI_CALL(cuptiRangeProfilerStop, &stop, err));
    *all = stop.all != 0;
    return outcome;
}

static enum at_outcome count_all(const struct counting *counting, struct at_device *device,
                                 const struct at_call *call, int64_t *launches,
                                 struct at_error *err)
{
    struct at_cupti_decode decode = {.size = AT_CUPTI_SIZE(at_cupti_decode, dropped),
                                     .profiler = counting->profiler};
    enum at_outcome outcome = AT_CORRECT;
    bool all = false;

    for (*launches = 0; *launches < LAUNCHES_MAX && !all && outcome == AT_CORRECT; ++*launches)
        outcome = count_once(counting, device, call, &all, err);
    if (outcome == AT_CORRECT && !all)
        outcome = outcome_of(at_fail(err, AT_DEVICE, "CUPTI wants more than %d launches to count",
                                     (int)LAUNCHES_MAX));
    if (outcome == AT_CORRECT)
        outcome = outcome_of(CUPTI_CALL(cuptiRangeProfilerDecodeData, &decode, err));
    if (outcome == AT_CORRECT && decode.dropped > 0)
        outcome = outcome_of(at_fail(err, AT_DEVICE, "CUPTI has dropped the launch's counters"));
    return outcome;
}

/* ---- the whole ---- */

static enum at_status prepare(struct counting *counting, const struct at_cuda_device *device,
                              struct at_error *err)
{
    struct at_cupti_initialize initialize = {.size = AT_CUPTI_SIZE(at_cupti_initialize, none)};
    enum at_status status = cupti_load(err);

    if (status == AT_OK)
        status = CUPTI_CALL(cuptiProfilerInitialize, &initialize, err);
    if (status == AT_OK)
        status = ask_available(counting, device->context, err);
    if (status == AT_OK)
        status = make_config(counting, (size_t)device->base.info.ordinal, err);
    if (status == AT_OK)
        status = enable(counting, device->context, err);
    return status;
}

/* On a lost device the libraries may hang, and the process ends. */
static void end(struct counting *counting, struct at_device *device, bool lost)
{
    struct at_cupti_profiler profiler = {.size = AT_CUPTI_SIZE(at_cupti_profiler, profiler),
                                         .profiler = counting->profiler};
    struct at_cupti_host_end host = {.size = AT_CUPTI_SIZE(at_cupti_host_end, host),
                                     .host = counting->host};

    if (!lost)
        close_sweep(&counting->sweep, device);
    if (counting->profiler && !lost)
        at_cupti.cuptiRangeProfilerDisable(&profiler);
    if (counting->host && !lost)
        at_cupti.cuptiProfilerHostDeinitialize(&host);
    at_free(counting->availability);
    at_free(counting->config);
    at_free(counting->data);
}

enum at_outcome at_cuda_count(struct at_device *device, const struct at_call *call,
                              struct at_counters *counters, struct at_error *err)
{
    struct counting counting = {0};
    struct at_counters counted = {0};
    enum at_outcome outcome;

    for (size_t i = 0; i < METRICS; i++)
        counting.names[i] = metrics[i].name;
    outcome = outcome_of(prepare(&counting, at_cuda_device_of(device), err));
    if (outcome == AT_CORRECT)
        outcome = open_sweep(&counting.sweep, device, err);
    if (outcome == AT_CORRECT)
        outcome = count_all(&counting, device, call, &counted.launches, err);
    if (outcome == AT_CORRECT)
        outcome = outcome_of(evaluate(&counting, &counted, err));
    end(&counting, device, at_outcome_loses_device(outcome));
    if (outcome == AT_CORRECT)
        *counters = counted;
    return outcome;
}
