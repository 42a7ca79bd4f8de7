/* Reads files of /proc/<pid>. */
#include "agent/launch/process_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

size_t process_file(char *out, size_t capacity, int32_t pid, const char *file)
{
    char path[64];
    if (pid == 0)
        snprintf(path, sizeof path, "/proc/self/%s", file);
    else
        snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, out, capacity - 1);
    if (fd >= 0)
        close(fd);
    n = n < 0 ? 0 : n;
    out[n] = '\0';
    return (size_t)n;
}

char process_state(int32_t pid)
{
    char text[512];
    if (process_file(text, sizeof text, pid, "stat") == 0)
        return 0;
    const char *behind = strrchr(text, ')'); /* the name may hold anything */
    return behind != NULL && behind[1] == ' ' && behind[2] >= 'A' && behind[2] <= 'z' ? behind[2]
                                                                                      : 0;
}
