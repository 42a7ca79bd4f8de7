/* holter view: becomes holter-view; of recordings, runs it beside daemons that replay them. */
#include "agent/cli/cmd.h"
#include "agent/cli/view_recordings.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "daemon/fleet/fleet_find.h"
#include "holter/error.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Replace the address of a fleet by the endpoint of the daemon that holds the job: the viewer knows
 * endpoints only. @return 0, or the exit status */
static int cmd_view_find(int argc, char **argv, char *option, size_t capacity)
{
    char endpoint[PATH_MAX], why[512];
    for (int i = 1; i < argc; i++) {
        const int two = strcmp(argv[i], "-c") == 0 || strcmp(argv[i], "--connect") == 0;
        const int one = strncmp(argv[i], "--connect=", strlen("--connect=")) == 0;
        const char *value = one                   ? argv[i] + strlen("--connect=")
                            : two && i + 1 < argc ? argv[i + 1]
                                                  : "";
        if (!fleet_is_address(value))
            continue;
        const int code = fleet_find(value, endpoint, sizeof endpoint, why, sizeof why);
        if (code != 0) {
            terminal_print("view: %s", why);
            return code == -HOLTER_EUSAGE ? 2 : 1;
        }
        snprintf(option, capacity, "%s%s", one ? "--connect=" : "", endpoint);
        argv[one ? i : i + 1] = option;
        return 0;
    }
    return 0;
}

int cmd_view(int argc, char **argv)
{
    char viewer[PATH_MAX], option[PATH_MAX + 16];
    struct view_recordings v;
    int status = cmd_view_find(argc, argv, option, sizeof option);
    if (status != 0)
        return status;
    int rc = paths_program(viewer, sizeof viewer, "holter-view");
    if (rc < 0) {
        if (HOLTER_VIEWER)
            terminal_print("view: holter-view is not installed beside holter (package "
                           "holter-viewer): %s",
                           holter_strerror(rc));
        else
            terminal_print("view: this build of Holter has no viewer: it was made without it");
        return 1;
    }
    argv[0] = viewer;
    status = view_recordings_take(&v, argc, argv);
    if (status >= 0)
        return status;
    if (v.count > 0)
        return view_recordings_run(&v);
    execv(viewer, argv);
    terminal_print("view: %s: %s", viewer, strerror(errno));
    return 1;
}
