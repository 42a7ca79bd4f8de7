/* Does a launch reach other hosts, and under which address do they reach this one? */
#ifndef HOLTER_AGENT_LAUNCH_LAUNCH_HOSTS_H
#define HOLTER_AGENT_LAUNCH_LAUNCH_HOSTS_H

#include <stddef.h>

/** First host of a list that is not this one.
 *  @param list  names separated by commas or white space; ":slots" behind a name is dropped
 *  @return 1 and the name, 0 when all are this host or the list is empty */
int launch_hosts_find_other(const char *list, char *out, size_t capacity);

/** As launch_hosts_find_other(), for a file with one host a line: "name", "name:4", "name slots=4",
 * "#" begins a comment. @return 1, 0, or -errno when it cannot be read */
int launch_hosts_find_other_in_file(const char *path, char *out, size_t capacity);

/** Numerical address of this host as the other would see it: the source address that routing
 *  chooses (connect(2) on a datagram socket sends nothing).
 *  @param other  NULL or a name that cannot be resolved: the address of this host's own name, else
 *                of the first interface that is up and no loopback
 *  @return 0, or -ENOENT when there is none but loopback */
int launch_hosts_own_address(const char *other, char *out, size_t capacity);

#endif
