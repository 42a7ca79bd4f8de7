/* Lock files: an exclusive flock(2), released by the kernel when the process ends. */
#include "daemon/storage/lock_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ATTEMPTS 16 /* another process may remove the file between our open and our lock */

int lock_file_acquire(const char *path)
{
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
            return -errno;
        if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
            int error = errno;
            close(fd);
            return -error;
        }
        /* The path may have been removed or replaced since the open: then other processes would
         * open
         * another file, and the lock protects nothing. */
        struct stat ours, theirs;
        if (fstat(fd, &ours) == 0 && stat(path, &theirs) == 0 && ours.st_ino == theirs.st_ino &&
            ours.st_dev == theirs.st_dev)
            return fd;
        close(fd);
    }
    return -EWOULDBLOCK;
}

int lock_file_is_held(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    int held = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return held;
}

void lock_file_release(int fd, const char *path)
{
    if (fd < 0)
        return;
    unlink(path);
    close(fd);
}
