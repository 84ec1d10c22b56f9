/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_source.h"

#include "base/memory.h"
#include "kernel/compile_process.h"
#include "system/paths.h"

#include <stdlib.h>
#include <string.h>

/* libcu++ and cooperative groups take seconds to read. */
enum { CPU_LIMIT_S = 60 };
static const int64_t idle_limit_ns = 60 * INT64_C(1000000000);

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    if (!slash)
        return at_strdup(".");
    return slash == path ? at_strdup("/") : at_strndup(path, (size_t)(slash - path));
}

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

static enum at_status ask(struct at_compile_process *process, struct at_compiled_source *compiled,
                          const char *path, const char *text, struct at_error *err)
{
    struct at_wire request = {0}, reply = {0};
    char *folder = folder_of(path), message[256];
    /* So that messages and line numbers are of the file. */
    char *source = at_format("#line 1 \"%s\"\n%s\n", at_path_name(path), text);
    enum at_status status;

    at_wire_put_text(&request, source);
    at_wire_put_text(&request, folder);
    if (at_compile_process_ask(process, AT_COMPILE_SOURCE, &request, &reply, message,
                               sizeof message))
        status = read_reply(compiled, &reply, err);
    else
        status = at_fail(err, AT_FAILED, "%s: %s", path, message);
    at_wire_clear(&request);
    at_wire_clear(&reply);
    free(source);
    free(folder);
    return status;
}

enum at_status at_compile_source(struct at_compiled_source *compiled, const char *path,
                                 const char *text, int64_t compute_capability, struct at_error *err)
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
        status = ask(&process, compiled, path, text, err);
    at_compile_process_stop(&process);
    return status;
}

void at_compiled_source_clear(struct at_compiled_source *compiled)
{
    free(compiled->ptx);
    free(compiled->log);
    *compiled = (struct at_compiled_source){0};
}
