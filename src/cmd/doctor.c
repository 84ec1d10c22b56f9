/* SPDX-License-Identifier: Apache-2.0 */
/* autotune doctor: what tuning needs on this machine, and what is wrong with it. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "cmd/command_line.h"
#include "cmd/run_options.h"
#include "emulated/time/description.h"
#include "kernel/cache.h"
#include "kernel/compile_process.h"
#include "kernel/compile_worker.h"
#include "measure/gpu.h"
#include "pipeline/shootout.h"
#include "schema/table.h"
#include "system/cpus.h"
#include "system/file.h"
#include "system/paths.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

/* WARNING: something works only in part; FAULT: nothing can be tuned on a GPU. */
enum state { GOOD, WARNING, FAULT, NOT_TRIED };
static const char *const state_names[] = {"ok", "warning", "fault", "not tried"};

struct finding {
    char *check, *found; /* owned, as all texts */
    char *remedy;        /* NULL: nothing is to be done */
    char *said;          /* both: for a table */
    int state;
};

static const struct at_field finding_fields[] = {
    AT_WRITTEN(finding, check, AT_FIELD_TEXT, AT_COLUMN(1, "check")),
    AT_WRITTEN(finding, found, AT_FIELD_TEXT),
    AT_WRITTEN(finding, remedy, AT_FIELD_TEXT, AT_OPTIONAL),
    AT_ONLY_COLUMN(finding, said, AT_FIELD_TEXT, AT_COLUMN(3, "found")),
    AT_CHOICE(finding, state, state_names, AT_COLUMN(2, "state")),
};
static const struct at_schema finding_schema = AT_SCHEMA("a check", finding, finding_fields);

struct doctor {
    struct at_run_options run;
    enum at_output_format format;
    struct finding *findings;
    size_t count, capacity;
    struct at_device_info device; /* the first GPU, else an emulated one */
    bool has_gpu, has_data, has_compiler;
    char cuda[32]; /* that the driver supports; "": not known */
    struct at_compiler compiler;
};

static const struct at_option options_table[] = {
    AT_FORMAT(0, doctor, format),
    {0},
};

/* ---- findings ---- */

/* Note what was found; the text becomes the finding's. A message "cause; remedy" has its own
 * remedy. */
static void note(struct doctor *doctor, const char *check, enum state state,
                 const char *usual_remedy, char *found)
{
    struct finding finding = {.check = at_strdup(check), .found = found, .state = state};
    char *end = state == GOOD ? NULL : strstr(found, "; ");
    const char *remedy = end ? end + strlen("; ") : state == GOOD ? NULL : usual_remedy;

    at_text_make_printable(found);
    finding.remedy = remedy ? at_strdup(remedy) : NULL;
    if (end)
        *end = '\0';
    finding.said = remedy ? at_format("%s; %s", found, finding.remedy) : at_strdup(found);
    AT_PUSH(doctor->findings, doctor->count, doctor->capacity, finding);
}

static void note_result(struct doctor *doctor, const char *check, enum at_status status,
                        const char *usual_remedy, const struct at_error *err, char *found)
{
    if (status == AT_OK) {
        note(doctor, check, GOOD, NULL, found);
        return;
    }
    free(found);
    note(doctor, check, FAULT, usual_remedy, at_strdup(err->message));
}

static void clear(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++)
        free(doctor->findings[i].said); /* a schema clears only fields that files have */
    at_schema_clear_records(&finding_schema, doctor->findings, doctor->count);
}

/* ---- the machine ---- */

/* The name of the distribution; the caller frees it. */
static char *distribution(void)
{
    static const char key[] = "PRETTY_NAME=\"";
    char *text = NULL, *name = NULL;
    size_t size;

    if (at_file_read(&text, &size, "/etc/os-release", 1 << 16, NULL) == AT_OK) {
        const char *found = strstr(text, key);

        if (found)
            name = at_strndup(found + strlen(key), strcspn(found + strlen(key), "\"\n"));
    }
    free(text);
    return name ? name : at_strdup("Linux");
}

/* Return a path, which is freed, without links, "." and "..", if it exists. */
static char *tidied(char *path)
{
    char *tidy = path ? realpath(path, NULL) : NULL;

    if (!tidy)
        return path;
    free(path);
    return tidy;
}

