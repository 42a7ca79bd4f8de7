/* Whether the user has seen the explanation of the overview. */
#include "viewer/first_run.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* @return 0: there is no directory for it */
static int first_run_path(char *out, size_t capacity)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    int n = state && *state == '/' ? snprintf(out, capacity, "%s/holter/view-seen", state)
            : home && *home == '/'
                ? snprintf(out, capacity, "%s/.local/state/holter/view-seen", home)
                : -1;
    return n > 0 && (size_t)n < capacity;
}

int first_run_is(void)
{
    char path[512];
    return first_run_path(path, sizeof path) && access(path, F_OK) != 0;
}

void first_run_end(void)
{
    char path[512];
    if (!first_run_path(path, sizeof path))
        return;
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(path, 0700); /* it may exist */
        *at = '/';
    }
    int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    if (fd >= 0)
        close(fd);
}
