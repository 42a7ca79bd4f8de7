#include "tests/heard.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

void heard_begin(struct heard *heard)
{
    heard->file = tmpfile();
    assert_non_null(heard->file);
    fflush(stderr);
    heard->saved = dup(STDERR_FILENO);
    assert_true(dup2(fileno(heard->file), STDERR_FILENO) >= 0);
}

void heard_text(const struct heard *heard, char *out, size_t room)
{
    fflush(stderr);
    rewind(heard->file);
    out[fread(out, 1, room - 1, heard->file)] = '\0';
}

void heard_end(struct heard *heard)
{
    fflush(stderr);
    dup2(heard->saved, STDERR_FILENO);
    close(heard->saved);
    fclose(heard->file);
}
