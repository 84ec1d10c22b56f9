/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/nvrtc.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "kernel/cuda_headers.h"
#include "kernel/render.h"
#include "system/library.h"
#include "system/paths.h"
#include "worker/worker.h"

#include <limits.h>
#include <nvrtc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Since NVRTC 12 the soname has only the major version; 11.2 is the last one before. */
static const char *const library_names[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
                                            NULL};

static const char variable[] = "AUTOTUNE_NVRTC";

/* The variable with the value that at_nvrtc_name gave it; or NULL. It is never freed. */
static _Atomic(char *) assignment;

/* What to open, until a NULL: the file that was named, or libraries of the usual names. */
static const char *const *wanted_names(const char *named[2])
{
    const char *own = assignment;

    named[0] = own ? own + sizeof variable : getenv(variable);
    named[1] = NULL;
    return named[0] && *named[0] ? named : library_names;
}

#define FUNCTIONS(X)                                                                               \
    X(nvrtcVersion)                                                                                \
    X(nvrtcGetErrorString)                                                                         \
    X(nvrtcGetNumSupportedArchs)                                                                   \
    X(nvrtcGetSupportedArchs)                                                                      \
    X(nvrtcCreateProgram)                                                                          \
    X(nvrtcDestroyProgram)                                                                         \
    X(nvrtcAddNameExpression)                                                                      \
    X(nvrtcCompileProgram)                                                                         \
    X(nvrtcGetProgramLogSize)                                                                      \
    X(nvrtcGetProgramLog)                                                                          \
    X(nvrtcGetCUBINSize)                                                                           \
    X(nvrtcGetCUBIN)                                                                               \
    X(nvrtcGetPTXSize)                                                                             \
    X(nvrtcGetPTX)

static struct {
#define FIELD(name) __typeof__(name) *name;
    FUNCTIONS(FIELD)
#undef FIELD
} api;

enum { OPTIONS_MAX = 16, HEADERS_MAX = 1 + AT_STANDARD_HEADERS_MAX };

struct at_nvrtc {
    struct at_compiler compiler;
    int version; /* 100 * major + minor */
    char *options[OPTIONS_MAX];
    int option_count;
    /* Folders that are searched for what a source includes, as options; NULL: none. They are no
     * part of the compiler's options, which are in the key of every compiled kernel: most kernels
     * include nothing, and are the same wherever CUDA is installed. */
    char *cuda_folder, *libcuxx_folder;
    char *headers; /* the folder of CUDA's headers; NULL: none */
    /* For a user's file: options that name the folders of its own, and its name. NULL: a program of
     * families. */
    char **own_folders, *own_name;
    size_t own_count;
    const char *const *instances; /* borrowed */
    size_t instance_count;
};

static const char minimal[] = "-minimal", program_name[] = "program.cu";

/* Options, and the first version that gets them. -no-cache keeps NVRTC from looking for the CUDA
 * driver and from returning empty logs on a hit (NVIDIA/Fuser issue 4694). -minimal leaves out
 * built-in declarations that templates do not use, but CUDA's headers and users do.
 * -modify-stack-limit=false keeps it from changing the process's limits. ptxas -v reports registers
 * and spills in the log. */
static const struct {
    const char *option;
    int since; /* 100 * major + minor */
} common_options[] = {
    {"-std=c++17", 0}, {"-no-cache", 1209}, {minimal, 1300}, {"-modify-stack-limit=false", 1300},
    {"-Xptxas=-v", 0}, /* the last, so that it can be left out */
};

static enum at_status load_api(struct at_error *err)
{
    static void *library;
    const struct at_symbol symbols[] = {
#define SYMBOL(name) {#name, (void **)&api.name, 0},
        FUNCTIONS(SYMBOL)
#undef SYMBOL
    };
    static const char lacking[] = "no NVRTC";
    static const char remedy[] =
        "install the CUDA Toolkit or NVIDIA's package nvidia-cuda-nvrtc for Python, and name its "
        "library folder in LD_LIBRARY_PATH";
    const char *named[2];
    char *folder;
    void *opened;
    enum at_status status;

    if (library)
        return AT_OK;
    folder = at_path_from_own_file(AT_CUDA_LIBDIR);
    status = at_library_open(&opened, wanted_names(named), folder, lacking, remedy, err);
    at_free(folder);
    if (status != AT_OK)
        return status;
    status = at_library_symbols(opened, symbols, AT_COUNT(symbols), err);
    if (status != AT_OK) {
        at_advise(err, remedy);
        return at_fail_within(err, "%s", lacking);
    }
    library = opened; /* only when all its functions were found */
    return AT_OK;
}

