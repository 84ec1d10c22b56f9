/* SPDX-License-Identifier: Apache-2.0 */
#include "system/paths.h"

#include "base/memory.h"
#include "system/library.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *at_path_folder(const char *file)
{
    const char *slash = strrchr(file, '/');

    if (!slash)
        return at_strdup(".");
    return slash == file ? at_strdup("/") : at_strndup(file, (size_t)(slash - file));
}

/* Write the target of a symbolic link, or "" if that cannot be read. */
static void read_link(char target[PATH_MAX], const char *link)
{
    ssize_t length = readlink(link, target, PATH_MAX - 1);

    target[length < 0 ? 0 : length] = '\0';
}

static bool runs_from_build_tree(void)
{
    char executable[PATH_MAX];
    size_t prefix = strlen(AT_BUILD_DIR); /* 0: configured with --disable-build-tree */

    read_link(executable, "/proc/self/exe");
    return prefix > 0 && strncmp(executable, AT_BUILD_DIR, prefix) == 0 &&
           executable[prefix] == '/';
}

/* The loader's name of the library that this code is in; "" if it is in the program. */
static const char *own_library(void)
{
    return at_library_path((const void *)own_library);
}

/* Write the file that this code is in, the program or the library. */
static void find_own_file(char file[PATH_MAX])
{
    const char *library = own_library();

    if (*library)
        snprintf(file, PATH_MAX, "%s", library);
    else
        read_link(file, "/proc/self/exe");
}

/* Write the name of a folder without symbolic links and "..", or "" if it cannot be read. */
static void resolve_folder(char resolved[PATH_MAX], const char *folder)
{
    char link[64];
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC);

    resolved[0] = '\0';
    if (fd < 0)
        return;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    read_link(resolved, link);
    close(fd);
}

char *at_path_from_own_file(const char *folder)
{
    char file[PATH_MAX];

    if (folder[0] == '/')
        return at_strdup(folder);
    find_own_file(file);
    if (file[0] != '/')
        return NULL;
    *strrchr(file, '/') = '\0';
    return at_format("%s/%s", file, folder);
}

char *at_path_program(void)
{
    const char *named = getenv("AUTOTUNE_PROGRAM");
    char *folder, *program;

    if (named && *named)
        return at_strdup(named);
    if (runs_from_build_tree())
        return at_strdup(AT_BUILD_DIR "/autotune");
    folder = at_path_from_own_file(*own_library() ? AT_LIB_TO_BIN : ".");
    program = folder ? at_format("%s/autotune", folder) : NULL;
    at_free(folder);
    return program;
}

/* The data folder that was installed together with this file, wherever both are now; NULL if there
 * is none. The caller frees it. */
static char *find_data_beside(void)
{
    char file[PATH_MAX], resolved[PATH_MAX], *folder;

    find_own_file(file);
    if (file[0] != '/')
        return NULL;
    *strrchr(file, '/') = '\0';
    folder = at_format("%s/%s/tuning", file, *own_library() ? AT_LIB_TO_DATA : AT_BIN_TO_DATA);
    resolve_folder(resolved, folder);
    at_free(folder);
    if (resolved[0] != '/')
        return NULL;
    *strrchr(resolved, '/') = '\0';
    return at_strdup(resolved);
}

static char *data_folder(void)
{
    const char *named = getenv("AUTOTUNE_DATADIR");
    char *beside;

    if (named && *named)
        return at_strdup(named);
    if (runs_from_build_tree())
        return at_strdup(AT_SOURCE_DATADIR);
    beside = find_data_beside();
    return beside ? beside : at_strdup(AT_PKGDATADIR);
}

char *at_path_data_file(const char *name)
{
    char *data = data_folder(), *path = at_format("%s/%s", data, name);

    at_free(data);
    return path;
}

enum at_status at_path_require_data(struct at_error *err)
{
    char *tuning = at_path_data_file("tuning");
    enum at_status status = AT_OK;

    if (access(tuning, R_OK | X_OK) != 0)
        status = at_fail(err, AT_USAGE,
                         "cannot read the folder %s: %s; AUTOTUNE_DATADIR names the folder that "
                         "holds tuning, templates and results",
                         tuning, strerror(errno));
    at_free(tuning);
    return status;
}

/* $HOME, or the home folder in the user database: cron and containers may not set HOME. */
static char *find_home(void)
{
    const char *named = getenv("HOME");
    struct passwd entry, *found = NULL;
    char text[4096];

    if (named && named[0] == '/')
        return at_strdup(named);
    if (getpwuid_r(geteuid(), &entry, text, sizeof text, &found) != 0 || !found ||
        found->pw_dir[0] != '/' || strcmp(found->pw_dir, "/") == 0)
        return NULL;
    return at_strdup(found->pw_dir);
}

char *at_path_user(const char *variable, const char *below)
{
    const char *base = getenv(variable);
    char *home, *path;

    /* The XDG Base Directory Specification says to ignore a relative path. */
    if (base && base[0] == '/')
        return at_format("%s/autotune", base);
    home = find_home();
    path = home ? at_format("%s/%s/autotune", home, below) : NULL;
    at_free(home);
    return path;
}

const char *at_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

enum at_status at_path_make(const char *folder, unsigned mode, struct at_error *err)
{
    char *path = at_strdup(folder);
    enum at_status status = AT_OK;

    for (char *c = path + 1; status == AT_OK; c++) {
        char kept = *c;

        if (kept != '/' && kept != '\0')
            continue;
        *c = '\0';
        if (mkdir(path, mode) != 0 && errno != EEXIST)
            status = at_fail(err, AT_USAGE, "cannot make %s: %s", path, strerror(errno));
        *c = kept;
        if (kept == '\0')
            break;
    }
    at_free(path);
    return status;
}
