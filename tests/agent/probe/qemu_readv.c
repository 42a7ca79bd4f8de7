/* process_vm_readv(2) of the own process, which qemu-user does not have: preloaded besides a probe.
 * A pipe takes what can be read, and refuses an address that does not exist. */
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
                         const struct iovec *remote, unsigned long remote_count,
                         unsigned long flags)
{
    int ends[2];
    ssize_t length = -1;
    (void)flags;
    if (pid != getpid() || local_count != 1 || remote_count != 1 || pipe(ends) != 0) {
        errno = ENOSYS;
        return -1;
    }
    if (write(ends[1], remote->iov_base, remote->iov_len) == (ssize_t)remote->iov_len)
        length = read(ends[0], local->iov_base, local->iov_len);
    close(ends[0]);
    close(ends[1]);
    return length;
}