enum at_status at_nvrtc_name(const char *name, struct at_error *err)
{
    char *wanted = at_format("%s=%s", variable, name), *before = NULL;
    bool is_first =
        !api.nvrtcVersion && atomic_compare_exchange_strong(&assignment, &before, wanted);
    bool is_same = before && strcmp(before, wanted) == 0;

    if (is_first) {
        at_worker_give(wanted);
        return AT_OK;
    }
    at_free(wanted);
    if (is_same)
        return AT_OK;
    return before ? at_fail(err, AT_USAGE, "NVRTC was named %s before", before + sizeof variable)
                  : at_fail(err, AT_USAGE, "NVRTC is open already, from %s", at_nvrtc_path());
}

/* The loader looks in many folders before it says no. Its answer holds until it loads something. */
bool at_nvrtc_is_loaded(void)
{
    static _Atomic unsigned long long not_among;
    unsigned long long loaded = at_libraries_ever();
    const char *named[2];

    if (loaded == not_among)
        return false;
    if (at_library_is_loaded(wanted_names(named)))
        return true;
    not_among = loaded;
    return false;
}

const char *at_nvrtc_path(void)
{
    return at_library_path((const void *)(uintptr_t)api.nvrtcVersion);
}

char *at_nvrtc_request(void)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    const char *named[2], *const *names = wanted_names(named);
    char *folder = at_path_from_own_file(AT_CUDA_LIBDIR);

    for (size_t i = 0; names[i]; i++)
        fprintf(out, "%s ", names[i]);
    fprintf(out, "%s", folder ? folder : "");
    at_free(folder);
    for (size_t i = 0; i < AT_COUNT(common_options); i++)
        fprintf(out, " %s %d", common_options[i].option, common_options[i].since);
    folder = at_cuda_headers_request();
    fprintf(out, " %s", folder);
    at_free(folder);
    return at_text_close(&stream, NULL);
}

enum at_status at_nvrtc_architectures(int **architectures, size_t *count, struct at_error *err)
{
    int number = 0;
    enum at_status status = load_api(err);

    if (status != AT_OK)
        return status;
    if (api.nvrtcGetNumSupportedArchs(&number) != NVRTC_SUCCESS || number < 1)
        return at_fail(err, AT_DEVICE, "NVRTC does not say which architectures it compiles for");
    *architectures = at_alloc_array((size_t)number, sizeof **architectures);
    api.nvrtcGetSupportedArchs(*architectures);
    *count = (size_t)number;
    return AT_OK;
}

/* Choose the architecture to compile for. Machine code runs on devices of the same major version
 * and the same or a higher minor one (CUDA C++ Programming Guide, "Binary Compatibility"). Other
 * devices get PTX of the newest architecture that is not newer than they are. *ptx is true on entry
 * if PTX is wanted anyway. */
static enum at_status choose_architecture(char *option, size_t capacity, int64_t device, bool *ptx,
                                          struct at_error *err)
{
    int *known = NULL, best = 0;
    size_t count = 0;
    enum at_status status = at_nvrtc_architectures(&known, &count, err);

    if (status != AT_OK)
        return status;
    for (size_t i = 0; i < count; i++)
        if (known[i] <= device && known[i] > best)
            best = known[i];
    at_free(known);
    if (best == 0)
        return at_fail(err, AT_DEVICE,
                       "this NVRTC no longer compiles for compute capability %d.%d; an older CUDA "
                       "Toolkit does",
                       (int)device / 10, (int)device % 10);
    *ptx |= best / 10 != device / 10;
    snprintf(option, capacity, "-arch=%s_%d", *ptx ? "compute" : "sm", best);
    return AT_OK;
}

void at_nvrtc_close(struct at_nvrtc *nvrtc)
{
    if (!nvrtc)
        return;
    for (int i = 0; i < nvrtc->option_count; i++)
        at_free(nvrtc->options[i]);
    for (size_t i = 0; i < nvrtc->own_count; i++)
        at_free(nvrtc->own_folders[i]);
    at_free(nvrtc->own_folders);
    at_free(nvrtc->own_name);
    at_free(nvrtc->cuda_folder);
    at_free(nvrtc->libcuxx_folder);
    at_free(nvrtc->headers);
    at_free(nvrtc);
}

