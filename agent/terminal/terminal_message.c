/* Messages on standard error. */
#include "agent/terminal/terminal_message.h"

#include "proto/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void terminal_print(const char *format, ...)
{
    static const char prefix[] = "holter: ";
    char line[4096];
    int saved = errno;
    va_list arguments;
    memcpy(line, prefix, sizeof prefix);
    va_start(arguments, format);
    size_t space = sizeof line - sizeof prefix - 1, used = sizeof prefix - 1;
    int n = vsnprintf(line + used, space, format, arguments);
    va_end(arguments);
    if (n > 0)
        used += (size_t)n < space ? (size_t)n : space - 1;
    log_make_printable(line);
    line[used++] = '\n';
    ssize_t written = write(STDERR_FILENO, line, used);
    (void)written; /* an error on standard error cannot be reported */
    errno = saved;
}

int terminal_flush_output(const char *command)
{
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return 0;
    terminal_print("%s: standard output: %s", command, strerror(errno != 0 ? errno : EIO));
    return 1;
}