static void look_at_machine(struct doctor *doctor)
{
    bool container = access("/.dockerenv", F_OK) == 0 || access("/run/.containerenv", F_OK) == 0;
    char *program = tidied(at_path_program()), *name = distribution();
    struct utsname system = {0};

    uname(&system);
    note(doctor, "autotune", GOOD, NULL,
         at_format(PACKAGE_VERSION ", %s", program ? program : "in an unknown folder"));
    note(doctor, "system", GOOD, NULL,
         at_format("%s, %s %s %s, glibc %s, %d CPUs%s", name, system.sysname, system.release,
                   system.machine, gnu_get_libc_version(), at_usable_cpus(),
                   container ? ", in a container" : ""));
    free(name);
    free(program);
}

static void look_at_environment(struct doctor *doctor)
{
    static const char *const variables[] = {
        "AUTOTUNE_CUDA_INCLUDE", "AUTOTUNE_DATADIR", "AUTOTUNE_NVRTC", "CUDA_HOME", "CUDA_PATH",
        "CUDA_VISIBLE_DEVICES",  "LD_LIBRARY_PATH",  "XDG_CACHE_HOME",
    };
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    const char *between = "";

    for (size_t i = 0; i < AT_COUNT(variables); i++)
        if (getenv(variables[i])) {
            fprintf(out, "%s%s=%s", between, variables[i], getenv(variables[i]));
            between = ", ";
        }
    fputs(*between ? "" : "none of the variables of CUDA and autotune is set", out);
    note(doctor, "environment", GOOD, NULL, at_text_close(&stream, NULL));
}

/* ---- folders ---- */

enum { TRIAL_BYTES = 1 << 16 };
static const int64_t little_bytes = INT64_C(64) << 20;

/* Write a file into the folder, and remove it. */
static enum at_status try_writing(const char *folder, struct at_error *err)
{
    static const char content[TRIAL_BYTES];
    char *path = at_format("%s/.doctor-XXXXXX", folder);
    int fd = mkstemp(path);
    bool written = fd >= 0 && write(fd, content, sizeof content) == (ssize_t)sizeof content;
    int error = errno ? errno : ENOSPC; /* what was written in part did not fit */

    if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    free(path);
    return written ? AT_OK
                   : at_fail(err, AT_USAGE, "%s cannot be written: %s", folder, strerror(error));
}

/* Note whether a folder can be written. */
static void look_at_folder(struct doctor *doctor, const char *check, const char *folder,
                           const char *what, const char *remedy)
{
    struct at_error err;
    struct statvfs disk;
    int64_t free_bytes = INT64_MAX;

    errno = 0;
    if (try_writing(folder, &err) != AT_OK) {
        note(doctor, check, WARNING, remedy, at_strdup(err.message));
        return;
    }
    if (statvfs(folder, &disk) == 0)
        free_bytes = (int64_t)disk.f_bavail * (int64_t)disk.f_frsize;
    note(doctor, check, free_bytes < little_bytes ? WARNING : GOOD, remedy,
         at_format("%s%s, %.1f GiB free", folder, what, (double)free_bytes / 0x1p30));
}

static void look_at_cache(struct doctor *doctor)
{
    static const char remedy[] =
        "free some space, or name another folder in XDG_CACHE_HOME; until then kernels are "
        "compiled anew in each run";
    struct at_cubin_cache *cache = NULL;
    struct at_cubin_usage usage;
    struct at_error err;
    enum at_status status = at_cubin_cache_open(&cache, NULL, &err);

    if (status == AT_OK)
        status = at_cubin_cache_usage(cache, &usage, &err);
    if (status == AT_OK) {
        char *size = at_cubin_usage_text(&usage), *what = at_format(": %s", size);

        look_at_folder(doctor, "kernel cache", at_cubin_cache_path(cache), what, remedy);
        free(what);
        free(size);
    } else {
        note(doctor, "kernel cache", WARNING, remedy, at_strdup(err.message));
    }
    at_cubin_cache_close(cache);
}

static void look_at_folders(struct doctor *doctor)
{
    char *profiles = at_path_user("XDG_DATA_HOME", ".local/share"), folder[4096];
    char *tuning = at_path_data_file("tuning");
    struct at_error err;
    enum at_status status = at_run_families(&doctor->run, &err);

    doctor->has_data = status == AT_OK;
    note_result(doctor, "data", status, "install autotune anew, with make install", &err,
                at_format("%s: %zu families of kernels", tuning, doctor->run.session.family_count));
    look_at_cache(doctor);
    if (profiles && access(profiles, F_OK) == 0)
        look_at_folder(doctor, "profiles", profiles, "",
                       "make the folder yours, or name another one in XDG_DATA_HOME");
    if (getcwd(folder, sizeof folder))
        look_at_folder(doctor, "working folder", folder, "",
                       "free some space, or name a file elsewhere with --out");
    free(tuning);
    free(profiles);
}

