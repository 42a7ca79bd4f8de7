/* The faults that a callback was given. */
#ifndef HOLTER_TESTS_REPORTED_FAULTS_H
#define HOLTER_TESTS_REPORTED_FAULTS_H

#include "holter/plain_text.h"

struct reported_faults {
    char text[8000]; /* lines */
};

/** A callback. @param user  a struct reported_faults */
static inline void report_fault(void *user, const char *text)
{
    struct reported_faults *reported = user;
    text_append(reported->text, sizeof(reported->text), "%s\n", text);
}

#endif
