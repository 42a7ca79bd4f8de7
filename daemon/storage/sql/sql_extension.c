/* The entry of the loadable extension: `.load` of sqlite3, load_extension() of Python's module. */
#include "daemon/storage/sql/sql_extension.h"

#include "daemon/storage/sql/window_module.h"

SQLITE_EXTENSION_INIT1

/** SQLite finds it by the name of the file, holter_sql.so. @return a code of SQLite */
__attribute__((visibility("default"))) int sqlite3_holtersql_init(sqlite3 *db, char **why,
                                                                  const sqlite3_api_routines *api);

int sqlite3_holtersql_init(sqlite3 *db, char **why, const sqlite3_api_routines *api)
{
    (void)why;
    SQLITE_EXTENSION_INIT2(api);
    return window_module_register(db);
}