/* ---- the driver and its GPUs ---- */

static void list_gpus(struct doctor *doctor, const struct at_device_info *infos, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char *check = at_format("GPU %" PRId64, infos[i].ordinal);

        note(doctor, check, GOOD, NULL,
             at_format("%s, %.0f GiB, ECC %s, compute capability %d.%d, PCI %s", infos[i].name,
                       (double)infos[i].memory_bytes / 0x1p30, infos[i].memory_ecc ? "on" : "off",
                       (int)infos[i].compute_capability / 10, (int)infos[i].compute_capability % 10,
                       infos[i].pci_bus_id));
        free(check);
    }
}

static void look_at_driver(struct doctor *doctor)
{
    static const char remedy[] = "install NVIDIA's driver, or start the container with GPU access "
                                 "(docker run --gpus all)";
    struct at_device_info *infos = NULL;
    struct at_gpu *gpu = NULL;
    size_t count = 0;
    struct at_error err;
    enum at_status status = at_gpu_list("cuda", &infos, &count, &err);

    if (status == AT_OK)
        status = at_gpu_open(&gpu, "cuda", infos[0].ordinal, (struct at_turn){0},
                             (struct at_meanwhile){0}, &err);
    doctor->has_gpu = status == AT_OK;
    note_result(doctor, "driver", status, remedy, &err,
                gpu ? at_format("%s, supports CUDA %s",
                                *gpu->driver ? gpu->driver : "unknown version", gpu->cuda)
                    : NULL);
    list_gpus(doctor, infos, count);
    if (gpu) {
        doctor->device = infos[0];
        snprintf(doctor->cuda, sizeof doctor->cuda, "%s", gpu->cuda);
    }
    at_gpu_close(gpu);
    free(infos);
}

/* ---- the compiler ---- */

static void look_at_headers(struct doctor *doctor, const char *folder, int version)
{
    int wanted = 0, minor = 0;

    sscanf(doctor->compiler.version, "%d.%d", &wanted, &minor);
    wanted = 100 * wanted + minor;
    if (!*folder)
        note(doctor, "CUDA headers", WARNING,
             "kernels that include some need them: install cuda-cudart-dev, or nvidia-cuda-runtime "
             "for Python, or name their folder in AUTOTUNE_CUDA_INCLUDE",
             at_strdup("none"));
    else if (version && version != wanted)
        note(doctor, "CUDA headers", WARNING,
             "name the folder of NVRTC's headers in AUTOTUNE_CUDA_INCLUDE",
             at_format("%d.%d, but NVRTC is of %s, in %s", version / 100, version % 100,
                       doctor->compiler.version, folder));
    else
        note(doctor, "CUDA headers", GOOD, NULL,
             at_format("%d.%d, %s", version / 100, version % 100, folder));
}

/* The parts of an NVRTC that has been loaded. */
static void look_at_parts(struct doctor *doctor, struct at_compile_process *process)
{
    struct at_wire request = {0}, reply = {0};
    char file[4096], folder[4096], message[256], *headers;
    bool builtins;

    if (!at_compile_process_ask(process, AT_COMPILE_PARTS, &request, &reply, message,
                                sizeof message)) {
        note(doctor, "NVRTC", FAULT, "install NVRTC anew", at_strdup(message));
        return;
    }
    at_wire_get_text(&reply, file, sizeof file);
    builtins = at_wire_get_int(&reply);
    at_wire_get_text(&reply, folder, sizeof folder);
    note(doctor, "NVRTC", GOOD, NULL, at_format("%s, %s", doctor->compiler.version, file));
    note(doctor, "NVRTC's builtins", builtins ? GOOD : FAULT,
         "install NVRTC anew, with all its files in one folder",
         at_format("libnvrtc-builtins.so.%s%s", doctor->compiler.version,
                   builtins ? "" : " is missing"));
    headers = tidied(at_strdup(folder));
    look_at_headers(doctor, headers, (int)at_wire_get_int(&reply));
    free(headers);
    at_wire_clear(&reply);
}

