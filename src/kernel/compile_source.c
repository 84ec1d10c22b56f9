/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_source.h"

#include "base/memory.h"
#include "base/text_stream.h"
#include "kernel/compile_process.h"
#include "kernel/compile_worker.h"
#include "system/paths.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* libcu++ and cooperative groups take seconds to read. */
enum { CPU_LIMIT_S = 60 };
static const int64_t idle_limit_ns = 60 * INT64_C(1000000000);

static enum at_status put_folder(struct at_wire *request, const char *folder, struct at_error *err)
{
    char *path = realpath(folder, NULL);

    if (!path)
        return at_fail(err, AT_USAGE, "cannot open the folder %s: %s", folder, strerror(errno));
    at_wire_put_text(request, path);
    free(path);
    return AT_OK;
}

/* The folder of the file, and those that the user names. */
static enum at_status put_folders(struct at_wire *request, const char *path,
                                  const struct at_texts *dirs, struct at_error *err)
{
    char *folder = at_path_folder(path);
    enum at_status status;

    at_wire_put_int(request, (int64_t)dirs->count + 1);
    status = put_folder(request, folder, err);
    for (size_t i = 0; i < dirs->count && status == AT_OK; i++)
        status = put_folder(request, dirs->items[i], err);
    free(folder);
    return status;
}

static void put_names(struct at_wire *request, const struct at_texts *names)
{
    at_wire_put_int(request, (int64_t)names->count);
    for (size_t i = 0; i < names->count; i++)
        at_wire_put_text(request, names->items[i]);
}

/* ---- the name ---- */

/* The name under which the compiler knows the file. ptxas refuses a quote in names of files, and
 * other characters come back from NVRTC in other forms. */
static char *alias_of(const char *name)
{
    char *alias = at_strdup(name);

    for (char *c = alias; *c; c++)
        if (*c < ' ' || *c > '~' || *c == '"' || *c == '\\')
            *c = '_';
    return alias;
}

/* Replace `from` by `to` wherever it is; the caller of the result frees it instead of text. */
static char *replace(char *text, const char *from, const char *to)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);
    const char *rest = text, *found;

    while ((found = strstr(rest, from))) {
        fwrite(rest, 1, (size_t)(found - rest), out);
        fputs(to, out);
        rest = found + strlen(from);
    }
    fputs(rest, out);
    free(text);
    return at_text_close(&stream, NULL);
}

/* In PTX, give the file its name back: .file 1 "/FOLDERS/NAME". */
static void name_file(struct at_compiled_source *compiled, const char *alias, const char *name)
{
    char *from = at_format("/%s\"", alias), *quoted = at_strdup(name), *to;

    quoted = replace(quoted, "\\", "\\\\");
    quoted = replace(quoted, "\"", "\\\"");
    to = at_format("/%s\"", quoted);
    compiled->ptx = replace(compiled->ptx, from, to);
    compiled->ptx_size = strlen(compiled->ptx);
    free(to);
    free(quoted);
    free(from);
}

/* The same in a message "NAME(LINE): ...". */
static void name_in_message(struct at_error *err, const char *alias, const char *name)
{
    size_t length = strlen(alias);
    char *rest;

    if (strncmp(err->message, alias, length) != 0)
        return;
    rest = at_strdup(err->message + length);
    at_fail(err, err->status, "%s%s", name, rest);
    free(rest);
}

/* ---- asking ---- */

static char *get_text(struct at_wire *wire, size_t *size)
{
    const char *text = at_wire_get_bytes(wire, size);

    return at_strndup(text ? text : "", text ? *size : 0);
}

static enum at_status read_reply(struct at_compiled_source *compiled, struct at_wire *reply,
                                 struct at_error *err)
{
    struct at_compiled_source read = {0};
    enum at_status status = (enum at_status)at_wire_get_int(reply);
    char message[1024];
    size_t size;

    if (status != AT_OK) {
        at_wire_get_text(reply, message, sizeof message);
        return at_fail(err, status, "%s", message);
    }
    read.ptx = get_text(reply, &read.ptx_size);
    read.log = get_text(reply, &size);
    if (at_wire_done(reply)) {
        *compiled = read;
        return AT_OK;
    }
    at_compiled_source_clear(&read);
    return at_fail(err, AT_INTERNAL, "the compiler's answer is malformed");
}

