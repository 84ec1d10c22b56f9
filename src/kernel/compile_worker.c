/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/compile_worker.h"

#include "base/memory.h"
#include "base/word.h"
#include "kernel/cuda_headers.h"
#include "kernel/nvrtc.h"
#include "kernel/render.h"
#include "system/file.h"
#include "system/library.h"
#include "system/paths.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- limits ---- */

/* Sixteen kernels take 0.2 GB. At the limit NVRTC reports an error in the source, or nothing. */
static const rlim_t memory_bytes = (rlim_t)2 << 30;

/* The stack is not counted in that. 64 MiB is eight times the usual limit. With no limit, deep
 * nesting could use all memory. */
static const rlim_t stack_bytes = (rlim_t)64 << 20;

/* Timing and feeding the GPU have priority over compiling. */
enum { NICER_BY = 5 };

static void lower(__rlimit_resource_t resource, rlim_t most)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) != 0)
        return;
    if (limit.rlim_cur > most)
        limit.rlim_cur = most;
    if (limit.rlim_max > most)
        limit.rlim_max = most;
    setrlimit(resource, &limit);
}

/* Limit this process for good: memory, stack, no writing of files, and a lower priority. */
static void limit_process(void)
{
    if (!AT_COMPILE_LIMITS)
        return;
    signal(SIGXFSZ, SIG_IGN); /* failing the write is enough */
    signal(SIGXCPU, SIG_DFL); /* limit_time ends the process by it */
    setpriority(PRIO_PROCESS, 0, NICER_BY);
    lower(RLIMIT_DATA, memory_bytes);
    lower(RLIMIT_STACK, stack_bytes);
    lower(RLIMIT_FSIZE, 0);
}

/* NVRTC may load more of the system's libraries while it compiles. */
static const char *const library_folders[] = {"/lib", "/lib64", "/usr/lib", "/usr/lib64"};

static void allow(int rules, const char *folder)
{
    struct landlock_path_beneath_attr rule = {
        .allowed_access = LANDLOCK_ACCESS_FS_READ_FILE,
        .parent_fd = open(folder, O_PATH | O_CLOEXEC),
    };

    if (rule.parent_fd < 0) /* a folder that is not there needs no rule */
        return;
    syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &rule, 0);
    close(rule.parent_fd);
}

/* Let this process open no more files for reading for good, but for those in these folders or
 * below, and the system's libraries. False: this system cannot do it (Linux before 5.13, some
 * containers). */
static bool restrict_files(const char *const *folders, size_t count)
{
    const struct landlock_ruleset_attr handled = {.handled_access_fs =
                                                      LANDLOCK_ACCESS_FS_READ_FILE};
    bool limited = false;
    int rules;

    if (!AT_COMPILE_LIMITS)
        return false;
    rules = (int)syscall(SYS_landlock_create_ruleset, &handled, sizeof handled, 0);
    if (rules < 0)
        return false;
    for (size_t i = 0; i < count; i++)
        allow(rules, folders[i]);
    for (size_t i = 0; i < AT_COUNT(library_folders); i++)
        allow(rules, library_folders[i]);
    limited = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
    close(rules);
    return limited;
}

/* Limit the processor time from now on; the process then dies of SIGXCPU. */
static void limit_time(int64_t seconds)
{
    struct rusage used;
    struct rlimit limit;

    if (getrusage(RUSAGE_SELF, &used) != 0 || getrlimit(RLIMIT_CPU, &limit) != 0)
        return;
    limit.rlim_cur = (rlim_t)(used.ru_utime.tv_sec + used.ru_stime.tv_sec + 1 + seconds);
    if (limit.rlim_max != RLIM_INFINITY && limit.rlim_cur > limit.rlim_max)
        limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_CPU, &limit);
}

enum { FILES_MAX = 1000, FILE_BYTES_MAX = 4 << 20 };

/* ---- directives ---- */

/* The text of a file without line splices and, as far as is certain, comments (C++17, 5.2). */
struct cleaned {
    char *text;
    int *lines; /* the number of each line in the file */
};

/* A line end within a comment: it does not end a directive. */
static const char comment_line_end = '\v';

/* The length of a line splice at text, else 0. A compiler may allow blanks before the line end. */
static size_t splice_length(const char *text, bool blanks)
{
    size_t length = 1 + (blanks ? strspn(text + 1, " \t\r\f\v") : strspn(text + 1, "\r"));

    return text[0] == '\\' && text[length] == '\n' ? length + 1 : 0;
}

