/* SPDX-License-Identifier: Apache-2.0 */
#include "system/paths.h"

#include "base/memory.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int runs_from_build_tree(void)
{
    char executable[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    size_t prefix = strlen(AT_BUILD_DIR);

    if (length < 0)
        return 0;
    executable[length] = '\0';
    return strncmp(executable, AT_BUILD_DIR, prefix) == 0 && executable[prefix] == '/';
}

static char *data_folder(void)
{
    const char *named = getenv("AUTOTUNE_DATADIR");

    if (named && *named)
        return at_strdup(named);
    return at_strdup(runs_from_build_tree() ? AT_SOURCE_DATADIR : AT_PKGDATADIR);
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

char *at_path_cache(void)
{
    return at_path_user("XDG_CACHE_HOME", ".cache");
}

const char *at_path_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static enum at_status make_folders(const char *folder, mode_t mode, struct at_error *err)
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

enum at_status at_path_make(const char *folder, struct at_error *err)
{
    return make_folders(folder, 0700, err);
}

enum at_status at_path_make_public(const char *folder, struct at_error *err)
{
    return make_folders(folder, 0777, err);
}