static void add_option(struct at_nvrtc *nvrtc, const char *option)
{
    char *text = nvrtc->compiler.options;
    size_t used = strlen(text);

    nvrtc->options[nvrtc->option_count++] = at_strdup(option);
    snprintf(text + used, sizeof nvrtc->compiler.options - used, "%s%s", used ? " " : "", option);
}

/* NVRTC opens its built-in declarations by name when it compiles. If the loader does not know
 * NVRTC's folder, that fails. So open them first: the loader then knows them by name. */
static void open_builtins(int major, int minor)
{
    char *name = at_format("libnvrtc-builtins.so.%d.%d", major, minor);
    char *folder = at_strdup(at_nvrtc_path()), *slash = strrchr(folder, '/');
    const char *const names[] = {name, NULL};
    void *library;

    if (slash)
        *slash = '\0';
    at_library_open(&library, names, folder, "", "", NULL); /* NVRTC reports what it misses */
    at_free(folder);
    at_free(name);
}

static void find_headers(struct at_nvrtc *nvrtc)
{
    char *found = at_cuda_headers_find(at_nvrtc_path(), nvrtc->version), folder[PATH_MAX];
    char *libcuxx;

    nvrtc->headers = found;
    if (found && found[0] != '/' && getcwd(folder, sizeof folder)) { /* which may change */
        nvrtc->headers = at_format("%s/%s", folder, found);
        at_free(found);
    }
    at_cuda_headers_identify(nvrtc->compiler.headers, nvrtc->headers);
    if (!nvrtc->headers)
        return;
    nvrtc->cuda_folder = at_format("-I%s", nvrtc->headers);
    libcuxx = at_cuda_headers_libcuxx(nvrtc->headers);
    if (libcuxx)
        nvrtc->libcuxx_folder = at_format("-I%s", libcuxx);
    at_free(libcuxx);
}

const char *at_nvrtc_headers(const struct at_nvrtc *nvrtc)
{
    return nvrtc->headers;
}

size_t at_nvrtc_header_folders(const struct at_nvrtc *nvrtc,
                               const char *folders[AT_HEADER_FOLDERS_MAX])
{
    const char *const options[AT_HEADER_FOLDERS_MAX] = {nvrtc->cuda_folder, nvrtc->libcuxx_folder};
    size_t count = 0;

    for (size_t i = 0; i < AT_COUNT(options); i++)
        if (options[i])
            folders[count++] = options[i] + strlen("-I");
    return count;
}

void at_nvrtc_search(struct at_nvrtc *nvrtc, const char *const *folders, size_t count)
{
    nvrtc->own_folders = at_alloc_array(count, sizeof *nvrtc->own_folders);
    for (; nvrtc->own_count < count; nvrtc->own_count++)
        nvrtc->own_folders[nvrtc->own_count] = at_format("-I%s", folders[nvrtc->own_count]);
    /* NVRTC looks for "x.h" in the folder of the source, else in the working folder. */
    nvrtc->own_name = at_format("%s/%s", folders[0], program_name);
}

void at_nvrtc_instantiate(struct at_nvrtc *nvrtc, const char *const *names, size_t count)
{
    nvrtc->instances = names;
    nvrtc->instance_count = count;
}

enum at_status at_nvrtc_open(struct at_nvrtc **nvrtc, int64_t compute_capability,
                             enum at_image image, struct at_error *err)
{
    struct at_nvrtc *opened;
    char architecture[32];
    int major = 0, minor = 0;
    bool ptx = image == AT_IMAGE_PTX_ALONE;
    enum at_status status = load_api(err);

