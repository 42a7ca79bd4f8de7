/* Lock files: an exclusive flock(2) on a file of its own. The kernel releases the lock when the
 * process that holds it ends, in whatever way. */
#ifndef HOLTER_DAEMON_STORAGE_LOCK_FILE_H
#define HOLTER_DAEMON_STORAGE_LOCK_FILE_H

/** Acquire the lock without waiting.
 * @return a descriptor, to be kept open while the lock is needed; or -errno, -EWOULDBLOCK when
 * another process holds it */
int lock_file_acquire(const char *path);

/** Does a process hold the lock? */
int lock_file_is_held(const char *path);

/** Remove the file and release the lock. fd < 0: nothing is done. */
void lock_file_release(int fd, const char *path);

#endif
