/* Locations of the programs and probes of Holter: relative to the running program, in a build tree
 * and in an installation, so that a tree may be moved as a whole. */
#ifndef HOLTER_AGENT_TERMINAL_PATHS_H
#define HOLTER_AGENT_TERMINAL_PATHS_H

#include "holter/segment.h"

#include <stddef.h>

/** Path of the running program, symbolic links resolved. @return 0, -HOLTER_ERANGE or -errno */
int paths_self(char *out, size_t capacity);

/** Find another program of Holter ("holterd"): in the directory of the running one, then in
 *  ../agent, ../daemon and ../viewer of it (a build tree), then in ../lib/holter and ../../bin (an
 *  installation).
 *  @return 0, -ENOENT, or -HOLTER_ERANGE when the path does not fit */
int paths_program(char *out, size_t capacity, const char *program);

/** As paths_program() for holterd. @param command  name for the error message
 *  @return 0, or negative after printing that it is not installed */
int paths_holterd(char *out, size_t capacity, const char *command);

/** Path of the program `holter`, by which other nodes have to start `holter exec`; of the running
 *  program when there is none beside it. @return as paths_self() */
int paths_holter(char *out, size_t capacity);

/** Find the probe for an MPI: in $HOLTER_LIBDIR when that is set, else in the running program's
 *  directory, in probe/ and ../lib/holter of it.
 *  @return 0, -ENOENT, or -HOLTER_ERANGE */
int paths_probe(char *out, size_t capacity, enum mpi_flavour flavour);

/** As paths_program() and paths_probe(), relative to a given directory. For tests. */
int paths_program_from(char *out, size_t capacity, const char *directory, const char *program);
int paths_probe_from(char *out, size_t capacity, const char *directory, const char *libdir,
                     enum mpi_flavour flavour);

/** Find a program as execvp(3) would.
 *  @param path  value of PATH; NULL: the system's default
 *  @return 0, -ENOENT, -EACCES when a file of that name may not be executed, or -HOLTER_ERANGE */
int paths_search(char *out, size_t capacity, const char *program, const char *path);

/** Remove a directory and the files and links right in it. It stays while others are in it. */
void paths_remove_flat(const char *directory);

#endif
