/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/included_files.h"

#include "base/memory.h"
#include "base/word.h"
#include "system/file.h"
#include "system/paths.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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