/* What nvcc's host headers give to every file without being asked: types and constants of the C
 * library, gcc's limits, and the calls of dependent launches, which CUDA's headers hide from
 * NVRTC. */
static const char host_names[] =
    "#include <stdint.h>\n"
    "#include <stdlib.h>\n"
    "#include <limits.h>\n"
    "#include <math.h>\n"
    "#define __INT_MAX__ 2147483647\n"
    "#define __FLT_MAX__ 3.402823466e+38F\n"
    "#define __FLT_MIN__ 1.175494351e-38F\n"
    "#define __FLT_EPSILON__ 1.192092896e-07F\n"
    "#define __DBL_MAX__ 1.7976931348623158e+308\n"
    "#define __DBL_MIN__ 2.2250738585072014e-308\n"
    "#define __DBL_EPSILON__ 2.2204460492503131e-16\n"
    "static inline __device__ void cudaGridDependencySynchronize(void)\n"
    "{ asm volatile(\"griddepcontrol.wait;\" ::: \"memory\"); }\n"
    "static inline __device__ void cudaTriggerProgrammaticLaunchCompletion(void)\n"
    "{ asm volatile(\"griddepcontrol.launch_dependents;\"); }\n";

void at_source_defines_write(FILE *out, const struct at_texts *defines)
{
    for (size_t i = 0; i < defines->count; i++) {
        const char *define = defines->items[i];
        size_t name = strcspn(define, "=");

        fprintf(out, "#define %.*s %s\n", (int)name, define,
                define[name] ? define + name + 1 : "1");
    }
}

/* The text behind macros and types. Messages and line numbers are of the file. */
static char *make_source(const char *alias, const char *text, const struct at_texts *defines)
{
    struct at_text_stream stream;
    FILE *out = at_text_open(&stream);

    fputs(host_names, out);
    at_source_defines_write(out, defines);
    fprintf(out, "#line 1 \"%s\"\n%s\n", alias, text);
    return at_text_close(&stream, NULL);
}

/* Ask for the file under its alias. */
static enum at_status ask(struct at_compile_process *process, struct at_compiled_source *compiled,
                          const char *path, const char *text,
                          const struct at_source_options *options, struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    const char *name = at_path_name(path);
    char *alias = alias_of(name), message[256];
    char *source = make_source(alias, text, &options->defines);
    enum at_status status;

    at_wire_put_text(&request, alias);
    at_wire_put_text(&request, source);
    status = put_folders(&request, path, &options->dirs, err);
    put_names(&request, &options->instances);
    if (status == AT_OK && !at_compile_process_ask(process, AT_COMPILE_SOURCE, &request, &reply,
                                                   message, sizeof message))
        status = at_fail(err, AT_FAILED, "%s: %s", path, message);
    else if (status == AT_OK)
        status = read_reply(compiled, &reply, err);
    if (status == AT_OK && strcmp(alias, name) != 0)
        name_file(compiled, alias, name);
    else if (status != AT_OK)
        name_in_message(err, alias, name);
    at_wire_clear(&request);
    at_wire_clear(&reply);
    free(source);
    free(alias);
    return status;
}

enum at_status at_compile_source(struct at_compiled_source *compiled, const char *path,
                                 const char *text, const struct at_source_options *options,
                                 int64_t compute_capability, struct at_error *err)
{
    struct at_compile_process process = {
        .compute_capability = compute_capability,
        .image = AT_IMAGE_PTX,
        .header = "",
        .cpu_limit_s = CPU_LIMIT_S,
        .idle_limit_ns = idle_limit_ns,
    };
    struct at_compiler compiler;
    enum at_status status = at_compile_process_hello(&process, &compiler, err);

    if (status == AT_OK)
        status = ask(&process, compiled, path, text, options, err);
    at_worker_stop(&process.worker, NULL);
    return status;
}

void at_compiled_source_clear(struct at_compiled_source *compiled)
{
    free(compiled->ptx);
    free(compiled->log);
    *compiled = (struct at_compiled_source){0};
}
