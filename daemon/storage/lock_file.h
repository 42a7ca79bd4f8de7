/* Files that say "I have it": an exclusive flock(2) on a file of its own, which the kernel gives up
 * when its holder dies, however it dies. */
#ifndef HOLTER_DAEMON_STORAGE_LOCK_FILE_H
#define HOLTER_DAEMON_STORAGE_LOCK_FILE_H

/** Take the lock, without waiting. @return a descriptor to keep open, or -errno; -EWOULDBLOCK:
 *  another has it */
int lock_file_take(const char *path);

/** Remove the file and give the lock up. fd < 0 is fine. */
void lock_file_give(int fd, const char *path);

#endif
