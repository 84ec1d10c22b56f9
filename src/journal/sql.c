/* SPDX-License-Identifier: Apache-2.0 */
/* Runs SQL statements, and explains their failures. */
#include "base/memory.h"
#include "journal/parts.h"

#include <errno.h>
#include <string.h>

/* SQLite's message does not tell why; errno does. ENOENT would be about another file of SQLite's
 * own: the folder exists. */
static enum at_status cannot_open(const struct at_journal *journal, struct at_error *err)
{
    int error = sqlite3_system_errno(journal->db);

    return at_fail(err, AT_USAGE, "cannot open journal %s: %s", journal->path,
                   error != 0 && error != ENOENT ? strerror(error) : sqlite3_errmsg(journal->db));
}

enum at_status at_journal_fail(const struct at_journal *journal, struct at_error *err)
{
    const char *path = journal->path;

    switch (sqlite3_errcode(journal->db)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return at_fail(err, AT_USAGE,
                       "journal %s is in use by another process: wait for it, or name another file",
                       path);
    case SQLITE_NOTADB:
        return at_fail(err, AT_USAGE, "%s is not a journal of autotune: name another file", path);
    case SQLITE_CORRUPT:
        return at_fail(err, AT_USAGE,
                       "journal %s is damaged: name another file; `sqlite3 %s .recover` may save "
                       "what is in it",
                       path, path);
    case SQLITE_CANTOPEN:
        return cannot_open(journal, err);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return at_fail(err, AT_USAGE, "cannot open journal %s: %s", path,
                       sqlite3_errmsg(journal->db));
    /* Our statements are right, so the file's tables are wrong. */
    case SQLITE_ERROR:
    case SQLITE_TOOBIG:
        return at_fail(err, AT_USAGE,
                       "journal %s was not made by this program, or was changed (%s): name another "
                       "file",
                       path, sqlite3_errmsg(journal->db));
    case SQLITE_FULL:
    case SQLITE_IOERR:
        return at_fail(err, AT_USAGE, "journal %s cannot be read or written: %s", path,
                       sqlite3_errmsg(journal->db));
    default:
        return at_fail(err, AT_INTERNAL, "journal %s: %s", path, sqlite3_errmsg(journal->db));
    }
}

enum at_status at_journal_execute(struct at_journal *journal, const char *sql, struct at_error *err)
{
    return sqlite3_exec(journal->db, sql, NULL, NULL, NULL) == SQLITE_OK
               ? AT_OK
               : at_journal_fail(journal, err);
}

static const char *first_text(sqlite3_stmt *row)
{
    const unsigned char *text = sqlite3_column_text(row, 0);

    return text ? (const char *)text : "";
}

enum at_status at_journal_query(struct at_journal *journal, const char *sql, sqlite3_int64 *number,
                                char **text, struct at_error *err)
{
    sqlite3_stmt *statement = NULL;
    enum at_status status = AT_OK;

    if (sqlite3_prepare_v2(journal->db, sql, -1, &statement, NULL) != SQLITE_OK ||
        sqlite3_step(statement) != SQLITE_ROW)
        status = at_journal_fail(journal, err);
    else if (text)
        *text = at_strdup(first_text(statement));
    else
        *number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return status;
}
