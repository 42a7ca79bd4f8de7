/* A tunnel to a daemon on another host: runs `ssh -N -L` for both of its endpoints, to sockets in a
 * directory of our own. HOLTER_SSH names another program than ssh. */
#ifndef HOLTER_VIEWER_LINK_SSH_H
#define HOLTER_VIEWER_LINK_SSH_H

#include <stddef.h>

struct ssh_tunnel;

/** Open the tunnel; waits until ssh has set it up, which may mean that the user types a password.
 *  @param host      as ssh takes it, with user and options from ssh_config(5); must not begin with
 * '-'
 *  @param endpoint  of the daemon as seen on that host; NULL: the newest one of the user there
 *  @param why       room for a sentence that says what failed, ssh's own words included
 *  @return 0, -HOLTER_EUSAGE or -HOLTER_EUNREACHABLE, or -errno */
int ssh_open(struct ssh_tunnel **out, const char *host, const char *endpoint, char *why,
             size_t capacity);

/** End ssh and remove the sockets. NULL is fine. */
void ssh_close(struct ssh_tunnel *tunnel);

/** Local endpoints of front and stream. */
const char *ssh_front(const struct ssh_tunnel *tunnel);
const char *ssh_stream(const struct ssh_tunnel *tunnel);

/** Has ssh ended? @return 1 and why in words, or 0 */
int ssh_ended(struct ssh_tunnel *tunnel, char *why, size_t capacity);

#endif
