/* Lists of hosts as Slurm writes them: "n1,node[001-128,200],r[1-2]n[01-16]". */
#ifndef HOLTER_DAEMON_TOPOLOGY_HOSTLIST_H
#define HOLTER_DAEMON_TOPOLOGY_HOSTLIST_H

#include "daemon/topology/file_text.h"

#include <stddef.h>

#define HOSTLIST_NAME 64u /**< maximum bytes of a name */

/** Called with each name, in order; the first range varies slowest. @return nonzero ends the
 * expansion */
typedef int hostlist_each(void *user, const char *name);

/** Expand a list. Commas and blanks separate items.
 * @param most  maximum number of names @param why  set on failure: a sentence
 * @return 0, -HOLTER_EUSAGE for an error in the text, or what `each` returned */
int hostlist_expand(const char *text, size_t most, hostlist_each *each, void *user, char *why,
                    size_t capacity);

/** The same for at most TOPOLOGY_MAX_VERTICES names of a file; an error in the text is reported.
 * @param key  what the list belongs to */
void hostlist_expand_key(struct faults *faults, unsigned line, const char *key, const char *text,
                         hostlist_each *each, void *user);

#endif
