/* holter view: becomes holter-view; of recordings, runs it beside daemons that replay them. */
#include "agent/cli/cmd.h"
#include "agent/cli/view_recordings.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "holter/error.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

int cmd_view(int argc, char **argv)
{
    char viewer[PATH_MAX];
    struct view_recordings v;
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
    int status = view_recordings_take(&v, argc, argv);
    if (status >= 0)
        return status;
    if (v.count > 0)
        return view_recordings_run(&v);
    execv(viewer, argv);
    terminal_print("view: %s: %s", viewer, strerror(errno));
    return 1;
}
