/* A directory in which each process that takes part in something has a file: named by its number,
 * with its start time and a word in one line. */
#ifndef HOLTER_AGENT_LAUNCH_REGISTRATION_H
#define HOLTER_AGENT_LAUNCH_REGISTRATION_H

#include <stdint.h>

/** One registration. */
struct registration {
    int32_t pid;
    int alive;     /**< the very process that registered still lives */
    char word[65]; /**< of a rank: its job id */
};

/** Register a process. A reader never sees half a line.
 *  @param word  without spaces; longer than 64 bytes it is cut
 *  @return 0 or -errno */
int registration_write(const char *directory, int32_t pid, const char *word);

/** Look at all registrations.
 *  @param each  called for each one; may call registration_remove() for it
 *  @return how many there are, or -errno */
int registration_each(const char *directory,
                      void (*each)(void *user, const struct registration *registration),
                      void *user);

/** Remove a registration; none there is fine. */
void registration_remove(const char *directory, int32_t pid);

#endif
