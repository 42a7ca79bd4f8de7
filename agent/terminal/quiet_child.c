/* Child processes whose standard streams are /dev/null. */
#include "agent/terminal/quiet_child.h"

#include <errno.h>
#include <fcntl.h>
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
