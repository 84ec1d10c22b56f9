/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile.h"

#include "base/error.h"
#include "base/memory.h"
#include "kernel/cuda_headers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const char *folder = at_nvrtc_headers(nvrtc);
    bool missing = strstr(text, "open source file"), own = strstr(text, ".cu(");
    int headers = folder ? at_cuda_headers_version(folder) : 0, version = at_nvrtc_version(nvrtc);
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
             missing && at_nvrtc_is_searching(nvrtc) ? "; " AT_INCLUDE_FOLDERS : "");
    at_free(advice);
}

/* ---- compiling ---- */

/* Say why NVRTC refused the source. Errors of ptxas are only in the log of a compilation without
 * its report. */
static void explain_refusal(struct at_nvrtc *nvrtc, const char *source, const char *header,
                            const char *log, char *text, size_t capacity)
{
    void *image;
    size_t size;
    char *plain_log;

    if (!at_compile_first_error(log, text, capacity) &&
        at_nvrtc_compile(nvrtc, source, header, false, &image, &size, &plain_log, NULL) == AT_OK) {
        at_compile_first_error(plain_log, text, capacity);
        at_free(plain_log);
        at_free(image);
    }
    advise(nvrtc, text, capacity);
}

enum at_status at_compile(struct at_compilation *compiled, struct at_nvrtc *nvrtc,
                          const char *source, const char *header, size_t message_chars,
                          struct at_error *err)
{
    struct at_compilation made = {0};
    char why[sizeof err->message];
    enum at_status status =
        at_nvrtc_compile(nvrtc, source, header, true, &made.image, &made.size, &made.log, err);

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
