/* holter view: becomes holter-view; of recordings, runs it beside daemons that replay them. */
#include "agent/cli/cmd.h"
#include "agent/cli/dial.h"
#include "agent/cli/view_recordings.h"
#include "agent/terminal/paths.h"
#include "agent/terminal/terminal.h"
#include "daemon/fleet/fleet_find.h"
#include "holter/error.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Beside the viewer: answers each line, a job, with the job and the endpoint of the daemon that
 * holds it now, until the viewer has ended. */
static void cmd_view_answer(const char *address, int fd)
{
    char job[256], named[PATH_MAX], endpoint[PATH_MAX], answer[sizeof job + sizeof endpoint],
        why[512];
    FILE *questions = fdopen(fd, "r");
    while (questions != NULL && fgets(job, sizeof job, questions) != NULL) {
        job[strcspn(job, "\n")] = '\0';
        if (fleet_address_set_job(address, job, named, sizeof named) != 0)
            continue;
        if (fleet_find(job[0] == '\0' ? address : named, endpoint, sizeof endpoint, why,
                       sizeof why) != 0)
            continue;
        const int length = snprintf(answer, sizeof answer, "%s %s\n", job, endpoint);
        send(fd, answer, (size_t)length, MSG_NOSIGNAL);
    }
}

/* @return the viewer's end of a socket, or -1: it does not follow its job to another daemon */
static int cmd_view_start_finder(const char *address)
{
    int fds[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) != 0)
        return -1;
    const pid_t finder = fork();
    if (finder == 0) {
        close(fds[0]);
        cmd_view_answer(address, fds[1]);
        _exit(0);
    }
    close(fds[1]);
    if (finder > 0)
        return fds[0];
    close(fds[0]);
    return -1;
}

/* Is a word this option, which may be shortened to so many characters, and have a value? */
static bool cmd_view_is_option(const char *word, const char *name, size_t least)
{
    const size_t length = strcspn(word, "=");
    return length >= least && length <= strlen(name) && memcmp(word, name, length) == 0;
}

/* @param name  of an option that has a value, and a letter @param least  see cmd_view_is_option()
 * @return its value, if it begins at this word; NULL: it is another one */
static const char *cmd_view_value(char *const *words, const char *name, size_t least)
{
    const char letter[] = {'-', name[2], '\0'};
    if (cmd_view_is_option(words[0], name, least)) {
        const char *value = strchr(words[0], '=');
        return value != NULL ? value + 1 : words[1];
    }
    if (strcmp(words[0], letter) == 0)
        return words[1];
    return strncmp(words[0], letter, 2) == 0 ? words[0] + 2 : NULL;
}

/* The address of a fleet among the arguments, or else in the environment, where all clients look
 * for their daemon unless an option names one or only a text is asked for.
 * @return NULL: there is none */
static const char *cmd_view_address(int argc, char **argv)
{
    static const char *const texts[] = {"-h", "--help", "-V", "--version"};
    const char *address = getenv("HOLTER_DAEMON");
    for (int i = 1; i < argc; i++)
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            if (strcmp(argv[i], texts[k]) == 0)
                return NULL;
    for (int i = 1; i < argc; i++) {
        const char *value = cmd_view_value(argv + i, "--connect", strlen("--con"));
        if (value != NULL && fleet_is_address(value))
            return value;
        if (value != NULL || view_recordings_is_name(argv[i]) ||
            cmd_view_is_option(argv[i], "--ssh", strlen("--ss")))
            address = NULL;
    }
    return address != NULL && fleet_is_address(address) ? address : NULL;
}

/* The viewer on a job of a fleet: it knows endpoints only, and asks when its daemon is away.
 * @return the exit status, where the viewer was not started */
static int cmd_view_fleet(const char *viewer, const char *address, int argc, char **argv)
{
    static const uint64_t no_bound = 0;
    struct dial dial = {.command = "view", .waits_ns = &no_bound};
    char named[PATH_MAX], why[512], socket_text[16];
    const char *job = fleet_address_job(address);
    for (int i = 1; i < argc; i++) {
        const char *given = cmd_view_value(argv + i, "--job", strlen("--j"));
        job = given != NULL && given[0] != '\0' ? given : job;
        if (cmd_view_is_option(argv[i], "--snapshot", strlen("--sn")))
            dial.waits_ns = NULL;
    }
    if (job != NULL && fleet_address_set_job(address, job, named, sizeof named) == 0)
        address = named;
    snprintf(dial.fleet, sizeof dial.fleet, "%s", address);
    const int code = dial_find_job(&dial, why, sizeof why);
    if (code != 0) {
        terminal_print("view: %s", why);
        return code == -HOLTER_EUSAGE ? 2 : 1;
    }
    char **all = calloc((size_t)argc + 7, sizeof *all);
    if (all == NULL)
        return 1;
    memcpy(all, argv, (size_t)argc * sizeof *all);
    char **next = all + argc;
    *next++ = "--connect"; /* the last one counts */
    *next++ = dial.endpoint;
    if (job != NULL) {
        *next++ = "--job";
        *next++ = (char *)job;
    }
    const int finder = cmd_view_start_finder(address);
    snprintf(socket_text, sizeof socket_text, "%d", finder);
    if (finder >= 0) {
        *next++ = "--finder";
        *next++ = socket_text;
    }
    execv(viewer, all);
    free(all);
    terminal_print("view: %s: %s", viewer, strerror(errno));
    return 1;
}

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
    const char *address = cmd_view_address(argc, argv);
    if (address != NULL)
        return cmd_view_fleet(viewer, address, argc, argv);
    int status = view_recordings_take(&v, argc, argv);
    if (status >= 0)
        return status;
    if (v.count > 0)
        return view_recordings_run(&v);
    execv(viewer, argv);
    terminal_print("view: %s: %s", viewer, strerror(errno));
    return 1;
}
