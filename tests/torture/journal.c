/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a journal with SQLite alone. */
#include "base/memory.h"
#include "base/text_stream.h"
#include "torture.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* Print a row's columns and a line end. */
static int add_row(void *lines, int count, char **values, char **names)
{
    (void)names;
    for (int i = 0; i < count; i++)
        fprintf(lines, "%s%s", values[i] ? values[i] : "", i + 1 < count ? "|" : "\n");
    return 0;
}

/* Return a query's rows as text; NULL if it fails. */
static char *ask(sqlite3 *db, const char *sql)
{
    struct at_text_stream stream;
    FILE *lines = at_text_open(&stream);
    int result = sqlite3_exec(db, sql, add_row, lines, NULL);
    char *text = at_text_close(&stream, NULL);

    if (result == SQLITE_OK)
        return text;
    free(text);
    return NULL;
}

/* Return the rows; NULL if the journal is damaged or has a config twice without `again`. */
static char *read_rows(sqlite3 *db)
{
    char *verdict = ask(db, "PRAGMA quick_check"), *rows = NULL, *twice = NULL;

    if (verdict && strcmp(verdict, "ok\n") == 0) {
        rows = ask(db, "SELECT * FROM measurements ORDER BY id");
        if (!rows) /* killed before it had tables */
            rows = ask(db, "SELECT * FROM sqlite_schema");
        twice = ask(db, "SELECT problem, config, count(*) FROM measurements WHERE again = 0 "
                        "GROUP BY run, problem, family, family_hash, config HAVING count(*) > 1");
    }
    if (twice && twice[0]) {
        free(rows);
        rows = NULL;
    }
    free(twice);
    free(verdict);
    return rows;
}

/* Reads a copy, because opening the journal would change it. */
char *journal_rows(const char *place, const char *name)
{
    char *copy = at_format("cd '%s' && rm -rf ../journal && mkdir ../journal && "
                           "{ ! [ -e %s ] || cp %s* ../journal; }",
                           place, name, name);
    char *path = at_format("%s/../journal/%s", place, name), *rows = NULL;
    sqlite3 *db = NULL;

    if (system(copy) == 0 && sqlite3_open(path, &db) == SQLITE_OK)
        rows = read_rows(db);
    sqlite3_close(db);
    free(path);
    free(copy);
    return rows;
}
