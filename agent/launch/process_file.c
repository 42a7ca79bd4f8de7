/* Reads files of /proc/<pid>. */
#include "agent/launch/process_file.h"

#include <fcntl.h>
#include <stdio.h>
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
