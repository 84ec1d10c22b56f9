/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_worker.h"

#include "base/memory.h"
#include "kernel/compile_advice.h"
#include "kernel/compile_limits.h"
#include "kernel/included_files.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct compile_server {
    struct at_nvrtc *nvrtc;
    char *header;
    int64_t cpu_limit_s;
    bool ready, limited; /* see limit_files */
};

static char *get_text(struct at_wire *wire)
{
    size_t size;
    const char *text = at_wire_get_bytes(wire, &size);

    return at_strndup(text ? text : "", text ? size : 0);
}

static void answer_failure(struct at_wire *reply, enum at_status status, const char *message)
{
    at_wire_put_int(reply, status);
    at_wire_put_text(reply, message);
}

static void answer_hello(struct compile_server *server, struct at_wire *request,
                         struct at_wire *reply)
{
    struct at_error err;
    char version[32];
    int64_t compute_capability = at_wire_get_int(request);
    enum at_image image = (enum at_image)at_wire_get_int(request);
    enum at_status status;

    server->cpu_limit_s = at_wire_get_int(request);
    free(server->header);
    server->header = get_text(request);
    at_wire_get_text(request, version, sizeof version);
    if (strcmp(version, PACKAGE_VERSION) != 0) {
        answer_failure(reply, AT_DEVICE, "the library and the program are of two versions");
        return;
    }
    status = at_nvrtc_open(&server->nvrtc, compute_capability, image, &err);
    if (status != AT_OK) {
        answer_failure(reply, status, err.message);
        return;
    }
    at_wire_put_int(reply, AT_OK);
    at_wire_put_bytes(reply, at_nvrtc_compiler(server->nvrtc), sizeof(struct at_compiler));
}

/* Say why NVRTC refused the source. Errors of ptxas are only in the log of a compilation without
 * its report. */
static void explain_refusal(struct compile_server *server, const char *source, const char *log,
                            char *text, size_t capacity)
{
    void *image;
    size_t size;
    char *plain_log;

    if (!at_compile_first_error(log, text, capacity) &&
        at_nvrtc_compile(server->nvrtc, source, server->header, false, &image, &size, &plain_log,
                         NULL) == AT_OK) {
        at_compile_first_error(plain_log, text, capacity);
        free(plain_log);
        free(image);
    }
    at_compile_advise(server->nvrtc, text, capacity);
}

static void put_kernels(struct at_wire *request, struct at_wire *reply, const char *log)
{
    size_t count = at_wire_get_count(request, sizeof(int64_t));

    for (size_t i = 0; i < count; i++) {
        char entry[AT_ENTRY_NAME_CHARS];
        struct at_kernel_resources resources;

        at_wire_get_text(request, entry, sizeof entry);
        resources = at_ptxas_resources(log, entry);
        at_wire_put_bytes(reply, &resources, sizeof resources);
    }
}

/* Compile within the limit of time, and begin the reply. Returns NULL if there is no image: the
 * reply then says why, in fewer than why_capacity bytes, at most WHY_CHARS. The caller frees image
 * and log. */
enum { WHY_CHARS = 1024 };
static void *compile(struct compile_server *server, const char *source, size_t why_capacity,
                     size_t *size, char **log, struct at_wire *reply)
{
    char why[WHY_CHARS];
    void *image = NULL;
    struct at_error err;
    enum at_status status;

    at_compile_limit_time(server->cpu_limit_s);
    status = at_nvrtc_compile(server->nvrtc, source, server->header, true, &image, size, log, &err);
    if (status != AT_OK) {
        answer_failure(reply, status, err.message);
    } else if (!image) {
        explain_refusal(server, source, *log, why, why_capacity);
        answer_failure(reply, AT_FAILED, why);
    } else {
        at_wire_put_int(reply, AT_OK);
    }
    return image;
}

/* ---- files ---- */

/* Before the first source, limit what any source can make NVRTC read: it is not trusted. NVRTC also
 * looks in the working folder, and writes it into the code, where ptxas does not bear quotes. */