    if (status != AT_OK)
        return status;
    status = choose_architecture(architecture, sizeof architecture, compute_capability, &ptx, err);
    if (status != AT_OK)
        return status;
    opened = at_alloc(sizeof *opened);
    /* Machine code is made even if PTX is wanted: only then does ptxas report resources. */
    opened->compiler.ptx = ptx || image == AT_IMAGE_PTX;
    api.nvrtcVersion(&major, &minor);
    open_builtins(major, minor);
    snprintf(opened->compiler.version, sizeof opened->compiler.version, "%d.%d", major, minor);
    at_library_build_id((const void *)(uintptr_t)api.nvrtcVersion, opened->compiler.identity,
                        sizeof opened->compiler.identity);
    if (!opened->compiler.identity[0])
        strcpy(opened->compiler.identity, opened->compiler.version);
    opened->version = 100 * major + minor;
    add_option(opened, architecture);
    if (image != AT_IMAGE_CUBIN)
        add_option(opened, "-lineinfo"); /* .loc directives give each access's line */
    for (size_t i = 0; i < AT_COUNT(common_options); i++)
        if (opened->version >= common_options[i].since)
            add_option(opened, common_options[i].option);
    find_headers(opened);
    *nvrtc = opened;
    return AT_OK;
}

const struct at_compiler *at_nvrtc_compiler(const struct at_nvrtc *nvrtc)
{
    return &nvrtc->compiler;
}

int at_nvrtc_version(const struct at_nvrtc *nvrtc)
{
    return nvrtc->version;
}

static char *read_log(nvrtcProgram program)
{
    size_t size = 0;
    char *log;

    api.nvrtcGetProgramLogSize(program, &size);
    log = at_alloc(size + 1);
    if (size)
        api.nvrtcGetProgramLog(program, log);
    return log;
}

static nvrtcResult read_image(const struct at_nvrtc *nvrtc, nvrtcProgram program, void **image,
                              size_t *size)
{
    bool ptx = nvrtc->compiler.ptx;
    nvrtcResult result =
        ptx ? api.nvrtcGetPTXSize(program, size) : api.nvrtcGetCUBINSize(program, size);

    if (result != NVRTC_SUCCESS)
        return result;
    *image = at_alloc(*size);
    result = ptx ? api.nvrtcGetPTX(program, *image) : api.nvrtcGetCUBIN(program, *image);
    if (result != NVRTC_SUCCESS) {
        at_free(*image);
        *image = NULL;
    }
    return result;
}

/* Without its library of built-in declarations there is no compiler, whatever the source. */
static enum at_status status_of(nvrtcResult failure)
{
    switch (failure) {
    case NVRTC_ERROR_OUT_OF_MEMORY:
        return AT_NO_MEMORY;
    case NVRTC_ERROR_BUILTIN_OPERATION_FAILURE:
        return AT_DEVICE;
    default:
        return AT_INTERNAL;
    }
}

static void destroy(void *program)
{
    api.nvrtcDestroyProgram(program);
}

/* Choose the options for a source; returns their number. The caller frees the array. */
static int choose_options(const struct at_nvrtc *nvrtc, bool includes, bool report,
                          const char ***chosen)
{
    const char *const folders[] = {nvrtc->cuda_folder, nvrtc->libcuxx_folder};
    const char **options = at_alloc_array(nvrtc->own_count + OPTIONS_MAX + 4, sizeof *options);
    int count = 0;

    for (size_t i = 0; i < nvrtc->own_count && includes; i++)
        options[count++] = nvrtc->own_folders[i];
    for (size_t i = 0; i < AT_COUNT(folders) && includes; i++)
        if (folders[i])
            options[count++] = folders[i];
    for (int i = 0; i < nvrtc->option_count - !report; i++)
        if ((!includes && !nvrtc->own_name) || strcmp(nvrtc->options[i], minimal) != 0)
            options[count++] = nvrtc->options[i];
    if (nvrtc->own_name && nvrtc->version >= 1200) /* as nvcc has it */
        options[count++] = "-device-int128";
    *chosen = options;
    return count;
}

/* List the headers that NVRTC gets as text, AT_TEMPLATE_HEADER first; returns their number. */
static int choose_headers(const char *header, bool includes, const char *names[HEADERS_MAX],
                          const char *texts[HEADERS_MAX])
{
    int more = includes ? at_standard_headers : 0;

    names[0] = AT_TEMPLATE_HEADER;
    texts[0] = header;
    for (int i = 0; i < more; i++) {
        names[i + 1] = at_standard_header_names[i];
        texts[i + 1] = at_standard_header_texts[i];
    }
    return 1 + more;
}

/* A failure that is not the source's. The log may say why. */
static enum at_status fail_compile(nvrtcResult result, const char *log, struct at_error *err)
{
    int length = (int)strcspn(log, "\n");

    return at_fail(
        err, status_of(result), "%s%s%.*s%s", api.nvrtcGetErrorString(result),
        length > 0 ? ": " : "", length, log,
        result == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE
            ? " It belongs to NVRTC and lies beside it: install NVRTC anew, with all its files"
            : "");
}

