/* A thread that watches a descriptor and calls back when it can be read, so that a loop which waits
 * for a window's events can wait for messages as well. */
#ifndef HOLTER_VIEWER_LINK_WAKER_H
#define HOLTER_VIEWER_LINK_WAKER_H

struct waker;

/** @param wake  called from the thread, once; again only after waker_rearm()   @return 0 or -errno
 */
int waker_start(struct waker **out, int fd, void (*wake)(void));

/** What was there has been read: watch again. */
void waker_rearm(struct waker *waker);

/** End the thread. NULL is fine. */
void waker_stop(struct waker *waker);

#endif
