/* Lists of hosts as Slurm writes them: "n1,node[001-128,200],r[1-2]n[01-16]". */
#ifndef HOLTER_DAEMON_TOPOLOGY_HOSTLIST_H
#define HOLTER_DAEMON_TOPOLOGY_HOSTLIST_H

#include <stddef.h>
#include <stdint.h>

#define HOSTLIST_NAME 64u /**< bytes of a name at most */

/** Told each name, in order; the first range varies slowest. @return nonzero ends the list */
typedef int hostlist_each(void *user, const char *name);

/** Go through a list. Commas and blanks separate.
 *  @param most  names at most @param why  set on failure: a sentence
 *  @return 0, -HOLTER_EUSAGE for what is wrong with the text, or what `each` returned */
int hostlist_expand(const char *text, size_t most, hostlist_each *each, void *user, char *why,
                    size_t room);

#endif