/* Join the lines that splices join. The caller frees both texts. */
static struct cleaned join_lines(const char *text, bool blanks)
{
    struct cleaned cleaned = {at_alloc(strlen(text) + 1),
                              at_alloc_array(strlen(text) + 1, sizeof(int))};
    size_t used = 0, count = 0;
    int line = 1;

    cleaned.lines[count++] = line;
    while (*text) {
        size_t splice = splice_length(text, blanks);

        if (splice == 0)
            cleaned.text[used++] = *text == comment_line_end ? ' ' : *text;
        line += splice > 0 || *text == '\n';
        if (*text == '\n')
            cleaned.lines[count++] = line;
        text += splice > 0 ? splice : 1;
    }
    return cleaned;
}

/* Blank the comments that begin where no quote stands before them on their line: what looks like a
 * comment elsewhere may be within a string or after a "//", and what follows it is code. Raw
 * strings have quotes on other lines. So in a text with any, comments stay, and directives in them
 * count. */
static void blank_comments(char *text)
{
    bool quoted = strstr(text, "R\"") != NULL, raw = quoted;
    char *end;

    for (; *text; text++) {
        quoted |= *text == '"' || *text == '\'' || *text == '<' || strncmp(text, "//", 2) == 0;
        if (*text == '\n')
            quoted = raw;
        if (quoted || text[0] != '/' || text[1] != '*')
            continue;
        end = strstr(text + 2, "*/");
        for (char *to = end ? end + 2 : text + strlen(text); text < to; text++)
            *text = *text == '\n' ? comment_line_end : ' ';
        text--;
    }
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r\f\v");
}

/* Return what follows the word, else NULL. */
static const char *after(const char *text, const char *word)
{
    size_t length = strlen(word);

    return strncmp(text, word, length) == 0 ? text + length : NULL;
}

/* The operand of an #include; NULL: the line is no such directive. */
static const char *operand_of(const char *line)
{
    static const char *const marks[] = {"#", "%:"}, *const words[] = {"include", "include_next"};
    const char *text = skip_blanks(line), *word = NULL, *end;

    for (size_t i = 0; i < AT_COUNT(marks) && !word; i++)
        word = after(text, marks[i]);
    for (size_t i = 0; i < AT_COUNT(words) && word; i++) {
        end = after(skip_blanks(word), words[i]);
        if (end && !at_is_word_character(*end))
            return *skip_blanks(end) == '\n' || !*skip_blanks(end) ? NULL : skip_blanks(end);
    }
    return NULL;
}

/* ---- the walk ---- */

struct file {
    char *path; /* resolved; NULL: the first text */
    char *text;
};

struct walk {
    const struct at_include_folders *folders;
    const char *name;
    bool alone;
    struct file *files; /* those from `next` on are to be looked at */
    size_t count, capacity, next;
};

static bool is_below(const char *path, const char *const *folders, size_t count)
{
    bool found = false;

    for (size_t i = 0; i < count && !found; i++) {
        char *folder = realpath(folders[i], NULL);
        size_t length = folder ? strlen(folder) : 0;

        found = folder && strncmp(path, folder, length) == 0 &&
                (path[length] == '/' || folder[length - 1] == '/');
        free(folder);
    }
    return found;
}

static bool is_known(const struct walk *walk, const char *path)
{
    for (size_t i = 0; i < walk->count; i++)
        if (walk->files[i].path && strcmp(walk->files[i].path, path) == 0)
            return true;
    return false;
}

/* Take the file that an operand may mean, if it is there. */
static enum at_status take_file(struct walk *walk, const char *path, struct at_error *err)
{
    const struct at_include_folders *folders = walk->folders;
    struct file file = {.path = realpath(path, NULL)};
    enum at_status status = AT_OK;
    struct stat info;
    size_t size;

    if (!file.path || is_known(walk, file.path) || stat(file.path, &info) != 0)
        goto free_path;
    if (is_below(file.path, folders->cuda, folders->cuda_count))
        goto free_path;
    if (is_below(file.path, folders->own, folders->own_count)) {
        if (walk->count == FILES_MAX)
            status = at_fail(err, AT_FAILED, "more than %d files are included", FILES_MAX);
        else if (at_file_read(&file.text, &size, file.path, FILE_BYTES_MAX, err) != AT_OK)
            status = AT_FAILED;
        if (status == AT_OK) {
            AT_PUSH(walk->files, walk->count, walk->capacity, file);
            return AT_OK;
        }
    } else if (walk->alone) {
        status = at_fail(err, AT_FAILED, "%s may not be included: " AT_INCLUDE_FOLDERS, path);
    }

free_path:
    free(file.path);
    return status;
}

