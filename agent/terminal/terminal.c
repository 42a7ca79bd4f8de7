/* Messages and progress on standard error, and the signals that end a command. */
#include "agent/terminal/terminal.h"

#include "holter/clock.h"
#include "holter/quiet_write.h"
#include "proto/log.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
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
    quiet_write(STDERR_FILENO, line, used);
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

/* ---- progress -------------------------------------------------------------- */

#define SECOND UINT64_C(1000000000)

void progress_begin(struct progress *p, const char *what)
{
    *p = (struct progress){.what = what, .terminal = isatty(STDERR_FILENO)};
    p->begun_ns = p->shown_ns = clock_mono_ns();
}

void progress_show(void *progress, double share)
{
    struct progress *p = progress;
    uint64_t now = clock_mono_ns();
    if (now - p->begun_ns < SECOND || now - p->shown_ns < (p->terminal ? SECOND / 5 : 5 * SECOND))
        return;
    p->shown_ns = now;
    p->shown = 1;
    if (p->terminal)
        fprintf(stderr, "\rholter: %s: %3.0f %%", p->what, 100 * share);
    else
        terminal_print("%s: %.0f %%", p->what, 100 * share);
}

void progress_end(struct progress *p)
{
    if (p->terminal && p->shown)
        fputs("\r\033[K", stderr);
}

/* ---- signals --------------------------------------------------------------- */

int end_signals_open(int hangup)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    if (hangup)
        sigaddset(&signals, SIGHUP);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC);
}