enum at_status at_nvrtc_compile(struct at_compilation *compiled, const struct at_nvrtc *nvrtc,
                                const char *source, const char *header, bool report,
                                struct at_error *err)
{
    const char *names[HEADERS_MAX], *texts[HEADERS_MAX], **options;
    const char *name = nvrtc->own_name ? nvrtc->own_name : program_name;
    bool includes = at_source_includes(source);
    int headers = choose_headers(header, includes, names, texts);
    int count = choose_options(nvrtc, includes, report, &options);
    struct at_compilation made = {0};
    struct at_cleanup cleanup;
    nvrtcProgram program;
    nvrtcResult result = api.nvrtcCreateProgram(&program, source, name, headers, texts, names);
    enum at_status status = AT_OK;

    if (result != NVRTC_SUCCESS) {
        at_free(options);
        return at_fail(err, status_of(result), "NVRTC: %s", api.nvrtcGetErrorString(result));
    }
    at_cleanup_push(&cleanup, destroy, &program);
    for (size_t i = 0; i < nvrtc->instance_count; i++)
        api.nvrtcAddNameExpression(program, nvrtc->instances[i]);
    result = api.nvrtcCompileProgram(program, count, options);
    at_free(options);
    made.log = read_log(program);
    if (result == NVRTC_SUCCESS)
        result = read_image(nvrtc, program, &made.image, &made.size);
    at_cleanup_pop(&cleanup);
    api.nvrtcDestroyProgram(&program);
    if (result != NVRTC_SUCCESS && result != NVRTC_ERROR_COMPILATION)
        status = fail_compile(result, made.log, err);
    if (status == AT_OK)
        *compiled = made;
    else
        at_free(made.log);
    return status;
}

/* ---- the log ---- */

/* The number before `unit` in the text up to `end`; 0 if there is none. */
static int64_t number_before(const char *text, const char *end, const char *unit)
{
    const char *at = strstr(text, unit);

    if (!at || at >= end)
        return 0;
    while (at > text && (at[-1] == ' ' || (at[-1] >= '0' && at[-1] <= '9')))
        at--;
    return strtoll(at, NULL, 10);
}

struct at_kernel_resources at_ptxas_resources(const char *log, const char *entry)
{
    struct at_kernel_resources resources = {0};
    char *heading = at_format("Compiling entry function '%s'", entry);
    const char *start = strstr(log, heading), *end;

    if (start) {
        start += strlen(heading);
        end = strstr(start, "Compiling entry function '");
        if (!end)
            end = start + strlen(start);
        resources.registers = number_before(start, end, " registers");
        resources.shared_bytes = number_before(start, end, " bytes smem");
        resources.spill_bytes = number_before(start, end, " bytes spill stores") +
                                number_before(start, end, " bytes spill loads");
    }
    at_free(heading);
    return resources;
}

/* How the tools mark an error. A warning may also contain the word, so the line may have to begin
 * in some way. ptxas tells the reason of its fatal error in a line before it. */
static const struct {
    const char *begin, *mark;
} error_marks[] = {
    {"", "): error"},    {"", "): catastrophic error"}, {"", "nvrtc: error"},
    {"", "ptxas error"}, {"ptxas ", "; error "},        {"", "ptxas fatal"},
};

static const char no_message[] = "NVRTC ended without a message; it may be out of memory";

static bool is_error(const char *line, size_t length)
{
    for (size_t i = 0; i < AT_COUNT(error_marks); i++)
        if (strncmp(line, error_marks[i].begin, strlen(error_marks[i].begin)) == 0 &&
            memmem(line, length, error_marks[i].mark, strlen(error_marks[i].mark)))
            return true;
    return false;
}

/* NVRTC says of a function without __device__ that it is host code. In a constant that takes too
 * long to compute, that is not what is wrong. */
static const char slow_constant[] = "due to excessive constexpr function call complexity";

/* The line of the error that the first note of a slow constant belongs to; else the log. */
static const char *begin_of_errors(const char *log)
{
    const char *note = strstr(log, slow_constant), *begin = log;

    for (const char *line = log; note && line < note; line += strcspn(line, "\n") + 1)
        if (is_error(line, strcspn(line, "\n")))
            begin = line;
    return begin;
}