static enum at_status take_below(struct walk *walk, const char *folder, const char *name,
                                 struct at_error *err)
{
    char *path = at_format("%s/%s", folder, name);
    enum at_status status = take_file(walk, path, err);

    free(path);
    return status;
}

/* Take each file that a name may mean: which one it does, the compiler decides. */
static enum at_status take_name(struct walk *walk, const char *from, const char *name,
                                struct at_error *err)
{
    const struct at_include_folders *folders = walk->folders;
    char *folder = from ? at_strndup(from, (size_t)(at_path_name(from) - from)) : NULL;
    enum at_status status = AT_OK;

    if (name[0] == '/')
        status = take_file(walk, name, err);
    else if (folder)
        status = take_below(walk, folder, name, err);
    for (size_t i = 0; i < folders->own_count && name[0] != '/' && status == AT_OK; i++)
        status = take_below(walk, folders->own[i], name, err);
    for (size_t i = 0; i < folders->cuda_count && name[0] != '/' && status == AT_OK; i++)
        status = take_below(walk, folders->cuda[i], name, err);
    free(folder);
    return status;
}

static enum at_status take_operand(struct walk *walk, const char *from, const char *operand,
                                   struct at_error *err)
{
    size_t length = strcspn(operand + 1, *operand == '<' ? ">\n" : "\"\n");
    enum at_status status;
    char *name;

    if (*operand != '"' && *operand != '<')
        return walk->alone ? at_fail(err, AT_FAILED,
                                     "#include of a macro: name the file, so that it can be "
                                     "checked before it is opened; " AT_INCLUDE_FOLDERS)
                           : AT_OK;
    name = at_strndup(operand + 1, length);
    status = take_name(walk, from, name, err);
    free(name);
    return status;
}

static enum at_status look(struct walk *walk, const struct file *file, bool blanks,
                           struct at_error *err)
{
    struct cleaned cleaned = join_lines(file->text, blanks);
    const char *line = cleaned.text;
    enum at_status status = AT_OK;
    size_t number = 0;

    blank_comments(cleaned.text);
    while (status == AT_OK && *line) {
        const char *operand = operand_of(line);

        if (operand)
            status = take_operand(walk, file->path, operand, err);
        if (status != AT_OK)
            at_fail_within(err, "%s(%d)", file->path ? at_path_name(file->path) : walk->name,
                           cleaned.lines[number]);
        for (; *line && *line != '\n'; line++)
            number += *line == comment_line_end;
        line += *line == '\n';
        number++;
    }
    free(cleaned.text);
    free(cleaned.lines);
    return status;
}

enum at_status at_included_files_check(const char *name, const char *text,
                                       const struct at_include_folders *folders, bool alone,
                                       struct at_error *err)
{
    struct walk walk = {.folders = folders, .name = name, .alone = alone};
    enum at_status status = AT_OK;

    AT_PUSH(walk.files, walk.count, walk.capacity, ((struct file){NULL, at_strdup(text)}));
    for (; walk.next < walk.count && status == AT_OK; walk.next++) {
        const struct file file = walk.files[walk.next];

        status = look(&walk, &file, false, err);
        if (status == AT_OK)
            status = look(&walk, &file, true, err);
    }
    for (size_t i = 0; i < walk.count; i++) {
        free(walk.files[i].path);
        free(walk.files[i].text);
    }
    free(walk.files);
    return status;
}

/* ---- the worker ---- */

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

/* Compile within the limit of time, and begin the reply. False: the reply says why not, in fewer
 * than why_chars bytes. The caller frees the program. */
static bool compile(struct compile_server *server, const char *source, size_t why_chars,
                    struct at_compilation *compiled, struct at_wire *reply)
{
    struct at_error err;
    enum at_status status;

    limit_time(server->cpu_limit_s);
    status = at_compile(compiled, server->nvrtc, source, server->header, why_chars, &err);
    if (status == AT_OK)
        at_wire_put_int(reply, AT_OK);
    else
        answer_failure(reply, status, err.message);
    return status == AT_OK;
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
    server->limited = restrict_files(folders, count);
    server->ready = true;
    free(folders);
    if (chdir("/") != 0)
        server->limited = false;
}

