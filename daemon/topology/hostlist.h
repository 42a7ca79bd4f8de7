/* Lists of hosts as Slurm writes them: "n1,node[001-128,200],r[1-2]n[01-16]". */
#ifndef HOLTER_DAEMON_TOPOLOGY_HOSTLIST_H
#define HOLTER_DAEMON_TOPOLOGY_HOSTLIST_H

#include <stddef.h>
#include <stdint.h>

#define HOSTLIST_NAME 64u /**< maximum bytes of a name */

/** Called with each name, in order; the first range varies slowest. @return nonzero ends the
 * expansion */
typedef int hostlist_each(void *user, const char *name);

/** Expand a list. Commas and blanks separate items.
 * @param most  maximum number of names @param why  set on failure: a sentence
 * @return 0, -HOLTER_EUSAGE for an error in the text, or what `each` returned */
int hostlist_expand(const char *text, size_t most, hostlist_each *each, void *user, char *why,
                    size_t room);

#endif