bool at_compile_first_error(const char *log, char *text, size_t capacity)
{
    const char *line = begin_of_errors(log);
    size_t length = strcspn(line, "\n");
    bool found = is_error(line, length);

    while (!found && line[length]) {
        line += length + 1;
        length = strcspn(line, "\n");
        found = is_error(line, length);
    }
    if (!found) {
        line = log[0] && log[0] != '\n' ? log : no_message;
        length = strcspn(line, "\n");
    }
    snprintf(text, capacity, "%.*s%s", at_text_fit(line, length, capacity - 1), line,
             strstr(log, slow_constant) ? ": computing it takes NVRTC too many steps" : "");
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127)
            *c = ' ';
    return found;
}

/* ---- advice ---- */

/* Long messages that learners meet, by a part of them, in plain words. */
static const struct {
    const char *part, *words;
} plain[] = {
    {"not allowed in JIT mode",
     "this is host code, and only kernels are compiled: put it between #ifndef __CUDACC_RTC__ and "
     "#endif, or mark it __device__"},
};

static const char mark[] = ": error: ";

/* Replace the message after "FILE(LINE): error: ". */
static void say_plainly(char *text, size_t capacity)
{
    char *message = strstr(text, mark);

    if (!message)
        return;
    message += strlen(mark);
    for (size_t i = 0; i < AT_COUNT(plain); i++)
        if (strstr(message, plain[i].part))
            snprintf(message, capacity - (size_t)(message - text), "%s", plain[i].words);
}

/* Add to an error what to do about it, in place, where the compiler's own words do not say. */
static void advise(const struct at_nvrtc *nvrtc, char *text, size_t capacity)
{
    const char *folder = nvrtc->headers;
    bool missing = strstr(text, "open source file"), own = strstr(text, ".cu(");
    int headers = folder ? at_cuda_headers_version(folder) : 0, version = nvrtc->version;
    char *advice;
    size_t used;

    say_plainly(text, capacity);
    used = strlen(text);
    if (folder && headers && headers != version && (missing || !own))
        advice = at_format("; NVRTC is of CUDA %d.%d, the headers of %d.%d: name those of %d.%d in "
                           "AUTOTUNE_CUDA_INCLUDE (now %s)",
                           version / 100, version % 100, headers / 100, headers % 100,
                           version / 100, version % 100, folder);
    else if (folder && missing && strstr(text, "\"nv/target\""))
        advice = at_format("; it is of libcu++: install cuda-cccl, or nvidia-cuda-cccl for Python, "
                           "beside the headers in %s",
                           folder);
    else if (folder && missing)
        advice = at_format("; CUDA's headers are those in %s", folder);
    else if (missing)
        advice = at_strdup(
            "; no headers of CUDA were found: install them (cuda-cudart-dev, or "
            "nvidia-cuda-runtime for Python), or name their folder in AUTOTUNE_CUDA_INCLUDE");
    else
        return;
    snprintf(text + used, capacity - used, "%s%s", advice,
             missing && nvrtc->own_name ? "; " AT_INCLUDE_FOLDERS : "");
    at_free(advice);
}

/* ---- compiling ---- */

/* Say why NVRTC refused the source. Errors of ptxas are only in the log of a compilation without
 * its report. */
static void explain_refusal(const struct at_nvrtc *nvrtc, const char *source, const char *header,
                            const char *log, char *text, size_t capacity)
{
    struct at_compilation again;

    if (!at_compile_first_error(log, text, capacity) &&
        at_nvrtc_compile(&again, nvrtc, source, header, false, NULL) == AT_OK) {
        at_compile_first_error(again.log, text, capacity);
        at_free(again.log);
        at_free(again.image);
    }
    advise(nvrtc, text, capacity);
}

enum at_status at_compile(struct at_compilation *compiled, const struct at_nvrtc *nvrtc,
                          const char *source, const char *header, size_t message_chars,
                          struct at_error *err)
{
    struct at_compilation made;
    char why[sizeof err->message];
    enum at_status status = at_nvrtc_compile(&made, nvrtc, source, header, true, err);

    if (status != AT_OK)
        return status;
    if (made.image) {
        *compiled = made;
        return AT_OK;
    }
    explain_refusal(nvrtc, source, header, made.log, why, message_chars);
    at_free(made.log);
    return at_fail(err, AT_FAILED, "%s", why);
}
