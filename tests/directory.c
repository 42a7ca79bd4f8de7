#include "tests/directory.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int directory_make(char out[DIRECTORY_ROOM])
{
    strcpy(out, "/tmp/holter-test-XXXXXX");
    return mkdtemp(out) == NULL ? -1 : 0;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)status;
    (void)type;
    (void)where;
    return remove(path);
}

int directory_remove(const char *path)
{
    return nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}
