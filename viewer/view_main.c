/* holter-view: a window on a running or replayed job. */
#include "viewer/app.h"
#include "viewer/view_options.h"

#include "proto/help_text.h"
#include "proto/log.h"
#include "version.h"

#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t stopped;

static void view_main_stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

int main(int argc, char **argv)
{
    struct options options;
    char why[256];
    log_start("holter-view", -1);
    if (options_parse(&options, argc, argv, why, sizeof why) < 0) {
        fprintf(stderr, "holter-view: %s; try --help\n", why);
        return 2;
    }
    if (options.show_help)
        help_text_print(stdout, options_help);
    else if (options.show_version)
        puts("holter-view " HOLTER_VERSION " (" HOLTER_BUILD_OPTIONS ")");
    if (options.show_help || options.show_version)
        return fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
    const struct sigaction action = {.sa_handler = view_main_stop};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return options.snapshot ? app_snapshot(&options, &stopped) : app_window(&options, &stopped);
}
