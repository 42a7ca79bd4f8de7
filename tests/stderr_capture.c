/* Captures what a program under test writes to standard error. */
#include "tests/stderr_capture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

void stderr_capture_begin(struct stderr_capture *capture)
{
    capture->file = tmpfile();
    assert_non_null(capture->file);
    fflush(stderr);
    capture->saved = dup(STDERR_FILENO);
    assert_true(dup2(fileno(capture->file), STDERR_FILENO) >= 0);
}

void stderr_capture_text(const struct stderr_capture *capture, char *out, size_t capacity)
{
    fflush(stderr);
    rewind(capture->file);
    out[fread(out, 1, capacity - 1, capture->file)] = '\0';
}

void stderr_capture_end(struct stderr_capture *capture)
{
    fflush(stderr);
    dup2(capture->saved, STDERR_FILENO);
    close(capture->saved);
    fclose(capture->file);
}
