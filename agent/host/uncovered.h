/* Functions of the rank's MPI library that Holter does not cover, and which of them the application
 * uses.
 *
 * Read from the dynamic symbol tables (System V ABI, chapter 5) of the files that the process has
 * mapped. The files are input like any other: every offset is checked against the file's length. */
#ifndef HOLTER_AGENT_HOST_UNCOVERED_H
#define HOLTER_AGENT_HOST_UNCOVERED_H

#include "holter/wire.h"

#include <stdint.h>

struct uncovered {
    struct wire_uncovered_row *rows; /**< owned, sorted by name */
    uint64_t count;
    char *names; /**< owned; the rows' texts */
};

/** Searches the files that a live process has mapped.
 *  @param out  set on success; to be freed with uncovered_finish()
 *  @return 0, -HOLTER_ENOMPI when it has no MPI library mapped, -ENOMEM, or -errno of
 *  /proc/<pid>/maps */
int uncovered_find(struct uncovered *out, int32_t pid);

void uncovered_finish(struct uncovered *uncovered);

/** Searches given files.
 *  @param library  path of the MPI library
 *  @param users    paths of the application's own binaries; those that cannot be read are skipped
 */
int uncovered_in(struct uncovered *out, const char *library, const char *const users[],
                 uint64_t user_count);

#endif