static void look_at_compiler(struct doctor *doctor)
{
    struct at_compile_process process = {
        .compute_capability = doctor->device.compute_capability,
        .image = AT_IMAGE_CUBIN,
        .header = "",
        .idle_limit_ns = INT64_C(5000000000),
    };
    struct at_error err;
    enum at_status status = at_compile_process_hello(&process, &doctor->compiler, &err);

    doctor->has_compiler = status == AT_OK;
    if (status != AT_OK) {
        note(doctor, "NVRTC", FAULT,
             "install the CUDA Toolkit, or NVIDIA's package nvidia-cuda-nvrtc for Python, and name "
             "its file in AUTOTUNE_NVRTC or its folder in LD_LIBRARY_PATH",
             at_strdup(err.message));
        return;
    }
    look_at_parts(doctor, &process);
    at_worker_stop(&process.worker, NULL);
    if (doctor->has_gpu)
        note_result(doctor, "driver and NVRTC",
                    at_session_check_driver(doctor->cuda, &doctor->compiler, &err),
                    "update the driver", &err,
                    at_format("the driver takes kernels of CUDA %s", doctor->compiler.version));
}

/* ---- a kernel ---- */

/* Compile the default kernel of a small problem, run it and verify its result. */
static enum at_status try_kernel(struct at_session *session, const struct at_device_info *device,
                                 struct at_config *config, struct at_error *err)
{
    struct at_problem problem;
    struct at_contestant contestant = {.config = config, .label = ""};
    enum at_status status = at_problem_parse(&problem, "67x129:f32", err);

    contestant.problem = problem;
    if (status == AT_OK)
        status = at_space_default(config, session->options.families, session->options.family_count,
                                  &problem, device, err);
    if (status == AT_OK)
        status = at_shootout_check(session, &contestant, err);
    at_shootout_end(&contestant, 1);
    return status;
}

static void look_at_kernel(struct doctor *doctor)
{
    struct at_session_options options = doctor->run.session;
    struct at_session *session = NULL;
    struct at_config config = {0};
    struct at_error err;
    enum at_status status;

    if (!doctor->has_data || !doctor->has_compiler) {
        note(doctor, "kernel", NOT_TRIED, NULL, at_strdup("needs the data and NVRTC"));
        return;
    }
    options.jobs = 1;
    options.use_cache = false;
    status = at_session_open(&session, &doctor->device, &options, &err);
    if (status == AT_OK)
        status = try_kernel(session, &doctor->device, &config, &err);
    at_session_close(session);
    note_result(
        doctor, "kernel", status,
        "a bug report should have this line, and the output of autotune tune --verbose", &err,
        at_format("compiled by NVRTC %s, run and verified on an %s%s", doctor->compiler.version,
                  at_device_kind(&doctor->device)->label, doctor->device.name));
}

/* ---- the command ---- */

static bool is_faulty(const struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->count; i++)
        if (doctor->findings[i].state == FAULT)
            return true;
    return false;
}

/* In this order: each uses what those before it have found. */
static const struct {
    const char *what;
    void (*look)(struct doctor *doctor);
} looks[] = {
    {"machine", look_at_machine}, {"environment", look_at_environment},
    {"driver", look_at_driver},   {"compiler", look_at_compiler},
    {"folders", look_at_folders}, {"kernel", look_at_kernel},
};

static enum at_status run_doctor(void *given, struct at_error *err)
{
    struct doctor *doctor = given;
    enum at_status status;

    at_description_read(&doctor->device, NULL, "h200", NULL); /* without a GPU */
    for (size_t i = 0; i < AT_COUNT(looks); i++) {
        at_progress_step(&doctor->run.progress, looks[i].what, i, AT_COUNT(looks));
        looks[i].look(doctor);
    }
    at_progress_clear(&doctor->run.progress);
    status = at_print_list("checks", &finding_schema, doctor->findings, doctor->count,
                           doctor->format, stdout, err);
    if (status == AT_OK && is_faulty(doctor)) {
        status = AT_DEVICE;
        err->message[0] = '\0'; /* the table says it */
    }
    clear(doctor);
    return status;
}

const struct at_command at_command_doctor = {
    .name = "doctor",
    .summary = "what is wrong with the driver, the compiler and the folders",
    .options = options_table,
    .help =
        "Checks what tuning needs on this machine: the driver, the GPUs, the compiler (NVRTC) with "
        "its headers, and the folders. It compiles a kernel, runs it on the first GPU and verifies "
        "its result. Each fault has a remedy.\vThe exit code is 3 if anything is missing that "
        "tuning on a GPU needs. A bug report should have this output. autotune --version --verbose "
        "prints it too."
        "\n\nExample:\n  autotune doctor",
    .size = sizeof(struct doctor),
    .init = at_run_options_init,
    .clear = at_run_options_clear,
    .run = run_doctor,
};
