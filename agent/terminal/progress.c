/* Progress on standard error. */
#include "agent/terminal/progress.h"

#include "agent/terminal/terminal_message.h"
#include "holter/clock.h"

#include <stdio.h>
#include <unistd.h>

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