static void limit_files(struct compile_server *server, const char *const *own, size_t own_count)
{
    const char **folders;
    size_t count = 0;

    if (server->ready)
        return;
    folders = at_alloc_array(own_count + AT_HEADER_FOLDERS_MAX, sizeof *folders);
    for (; count < own_count; count++)
        folders[count] = own[count];
    count += at_nvrtc_header_folders(server->nvrtc, &folders[count]);
    server->limited = at_compile_limit_files(folders, count);
    server->ready = true;
    free(folders);
    if (chdir("/") != 0)
        server->limited = false;
}

static void answer_program(struct compile_server *server, struct at_wire *request,
                           struct at_wire *reply)
{
    enum { BUILT_WHY_CHARS = 256 }; /* of at_built */
    char *source = get_text(request), *log = NULL;
    size_t size;
    void *image;

    limit_files(server, NULL, 0);
    image = compile(server, source, BUILT_WHY_CHARS, &size, &log, reply);
    if (image) {
        put_kernels(request, reply, log);
        at_wire_put_bytes(reply, image, size);
    }
    free(image);
    free(log);
    free(source);
}

/* The folders that a source may include from; the caller frees the texts and the array. */
static char **get_folders(struct at_wire *request, size_t *count)
{
    char **folders;

    *count = at_wire_get_count(request, sizeof(uint64_t));
    folders = at_alloc_array(*count, sizeof *folders);
    for (size_t i = 0; i < *count; i++)
        folders[i] = get_text(request);
    return folders;
}

static enum at_status check_files(const struct compile_server *server, const char *name,
                                  const char *source, char *const *own, size_t own_count,
                                  struct at_error *err)
{
    const char *cuda[AT_HEADER_FOLDERS_MAX];
    const struct at_include_folders folders = {(const char *const *)own, own_count, cuda,
                                               at_nvrtc_header_folders(server->nvrtc, cuda)};

    /* The first line is not the file's: it gives it its name. */
    return at_included_files_check(name, source + strcspn(source, "\n") + 1, &folders,
                                   !server->limited, err);
}

static void answer_source(struct compile_server *server, struct at_wire *request,
                          struct at_wire *reply)
{
    char *name = get_text(request), *source = get_text(request), *log = NULL;
    size_t size, count;
    char **own = get_folders(request, &count);
    void *image = NULL;
    struct at_error err;

    limit_files(server, (const char *const *)own, count);
    if (check_files(server, name, source, own, count, &err) != AT_OK) {
        answer_failure(reply, AT_FAILED, err.message);
    } else {
        at_nvrtc_search(server->nvrtc, (const char *const *)own, count);
        image = compile(server, source, WHY_CHARS, &size, &log, reply);
    }
    if (image) {
        at_wire_put_bytes(reply, image, size - 1); /* without NVRTC's NUL */
        at_wire_put_text(reply, log);
    }
    free(image);
    free(log);
    for (size_t i = 0; i < count; i++)
        free(own[i]);
    free(own);
    free(source);
    free(name);
}

static int serve(int fd)
{
    struct compile_server server = {0};
    struct at_wire request = {0};
    int32_t type;
    bool going = true;

    at_compile_limit_process();
    while (going && at_frame_receive(fd, &type, &request, 0) == AT_FRAME_OK) {
        struct at_wire reply = {0};

        if (type == AT_COMPILE_HELLO)
            answer_hello(&server, &request, &reply);
        else if (type == AT_COMPILE_PROGRAM && server.nvrtc)
            answer_program(&server, &request, &reply);
        else if (type == AT_COMPILE_SOURCE && server.nvrtc)
            answer_source(&server, &request, &reply);
        else
            going = false;
        going = going && at_frame_send(fd, type, &reply) == AT_FRAME_OK;
        at_wire_clear(&request);
        at_wire_clear(&reply);
    }
    at_nvrtc_close(server.nvrtc);
    free(server.header);
    return 0;
}

const struct at_worker_role at_compile_worker = {AT_COMPILE_ROLE, serve};
