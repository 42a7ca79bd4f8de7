/* Child processes whose output does not reach the terminal. */
#include "agent/terminal/quiet_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

pid_t quiet_child_fork(unsigned streams)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        if (streams & 1u << fd)
            dup2(null, fd);
    }
    return 0;
}

int quiet_child_wait(pid_t child)
{
    int status = 0;
    pid_t ended;
    do
        ended = child > 0 ? waitpid(child, &status, 0) : -1;
    while (child > 0 && ended < 0 && errno == EINTR);
    return ended == child && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int quiet_child_loads(const char *program)
{
    pid_t child = quiet_child_fork(QUIET_INPUT | QUIET_OUTPUT);
    if (child == 0) {
        setenv("LD_BIND_NOW", "1", 1);
        execl(program, program, "--version", (char *)NULL);
        _exit(127);
    }
    return quiet_child_wait(child) != 127; /* of the dynamic linker; -1 if SIGCHLD is ignored */
}

pid_t bound_child_fork(int signal)
{
    const pid_t parent = getpid(), pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, signal);
    if (getppid() != parent)
        _exit(127);
    return 0;
}

pid_t bound_child_start(const char *const *words, const char *log)
{
    const pid_t pid = bound_child_fork(SIGTERM);
    if (pid != 0)
        return pid;
    const int fd = log == NULL ? -1 : open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd >= 0) {
        dup2(fd, STDOUT_FILENO);
        dup2(fd, STDERR_FILENO);
    }
    if (log != NULL) {
        unsetenv("HOLTER_SESSION");
        unsetenv("HOLTER_KEYS");
        unsetenv("HOLTER_TOPOLOGY");
    }
    execv(words[0], (char *const *)(void *)words);
    _exit(127);
}

void bound_child_explain(const char *log, char *out, size_t capacity)
{
    char line[1024];
    FILE *file = fopen(log, "re");
    out[0] = '\0';
    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '\0')
            snprintf(out, capacity, "%s", line);
    }
    if (file != NULL)
        fclose(file);
}
