/* Captures what a program under test writes to standard error. */
#ifndef HOLTER_TESTS_STDERR_CAPTURE_H
#define HOLTER_TESTS_STDERR_CAPTURE_H

#include <stddef.h>
#include <stdio.h>

struct stderr_capture {
    int saved;
    FILE *file;
};

/** Redirect standard error to a file. */
void stderr_capture_begin(struct stderr_capture *capture);

/** All that was written so far, truncated to the capacity. */
void stderr_capture_text(const struct stderr_capture *capture, char *out, size_t capacity);

/** Restore standard error. */
void stderr_capture_end(struct stderr_capture *capture);

#endif