static void answer_program(struct compile_server *server, struct at_wire *request,
                           struct at_wire *reply)
{
    enum { BUILT_WHY_CHARS = 256 }; /* of at_built */
    struct at_compilation compiled = {0};
    char *source = get_text(request);

    limit_files(server, NULL, 0);
    if (compile(server, source, BUILT_WHY_CHARS, &compiled, reply)) {
        put_kernels(request, reply, compiled.log);
        at_wire_put_bytes(reply, compiled.image, compiled.size);
    }
    free(compiled.image);
    free(compiled.log);
    free(source);
}

/* The folders that a source may include from; the caller frees the texts and the array. */
static char **get_texts(struct at_wire *request, size_t *count)
{
    char **texts;

    *count = at_wire_get_count(request, sizeof(uint64_t));
    texts = at_alloc_array(*count, sizeof *texts);
    for (size_t i = 0; i < *count; i++)
        texts[i] = get_text(request);
    return texts;
}

static void free_texts(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

static enum at_status check_files(const struct compile_server *server, const char *name,
                                  const char *source, char *const *own, size_t own_count,
                                  struct at_error *err)
{
    const char *cuda[AT_HEADER_FOLDERS_MAX];
    const struct at_include_folders folders = {(const char *const *)own, own_count, cuda,
                                               at_nvrtc_header_folders(server->nvrtc, cuda)};

    /* The first lines are not the file's: types, macros, and a line that gives it its name. */
    while (strncmp(source, "#line ", 6) != 0 && *source)
        source += strcspn(source, "\n") + (strchr(source, '\n') != NULL);
    return at_included_files_check(name, source + strcspn(source, "\n") + 1, &folders,
                                   !server->limited, err);
}

static void answer_source(struct compile_server *server, struct at_wire *request,
                          struct at_wire *reply)
{
    char *name = get_text(request), *source = get_text(request);
    size_t count, instance_count;
    char **own = get_texts(request, &count), **instances = get_texts(request, &instance_count);
    struct at_compilation compiled = {0};
    struct at_error err;

    limit_files(server, (const char *const *)own, count);
    if (check_files(server, name, source, own, count, &err) != AT_OK) {
        answer_failure(reply, AT_FAILED, err.message);
    } else {
        at_nvrtc_search(server->nvrtc, (const char *const *)own, count);
        at_nvrtc_instantiate(server->nvrtc, (const char *const *)instances, instance_count);
        if (compile(server, source, sizeof err.message, &compiled, reply)) {
            at_wire_put_bytes(reply, compiled.image, compiled.size - 1); /* without NVRTC's NUL */
            at_wire_put_text(reply, compiled.log);
        }
    }
    free(compiled.image);
    free(compiled.log);
    at_nvrtc_instantiate(server->nvrtc, NULL, 0);
    free_texts(instances, instance_count);
    free_texts(own, count);
    free(source);
    free(name);
}

static void answer_parts(const struct compile_server *server, struct at_wire *reply)
{
    int version = at_nvrtc_version(server->nvrtc);
    char *builtins = at_format("libnvrtc-builtins.so.%d.%d", version / 100, version % 100);
    const char *names[] = {builtins, NULL}, *headers = at_nvrtc_headers(server->nvrtc);

    at_wire_put_text(reply, at_nvrtc_path());
    at_wire_put_int(reply, at_library_is_loaded(names));
    at_wire_put_text(reply, headers ? headers : "");
    at_wire_put_int(reply, headers ? at_cuda_headers_version(headers) : 0);
    free(builtins);
}

static int serve(int fd)
{
    struct compile_server server = {0};
    struct at_wire request = {0};
    int32_t type;
    bool going = true;

    limit_process();
    while (going && at_frame_receive(fd, &type, &request, 0) == AT_FRAME_OK) {
        struct at_wire reply = {0};

        if (type == AT_COMPILE_HELLO)
            answer_hello(&server, &request, &reply);
        else if (type == AT_COMPILE_PROGRAM && server.nvrtc)
            answer_program(&server, &request, &reply);
        else if (type == AT_COMPILE_SOURCE && server.nvrtc)
            answer_source(&server, &request, &reply);
        else if (type == AT_COMPILE_PARTS && server.nvrtc)
            answer_parts(&server, &reply);
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
